//===- Reader.h - reads pickle files without running them -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads a pickle file, of any protocol, into a Graph. No name is looked up and
// nothing is called, so a hostile file can be refused but cannot act. Every
// length is checked against the bytes that remain before anything is allocated
// for it.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_PICKLE_READER_H
#define VERIFY_PICKLE_READER_H

#include "Verify/Pickle/Graph.h"

#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace verify::pickle {

/// What a reader may use.
struct ReaderOptions {
  /// Bytes of memory the reader may hold, the mapped file not counted.
  /// 0: 64 MiB and 32 times the size of the file, at most 16 GiB.
  uint64_t memoryLimit = 0;
};

/// Maps the file at `path` and reads it. Errors have the form
/// `plan.pkl: byte 1234: BINGET: memo slot 17 was never written`.
llvm::Expected<Graph> readPickleFile(llvm::StringRef path,
                                     const ReaderOptions &options = {});

/// Reads `buffer`, whose identifier is the file name in messages. The graph
/// keeps the buffer: text points into it.
llvm::Expected<Graph> readPickle(std::unique_ptr<llvm::MemoryBuffer> buffer,
                                 const ReaderOptions &options = {});

} // namespace verify::pickle

#endif // VERIFY_PICKLE_READER_H
