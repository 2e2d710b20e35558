//===- TVOps.td - all ops of the dialect -------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_IR_TVOPS
#define VERIFY_IR_TVOPS

include "Verify/IR/ElementwiseOps.td"
include "Verify/IR/PiecewiseOps.td"
include "Verify/IR/ContractionOps.td"
include "Verify/IR/ReductionOps.td"
include "Verify/IR/MovementOps.td"
include "Verify/IR/IndexingOps.td"
include "Verify/IR/CollectiveOps.td"
include "Verify/IR/LineageOps.td"
include "Verify/IR/PlanOps.td"

#endif // VERIFY_IR_TVOPS
