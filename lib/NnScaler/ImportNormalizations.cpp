//===- ImportNormalizations.cpp - normalizations --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that bring elements to one size.
//
//===----------------------------------------------------------------------===//

#include "OpBody.h"

#include "Verify/IR/Gradients.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

/// A tensor that is `value` everywhere.
static Value buildFilled(ForwardOp &op, RankedTensorType type, double value) {
  return tv::ConstantOp::create(
      op.builder, op.location, type,
      DenseElementsAttr::get(
          type, op.builder.getFloatAttr(type.getElementType(), value)),
      tv::DomainAttr());
}

/// `layer_norm(input, weight, bias; normalized_shape, eps)`.
static void importLayerNorm(ForwardOp &op, Results &results) {
  const Argument *shape = op.keyword("normalized_shape");
  double epsilon = op.real("eps");
  // What is None is a keyword then; without a weight there is no bias either.
  op.requireNone("weight");
  op.requireNone("bias");
  if (op.keyword("weight") && !op.requireOperands(1))
    return;
  RankedTensorType type = op.resultType(0);
  if (op.operands.empty() || op.operands.size() > 3)
    op.requireOperands(3);
  if (!type || op.failedAlready)
    return;
  bool hasWeight = op.operands.size() > 1;
  ArrayRef<int64_t> whole = op.operandType(0).getShape();
  ArrayRef<int64_t> normalized =
      hasWeight
          ? op.operandType(1).getShape()
          : whole.take_back(std::min(
                whole.size(), shape ? shape->getElements().size() : size_t(0)));
  bool fits = shape && shape->isSequence() && !normalized.empty() &&
              shape->getElements().size() == normalized.size();
  if (fits)
    for (auto [argument, size] : llvm::zip(shape->getElements(), normalized))
      fits &= !argument.isTensor && argument.kind == ConstantKind::Integer &&
              argument.getInteger() == size;
  if (!fits) {
    op.error() << "keyword 'normalized_shape' is not the shape of the weight";
    return;
  }
  if (!isa<FloatType>(op.operandType(0).getElementType())) {
    op.error() << "is not supported on elements of "
               << op.operandType(0).getElementType();
    return;
  }
  auto all = [&](double value) {
    return buildFilled(op, OpBody::like(op.operands[0], normalized), value);
  };
  results.push_back(
      tv::LayerNormOp::create(op.builder, op.location, type, op.operands[0],
                              hasWeight ? op.operands[1] : all(1),
                              op.operands.size() > 2 ? op.operands[2] : all(0),
                              llvm::APFloat(epsilon), tv::DomainAttr()));
}

/// The epsilon of `rms_norm` where none is given: of the type of the operand.
static double getEpsilon(ForwardOp &op) {
  const Argument *given = op.keyword("eps");
  if (given && (given->isTensor || given->kind != ConstantKind::None))
    return op.real("eps");
  if (op.operandTensor(0).elementType != "float32")
    op.error() << "needs keyword 'eps': what it is without depends on the "
                  "version of PyTorch, but for float32";
  return 0x1p-23;
}

/// `rms_norm(input, normalized_shape, weight, eps)`: the last dimensions,
/// divided by the root of the mean of their squares.
static void importRmsNorm(ForwardOp &op, Results &results) {
  Value input = op.floats("input");
  auto normalized = op.integers("normalized_shape");
  Value weight = op.failedAlready ? Value() : op.tensor("weight");
  double epsilon = op.failedAlready ? 0 : getEpsilon(op);
  if (op.failedAlready)
    return;
  OpBody body{op};
  SmallVector<int64_t> shape(body.shape(input));
  size_t count = normalized->size();
  if (count > shape.size() ||
      ArrayRef(shape).take_back(count) != ArrayRef(*normalized)) {
    op.error() << "keyword 'normalized_shape' is not that of the last "
                  "dimensions of "
               << input.getType();
    return;
  }
  if (weight && !requireShape(op, 1, *normalized))
    return;
  // Combined dimensions stay, with size 1.
  SmallVector<int64_t> kept(shape), dimensions;
  for (size_t i = shape.size() - count; i < shape.size(); ++i) {
    kept[i] = 1;
    dimensions.push_back(i);
  }
  Value mean = tv::ReduceOp::create(
      op.builder, op.location, OpBody::like(input, kept),
      tv::ReductionKind::Average, body.power(input, 2), dimensions,
      /*keep_dimensions=*/true, tv::DomainAttr());
  Value scale = body.unary<tv::RsqrtOp>(
      body.binary<tv::AddOp>(mean, body.number(epsilon)));
  Value result = body.binary<tv::MultiplyOp>(input, scale);
  results.push_back(weight ? body.binary<tv::MultiplyOp>(result, weight)
                           : result);
}

/// `group_norm(input, num_groups, weight, bias, eps=1e-5)`: groups of channels,
/// which dimension 1 has, of mean 0 and variance 1.
static void importGroupNorm(ForwardOp &op, Results &results) {
  Value input = op.floats("input");
  int64_t groups = op.failedAlready ? 1 : op.count("num_groups");
  Value weight = op.failedAlready ? Value() : op.tensor("weight");
  Value bias = op.failedAlready ? Value() : op.tensor("bias");
  double epsilon = op.real("eps", 1e-5);
  if (op.failedAlready)
    return;
  OpBody body{op};
  SmallVector<int64_t> shape(body.shape(input));
  if (shape.size() < 2 || shape[1] % groups != 0) {
    op.error() << "makes " << groups << " groups of the channels of "
               << input.getType();
    return;
  }
  for (unsigned i = 1; i < op.operands.size(); ++i)
    if (!requireShape(op, i, {shape[1]}))
      return;
  int64_t size = llvm::product_of(ArrayRef(shape).drop_front()) / groups;
  auto all = [&](double value) {
    return buildFilled(op, OpBody::like(input, {size}), value);
  };
  Value rows = body.reshape(input, {shape[0], groups, size});
  Value result =
      body.reshape(tv::LayerNormOp::create(
                       op.builder, op.location, rows.getType(), rows, all(1),
                       all(0), llvm::APFloat(epsilon), tv::DomainAttr()),
                   shape);
  // One number for each channel.
  SmallVector<int64_t> channels(shape.size() - 1, 1);
  channels[0] = shape[1];
  if (weight)
    result =
        body.binary<tv::MultiplyOp>(result, body.reshape(weight, channels));
  if (bias)
    result = body.binary<tv::AddOp>(result, body.reshape(bias, channels));
  results.push_back(result);
}

void nnscaler::addNormalizations(ForwardRules &rules) {
  rules.insert({
      {"nnscaler.runtime.function.layer_norm", {importLayerNorm}},
      {"torch.nn.functional.rms_norm",
       {.import = importRmsNorm,
        .parameters = "input normalized_shape weight eps"}},
      {"torch.nn.functional.group_norm",
       {.import = importGroupNorm,
        .parameters = "input num_groups weight bias eps"}},
  });
}
