//===- ImportSegment.cpp - one cell on one device -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Resolves names to values inside a segment, the way the runtime does: a second
// gradient of the same tensor is added, in-place communication replaces.
//
//===----------------------------------------------------------------------===//

#include "Importer.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

void SegmentImporter::state(Value value, const SubTensor &tensor) {
  if (value.getDefiningOp() && !plan.isConsumerCopy(tensor) &&
      !plan.isPartialGradient(tensor))
    statements[value] = &tensor;
}

void SegmentImporter::writeStatements() {
  StringAttr ofOne = builder.getStringAttr(pieceName);
  for (auto [value, tensor] : statements)
    if (Operation *op = value.getDefiningOp(); !isa<tv::BackwardOp>(op))
      op->setDiscardableAttr(ofOne, plan.getPiece(*tensor));
  StringAttr ofSeveral = builder.getStringAttr(piecesName);
  for (tv::BackwardOp backward : backwards) {
    SmallVector<Attribute> pieces;
    for (Value result : backward.getResults()) {
      const SubTensor *tensor = statements.lookup(result);
      pieces.push_back(tensor ? Attribute(plan.getPiece(*tensor))
                              : builder.getUnitAttr());
    }
    backward->setDiscardableAttr(ofSeveral, builder.getArrayAttr(pieces));
  }
}

void SegmentImporter::define(const SubTensor &tensor, Value value) {
  state(value, tensor);
  values[tensor.id] = value;
}

void SegmentImporter::accumulate(const SubTensor &tensor, Value value,
                                 Location location) {
  Value &slot = values[tensor.id];
  if (slot) {
    // One term of several is not the tensor.
    for (Value term : {slot, value})
      if (const SubTensor *stated = statements.lookup(term);
          stated && stated->id == tensor.id)
        statements.erase(term);
    value = tv::AddOp::create(builder, location, slot.getType(), slot, value,
                              tv::DomainAttr());
    state(value, tensor);
  }
  slot = value;
}

Value SegmentImporter::read(const Argument &argument, Location location,
                            bool isGiven) {
  const SubTensor &tensor = plan.get(argument);
  Value &slot = values[tensor.id];
  if (slot)
    return slot;
  RankedTensorType type = plan.getType(tensor, location);
  if (!type)
    return {};
  if (tensor.isParameter && !tensor.isGradient)
    slot = tv::ReadOp::create(builder, location, type,
                              plan.getBufferName(tensor, device));
  else
    slot = tv::UndefinedOp::create(
        builder, location, type,
        builder.getStringAttr("'" + tensor.name + "' (tensor " +
                              Twine(tensor.id) + ")"),
        tv::DomainAttr());
  if (!isGiven && slot.getDefiningOp<tv::UndefinedOp>())
    slot.getDefiningOp()->setAttr(takenName, builder.getUnitAttr());
  return slot;
}

/// Whether `argument` is tensor `id`, or a collection with it.
static bool holds(const PlanContext &plan, const Argument &argument,
                  int64_t id) {
  if (argument.isTensor)
    return plan.get(argument).id == id;
  return llvm::any_of(argument.getElements(), [&](const Argument &element) {
    return holds(plan, element, id);
  });
}

/// Whether `node`, or a primitive of it, takes tensor `id`.
static bool takes(const PlanContext &plan, const Node &node, int64_t id) {
  auto isIt = [&](const Argument &argument) {
    return holds(plan, argument, id);
  };
  return llvm::any_of(node.inputs, isIt) ||
         llvm::any_of(node.keywords,
                      [&](const KeywordArgument &keyword) {
                        return isIt(keyword.value);
                      }) ||
         llvm::any_of(node.primitives, [&](const Primitive &primitive) {
           return llvm::any_of(primitive.inputs, isIt);
         });
}

bool SegmentImporter::isLegallyAbsent(const Node &forward,
                                      unsigned output) const {
  // Autograd takes zero for what leads to nothing that has a gradient.
  if (cell->mirror == none)
    return false;
  const Node &segment = plan.plan.nodes[cell->mirror];
  const Argument *result = nullptr;
  for (const Argument &candidate : forward.outputs)
    if (candidate.isTensor && output-- == 0)
      result = &candidate;
  if (!result)
    return false;
  int64_t id = plan.get(*result).id;
  // The backward has to be given the gradient of what leaves the segment.
  if (segment.kind != NodeKind::Segment ||
      llvm::any_of(segment.outputs, [&](const Argument &argument) {
        return holds(plan, argument, id);
      }))
    return false;
  return llvm::none_of(segment.nodes, [&](Index index) {
    const Node &node = plan.plan.nodes[index];
    return node.mirror != none && takes(plan, node, id);
  });
}

Value SegmentImporter::readGradient(const Argument &argument,
                                    const Node &forward, unsigned output,
                                    Location location) {
  const SubTensor &tensor = plan.get(argument);
  if (!values.contains(tensor.id) && isLegallyAbsent(forward, output)) {
    RankedTensorType type = plan.getType(tensor, location);
    if (!type)
      return {};
    return tv::ConstantOp::create(
        builder, location, type,
        DenseElementsAttr::get(type,
                               builder.getZeroAttr(type.getElementType())),
        tv::DomainAttr());
  }
  return read(argument, location);
}

void SegmentImporter::keepGradients(const Node &node, const Node &forward,
                                    tv::BackwardOp backward) {
  Location location = backward.getLoc();
  SmallVector<const SubTensor *> inputs;
  for (const Argument &input : forward.inputs)
    if (input.isTensor)
      inputs.push_back(&plan.get(input));
  for (auto [k, output] : llvm::enumerate(node.outputs)) {
    const SubTensor &tensor = plan.get(output);
    state(backward.getResult(k), tensor);
    const SubTensor &input = *inputs[backward.getWrt()[k]];
    if (input.isParameter)
      tv::AddToOp::create(builder, location, backward.getResult(k),
                          plan.getGradientName(input, device));
    else
      accumulate(tensor, backward.getResult(k), location);
  }
}

LogicalResult SegmentImporter::importBackward(const Node &node) {
  Location location = plan.getLocation(node);
  if (node.mirror == none)
    return emitError(location) << "backward op has no forward op";
  const Node &forward = plan.plan.nodes[node.mirror];
  // Gradients correspond in order to the tensors that have one.
  auto withGradient = [&](ArrayRef<Argument> arguments) {
    SmallVector<int64_t> numbers;
    int64_t number = 0;
    for (const Argument &argument : arguments) {
      if (!argument.isTensor)
        continue;
      if (plan.get(argument).gradient != none)
        numbers.push_back(number);
      ++number;
    }
    return numbers;
  };
  SmallVector<int64_t> outputs = withGradient(forward.outputs);
  SmallVector<int64_t> wrt = withGradient(forward.inputs);
  if (outputs.size() != node.inputs.size() || wrt.size() != node.outputs.size())
    return emitError(location)
           << "takes " << node.inputs.size() << " and gives "
           << node.outputs.size() << " gradients; its forward op has "
           << outputs.size() << " outputs and " << wrt.size()
           << " inputs with a gradient";
  SmallVector<Value> gradients;
  for (auto [argument, output] : llvm::zip(node.inputs, outputs)) {
    if (!argument.isTensor)
      return emitError(location) << "takes a gradient that is not a tensor";
    Value value = readGradient(argument, forward, output, location);
    if (!value)
      return failure();
    gradients.push_back(value);
  }
  SmallVector<Type> types;
  for (const Argument &output : node.outputs) {
    if (!output.isTensor)
      return emitError(location) << "gives a gradient that is not a tensor";
    RankedTensorType type = plan.getType(plan.get(output), location);
    if (!type)
      return failure();
    types.push_back(type);
  }
  auto backward = tv::BackwardOp::create(builder, location, types, gradients,
                                         forward.id, wrt, outputs);
  backwards.push_back(backward);
  keepGradients(node, forward, backward);
  return success();
}

/// The one tensor of a list, or null; failure if there are several.
static FailureOr<const Argument *> getOnly(ArrayRef<Argument> arguments,
                                           Location location) {
  if (arguments.size() > 1 || (arguments.size() == 1 && !arguments[0].isTensor))
    return emitError(location) << "primitive with " << arguments.size()
                               << " tensors is not supported";
  return arguments.empty() ? nullptr : &arguments[0];
}

LogicalResult SegmentImporter::importNode(const Node &node) {
  if (node.kind == NodeKind::Backward)
    return importBackward(node);
  if (node.kind == NodeKind::Forward)
    return importForward(node);
  if (node.kind == NodeKind::Adapter)
    return importAdapter(node);
  return emitError(plan.getLocation(node))
         << "'" << node.className << "' inside a segment is not supported";
}

LogicalResult SegmentImporter::importForward(const Node &node) {
  Location location = plan.getLocation(node);
  SmallVector<Value> operands, results;
  for (const Argument &input : node.inputs) {
    if (!input.isTensor)
      continue;
    // The code reads it of the module, where gradients are no tensors.
    if (const SubTensor &tensor = plan.get(input);
        tensor.isParameter && tensor.isGradient)
      return emitError(location)
             << "takes '" << tensor.name << "' (tensor " << tensor.id
             << "), which is said to be a parameter and a gradient";
    Value value = read(input, location);
    if (!value)
      return failure();
    // Operands are told apart so that each has a gradient of its own.
    if (llvm::is_contained(operands, value))
      value = tv::CopyOp::create(builder, location, value.getType(), value,
                                 tv::DomainAttr());
    operands.push_back(value);
  }
  if (failed(importForwardOp(plan, node, operands, builder, location, results)))
    return failure();
  for (auto [output, value] : llvm::zip(node.outputs, results))
    define(plan.get(output), value);
  if (node.mirror != none)
    tv::SaveOp::create(builder, location, node.id, operands, results);
  return success();
}

LogicalResult SegmentImporter::importAdapter(const Node &node) {
  Location location = plan.getLocation(node);
  AdapterResults results;
  // In a backward segment an adapter that is differentiable and not custom
  // holds the primitives of its forward: the transpose runs on its own tensors.
  results.isTransposed =
      !node.isForward && node.isDifferentiable && !node.isCustom;
  for (ArrayRef<Argument> list : {node.inputs, node.outputs})
    if (!llvm::all_of(list, [](const Argument &each) { return each.isTensor; }))
      return emitError(location) << "adapter of something that is not a tensor";
  if (results.isTransposed && node.primitives.size() != 1)
    return emitError(location) << "transpose of " << node.primitives.size()
                               << " primitives is not supported";
  for (const Argument &output : node.outputs)
    if (output.isTensor)
      results.given.insert(plan.get(output).id);
  // A custom adapter is a function of its own.
  if (node.isDifferentiable && node.isCustom)
    for (const Primitive &primitive : node.primitives)
      for (const Argument &output : primitive.outputs)
        if (output.isTensor && !results.given.contains(plan.get(output).id))
          results.hidden.insert(
              {plan.get(output).id, values.lookup(plan.get(output).id)});
  for (unsigned number = 0; number < node.primitives.size(); ++number)
    if (failed(importAdapterPrimitive(node, number, results)))
      return failure();
  for (auto [id, value] : results.hidden)
    values[id] = value;
  return defineMissing(node, location);
}

LogicalResult SegmentImporter::importAdapterPrimitive(const Node &node,
                                                      unsigned number,
                                                      AdapterResults &results) {
  Location location = plan.getLocation(node);
  const Primitive &primitive = node.primitives[number];
  FailureOr<const Argument *> output = getOnly(
      results.isTransposed ? node.outputs : primitive.outputs, location);
  if (failed(output))
    return failure();
  SmallVector<Value> operands;
  bool inPlace = false;
  for (const Argument &input :
       results.isTransposed ? node.inputs : primitive.inputs) {
    if (!input.isTensor)
      return emitError(location) << "primitive takes an argument that is not "
                                    "a tensor";
    operands.push_back(read(input, location));
    if (!operands.back())
      return failure();
    inPlace |= *output && plan.get(input).id == plan.get(**output).id;
  }
  PrimitiveContext context{plan, node, number, device, builder, location};
  FailureOr<Value> result = importPrimitive(
      context, primitive, operands, *output ? &plan.get(**output) : nullptr,
      results.isTransposed);
  if (failed(result))
    return failure();
  if (!*output || !*result)
    return success();
  const SubTensor &tensor = plan.get(**output);
  bool isNew = !llvm::is_contained(operands, *result);
  // Autograd adds gradients up; outside of a segment a variable is bound again.
  bool adds = tensor.isGradient && !inPlace && isNew && !node.isForward &&
              cell->kind == NodeKind::Segment;
  bool isHidden = adds && !results.given.contains(tensor.id);
  if (adds && !results.added.insert(tensor.id).second)
    return emitError(location)
           << "two primitives of one adapter give tensor " << tensor.id;
  if (isHidden)
    results.hidden.insert({tensor.id, values.lookup(tensor.id)});
  if (adds && !isHidden)
    accumulate(tensor, *result, location);
  else
    values[tensor.id] = *result;
  if (isNew && values.lookup(tensor.id) == *result)
    state(*result, tensor);
  return success();
}

LogicalResult SegmentImporter::defineMissing(const Node &adapter,
                                             Location location) {
  for (const Argument &output : adapter.outputs)
    if (output.isTensor && !plan.get(output).isParameter &&
        !read(output, location, /*isGiven=*/true))
      return failure();
  return success();
}

LogicalResult SegmentImporter::importCell(const Node &node, StringRef symbol) {
  cell = &node;
  Location location = plan.getLocation(node);
  bool isBackward =
      !node.isForward || llvm::any_of(node.nodes, [&](Index index) {
        return plan.plan.nodes[index].kind == NodeKind::Backward;
      });
  auto segment = tv::SegmentOp::create(builder, location, symbol, device,
                                       node.id, isBackward);
  Block &body = segment.getBody().emplaceBlock();
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&body);
  for (const Argument &input : node.inputs) {
    if (!input.isTensor)
      return emitError(location)
             << "cell takes an argument that is not a tensor";
    RankedTensorType type = plan.getType(plan.get(input), location);
    if (!type)
      return failure();
    values[plan.get(input).id] = body.addArgument(type, location);
  }
  if (node.kind == NodeKind::Segment) {
    for (Index index : node.nodes)
      if (failed(importNode(plan.plan.nodes[index])))
        return failure();
  } else if (failed(importNode(node))) {
    return failure();
  }
  SmallVector<Value> results;
  for (const Argument &output : node.outputs) {
    if (!output.isTensor)
      return emitError(location) << "cell gives a result that is not a tensor";
    Value value = read(output, location, /*isGiven=*/true);
    if (!value)
      return failure();
    results.push_back(value);
  }
  tv::ReturnOp::create(builder, location, results);
  writeStatements();
  return success();
}
