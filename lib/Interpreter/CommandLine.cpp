//===- CommandLine.cpp - options of runs ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Interpreter/CommandLine.h"

#include "Verify/Output/OutputFile.h"
#include "mlir/IR/Verifier.h"

using namespace llvm;
using namespace verify;

namespace {
enum ExitCode { Equal = 0, Differs = 1, NotRun = 2, BadInput = 3 };
} // namespace

RunFlags::RunFlags(cl::OptionCategory &category)
    : isRun("run",
            cl::desc("Run both programs on numbers and compare their results"),
            cl::cat(category)),
      inputs("inputs", cl::value_desc("file"),
             cl::desc("With --run: inputs and parameters by name, .json or "
                      ".npz; others are drawn"),
             cl::cat(category)),
      output("run-output", cl::value_desc("file"),
             cl::desc("With --run: write all results as JSON"),
             cl::cat(category)),
      printResults("print-results",
                   cl::desc("With --run: print all elements of all results"),
                   cl::cat(category)),
      arithmetic("arithmetic", cl::desc("With --run: numbers to compute with"),
                 getArithmetics(), cl::init(Arithmetic::Automatic),
                 cl::cat(category)),
      elementLimit("run-elements", cl::init(RunLimits().elements),
                   cl::desc("With --run: most tensor elements at a time"),
                   cl::cat(category)),
      stepLimit("run-steps", cl::init(RunLimits().steps),
                cl::desc("With --run: most scalar operations"),
                cl::cat(category)) {}

const cl::Option *RunFlags::findGiven() const {
  for (const cl::opt<std::string> *path : {&inputs, &output})
    if (!path->empty())
      return path;
  for (const cl::Option *option : std::initializer_list<const cl::Option *>{
           &printResults, &arithmetic, &elementLimit, &stepLimit})
    if (option->getNumOccurrences() > 0)
      return option;
  return nullptr;
}

/// `2 replicas of 4 devices, 2 micro-batches`.
static std::string describe(tv::PlanOp plan) {
  auto count = [&](StringRef axis, StringRef noun) {
    int64_t size = plan.getMesh().getAxisSize(axis).value_or(1);
    return std::to_string(size) + " " + noun.str() + (size == 1 ? "" : "s");
  };
  int64_t devices = plan.getMesh().getAxisSize("device").value_or(1);
  return count("dp", "replica") + " of " + std::to_string(devices) +
         (devices == 1 ? " device, " : " devices, ") +
         (plan.getMesh().getAxisSize("mb").value_or(1) == 1
              ? "1 micro-batch"
              : std::to_string(*plan.getMesh().getAxisSize("mb")) +
                    " micro-batches");
}

/// Whether the programs have all tensors of a file; says which they have not.
static bool areAllUsed(const GivenTensors &given, StringRef file) {
  const auto unused =
      find_if(given, [](const auto &entry) { return !entry.second.isUsed; });
  if (unused == given.end())
    return true;
  errs() << "error: " << file << ": neither program has an input '"
         << unused->first() << "'\n";
  return false;
}

/// Whether a limit lets anything run; says so if not.
static bool isLimit(const cl::opt<int64_t> &limit) {
  if (limit < 1)
    errs() << "error: --" << limit.ArgStr << " has to be at least 1\n";
  return limit >= 1;
}

/// The tensors of a file, none if there is no file; says what is wrong with it.
static std::optional<GivenTensors> readGiven(StringRef inputs) {
  if (inputs.empty())
    return GivenTensors();
  std::string error;
  std::optional<GivenTensors> read = readTensors(inputs, error);
  if (!read)
    errs() << "error: " << inputs << ": " << error << "\n";
  return read;
}

int RunFlags::run(mlir::ModuleOp module, const Options &options) {
  std::optional<GivenTensors> read = readGiven(inputs);
  if (!read || !isLimit(elementLimit) || !isLimit(stepLimit))
    return BadInput;
  GivenTensors given = std::move(*read);
  auto failWith = [](Error error) {
    errs() << "error: " << toString(std::move(error)) << "\n";
    return BadInput;
  };
  std::unique_ptr<OutputFile> file;
  std::optional<RunWriter> writer;
  if (!output.empty()) {
    if (Error failed = OutputFile::open(output).moveInto(file))
      return failWith(std::move(failed));
    writer.emplace(file->os(), options.seed);
  }
  RunOptions run;
  run.seed = options.seed;
  run.drawsPerDevice = options.drawsPerDevice;
  run.arithmetic = arithmetic;
  run.limits = {elementLimit, stepLimit};
  std::string shape = describe(module.lookupSymbol<tv::PlanOp>("plan"));
  bool areEqual = false, isRejected = false;
  auto visit = [&](StringRef name, const Run &done) {
    isRejected |= !areAllUsed(given, inputs);
    if (isRejected)
      return;
    areEqual = done.areEqual();
    if (writer)
      writer->write(name, done);
    if (options.isQuiet && areEqual && !printResults)
      return;
    outs() << (areEqual ? "equal: every result of the plan is the reference's "
                          "on these inputs\n"
                        : "differs: a result of the plan is not the "
                          "reference's\n")
           << "  run     " << shape << "; " << done.describeArithmetic()
           << "; ";
    if (!done.hasDrawn())
      outs() << "all inputs are given\n";
    else
      outs() << (inputs.empty() ? "inputs" : "inputs that are not given")
             << " of seed " << options.seed << "\n";
    printTable(done, outs());
    if (printResults)
      printElements(done, outs());
  };
  // What frontends build was not verified before.
  if (failed(mlir::verify(module)) ||
      failed(runModule(module, run, given, "plan", visit))) {
    outs() << "not run: the error above says why\n";
    return NotRun;
  }
  if (isRejected)
    return BadInput;
  writer.reset();
  if (file)
    if (Error failed = file->keep())
      return failWith(std::move(failed));
  return areEqual ? Equal : Differs;
}
