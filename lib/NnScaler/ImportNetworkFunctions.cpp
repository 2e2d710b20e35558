//===- ImportNetworkFunctions.cpp - neural networks -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `torch.nn.functional`, and what the runtime has in its place.
//
//===----------------------------------------------------------------------===//

#include "OpBody.h"

#include "Verify/IR/Gradients.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

static void importLinear(ForwardOp &op, Results &results) {
  const Argument *bias = op.keyword("bias");
  if (bias && (bias->isTensor || bias->kind != ConstantKind::None)) {
    op.error() << "keyword 'bias' with a value is not supported";
    return;
  }
  if (op.operands.size() != 2 && !op.requireOperands(3))
    return;
  RankedTensorType type = op.resultType(0);
  if (!type)
    return;
  Value result =
      tv::LinearOp::create(op.builder, op.location, type, op.operands[0],
                           op.operands[1], tv::DomainAttr());
  if (op.operands.size() == 3)
    result = tv::AddOp::create(op.builder, op.location, type, result,
                               op.operands[2], tv::DomainAttr());
  results.push_back(result);
}

/// Operand 0 as keyword `dtype` has it, which is what the result is of.
static Value castOperand(ForwardOp &op, Type element) {
  const Argument *type = op.keyword("dtype");
  Value value = op.operands[0];
  if (!type || (!type->isTensor && type->kind == ConstantKind::None))
    return value;
  StringRef declared = op.plan.get(op.node.outputs[0]).elementType;
  if (type->isTensor || type->kind != ConstantKind::ElementType ||
      type->getText() != declared || !isa<FloatType>(element)) {
    op.error() << "keyword 'dtype' is not " << declared
               << ", which the plan declares";
    return value;
  }
  if (isExtended(value.getType()))
    element = tv::ExtendedType::get(op.builder.getContext(), element);
  auto cast = RankedTensorType::get(OpBody::shape(value), element);
  return cast == value.getType()
             ? value
             : tv::CopyOp::create(op.builder, op.location, cast, value,
                                  tv::DomainAttr());
}

/// The softmax of operand 0 along keyword `dim`; null after an error.
static Value buildSoftmax(ForwardOp &op) {
  std::optional<int64_t> dimension = op.integer("dim");
  op.keyword("_stacklevel"); // Position of the caller, for a warning.
  if (!op.requireOperands(1))
    return {};
  if (!dimension) {
    op.error() << "needs keyword 'dim'";
    return {};
  }
  RankedTensorType type = op.resultType(0);
  int64_t at = op.dimension(*dimension, op.operandType(0).getRank());
  if (!type || op.failedAlready)
    return {};
  Value value = castOperand(op, type.getElementType());
  return tv::SoftmaxOp::create(op.builder, op.location, type, value, at,
                               tv::DomainAttr());
}

static void importSoftmax(ForwardOp &op, Results &results) {
  if (Value softmax = buildSoftmax(op))
    results.push_back(softmax);
}

static void importLogSoftmax(ForwardOp &op, Results &results) {
  Value softmax = buildSoftmax(op);
  if (softmax && requireFinite(op, 0))
    results.push_back(OpBody{op}.unary<tv::LogOp>(softmax));
}

static void importLogSigmoid(ForwardOp &op, Results &results) {
  OpBody body{op};
  if (op.requireOperands(1))
    results.push_back(
        body.unary<tv::LogOp>(body.unary<tv::SigmoidOp>(op.operands[0])));
}

/// `1 / sqrt(size)`; a number where that is one of doubles, as a model may say.
static Value buildInverseRoot(ForwardOp &op, int64_t size) {
  for (int64_t root = 1; root <= size / root; root *= 2)
    if (root * root == size)
      return buildScalar(op.builder, op.location,
                         1 / static_cast<double>(root));
  return OpBody{op}.unary<tv::RsqrtOp>(
      buildScalar(op.builder, op.location, static_cast<double>(size)));
}

/// `scaled_dot_product_attention(query, key, value, attn_mask; ...)` with a
/// mask that is added, or a causal one.
static void importAttention(ForwardOp &op, Results &results) {
  if (op.keyword("dropout_p") && op.real("dropout_p") != 0 && !op.failedAlready)
    op.error() << "keyword 'dropout_p' other than 0 is not supported";
  op.requireFalse("enable_gqa");
  op.requireNone("attn_mask");
  bool isCausal = op.keyword("is_causal") && op.boolean("is_causal");
  const Argument *scale = op.keyword("scale");
  bool isScaled =
      scale && (scale->isTensor || scale->kind != ConstantKind::None);
  double factor = isScaled ? op.real("scale") : 0;
  if ((op.operands.size() != 4 && !op.requireOperands(3)) || op.failedAlready)
    return;
  int64_t rank = op.operandType(0).getRank();
  if (rank < 2 || op.operandType(1).getRank() != rank ||
      op.operandType(2).getRank() != rank) {
    op.error() << "needs matrices of one rank, got " << op.operandType(0)
               << ", " << op.operandType(1) << ", " << op.operandType(2);
    return;
  }
  if (isCausal && op.operands.size() == 4) {
    op.error() << "has a mask and is causal, too";
    return;
  }
  OpBody body{op};
  SmallVector<int64_t> transposed = llvm::to_vector(llvm::seq<int64_t>(rank));
  std::swap(transposed[rank - 2], transposed[rank - 1]);
  Value scores =
      body.matmul(op.operands[0], body.transpose(op.operands[1], transposed));
  Value by = isScaled
                 ? buildScalar(op.builder, op.location, factor)
                 : buildInverseRoot(op, op.operandType(0).getDimSize(rank - 1));
  scores = body.binary<tv::MultiplyOp>(scores, by);
  auto type = cast<RankedTensorType>(scores.getType());
  auto extended = RankedTensorType::get(
      type.getShape(),
      tv::ExtendedType::get(op.builder.getContext(), type.getElementType()));
  Value mask = op.operands.size() == 4 ? op.operands[3] : Value();
  if (isCausal)
    // One for all samples and heads.
    mask = tv::CausalMaskOp::create(
        op.builder, op.location,
        RankedTensorType::get(type.getShape().take_back(2),
                              extended.getElementType()),
        tv::DomainAttr());
  if (mask)
    scores = tv::AddOp::create(op.builder, op.location,
                               isExtended(mask.getType()) ? extended : type,
                               scores, mask, tv::DomainAttr());
  Value weights = tv::SoftmaxOp::create(op.builder, op.location, type, scores,
                                        rank - 1, tv::DomainAttr());
  results.push_back(body.matmul(weights, op.operands[2]));
}

/// `gelu(input, approximate)`: exact, or by a hyperbolic tangent, whose factor
/// is the double that PyTorch has for the root of 2 / pi.
static void importGelu(ForwardOp &op, Results &results) {
  const Argument *approximate = op.keyword("approximate");
  bool isText = approximate && !approximate->isTensor &&
                approximate->kind == ConstantKind::String;
  StringRef kind = !approximate ? "none" : isText ? approximate->getText() : "";
  if (kind == "none") {
    importUnary<tv::GeluOp>(op, results);
    return;
  }
  if (kind != "tanh") {
    op.error() << "keyword 'approximate' is neither 'none' nor 'tanh'";
    return;
  }
  RankedTensorType type = op.resultType(0);
  if (!op.requireOperands(1) || !type)
    return;
  OpBody body{op};
  Value x = op.operands[0];
  auto number = [&](double value) {
    return buildScalar(op.builder, op.location, value);
  };
  Value cube = tv::PowerOp::create(op.builder, op.location, type, x, 3, 1,
                                   tv::DomainAttr());
  Value inner = body.binary<tv::AddOp>(
      x, body.binary<tv::MultiplyOp>(cube, number(0.044715)));
  Value tangent = body.unary<tv::TanhOp>(
      body.binary<tv::MultiplyOp>(inner, number(0.7978845608028654)));
  results.push_back(
      body.binary<tv::MultiplyOp>(body.binary<tv::MultiplyOp>(x, number(0.5)),
                                  body.binary<tv::AddOp>(tangent, number(1))));
}

/// Rows that the indices of operand 0 name. Those of one index have no
/// gradient: `x + p * (detach(x) - x)`, where `p` is 1 for them and else 0.
static Value withoutGradient(ForwardOp &op, Value rows, int64_t index) {
  OpBody body{op};
  SmallVector<int64_t> shape(op.operandType(0).getShape());
  shape.push_back(1);
  Value isIndex = tv::OneHotOp::create(
      op.builder, op.location, OpBody::like(rows, shape), op.operands[0],
      /*start=*/index, tv::DomainAttr());
  Value without =
      body.binary<tv::SubtractOp>(body.unary<tv::DetachOp>(rows), rows);
  return body.binary<tv::AddOp>(rows,
                                body.binary<tv::MultiplyOp>(without, isIndex));
}

static void importEmbedding(ForwardOp &op, Results &results) {
  // The function that is called has no defaults.
  for (StringRef name : {"padding_idx", "start", "stop"})
    if (!op.keyword(name)) {
      op.error() << "needs keyword '" << name << "'";
      return;
    }
  // Of a row that this part of the table does not have it says nothing.
  std::optional<int64_t> padding = op.integer("padding_idx");
  std::optional<int64_t> start = op.integer("start"), stop = op.integer("stop");
  if (op.failedAlready)
    return;
  if (!start || !stop) {
    op.error() << "keywords 'start' and 'stop' are not both numbers";
    return;
  }
  if (!op.requireOperands(2))
    return;
  RankedTensorType table = op.operandType(1);
  int64_t size;
  if (table.getRank() != 2 || llvm::SubOverflow(*stop, *start, size) ||
      size != table.getDimSize(0)) {
    op.error() << "range " << *start << ":" << *stop
               << " does not have the size of the table " << table;
    return;
  }
  RankedTensorType type = op.resultType(0);
  if (!type)
    return;
  Value rows =
      tv::EmbeddingOp::create(op.builder, op.location, type, op.operands[0],
                              op.operands[1], *start, tv::DomainAttr());
  if (padding && *padding >= *start && *padding < *stop)
    rows = withoutGradient(op, rows, *padding);
  results.push_back(rows);
}

void nnscaler::addNetworkFunctions(ForwardRules &rules) {
  rules.insert({
      {"torch.nn.functional.linear", {importLinear}},
      {"torch.nn.functional.softmax", {importSoftmax}},
      {"torch.softmax", {importSoftmax}},
      {"torch.nn.functional.dropout", {importDropout}},
      {"torch.randn_like",
       {.import = importNormalDraws, .ignoresValues = true}},
      {"torch.nn.functional.gelu", {importGelu}},
      {"torch.nn.functional.silu", {importUnary<tv::SiluOp>}},
      {"torch.nn.functional.relu", {importUnary<tv::ReluOp>}},
      {"torch.relu", {importUnary<tv::ReluOp>}},
      {"torch.nn.functional.sigmoid", {importUnary<tv::SigmoidOp>}},
      {"torch._C._nn.log_sigmoid", {importLogSigmoid}},
      {"torch.nn.functional.log_softmax", {importLogSoftmax}},
      {"torch.nn.functional.scaled_dot_product_attention", {importAttention}},
      {"nnscaler.runtime.function.embedding", {importEmbedding}},
  });
}
