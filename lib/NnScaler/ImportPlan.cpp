//===- ImportPlan.cpp - nnScaler execution plans to the tv dialect --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The whole plan: mesh, buffers, and what each device executes.
//
//===----------------------------------------------------------------------===//

#include "RuntimeDifferences.h"

#include "mlir/IR/Threading.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Support/Threading.h"

#include <atomic>

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

namespace {
class PlanImporter {
public:
  PlanImporter(const PlanFile &file, StringRef fileName,
               const ImportOptions &options, MLIRContext *context)
      : plan(file, fileName, options, context), file(file), context(context),
        fileLocation(FileLineColLoc::get(context, fileName, 0, 0)) {}

  LogicalResult import(StringRef symbol, OpBuilder &builder);
  /// Why what could not be imported cannot be executed; or empty.
  StringRef getMalformation() const {
    const char *malformation = plan.malformation;
    return malformation ? malformation : "";
  }

private:
  /// In the order of devices.
  using Programs = ArrayRef<const DeviceProgram *>;

  FailureOr<tv::MeshAttr> getMesh();
  /// States what the runtime does otherwise, and what is assumed.
  void noteDifferences(tv::PlanOp op, OpBuilder &builder);
  LogicalResult importBuffers(const DeviceProgram &program, OpBuilder &builder);
  LogicalResult importBuffer(const SubTensor &tensor, int64_t device,
                             OpBuilder &builder);
  LogicalResult importInTurn(Programs programs, OpBuilder &builder);
  /// The same on all threads. Fails, and says nothing, where there is anything
  /// to say.
  LogicalResult importSideBySide(Programs programs, OpBuilder &builder);
  ProgramImporter getImporter(const DeviceProgram &program,
                              OpBuilder &builder) const {
    return {plan, program, fileLocation, builder};
  }

  PlanContext plan;
  const PlanFile &file;
  MLIRContext *context;
  Location fileLocation;
  llvm::StringSet<> buffers;
  llvm::DenseSet<size_t> computedOutputs; ///< by number, on any device
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
  auto axis = [&](StringRef name, int64_t size) {
    return tv::AxisAttr::get(context, StringAttr::get(context, name), size);
  };
  return tv::MeshAttr::get(context,
                           {axis("dp", file.runtimeDevices / devices),
                            axis("device", devices), axis("mb", microBatches)});
}

LogicalResult PlanImporter::importBuffer(const SubTensor &tensor,
                                         int64_t device, OpBuilder &builder) {
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

LogicalResult PlanImporter::importBuffers(const DeviceProgram &program,
                                          OpBuilder &builder) {
  auto importList = [&](ArrayRef<Argument> arguments) -> LogicalResult {
    for (const Argument &argument : arguments) {
      if (!argument.isTensor)
        continue;
      const SubTensor &tensor = plan.get(argument);
      if (tensor.isParameter && !tensor.isGradient &&
          failed(importBuffer(tensor, program.device, builder)))
        return failure();
    }
    return success();
  };
  llvm::DenseSet<Index> done;
  for (const Cell &cell : program.cells) {
    if (!done.insert(cell.node).second)
      continue;
    const Node &node = file.nodes[cell.node];
    if (failed(importList(node.inputs)))
      return failure();
    for (Index index : node.nodes) {
      const Node &op = file.nodes[index];
      // Gradients have memory also where the forward op is not executed.
      if (failed(importList(op.inputs)) ||
          (op.kind == NodeKind::Backward && op.mirror != none &&
           failed(importList(file.nodes[op.mirror].inputs))))
        return failure();
    }
  }
  return success();
}

LogicalResult PlanImporter::importInTurn(Programs programs,
                                         OpBuilder &builder) {
  for (const DeviceProgram *program : programs)
    if (failed(getImporter(*program, builder).check()) ||
        failed(importBuffers(*program, builder)))
      return failure();
  for (const DeviceProgram *program : programs)
    if (failed(getImporter(*program, builder).importSegments()))
      return failure();
  for (const DeviceProgram *program : programs) {
    ProgramImporter importer = getImporter(*program, builder);
    if (failed(importer.import()))
      return failure();
    computedOutputs.insert_range(importer.getOutputs());
  }
  return success();
}

LogicalResult PlanImporter::importSideBySide(Programs programs,
                                             OpBuilder &builder) {
  if (!context->isMultithreadingEnabled() || programs.size() < 2)
    return failure();
  // A plan that is imported beside may have something to say as well.
  std::atomic<bool> isSilent = true;
  ScopedDiagnosticHandler listener(context, [&](Diagnostic &) {
    isSilent = false;
    return success();
  });
  // One task for the buffers of all devices, two for each device.
  struct Part {
    Block block;
    SmallVector<size_t, 1> outputs;
  };
  std::vector<Part> parts(1 + 2 * programs.size());
  auto import = [&](size_t number) -> LogicalResult {
    OpBuilder own(context);
    own.setInsertionPointToEnd(&parts[number].block);
    if (number == 0)
      return success(llvm::all_of(programs, [&](const DeviceProgram *program) {
        return succeeded(importBuffers(*program, own));
      }));
    bool isProgram = number > programs.size();
    ProgramImporter importer =
        getImporter(*programs[(number - 1) % programs.size()], own);
    if (!isProgram)
      return success(succeeded(importer.check()) &&
                     succeeded(importer.importSegments()));
    LogicalResult isImported = importer.import();
    llvm::append_range(parts[number].outputs, importer.getOutputs());
    return isImported;
  };
  if (failed(failableParallelForEachN(context, 0, parts.size(), import)) ||
      !isSilent)
    return failure();
  for (Part &part : parts) {
    builder.getBlock()->getOperations().splice(builder.getInsertionPoint(),
                                               part.block.getOperations());
    computedOutputs.insert_range(part.outputs);
  }
  return success();
}

/// The first op whose members do not declare in which order their parts lie.
static Operation *findUndeclared(tv::PlanOp plan) {
  Operation *first = nullptr;
  plan.walk([&](Operation *op) {
    if (!isa_and_nonnull<UnitAttr>(op->getDiscardableAttr(declaredName)))
      return WalkResult::advance();
    first = op;
    return WalkResult::interrupt();
  });
  return first;
}

void PlanImporter::noteDifferences(tv::PlanOp op, OpBuilder &builder) {
  RuntimeDifferences found = findRuntimeDifferences(file, context);
  if (!found.assumption.empty())
    op->setAttr(assumptionName, builder.getStringAttr(found.assumption));
  auto note = [&](LocationAttr place, StringRef reason) {
    op->setAttr(
        executedOtherwiseName,
        builder.getDictionaryAttr(
            {builder.getNamedAttr("place", place),
             builder.getNamedAttr("reason", builder.getStringAttr(reason))}));
  };
  if (found.first)
    note(plan.getLocation(*found.first->node), found.first->reason);
  else if (plan.options.partOrder != PartOrder::IndexMap)
    return;
  else if (Operation *undeclared = findUndeclared(op))
    note(undeclared->getLoc(),
         "a member of the group does not declare which part it has, and parts "
         "are to lie in the order that is declared");
}

LogicalResult PlanImporter::import(StringRef symbol, OpBuilder &builder) {
  FailureOr<tv::MeshAttr> mesh = getMesh();
  if (failed(mesh))
    return failure();
  auto op = tv::PlanOp::create(builder, fileLocation, symbol, *mesh);
  auto inner = OpBuilder::atBlockEnd(&op.getBody().emplaceBlock());
  SmallVector<const DeviceProgram *> programs;
  for (const DeviceProgram &program : file.programs)
    programs.push_back(&program);
  llvm::sort(programs,
             [](const DeviceProgram *left, const DeviceProgram *right) {
               return left->device < right->device;
             });
  // What is to be said is said by importing one after the other: then it does
  // not depend on threads.
  if (failed(importSideBySide(programs, inner))) {
    buffers.clear();
    plan.malformation = nullptr;
    if (failed(importInTurn(programs, inner)))
      return failure();
  }
  noteDifferences(op, builder);
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
                                   ModuleOp module, StringRef *malformation) {
  auto builder = OpBuilder::atBlockEnd(module.getBody());
  PlanImporter importer(plan, fileName, options, module.getContext());
  LogicalResult isImported = importer.import(symbol, builder);
  if (failed(isImported) && malformation)
    *malformation = importer.getMalformation();
  return isImported;
}

namespace {
/// Imports a pair of files, and reads them unless that was done.
class PairImporter {
public:
  PairImporter(MLIRContext *context, const ImportOptions &options,
               TimingScope &timing, StringRef *malformation)
      : context(context), options(options), timing(timing),
        malformation(malformation),
        module(ModuleOp::create(UnknownLoc::get(context))) {}

  LogicalResult importBoth(const PairFiles &files, StringRef referencePath,
                           StringRef planPath) {
    return success(
        succeeded(import(files.reference, referencePath, "reference")) &&
        succeeded(import(files.plan, planPath, "plan")));
  }
  LogicalResult readAndImport(PairFiles &files, StringRef referencePath,
                              StringRef planPath);
  OwningOpRef<ModuleOp> take() {
    SymbolTable symbols(*module);
    alignTensors(symbols.lookup<tv::PlanOp>("reference"),
                 symbols.lookup<tv::PlanOp>("plan"));
    return std::move(module);
  }

private:
  LogicalResult import(const PlanFile &file, StringRef path, StringRef symbol) {
    TimingScope building = timing.nest(("import the " + symbol).str());
    return importPlan(file, path, symbol, options, *module,
                      symbol == "plan" ? malformation : nullptr);
  }
  /// Imports a plan of one device beside what other threads import. Null, and
  /// nothing said, for others and where there is anything to say.
  OwningOpRef<ModuleOp> importBeside(llvm::Expected<PlanFile> &file,
                                     StringRef path);
  /// Imports the plan, unless that was done.
  LogicalResult addPlan(const PlanFile &file, StringRef path,
                        OwningOpRef<ModuleOp> imported) {
    if (!imported)
      return import(file, path, "plan");
    module->getBody()->getOperations().splice(
        module->getBody()->end(), imported->getBody()->getOperations());
    return success();
  }
  LogicalResult take(llvm::Expected<PlanFile> read, PlanFile &file) {
    if (!read)
      return emitError(UnknownLoc::get(context))
             << llvm::toString(read.takeError());
    file = std::move(*read);
    return success();
  }

  MLIRContext *context;
  const ImportOptions &options;
  TimingScope &timing;
  StringRef *malformation; ///< of the plan
  OwningOpRef<ModuleOp> module;
};
} // namespace

OwningOpRef<ModuleOp> PairImporter::importBeside(llvm::Expected<PlanFile> &file,
                                                 StringRef path) {
  // Those of several devices are imported on all threads, one after the other.
  if (!context->isMultithreadingEnabled() || !file ||
      file->programs.size() != 1)
    return nullptr;
  bool isSilent = true;
  ScopedDiagnosticHandler listener(
      context, [&isSilent, own = llvm::get_threadid()](Diagnostic &) {
        if (llvm::get_threadid() != own)
          return failure();
        isSilent = false;
        return success();
      });
  OwningOpRef<ModuleOp> alone(ModuleOp::create(UnknownLoc::get(context)));
  return succeeded(
             nnscaler::importPlan(*file, path, "plan", options, *alone)) &&
                 isSilent
             ? std::move(alone)
             : nullptr;
}

/// Whether reading one file takes much longer than reading another. What is
/// wrong with either is said by who reads it.
static bool isLarger(StringRef path, StringRef other) {
  uint64_t size, otherSize;
  return !llvm::sys::fs::file_size(path, size) &&
         !llvm::sys::fs::file_size(other, otherSize) && size / 2 > otherSize;
}

LogicalResult PairImporter::readAndImport(PairFiles &files,
                                          StringRef referencePath,
                                          StringRef planPath) {
  // The plan is read while the reference is imported. What is built of it then
  // is built in a module of its own.
  std::optional<llvm::Expected<PlanFile>> plan;
  OwningOpRef<ModuleOp> imported;
  llvm::DefaultThreadPool reader(llvm::hardware_concurrency(1));
  // While the reference is imported there is one core for the plan, and then
  // two, for one that is larger.
  bool hasTwo =
      context->isMultithreadingEnabled() && isLarger(planPath, referencePath);
  unsigned threads = hasTwo ? 2 : 1;
  reader.async([&] {
    plan.emplace(readPlanFile(planPath, threads));
    imported = importBeside(*plan, planPath);
  });
  auto read = [&](StringRef symbol, auto wait) {
    TimingScope reading = timing.nest(("read the " + symbol).str());
    return wait();
  };
  bool hasReference =
      succeeded(
          take(read("reference", [&] { return readPlanFile(referencePath); }),
               files.reference)) &&
      succeeded(import(files.reference, referencePath, "reference"));
  read("plan", [&] { reader.wait(); });
  if (!hasReference) {
    llvm::consumeError(plan->takeError());
    return failure();
  }
  return success(succeeded(take(std::move(*plan), files.plan)) &&
                 succeeded(addPlan(files.plan, planPath, std::move(imported))));
}

OwningOpRef<ModuleOp>
nnscaler::importPair(MLIRContext *context, StringRef referencePath,
                     StringRef planPath, const ImportOptions &options,
                     TimingScope &timing, std::optional<PairFiles> *files,
                     StringRef *malformation) {
  context->loadDialect<tv::TVDialect>();
  PairImporter importer(context, options, timing, malformation);
  if (files && *files)
    return succeeded(importer.importBoth(**files, referencePath, planPath))
               ? importer.take()
               : nullptr;
  PairFiles read;
  if (failed(importer.readAndImport(read, referencePath, planPath)))
    return nullptr;
  if (files)
    files->emplace(std::move(read));
  return importer.take();
}
