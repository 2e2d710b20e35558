//===- Statistics.cpp - counts and times for other programs ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Report/Statistics.h"

#include "Verify/Output/OutputFile.h"
#include "Verify/Transforms/Report.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace verify;

/// Bytes; 0 where the system does not tell.
static int64_t getPeakMemory() {
  // `getrusage` tells of a process that started this one, if it had more.
  auto status = llvm::MemoryBuffer::getFileAsStream("/proc/self/status");
  if (!status)
    return 0;
  StringRef rest = (*status)->getBuffer().split("VmHWM:").second.ltrim();
  int64_t kibibytes = 0;
  return rest.consumeInteger(/*Radix=*/10, kibibytes) ? 0 : kibibytes * 1024;
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
