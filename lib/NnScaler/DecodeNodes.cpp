//===- DecodeNodes.cpp - cells and ops --------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decodes segments, forward and backward ops, communication ops, reducers and
// data loaders. A cell of a class that is not known is an error: what it does
// cannot be proved.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "SourceComment.h"

#include <memory>

using namespace verify;
using namespace verify::nnscaler;

std::optional<NodeKind> nnscaler::getNodeKind(PlanClass planClass) {
  switch (planClass) {
  case PlanClass::Segment:
    return NodeKind::Segment;
  case PlanClass::Forward:
    return NodeKind::Forward;
  case PlanClass::Backward:
    return NodeKind::Backward;
  case PlanClass::Adapter:
    return NodeKind::Adapter;
  case PlanClass::WeightReducer:
    return NodeKind::WeightReducer;
  case PlanClass::DataOperation:
    return NodeKind::DataOperation;
  default:
    return std::nullopt;
  }
}

Index Decoder::getNode(Value value) {
  if (!getNodeKind(classes.get(value)))
    return none;
  return getIndex(value, plan.nodes, nodeValues);
}

bool Decoder::decodeMirror(const ObjectFields &object, Index &mirror) {
  Value value;
  if (!get(object, Field::Mirror, value))
    return false;
  if (graph.isNone(value))
    return true;
  mirror = getNode(value);
  return mirror != none ||
         failType(object, Field::Mirror, "a cell or None", value);
}

bool Decoder::decodeDevices(const ObjectFields &object,
                            llvm::ArrayRef<int64_t> &devices) {
  if (!getIntegers(object, Field::NodeDevices, devices))
    return false;
  // Equal arrays are one array: each is checked once.
  if (devices.empty() || !checkedDevices.insert(devices.data()).second)
    return true;
  for (int64_t device : devices)
    if (!isDevice(device) || !knownDevices.contains(device))
      return failField(object, Field::NodeDevices,
                       "device " + llvm::Twine(device) +
                           " is not among the devices of the plan");
  return true;
}

bool Decoder::decodeNode(Value value, Index index) {
  ObjectFields object = open(value);
  Node node;
  node.kind = *getNodeKind(classes.get(value));
  node.className = getClassNameOf(value);
  if (!getId(object, node.id) ||
      !getOptionalString(object, Field::Name, node.name) ||
      !getOptionalString(object, Field::Signature, node.signature) ||
      !decodeArguments(object, Field::Inputs, node.inputs) ||
      !decodeArguments(object, Field::Outputs, node.outputs) ||
      !decodeKeywords(object, Field::Keywords, node.keywords) ||
      !decodeDevices(object, node.devices) ||
      !decodeMirror(object, node.mirror))
    return false;
  bool isDecoded = true;
  if (node.kind == NodeKind::Segment)
    isDecoded = decodeSegment(object, node);
  else if (node.kind == NodeKind::Forward)
    isDecoded = decodeForward(object, node);
  else if (node.kind == NodeKind::Adapter)
    isDecoded = decodeAdapter(object, node);
  plan.nodes[index] = node;
  return isDecoded;
}

bool Decoder::decodeSegment(const ObjectFields &segment, Node &node) {
  Value sequence;
  llvm::ArrayRef<Value> elements;
  if (!getElements(segment, Field::Nodes, sequence, elements))
    return false;
  auto [entry, isNew] = nodeListsByValue.try_emplace(sequence.getRaw());
  if (isNew) {
    Index *nodes;
    if (!allocate(elements.size(), nodes))
      return false;
    for (size_t i = 0; i != elements.size(); ++i) {
      nodes[i] = getNode(elements[i]);
      if (nodes[i] == none || classes.get(elements[i]) == PlanClass::Segment)
        return failType(segment, Field::Nodes,
                        "an op at position " + llvm::Twine(i), elements[i]);
    }
    entry->second = llvm::ArrayRef(nodes, elements.size());
  }
  node.nodes = entry->second;
  return true;
}

bool Decoder::decodeForward(const ObjectFields &op, Node &node) {
  llvm::StringRef comment;
  if (std::optional<Value> value = op.find(Field::Comment))
    if (graph.getKind(*value) == Kind::String)
      comment = intern(*value);
  SourceComment place = parseSourceComment(comment);
  node.file = place.file;
  node.line = place.line;
  node.function = place.function;
  node.code = place.code;
  return decodeAnnotations(op, node) && decodeModule(op, node);
}

bool Decoder::decodeAnnotations(const ObjectFields &op, Node &node) {
  // Only ops of IRDimops have any.
  if (!op.find(Field::Annotations))
    return true;
  Value sequence;
  llvm::ArrayRef<Value> elements;
  if (!getElements(op, Field::Annotations, sequence, elements))
    return false;
  auto [entry, isNew] = annotationsByValue.try_emplace(sequence.getRaw());
  if (isNew) {
    llvm::StringRef *texts;
    if (!allocate(elements.size(), texts))
      return false;
    for (size_t i = 0; i != elements.size(); ++i) {
      if (graph.getKind(elements[i]) != Kind::String)
        return failType(op, Field::Annotations, "str", elements[i]);
      texts[i] = intern(elements[i]);
    }
    entry->second = llvm::ArrayRef(texts, elements.size());
  }
  node.annotations = entry->second;
  return true;
}

bool Decoder::decodeModule(const ObjectFields &op, Node &node) {
  std::optional<Value> stack = op.find(Field::ModuleStack);
  if (!stack || graph.isNone(*stack))
    return true;
  Value entries = *stack;
  if (classes.get(entries) == PlanClass::Dictionary)
    entries = graph.getEntries(entries);
  if (graph.isNone(entries))
    return true;
  if (graph.getKind(entries) != Kind::Dictionary)
    return failType(op, Field::ModuleStack, "a dictionary", entries);
  if (size_t count = graph.getNumEntries(entries)) {
    Value innermost = graph.getEntry(entries, count - 1).first;
    if (graph.getKind(innermost) == Kind::String)
      node.module = intern(innermost);
  }
  return true;
}

bool Decoder::decodeAdapter(const ObjectFields &adapter, Node &node) {
  Field custom =
      adapter.find(Field::IsCustom) ? Field::IsCustom : Field::IsCustomOld;
  Value sequence;
  llvm::ArrayRef<Value> elements;
  if (!getBoolean(adapter, Field::IsForward, node.isForward) ||
      !getBoolean(adapter, Field::IsDifferentiable, node.isDifferentiable) ||
      !getBoolean(adapter, custom, node.isCustom) ||
      !getElements(adapter, Field::Primitives, sequence, elements))
    return false;
  auto known = primitivesByValue.find(sequence.getRaw());
  if (known != primitivesByValue.end()) {
    node.primitives = known->second;
    return true;
  }
  Primitive *first;
  if (!allocate(elements.size(), first))
    return false;
  for (size_t i = 0; i != elements.size(); ++i)
    if (!decodePrimitive(adapter, elements[i], first[i]))
      return false;
  node.primitives = llvm::ArrayRef(first, elements.size());
  primitivesByValue.try_emplace(sequence.getRaw(), node.primitives);
  return true;
}

bool Decoder::decodePrimitive(const ObjectFields &adapter, Value value,
                              Primitive &primitive) {
  if (classes.get(value) != PlanClass::Primitive)
    return failType(adapter, Field::Primitives, "a communication primitive",
                    value);
  ObjectFields object = open(value);
  primitive.name = getClassNameOf(value);
  return decodeArguments(object, Field::Inputs, primitive.inputs) &&
         decodeArguments(object, Field::Outputs, primitive.outputs) &&
         decodeKeywords(object, Field::PrimitiveKeywords, primitive.keywords);
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

bool Decoder::checkNodes() {
  for (size_t i = 0; i != plan.nodes.size(); ++i) {
    const Node &node = plan.nodes[i];
    if (node.mirror == none)
      continue;
    const Node &mirror = plan.nodes[node.mirror];
    auto failMirror = [&](const llvm::Twine &text) {
      return failField(open(nodeValues[i]), Field::Mirror, text);
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
