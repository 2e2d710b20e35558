//===- LargePages.h - memory that is filled at once -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Touching fresh memory page by page takes longer than what is read into it.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_PICKLE_LARGEPAGES_H
#define VERIFY_PICKLE_LARGEPAGES_H

#include <cstddef>

namespace verify::pickle {

/// Asks the system for large pages where it has them. Says nothing of the
/// contents of the memory, and does nothing where the system has no such thing.
void preferLargePages(void *start, size_t size);

/// Makes the system give the memory its pages now, instead of when they are
/// touched: another thread that fills the memory meanwhile need not wait for
/// them. Does not change what is in them, and does nothing where the system has
/// no such thing.
void populatePages(void *start, size_t size);

} // namespace verify::pickle

#endif // VERIFY_PICKLE_LARGEPAGES_H
