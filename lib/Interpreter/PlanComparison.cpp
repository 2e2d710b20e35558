//===- PlanComparison.cpp - results of a reference and a plan -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanComparison.h"

using namespace mlir;
using namespace verify;

static std::string printSite(Site site) {
  return "device " + std::to_string(site.device) + " of replica " +
         std::to_string(site.replica);
}

LogicalResult PlanComparison::run() {
  for (tv::AxisAttr axis : reference.getMesh().getAxes())
    if (axis.getSize() != 1)
      return reference.emitError("the reference is a plan for ")
             << reference.getMesh()
             << ", and not for one device and one micro-batch";
  target.inputs.setIndexLimits(findIndexLimits(reference));
  ReferenceInputs whole(target.inputs);
  PlanInterpreter first(reference, target.workspace, whole);
  if (failed(first.run()))
    return failure();
  if (Operation *op = first.getUndefined())
    return target.failOutsideDomain(op);
  if (failed(addReferenceResults(first)))
    return failure();
  if (!plan)
    return success();
  // Also the parameters that the reference holds and does not read.
  for (auto buffer : reference.getBody().getOps<tv::BufferOp>())
    if (!buffer.getGradientOf() && !whole.parameter(buffer, Site()))
      return failure();
  target.algebra->clearStatus();
  PlanSlices slices(target.inputs, target.workspace, whole, plan,
                    target.options.drawsPerDevice);
  PlanInterpreter second(plan, target.workspace, slices);
  if (failed(second.run()))
    return failure();
  if (Operation *op = second.getUndefined())
    target.remarks.push_back(
        ("'" + op->getName().getStringRef() +
         "' of the plan is evaluated outside of its domain")
            .str());
  if (failed(addOutputs(second)))
    return failure();
  return addGradients(second, slices);
}

LogicalResult
PlanComparison::addReferenceResults(const PlanInterpreter &interpreter) {
  for (const RunOutput &output : interpreter.getOutputs()) {
    ResultRow &row = target.rows.emplace_back();
    row.role = "output";
    row.name = output.name;
    row.reference = output.value.tensor;
  }
  outputCount = target.rows.size();
  for (const RunGradient &gradient : interpreter.getGradients()) {
    tv::BufferOp parameter = gradient.parameter;
    ResultRow &row = target.rows.emplace_back();
    row.role = "gradient";
    row.name = parameter.getName().str();
    row.reference = gradient.value;
  }
  if (target.rows.empty())
    return reference.emitOpError("has no results");
  return success();
}

LogicalResult PlanComparison::addOutputs(const PlanInterpreter &interpreter) {
  // On each device the outputs come in rounds, one for each micro-batch. Their
  // sum over micro-batches and replicas is the reference's.
  struct Terms {
    SmallVector<TensorRef> values;
    Location location;
  };
  std::map<std::pair<size_t, int64_t>, Terms> terms;
  int64_t replicas = plan.getMesh().getAxisSize("dp").value_or(1);
  int64_t microBatches = plan.getMesh().getAxisSize("mb").value_or(1);
  for (const RunOutput &output : interpreter.getOutputs()) {
    if (outputCount == 0)
      return emitError(output.location)
             << "output '" << output.name << "' is none of the reference's";
    terms
        .try_emplace({output.ordinal % outputCount, output.site.device},
                     Terms{{}, output.location})
        .first->second.values.push_back(output.value.tensor);
  }
  for (auto &[key, found] : terms) {
    ResultRow &row = target.rows[key.first];
    ResultPlace &place = row.places.emplace_back();
    place.place = "device " + std::to_string(key.second);
    place.reference = row.reference;
    auto count = static_cast<int64_t>(found.values.size());
    if (count != replicas * microBatches)
      place.problem = "is given " + std::to_string(count) + " times in " +
                      std::to_string(replicas) + " replicas with " +
                      std::to_string(microBatches) + " micro-batches";
    bool isUniform = llvm::all_of(found.values, [&](const TensorRef &value) {
      return value->shape == found.values.front()->shape;
    });
    if (!isUniform)
      place.problem = "has several shapes";
    if (!place.problem.empty()) {
      place.isEqual = false;
      continue;
    }
    place.plan = target.workspace.add(found.values, found.location);
    if (!place.plan)
      return failure();
  }
  for (size_t i = 0; i < outputCount; ++i)
    if (target.rows[i].places.empty()) {
      ResultPlace &place = target.rows[i].places.emplace_back();
      place.place = "every device";
      place.problem = "is given by no device";
    }
  return success();
}

LogicalResult PlanComparison::addGradients(const PlanInterpreter &interpreter,
                                           PlanSlices &slices) {
  for (ResultRow &row :
       llvm::MutableArrayRef(target.rows).drop_front(outputCount)) {
    SmallVector<tv::PieceAttr> pieces;
    for (const RunGradient &gradient : interpreter.getGradients()) {
      tv::BufferOp parameter = gradient.parameter;
      if (parameter.getName() != row.name)
        continue;
      // The part of the *parameter* that is held, whatever the plan says about
      // the gradient.
      ResultPlace &place = row.places.emplace_back();
      place.place = printSite(gradient.site);
      place.plan = gradient.value;
      place.reference =
          slices.slice(row.reference, parameter.getPiece(),
                       gradient.site.replica, /*microBatch=*/-1,
                       parameter.getLoc(), "parameter '" + row.name + "'");
      if (!place.reference)
        return failure();
      if (gradient.site.replica == 0)
        pieces.push_back(parameter.getPiece());
    }
    checkCoverage(row, pieces);
  }
  for (const RunGradient &gradient : interpreter.getGradients()) {
    tv::BufferOp parameter = gradient.parameter;
    auto hasGradient = [&](const ResultRow &row) {
      return row.role == "gradient" && row.name == parameter.getName();
    };
    if (gradient.site.replica == 0 && llvm::none_of(target.rows, hasGradient))
      target.remarks.push_back(("the reference has no gradient of '" +
                                parameter.getName() + "', " +
                                printSite(gradient.site) + " has one")
                                   .str());
  }
  return success();
}

void PlanComparison::checkCoverage(ResultRow &row,
                                   ArrayRef<tv::PieceAttr> pieces) {
  ArrayRef<int64_t> shape = row.reference->shape;
  // A mark for each element; tensors of a run are small.
  std::vector<bool> isHeld(row.reference->size(), false);
  for (tv::PieceAttr piece : pieces) {
    ArrayRef<int64_t> bounds = piece.getBounds();
    SmallVector<int64_t> sizes;
    for (size_t i = 0; i < shape.size(); ++i)
      sizes.push_back(bounds[3 * i + 1] - bounds[3 * i]);
    forEachIndex(sizes, [&](ArrayRef<int64_t> index) {
      int64_t offset = 0;
      for (size_t i = 0; i < shape.size(); ++i)
        offset = offset * shape[i] + bounds[3 * i] + index[i];
      isHeld[offset] = true;
    });
  }
  auto missing = llvm::count(isHeld, false);
  if (missing == 0)
    return;
  ResultPlace &place = row.places.emplace_back();
  place.place = "every device";
  place.problem = std::to_string(missing) + " of " +
                  std::to_string(isHeld.size()) +
                  " elements are held by no device";
}
