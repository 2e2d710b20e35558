//===- DefinednessProver.cpp - what lemmas may speak of -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DefinednessProver.h"

#include "mlir/IR/OwningOpRef.h"

using namespace mlir;
using namespace verify;

/// Most ops that a tensor is computed with from others that are defined.
static constexpr size_t definitionLimit = 64;
/// How many ops before it are looked at, as they tell of signs: those of a norm
/// or a softmax, then more.
static constexpr unsigned distances[] = {4, 10};

/// The values that lead to another one by at most so many ops.
static DenseValueSet listNear(Value tensor, unsigned distance) {
  DenseValueSet near;
  SmallVector<Value> ends = {tensor};
  for (unsigned step = 0; step < distance; ++step)
    for (Value value : std::exchange(ends, {}))
      for (Value operand : value.getDefiningOp()->getOperands())
        if (near.insert(operand).second)
          ends.push_back(operand);
  return near;
}

bool DefinednessProver::provesOne(Value tensor, StageBuilder &stages) {
  return llvm::any_of(distances, [&](unsigned distance) {
    return provesOne(tensor, listNear(tensor, distance), stages);
  });
}

bool DefinednessProver::provesOne(Value tensor, const DenseValueSet &near,
                                  StageBuilder &stages) {
  OpBuilder builder(tensor.getContext());
  // Of what may be infinite, which elements are matters.
  OwningOpRef<tv::StageOp> stage = stages.buildDefinition(
      tensor,
      [&](Value value) {
        return tensors.contains(value) && !near.contains(value) &&
               !isExtended(value.getType());
      },
      definitionLimit, builder);
  std::optional<std::string> text =
      stage ? StageBuilder::getText(*stage) : std::nullopt;
  if (!text)
    return false;
  auto [found, isNew] = known.try_emplace(*text);
  if (isNew)
    found->second = isAlwaysDefined(*stage);
  return found->second;
}

bool DefinednessProver::proves(Value reference, StageBuilder &stages) {
  // On a list, not by recursion: models are deep.
  SmallVector<Value> worklist = {reference};
  while (!worklist.empty() && !tensors.contains(reference)) {
    Value tensor = worklist.back();
    Operation *op = tensor.getDefiningOp();
    if (tensors.contains(tensor) || !op || op->hasAttr("domain")) {
      worklist.pop_back();
      continue;
    }
    if (tried.insert(tensor).second) {
      llvm::append_range(worklist, op->getOperands());
      continue;
    }
    worklist.pop_back();
    // What is computed of it is defined if it is, and found to be.
    if (!tensors.isTotal(op) && provesOne(tensor, stages))
      tensors.addProved(tensor);
  }
  return tensors.contains(reference);
}
