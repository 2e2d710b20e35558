//===- ImportPlan.cpp - nnScaler execution plans to the tv dialect --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole plan: mesh, buffers, and what each device executes.
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
  /// Checks the programs and imports the segments of each into a block of its
  /// own, on all threads. Fails, and says nothing, where there is anything to
  /// say.
  LogicalResult
  importSideBySide(ArrayRef<const DeviceProgram *> programs,
                   MutableArrayRef<std::unique_ptr<Block>> segments);
  ProgramImporter getImporter(const DeviceProgram &program,
                              OpBuilder &builder) const {
    return {plan, program, fileLocation, builder};
  }

  PlanContext plan;
  const PlanFile &file;
  Location fileLocation;
  OpBuilder builder;
  llvm::StringSet<> buffers;
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
        ProgramImporter importer = getImporter(*programs[number], own);
        return success(succeeded(importer.check()) &&
                       succeeded(importer.importSegments()));
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
    if ((!isThere && failed(getImporter(*program, builder).check())) ||
        failed(importBuffers(*program)))
      return failure();
  for (auto [program, block] : llvm::zip_equal(programs, segments)) {
    if (isThere)
      builder.getBlock()->getOperations().splice(builder.getInsertionPoint(),
                                                 block->getOperations());
    else if (failed(getImporter(*program, builder).importSegments()))
      return failure();
  }
  llvm::DenseSet<size_t> computedOutputs; ///< by number, on any device
  for (const DeviceProgram *program : programs) {
    ProgramImporter importer = getImporter(*program, builder);
    if (failed(importer.import()))
      return failure();
    computedOutputs.insert_range(importer.getOutputs());
  }
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
