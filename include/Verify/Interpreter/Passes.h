//===- Passes.h - running programs on numbers -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_INTERPRETER_PASSES_H
#define VERIFY_INTERPRETER_PASSES_H

#include "Verify/Interpreter/Run.h"
#include "mlir/Pass/Pass.h"

namespace verify {

/// The values of an option of this type.
llvm::cl::ValuesClass getArithmetics();

#define GEN_PASS_DECL
#include "Verify/Interpreter/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Verify/Interpreter/Passes.h.inc"

} // namespace verify

#endif // VERIFY_INTERPRETER_PASSES_H
