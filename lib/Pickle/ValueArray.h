//===- ValueArray.h - a growing array of values -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The machine's stack and memo. Unlike the vectors of LLVM it can be written
// beyond its size, within its capacity, which the fast path needs.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_PICKLE_VALUEARRAY_H
#define VERIFY_LIB_PICKLE_VALUEARRAY_H

#include "Verify/Pickle/Graph.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Compiler.h"
#include "llvm/Support/MemAlloc.h"

#include <algorithm>
#include <cstdlib>

namespace verify::pickle {

/// Values, one after the other.
class ValueArray {
public:
  ValueArray() = default;
  ValueArray(const ValueArray &) = delete;
  ValueArray &operator=(const ValueArray &) = delete;
  ~ValueArray() { std::free(values); }

  size_t size() const { return count; }
  size_t getMemoryUse() const { return capacity * sizeof(Value); }
  Value *begin() { return values; }
  Value &operator[](size_t index) { return values[index]; }
  Value &back() { return values[count - 1]; }
  /// The values from `first` on.
  llvm::ArrayRef<Value> from(size_t first) const {
    return llvm::ArrayRef(values + first, count - first);
  }

  /// Makes room for `room` more values.
  void reserve(size_t room) {
    if (LLVM_UNLIKELY(capacity - count < room))
      grow(room);
  }
  void push(Value value) {
    reserve(1);
    values[count++] = value;
  }
  Value pop() { return values[--count]; }
  void truncate(size_t size) { count = size; }
  /// Takes in values that were written within the room made before.
  void setSize(size_t size) { count = size; }
  /// Appends copies of `value` up to `size`.
  void resize(size_t size, Value value) {
    reserve(size - count);
    std::fill(values + count, values + size, value);
    count = size;
  }

private:
  // An allocator may copy what it has then; who knows the size reserves it.
  void grow(size_t room) {
    capacity = std::max(2 * capacity, count + room);
    values = static_cast<Value *>(
        llvm::safe_realloc(values, capacity * sizeof(Value)));
  }

  Value *values = nullptr;
  size_t count = 0, capacity = 0;
};

} // namespace verify::pickle

#endif // VERIFY_LIB_PICKLE_VALUEARRAY_H
