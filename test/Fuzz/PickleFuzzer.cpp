//===- PickleFuzzer.cpp - any bytes as a pickle file ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Pickle/Reader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(
      llvm::StringRef(reinterpret_cast<const char *>(data), size), "input");
  verify::pickle::ReaderOptions options;
  options.memoryLimit = 64 << 20;
  auto graph = verify::pickle::readPickle(std::move(buffer), options);
  if (!graph)
    llvm::consumeError(graph.takeError());
  return 0;
}
