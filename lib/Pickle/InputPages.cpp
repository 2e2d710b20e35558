//===- InputPages.cpp - gives back pages of a mapped file -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides when pages are given back. LLVM's own request to do so has no effect
// with glibc, which is why this asks the kernel itself, on Linux only.
//
//===----------------------------------------------------------------------===//

#include "InputPages.h"

#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Process.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

using namespace verify::pickle;

/// A system call takes as long as reading some kilobytes.
static constexpr size_t batchSize = 1 << 19;

InputPages::InputPages(const llvm::MemoryBuffer &buffer) {
#ifdef __linux__
  // Anything but a mapped file would lose its contents.
  if (buffer.getBufferKind() != llvm::MemoryBuffer::MemoryBuffer_MMap)
    return;
  pageSize = llvm::sys::Process::getPageSizeEstimate();
  auto start = reinterpret_cast<uintptr_t>(buffer.getBufferStart());
  remaining = reinterpret_cast<const char *>(llvm::alignTo(start, pageSize));
#else
  (void)buffer;
#endif
}

void InputPages::release(const char *position) {
#ifdef __linux__
  if (!remaining || position - remaining < static_cast<ptrdiff_t>(batchSize))
    return;
  size_t size = llvm::alignDown(position - remaining, pageSize);
  (void)::madvise(const_cast<char *>(remaining), size, MADV_DONTNEED);
  remaining += size;
#else
  (void)position;
#endif
}
