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

#include <algorithm>
#include <cstdint>

#ifdef __linux__
/// Advises the system about the pages of a size that lie inside of a range. It
/// may refuse.
static void advise(void *start, size_t size, uintptr_t pageSize, int advice) {
  auto address = reinterpret_cast<uintptr_t>(start);
  uintptr_t first = llvm::alignTo(address, pageSize);
  uintptr_t last = llvm::alignDown(address + size, pageSize);
  if (first < last)
    (void)::madvise(reinterpret_cast<void *>(first), last - first, advice);
}
#endif

void verify::pickle::preferLargePages(void *start, size_t size) {
#ifdef MADV_HUGEPAGE
  advise(start, size, uintptr_t(2) << 20, MADV_HUGEPAGE);
#else
  (void)start;
  (void)size;
#endif
}

void verify::pickle::populatePages(void *start, size_t size) {
#ifdef MADV_POPULATE_WRITE
  // Meanwhile no other thread gets an address from the system, so not all at
  // once; parts end where pages do.
  constexpr size_t atOnce = size_t(2) << 20;
  auto *end = static_cast<char *>(start) + size;
  for (auto *next = static_cast<char *>(start); next < end;) {
    auto *last = reinterpret_cast<char *>(
        llvm::alignDown(reinterpret_cast<uintptr_t>(next) + atOnce, atOnce));
    last = std::min(last, end);
    advise(next, last - next, uintptr_t(1) << 12, MADV_POPULATE_WRITE);
    next = last;
  }
#else
  (void)start;
  (void)size;
#endif
}
