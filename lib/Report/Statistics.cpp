//===- Statistics.cpp - counts and times for other programs ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Report/Statistics.h"

#include "Verify/Output/OutputFile.h"
#include "Verify/Transforms/Report.h"
#include "llvm/Support/JSON.h"

#include <sys/resource.h>

using namespace mlir;
using namespace verify;

/// Bytes; 0 where the system does not tell.
static int64_t getPeakMemory() {
  rusage usage;
  // Linux counts in units of 1024 bytes.
  return getrusage(RUSAGE_SELF, &usage) == 0
             ? static_cast<int64_t>(usage.ru_maxrss) * 1024
             : 0;
}

llvm::Error verify::writeStatistics(ModuleOp module, ArrayRef<Phase> phases,
                                    StringRef path) {
  std::optional<Answer> answer = getAnswer(module);
  // Where a plan cannot be executed, nothing was checked.
  if (getMalformation(module))
    answer = Answer::Refuted;
  return writeFile(path, [&](raw_ostream &out) {
    llvm::json::OStream json(out, 2);
    json.object([&] {
      json.attribute("answer", answer ? getName(*answer) : "none");
      json.attributeObject("statistics", [&] {
        for (auto [name, count] : getStatistics(module))
          json.attribute(name, count);
      });
      json.attributeObject("seconds", [&] {
        for (const Phase &phase : phases)
          json.attribute(phase.name, phase.seconds);
      });
      json.attribute("peak_memory_bytes", getPeakMemory());
    });
    out << "\n";
  });
}
