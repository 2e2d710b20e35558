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

#include "llvm/ADT/Hashing.h"

#include <unordered_map>

namespace verify {

/// Whether a number may be that of a saved op.
inline bool isNumberOfSaved(int64_t number) {
  constexpr int64_t most = int64_t(1) << 62;
  return -most <= number && number <= most;
}

struct NumberHash {
  size_t operator()(int64_t number) const { return llvm::hash_value(number); }
};
/// References to its values stay what they are as it grows.
template <typename T>
using NumberMap = std::unordered_map<int64_t, T, NumberHash>;

} // namespace verify

#endif // VERIFY_IR_NUMBERMAP_H
