//===- ImportPlan.cpp - nnScaler execution plans to the tv dialect --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole plan: mesh, buffers, one segment for each cell and device, and one
// program for each device. Inside a program a tensor's name is bound to the
// value that the last cell gave it, as in the generated code.
//
//===----------------------------------------------------------------------===//

#include "Importer.h"

#include "mlir/IR/Threading.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/ThreadPool.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

namespace {
class PlanImporter {
public:
  PlanImporter(const PlanFile &file, StringRef fileName,
               const ImportOptions &options, ModuleOp module)
      : plan(file, fileName, options, module.getContext()), file(file),
        fileLocation(FileLineColLoc::get(module.getContext(), fileName, 0, 0)),
        builder(OpBuilder::atBlockEnd(module.getBody())) {}

  LogicalResult import(StringRef symbol);

private:
  FailureOr<tv::MeshAttr> getMesh();
  LogicalResult importBuffers(const DeviceProgram &program);
  LogicalResult importBuffer(const SubTensor &tensor, int64_t device);
  LogicalResult checkProgram(const DeviceProgram &program);
  LogicalResult importSegments(const DeviceProgram &program,
                               OpBuilder &builder);
  /// Checks the programs and imports the segments of each into a block of its
  /// own, on all threads. Fails, and says nothing, where there is anything to
  /// say.
  LogicalResult
  importSideBySide(ArrayRef<const DeviceProgram *> programs,
                   MutableArrayRef<std::unique_ptr<Block>> segments);
  LogicalResult importProgram(const DeviceProgram &program);
  LogicalResult importExecution(const Cell &cell, int64_t device);
  LogicalResult importLoad(const Cell &cell, const Node &node);
  LogicalResult importReducer(const Node &node, int64_t device);
  LogicalResult importOutputs();
  std::string getSymbol(const Node &node, int64_t device) {
    return ("cell" + Twine(node.id) + "_device" + Twine(device)).str();
  }

  PlanContext plan;
  const PlanFile &file;
  Location fileLocation;
  OpBuilder builder;
  llvm::StringSet<> buffers;
  llvm::DenseSet<size_t> computedOutputs; ///< by number, on any device
  llvm::DenseMap<int64_t, Value>
      values; ///< of the current device, by tensor id
};
} // namespace

FailureOr<tv::MeshAttr> PlanImporter::getMesh() {
  int64_t devices = file.devices.size();
  SmallVector<int64_t> sorted(file.devices);
  llvm::sort(sorted);
  for (auto [i, device] : llvm::enumerate(sorted))
    if (device != static_cast<int64_t>(i))
      return emitError(fileLocation) << "devices of a replica are not numbered "
                                     << "0 to " << devices - 1;
  if (devices == 0 || file.runtimeDevices % devices)
    return emitError(fileLocation)
           << file.runtimeDevices << " devices are not a multiple of the "
           << devices << " devices of a replica";
  int64_t microBatches = 1;
  for (const DeviceProgram &program : file.programs) {
    if (program.device < 0 || program.device >= devices)
      return emitError(fileLocation) << "program of device " << program.device
                                     << ", of " << devices << " devices";
    llvm::DenseMap<Index, int64_t> loads;
    for (const Cell &cell : program.cells)
      if (file.nodes[cell.node].kind == NodeKind::DataOperation)
        microBatches = std::max(microBatches, ++loads[cell.node]);
  }
  MLIRContext *context = builder.getContext();
  auto axis = [&](StringRef name, int64_t size) {
    return tv::AxisAttr::get(context, builder.getStringAttr(name), size);
  };
  return tv::MeshAttr::get(context,
                           {axis("dp", file.runtimeDevices / devices),
                            axis("device", devices), axis("mb", microBatches)});
}

/// The runtime knows cells and tensors by class and number. What is imported by
/// number alone has to be the same thing wherever the number occurs.
LogicalResult PlanImporter::checkProgram(const DeviceProgram &program) {
  llvm::DenseMap<int64_t, Index> nodes, fullTensors;
  // Locations take longer than the rest, and only errors need them.
  auto checkTensors = [&](ArrayRef<Argument> arguments,
                          const Node &node) -> LogicalResult {
    for (const Argument &argument : arguments) {
      if (!argument.isTensor)
        continue;
      const SubTensor &tensor = plan.get(argument);
      auto [known, isNew] = fullTensors.try_emplace(tensor.id, tensor.full);
      if (!isNew && known->second != tensor.full)
        return emitError(plan.getLocation(node))
               << "tensor " << tensor.id << " on device " << program.device
               << " is part of two different tensors";
    }
    return success();
  };
  auto checkNode = [&](Index index) -> LogicalResult {
    const Node &node = file.nodes[index];
    auto [known, isNew] = nodes.try_emplace(node.id, index);
    if (!isNew && known->second == index)
      return success();
    if (!isNew)
      return emitError(plan.getLocation(node))
             << "device " << program.device << " has another cell " << node.id;
    if (!node.devices.empty() &&
        !llvm::is_contained(node.devices, program.device))
      return emitError(plan.getLocation(node))
             << "device " << program.device
             << " executes a cell of other devices";
    for (const Primitive &primitive : node.primitives)
      if (failed(checkTensors(primitive.inputs, node)) ||
          failed(checkTensors(primitive.outputs, node)))
        return failure();
    return success(succeeded(checkTensors(node.inputs, node)) &&
                   succeeded(checkTensors(node.outputs, node)));
  };
  for (const Cell &cell : program.cells) {
    if (failed(checkNode(cell.node)))
      return failure();
    const Node &node = file.nodes[cell.node];
    for (Index index : node.nodes)
      if (failed(checkNode(index)))
        return failure();
    if (failed(checkTensors(cell.inputs, node)) ||
        failed(checkTensors(cell.outputs, node)))
      return failure();
  }
  return success();
}

LogicalResult PlanImporter::importBuffer(const SubTensor &tensor,
                                         int64_t device) {
  std::string name = plan.getBufferName(tensor, device);
  if (!buffers.insert(name).second)
    return success();
  RankedTensorType type = plan.getType(tensor, fileLocation);
  if (!type)
    return failure();
  auto bufferType = tv::BufferType::get(builder.getContext(), type);
  StringRef label = file.fullTensors[tensor.full].name;
  tv::PieceAttr piece = plan.getPiece(tensor);
  Location location = NameLoc::get(builder.getStringAttr("parameter " + label),
                                   plan.getLocation(tensor));
  tv::BufferOp::create(builder, location, name, device, label, piece,
                       bufferType, FlatSymbolRefAttr());
  if (tensor.requiresGradient || tensor.gradient != none)
    tv::BufferOp::create(
        builder, location, plan.getGradientName(tensor, device), device, label,
        piece, bufferType, FlatSymbolRefAttr::get(builder.getContext(), name));
  return success();
}

LogicalResult PlanImporter::importBuffers(const DeviceProgram &program) {
  auto importList = [&](ArrayRef<Argument> arguments) -> LogicalResult {
    for (const Argument &argument : arguments) {
      if (!argument.isTensor)
        continue;
      const SubTensor &tensor = plan.get(argument);
      if (tensor.isParameter && !tensor.isGradient &&
          failed(importBuffer(tensor, program.device)))
        return failure();
    }
    return success();
  };
  for (const Cell &cell : program.cells) {
    const Node &node = file.nodes[cell.node];
    if (failed(importList(node.inputs)))
      return failure();
    for (Index index : node.nodes)
      if (failed(importList(file.nodes[index].inputs)))
        return failure();
  }
  return success();
}

LogicalResult PlanImporter::importLoad(const Cell &cell, const Node &node) {
  Location location = plan.getLocation(node);
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

LogicalResult PlanImporter::importReducer(const Node &node, int64_t device) {
  Location location = plan.getLocation(node);
  SmallVector<int64_t> group(node.devices);
  llvm::sort(group);
  for (const Argument &input : node.inputs) {
    if (!input.isTensor || !plan.get(input).isParameter ||
        plan.get(input).isGradient)
      return emitError(location) << "reduces something that is no parameter";
    const SubTensor &tensor = plan.get(input);
    RankedTensorType type = plan.getType(tensor, location);
    std::string name = plan.getGradientName(tensor, device);
    StringRef parameter = file.fullTensors[tensor.full].name;
    Location place =
        NameLoc::get(builder.getStringAttr("weight reducer of " + parameter +
                                           " (cell " + Twine(node.id) + ")"),
                     plan.getLocation(tensor));
    Value gradient = tv::ReadOp::create(builder, place, type, name);
    Value sum = tv::CommunicateOp::create(
        builder, place, type, tv::CollectiveKind::AllReduce, gradient,
        ArrayRef<int64_t>(group), /*replicas=*/true, IntegerAttr(),
        IntegerAttr(), IntegerAttr());
    tv::WriteOp::create(builder, place, sum, name);
  }
  return success();
}

LogicalResult PlanImporter::importExecution(const Cell &cell, int64_t device) {
  const Node &node = file.nodes[cell.node];
  if (node.kind == NodeKind::DataOperation)
    return importLoad(cell, node);
  if (node.kind == NodeKind::WeightReducer)
    return importReducer(node, device);
  Location location = plan.getLocation(node);
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
    if (!value && plan.isLossGradient(plan.get(own))) {
      if (!isa<FloatType>(type.getElementType()))
        return emitError(location) << "the gradient of the loss is " << type;
      value = tv::SeedOp::create(builder, location, type);
    }
    if (!value)
      value = tv::UndefinedOp::create(
          builder, location, type,
          builder.getStringAttr("'" + plan.get(own).name + "' (tensor " +
                                Twine(plan.get(executed).id) + ")"),
          tv::DomainAttr());
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
      builder, location, types, getSymbol(node, device), operands, cell.id,
      cell.mirror < 0 ? IntegerAttr() : builder.getI64IntegerAttr(cell.mirror));
  for (auto [output, value] : llvm::zip(cell.outputs, call.getResults()))
    values[plan.get(output).id] = value;
  return success();
}

LogicalResult PlanImporter::importOutputs() {
  for (auto [number, output] : llvm::enumerate(file.outputs)) {
    if (!output.isTensor)
      return emitError(fileLocation)
             << "output " << number << " of the plan is not a tensor";
    const SubTensor &tensor = plan.get(output);
    Value value = values.lookup(tensor.id);
    if (!value)
      continue;
    computedOutputs.insert(number);
    tv::OutputOp::create(builder, plan.getLocation(tensor), value, tensor.name,
                         plan.getPiece(tensor));
  }
  return success();
}

LogicalResult PlanImporter::importProgram(const DeviceProgram &program) {
  auto op = tv::ProgramOp::create(builder, fileLocation, program.device);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&op.getBody().emplaceBlock());
  values.clear();
  for (const Cell &cell : program.cells)
    if (failed(importExecution(cell, program.device)))
      return failure();
  return importOutputs();
}

LogicalResult PlanImporter::importSegments(const DeviceProgram &program,
                                           OpBuilder &builder) {
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
                   .importCell(node, getSymbol(node, program.device))))
      return failure();
  }
  return success();
}

LogicalResult PlanImporter::importSideBySide(
    ArrayRef<const DeviceProgram *> programs,
    MutableArrayRef<std::unique_ptr<Block>> segments) {
  MLIRContext *context = builder.getContext();
  if (!context->isMultithreadingEnabled() || programs.size() < 2)
    return failure();
  bool isSilent = true;
  ScopedDiagnosticHandler listener(context, [&](Diagnostic &) {
    isSilent = false;
    return success();
  });
  LogicalResult result =
      failableParallelForEachN(context, 0, programs.size(), [&](size_t number) {
        segments[number] = std::make_unique<Block>();
        OpBuilder own(context);
        own.setInsertionPointToEnd(segments[number].get());
        return success(succeeded(checkProgram(*programs[number])) &&
                       succeeded(importSegments(*programs[number], own)));
      });
  return success(succeeded(result) && isSilent);
}

LogicalResult PlanImporter::import(StringRef symbol) {
  FailureOr<tv::MeshAttr> mesh = getMesh();
  if (failed(mesh))
    return failure();
  auto op = tv::PlanOp::create(builder, fileLocation, symbol, *mesh);
  builder.setInsertionPointToStart(&op.getBody().emplaceBlock());
  SmallVector<const DeviceProgram *> programs;
  for (const DeviceProgram &program : file.programs)
    programs.push_back(&program);
  llvm::sort(programs,
             [](const DeviceProgram *left, const DeviceProgram *right) {
               return left->device < right->device;
             });
  // What is to be said is said by importing one after the other: then it does
  // not depend on threads.
  SmallVector<std::unique_ptr<Block>> segments(programs.size());
  bool isThere = succeeded(importSideBySide(programs, segments));
  for (const DeviceProgram *program : programs)
    if ((!isThere && failed(checkProgram(*program))) ||
        failed(importBuffers(*program)))
      return failure();
  for (auto [program, block] : llvm::zip_equal(programs, segments)) {
    if (isThere)
      builder.getBlock()->getOperations().splice(builder.getInsertionPoint(),
                                                 block->getOperations());
    else if (failed(importSegments(*program, builder)))
      return failure();
  }
  for (const DeviceProgram *program : programs)
    if (failed(importProgram(*program)))
      return failure();
  // Of a plan this is a result that is missing, which linking reports.
  if (symbol == "reference" && computedOutputs.size() != file.outputs.size())
    return emitError(fileLocation)
           << "the reference computes " << computedOutputs.size() << " of its "
           << file.outputs.size() << " outputs";
  return success();
}

LogicalResult nnscaler::importPlan(const PlanFile &plan, StringRef fileName,
                                   StringRef symbol,
                                   const ImportOptions &options,
                                   ModuleOp module) {
  return PlanImporter(plan, fileName, options, module).import(symbol);
}

OwningOpRef<ModuleOp> nnscaler::importPair(MLIRContext *context,
                                           StringRef referencePath,
                                           StringRef planPath,
                                           const ImportOptions &options,
                                           TimingScope &timing) {
  context->loadDialect<tv::TVDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(context));
  // The plan is read while the reference is imported; reading builds no op.
  std::optional<llvm::Expected<PlanFile>> plan;
  llvm::DefaultThreadPool reader(llvm::hardware_concurrency(1));
  reader.async([&] { plan.emplace(readPlanFile(planPath)); });
  auto import = [&](llvm::Expected<PlanFile> file, StringRef path,
                    StringRef symbol) -> LogicalResult {
    if (!file)
      return emitError(UnknownLoc::get(context))
             << llvm::toString(file.takeError());
    TimingScope building = timing.nest(("import the " + symbol).str());
    return importPlan(*file, path, symbol, options, *module);
  };
  auto read = [&](StringRef symbol, auto wait) {
    TimingScope reading = timing.nest(("read the " + symbol).str());
    return wait();
  };
  bool hasReference = succeeded(
      import(read("reference", [&] { return readPlanFile(referencePath); }),
             referencePath, "reference"));
  read("plan", [&] { reader.wait(); });
  if (!hasReference) {
    llvm::consumeError(plan->takeError());
    return nullptr;
  }
  if (failed(import(std::move(*plan), planPath, "plan")))
    return nullptr;
  return module;
}

bool nnscaler::explainPartOrder(ModuleOp module) {
  auto plan = module.lookupSymbol<tv::PlanOp>("plan");
  SmallVector<tv::SliceOp> parts;
  if (plan)
    plan.walk([&](tv::SliceOp op) {
      if (op->hasAttr(declaredStartName))
        parts.push_back(op);
    });
  if (parts.empty())
    return false;
  tv::SliceOp first = parts.front();
  llvm::SmallSetVector<int64_t, 8> devices;
  for (tv::SliceOp part : parts)
    devices.insert(part->getParentOfType<tv::SegmentOp>().getDevice());
  SmallVector<int64_t> sorted(devices.getArrayRef());
  llvm::sort(sorted);
  int64_t declared =
      first->getAttrOfType<IntegerAttr>(declaredStartName).getInt();
  int64_t size = static_cast<int64_t>(first.getEnd() - first.getStart());
  InFlightDiagnostic remark =
      emitRemark(first.getLoc())
      << "the first op that keeps another part than it "
         "declares: device "
      << first->getParentOfType<tv::SegmentOp>().getDevice() << " keeps "
      << first.getStart() << ":" << first.getEnd() << " of dimension "
      << first.getDimension()
      << ", as its rank in the sorted group says, and "
         "the plan declares "
      << declared << ":" << declared + size << "; " << parts.size()
      << " such op" << (parts.size() == 1 ? "" : "s") << " on devices ";
  llvm::interleaveComma(sorted, remark);
  return true;
}
