//===- Congruence.h - same ops of the same tensors --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op that runs on parts of tensors gives a part of what the same op gives on
// the whole ones, if it treats the positions of each divided dimension alike
// and apart. Most stages of a plan are of such ops only; they need no small
// case and no solver.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_ANALYSIS_CONGRUENCE_H
#define VERIFY_ANALYSIS_CONGRUENCE_H

#include "Verify/IR/TVOps.h"
#include "llvm/ADT/DenseMap.h"

namespace verify {

/// Whether the ops are the same but for where they run and what they take.
bool isSameOp(mlir::Operation &left, mlir::Operation &right);

/// Whether it divides several dimensions by one axis, or a dimension by an axis
/// that it adds up, too: no lineage, as where rows and columns are of one
/// sample each, and the value is a block of the diagonal.
bool namesAxisTwice(tv::LineageAttr lineage);

/// Which part of the result of `reference` an op like it gives, of type
/// `local`, if it takes the parts `operands` of the operands of `reference`;
/// null if parts of results do not follow from parts of operands. An operand
/// without lineage is the reference's own.
tv::LineageAttr followLineage(tv::SemanticsOpInterface reference,
                              llvm::ArrayRef<tv::LineageAttr> operands,
                              mlir::RankedTensorType local, tv::MeshAttr mesh);

/// What is known of the values of a stage.
class Congruence {
public:
  explicit Congruence(tv::MeshAttr mesh) : mesh(mesh) {}

  /// Whether `expect` holds, for every input, because both of its sides are the
  /// same ops of the same tensors: each element of the plan's value is computed
  /// by the same scalar operations from the same numbers as that of the
  /// reference, so it is defined where that one is. False says nothing.
  bool proves(tv::ExpectOp expect);

private:
  /// The lineage of `value` as a part of `reference`; null if none follows.
  tv::LineageAttr relate(mlir::Value value, mlir::Value reference,
                         unsigned depth);
  tv::LineageAttr relateOps(mlir::Operation &op, mlir::Operation &reference,
                            unsigned depth);

  tv::MeshAttr mesh;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Value>, tv::LineageAttr> known;
};

} // namespace verify

#endif // VERIFY_ANALYSIS_CONGRUENCE_H
