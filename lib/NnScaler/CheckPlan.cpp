//===- CheckPlan.cpp - whether the parts of a plan fit ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What is decoded of one object must agree with what is decoded of others: a
// sub-tensor lies within its full tensor and has the shape of its index map, an
// op and its mirror name each other, an execution has as many tensors as what
// it executes. What is built on a plan may rely on it.
//
//===----------------------------------------------------------------------===//

#include "PlanDecoder.h"

using namespace verify;
using namespace verify::nnscaler;

bool PlanDecoder::checkSubTensor(Value value, const SubTensor &tensor) {
  const FullTensor &full = plan.fullTensors[tensor.full];
  // Tensors are many and mistakes are few: look up fields to say so only.
  auto failCheck = [&](Field field, const llvm::Twine &text) {
    return decoder.failField(decoder.open(value), field, text);
  };
  if (tensor.slice.size() != full.shape.size())
    return failCheck(Field::IndexMap,
                     llvm::Twine(tensor.slice.size()) +
                         " dimensions, but the full tensor has " +
                         llvm::Twine(full.shape.size()));
  llvm::SmallVector<int64_t> shape;
  if (!tensor.fitsShape && !decoder.decodeShape(decoder.open(value), shape))
    return false;
  if (!tensor.fitsShape && shape.size() != tensor.slice.size())
    return failCheck(Field::Shape, llvm::Twine(shape.size()) +
                                       " dimensions, but the index map has " +
                                       llvm::Twine(tensor.slice.size()));
  for (size_t i = 0; i != tensor.slice.size(); ++i) {
    Range range = tensor.slice[i];
    if (range.start < 0 || range.end < range.start || range.end > full.shape[i])
      return failCheck(
          Field::IndexMap,
          "dimension " + llvm::Twine(i) + ": range [" +
              llvm::Twine(range.start) + ", " + llvm::Twine(range.end) +
              ") is not within the size " + llvm::Twine(full.shape[i]));
    if (!tensor.fitsShape && shape[i] != range.end - range.start)
      return failCheck(Field::Shape, "dimension " + llvm::Twine(i) + ": size " +
                                         llvm::Twine(shape[i]) +
                                         ", but the index map says " +
                                         llvm::Twine(range.end - range.start));
  }
  if (tensor.gradient != none && !plan.subTensors[tensor.gradient].isGradient)
    return failCheck(Field::Gradient, "not a gradient");
  if (tensor.isParameter != full.isParameter)
    return failCheck(Field::IsParameter, "the full tensor says otherwise");
  if (tensor.isGradient != full.isGradient)
    return failCheck(Field::IsGradient, "the full tensor says otherwise");
  return true;
}

bool PlanDecoder::checkTensors() {
  // The seed of the backward pass is the gradient of a loss, by either flag.
  for (size_t i = 0; i != plan.fullTensors.size(); ++i) {
    const FullTensor &full = plan.fullTensors[i];
    if (full.gradient != none &&
        plan.fullTensors[full.gradient].isLoss != full.isLoss)
      return decoder.failField(decoder.open(fullTensorObjects.values[i]),
                               Field::IsLoss, "the gradient says otherwise");
  }
  for (size_t i = 0; i != plan.subTensors.size(); ++i) {
    SubTensor &tensor = plan.subTensors[i];
    // nnScaler asks the whole; what a part has may be of an earlier time.
    const FullTensor &full = plan.fullTensors[tensor.full];
    tensor.requiresGradient = full.requiresGradient;
    if (!full.requiresGradient)
      tensor.gradient = none;
    if (!full.elementType.empty())
      tensor.elementType = full.elementType;
    if (!checkSubTensor(subTensorObjects.values[i], tensor))
      return false;
  }
  return true;
}

bool PlanDecoder::completeCells() {
  for (Cell &cell : cells) {
    const Node &node = plan.nodes[cell.node];
    if (!cell.isReuse) {
      cell.id = node.id;
      cell.inputs = node.inputs;
      cell.outputs = node.outputs;
      if (node.mirror != none) {
        cell.mirror = plan.nodes[node.mirror].id;
        cell.mirrorNumber = getCellNumber(nodeObjects.values[node.mirror]);
      }
    } else if (cell.inputs.size() != node.inputs.size() ||
               cell.outputs.size() != node.outputs.size()) {
      return decoder.fail("ExeReuseCell " + llvm::Twine(cell.id) + ": " +
                          llvm::Twine(cell.inputs.size()) + " inputs and " +
                          llvm::Twine(cell.outputs.size()) + " outputs, but " +
                          node.className + " " + llvm::Twine(node.id) +
                          " has " + llvm::Twine(node.inputs.size()) + " and " +
                          llvm::Twine(node.outputs.size()));
    }
  }
  for (llvm::MutableArrayRef<Cell> array : cellArrays)
    for (Cell &cell : array)
      cell = cells[cell.node];
  return true;
}

/// The kind of the mirror of a node, if it may have one.
static std::optional<NodeKind> getMirrorKind(NodeKind kind) {
  switch (kind) {
  case NodeKind::Segment:
  case NodeKind::Adapter:
    return kind;
  case NodeKind::Forward:
    return NodeKind::Backward;
  case NodeKind::Backward:
    return NodeKind::Forward;
  case NodeKind::WeightReducer:
  case NodeKind::DataOperation:
    return std::nullopt;
  }
  return std::nullopt;
}

bool PlanDecoder::checkNodes() {
  for (size_t i = 0; i != plan.nodes.size(); ++i) {
    const Node &node = plan.nodes[i];
    if (node.mirror == none)
      continue;
    const Node &mirror = plan.nodes[node.mirror];
    auto failMirror = [&](const llvm::Twine &text) {
      return decoder.failField(decoder.open(nodeObjects.values[i]),
                               Field::Mirror, text);
    };
    if (mirror.kind != getMirrorKind(node.kind))
      return failMirror(node.className + " cannot have the mirror " +
                        mirror.className + " " + llvm::Twine(mirror.id));
    if (mirror.mirror != i)
      return failMirror(mirror.className + " " + llvm::Twine(mirror.id) +
                        " is the mirror of something else");
  }
  return true;
}
