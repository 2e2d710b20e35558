//===- Pushes.cpp - the fast path of the pickle machine ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nine in ten opcodes of a large file only push something: most often what a
// memo slot holds, else a constant. They are run here with the state of the
// machine in registers and room made ahead. Whatever is out of the ordinary,
// errors included, is left to the dispatcher, which starts the opcode again.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include <algorithm>

using namespace verify::pickle;
using llvm::support::endian::read16le;
using llvm::support::endian::read32le;

/// Every opcode has at least one byte and pushes or memoizes at most one value,
/// so room for as many values as the slice has bytes is room enough.
bool Machine::runSlice(const Byte *sliceEnd) {
  stack.reserve(static_cast<size_t>(sliceEnd - position));
  memo.reserve(static_cast<size_t>(sliceEnd - position));
  while (true) {
    runPushes(sliceEnd);
    if (position >= sliceEnd)
      return true;
    opcodeStart = position;
    if (LLVM_UNLIKELY(!step(static_cast<Opcode>(*position++))))
      return false;
    if (LLVM_UNLIKELY(hasStopped))
      return true;
  }
}

// The loop that everything passes through: its state stays in registers.
// NOLINTNEXTLINE(readability-function-size)
LLVM_ATTRIBUTE_ALWAYS_INLINE void Machine::runPushes(const Byte *sliceEnd) {
  // The longest of these opcodes has five bytes.
  const Byte *last =
      getRemaining() > 4 ? std::min(sliceEnd, end - 4) : position;
  const Byte *next = position;
  Value *top = stack.begin() + stack.size();
  const Value *bottom = stack.begin() + fence;
  Value *slots = memo.begin();
  size_t numSlots = memo.size();
  const bool mayMemoize = isDense();

  while (next < last) {
    uint32_t slot;
    switch (static_cast<Opcode>(*next)) {
    case Opcode::Binget:
      slot = next[1];
      if (LLVM_UNLIKELY(slot >= numSlots || slots[slot].getRaw() == unwritten))
        break;
      *top++ = slots[slot];
      next += 2;
      continue;
    case Opcode::LongBinget:
      slot = read32le(next + 1);
      if (LLVM_UNLIKELY(slot >= numSlots || slots[slot].getRaw() == unwritten))
        break;
      *top++ = slots[slot];
      next += 5;
      continue;
    case Opcode::Memoize:
      if (LLVM_UNLIKELY(!mayMemoize || top == bottom))
        break;
      slots[numSlots++] = top[-1];
      next += 1;
      continue;
    case Opcode::None:
      *top++ = GraphBuilder::getNone();
      next += 1;
      continue;
    case Opcode::Newtrue:
      *top++ = GraphBuilder::getBoolean(true);
      next += 1;
      continue;
    case Opcode::Newfalse:
      *top++ = GraphBuilder::getBoolean(false);
      next += 1;
      continue;
    case Opcode::Binint1:
      *top++ = GraphBuilder::makeSmallInteger(next[1]);
      next += 2;
      continue;
    case Opcode::Binint2:
      *top++ = GraphBuilder::makeSmallInteger(read16le(next + 1));
      next += 3;
      continue;
    case Opcode::EmptyTuple:
      *top++ = GraphBuilder::getEmptyTuple();
      next += 1;
      continue;
    case Opcode::EmptyDict:
      *top++ = builder.makeDictionary();
      next += 1;
      continue;
    case Opcode::EmptyList:
      *top++ = builder.makeList();
      next += 1;
      continue;
    case Opcode::Mark:
      marks.push_back(fence);
      fence = static_cast<size_t>(top - stack.begin());
      bottom = top;
      next += 1;
      continue;
    default:
      break;
    }
    break;
  }

  position = next;
  stack.setSize(static_cast<size_t>(top - stack.begin()));
  if (mayMemoize)
    numMemoized = numSlots;
  memo.setSize(numSlots);
}
