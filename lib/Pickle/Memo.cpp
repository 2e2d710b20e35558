//===- Memo.cpp - the stack and the memo of the pickle machine --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides what marks protect and where memo slots lie. Picklers number slots
// from zero, which a plain array serves; a file may name any slot, so those far
// beyond the last one go to a hash table and cost what was written only.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

using namespace verify::pickle;

bool Machine::pushMark() {
  marks.push_back(fence);
  fence = stack.size();
  return true;
}

bool Machine::takeMark(size_t &first) {
  if (LLVM_UNLIKELY(marks.empty()))
    return fail("no mark on the stack");
  first = fence;
  fence = marks.pop_back_val();
  return true;
}

bool Machine::takeTarget(size_t &first) {
  if (!takeMark(first))
    return false;
  return LLVM_LIKELY(first > fence) ||
         fail("nothing on the stack below the mark");
}

bool Machine::pop() {
  if (getReachable() == 0 && !marks.empty()) {
    size_t first;
    return takeMark(first);
  }
  if (!need(1))
    return false;
  (void)stack.pop();
  return true;
}

bool Machine::failUnwritten(uint64_t slot) {
  return fail("memo slot " + llvm::Twine(slot) + " was never written");
}

bool Machine::getSparseMemo(uint64_t slot) {
  auto entry = sparseMemo.find(slot);
  if (entry == sparseMemo.end())
    return failUnwritten(slot);
  return push(entry->second);
}

bool Machine::putMemo(uint64_t slot) {
  if (!need(1))
    return false;
  Value value = stack.back();
  // A run of slots that were skipped costs at most as much as is there already.
  if (slot >= memo.size() && slot <= 2 * memo.size() + 1024) {
    memo.resize(slot + 1, Value::fromRaw(unwritten));
    // The fast path relies on room for the rest of the slice.
    memo.reserve(sliceSize);
  }
  if (slot < memo.size()) {
    // Slots may have gone to the table before the array reached them.
    bool isNew = memo[slot].getRaw() == unwritten && !sparseMemo.erase(slot);
    numMemoized += isNew;
    memo[slot] = value;
    return true;
  }
  numMemoized += sparseMemo.insert_or_assign(slot, value).second;
  return true;
}
