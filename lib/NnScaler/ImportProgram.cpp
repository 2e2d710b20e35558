//===- ImportProgram.cpp - what one device executes -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The segments of a device and the program that calls them. Inside a program a
// tensor's name is bound to the value that the last cell gave it, as in the
// generated code.
//
//===----------------------------------------------------------------------===//

#include "Importer.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

/// Whether the code that is made of a plan can have it as a name. A number
/// follows, and in those of variables a dot becomes an underscore.
static bool isIdentifier(StringRef name, StringRef others) {
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name, [&](char c) {
           // Letters of other scripts, as UTF-8.
           return llvm::isAlnum(c) || others.contains(c) || (c & 0x80);
         });
}

namespace {
/// Checks that what has one name on a device is one thing.
class NameChecker {
public:
  NameChecker(const PlanContext &plan, int64_t device)
      : plan(plan), device(device) {}

  LogicalResult checkTensors(ArrayRef<Argument> arguments, const Node &node);
  LogicalResult checkNode(Index index);
  /// A cell becomes a method.
  LogicalResult checkMethod(const Node &node);

private:
  // Locations take longer than the rest, and only errors need them.
  InFlightDiagnostic fail(const Node &node) const {
    return emitError(plan.getLocation(node));
  }

  const PlanContext &plan;
  int64_t device;
  llvm::DenseMap<int64_t, Index> nodes;
  llvm::DenseMap<int64_t, const SubTensor *> tensors;
  llvm::DenseSet<const char *> names; ///< of variables, that can be
  llvm::StringSet<> methods;
};
} // namespace

LogicalResult NameChecker::checkTensors(ArrayRef<Argument> arguments,
                                        const Node &node) {
  for (const Argument &argument : arguments) {
    if (!argument.isTensor)
      continue;
    const SubTensor &tensor = plan.get(argument);
    auto [known, isNew] = tensors.try_emplace(tensor.id, &tensor);
    if (isNew && !tensor.isGradient &&
        names.insert(tensor.name.data()).second &&
        !isIdentifier(tensor.name, "._"))
      return fail(node) << "tensor " << tensor.id << " cannot have the name '"
                        << tensor.name << "'";
    if (isNew || known->second == &tensor)
      continue;
    if (known->second->full != tensor.full)
      return fail(node) << "tensor " << tensor.id << " on device " << device
                        << " is part of two different tensors";
    // Variables have the name and the number.
    if (known->second->name != tensor.name)
      return fail(node) << "tensor " << tensor.id << " on device " << device
                        << " has two names, '" << known->second->name
                        << "' and '" << tensor.name << "'";
  }
  return success();
}

LogicalResult NameChecker::checkNode(Index index) {
  const Node &node = plan.plan.nodes[index];
  auto [known, isNew] = nodes.try_emplace(node.id, index);
  if (!isNew && known->second == index)
    return success();
  if (!isNew)
    return fail(node) << "device " << device << " has another cell " << node.id;
  if (!node.devices.empty() && !llvm::is_contained(node.devices, device))
    return fail(node) << "device " << device
                      << " executes a cell of other devices";
  for (const Primitive &primitive : node.primitives)
    if (failed(checkTensors(primitive.inputs, node)) ||
        failed(checkTensors(primitive.outputs, node)))
      return failure();
  return success(succeeded(checkTensors(node.inputs, node)) &&
                 succeeded(checkTensors(node.outputs, node)));
}

LogicalResult NameChecker::checkMethod(const Node &node) {
  if (node.kind == NodeKind::DataOperation)
    return success();
  if (!isIdentifier(node.name, "_"))
    return fail(node) << "a method cannot have the name '" << node.name << "'";
  if (!methods.insert((node.name + Twine(node.id)).str()).second)
    return fail(node) << "another cell of device " << device
                      << " becomes a method '" << node.name << node.id
                      << "', too";
  return success();
}

LogicalResult ProgramImporter::check() {
  NameChecker names(plan, program.device);
  llvm::DenseSet<Index> done;
  for (const Cell &cell : program.cells) {
    const Node &node = file.nodes[cell.node];
    if (done.insert(cell.node).second) {
      if (failed(names.checkNode(cell.node)) || failed(names.checkMethod(node)))
        return failure();
      for (Index index : node.nodes)
        if (failed(names.checkNode(index)))
          return failure();
    }
    if (failed(names.checkTensors(cell.inputs, node)) ||
        failed(names.checkTensors(cell.outputs, node)))
      return failure();
  }
  return success();
}

std::string ProgramImporter::getSymbol(const Node &node) const {
  return ("cell" + Twine(node.id) + "_device" + Twine(program.device)).str();
}

Location ProgramImporter::getLocation(const Cell &cell) {
  auto known = locations.find(cell.node);
  if (known != locations.end())
    return known->second;
  Location location = plan.getLocation(file.nodes[cell.node]);
  locations.try_emplace(cell.node, location);
  return location;
}

LogicalResult ProgramImporter::importLoad(const Cell &cell, const Node &node) {
  Location location = getLocation(cell);
  if (node.signature != "next" || node.inputs.size() != 1)
    return emitError(location)
           << "the data loader calls '" << node.signature << "' with "
           << node.inputs.size() << " arguments, not 'next' with one";
  SmallVector<Type> types;
  SmallVector<Attribute> pieces, names;
  SmallVector<int64_t> ids;
  for (auto [own, executed] : llvm::zip(node.outputs, cell.outputs)) {
    if (!own.isTensor || !executed.isTensor)
      return emitError(location)
             << "the data loader gives something that is not a tensor";
    RankedTensorType type = plan.getType(plan.get(own), location);
    if (!type)
      return failure();
    types.push_back(type);
    pieces.push_back(plan.getPiece(plan.get(own)));
    names.push_back(builder.getStringAttr(plan.get(own).name));
    ids.push_back(plan.get(executed).id);
  }
  auto load = tv::LoadDataOp::create(builder, location, types, node.id,
                                     builder.getArrayAttr(names),
                                     builder.getArrayAttr(pieces));
  for (auto [id, value] : llvm::zip(ids, load.getResults()))
    values[id] = value;
  return success();
}

LogicalResult ProgramImporter::importReducer(const Node &node) {
  Location location = plan.getLocation(node);
  SmallVector<int64_t> group(node.devices);
  llvm::sort(group);
  for (const Argument &input : node.inputs) {
    if (!input.isTensor || !plan.get(input).isParameter ||
        plan.get(input).isGradient)
      return emitError(location) << "reduces something that is no parameter";
    const SubTensor &tensor = plan.get(input);
    RankedTensorType type = plan.getType(tensor, location);
    std::string name = plan.getGradientName(tensor, program.device);
    StringRef parameter = file.fullTensors[tensor.full].name;
    Location place = tv::NodeLoc::get(
        plan.context, builder.getStringAttr("weight reducer of " + parameter),
        node.id, plan.getLocation(tensor));
    Value gradient = tv::ReadOp::create(builder, place, type, name);
    Value sum = tv::CommunicateOp::create(
        builder, place, type, tv::CollectiveKind::AllReduce, gradient,
        ArrayRef<int64_t>(group), /*replicas=*/true, IntegerAttr(),
        IntegerAttr(), IntegerAttr());
    tv::WriteOp::create(builder, place, sum, name);
  }
  return success();
}

LogicalResult ProgramImporter::startFromLoss(const Node &node,
                                             const SubTensor &own,
                                             const SubTensor &executed,
                                             RankedTensorType type,
                                             Value &value) {
  bool isStart = plan.isLossGradient(executed);
  if (node.kind != NodeKind::Segment || (!isStart && !plan.isLossGradient(own)))
    return success();
  Location location = plan.getLocation(node);
  if (!isStart || !plan.isLossGradient(own))
    return emitError(location)
           << "tensor " << executed.id
           << " is the gradient of a loss in the cell or in its execution only";
  if (!isa<FloatType>(type.getElementType()))
    return emitError(location) << "the gradient of the loss is " << type;
  if (value && !value.getDefiningOp<tv::SeedOp>())
    return emitError(location)
           << "starts from one, as tensor " << executed.id
           << " is the gradient of a loss, which has a value";
  if (!value)
    value = tv::SeedOp::create(builder, location, type);
  return success();
}

std::string ProgramImporter::describeExecution(const Cell &cell) {
  if (placeOfExecution.empty())
    for (const Cell &each : program.cells)
      placeOfExecution[&each] = ++executionCount[each.node];
  unsigned count = executionCount.lookup(cell.node);
  return count == 1 ? std::string()
                    : (" for execution " + Twine(placeOfExecution[&cell]) +
                       " of " + Twine(count))
                          .str();
}

LogicalResult ProgramImporter::importExecution(const Cell &cell) {
  const Node &node = file.nodes[cell.node];
  if (node.kind == NodeKind::DataOperation)
    return importLoad(cell, node);
  if (node.kind == NodeKind::WeightReducer)
    return importReducer(node);
  Location location = getLocation(cell);
  if (node.inputs.size() != cell.inputs.size() ||
      node.outputs.size() != cell.outputs.size())
    return emitError(location) << "cell " << cell.id << " executes cell "
                               << node.id << " with another number of tensors";
  SmallVector<Value> operands;
  for (auto [own, executed] : llvm::zip(node.inputs, cell.inputs)) {
    if (!own.isTensor || !executed.isTensor)
      return emitError(location)
             << "cell takes an argument that is not a tensor";
    Value &value = values[plan.get(executed).id];
    RankedTensorType type = plan.getType(plan.get(own), location);
    if (!type)
      return failure();
    if (failed(startFromLoss(node, plan.get(own), plan.get(executed), type,
                             value)))
      return failure();
    if (!value) {
      value = tv::UndefinedOp::create(
          builder, location, type,
          builder.getStringAttr("'" + plan.get(own).name + "' (tensor " +
                                Twine(plan.get(executed).id) + ")" +
                                describeExecution(cell)),
          tv::DomainAttr());
      value.getDefiningOp()->setAttr(takenName, builder.getUnitAttr());
    }
    operands.push_back(value);
  }
  SmallVector<Type> types;
  for (auto [own, executed] : llvm::zip(node.outputs, cell.outputs)) {
    if (!own.isTensor || !executed.isTensor)
      return emitError(location) << "cell gives a result that is not a tensor";
    RankedTensorType type = plan.getType(plan.get(own), location);
    if (!type)
      return failure();
    types.push_back(type);
  }
  auto call = tv::CallOp::create(
      builder, location, types, getSymbol(node), operands, cell.id,
      cell.mirror < 0 ? std::nullopt : std::optional<int64_t>(cell.mirror));
  for (auto [output, value] : llvm::zip(cell.outputs, call.getResults()))
    values[plan.get(output).id] = value;
  return success();
}

LogicalResult ProgramImporter::importOutputs() {
  for (auto [number, output] : llvm::enumerate(file.outputs)) {
    if (!output.isTensor)
      return emitError(fileLocation)
             << "output " << number << " of the plan is not a tensor";
    const SubTensor &tensor = plan.get(output);
    Value value = values.lookup(tensor.id);
    if (!value)
      continue;
    outputs.push_back(number);
    tv::OutputOp::create(builder, plan.getLocation(tensor), value, tensor.name,
                         plan.getPiece(tensor));
  }
  return success();
}

LogicalResult ProgramImporter::import() {
  auto op = tv::ProgramOp::create(builder, fileLocation, program.device);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&op.getBody().emplaceBlock());
  for (const Cell &cell : program.cells)
    if (failed(importExecution(cell)))
      return failure();
  return importOutputs();
}

LogicalResult ProgramImporter::importSegments() {
  llvm::DenseSet<Index> done;
  for (const Cell &cell : program.cells) {
    const Node &node = file.nodes[cell.node];
    bool isSegment =
        node.kind == NodeKind::Segment || node.kind == NodeKind::Adapter;
    if (node.kind == NodeKind::Forward || node.kind == NodeKind::Backward)
      return emitError(plan.getLocation(node))
             << "op outside of a segment is not supported";
    if (isSegment && done.insert(cell.node).second &&
        failed(SegmentImporter(plan, program.device, builder)
                   .importCell(node, getSymbol(node))))
      return failure();
  }
  return success();
}
