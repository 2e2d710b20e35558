//===- ImportActivations.cpp - functions of single elements ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of PyTorch that compute each element from the same one of their
// operands, beside those that are one op of the dialect. Where one of them has
// several pieces, each of its ends belongs to the piece to which the derivative
// of PyTorch counts it (tools/autograd/derivatives.yaml of PyTorch).
//
//===----------------------------------------------------------------------===//

#include "OpBody.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

/// Operand `input`, unless it is to be changed in place.
static Value getInput(ForwardOp &op) {
  op.requireFalse("inplace");
  op.requireNone("out");
  Value input = op.floats("input");
  return op.failedAlready ? Value() : input;
}

/// `1 + value`.
static Value addOne(OpBody body, Value value) {
  return body.binary<tv::AddOp>(value, body.number(1));
}

/// `exp(value) - 1`.
static Value buildExpm1(OpBody body, Value value) {
  return body.binary<tv::SubtractOp>(body.unary<tv::ExpOp>(value),
                                     body.number(1));
}

/// `log(1 + exp(value))`.
static Value buildSoftplus(OpBody body, Value value) {
  return body.unary<tv::LogOp>(addOne(body, body.unary<tv::ExpOp>(value)));
}

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

Value nnscaler::clamp(OpBody body, Value value, std::optional<double> least,
                      std::optional<double> most) {
  Value result = value;
  if (least) {
    Value limit = body.number(*least);
    result = body.select(body.compare(tv::ComparisonKind::Less, value, limit),
                         limit, result);
  }
  if (most) {
    Value limit = body.number(*most);
    result = body.select(body.compare(tv::ComparisonKind::Less, limit, value),
                         limit, result);
  }
  return result;
}

/// `clamp(input, min, max)`, of which either may be left out.
static void importClamp(ForwardOp &op, Results &results) {
  Value input = getInput(op);
  auto read = [&](StringRef name) -> std::optional<double> {
    const Argument *bound = op.keyword(name);
    if (!bound || (!bound->isTensor && bound->kind == ConstantKind::None))
      return std::nullopt;
    return op.real(name);
  };
  std::optional<double> least = read("min"), most = read("max");
  if (!least && !most && !op.failedAlready)
    op.error() << "needs keyword 'min' or 'max'";
  if (least && most && *least > *most && !op.failedAlready)
    op.error() << "has a least number that is above the greatest";
  if (!op.failedAlready)
    results.push_back(clamp({op}, input, least, most));
}

/// `clamp_min(input, min)`, or `clamp_max(input, max)`.
template <bool isLeast>
static void importBound(ForwardOp &op, Results &results) {
  Value input = getInput(op);
  double bound = op.real(isLeast ? "min" : "max");
  if (op.failedAlready)
    return;
  if (isLeast)
    results.push_back(clamp({op}, input, bound, std::nullopt));
  else
    results.push_back(clamp({op}, input, std::nullopt, bound));
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// `softplus(input, beta=1, threshold=20)`: `log(1 + exp(beta x)) / beta`, but
/// `x` where `beta x` is above the threshold.
static void importSoftplus(ForwardOp &op, Results &results) {
  Value input = getInput(op);
  double beta = op.real("beta", 1), threshold = op.real("threshold", 20);
  if (beta == 0 && !op.failedAlready)
    op.error() << "keyword 'beta' of 0 is not supported";
  if (op.failedAlready)
    return;
  OpBody body{op};
  Value scaled =
      beta == 1 ? input : body.binary<tv::MultiplyOp>(input, body.number(beta));
  Value result = buildSoftplus(body, scaled);
  if (beta != 1)
    result = body.binary<tv::DivideOp>(result, body.number(beta));
  Value isSmall = body.compare(tv::ComparisonKind::LessEqual, scaled,
                               body.number(threshold));
  results.push_back(body.select(isSmall, result, input));
}

/// What `buildNegative` makes of the elements that are not positive, and the
/// others as they are.
template <typename Build>
static Value selectNegative(OpBody body, Value input, Build buildNegative) {
  Value isNegative =
      body.compare(tv::ComparisonKind::LessEqual, input, body.number(0));
  return body.select(isNegative, buildNegative(input), input);
}

/// `leaky_relu(input, negative_slope=0.01)`.
static void importLeakyRelu(ForwardOp &op, Results &results) {
  Value input = getInput(op);
  double slope = op.real("negative_slope", 0.01);
  if (op.failedAlready)
    return;
  OpBody body{op};
  results.push_back(selectNegative(body, input, [&](Value value) {
    return body.binary<tv::MultiplyOp>(value, body.number(slope));
  }));
}

/// `elu(input, alpha=1)`: `alpha (exp(x) - 1)` where `x` is not positive.
static Value buildElu(OpBody body, Value input, double alpha) {
  return selectNegative(body, input, [&](Value value) {
    return body.binary<tv::MultiplyOp>(buildExpm1(body, value),
                                       body.number(alpha));
  });
}
static void importElu(ForwardOp &op, Results &results) {
  Value input = getInput(op);
  double alpha = op.real("alpha", 1);
  if (!op.failedAlready)
    results.push_back(buildElu({op}, input, alpha));
}

/// `selu(input)`: `elu` of numbers that keep mean and variance, times another.
static void importSelu(ForwardOp &op, Results &results) {
  OpBody body{op};
  if (Value input = getInput(op))
    results.push_back(body.binary<tv::MultiplyOp>(
        buildElu(body, input, 1.6732632423543772848170429916717),
        body.number(1.0507009873554804934193349852946)));
}

/// `mish(input)`: `x tanh(log(1 + exp(x)))`.
static void importMish(ForwardOp &op, Results &results) {
  OpBody body{op};
  if (Value input = getInput(op))
    results.push_back(body.binary<tv::MultiplyOp>(
        input, body.unary<tv::TanhOp>(buildSoftplus(body, input))));
}

/// `softsign(input)`: `x / (1 + |x|)`.
static void importSoftsign(ForwardOp &op, Results &results) {
  OpBody body{op};
  if (Value input = getInput(op))
    results.push_back(body.binary<tv::DivideOp>(
        input, addOne(body, body.unary<tv::AbsOp>(input))));
}

/// `tanhshrink(input)`: `x - tanh(x)`.
static void importTanhshrink(ForwardOp &op, Results &results) {
  OpBody body{op};
  if (Value input = getInput(op))
    results.push_back(
        body.binary<tv::SubtractOp>(input, body.unary<tv::TanhOp>(input)));
}

/// `hardtanh(input, min_val=-1, max_val=1)`, or `relu6(input)`. PyTorch counts
/// its bounds to the pieces that are constant.
template <bool isRelu6>
static void importHardtanh(ForwardOp &op, Results &results) {
  Value input = getInput(op);
  double least = isRelu6 ? 0 : op.real("min_val", -1);
  double most = isRelu6 ? 6 : op.real("max_val", 1);
  if (least >= most && !op.failedAlready)
    op.error() << "has a least number that is not below the greatest";
  if (op.failedAlready)
    return;
  OpBody body{op};
  Value low = body.number(least), high = body.number(most);
  Value result = body.select(
      body.compare(tv::ComparisonKind::LessEqual, input, low), low, input);
  results.push_back(body.select(
      body.compare(tv::ComparisonKind::LessEqual, high, input), high, result));
}

/// `glu(input, dim=-1)`: the first half of a dimension, times the sigmoid of
/// the other.
static void importGlu(ForwardOp &op, Results &results) {
  OpBody body{op};
  Value input = getInput(op);
  int64_t dim = op.integer("dim").value_or(-1);
  if (op.failedAlready)
    return;
  ArrayRef<int64_t> shape = body.shape(input);
  int64_t at = op.dimension(dim, static_cast<int64_t>(shape.size()));
  if (op.failedAlready)
    return;
  if (shape[at] % 2 != 0) {
    op.error() << "halves a dimension of " << shape[at];
    return;
  }
  int64_t half = shape[at] / 2;
  results.push_back(body.binary<tv::MultiplyOp>(
      body.slice(input, at, 0, half),
      body.unary<tv::SigmoidOp>(body.slice(input, at, half, 2 * half))));
}

//===----------------------------------------------------------------------===//
// Elementary functions
//===----------------------------------------------------------------------===//

static void importReciprocal(ForwardOp &op, Results &results) {
  if (Value input = getInput(op))
    results.push_back(OpBody{op}.power(input, -1));
}

static void importLog1p(ForwardOp &op, Results &results) {
  OpBody body{op};
  if (Value input = getInput(op))
    results.push_back(body.unary<tv::LogOp>(addOne(body, input)));
}

static void importExpm1(ForwardOp &op, Results &results) {
  if (Value input = getInput(op))
    results.push_back(buildExpm1({op}, input));
}

/// `logaddexp(input, other)`: `log(exp(input) + exp(other))`.
static void importLogAddExp(ForwardOp &op, Results &results) {
  op.requireNone("out");
  Value input = op.floats("input");
  Value other = op.failedAlready ? Value() : op.floats("other");
  RankedTensorType type = op.resultType(0);
  if (!other || !type)
    return;
  OpBody body{op};
  Value sum = tv::AddOp::create(op.builder, op.location, type,
                                body.unary<tv::ExpOp>(input),
                                body.unary<tv::ExpOp>(other), tv::DomainAttr());
  results.push_back(body.unary<tv::LogOp>(sum));
}

static void importLog2(ForwardOp &op, Results &results) {
  OpBody body{op};
  if (Value input = getInput(op))
    results.push_back(body.binary<tv::DivideOp>(
        body.unary<tv::LogOp>(input), body.unary<tv::LogOp>(body.number(2))));
}

/// `addcmul(input, tensor1, tensor2; value=1)`: `input + value tensor1
/// tensor2`, or, of `addcdiv`, the quotient of these.
template <typename Op>
static void importAdded(ForwardOp &op, Results &results) {
  OpBody body{op};
  Value input = op.floats("input");
  Value one = op.failedAlready ? Value() : op.floats("tensor1");
  Value two = op.failedAlready ? Value() : op.floats("tensor2");
  double factor = op.real("value", 1);
  RankedTensorType type = op.resultType(0);
  if (op.failedAlready || !type)
    return;
  Value term =
      Op::create(op.builder, op.location, type, one, two, tv::DomainAttr());
  if (factor != 1)
    term = body.binary<tv::MultiplyOp>(term, body.number(factor));
  results.push_back(tv::AddOp::create(op.builder, op.location, type, input,
                                      term, tv::DomainAttr()));
}

/// `lerp(input, end, weight)`: `input + weight (end - input)`.
static void importInterpolation(ForwardOp &op, Results &results) {
  Value input = op.floats("input");
  Value end = op.failedAlready ? Value() : op.floats("end");
  const Argument *given = op.positional("weight");
  Value weight;
  if (given && given->isTensor)
    weight = op.failedAlready ? Value() : op.floats("weight");
  else if (!op.failedAlready)
    weight = OpBody{op}.number(op.real("weight"));
  RankedTensorType type = op.resultType(0);
  if (op.failedAlready || !type)
    return;
  Value way = tv::SubtractOp::create(op.builder, op.location, type, end, input,
                                     tv::DomainAttr());
  way = tv::MultiplyOp::create(op.builder, op.location, type, way, weight,
                               tv::DomainAttr());
  results.push_back(tv::AddOp::create(op.builder, op.location, type, input, way,
                                      tv::DomainAttr()));
}

static void importExp2(ForwardOp &op, Results &results) {
  OpBody body{op};
  if (Value input = getInput(op))
    results.push_back(body.unary<tv::ExpOp>(body.binary<tv::MultiplyOp>(
        input, body.unary<tv::LogOp>(body.number(2)))));
}

void nnscaler::addActivations(ForwardRules &rules) {
  rules.insert({
      {"torch.clamp", {.import = importClamp, .parameters = "input min max"}},
      {"torch.clip", {.import = importClamp, .parameters = "input min max"}},
      {"torch.clamp_min",
       {.import = importBound<true>, .parameters = "input min"}},
      {"torch.clamp_max",
       {.import = importBound<false>, .parameters = "input max"}},
      {"torch.nn.functional.softplus",
       {.import = importSoftplus, .parameters = "input beta threshold"}},
      {"torch.nn.functional.leaky_relu",
       {.import = importLeakyRelu,
        .parameters = "input negative_slope inplace"}},
      {"torch.nn.functional.elu",
       {.import = importElu, .parameters = "input alpha inplace"}},
      {"torch._C._nn.elu", {.import = importElu, .parameters = "input alpha"}},
      {"torch.nn.functional.selu",
       {.import = importSelu, .parameters = "input inplace"}},
      {"torch.nn.functional.mish",
       {.import = importMish, .parameters = "input inplace"}},
      {"torch.nn.functional.hardtanh",
       {.import = importHardtanh<false>,
        .parameters = "input min_val max_val inplace"}},
      {"torch.nn.functional.relu6",
       {.import = importHardtanh<true>, .parameters = "input inplace"}},
      {"torch.nn.functional.glu",
       {.import = importGlu, .parameters = "input dim"}},
      {"torch.nn.functional.softsign",
       {.import = importSoftsign, .parameters = "input"}},
      {"torch.nn.functional.tanhshrink",
       {.import = importTanhshrink, .parameters = "input"}},
      {"torch.selu", {.import = importSelu, .parameters = "input"}},
      {"torch.reciprocal", {.import = importReciprocal, .parameters = "input"}},
      {"torch.log1p", {.import = importLog1p, .parameters = "input"}},
      {"torch.expm1", {.import = importExpm1, .parameters = "input"}},
      {"torch.logaddexp",
       {.import = importLogAddExp, .parameters = "input other"}},
      {"torch.log2", {.import = importLog2, .parameters = "input"}},
      {"torch.addcmul",
       {.import = importAdded<tv::MultiplyOp>,
        .parameters = "input tensor1 tensor2"}},
      {"torch.addcdiv",
       {.import = importAdded<tv::DivideOp>,
        .parameters = "input tensor1 tensor2"}},
      {"torch.lerp",
       {.import = importInterpolation, .parameters = "input end weight"}},
      {"torch.exp2", {.import = importExp2, .parameters = "input"}},
  });
}
