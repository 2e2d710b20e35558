//===- ImportModelFunctions.cpp - functions of the models -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that the authors of the models wrote and registered as one op. They
// are known by name: that the code behind a name computes what is built here is
// an assumption (docs/Soundness.md).
//
//===----------------------------------------------------------------------===//

#include "OpBody.h"

#include "Verify/IR/Gradients.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

static void importCausalMask(ForwardOp &op, Results &results) {
  RankedTensorType type = op.resultType(0);
  if (!type || !op.requireOperands(2))
    return;
  int64_t rank = type.getRank();
  if (rank < 2 || type.getDimSize(rank - 1) != type.getDimSize(rank - 2)) {
    op.error() << "gives " << type << ", which is not square";
    return;
  }
  results.push_back(tv::CausalMaskOp::create(op.builder, op.location, type,
                                             tv::DomainAttr()));
}

static void importRotary(ForwardOp &op, Results &results) {
  if (!op.requireOperands(3))
    return;
  for (unsigned i = 0; i < 2; ++i)
    if (RankedTensorType type = op.resultType(i))
      results.push_back(tv::ComplexProductOp::create(
          op.builder, op.location, type, op.operands[i], op.operands[2],
          /*position_dimension=*/1, tv::DomainAttr()));
}

static void importApplyMask(ForwardOp &op, Results &results) {
  RankedTensorType type = op.resultType(0);
  if (type && op.requireOperands(2))
    results.push_back(tv::AddOp::create(op.builder, op.location, type,
                                        op.operands[0], op.operands[1],
                                        tv::DomainAttr()));
}

bool nnscaler::requireShape(ForwardOp &op, unsigned number,
                            ArrayRef<int64_t> shape) {
  if (op.operandType(number).getShape() == shape)
    return true;
  InFlightDiagnostic error = op.error();
  error << "operand " << number << " is " << op.operandType(number)
        << ", expected shape [";
  llvm::interleaveComma(shape, error);
  error << "]";
  return false;
}

/// Start, end and extent of dimension `dimension` of a tensor operand.
static std::array<int64_t, 3> boundsOf(ForwardOp &op, unsigned operand,
                                       int64_t dimension) {
  ArrayRef<int64_t> all =
      op.plan.getPiece(op.operandTensor(operand)).getBounds();
  return {all[3 * dimension], all[3 * dimension + 1], all[3 * dimension + 2]};
}

/// The draws of attention are those of the batch's and the heads' part of the
/// whole, heads of `size` rows. None after an error.
static std::optional<SmallVector<int64_t>> listDrawBounds(ForwardOp &op,
                                                          int64_t size) {
  SmallVector<int64_t> bounds;
  llvm::append_range(bounds, boundsOf(op, 0, 1));
  for (int64_t bound : boundsOf(op, 1, 0)) {
    if (bound % (3 * size) != 0) {
      op.error() << "holds part of a head";
      return std::nullopt;
    }
    bounds.push_back(bound / (3 * size));
  }
  for (int64_t i = 0; i < 2; ++i)
    llvm::append_range(bounds, boundsOf(op, 0, 0));
  return bounds;
}

/// `self_attention(x, qkv, qkv_bias, out; mask, h, scale, dropout_p)`:
/// attention over the first dimension of `x`, with the rows of `qkv` laid out
/// as (heads, head size, 3).
static void importSelfAttention(ForwardOp &op, Results &results) {
  std::optional<int64_t> heads = op.integer("h");
  double scale = op.real("scale"), probability = op.real("dropout_p");
  op.requireFalse("mask");
  RankedTensorType type = op.resultType(0);
  if (!op.requireOperands(4) || !type || op.failedAlready)
    return;
  if (op.operandType(0).getRank() != 3 || op.operandType(1).getRank() != 2) {
    op.error() << "needs an operand of rank 3 and weights of rank 2";
    return;
  }
  Value x = op.operands[0];
  int64_t length = op.operandType(0).getDimSize(0);
  int64_t batch = op.operandType(0).getDimSize(1);
  int64_t rows = op.operandType(1).getDimSize(0);
  if (!heads || *heads < 1 || rows % 3 != 0 || rows / 3 % *heads != 0) {
    op.error() << "has " << rows << " rows of projections for "
               << heads.value_or(0) << " heads";
    return;
  }
  int64_t size = rows / 3 / *heads;
  if (!requireShape(op, 1, {rows, op.operandType(0).getDimSize(2)}) ||
      !requireShape(op, 2, {rows}) ||
      !requireShape(op, 3, {op.operandType(3).getDimSize(0), rows / 3}))
    return;
  OpBody body{op};
  Value projected =
      body.binary<tv::AddOp>(body.linear(x, op.operands[1]), op.operands[2]);
  Value split = body.reshape(projected, {length, batch, *heads, size, 3});
  auto part = [&](int64_t number, ArrayRef<int64_t> permutation) {
    Value slice = body.slice(split, 4, number, number + 1);
    return body.transpose(body.reshape(slice, {length, batch, *heads, size}),
                          permutation);
  };
  Value query = body.binary<tv::MultiplyOp>(
      part(0, {1, 2, 0, 3}), buildScalar(op.builder, op.location, scale));
  Value scores = body.matmul(query, part(1, {1, 2, 3, 0}));
  Value weights = tv::SoftmaxOp::create(
      op.builder, op.location, scores.getType(), scores, 3, tv::DomainAttr());
  auto bounds = listDrawBounds(op, size);
  if (!bounds)
    return;
  weights =
      buildDropout(op, weights, probability, *bounds, "attention dropout");
  if (!weights)
    return;
  Value mixed =
      body.transpose(body.matmul(weights, part(2, {1, 2, 0, 3})), {2, 0, 1, 3});
  results.push_back(body.linear(body.reshape(mixed, {length, batch, rows / 3}),
                                op.operands[3]));
}

/// `feedforward(x, w1, b1, w2; dropout, is_training)`: linear, gelu, dropout,
/// linear.
static void importFeedForward(ForwardOp &op, Results &results) {
  double probability = op.real("dropout");
  if (!op.boolean("is_training"))
    probability = 0;
  RankedTensorType type = op.resultType(0);
  if (!op.requireOperands(4) || !type || op.failedAlready)
    return;
  RankedTensorType x = op.operandType(0);
  int64_t rank = x.getRank();
  if (rank < 1 || op.operandType(1).getRank() != 2 ||
      op.operandType(3).getRank() != 2) {
    op.error() << "needs weights of rank 2";
    return;
  }
  int64_t hidden = op.operandType(1).getDimSize(0);
  if (!requireShape(op, 1, {hidden, x.getDimSize(rank - 1)}) ||
      !requireShape(op, 2, {hidden}) ||
      !requireShape(op, 3, {op.operandType(3).getDimSize(0), hidden}))
    return;
  OpBody body{op};
  Value inner = body.binary<tv::AddOp>(
      body.linear(op.operands[0], op.operands[1]), op.operands[2]);
  inner = tv::GeluOp::create(op.builder, op.location, inner.getType(), inner,
                             tv::DomainAttr());
  SmallVector<int64_t> bounds;
  for (int64_t i = 0; i + 1 < rank; ++i)
    llvm::append_range(bounds, boundsOf(op, 0, i));
  llvm::append_range(bounds, boundsOf(op, 1, 0));
  inner = buildDropout(op, inner, probability, bounds, "hidden dropout");
  if (inner)
    results.push_back(body.linear(inner, op.operands[3]));
}

ForwardRule nnscaler::findModelFunction(StringRef name) {
  static const llvm::StringMap<ForwardRule> table = {
      {"create_mask",
       {.import = importCausalMask,
        .minusInfinity = MinusInfinity::Made,
        .ignoresValues = true}},
      {"apply_mask", {importApplyMask, MinusInfinity::Kept}},
      {"apply_rotary_emb", {.import = importRotary, .takesComplex = true}},
      {"self_attention", {importSelfAttention}},
      {"feedforward", {importFeedForward}},
      {"gate_fw", {importGate}},
      {"nnscaler_moe_gmm", {importGroupedExperts}},
  };
  return table.lookup(name);
}
