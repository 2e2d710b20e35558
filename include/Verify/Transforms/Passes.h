//===- Passes.h - the verification pipeline ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_TRANSFORMS_PASSES_H
#define VERIFY_TRANSFORMS_PASSES_H

#include "Verify/IR/TVDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace verify {

#define GEN_PASS_DECL
#include "Verify/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Verify/Transforms/Passes.h.inc"

/// Adds all passes of `tv-verify-equiv`, in order.
void buildVerifyPipeline(mlir::OpPassManager &manager,
                         const CheckEquivPassOptions &options);

/// Registers the pipeline `tv-verify-equiv`.
void registerVerifyPipeline();

} // namespace verify

#endif // VERIFY_TRANSFORMS_PASSES_H
