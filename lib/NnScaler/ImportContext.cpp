//===- ImportContext.cpp - names, types and places of a plan --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the whole plan says about one tensor or node: its type, its buffer, its
// source line. Separate from the importer proper because every part of that
// asks the same questions.
//
//===----------------------------------------------------------------------===//

#include "Importer.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

PlanContext::PlanContext(const PlanFile &plan, StringRef fileName,
                         const ImportOptions &options, MLIRContext *context)
    : plan(plan), options(options), context(context), fileName(fileName) {
  for (auto [index, full] : llvm::enumerate(plan.fullTensors)) {
    if (full.gradient == none)
      continue;
    forwardOfGradient.try_emplace(full.gradient, index);
    if (full.isLoss)
      lossGradients.insert(full.gradient);
  }
  using Consumer = std::tuple<StringRef, StringRef, uint32_t>;
  llvm::DenseMap<Index, Consumer> consumers;
  // A micro-batch with a segment of its own runs that instead of another.
  std::vector<Index> segmentOf(plan.nodes.size(), none);
  for (auto [index, node] : llvm::enumerate(plan.nodes))
    for (Index inner : node.nodes)
      segmentOf[inner] = index;
  using Reader = std::tuple<Index, int64_t, Index>;
  llvm::DenseSet<Reader> isRead; ///< on a device, in a segment
  for (auto [index, node] : llvm::enumerate(plan.nodes)) {
    if (node.kind == NodeKind::Forward && node.mirror != none)
      for (const Argument &input : node.inputs) {
        if (!input.isTensor)
          continue;
        Consumer own(node.signature, node.file, node.line);
        auto [found, isNew] = consumers.try_emplace(get(input).full, own);
        bool isSecond = !isNew && found->second != own;
        for (int64_t device : node.devices)
          isSecond |=
              !isRead.insert({get(input).full, device, segmentOf[index]})
                   .second;
        if (isSecond)
          severalConsumers.insert(get(input).full);
      }
    if (node.kind == NodeKind::Adapter)
      for (int64_t device : node.devices)
        adapterOnDevice.try_emplace({node.id, device}, index);
    if (node.signature == "nnscaler.runtime.function.multiref")
      for (const Argument &output : node.outputs)
        if (output.isTensor)
          consumerCopies.insert(get(output).full);
    if (node.kind != NodeKind::Forward || node.file.empty())
      continue;
    for (const Argument &output : node.outputs)
      if (output.isTensor)
        producerOfFull.try_emplace(get(output).full, index);
    for (const Argument &input : node.inputs)
      if (input.isTensor)
        readerOfFull.try_emplace(get(input).full, index);
  }
  findExtended();
}

void PlanContext::findExtended() {
  // Nodes are few and in order within a segment: repeat until nothing changes.
  bool changed = true;
  auto insert = [&](const Node &node) {
    for (const Argument &output : node.outputs)
      if (output.isTensor)
        changed |= extended.insert(get(output).full).second;
  };
  while (changed) {
    changed = false;
    for (const Node &node : plan.nodes) {
      if (node.kind != NodeKind::Forward)
        continue;
      bool reads = llvm::any_of(node.inputs, [&](const Argument &input) {
        return input.isTensor && extended.contains(get(input).full);
      });
      if (makesMinusInfinity(node) || (reads && keepsMinusInfinity(node)))
        insert(node);
    }
  }
}

Location PlanContext::getLocation(const Node &node) const {
  const Node *source = &node;
  bool isBackward = node.kind == NodeKind::Backward;
  if (isBackward && node.mirror != none)
    source = &plan.nodes[node.mirror];
  if (source->file.empty()) {
    for (ArrayRef<Argument> list : {source->inputs, source->outputs})
      for (const Argument &argument : list) {
        if (!argument.isTensor || !source->file.empty())
          continue;
        Index full = get(argument).full;
        auto forward = forwardOfGradient.find(full);
        if (forward != forwardOfGradient.end())
          full = forward->second;
        auto producer = producerOfFull.find(full);
        if (producer != producerOfFull.end())
          source = &plan.nodes[producer->second];
      }
  }
  Location place =
      source->file.empty()
          ? FileLineColLoc::get(context, fileName, 0, 0)
          : FileLineColLoc::get(context, source->file, source->line, 0);
  StringRef name = isBackward && node.mirror != none
                       ? plan.nodes[node.mirror].name
                       : node.name;
  return NameLoc::get(
      StringAttr::get(context, name + (isBackward ? " backward" : "") +
                                   " (cell " + Twine(node.id) + ")"),
      place);
}

Location PlanContext::getLocation(const SubTensor &tensor) const {
  for (const auto *nodes : {&producerOfFull, &readerOfFull})
    if (auto found = nodes->find(tensor.full); found != nodes->end()) {
      const Node &node = plan.nodes[found->second];
      return FileLineColLoc::get(context, node.file, node.line, 0);
    }
  return FileLineColLoc::get(context, fileName, 0, 0);
}

bool PlanContext::isComplex(const SubTensor &tensor) const {
  return tensor.elementType.starts_with("complex");
}

RankedTensorType PlanContext::getType(const SubTensor &tensor,
                                      Location location) const {
  Builder builder(context);
  Type element;
  StringRef name = tensor.elementType;
  if (name == "float32" || name == "complex64")
    element = builder.getF32Type();
  else if (name == "float64" || name == "complex128")
    element = builder.getF64Type();
  else if (name == "float16")
    element = builder.getF16Type();
  else if (name == "bfloat16")
    element = builder.getBF16Type();
  else if (name == "int64")
    element = builder.getI64Type();
  else if (name == "int32")
    element = builder.getI32Type();
  if (!element) {
    emitError(location) << "tensor " << tensor.id << " '" << tensor.name
                        << "' has unknown dtype '" << name << "'";
    return {};
  }
  if (extended.contains(tensor.full))
    element = tv::ExtendedType::get(context, element);
  SmallVector<int64_t> shape(tensor.shape);
  if (isComplex(tensor))
    shape.push_back(2);
  for (int64_t size : shape)
    if (size < 1) {
      emitError(location) << "tensor " << tensor.id << " '" << tensor.name
                          << "' has a dimension of size " << size;
      return {};
    }
  return RankedTensorType::get(shape, element);
}

tv::PieceAttr PlanContext::getPiece(const SubTensor &tensor) const {
  SmallVector<int64_t> bounds;
  const FullTensor &full = plan.fullTensors[tensor.full];
  for (auto [range, extent] : llvm::zip(tensor.slice, full.shape))
    bounds.append({range.start, range.end, extent});
  if (isComplex(tensor))
    bounds.append({0, 2, 2});
  int64_t id = full.id;
  auto forward = forwardOfGradient.find(tensor.full);
  bool isGradient = forward != forwardOfGradient.end();
  if (isGradient)
    id = plan.fullTensors[forward->second].id;
  return tv::PieceAttr::get(context, id, isGradient, bounds, tensor.part,
                            tensor.parts);
}

bool PlanContext::isConsumerCopy(const SubTensor &tensor) const {
  auto forward = forwardOfGradient.find(tensor.full);
  return consumerCopies.contains(
      forward == forwardOfGradient.end() ? tensor.full : forward->second);
}

bool PlanContext::isPartialGradient(const SubTensor &tensor) const {
  auto forward = forwardOfGradient.find(tensor.full);
  return forward != forwardOfGradient.end() &&
         severalConsumers.contains(forward->second);
}

bool PlanContext::isLossGradient(const SubTensor &tensor) const {
  return lossGradients.contains(tensor.full);
}

std::string PlanContext::getBufferName(const SubTensor &tensor,
                                       int64_t device) const {
  std::string name;
  llvm::raw_string_ostream(name)
      << "parameter" << plan.fullTensors[tensor.full].id << "_" << tensor.id
      << "_device" << device;
  return name;
}

std::string PlanContext::getGradientName(const SubTensor &tensor,
                                         int64_t device) const {
  return "gradient_of_" + getBufferName(tensor, device);
}

std::optional<int64_t> PlanContext::getDeclaredStart(int64_t adapter,
                                                     unsigned number,
                                                     int64_t device,
                                                     int64_t dimension) const {
  auto found = adapterOnDevice.find({adapter, device});
  if (found == adapterOnDevice.end())
    return std::nullopt;
  ArrayRef<Primitive> primitives = plan.nodes[found->second].primitives;
  if (number >= primitives.size() || primitives[number].inputs.size() != 1 ||
      !primitives[number].inputs[0].isTensor)
    return std::nullopt;
  const SubTensor &tensor = get(primitives[number].inputs[0]);
  if (dimension >= static_cast<int64_t>(tensor.slice.size()))
    return std::nullopt;
  return tensor.slice[dimension].start;
}
