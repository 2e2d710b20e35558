//===- DenseRelation.h - all elements of one op -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the index relation of an op into loops over representatives with fixed
// strides, and runs them.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_ANALYSIS_DENSERELATION_H
#define VERIFY_LIB_ANALYSIS_DENSERELATION_H

#include "Verify/Analysis/DenseEvaluator.h"

#include "llvm/ADT/BitVector.h"

#include <deque>

namespace verify {

/// All coordinates of the axes in `axes` that lie in `domain`, which may be
/// null, in row-major order; with `tensor` the first one of each of its
/// classes.
std::vector<MeshPlace> listPlaces(const FactorAnalysis &factors, uint64_t axes,
                                  tv::DomainAttr domain,
                                  const DenseTensor *tensor = nullptr);

/// The tensor with elements for each coordinate of an axis that has classes;
/// their scalars stay the other one's.
DenseTensor expandAxis(const DenseTensor &tensor, unsigned axis);

/// The place of `position` among the representatives of a node.
std::optional<int64_t>
findOrdinal(llvm::ArrayRef<Representative> representatives, int64_t position);

/// A term of a sum over mesh axes: where it lies from the first element on.
struct AxisTerm {
  int64_t offset = 0;
  int64_t weight = 1;
};

/// The terms of the sum of a tensor's element over `axes`, each within its
/// bounds if it has some; failure if a weight is too large.
mlir::FailureOr<std::vector<AxisTerm>>
listAxisTerms(const FactorAnalysis &factors, const DenseTensor &tensor,
              llvm::ArrayRef<unsigned> axes,
              llvm::ArrayRef<llvm::SmallVector<int64_t, 2>> bounds);

class DenseRelation {
public:
  /// `axes` are those the result varies with, and `rows` those of `algebra`, or
  /// null.
  DenseRelation(tv::SemanticsOpInterface op, uint64_t axes,
                const FactorAnalysis &factors, NumericAlgebra &algebra,
                RowAlgebra *rows, const DenseTensors &tensors);
  virtual ~DenseRelation() = default;

  /// Computes all elements of `result`, whose layout is given, unless that
  /// takes `steps` above `stepLimit`.
  llvm::LogicalResult run(DenseTensor &result, int64_t &steps,
                          int64_t stepLimit);
  const std::string &getFailure() const { return failureReason; }

protected:
  /// A part of a dimension, as places among its representatives.
  struct Block {
    bool isHole = false;
    int64_t start = 0;
    int64_t count = 0;
    /// Factors, major to minor, and their strides.
    llvm::SmallVector<std::pair<unsigned, int64_t>, 2> factors;
  };
  using Dimension = llvm::SmallVector<Block, 1>;
  struct Access {
    const DenseTensor *tensor = nullptr;
    llvm::SmallVector<Dimension, 4> dimensions;
    llvm::BitVector factors;
    std::vector<AxisTerm> terms; ///< of the sum over mesh axes
  };
  /// A loop over the representatives of one factor.
  struct Loop {
    unsigned factor = 0;
    llvm::ArrayRef<Representative> representatives;
    int64_t resultStride = 0;
    llvm::SmallVector<int64_t, 4> strides; ///< for each present access
    int64_t ordinal = 0;

    /// Moves on by one: how far, and whether from the end to the start.
    std::pair<int64_t, bool> advance() {
      bool isCarried =
          ++ordinal == static_cast<int64_t>(representatives.size());
      int64_t moved = isCarried ? 1 - ordinal : 1;
      if (isCarried)
        ordinal = 0;
      return {moved, isCarried};
    }
  };
  /// The scalars of a position, for each representative of its factor.
  struct PositionTable {
    std::vector<Scalar> scalars;
    const Loop *loop = nullptr;
  };

  llvm::LogicalResult setUp(const DenseTensor &result);
  mlir::FailureOr<Dimension> resolve(const DimensionExpr &expr,
                                     FactorAnalysis::Node node);
  llvm::LogicalResult setUpPositions();
  /// An access is present if all its factors are bound or reduced.
  llvm::LogicalResult findPresent(const llvm::BitVector &bound,
                                  llvm::BitVector &reduced);
  void makeResultLoops(llvm::ArrayRef<unsigned> choice,
                       const DenseTensor &result);
  llvm::LogicalResult chooseBlocks(llvm::ArrayRef<unsigned> choice,
                                   const DenseTensor &result);
  Loop makeLoop(unsigned factor) const;
  llvm::LogicalResult countSteps(int64_t places, int64_t &steps,
                                 int64_t stepLimit);
  /// Computes the elements of one choice of blocks at all `places`.
  virtual llvm::LogicalResult execute(llvm::ArrayRef<MeshPlace> places,
                                      DenseTensor &result, int64_t &steps,
                                      int64_t stepLimit);
  /// Sets the offsets to the first elements of `place`, and loops to theirs.
  void moveToPlace(const MeshPlace &place);
  void runLoops(const MeshPlace &place, DenseTensor &result);
  void fillWithConstant(llvm::ArrayRef<MeshPlace> places, DenseTensor &result);
  Scalar computeElement();
  /// All elements along the innermost loop of the result, each of one body.
  void computeRow(int64_t offset, DenseTensor &result);
  /// Adds the term at place `inner` of the innermost reduced loop.
  void addTerm(int64_t inner, int64_t weight);
  /// What a present access that is not kept in runs reads at the places of
  /// `loop` from `first` on, and the scalars of a position there, as a row.
  Scalar makeRow(size_t access, const Loop &loop, int64_t first);
  Scalar makeRow(const PositionTable &table, const Loop &loop, int64_t first);
  /// The bodies at `count` places of `loop`, from place `first` on.
  RowAlgebra::Elements computeBodies(const Loop &loop, int64_t first,
                                     int64_t count);
  /// Adds the terms at all places of the innermost reduced loop.
  void addTerms(int64_t weight, size_t &mark);
  /// The sum, maximum or minimum of `list`.
  Scalar combineTerms(llvm::ArrayRef<WeightedScalar> list);
  /// Adds up the terms so far and forgets all scalars made since `mark`.
  void flush(size_t &mark);
  llvm::LogicalResult fail(const llvm::Twine &reason);

  /// Most terms that are held before they are added up, and most bodies that
  /// are computed at once.
  static constexpr size_t termLimit = 256;
  /// Fewest terms for which bodies are computed as a row.
  static constexpr size_t rowLimit = 4;

  tv::SemanticsOpInterface op;
  uint64_t axes;
  const FactorAnalysis &factors;
  NumericAlgebra &algebra;
  RowAlgebra *rows;
  const DenseTensors &tensors;
  const IndexRelation &relation;
  llvm::ArrayRef<FactorAnalysis::Node> nodes;
  std::string failureReason;

  llvm::SmallVector<unsigned> sumAxes;
  std::deque<DenseTensor> expanded; ///< of accesses
  llvm::SmallVector<Access, 2> accesses;
  llvm::SmallVector<Dimension, 4> dimensions; ///< of the result
  llvm::BitVector isBound;                    ///< factors that are not reduced
  llvm::SmallVector<PositionTable, 1> positions;
  Scalar divisor;

  // For one choice of blocks.
  llvm::SmallVector<const Access *, 2> present;
  llvm::SmallVector<int64_t, 4> bases; ///< of the present accesses
  int64_t resultBase = 0;
  llvm::SmallVector<Loop, 4> resultLoops, reducedLoops;
  /// Factors that are the coordinate of the result on an axis, which no loop
  /// runs over.
  llvm::SmallVector<std::pair<unsigned, Loop>, 1> ownLoops;

  // For one element.
  llvm::SmallVector<int64_t, 4> offsets; ///< of the present accesses
  llvm::SmallVector<Scalar, 4> scalars;
  std::vector<WeightedScalar> terms, axisTerms;
  std::vector<Scalar> values;
  std::optional<Scalar> partial;
};

} // namespace verify

#endif // VERIFY_LIB_ANALYSIS_DENSERELATION_H
