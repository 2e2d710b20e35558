//===- Flags.h - options of verify-plan -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_TOOLS_VERIFY_PLAN_FLAGS_H
#define VERIFY_TOOLS_VERIFY_PLAN_FLAGS_H

#include "Verify/Interpreter/CommandLine.h"
#include "Verify/NnScaler/CommandLine.h"
#include "Verify/Transforms/Passes.h"
#include "llvm/Support/CommandLine.h"

namespace verify {

/// What the command line says.
struct Flags {
  llvm::cl::OptionCategory category{"verify-plan options"};
  llvm::cl::opt<std::string> planPath{llvm::cl::Positional,
                                      llvm::cl::desc("<parallel plan>"),
                                      llvm::cl::cat(category)};
  llvm::cl::opt<std::string> referencePath{
      "reference", llvm::cl::value_desc("file"),
      llvm::cl::desc("Plan of the same model for one device: the ground truth"),
      llvm::cl::cat(category)};
  nnscaler::PartOrderOption partOrder{category};
  llvm::cl::opt<bool> checksDeclaredOrder{
      "check-declared-order",
      llvm::cl::desc("Where a plan whose ranks keep other parts than it "
                     "declares is refuted, verify it as it declares them too"),
      llvm::cl::cat(category)};
  llvm::cl::opt<RandomMode> random{
      "random", llvm::cl::desc("What random ops draw"), getRandomModes(),
      llvm::cl::init(RandomMode::ByElement), llvm::cl::cat(category)};
  llvm::cl::opt<unsigned> seed{
      "seed", llvm::cl::init(0),
      llvm::cl::desc("Seed of the solver, of witnesses and of "
                     "inputs that are drawn"),
      llvm::cl::cat(category)};
  llvm::cl::opt<unsigned> resourceLimit{
      "resource-limit", llvm::cl::init(5000000),
      llvm::cl::desc("Z3 resource units for one query (default 5000000)"),
      llvm::cl::cat(category)};
  llvm::cl::opt<unsigned> threads{
      "threads", llvm::cl::init(0),
      llvm::cl::desc(
          "Threads that import devices and prove stages; 0 is one for "
          "each core, of which 8 prove"),
      llvm::cl::cat(category)};
  llvm::cl::opt<std::string> smtLib{
      "emit-smtlib", llvm::cl::value_desc("directory"),
      llvm::cl::desc("Write each obligation as SMT-LIB 2; equal ranks are "
                     "not taken as one then"),
      llvm::cl::cat(category)};
  llvm::cl::opt<std::string> cache{
      "tv-cache", llvm::cl::value_desc("directory"),
      llvm::cl::desc(
          "Keep proofs there, and use those of earlier runs; not with "
          "--emit-smtlib"),
      llvm::cl::cat(category)};
  llvm::cl::opt<std::string> counterexample{
      "counterexample", llvm::cl::value_desc("file"),
      llvm::cl::desc("Write the inputs on which the plan is refuted, as --run "
                     "--inputs reads them: .json or .npz"),
      llvm::cl::cat(category)};
  llvm::cl::opt<unsigned> bufferedSends{
      "buffered-sends", llvm::cl::init(0),
      llvm::cl::desc(
          "Sends of a channel that may be under way before the next one "
          "waits for its receive (default 0: rendezvous)"),
      llvm::cl::cat(category)};
  llvm::cl::opt<std::string> timeline{
      "timeline", llvm::cl::value_desc("file"),
      llvm::cl::desc(
          "Write when each device does what, as a trace for Chrome or "
          "Perfetto"),
      llvm::cl::cat(category)};
  llvm::cl::opt<bool> isTimed{"timing",
                              llvm::cl::desc("Print how long each step took"),
                              llvm::cl::cat(category)};
  llvm::cl::opt<std::string> statistics{
      "statistics", llvm::cl::value_desc("file"),
      llvm::cl::desc("Write the answer, counts, times and memory as JSON"),
      llvm::cl::cat(category)};
  llvm::cl::opt<bool> quiet{
      "quiet",
      llvm::cl::desc("Print nothing when proved, or equal, and no progress"),
      llvm::cl::cat(category)};
  RunFlags runFlags{category};

  /// What is wrong with the command line, for the user; empty if nothing is.
  /// Makes the directory that obligations are written to.
  std::string findMisuse() const;

private:
  std::string findWrongOutput() const;
};

} // namespace verify

#endif // VERIFY_TOOLS_VERIFY_PLAN_FLAGS_H
