//===- InputPages.h - gives back pages of a mapped file ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mapped file takes memory where it has been touched. Pages the machine is
// done with are given back as it goes, so that reading a file does not take its
// size in memory on top of the graph; they return if they are touched again.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_PICKLE_INPUTPAGES_H
#define VERIFY_LIB_PICKLE_INPUTPAGES_H

#include "llvm/Support/MemoryBuffer.h"

namespace verify::pickle {

/// The pages of one file, given back from its start.
class InputPages {
public:
  explicit InputPages(const llvm::MemoryBuffer &buffer);
  /// Gives back what lies before `position`, if that is worth a system call.
  void release(const char *position);

private:
  /// Start of what has not been given back; null if nothing can be.
  const char *remaining = nullptr;
  size_t pageSize = 0;
};

} // namespace verify::pickle

#endif // VERIFY_LIB_PICKLE_INPUTPAGES_H
