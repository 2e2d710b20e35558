//===- NumberMap.h - a map by numbers of a plan -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Who writes a plan chooses its numbers. Hashed as they are, some could all go
// to one place of the table, and some would stand for no entry in a DenseMap.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_IR_NUMBERMAP_H
#define VERIFY_IR_NUMBERMAP_H

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Hashing.h"

#include <map>
#include <utility>

namespace verify {

/// Whether a number may be that of a saved op.
inline bool isNumberOfSaved(int64_t number) {
  constexpr int64_t most = int64_t(1) << 62;
  return -most <= number && number <= most;
}

/// In one table, without a node for each: most of what an entry costs is that
/// it is not in the caches. Where entries are changes as it grows.
template <typename T> class NumberMap {
public:
  /// Null if there is none.
  const T *find(int64_t number) const {
    if (!isNumberOfSaved(number)) {
      auto found = others.find(number);
      return found == others.end() ? nullptr : &found->second;
    }
    auto found = table.find(number);
    return found == table.end() ? nullptr : &found->second;
  }
  T *find(int64_t number) {
    return const_cast<T *>(std::as_const(*this).find(number));
  }
  /// The entry of a number, and whether that is new.
  std::pair<T *, bool> tryEmplace(int64_t number, T value) {
    if (!isNumberOfSaved(number)) {
      auto [entry, isNew] = others.try_emplace(number, std::move(value));
      return {&entry->second, isNew};
    }
    auto [entry, isNew] = table.try_emplace(number, std::move(value));
    return {&entry->second, isNew};
  }
  size_t size() const { return table.size() + others.size(); }

private:
  struct Info : llvm::DenseMapInfo<int64_t> {
    static unsigned getHashValue(int64_t number) {
      return static_cast<unsigned>(llvm::hash_value(number));
    }
  };

  llvm::DenseMap<int64_t, T, Info> table;
  std::map<int64_t, T> others; ///< those for which that has no place
};

} // namespace verify

#endif // VERIFY_IR_NUMBERMAP_H
