//===- Prefetch.h - reads ops before they are looked at ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_IR_PREFETCH_H
#define VERIFY_IR_PREFETCH_H

#include "mlir/IR/Operation.h"
#include "llvm/Support/Compiler.h"

namespace verify {

/// Has an op, which may be null, read from memory while other work is done.
/// Passes over more ops than the caches hold mostly wait for the next one.
inline void prefetch(mlir::Operation *op) {
  if (!op)
    return;
  constexpr int lineBytes = 64, lines = 3;
  for (int line = 0; line < lines; ++line)
    LLVM_PREFETCH(reinterpret_cast<char *>(op) + line * lineBytes, /*rw=*/0,
                  /*locality=*/3);
}

/// Has the ops of a block read so, some steps before they are looked at.
class Prefetcher {
public:
  explicit Prefetcher(mlir::Block &block)
      : next(block.empty() ? nullptr : &block.front()) {
    constexpr int distance = 3;
    for (int i = 0; i < distance; ++i)
      step();
  }
  void step() {
    if (!next)
      return;
    prefetch(next);
    next = next->getNextNode();
  }

private:
  mlir::Operation *next;
};

} // namespace verify

#endif // VERIFY_IR_PREFETCH_H
