//===- MPFRCaches.h - what MPFR keeps for a thread --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_SCALAR_MPFRCACHES_H
#define VERIFY_LIB_SCALAR_MPFRCACHES_H

#include <mpfr.h>

namespace verify {

/// Frees what MPFR keeps for the thread that calls this, when the thread ends:
/// constants such as log 2, and memory of numbers (MPFR's manual, section
/// "Memory Handling": each thread has to).
inline void freeMPFRCachesWithThread() {
  struct Caches {
    ~Caches() { mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); }
  };
  static thread_local Caches caches;
  (void)caches;
}

} // namespace verify

#endif // VERIFY_LIB_SCALAR_MPFRCACHES_H
