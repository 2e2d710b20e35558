//===- InterpretPass.cpp - runs the programs of a module ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Interpreter/Passes.h"

#include "Verify/Output/OutputFile.h"
using namespace mlir;
using namespace verify;

namespace verify {
#define GEN_PASS_DEF_INTERPRETPASS
#include "Verify/Interpreter/Passes.h.inc"
} // namespace verify

llvm::cl::ValuesClass verify::getArithmetics() {
  return llvm::cl::values(
      clEnumValN(Arithmetic::Automatic, "auto",
                 "exact rationals where that is possible, else doubles, and "
                 "intervals where these are too small for a number (default)"),
      clEnumValN(Arithmetic::Exact, "exact",
                 "exact rationals; a value that is not rational is an error"),
      clEnumValN(Arithmetic::Double, "double", "doubles"),
      clEnumValN(Arithmetic::Interval, "interval",
                 "intervals of 128 bits; what they do not decide is an "
                 "error"));
}

namespace {
struct InterpretPass : verify::impl::InterpretPassBase<InterpretPass> {
  using InterpretPassBase::InterpretPassBase;

protected:
  void runOnOperation() override {
    if (failed(interpret()))
      signalPassFailure();
    markAllAnalysesPreserved();
  }

  LogicalResult interpret() {
    std::string error;
    GivenTensors given;
    if (!inputs.empty()) {
      std::optional<GivenTensors> read = readTensors(inputs, error);
      if (!read)
        return emitError(getOperation().getLoc())
               << "inputs '" << inputs << "': " << error;
      given = std::move(*read);
    }
    auto failWith = [&](llvm::Error error) -> LogicalResult {
      return emitError(getOperation().getLoc())
             << llvm::toString(std::move(error));
    };
    std::unique_ptr<OutputFile> file;
    std::optional<RunWriter> writer;
    if (!output.empty()) {
      if (llvm::Error failed = OutputFile::open(output).moveInto(file))
        return failWith(std::move(failed));
      writer.emplace(file->os(), seed);
    }
    RunOptions options;
    options.seed = seed;
    options.arithmetic = arithmetic;
    // Running replaces compositions; the module stays as it is.
    OwningOpRef<ModuleOp> copy(getOperation().clone());
    auto visit = [&](StringRef name, const Run &run) {
      if (writer)
        writer->write(name, run);
      if (!output.empty() && !printResults)
        return;
      llvm::outs() << "@" << name << " in " << run.describeArithmetic()
                   << ", seed " << seed << "\n";
      printTable(run, llvm::outs());
      if (printResults)
        printElements(run, llvm::outs());
    };
    if (failed(runModule(*copy, options, given, symbol, visit)))
      return failure();
    for (const auto &entry : given)
      if (!entry.second.isUsed)
        return emitError(getOperation().getLoc())
               << "no program has an input '" << entry.first() << "'";
    writer.reset();
    if (file)
      if (llvm::Error failed = file->keep())
        return failWith(std::move(failed));
    return success();
  }
};
} // namespace
