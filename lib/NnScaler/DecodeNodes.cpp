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

bool Decoder::decodeMirror(const ObjectFields &object, Index &mirror) {
  Value value;
  if (!get(object, Field::Mirror, value))
    return false;
  if (graph.isNone(value))
    return true;
  mirror = value.getRaw();
  return getNodeKind(classes.get(value)) ||
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

bool Decoder::decodeNode(Value value, Node &node) {
  ObjectFields object = open(value);
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
  switch (node.kind) {
  case NodeKind::Segment:
    return decodeSegment(object, node);
  case NodeKind::Forward:
    return decodeRecompute(object, node) && decodeForward(object, node);
  case NodeKind::Adapter:
    return decodeRecompute(object, node) && decodeAdapter(object, node);
  case NodeKind::Backward:
  case NodeKind::WeightReducer:
  case NodeKind::DataOperation:
    return true;
  }
  return fail(object, "a cell of unknown kind");
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
      nodes[i] = elements[i].getRaw();
      if (!getNodeKind(classes.get(elements[i])) ||
          classes.get(elements[i]) == PlanClass::Segment)
        return failType(segment, Field::Nodes,
                        "an op at position " + llvm::Twine(i), elements[i]);
    }
    entry->second = llvm::ArrayRef(nodes, elements.size());
    references.emplace_back(References::Nodes, nodes, elements.size());
  }
  node.nodes = entry->second;
  return true;
}

bool Decoder::decodeRecompute(const ObjectFields &op, Node &node) {
  std::optional<Value> group = op.find(Field::Recompute);
  if (!group || graph.isNone(*group))
    return true;
  return getInteger(op, Field::Recompute, node.recompute) &&
         (node.recompute >= 0 ||
          failField(op, Field::Recompute,
                    "the group " + llvm::Twine(node.recompute)));
}

bool Decoder::decodeForward(const ObjectFields &op, Node &node) {
  llvm::StringRef comment;
  if (std::optional<Value> value = op.find(Field::Comment))
    if (graph.getKind(*value) == Kind::String)
      comment = intern(*value);
  // It becomes a line of the code that is made of the plan.
  if (comment.find_first_of("\n\r") != llvm::StringRef::npos)
    return failField(op, Field::Comment, "more than one line");
  SourceComment place = parseSourceComment(comment);
  node.file = place.file;
  node.line = place.line;
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
  return getOptionalString(object, Field::Signature, primitive.signature) &&
         decodeArguments(object, Field::Inputs, primitive.inputs) &&
         decodeArguments(object, Field::Outputs, primitive.outputs) &&
         decodeKeywords(object, Field::PrimitiveKeywords, primitive.keywords);
}

bool Decoder::decodeCell(const ObjectFields &executionPlan, Value value,
                         Cell &cell) {
  cell.isReuse = classes.get(value) == PlanClass::ReuseCell;
  if (!cell.isReuse) {
    cell.node = value.getRaw();
    // The rest is filled in from the node once that is decoded.
    return getNodeKind(classes.get(value)) ||
           failType(executionPlan, Field::Sequences, "a cell", value);
  }
  ObjectFields object = open(value);
  Value executed, mirror;
  if (!getId(object, cell.id) || !get(object, Field::Cell, executed) ||
      !get(object, Field::Mirror, mirror) ||
      !decodeArguments(object, Field::Inputs, cell.inputs) ||
      !decodeArguments(object, Field::Outputs, cell.outputs))
    return false;
  cell.node = executed.getRaw();
  if (!getNodeKind(classes.get(executed)))
    return failType(object, Field::Cell, "a cell", executed);
  if (graph.isNone(mirror))
    return true;
  if (classes.get(mirror) != PlanClass::ReuseCell)
    return failType(object, Field::Mirror, "ExeReuseCell or None", mirror);
  cell.mirrorNumber = mirror.getRaw();
  return getId(open(mirror), cell.mirror);
}
