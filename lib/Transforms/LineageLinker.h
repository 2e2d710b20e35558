//===- LineageLinker.h - states what relates plan and reference -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The contract, and the lemmas. The contract comes from the reference and from
// the slices of inputs and parameters; nothing the plan says about its other
// tensors enters it. What the plan does say becomes obligations.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_LINEAGELINKER_H
#define VERIFY_LIB_TRANSFORMS_LINEAGELINKER_H

#include "PlanExecution.h"
#include "Verify/IR/DenseValues.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringMap.h"

namespace verify {

/// How many expects were written.
struct LinkCounts {
  unsigned lemmas = 0, results = 0;
};

/// A part of a parameter that no device holds.
struct MissingPart {
  std::string parameter;
  llvm::SmallVector<int64_t> bounds;       ///< and extents
  llvm::SmallVector<tv::BufferOp> holders; ///< of other parts

  /// An error at the first of them.
  void report() const;
};

/// Collects expects, one for equal claims about one value, and writes them.
class LineageLinker {
public:
  /// Writes at `builder`, which is at the end of the graph.
  LineageLinker(const PlanExecution &reference, const PlanExecution &plan,
                tv::PlanOp planOp, mlir::OpBuilder &builder)
      : reference(reference), plan(plan), planOp(planOp), fold(plan.getFold()),
        mesh(fold ? fold->getMesh() : planOp.getMesh()), builder(builder) {}

  /// Finds a lemma for each piece the plan states and the reference has. This
  /// changes nothing in the graph.
  void findLemmas();
  /// Fails where the reference has the names of outputs in another order.
  llvm::LogicalResult checkOutputNames() const;
  /// Finds each result of the contract. Fails if a result of the reference is
  /// missing from the plan: after an error, unless it is a missing part.
  llvm::LogicalResult findResults();
  /// What no device holds, if that is why finding results failed.
  const std::optional<MissingPart> &getMissingPart() const { return missing; }
  /// Writes what was found, for which no plan is needed any more.
  LinkCounts write();

private:
  void findVarying();
  void addLemma(const StatedPiece &stated, mlir::Value tensor);
  /// Lemmas about what lies within ops of the plan that select.
  void addInferred();
  /// Whether the plan trains what the reference does, on each device that has
  /// it.
  llvm::LogicalResult checkTrained(
      const llvm::StringMap<llvm::SmallVector<const FinalGradient *>> &held);
  llvm::LogicalResult addGradients();
  /// What a device gives for output `number` of the reference.
  mlir::LogicalResult addOutput(int64_t device, size_t number,
                                llvm::ArrayRef<const PlanOutput *> outputs);
  llvm::LogicalResult addOutputs();
  /// One bit for each axis of the mesh, all of them 0.
  llvm::SmallBitVector getNoAxes() const;
  /// Sets the bit of an axis, or takes it away. None is of an axis that the
  /// mesh lacks.
  void set(llvm::SmallBitVector &axes, llvm::StringRef axis, bool value) const;
  /// Whether an axis that the value depends on does not index the lineage: it
  /// is a term of a sum. With `saysOfRanks` the lineage is that of each rank.
  bool isTerm(mlir::Value value, tv::LineageAttr lineage,
              bool saysOfRanks) const;
  /// The value where it is that of one of `microBatches`.
  mlir::Value restrict(mlir::Value value,
                       llvm::SmallVector<int64_t> microBatches,
                       mlir::Location location);
  /// The value at micro-batch `from`, at another one.
  mlir::Value moveTo(mlir::Value value, int64_t from, int64_t to,
                     mlir::Location location);
  struct Claim {
    llvm::SmallVector<mlir::Value, 1> values;
    mlir::Value reference;
    tv::LineageAttr lineage;
    tv::ContractAttr contract;
    llvm::SmallVector<int64_t, 1> devices;
    mlir::Location location;
    bool isGuess = false; ///< The plan does not state it.
  };
  void add(llvm::ArrayRef<mlir::Value> values, mlir::Value tensor,
           tv::LineageAttr lineage, tv::ContractAttr contract, int64_t device,
           mlir::Location location, bool isGuess = false);
  /// Notes a part that is missing.
  llvm::LogicalResult checkCoverage(llvm::StringRef name,
                                    llvm::ArrayRef<int64_t> shape,
                                    llvm::ArrayRef<tv::BufferOp> holders);

  const PlanExecution &reference;
  const PlanExecution &plan;
  tv::PlanOp planOp;
  const RankFold *fold;
  tv::MeshAttr mesh;
  mlir::OpBuilder &builder;
  std::optional<MissingPart> missing;
  std::vector<Claim> claims;
  /// Axes whose coordinate a value depends on, one bit for each axis of the
  /// mesh. What depends on none is left out.
  DenseValueMap<llvm::SmallBitVector> varying;
  llvm::DenseMap<std::tuple<mlir::Value, mlir::Value, tv::LineageAttr>, size_t>
      known;
  /// Of the pieces that are stated of tensors of the reference, by type and by
  /// how ranks differ.
  llvm::DenseMap<std::tuple<tv::PieceAttr, mlir::RankedTensorType, unsigned>,
                 tv::LineageAttr>
      lineages;
};

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_LINEAGELINKER_H
