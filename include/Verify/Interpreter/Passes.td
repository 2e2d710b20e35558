//===- Passes.td - running programs on numbers -------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_INTERPRETER_PASSES
#define VERIFY_INTERPRETER_PASSES

include "mlir/Pass/PassBase.td"

def InterpretPass : Pass<"tv-interpret", "::mlir::ModuleOp"> {
  let summary = "runs programs on numbers and compares their results";
  let description = [{
    Executes what a module holds, at either level: the plans `@reference` and
    `@plan`, or a plan for one device alone; each `tv.graph`; each `tv.stage`.
    Inputs, parameters and draws are taken from a file or drawn from a seed and
    a name, so that a module gives the same results before and after a pass.
    Results are the outputs and gradients of plans, the expects of graphs and
    stages, and of a graph without expects the values that no op uses.

    Numbers are exact rationals where all values are rational and few enough,
    else doubles. The module is left alone. A result that differs from the
    reference is reported and is no failure; a program that cannot be run is.
  }];
  let dependentDialects = ["::verify::tv::TVDialect"];
  let options = [
    Option<"seed", "seed", "unsigned", "0", "Seed of inputs that are not given">,
    Option<"inputs", "inputs", "std::string", "\"\"",
      "File of tensors by name, .json or .npz">,
    Option<"symbol", "symbol", "std::string", "\"\"",
      "The only plan, graph or stage to run">,
    Option<"arithmetic", "arithmetic", "::verify::Arithmetic",
      "::verify::Arithmetic::Automatic", "Numbers to compute with",
      "::verify::getArithmetics()">,
    Option<"output", "output", "std::string", "\"\"",
      "File to write all results to, as JSON">,
    Option<"printResults", "print-results", "bool", "false",
      "Print all elements of all results">
  ];
}

#endif // VERIFY_INTERPRETER_PASSES
