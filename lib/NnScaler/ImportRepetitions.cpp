//===- ImportRepetitions.cpp - elements that are repeated -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of PyTorch that give elements of a tensor several times.
//
//===----------------------------------------------------------------------===//

#include "OpBody.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

/// `torch.Tensor.expand(*size)`: repeated along dimensions of size 1 and new
/// ones before them; -1 stands for the size that is there.
static void importExpand(ForwardOp &op, Results &results) {
  auto size = op.integers("size");
  if (!op.requireOperands(1) || !size)
    return;
  ArrayRef<int64_t> shape = op.operandType(0).getShape();
  if (size->size() < shape.size()) {
    op.error() << "has " << size->size() << " sizes for rank " << shape.size();
    return;
  }
  size_t added = size->size() - shape.size();
  SmallVector<int64_t> dimensions;
  for (auto [i, length] : llvm::enumerate(*size)) {
    int64_t own = i < added ? 1 : shape[i - added];
    if (length == -1 && i >= added)
      length = own;
    if (length < 1 || (own != 1 && own != length)) {
      op.error() << "makes size " << length << " of size " << own;
      return;
    }
    if (i >= added)
      dimensions.push_back(i);
  }
  results.push_back(OpBody{op}.broadcast(op.operands[0], *size, dimensions));
}

/// `torch.Tensor.repeat(*repeats)`: copies one after the other.
static void importRepeat(ForwardOp &op, Results &results) {
  auto repeats = op.integers("repeats");
  if (!op.requireOperands(1) || !repeats)
    return;
  ArrayRef<int64_t> shape = op.operandType(0).getShape();
  if (repeats->size() < shape.size()) {
    op.error() << "has " << repeats->size() << " repeats for rank "
               << shape.size();
    return;
  }
  size_t added = repeats->size() - shape.size();
  SmallVector<int64_t> repeated, dimensions, flat;
  for (auto [i, times] : llvm::enumerate(*repeats)) {
    int64_t own = i < added ? 1 : shape[i - added], length;
    if (times < 1 || llvm::MulOverflow(times, own, length)) {
      op.error() << "repeats size " << own << " " << times << " times";
      return;
    }
    repeated.push_back(times);
    if (i >= added) {
      dimensions.push_back(repeated.size());
      repeated.push_back(own);
    }
    flat.push_back(length);
  }
  Value all = OpBody{op}.broadcast(op.operands[0], repeated, dimensions);
  giveReshaped(op, all, std::move(flat), results);
}

void nnscaler::addRepetitions(ForwardRules &rules) {
  constexpr MinusInfinity kept = MinusInfinity::Kept;
  rules.insert({
      {"torch.Tensor.expand", {importExpand, kept}},
      {"torch.Tensor.repeat", {importRepeat, kept}},
  });
}
