//===- DiagnosticPrinter.h - diagnostics for people -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_REPORT_DIAGNOSTICPRINTER_H
#define VERIFY_REPORT_DIAGNOSTICPRINTER_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/raw_ostream.h"

namespace verify {

/// Prints diagnostics as a compiler does, `file:line: error: ...`, and leaves
/// out what no user wrote: columns that are unknown and ops of the dialect.
class DiagnosticPrinter : public mlir::ScopedDiagnosticHandler {
public:
  /// Calls `begin` before it prints.
  DiagnosticPrinter(
      mlir::MLIRContext *context, llvm::raw_ostream &out,
      std::function<void()> begin = [] {});

private:
  void print(mlir::Diagnostic &diagnostic);

  llvm::raw_ostream &out;
  std::function<void()> begin;
};

/// `file:line:column` of a location, without a column of 0; "" if it has none.
std::string describeLocation(mlir::Location location);

} // namespace verify

#endif // VERIFY_REPORT_DIAGNOSTICPRINTER_H
