//===- DefinedTensors.h - what is defined where results are -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lemma is used as if the tensor that it speaks of were defined, at each of
// its elements. Of a tensor of the reference that is so at all inputs that
// matter if it follows from its results' being defined. Of others signs have to
// show it (`isAlwaysDefined`, which `DefinednessProver` asks).
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_ANALYSIS_DEFINEDTENSORS_H
#define VERIFY_ANALYSIS_DEFINEDTENSORS_H

#include "Verify/IR/DenseValues.h"
#include "Verify/IR/EqualOps.h"
#include "Verify/IR/TVOps.h"
#include "Verify/Semantics/Boxes.h"

namespace verify {

/// Tensors of the reference that are defined at all elements wherever all
/// results of the contract are: inputs; what these results are always computed
/// from, at all of its elements; and what is computed of such tensors by bodies
/// that have no domain.
class DefinedTensors {
public:
  explicit DefinedTensors(tv::GraphOp graph);

  bool contains(mlir::Value reference) const {
    return defined.contains(reference);
  }
  /// Whether an op of the reference is defined wherever its operands are.
  bool isTotal(mlir::Operation *op) const;
  /// Adds a tensor that was shown to be defined where others are that are.
  void addProved(mlir::Value reference);

private:
  /// Elements of one operand: all of them, or those with positions from `begin`
  /// to `end` of one dimension.
  struct Part {
    unsigned operand = 0;
    std::optional<unsigned> dimension;
    int64_t begin = 0, end = 0;
  };
  /// What is known of all ops that are equal.
  struct Kind {
    bool isTotal = false;
    llvm::SmallVector<Part, 2> read; ///< wherever the result is defined
  };

  const Kind &getKind(tv::SemanticsOpInterface op);
  /// The part of its tensor that a result is; none if it is no box.
  static std::optional<Box> findBox(tv::ExpectOp result, tv::MeshAttr mesh);
  /// Adds elements of a tensor; `part.operand` says nothing here.
  void add(mlir::Value tensor, const Part &part);
  void add(mlir::Value tensor);
  void followAll();
  void follow(mlir::Value tensor);

  static std::optional<Part> findRead(const IndexRelation::Access &access,
                                      const IndexRelation &relation);

  EqualOps equal;
  llvm::DenseMap<mlir::Operation *, Kind> kinds;
  /// Of ops without a domain, how many operands are not known to be defined.
  llvm::DenseMap<mlir::Operation *, unsigned> open;
  DenseValueMap<llvm::SmallVector<Part>> parts;
  DenseValueSet defined;
  llvm::SmallVector<mlir::Value> worklist;
};

/// Whether the tensors that the expects of a stage speak of are defined, at all
/// of their elements, wherever those are that the stage begins with, whatever
/// they hold: so signs say (`SignAlgebra`).
bool isAlwaysDefined(tv::StageOp definition);

} // namespace verify

#endif // VERIFY_ANALYSIS_DEFINEDTENSORS_H
