//===- DenseTensors.cpp - the values that are kept ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Analysis/DenseEvaluator.h"

#include "ValueNumbering.h"

using namespace mlir;
using namespace verify;

DenseTensors::DenseTensors() = default;
DenseTensors::~DenseTensors() = default;

const DenseTensor *DenseTensors::find(Value value) const {
  if (!numbering)
    return nullptr;
  auto found = tensors.find(numbering->getLeader(value));
  return found == tensors.end() ? nullptr : &found->second;
}

void DenseTensors::drop(Value value, NumericAlgebra &algebra) {
  auto found = tensors.find(value);
  if (found->second.isOwned)
    for (Scalar scalar : found->second.elements)
      algebra.release(scalar);
  scalarCount -= found->second.elements.size();
  ++dropCount;
  tensors.erase(found);
}

void DenseTensors::reset(std::shared_ptr<const ValueNumbering> newNumbering,
                         NumericAlgebra &algebra) {
  while (!tensors.empty())
    drop(tensors.begin()->first, algebra);
  numbering = std::move(newNumbering);
}
