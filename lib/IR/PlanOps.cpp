//===- PlanOps.cpp - checks of the plan level -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/TVOps.h"

using namespace mlir;
using namespace verify::tv;

#define GET_OP_CLASSES
#include "Verify/IR/TVOps.cpp.inc"
