//===- Reader.cpp - reads pickle files without running them -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides how a file is brought into memory and how much memory reading it may
// take, then hands it to the machine.
//
//===----------------------------------------------------------------------===//

#include "Verify/Pickle/Reader.h"

#include "Machine.h"

#include <algorithm>

using namespace verify::pickle;

/// Offsets and references are 32 bits.
static constexpr uint64_t maxFileSize = (uint64_t(1) << 32) - 1;

static uint64_t getMemoryLimit(const ReaderOptions &options, uint64_t size) {
  if (options.memoryLimit)
    return options.memoryLimit;
  constexpr uint64_t base = uint64_t(64) << 20, hardCap = uint64_t(16) << 30;
  return std::min(base + 32 * size, hardCap);
}

llvm::Expected<Graph>
verify::pickle::readPickle(std::unique_ptr<llvm::MemoryBuffer> buffer,
                           const ReaderOptions &options) {
  uint64_t size = buffer->getBufferSize();
  if (size > maxFileSize)
    return llvm::createStringError(buffer->getBufferIdentifier() +
                                   ": file of 4 GiB or more");
  GraphBuilder builder(std::move(buffer));
  Machine machine(builder, getMemoryLimit(options, size));
  llvm::Expected<Value> root = machine.run();
  if (!root)
    return root.takeError();
  return builder.take(*root);
}

llvm::Expected<Graph>
verify::pickle::readPickleFile(llvm::StringRef path,
                               const ReaderOptions &options) {
  // Without a terminator a file of any size can be mapped.
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return llvm::createStringError(buffer.getError(),
                                   path + ": " + buffer.getError().message());
  return readPickle(std::move(*buffer), options);
}
