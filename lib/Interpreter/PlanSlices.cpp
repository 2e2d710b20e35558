//===- PlanSlices.cpp - what the devices of a plan are given --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanSlices.h"

using namespace mlir;
using namespace verify;

/// Names a random op: what it is and the tensor it makes. The graph level uses
/// the same name for the same draws.
static std::string getDrawName(tv::RandomOp op) {
  // What nothing of the reference corresponds to has the complement of its
  // number, and is no other tensor that has this number there.
  int64_t number = op.getPiece().getFull();
  return (op.getName() + " of tensor " + Twine(std::max(number, ~number)) +
          (number < 0 ? " of the plan" : ""))
      .str();
}

//===--- ReferenceInputs --------------------------------------------------===//

TensorRef ReferenceInputs::get(StringRef kind, StringRef key,
                               const WholeTensor &tensor, tv::PieceAttr piece,
                               Location location) {
  ArrayRef<int64_t> bounds = piece.getBounds();
  bool isWhole = piece.getParts() == 1 &&
                 bounds.size() == 3 * tensor.type.getShape().size();
  for (size_t i = 0; isWhole && i < bounds.size(); i += 3)
    isWhole = bounds[i] == 0 && bounds[i + 1] == bounds[i + 2] &&
              bounds[i + 2] == tensor.type.getDimSize(i / 3);
  if (!isWhole) {
    emitError(location) << "the reference holds only a part of " << kind << " '"
                        << tensor.name << "'";
    return nullptr;
  }
  auto [found, isNew] = tensors.try_emplace({kind.str(), key.str()}, tensor);
  return values.get(found->second.role, found->second.name, found->second.type,
                    location);
}

TensorRef ReferenceInputs::load(tv::LoadDataOp op, unsigned number, Site site,
                                int64_t microBatch) {
  return get("input", std::to_string(number),
             {tv::ContractRole::Input,
              cast<StringAttr>(op.getNames()[number]).getValue().str(),
              cast<RankedTensorType>(op.getResult(number).getType())},
             cast<tv::PieceAttr>(op.getPieces()[number]), op.getLoc());
}

TensorRef ReferenceInputs::parameter(tv::BufferOp op, Site site) {
  return get("parameter", op.getName(),
             {tv::ContractRole::Parameter, op.getName().str(),
              op.getType().getTensor()},
             op.getPiece(), op.getLoc());
}

TensorRef ReferenceInputs::random(tv::RandomOp op, Site site,
                                  int64_t microBatch) {
  std::string name = getDrawName(op);
  return get("random", name,
             {tv::ContractRole::Random, name,
              cast<RankedTensorType>(op.getResult().getType())},
             op.getPiece(), op.getLoc());
}

TensorRef ReferenceInputs::undefined(tv::UndefinedOp op, Site site,
                                     int64_t execution) {
  op.emitOpError("of the reference program is produced by nothing");
  return nullptr;
}

const WholeTensor *ReferenceInputs::find(StringRef kind, StringRef key) const {
  auto found = tensors.find({kind.str(), key.str()});
  return found == tensors.end() ? nullptr : &found->second;
}

//===--- PlanSlices -------------------------------------------------------===//

PlanSlices::PlanSlices(InputValues &values, Workspace &workspace,
                       const ReferenceInputs &reference, tv::PlanOp plan,
                       bool drawsPerDevice)
    : values(values), workspace(workspace), reference(reference),
      replicaCount(plan.getMesh().getAxisSize("dp").value_or(1)),
      microBatchCount(plan.getMesh().getAxisSize("mb").value_or(1)),
      drawsPerDevice(drawsPerDevice) {}

TensorRef PlanSlices::slice(const TensorRef &whole, tv::PieceAttr piece,
                            int64_t replica, int64_t microBatch,
                            Location location, StringRef what) {
  ArrayRef<int64_t> bounds = piece.getBounds();
  SmallVector<int64_t> starts, shape;
  bool fits = bounds.size() == 3 * whole->shape.size() && piece.getParts() == 1;
  // Replicas, then micro-batches, divide the one dimension that is larger in
  // the reference.
  bool isDivided = false;
  for (size_t i = 0; fits && i < whole->shape.size(); ++i) {
    int64_t start = bounds[3 * i], end = bounds[3 * i + 1];
    int64_t extent = bounds[3 * i + 2];
    fits = start >= 0 && start <= end && end <= extent;
    starts.push_back(start);
    shape.push_back(end - start);
    if (extent == whole->shape[i])
      continue;
    fits &= !isDivided && extent > 0 && microBatch >= 0 &&
            whole->shape[i] % extent == 0 &&
            whole->shape[i] / extent == replicaCount * microBatchCount;
    isDivided = true;
    starts.back() += (replica * microBatchCount + microBatch) * extent;
  }
  if (fits)
    return workspace.slice(*whole, starts, shape, location);
  emitError(location) << "the reference program does not belong to this plan: "
                      << what << " has shape " << printIndex(whole->shape)
                      << " there, the plan holds " << piece;
  return nullptr;
}

TensorRef PlanSlices::getPart(const WholeTensor *tensor, tv::PieceAttr piece,
                              Site site, int64_t microBatch, Location location,
                              const Twine &what) {
  if (!tensor) {
    emitError(location) << "the reference program does not belong to this "
                           "plan: "
                        << what << " does not exist there";
    return nullptr;
  }
  TensorRef whole =
      values.get(tensor->role, tensor->name, tensor->type, location);
  return whole ? slice(whole, piece, site.replica, microBatch, location,
                       what.str())
               : nullptr;
}

TensorRef PlanSlices::load(tv::LoadDataOp op, unsigned number, Site site,
                           int64_t microBatch) {
  return getPart(reference.find("input", std::to_string(number)),
                 cast<tv::PieceAttr>(op.getPieces()[number]), site, microBatch,
                 op.getLoc(),
                 "input '" +
                     cast<StringAttr>(op.getNames()[number]).getValue() + "'");
}

TensorRef PlanSlices::parameter(tv::BufferOp op, Site site) {
  return getPart(reference.find("parameter", op.getName()), op.getPiece(), site,
                 /*microBatch=*/-1, op.getLoc(),
                 "parameter '" + op.getName() + "'");
}

TensorRef PlanSlices::random(tv::RandomOp op, Site site, int64_t microBatch) {
  std::string name = getDrawName(op);
  if (drawsPerDevice)
    return values.drawAt(name, {site.replica, site.device, microBatch},
                         cast<RankedTensorType>(op.getResult().getType()),
                         op.getLoc());
  return getPart(reference.find("random", name), op.getPiece(), site,
                 microBatch, op.getLoc(), name);
}

bool PlanSlices::isDrawnForEach(tv::RandomOp op) const {
  const WholeTensor *whole = reference.find("random", getDrawName(op));
  if (drawsPerDevice || !whole)
    return drawsPerDevice;
  ArrayRef<int64_t> bounds = op.getPiece().getBounds();
  ArrayRef<int64_t> shape = whole->type.getShape();
  for (size_t i = 0; i < shape.size() && 3 * i + 2 < bounds.size(); ++i)
    if (bounds[3 * i + 2] != shape[i])
      return true;
  return false;
}

TensorRef PlanSlices::undefined(tv::UndefinedOp op, Site site,
                                int64_t execution) {
  return values.makeUndefined(
      op.getName(), {site.replica, site.device, execution},
      cast<RankedTensorType>(op.getResult().getType()), op.getLoc());
}
