//===- ElementEvaluator.h - single elements of a stage ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates one element of one value on demand, in any scalar algebra, at the
// positions a factor analysis keeps. Provers look at a handful of elements of a
// stage, so nothing else is computed.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_ANALYSIS_ELEMENTEVALUATOR_H
#define VERIFY_ANALYSIS_ELEMENTEVALUATOR_H

#include "Verify/Analysis/FactorAnalysis.h"
#include "Verify/IR/DenseValues.h"
#include "Verify/Scalar/ScalarAlgebra.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/Hashing.h"

#include <deque>

#include <functional>

namespace verify {

/// Which positions inputs tell apart, of a dimension that has to be looked at
/// in full and has thousands: all of them, the first one of each block that
/// slices cut it into and the rest of that, or the last one of all. Where each
/// position looks back, all those before the last one remain equal, so that
/// least has to be computed.
enum class LongPositions { All, Blocks, Last };

/// Elements of the tensors nobody computes.
class ElementSource {
public:
  virtual ~ElementSource();
  /// Element `index` of a block argument or `tv.input`.
  virtual Scalar input(mlir::Value value, llvm::ArrayRef<int64_t> index) = 0;
  /// Element of unknown tensor `number`.
  virtual Scalar opaque(unsigned number, mlir::Type type,
                        llvm::ArrayRef<int64_t> index) = 0;
  /// Element of a value that nobody produces; never equal to anything else.
  virtual Scalar undefined(mlir::Operation *op,
                           llvm::ArrayRef<int64_t> place) = 0;
  /// Inputs of one type and with one number have equal elements, if they are
  /// constant along the same dimensions; without a number an input equals no
  /// other.
  virtual std::optional<uint64_t> getInputNumber(mlir::Value value) const {
    return std::nullopt;
  }
  /// Whether elements of an input are equal at all positions of a dimension.
  virtual bool isConstantAlong(mlir::Value value, unsigned dimension) const {
    return false;
  }
  /// Whether all elements of an input are 0.
  virtual bool isZero(mlir::Value value) const { return false; }
  /// With anything but `All` whole values are executed run by run.
  virtual LongPositions getLongPositions() const { return LongPositions::All; }
};

/// The sort of a tensor's elements.
ScalarSort getSort(mlir::Type type);

/// One coordinate for each axis of the analysis; -1 where it does not matter.
using Coordinates = llvm::SmallVector<int64_t, 4>;

class ElementEvaluator {
public:
  ElementEvaluator(const FactorAnalysis &factors, ScalarAlgebra &algebra,
                   ElementSource &source);

  /// `check` is called after each new element; evaluation stops where it gives
  /// a reason.
  void setCheck(std::function<std::optional<std::string>()> check) {
    checkElement = std::move(check);
  }
  /// Why the last evaluation failed.
  const std::string &getFailure() const { return failureReason; }

  llvm::FailureOr<Scalar> evaluate(mlir::Value value,
                                   const Coordinates &coordinates,
                                   llvm::ArrayRef<int64_t> index);
  /// Both sides of an expect at `index` of its plan values and `coordinates`:
  /// the reference element, and the sum of the plan's.
  llvm::FailureOr<std::pair<Scalar, Scalar>>
  evaluate(tv::ExpectOp expect, const Coordinates &coordinates,
           llvm::ArrayRef<int64_t> index);

  /// The reference index that a lineage gives for an element of a plan value.
  llvm::SmallVector<int64_t>
  getReferenceIndex(tv::LineageAttr lineage, const Coordinates &coordinates,
                    llvm::ArrayRef<int64_t> index) const;
  /// The same for one dimension of the lineage, whose position is `at`.
  int64_t getReferencePosition(mlir::ArrayAttr dimension,
                               const Coordinates &coordinates,
                               int64_t at) const;

private:
  std::function<std::optional<std::string>()> checkElement;
  /// What an op reads through one access, whatever the element.
  struct AccessState {
    const IndexRelation::Access *access;
    llvm::SmallVector<unsigned, 4> needed; ///< factors the result binds
    llvm::BitVector reduced;               ///< factors it does not
  };
  /// Places are row-major, and the low bits of many alike: strides are mostly
  /// powers of 2.
  struct PlaceInfo : llvm::DenseMapInfo<int64_t> {
    static unsigned getHashValue(int64_t place) {
      return static_cast<unsigned>(llvm::hash_value(place));
    }
  };
  /// What is known of a value and of the op that gives it.
  struct ValueState {
    uint64_t varyingAxes = 0; ///< a bit for each
    tv::SemanticsOpInterface op;
    llvm::SmallVector<AccessState, 2> accesses;
    llvm::SmallVector<unsigned, 2> reduced; ///< factors of any access
    llvm::SmallVector<std::pair<unsigned, int64_t>, 1> axisReads;
    /// Axes with the factors that are the coordinate at which operands are
    /// read, or that of the value.
    llvm::SmallVector<std::pair<unsigned, unsigned>, 1> readFactors, ownFactors;
    llvm::SmallVector<unsigned, 1> sumAxes;
    llvm::SmallVector<llvm::SmallVector<int64_t, 2>, 1> sumRanges;
    llvm::DenseMap<int64_t, Scalar, PlaceInfo> known; ///< elements by place
  };

  ValueState &getState(mlir::Value value);
  /// The number of an element among those of a value.
  llvm::FailureOr<int64_t> getPlace(mlir::Value value,
                                    const Coordinates &coordinates,
                                    llvm::ArrayRef<int64_t> index);
  llvm::FailureOr<Scalar> compute(mlir::Operation *op, const ValueState &state,
                                  const Coordinates &coordinates,
                                  llvm::ArrayRef<int64_t> index);
  llvm::FailureOr<Scalar> computeRelation(const ValueState &state,
                                          const Coordinates &coordinates,
                                          llvm::ArrayRef<int64_t> index);
  /// What an access reads, and the element there once that was evaluated.
  struct Reader {
    const AccessState *access;
    llvm::SmallVector<int64_t, 4> index = {};
    std::optional<Scalar> element = std::nullopt;
  };
  /// The scalar body at the positions `bound` of all factors.
  llvm::FailureOr<Scalar> computeBody(const ValueState &state,
                                      llvm::MutableArrayRef<Reader> present,
                                      const Coordinates &read,
                                      llvm::ArrayRef<int64_t> bound);
  llvm::LogicalResult readElement(const ValueState &state, Reader &reader,
                                  const Coordinates &read,
                                  llvm::ArrayRef<int64_t> bound);
  Scalar combineTerms(Combination combination,
                      llvm::ArrayRef<WeightedScalar> terms);
  llvm::FailureOr<Scalar>
  sumOverAxes(mlir::Value value, Coordinates coordinates,
              llvm::ArrayRef<unsigned> axes,
              llvm::ArrayRef<llvm::SmallVector<int64_t, 2>> ranges,
              llvm::ArrayRef<int64_t> index);
  llvm::LogicalResult fail(const llvm::Twine &reason);

  const FactorAnalysis &factors;
  ScalarAlgebra &algebra;
  ElementSource &source;
  DenseValueMap<unsigned> numbers;
  std::deque<ValueState> values;
  std::string failureReason;
  unsigned depth = 0;
  size_t elementCount = 0;
};

} // namespace verify

#endif // VERIFY_ANALYSIS_ELEMENTEVALUATOR_H
