//===- FrequentOpcodes.cpp - the fast path of the machine -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nearly all opcodes of a large file push what a memo slot holds, or a
// constant, or make and fill objects and small containers. They are run here
// with the state of the machine in registers and room made ahead. Whatever is
// out of the ordinary, errors included, is left to the dispatcher, which starts
// the opcode again.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

#include <algorithm>
#include <array>

using namespace verify::pickle;
using llvm::support::endian::read32le;

namespace {
/// What an opcode pushes that neither makes anything nor fails, if it is in the
/// memo.
struct Push {
  uint8_t length = 0; ///< with its operand; 0 for other opcodes
  bool isGet = false; ///< the operand is a slot of the memo
  uint32_t mask = 0;  ///< of the operand, in the four bytes after the opcode
  uint32_t raw = 0;   ///< what else there is in the value's 32 bits
};
} // namespace

static constexpr std::array<Push, 256> makePushes() {
  std::array<Push, 256> pushes;
  auto set = [&](Opcode opcode, Push push) {
    pushes[static_cast<uint8_t>(opcode)] = push;
  };
  constexpr uint32_t integer = GraphBuilder::makeSmallInteger(0).getRaw();
  set(Opcode::Binget, {2, true, 0xff, 0});
  set(Opcode::LongBinget, {5, true, 0xffffffff, 0});
  set(Opcode::Binint1, {2, false, 0xff, integer});
  set(Opcode::Binint2, {3, false, 0xffff, integer});
  set(Opcode::None, {1, false, 0, GraphBuilder::getNone().getRaw()});
  set(Opcode::Newtrue, {1, false, 0, GraphBuilder::getBoolean(true).getRaw()});
  set(Opcode::Newfalse,
      {1, false, 0, GraphBuilder::getBoolean(false).getRaw()});
  return pushes;
}

static constexpr std::array<Push, 256> pushes = makePushes();
static_assert(GraphBuilder::makeSmallInteger(5).getRaw() ==
                  (GraphBuilder::makeSmallInteger(0).getRaw() | 5 << 1),
              "an operand can be put into a value");

/// Every opcode has at least one byte and pushes or memoizes at most one value,
/// so room for as many values as the slice has bytes is room enough.
bool Machine::runSlice(const Byte *sliceEnd) {
  stack.reserve(static_cast<size_t>(sliceEnd - position));
  memo.reserve(static_cast<size_t>(sliceEnd - position));
  while (true) {
    runFrequent(sliceEnd);
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
LLVM_ATTRIBUTE_ALWAYS_INLINE void Machine::runFrequent(const Byte *sliceEnd) {
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
    // Two thirds of the opcodes. A switch would guess wrong too often.
    if (const Push &push = pushes[*next]; LLVM_LIKELY(push.length != 0)) {
      uint32_t operand = read32le(next + 1) & push.mask;
      Value value = Value::fromRaw(operand << 1 | push.raw);
      if (push.isGet) {
        if (LLVM_UNLIKELY(operand >= numSlots ||
                          slots[operand].getRaw() == unwritten))
          break;
        value = slots[operand];
      }
      *top++ = value;
      next += push.length;
      continue;
    }
    switch (static_cast<Opcode>(*next)) {
    case Opcode::Memoize:
      if (LLVM_UNLIKELY(!mayMemoize || top == bottom))
        break;
      slots[numSlots++] = top[-1];
      next += 1;
      continue;
    case Opcode::EmptyTuple:
      // Nearly always the arguments of an object.
      if (static_cast<Opcode>(next[1]) == Opcode::Newobj && top != bottom &&
          builder.getKind(top[-1]) == Kind::Global) {
        top[-1] = builder.makeObject(Construction::NewObject, top[-1],
                                     GraphBuilder::getEmptyTuple());
        next += 2;
        continue;
      }
      *top++ = GraphBuilder::getEmptyTuple();
      next += 1;
      continue;
    case Opcode::Tuple1:
    case Opcode::Tuple2:
    case Opcode::Tuple3: {
      size_t count = 1 + *next - static_cast<Byte>(Opcode::Tuple1);
      if (LLVM_UNLIKELY(static_cast<size_t>(top - bottom) < count))
        break;
      top -= count;
      *top = builder.makeTuple({top, count});
      ++top;
      next += 1;
      continue;
    }
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
    case Opcode::Setitems:
      if (marks.empty() || fence <= marks.back() ||
          !builder.storeFields(bottom[-1], {bottom, top}))
        break;
      top = stack.begin() + fence;
      fence = marks.pop_back_val();
      bottom = stack.begin() + fence;
      next += 1;
      continue;
    case Opcode::Build:
      if (top - bottom < 2 || !builder.buildFirst(top[-2], top[-1]))
        break;
      --top;
      next += 1;
      continue;
    case Opcode::Append:
      if (top - bottom < 2 || builder.getKind(top[-2]) != Kind::List ||
          builder.isUsed(top[-2]) || !builder.append(top[-2], top[-1]))
        break;
      --top;
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
