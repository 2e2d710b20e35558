//===- CommandLine.h - options of runs --------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs both programs on numbers instead of proving anything about them.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_INTERPRETER_COMMANDLINE_H
#define VERIFY_INTERPRETER_COMMANDLINE_H

#include "Verify/Interpreter/Passes.h"
#include "mlir/IR/BuiltinOps.h"

namespace verify {

/// The options that belong to `--run`.
class RunFlags {
public:
  struct Options {
    unsigned seed = 0;
    bool drawsPerDevice = false;
    bool isQuiet = false;
  };

  explicit RunFlags(llvm::cl::OptionCategory &category);

  bool isAsked() const { return isRun; }
  /// The first of the other options that the command line has; null if it has
  /// none of them.
  const llvm::cl::Option *findGiven() const;
  /// The file that results are written to.
  const llvm::cl::opt<std::string> &getOutput() const { return output; }
  /// Runs the plans of a module; the exit code of the tool.
  int run(mlir::ModuleOp module, const Options &options);

private:
  llvm::cl::opt<bool> isRun;
  llvm::cl::opt<std::string> inputs;
  llvm::cl::opt<std::string> output;
  llvm::cl::opt<bool> printResults;
  llvm::cl::opt<Arithmetic> arithmetic;
  llvm::cl::opt<int64_t> elementLimit;
  llvm::cl::opt<int64_t> stepLimit;
};

} // namespace verify

#endif // VERIFY_INTERPRETER_COMMANDLINE_H
