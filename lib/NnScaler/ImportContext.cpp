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
    : plan(plan), options(options), context(context), fileName(fileName),
      fulls(plan.fullTensors.size()) {
  for (auto [index, full] : llvm::enumerate(plan.fullTensors)) {
    if (full.gradient == none)
      continue;
    Full &gradient = fulls[full.gradient];
    if (gradient.forward == none)
      gradient.forward = index;
    gradient.isLossGradient |= full.isLoss;
  }
  // A micro-batch with a segment of its own runs that instead of another.
  std::vector<Index> segmentOf(plan.nodes.size(), none);
  for (auto [index, node] : llvm::enumerate(plan.nodes))
    for (Index inner : node.nodes)
      segmentOf[inner] = index;
  for (auto [index, node] : llvm::enumerate(plan.nodes)) {
    if (node.kind == NodeKind::Adapter)
      for (int64_t device : node.devices)
        adapterOnDevice.try_emplace({node.id, device}, index);
    if (node.kind == NodeKind::Forward)
      noteForward(index, segmentOf[index]);
  }
  reads.clear();
  propagateExtended();
  notePlaces();
}

void PlanContext::noteForward(Index index, Index segment) {
  const Node &node = plan.nodes[index];
  auto getFulls = [&](ArrayRef<Argument> arguments) {
    SmallVector<Index, 4> found;
    for (const Argument &argument : arguments)
      if (argument.isTensor)
        found.push_back(get(argument).full);
    return found;
  };
  SmallVector<Index, 4> inputs = getFulls(node.inputs);
  SmallVector<Index, 4> outputs = getFulls(node.outputs);
  if (node.mirror != none)
    for (Index input : inputs) {
      Full &full = fulls[input];
      if (full.consumer == none)
        full.consumer = index;
      const Node &first = plan.nodes[full.consumer];
      full.hasSeveralConsumers |= first.signature != node.signature ||
                                  first.file != node.file ||
                                  first.line != node.line;
      for (int64_t device : node.devices)
        full.hasSeveralConsumers |=
            !reads.insert({input, device, segment}).second;
    }
  if (node.signature == "nnscaler.runtime.function.multiref")
    for (Index output : outputs)
      fulls[output].isConsumerCopy = true;
  if (makesMinusInfinity(node))
    for (Index output : outputs)
      fulls[output].isExtended = true;
  if (keepsMinusInfinity(node))
    for (Index input : inputs)
      for (Index output : outputs)
        keptInfinities.emplace_back(input, output);
  // Copies have no line of their own, and there are copies of copies.
  Index producer = index;
  if (node.file.empty())
    producer = inputs.empty() ? none : fulls[inputs.front()].producer;
  for (Index output : outputs)
    if (fulls[output].producer == none)
      fulls[output].producer = producer;
  if (node.file.empty())
    return;
  for (Index input : inputs)
    if (fulls[input].reader == none)
      fulls[input].reader = index;
}

void PlanContext::propagateExtended() {
  llvm::sort(keptInfinities);
  std::vector<Index> worklist;
  for (auto [from, to] : keptInfinities)
    if (fulls[from].isExtended && (worklist.empty() || worklist.back() != from))
      worklist.push_back(from);
  while (!worklist.empty()) {
    Index from = worklist.back();
    worklist.pop_back();
    for (auto it = llvm::lower_bound(keptInfinities, std::pair(from, Index(0)));
         it != keptInfinities.end() && it->first == from; ++it)
      if (!fulls[it->second].isExtended) {
        fulls[it->second].isExtended = true;
        worklist.push_back(it->second);
      }
  }
  keptInfinities.clear();
}

void PlanContext::notePlaces() {
  for (const Node &node : plan.nodes)
    if (!node.file.empty() && !places.contains({node.file.data(), node.line}))
      places.try_emplace({node.file.data(), node.line},
                         FileLineColLoc::get(context, node.file, node.line, 0));
  for (const Node &node : plan.nodes) {
    auto [names, isNew] = namesOf.try_emplace(getKey(node.name));
    if (isNew)
      names->second = {StringAttr::get(context, node.name),
                       StringAttr::get(context, node.name + " backward")};
  }
}

Location PlanContext::getPlace(StringRef file, uint32_t line) const {
  auto found = places.find({file.data(), line});
  if (found != places.end())
    return found->second;
  return FileLineColLoc::get(context, fileName, 0, 0);
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
        if (fulls[full].forward != none)
          full = fulls[full].forward;
        if (fulls[full].producer != none)
          source = &plan.nodes[fulls[full].producer];
      }
  }
  const Node &named =
      isBackward && node.mirror != none ? plan.nodes[node.mirror] : node;
  const auto &[name, backwardName] = namesOf.find(getKey(named.name))->second;
  return tv::NodeLoc::get(context, isBackward ? backwardName : name, node.id,
                          getPlace(source->file, source->line));
}

Location PlanContext::getLocation(const SubTensor &tensor) const {
  const Full &full = fulls[tensor.full];
  for (Index index : {full.producer, full.reader})
    if (index != none)
      return getPlace(plan.nodes[index].file, plan.nodes[index].line);
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
  else if (name == "bool")
    element = builder.getI1Type();
  if (!element) {
    emitError(location) << "tensor " << tensor.id << " '" << tensor.name
                        << "' has unknown dtype '" << name << "'";
    return {};
  }
  bool isExtended = fulls[tensor.full].isExtended;
  if (isExtended && !isa<FloatType>(element)) {
    emitError(location) << "tensor " << tensor.id << " '" << tensor.name
                        << "' of " << name << " may be minus infinity";
    return {};
  }
  if (isExtended)
    element = tv::ExtendedType::get(context, element);
  SmallVector<int64_t> shape = tensor.getShape();
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
  Index forward = fulls[tensor.full].forward;
  bool isGradient = forward != none;
  if (isGradient)
    id = plan.fullTensors[forward].id;
  return tv::PieceAttr::get(context, id, isGradient, bounds, tensor.part,
                            tensor.parts);
}

bool PlanContext::isConsumerCopy(const SubTensor &tensor) const {
  const Full &full = fulls[tensor.full];
  return full.forward == none ? full.isConsumerCopy
                              : fulls[full.forward].isConsumerCopy;
}

bool PlanContext::isPartialGradient(const SubTensor &tensor) const {
  Index forward = fulls[tensor.full].forward;
  return forward != none && fulls[forward].hasSeveralConsumers;
}

bool PlanContext::isLossGradient(const SubTensor &tensor) const {
  return fulls[tensor.full].isLossGradient;
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

std::optional<int64_t>
PlanContext::getDeclaredStart(const PrimitivePlace &place, int64_t device,
                              bool isGiven, int64_t dimension) const {
  auto found = adapterOnDevice.find({place.adapter, device});
  if (found == adapterOnDevice.end())
    return std::nullopt;
  const Node &node = plan.nodes[found->second];
  if (place.number >= node.primitives.size())
    return std::nullopt;
  const Primitive &primitive = node.primitives[place.number];
  ArrayRef<Argument> tensors =
      place.isTransposed ? (isGiven ? node.inputs : node.outputs)
                         : (isGiven ? primitive.inputs : primitive.outputs);
  if (tensors.size() != 1 || !tensors[0].isTensor)
    return std::nullopt;
  const SubTensor &tensor = get(tensors[0]);
  if (dimension < 0 || dimension >= static_cast<int64_t>(tensor.slice.size()))
    return std::nullopt;
  return tensor.slice[dimension].start;
}
