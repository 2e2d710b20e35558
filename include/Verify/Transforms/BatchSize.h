//===- BatchSize.h - reference plans at another batch size ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A reference traced with another batch than the plan's is the same model only
// if nothing in it depends on the size of the batch.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_TRANSFORMS_BATCHSIZE_H
#define VERIFY_TRANSFORMS_BATCHSIZE_H

#include "Verify/IR/TVOps.h"

#include <optional>
#include <string>

namespace verify {

/// Gives `reference` the batch that the loaders of `plan` read in all replicas
/// and micro-batches together, if it has another one and the batch dimension is
/// free: every tensor follows from its operands, no op tells positions of it
/// apart, and no parameter has it. Returns what was done, for the contract;
/// otherwise leaves the reference alone. Fails, after an error, where only a
/// tensor that it creates stands in the way: that may count samples.
mlir::FailureOr<std::optional<std::string>>
adaptBatchSize(tv::PlanOp &reference, tv::PlanOp plan);

} // namespace verify

#endif // VERIFY_TRANSFORMS_BATCHSIZE_H
