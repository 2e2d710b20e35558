//===- ImportLosses.cpp - losses ------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of `torch.nn.functional` that compare a result with a target.
//
//===----------------------------------------------------------------------===//

#include "OpBody.h"

#include "Verify/IR/Gradients.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

/// Keyword `reduction`: 'none', 'mean' or 'sum'; an error if it is none.
static StringRef getReduction(ForwardOp &op) {
  const Argument *reduction = op.keyword("reduction");
  StringRef kind = "mean";
  if (reduction)
    kind = !reduction->isTensor && reduction->kind == ConstantKind::String
               ? reduction->getText()
               : "";
  if (kind != "none" && kind != "mean" && kind != "sum")
    op.error() << "keyword 'reduction' is none of 'none', 'mean' and 'sum'";
  return kind;
}

/// What a loss makes of all its terms, of which `counted` are 1 and the others
/// 0.
static void reduceTerms(ForwardOp &op, Value terms, Value counted,
                        Results &results) {
  StringRef kind = getReduction(op);
  OpBody body{op};
  auto sum = [&](Value value) {
    return body.reshape(body.reduceLast(tv::ReductionKind::Sum, value), {1});
  };
  if (kind == "none")
    results.push_back(terms);
  else if (kind == "sum")
    results.push_back(sum(terms));
  else
    results.push_back(body.binary<tv::DivideOp>(sum(terms), sum(counted)));
}

/// `l1_loss(input, target; ...)`, or `mse_loss` if `isSquare`.
template <bool isSquare>
static void importDistance(ForwardOp &op, Results &results) {
  for (StringRef name : {"weight", "size_average", "reduce"})
    op.requireNone(name);
  if (!op.requireOperands(2) ||
      !requireShape(op, 1, op.operandType(0).getShape()))
    return;
  OpBody body{op};
  Value terms = body.binary<tv::SubtractOp>(op.operands[0], op.operands[1]);
  terms =
      isSquare
          ? Value(tv::PowerOp::create(op.builder, op.location, terms.getType(),
                                      terms, 2, 1, tv::DomainAttr()))
          : body.unary<tv::AbsOp>(terms);
  StringRef kind = getReduction(op);
  if (kind == "none") {
    results.push_back(terms);
    return;
  }
  Value flat = body.reshape(terms, {op.operandType(0).getNumElements()});
  results.push_back(
      body.reshape(body.reduceLast(kind == "sum" ? tv::ReductionKind::Sum
                                                 : tv::ReductionKind::Average,
                                   flat),
                   {1}));
}

/// The negative logarithm of the probability of the class that a target names,
/// of rows of logarithms of probabilities. Targets of `ignore_index` count
/// nothing, and others than classes are none in PyTorch.
static void importLikelihood(ForwardOp &op, Value logarithms,
                             Results &results) {
  for (StringRef name : {"weight", "size_average", "reduce"})
    op.requireNone(name);
  int64_t ignored = op.integer("ignore_index").value_or(-100);
  Type integers = op.operandType(1).getElementType();
  if (!integers.isInteger() ||
      !llvm::isIntN(integers.getIntOrFloatBitWidth(), ignored))
    op.error() << "needs targets that are integers";
  if (op.failedAlready)
    return;
  OpBody body{op};
  auto number = RankedTensorType::get({}, integers);
  Value none = tv::ConstantOp::create(
      op.builder, op.location, number,
      DenseElementsAttr::get(number,
                             op.builder.getIntegerAttr(integers, ignored)),
      tv::DomainAttr());
  Value target = op.operands[1];
  ArrayRef<int64_t> rows = body.shape(target);
  Value counted = tv::CompareOp::create(
      op.builder, op.location, body.like(logarithms, rows),
      tv::ComparisonKind::NotEqual, target, none, tv::DomainAttr());
  Value classes = tv::OneHotOp::create(op.builder, op.location,
                                       logarithms.getType(), target,
                                       /*start=*/0, tv::DomainAttr());
  Value terms = body.unary<tv::NegateOp>(
      body.einsum({logarithms, classes}, "nc,nc->n", rows));
  if (ignored >= 0)
    terms = body.binary<tv::MultiplyOp>(terms, counted);
  reduceTerms(op, terms, counted, results);
}

/// Whether the op has rows of a matrix and a target for each.
static bool requireTargets(ForwardOp &op) {
  if (!op.requireOperands(2) || !requireFinite(op, 0))
    return false;
  if (op.operandType(0).getRank() == 2)
    return requireShape(op, 1, {op.operandType(0).getDimSize(0)});
  op.error() << "is only supported on a matrix, got " << op.operandType(0);
  return false;
}

/// `nll_loss(input, target; ...)`.
static void importLikelihoodLoss(ForwardOp &op, Results &results) {
  if (requireTargets(op))
    importLikelihood(op, op.operands[0], results);
}

/// `cross_entropy(input, target; ...)`.
static void importCrossEntropy(ForwardOp &op, Results &results) {
  if (op.keyword("label_smoothing") && op.real("label_smoothing") != 0 &&
      !op.failedAlready)
    op.error() << "keyword 'label_smoothing' other than 0 is not supported";
  if (!requireTargets(op))
    return;
  Value softmax =
      tv::SoftmaxOp::create(op.builder, op.location, op.operands[0].getType(),
                            op.operands[0], 1, tv::DomainAttr());
  importLikelihood(op, OpBody{op}.unary<tv::LogOp>(softmax), results);
}

void nnscaler::addLosses(ForwardRules &rules) {
  rules.insert({
      {"torch.nn.functional.cross_entropy", {importCrossEntropy}},
      {"torch.nn.functional.nll_loss", {importLikelihoodLoss}},
      {"torch.nn.functional.l1_loss", {importDistance<false>}},
      {"torch.nn.functional.mse_loss", {importDistance<true>}},
  });
}
