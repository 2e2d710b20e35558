//===- PlanSlices.h - what the devices of a plan are given ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The inputs of a reference are whole tensors; those of a plan are the parts of
// them that its loaders and parameter buffers name.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_INTERPRETER_PLANSLICES_H
#define VERIFY_LIB_INTERPRETER_PLANSLICES_H

#include "Verify/Interpreter/PlanInterpreter.h"

namespace verify {

/// A tensor of the reference: how it is drawn.
struct WholeTensor {
  tv::ContractRole role;
  std::string name;
  mlir::RankedTensorType type;
};

/// Whole tensors. Remembers them for the plan.
class ReferenceInputs final : public PlanInputs {
public:
  explicit ReferenceInputs(InputValues &values) : values(values) {}

  TensorRef load(tv::LoadDataOp op, unsigned number, Site site,
                 int64_t microBatch) override;
  TensorRef parameter(tv::BufferOp op, Site site) override;
  TensorRef random(tv::RandomOp op, Site site, int64_t microBatch) override;
  bool isDrawnForEach(tv::RandomOp op) const override { return false; }
  TensorRef undefined(tv::UndefinedOp op, Site site,
                      int64_t execution) override;

  /// By `input`, `parameter` or `random`, and number or name.
  const WholeTensor *find(llvm::StringRef kind, llvm::StringRef key) const;

private:
  TensorRef get(llvm::StringRef kind, llvm::StringRef key,
                const WholeTensor &tensor, tv::PieceAttr piece,
                mlir::Location location);

  InputValues &values;
  std::map<std::pair<std::string, std::string>, WholeTensor> tensors;
};

/// Parts of the reference's tensors.
class PlanSlices final : public PlanInputs {
public:
  PlanSlices(InputValues &values, Workspace &workspace,
             const ReferenceInputs &reference, tv::PlanOp plan,
             bool drawsPerDevice);

  TensorRef load(tv::LoadDataOp op, unsigned number, Site site,
                 int64_t microBatch) override;
  TensorRef parameter(tv::BufferOp op, Site site) override;
  TensorRef random(tv::RandomOp op, Site site, int64_t microBatch) override;
  bool isDrawnForEach(tv::RandomOp op) const override;
  TensorRef undefined(tv::UndefinedOp op, Site site,
                      int64_t execution) override;

  /// The part of `whole` that `piece` names on a replica, in a micro-batch;
  /// -1 where a tensor is not divided by micro-batches. Null after an error.
  TensorRef slice(const TensorRef &whole, tv::PieceAttr piece, int64_t replica,
                  int64_t microBatch, mlir::Location location,
                  llvm::StringRef what);

private:
  TensorRef getPart(const WholeTensor *tensor, tv::PieceAttr piece, Site site,
                    int64_t microBatch, mlir::Location location,
                    const llvm::Twine &what);

  InputValues &values;
  Workspace &workspace;
  const ReferenceInputs &reference;
  int64_t replicaCount, microBatchCount;
  bool drawsPerDevice;
};

} // namespace verify

#endif // VERIFY_LIB_INTERPRETER_PLANSLICES_H
