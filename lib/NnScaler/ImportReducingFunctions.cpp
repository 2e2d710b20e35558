//===- ImportReducingFunctions.cpp - what dimensions are combined to ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of PyTorch that combine elements along dimensions.
//
//===----------------------------------------------------------------------===//

#include "OpBody.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

/// Sum or mean over the dimensions of keyword `dim`, or over all.
template <tv::ReductionKind kind>
static void importReduce(ForwardOp &op, Results &results) {
  op.requireNone("dtype");
  const Argument *keep = op.keyword("keepdim");
  const Argument *dims = op.keyword("dim");
  if (!op.requireOperands(1))
    return;
  int64_t rank = op.operandType(0).getRank();
  SmallVector<int64_t> dimensions;
  bool isAll = !dims || (!dims->isTensor && dims->kind == ConstantKind::None);
  if (isAll) {
    for (int64_t i = 0; i < rank; ++i)
      dimensions.push_back(i);
  } else {
    ArrayRef<Argument> list = dims->kind == ConstantKind::Integer
                                  ? ArrayRef<Argument>(*dims)
                                  : dims->getElements();
    // PyTorch takes an empty list for all dimensions, sometimes.
    bool isList = dims->kind == ConstantKind::Integer || dims->isSequence();
    if (list.empty() || !isList) {
      op.error() << "keyword 'dim' is not a list of integers";
      return;
    }
    for (const Argument &dimension : list) {
      if (dimension.isTensor || dimension.kind != ConstantKind::Integer) {
        op.error() << "keyword 'dim' is not a list of integers";
        return;
      }
      dimensions.push_back(op.dimension(dimension.getInteger(), rank));
    }
  }
  llvm::sort(dimensions);
  if (llvm::adjacent_find(dimensions) != dimensions.end() && !op.failedAlready)
    op.error() << "keyword 'dim' names a dimension twice";
  bool isKept = keep && op.boolean("keepdim");
  RankedTensorType type = op.resultType(0);
  if (!type || op.failedAlready)
    return;
  SmallVector<int64_t> shape;
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(dimensions, i))
      shape.push_back(op.operandType(0).getDimSize(i));
    else if (isKept)
      shape.push_back(1);
  // The frontend gives a full reduction the shape (1), not ().
  bool isFull = shape.empty();
  Value sum = tv::ReduceOp::create(
      op.builder, op.location,
      isFull ? RankedTensorType::get({}, type.getElementType()) : type, kind,
      op.operands[0], dimensions, isKept, tv::DomainAttr());
  if (isFull)
    sum = tv::ReshapeOp::create(op.builder, op.location, type, sum,
                                tv::DomainAttr());
  results.push_back(sum);
}

/// `torch.cumsum(input, dim)`.
static void importCumulativeSum(ForwardOp &op, Results &results) {
  std::optional<int64_t> dimension = op.integer("dim");
  op.requireNone("dtype");
  if (!op.requireOperands(1))
    return;
  if (!dimension) {
    op.error() << "needs keyword 'dim'";
    return;
  }
  int64_t at = op.dimension(*dimension, op.operandType(0).getRank());
  RankedTensorType type = op.resultType(0);
  if (type && !op.failedAlready)
    results.push_back(tv::CumulativeSumOp::create(
        op.builder, op.location, type, op.operands[0], at, tv::DomainAttr()));
}

void nnscaler::addReducingFunctions(ForwardRules &rules) {
  rules.insert({
      {"torch.sum", {importReduce<tv::ReductionKind::Sum>}},
      {"torch.mean", {importReduce<tv::ReductionKind::Average>}},
      {"torch.cumsum", {importCumulativeSum}},
  });
}
