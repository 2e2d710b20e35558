//===- PickleReaderBenchmark.cpp - speed of reading plans -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads files and says how fast and in how much memory, for the pickle alone
// and with decoding it as a plan. Peak memory counts from the first measurement
// on, so each file and kind of reading is measured in a process of its own:
//
//   pickle-reader-benchmark plan.pkl         every measurement, in processes
//   pickle-reader-benchmark --read plan.pkl  one, in this process
//
//===----------------------------------------------------------------------===//

#include "Verify/NnScaler/PlanFile.h"
#include "Verify/Pickle/Reader.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <memory>

using namespace verify;

/// The most memory this process has held, in bytes.
static double getPeakMemory() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024.0;
}

/// Reads once; true if that worked.
static bool readOnce(llvm::StringRef kind, llvm::StringRef path) {
  llvm::Error error = llvm::Error::success();
  if (kind == "--read") {
    llvm::Expected<pickle::Graph> graph = pickle::readPickleFile(path);
    error = graph.takeError();
  } else {
    llvm::Expected<nnscaler::PlanFile> plan = nnscaler::readPlanFile(path);
    error = plan.takeError();
  }
  if (!error)
    return true;
  llvm::errs() << llvm::toString(std::move(error)) << "\n";
  return false;
}

/// Measures one kind of reading of one file.
static int measure(llvm::StringRef kind, llvm::StringRef path) {
  uint64_t size = 0;
  if (std::error_code error = llvm::sys::fs::file_size(path, size)) {
    llvm::errs() << path << ": " << error.message() << "\n";
    return 1;
  }
  double before = getPeakMemory(), first = 0, best = 0;
  for (int repetition = 0; repetition != 5; ++repetition) {
    auto start = std::chrono::steady_clock::now();
    if (!readOnce(kind, path))
      return 1;
    std::chrono::duration<double> time =
        std::chrono::steady_clock::now() - start;
    best = repetition ? std::min(best, time.count()) : time.count();
    if (repetition)
      continue;
    // Later repetitions reuse what the allocator kept.
    first = time.count();
    llvm::outs() << llvm::format("%-8s %8.2f MB  peak memory %.2f x",
                                 kind.drop_front(2).str().c_str(), size / 1e6,
                                 (getPeakMemory() - before) / size);
  }
  llvm::outs() << llvm::format("  first %4.0f MB/s  best of 5 %4.0f MB/s\n",
                               size / first / 1e6, size / best / 1e6);
  return 0;
}

int main(int argc, char **argv) {
  llvm::SmallVector<llvm::StringRef> arguments(argv + 1, argv + argc);
  if (arguments.size() == 2 &&
      (arguments[0] == "--read" || arguments[0] == "--decode"))
    return measure(arguments[0], arguments[1]);
  std::string program = llvm::sys::fs::getMainExecutable(
      argv[0], reinterpret_cast<void *>(&getPeakMemory));
  int status = 0;
  for (llvm::StringRef path : arguments) {
    llvm::outs() << path << "\n";
    llvm::outs().flush();
    for (llvm::StringRef kind : {"--read", "--decode"})
      status |= llvm::sys::ExecuteAndWait(program, {program, kind, path}) != 0;
  }
  return status;
}
