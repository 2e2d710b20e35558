//===- InferredLineage.h - lineage of what no plan states -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plan states the lineage of its own tensors, and not of what lies within one
// of its ops. Where that op selects, as a router does, or compares by
// exponentials, as attention does, each element depends on all elements of a
// row, and a stage that also sums over tokens has to look at all of them for
// each token. So tensors that such an op leads to get lemmas of their own, and
// so do those that devices exchange. Each is a guess that the check proves or
// goes without.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_INFERREDLINEAGE_H
#define VERIFY_LIB_TRANSFORMS_INFERREDLINEAGE_H

#include "Verify/IR/DenseValues.h"
#include "Verify/IR/TVOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

namespace verify {

/// Which part of which tensor of the reference a value of the plan may be.
struct Correspondence {
  mlir::Value reference;
  tv::LineageAttr lineage;
};

/// Follows ops of a graph, in order.
class LineageInference {
public:
  explicit LineageInference(tv::MeshAttr mesh) : mesh(mesh) {}

  /// Whether there is something to infer where such an op is: a selection or an
  /// exponential, which what is inferred leads on from, or one that gives parts
  /// to other devices.
  static bool startsAt(mlir::Operation &op);

  /// Notes a correspondence that has a lemma, or is given.
  void setKnown(mlir::Value value, Correspondence correspondence);
  /// Ops come after what they take.
  void visit(mlir::Operation &op);
  /// The tensors that a selection or an exponential leads to and that are used
  /// where lineages end, and those that devices exchange, each with the one
  /// tensor of the reference that it may be a part of.
  llvm::SmallVector<std::pair<mlir::Value, Correspondence>> take();

private:
  /// Equal ops of equal operands are several tensors of the reference.
  using Candidates = llvm::SmallVector<Correspondence, 1>;
  Candidates getCandidates(mlir::Value value, unsigned depth);
  Candidates infer(mlir::Operation &op, unsigned depth);
  /// Whether what the value of an op is follows from what its operands are.
  bool isFollowed(mlir::Operation &op);
  /// What an op gives that moves elements, of devices or on one.
  std::optional<Correspondence>
  followMoved(mlir::Operation &op,
              llvm::ArrayRef<Correspondence> operands) const;
  Candidates followAllMoved(
      mlir::Operation &op,
      llvm::ArrayRef<llvm::SmallVector<Correspondence>> choices) const;
  std::optional<Correspondence> match(mlir::Operation &op,
                                      llvm::ArrayRef<Correspondence> operands,
                                      mlir::Operation &reference);
  /// Notes what is computed, and exchanged by an op or in parts.
  void addSources(mlir::Operation &op);

  tv::MeshAttr mesh;
  DenseValueMap<Candidates> candidates;
  DenseValueSet known; ///< those that have a lemma, or are given
  /// Those that a selection or an exponential leads to, without a lemma in
  /// between.
  llvm::SetVector<mlir::Value> inferred;
  /// Those that devices exchange, and what these are parts of.
  llvm::SmallVector<mlir::Value> exchanged;
  llvm::SetVector<mlir::Value> sources;
  DenseValueSet walked; ///< those that `addSources` has looked at
};

/// Says that a lemma is inferred, and not stated by the plan.
void setGuess(tv::ExpectOp lemma);
bool isGuess(tv::ExpectOp lemma);

/// Whether `place` is about an op that computes what one of the reference does,
/// of other parts than it says: by what is said of its operands.
bool takesOtherParts(tv::ExpectOp place, tv::MeshAttr mesh);

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_INFERREDLINEAGE_H
