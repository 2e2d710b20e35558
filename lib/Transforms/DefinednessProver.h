//===- DefinednessProver.h - what lemmas may speak of -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where results of the reference do not need all of a tensor, as one that gives
// the last token alone, that it is defined all the same is proved: of a softmax
// or a norm for any operands.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_DEFINEDNESSPROVER_H
#define VERIFY_LIB_TRANSFORMS_DEFINEDNESSPROVER_H

#include "Verify/Analysis/DefinedTensors.h"
#include "Verify/Analysis/StageBuilder.h"
#include "llvm/ADT/StringMap.h"

namespace verify {

/// Tensors that are defined wherever the results of a graph are.
class DefinednessProver {
public:
  explicit DefinednessProver(tv::GraphOp graph) : tensors(graph) {}

  const DefinedTensors &getTensors() const { return tensors; }
  /// Whether a tensor of the reference is one. Adds those that are shown to be
  /// on the way.
  bool proves(mlir::Value reference, StageBuilder &stages);

private:
  bool provesOne(mlir::Value tensor, StageBuilder &stages);
  /// The same by what it is computed of, through ops that give `near`.
  bool provesOne(mlir::Value tensor, const DenseValueSet &near,
                 StageBuilder &stages);

  DefinedTensors tensors;
  DenseValueSet tried;
  /// What was found, by the content of definitions.
  llvm::StringMap<bool> known;
};

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_DEFINEDNESSPROVER_H
