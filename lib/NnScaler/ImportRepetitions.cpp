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

/// Copies of operand 0, one after the other, so many along each dimension.
static void repeat(ForwardOp &op, ArrayRef<int64_t> repeats, Results &results) {
  ArrayRef<int64_t> shape = op.operandType(0).getShape();
  if (repeats.size() < shape.size()) {
    op.error() << "has " << repeats.size() << " repeats for rank "
               << shape.size();
    return;
  }
  size_t added = repeats.size() - shape.size();
  SmallVector<int64_t> repeated, dimensions, flat;
  for (auto [i, times] : llvm::enumerate(repeats)) {
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

/// `torch.Tensor.repeat(*repeats)`: copies one after the other.
static void importRepeat(ForwardOp &op, Results &results) {
  auto repeats = op.integers("repeats");
  if (op.requireOperands(1) && repeats)
    repeat(op, *repeats, results);
}

/// `tile(input, dims)`: the same, once along dimensions that are not said.
static void importTile(ForwardOp &op, Results &results) {
  op.tensor("input");
  auto repeats = op.integers("dims");
  if (!op.requireOperands(1) || op.failedAlready || !repeats)
    return;
  size_t rank = op.operandType(0).getRank();
  if (repeats->size() < rank)
    repeats->insert(repeats->begin(), rank - repeats->size(), 1);
  repeat(op, *repeats, results);
}

/// Repeats what has fewer dimensions or such of size 1.
static void broadcastTo(ForwardOp &op, Value value, ArrayRef<int64_t> size,
                        Results &results) {
  ArrayRef<int64_t> shape = OpBody::shape(value);
  size_t added = size.size() - shape.size();
  bool fits = shape.size() <= size.size();
  SmallVector<int64_t> dimensions;
  for (size_t i = 0; fits && i != shape.size(); ++i) {
    fits &= shape[i] == 1 || shape[i] == size[added + i];
    dimensions.push_back(added + i);
  }
  if (fits)
    results.push_back(OpBody{op}.broadcast(value, size, dimensions));
  else
    op.error() << "does not repeat " << value.getType() << " to what is asked";
}

/// `broadcast_to(input, size)`, where -1 stands for no size.
static void importBroadcastTo(ForwardOp &op, Results &results) {
  op.tensor("input");
  auto size = op.integers("size");
  if (!op.requireOperands(1) || op.failedAlready || !size)
    return;
  if (llvm::any_of(*size, [](int64_t length) { return length < 1; }))
    op.error() << "keyword 'size' is not a list of positive integers";
  else
    broadcastTo(op, op.operands[0], *size, results);
}

/// `input.expand_as(other)`.
static void importExpandAs(ForwardOp &op, Results &results) {
  if (op.requireOperands(2))
    broadcastTo(op, op.operands[0], op.operandType(1).getShape(), results);
}

/// `repeat_interleave(input, repeats, dim)`: each element so many times, one
/// after the other, along a dimension, or of all elements in a row.
static void importInterleave(ForwardOp &op, Results &results) {
  Value input = op.tensor("input");
  int64_t times = op.count("repeats");
  std::optional<int64_t> dim = op.integer("dim");
  op.requireNone("output_size");
  if (!input && !op.failedAlready)
    op.error() << "needs a tensor 'input'";
  if (op.failedAlready)
    return;
  OpBody body{op};
  if (!dim)
    input = body.reshape(input, {op.operandType(0).getNumElements()});
  SmallVector<int64_t> shape(OpBody::shape(input)), dimensions;
  int64_t at =
      op.dimension(dim.value_or(0), static_cast<int64_t>(shape.size()));
  int64_t length;
  if (op.failedAlready)
    return;
  if (llvm::MulOverflow(shape[at], times, length)) {
    op.error() << "repeats size " << shape[at] << " " << times << " times";
    return;
  }
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i)
    dimensions.push_back(i <= at ? i : i + 1);
  SmallVector<int64_t> repeated(shape);
  repeated.insert(repeated.begin() + at + 1, times);
  shape[at] = length;
  giveReshaped(op, body.broadcast(input, repeated, dimensions),
               std::move(shape), results);
}

void nnscaler::addRepetitions(ForwardRules &rules) {
  constexpr MinusInfinity kept = MinusInfinity::Kept;
  rules.insert({
      {"torch.Tensor.expand", {importExpand, kept}},
      {"torch.Tensor.repeat", {importRepeat, kept}},
      {"torch.tile",
       {.import = importTile,
        .minusInfinity = kept,
        .parameters = "input dims"}},
      {"torch.broadcast_to",
       {.import = importBroadcastTo,
        .minusInfinity = kept,
        .parameters = "input size"}},
      {"torch.Tensor.expand_as",
       {.import = importExpandAs,
        .minusInfinity = kept,
        .ignoresOthers = true}},
      {"torch.repeat_interleave",
       {.import = importInterleave,
        .minusInfinity = kept,
        .parameters = "input repeats dim"}},
  });
}
