//===- Boundaries.h - the tensors nobody computes ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Data, parameters and draws of random ops: those of the reference, and the
// parts of them that the plan's devices hold. This much of the lineage is the
// contract.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_BOUNDARIES_H
#define VERIFY_LIB_TRANSFORMS_BOUNDARIES_H

#include "PlanValues.h"
#include "Verify/Transforms/Passes.h"

namespace verify {

/// What the name of the draws of one device has between the op's and its
/// number.
inline constexpr llvm::StringLiteral onDevice = " on device ";

/// Inputs are told apart by their place among the outputs of the data loader,
/// so there may be one.
class OneLoader {
public:
  /// Fails, after an error, if `op` is another loader than before, or does not
  /// name each of its tensors.
  llvm::LogicalResult check(tv::LoadDataOp op);

private:
  std::optional<uint64_t> cell;
};

/// Inputs and parameters of the reference program, by name.
class ReferenceBoundary : public BoundarySource {
public:
  explicit ReferenceBoundary(mlir::OpBuilder &builder) : builder(builder) {}
  mlir::Value load(tv::LoadDataOp op, unsigned number) override;
  mlir::Value parameter(tv::BufferOp op) override;
  mlir::Value random(tv::RandomOp op, int64_t device) override;

  mlir::Value findInput(unsigned number) const;
  mlir::Value findParameter(llvm::StringRef name) const;
  mlir::Value findRandom(tv::RandomOp op) const;

private:
  mlir::OpBuilder &builder;
  OneLoader loader;
  llvm::SmallVector<mlir::Value> inputs;
  llvm::StringMap<mlir::Value> parameters;
  llvm::StringMap<mlir::Value> draws; ///< by the name of the random op
};

/// The slice of a reference tensor of `shape` that `piece` names: a dimension
/// that is `dp * mb` times the plan's is indexed by both axes, and one that
/// ranks divide by theirs: `piece` is that of the first one. Null if the shapes
/// do not correspond so.
tv::LineageAttr getLineage(tv::PieceAttr piece, llvm::ArrayRef<int64_t> shape,
                           tv::MeshAttr mesh,
                           RankFold::Spread spread = RankFold::Spread());

/// Parts of reference inputs and parameters that the plan's devices hold.
class PlanBoundary : public BoundarySource {
public:
  /// `fold` may be null.
  PlanBoundary(mlir::OpBuilder &builder, const ReferenceBoundary &reference,
               tv::PlanOp plan, RandomMode randomMode, const RankFold *fold);
  mlir::Value load(tv::LoadDataOp op, unsigned number) override;
  mlir::Value parameter(tv::BufferOp op) override;
  mlir::Value random(tv::RandomOp op, int64_t device) override;

private:
  /// Fails where the loader of the reference has these names in another order.
  mlir::LogicalResult checkName(tv::LoadDataOp op, unsigned number) const;
  mlir::Value drawOnDevice(tv::RandomOp op, int64_t device);
  mlir::Value distribute(mlir::Value source, tv::PieceAttr piece,
                         mlir::RankedTensorType type, mlir::Location location,
                         llvm::StringRef what,
                         RankFold::Spread spread = RankFold::Spread());

  mlir::OpBuilder &builder;
  OneLoader loader;
  const ReferenceBoundary &reference;
  tv::MeshAttr mesh;
  RandomMode randomMode;
  const RankFold *fold;
  /// Devices that execute a random op, by its name.
  llvm::StringMap<llvm::SmallDenseSet<int64_t, 4>> drawingDevices;
  /// What a device draws for itself, by the name of the random op.
  std::map<std::pair<std::string, int64_t>, mlir::Value> ownDraws;
  llvm::DenseMap<std::pair<mlir::Value, tv::LineageAttr>, mlir::Value> known;
  /// What was loaded, by names, pieces, type, number and how ranks differ:
  /// micro-batches load the same.
  using Loaded = std::tuple<mlir::Attribute, mlir::Attribute, mlir::Type,
                            unsigned, std::pair<unsigned, unsigned>>;
  llvm::DenseMap<Loaded, mlir::Value> loads;
};

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_BOUNDARIES_H
