//===- SilencedThread.h - attempts of which nothing is said -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_IR_SILENCEDTHREAD_H
#define VERIFY_IR_SILENCEDTHREAD_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Threading.h"

namespace verify {

/// As long as this lives, drops the diagnostics of the thread that made it,
/// which include those of MLIR's parallel loops that it waits for. Others may
/// verify another module in the same context, and are heard.
class SilencedThread : public mlir::ScopedDiagnosticHandler {
public:
  explicit SilencedThread(mlir::MLIRContext *context)
      : ScopedDiagnosticHandler(
            context, [thread = llvm::get_threadid()](mlir::Diagnostic &) {
              return llvm::success(llvm::get_threadid() == thread);
            }) {}
};

} // namespace verify

#endif // VERIFY_IR_SILENCEDTHREAD_H
