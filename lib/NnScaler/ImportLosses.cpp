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

/// A loss of all its terms, as keyword `reduction` says.
static void reduceTerms(ForwardOp &op, Value terms, Results &results) {
  StringRef kind = getReduction(op);
  OpBody body{op};
  if (kind == "none") {
    results.push_back(terms);
    return;
  }
  int64_t count = cast<RankedTensorType>(terms.getType()).getNumElements();
  results.push_back(
      body.reshape(body.reduceLast(kind == "sum" ? tv::ReductionKind::Sum
                                                 : tv::ReductionKind::Average,
                                   body.reshape(terms, {count})),
                   {1}));
}

/// Two tensors of floating-point numbers of one shape, `input` and `target`,
/// and nothing that weighs them; none after an error.
static std::optional<std::pair<Value, Value>> getCompared(ForwardOp &op) {
  for (StringRef name : {"weight", "size_average", "reduce"})
    op.requireNone(name);
  Value input = op.floats("input");
  Value target = op.failedAlready ? Value() : op.floats("target");
  if (!target || !requireShape(op, 1, OpBody::shape(input)))
    return std::nullopt;
  return std::pair(input, target);
}

/// `l1_loss(input, target; ...)`, or `mse_loss` if `isSquare`.
template <bool isSquare>
static void importDistance(ForwardOp &op, Results &results) {
  auto compared = getCompared(op);
  if (!compared)
    return;
  OpBody body{op};
  Value terms = body.binary<tv::SubtractOp>(compared->first, compared->second);
  reduceTerms(op,
              isSquare ? body.power(terms, 2) : body.unary<tv::AbsOp>(terms),
              results);
}

/// `huber_loss(input, target; delta=1)`: half of the square of a distance of at
/// most `delta`, and else what grows like a line; `smooth_l1_loss(; beta=1)`
/// is that divided by its `beta`, and the distance itself if that is 0.
template <bool isSmooth>
static void importHuber(ForwardOp &op, Results &results) {
  double delta = op.real(isSmooth ? "beta" : "delta", 1);
  if ((delta < 0 || (delta == 0 && !isSmooth)) && !op.failedAlready)
    op.error() << "needs a positive keyword '" << (isSmooth ? "beta" : "delta")
               << "'";
  auto compared = getCompared(op);
  if (!compared || op.failedAlready)
    return;
  OpBody body{op};
  Value difference =
      body.binary<tv::SubtractOp>(compared->first, compared->second);
  Value distance = body.unary<tv::AbsOp>(difference);
  if (delta == 0) {
    reduceTerms(op, distance, results);
    return;
  }
  Value half = body.number(0.5), limit = body.number(delta);
  Value square = body.binary<tv::MultiplyOp>(body.power(difference, 2), half);
  Value line = body.binary<tv::SubtractOp>(
      distance, body.binary<tv::MultiplyOp>(limit, half));
  if (isSmooth)
    square = body.binary<tv::DivideOp>(square, limit);
  else
    line = body.binary<tv::MultiplyOp>(line, limit);
  reduceTerms(
      op,
      body.select(body.compare(tv::ComparisonKind::Less, distance, limit),
                  square, line),
      results);
}

/// `binary_cross_entropy_with_logits(input, target; ...)`:
/// `(1 - t) x - log(sigmoid(x))`.
static void importLogits(ForwardOp &op, Results &results) {
  op.requireNone("pos_weight");
  auto compared = getCompared(op);
  if (!compared)
    return;
  auto [input, target] = *compared;
  OpBody body{op};
  Value other = body.unary<tv::NegateOp>(
      body.binary<tv::SubtractOp>(target, body.number(1)));
  reduceTerms(op,
              body.binary<tv::SubtractOp>(
                  body.binary<tv::MultiplyOp>(other, input),
                  body.unary<tv::LogOp>(body.unary<tv::SigmoidOp>(input))),
              results);
}

/// `kl_div(input, target; log_target=False)` of the logarithms of a
/// distribution: `t (log(t) - x)`, which is 0 where `t` is. With `log_target`
/// the target is a logarithm, too.
static void importDivergence(ForwardOp &op, Results &results) {
  bool isLogarithm = op.keyword("log_target") && op.boolean("log_target");
  const Argument *reduction = op.keyword("reduction");
  bool isByRow = reduction && !reduction->isTensor &&
                 reduction->kind == ConstantKind::String &&
                 reduction->getText() == "batchmean";
  auto compared = getCompared(op);
  if (!compared || op.failedAlready)
    return;
  auto [input, target] = *compared;
  OpBody body{op};
  Value logarithm = target, share = target;
  if (isLogarithm) {
    share = body.unary<tv::ExpOp>(target);
  } else {
    Value isNone =
        body.compare(tv::ComparisonKind::Equal, target, body.number(0));
    logarithm =
        body.unary<tv::LogOp>(body.select(isNone, body.number(1), target));
  }
  Value terms = body.binary<tv::MultiplyOp>(
      share, body.binary<tv::SubtractOp>(logarithm, input));
  if (!isByRow) {
    reduceTerms(op, terms, results);
    return;
  }
  auto type = cast<RankedTensorType>(terms.getType());
  if (type.getRank() == 0) {
    op.error() << "has no batch";
    return;
  }
  Value sum = body.reduceLast(tv::ReductionKind::Sum,
                              body.reshape(terms, {type.getNumElements()}));
  results.push_back(body.reshape(
      body.binary<tv::DivideOp>(
          sum, body.number(static_cast<double>(type.getDimSize(0)))),
      {1}));
}

/// The negative logarithm of the probability of the class that a target names,
/// of rows of logarithms of probabilities. Targets of `ignore_index` count
/// nothing, and others than classes are none in PyTorch. A share of `smoothing`
/// of each target is divided among all classes.
static void importLikelihood(ForwardOp &op, Value logarithms, double smoothing,
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
  Value none = body.integer(integers, ignored);
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
  if (smoothing != 0) {
    Value all = body.binary<tv::MultiplyOp>(
        body.reduceLast(tv::ReductionKind::Average, logarithms), counted);
    // 1 - s exactly: the difference of two doubles need not be a literal.
    Value share = tv::SubtractOp::create(
        op.builder, op.location, body.number(1).getType(), body.number(1),
        body.number(smoothing), tv::DomainAttr());
    terms = body.binary<tv::SubtractOp>(
        body.binary<tv::MultiplyOp>(terms, share),
        body.binary<tv::MultiplyOp>(all, body.number(smoothing)));
  }
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
    importLikelihood(op, op.operands[0], /*smoothing=*/0, results);
}

/// `cross_entropy(input, target; ...)`.
static void importCrossEntropy(ForwardOp &op, Results &results) {
  double smoothing = op.real("label_smoothing", 0);
  if ((smoothing < 0 || smoothing > 1) && !op.failedAlready)
    op.error() << "keyword 'label_smoothing' is not in [0, 1]";
  if (op.failedAlready || !requireTargets(op))
    return;
  Value softmax =
      tv::SoftmaxOp::create(op.builder, op.location, op.operands[0].getType(),
                            op.operands[0], 1, tv::DomainAttr());
  importLikelihood(op, OpBody{op}.unary<tv::LogOp>(softmax), smoothing,
                   results);
}

void nnscaler::addLosses(ForwardRules &rules) {
  constexpr const char *distance = "input target size_average reduce reduction";
  rules.insert({
      {"torch.nn.functional.cross_entropy", {importCrossEntropy}},
      {"torch.nn.functional.nll_loss", {importLikelihoodLoss}},
      {"torch.nn.functional.l1_loss",
       {.import = importDistance<false>, .parameters = distance}},
      {"torch.nn.functional.mse_loss",
       {.import = importDistance<true>, .parameters = distance}},
      {"torch.nn.functional.smooth_l1_loss",
       {.import = importHuber<true>,
        .parameters = "input target size_average reduce reduction beta"}},
      {"torch.nn.functional.huber_loss",
       {.import = importHuber<false>,
        .parameters = "input target reduction delta weight"}},
      {"torch.nn.functional.binary_cross_entropy_with_logits",
       {.import = importLogits,
        .parameters =
            "input target weight size_average reduce reduction pos_weight"}},
      {"torch.nn.functional.kl_div",
       {.import = importDivergence,
        .parameters = "input target size_average reduce reduction log_target"}},
  });
}
