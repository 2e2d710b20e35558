//===- PlanArena.h - storage of a decoded plan ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies what a plan keeps into its arena. Shapes, index maps and names repeat
// by the hundred thousand, so equal arrays and strings are stored once.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_NNSCALER_PLANARENA_H
#define VERIFY_LIB_NNSCALER_PLANARENA_H

#include "Verify/NnScaler/PlanFile.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/xxhash.h"

#include <cstring>

namespace verify::nnscaler {

/// Keeps one copy of equal arrays. T must have no padding.
template <typename T> class ArrayInterner {
public:
  explicit ArrayInterner(llvm::BumpPtrAllocator &arena) : arena(arena) {}

  /// The stored array equal to `array`.
  llvm::ArrayRef<T> intern(llvm::ArrayRef<T> array) {
    if (array.empty())
      return {};
    size_t size = array.size() * sizeof(T);
    uint64_t hash = llvm::xxh3_64bits(
        {reinterpret_cast<const uint8_t *>(array.data()), size});
    // DenseMap reserves the two largest keys.
    auto &candidates = arrays[hash >> 2];
    for (llvm::ArrayRef<T> candidate : candidates)
      if (candidate.size() == array.size() &&
          std::memcmp(candidate.data(), array.data(), size) == 0)
        return candidate;
    candidates.push_back(array.copy(arena));
    return candidates.back();
  }

private:
  llvm::BumpPtrAllocator &arena;
  llvm::DenseMap<uint64_t, llvm::SmallVector<llvm::ArrayRef<T>, 1>> arrays;
};

} // namespace verify::nnscaler

#endif // VERIFY_LIB_NNSCALER_PLANARENA_H
