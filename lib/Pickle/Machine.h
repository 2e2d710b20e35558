//===- Machine.h - the pickle machine without its effects -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stack machine of the pickle specification. It decides what each opcode
// asks for and whether the file may ask for it; the graph is packed by
// GraphBuilder. Opcodes are spread over several files by subject: Machine.cpp
// dispatches, FrequentOpcodes.cpp is the fast path, Construction.cpp makes
// containers and objects, Memo.cpp holds the stack and the memo,
// TextOpcodes.cpp reads the line-based operands of protocol 0.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_PICKLE_MACHINE_H
#define VERIFY_LIB_PICKLE_MACHINE_H

#include "GraphBuilder.h"
#include "InputPages.h"
#include "Opcodes.h"
#include "ValueArray.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Error.h"

namespace verify::pickle {

/// Reads one pickle. Methods that return bool return false after `fail`.
class Machine {
public:
  Machine(GraphBuilder &builder, uint64_t memoryLimit);

  /// Reads up to STOP and returns the root.
  llvm::Expected<Value> run();

private:
  using Byte = unsigned char;
  /// Bytes of input between two checks of the memory limit.
  static constexpr size_t sliceSize = 1 << 16;

  // Errors. The first one is kept.
  bool fail(const llvm::Twine &text);
  /// Fails at a place other than an opcode's.
  bool failAt(const Byte *place, const llvm::Twine &text);
  bool failUnderflow();
  bool failElements();

  // Dispatch.
  bool runSlice(const Byte *sliceEnd);
  void runFrequent(const Byte *sliceEnd);
  bool step(Opcode opcode);
  bool stepText(Opcode opcode);
  bool checkMemory();
  bool stop();

  // Operands.
  size_t getRemaining() const { return static_cast<size_t>(end - position); }
  bool failOperand(uint64_t size);
  /// Reads a little-endian unsigned number of `size` bytes.
  template <typename T> bool readNumber(T &number) {
    if (LLVM_UNLIKELY(getRemaining() < sizeof(T)))
      return failOperand(sizeof(T));
    number = llvm::support::endian::read<T, llvm::endianness::little>(position);
    position += sizeof(T);
    return true;
  }
  bool readBytes(uint64_t size, llvm::StringRef &bytes);
  template <typename Length> bool readCounted(llvm::StringRef &bytes) {
    Length length;
    return readNumber(length) && readBytes(length, bytes);
  }
  bool readLine(llvm::StringRef &line);
  template <typename Length> bool pushCounted(Kind kind);
  template <typename Length> bool pushUnicode();
  bool checkBuffer();
  bool pushLong(llvm::StringRef bytes);
  bool readProtocol();
  bool readFrame();

  // The stack. Values below the last mark cannot be reached.
  bool push(Value value) {
    stack.push(value);
    return true;
  }
  size_t getReachable() const { return stack.size() - fence; }
  bool need(size_t count) {
    return LLVM_LIKELY(getReachable() >= count) || failUnderflow();
  }
  bool pushMark();
  /// Removes the last mark; the values above it start at `first`.
  bool takeMark(size_t &first);
  /// The same where the value below the mark is to be filled with them.
  bool takeTarget(size_t &first);
  bool pop();

  // The memo.
  bool getMemo(uint64_t slot) {
    if (LLVM_UNLIKELY(slot >= memo.size() || memo[slot].getRaw() == unwritten))
      return getSparseMemo(slot);
    return push(memo[slot]);
  }
  /// Whether the next slot to be written is the one after the array's last.
  bool isDense() const {
    return numMemoized == memo.size() && sparseMemo.empty();
  }
  bool getSparseMemo(uint64_t slot);
  bool failUnwritten(uint64_t slot);
  bool putMemo(uint64_t slot);
  /// Writes the slot after the last one, as protocol 4 does.
  bool memoize() {
    if (LLVM_UNLIKELY(!isDense()))
      return putMemo(numMemoized);
    if (!need(1))
      return false;
    memo.push(stack.back());
    ++numMemoized;
    return true;
  }

  // Containers and objects.
  bool makeTuple(size_t count);
  bool makeMarkedTuple();
  bool makeMarkedList();
  bool makeMarkedDictionary();
  bool makeFrozenSet();
  bool append(size_t first);
  bool addItems();
  /// Fails where something took what `target` held.
  bool checkUnused(Value target);
  /// Whether each of the values, `step` apart, may be a key or in a set.
  bool checkHashed(llvm::ArrayRef<Value> values, size_t step);
  bool store(Value target, size_t first);
  bool storeOne();
  bool storeMarked();
  bool makeGlobal();
  bool checkCallable(Value callable);
  bool makeObject(Construction construction, bool hasKeywords);
  bool makeMarkedObject();
  bool build();
  bool makeExtension(uint32_t code);

  // Line-based operands.
  bool readTextInteger();
  bool readTextLong();
  bool pushDecimal(llvm::StringRef digits);
  bool readTextFloat();
  bool readTextString();
  bool readTextUnicode();
  bool readTextSlot(uint64_t &slot);
  bool readTextGlobal(Value &global);

  GraphBuilder &builder;
  const Byte *begin, *position, *end;
  const Byte *opcodeStart;
  InputPages pages;
  uint64_t memoryLimit;
  bool hasStopped = false;

  ValueArray stack;
  /// The position of the last mark; the marks below it are in `marks`.
  size_t fence = 0;
  llvm::SmallVector<size_t, 0> marks;

  /// The raw value of a memo slot that was never written.
  static constexpr uint32_t unwritten = 0xfffffffeu;
  ValueArray memo;
  /// Slots far beyond what was written before.
  llvm::DenseMap<uint64_t, Value> sparseMemo;
  uint64_t numMemoized = 0;

  std::string message;
};

} // namespace verify::pickle

#endif // VERIFY_LIB_PICKLE_MACHINE_H
