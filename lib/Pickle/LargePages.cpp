//===- LargePages.cpp - memory that is filled at once -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Pickle/LargePages.h"

#include "llvm/Support/MathExtras.h"

#ifdef __linux__
#include <sys/mman.h>
#endif

#include <cstdint>

void verify::pickle::preferLargePages(void *start, size_t size) {
#ifdef MADV_HUGEPAGE
  constexpr uintptr_t pageSize = uintptr_t(2) << 20;
  auto address = reinterpret_cast<uintptr_t>(start);
  uintptr_t first = llvm::alignTo(address, pageSize);
  uintptr_t last = llvm::alignDown(address + size, pageSize);
  // Where the system refuses there are pages of the usual size.
  if (first < last)
    (void)::madvise(reinterpret_cast<void *>(first), last - first,
                    MADV_HUGEPAGE);
#else
  (void)start;
  (void)size;
#endif
}

void verify::pickle::populatePages(void *start, size_t size) {
#ifdef MADV_POPULATE_WRITE
  constexpr uintptr_t pageSize = 4096;
  auto address = reinterpret_cast<uintptr_t>(start);
  uintptr_t first = llvm::alignTo(address, pageSize);
  uintptr_t last = llvm::alignDown(address + size, pageSize);
  if (first < last)
    (void)::madvise(reinterpret_cast<void *>(first), last - first,
                    MADV_POPULATE_WRITE);
#else
  (void)start;
  (void)size;
#endif
}
