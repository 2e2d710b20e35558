//===- PlanValues.h - what executing a plan takes and gives -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_PLANVALUES_H
#define VERIFY_LIB_TRANSFORMS_PLANVALUES_H

#include "RankFold.h"

namespace verify {

/// The intervals that cover `coordinates`, flattened.
llvm::SmallVector<int64_t> toIntervals(llvm::SmallVector<int64_t> coordinates);

/// A graph value as a device sees it: of one micro-batch, or the same in all.
struct Bound {
  mlir::Value value;
  int64_t microBatch = -1;
};

/// A graph value and what the plan states about it.
struct StatedPiece {
  mlir::Value value;
  tv::PieceAttr piece;
  int64_t device;
  mlir::Location location;
  RankFold::Spread spread;
};

/// A result of the run on one device.
struct PlanOutput {
  Bound bound;
  std::string name;
  int64_t device;
  unsigned ordinal; ///< position among the device's outputs
  mlir::Location location;
};

/// What a gradient buffer holds at the end.
struct FinalGradient {
  tv::BufferOp parameter;
  mlir::Value value;
  mlir::Location location;
};

/// Makes the graph values of the tensors nobody computes.
class BoundarySource {
public:
  virtual ~BoundarySource();
  /// Result `number` of a loader, for all micro-batches. Null after an error.
  virtual mlir::Value load(tv::LoadDataOp op, unsigned number) = 0;
  virtual mlir::Value parameter(tv::BufferOp op) = 0;
  /// The draws of a random op on `device`, for all micro-batches. Null after an
  /// error.
  virtual mlir::Value random(tv::RandomOp op, int64_t device) = 0;
};

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_PLANVALUES_H
