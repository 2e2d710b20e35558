//===- ImportExperts.cpp - mixture of experts -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Routing with group-limited selection (https://arxiv.org/abs/2412.19437,
// section 2.1.2) and experts as one grouped matrix product. Nothing is hidden
// in a function of its own: selections are ranks, experts are sums.
//
//===----------------------------------------------------------------------===//

#include "OpBody.h"

#include "Verify/IR/Gradients.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

namespace {
/// What `gate_fw` is asked for.
struct GateArguments {
  bool isSigmoid = false;
  int64_t groups = 1, chosenGroups = 1, count = 1;
  double scale = 1;
  Value bias; ///< for selection alone; may be absent
};

struct GateBody : OpBody {
  /// The first `count` of each row in descending order: `[..., i, j]` is 1 if
  /// element `i` is the one of rank `j`.
  Value select(Value scores, int64_t count, Value eligible = {}) {
    auto ranks =
        RankedTensorType::get(shape(scores), op.builder.getIntegerType(64));
    SmallVector<int64_t> result(shape(scores));
    result.push_back(count);
    Value rank = tv::DescendingRankOp::create(
        op.builder, op.location, ranks, scores, eligible, tv::DomainAttr());
    return tv::OneHotOp::create(op.builder, op.location, like(scores, result),
                                rank, 0, tv::DomainAttr());
  }

  /// 1 for the experts of the chosen groups, else 0.
  Value chooseGroups(Value choice, const GateArguments &gate) {
    int64_t tokens = shape(choice)[0], experts = shape(choice)[1];
    int64_t members = experts / gate.groups;
    Value grouped = reshape(choice, {tokens, gate.groups, members});
    // A group is worth its best expert or, with a bias, the sum of its two
    // best.
    Value worth = gate.bias ? einsum({grouped, select(grouped, 2)},
                                     "agp,agpj->ag", {tokens, gate.groups})
                            : reduceLast(tv::ReductionKind::Maximum, grouped);
    Value isChosen =
        reduceLast(tv::ReductionKind::Sum, select(worth, gate.chosenGroups));
    return reshape(broadcast(isChosen, {tokens, gate.groups, members}, {0, 1}),
                   {tokens, experts});
  }
};
} // namespace

/// Reads the keywords of `gate_fw`; failure after an error.
static FailureOr<GateArguments> readGate(ForwardOp &op) {
  GateArguments gate;
  const Argument *function = op.keyword("score_func");
  if (function && !function->isTensor &&
      function->kind == ConstantKind::String &&
      function->getText() == "sigmoid")
    gate.isSigmoid = true;
  else if (!function || function->isTensor ||
           function->kind != ConstantKind::String ||
           function->getText() != "softmax")
    op.error() << "keyword 'score_func' is neither 'softmax' nor 'sigmoid'";
  gate.groups = op.count("n_groups");
  gate.chosenGroups = op.count("topk_groups");
  gate.count = op.count("topk");
  gate.scale = op.real("route_scale");
  if (op.operands.size() == 3)
    gate.bias = op.operands[2];
  else if (op.keyword("bias"))
    op.requireNone("bias");
  else
    op.error() << "needs keyword 'bias'";
  if (op.operands.size() != 2 && !op.requireOperands(3))
    return failure();
  if (op.failedAlready)
    return failure();
  if (op.operandType(0).getRank() != 2 || op.operandType(1).getRank() != 2) {
    op.error() << "needs tokens and weights of rank 2";
    return failure();
  }
  int64_t experts = op.operandType(1).getDimSize(0);
  if (!requireShape(op, 1, {experts, op.operandType(0).getDimSize(1)}) ||
      (gate.bias && !requireShape(op, 2, {experts})))
    return failure();
  int64_t members = experts / gate.groups;
  if (experts % gate.groups != 0 || gate.chosenGroups > gate.groups ||
      gate.count > members * gate.chosenGroups ||
      (gate.bias && gate.groups > 1 && members < 2)) {
    op.error() << "selects " << gate.count << " of " << experts
               << " experts in " << gate.chosenGroups << " of " << gate.groups
               << " groups";
    return failure();
  }
  return gate;
}

/// `gate_fw(x, weight; score_func, bias, n_groups, topk_groups, topk,
/// route_scale)`: weights and numbers of the experts of each token.
void nnscaler::importGate(ForwardOp &op, Results &results) {
  FailureOr<GateArguments> gate = readGate(op);
  RankedTensorType type = op.resultType(0), indexType = op.resultType(1);
  if (failed(gate) || !type || !indexType)
    return;
  GateBody body{{op}};
  Value scores = body.linear(op.operands[0], op.operands[1]);
  scores = gate->isSigmoid
               ? body.unary<tv::SigmoidOp>(scores)
               : Value(tv::SoftmaxOp::create(op.builder, op.location,
                                             scores.getType(), scores, 1,
                                             tv::DomainAttr()));
  Value choice =
      gate->bias ? body.binary<tv::AddOp>(scores, gate->bias) : scores;
  // Where all groups are chosen, there need be none.
  Value eligible = gate->chosenGroups < gate->groups
                       ? body.chooseGroups(choice, *gate)
                       : Value();
  Value selected = body.select(choice, gate->count, eligible);
  ArrayRef<int64_t> shape = OpBody::shape(selected);
  if (eligible)
    selected = body.binary<tv::MultiplyOp>(
        selected, body.broadcast(eligible, shape, {0, 1}));
  // The bias decides who is selected, not what it weighs.
  Value weights =
      body.einsum({scores, selected}, "ae,aej->aj", {shape[0], gate->count});
  if (gate->isSigmoid)
    weights = body.binary<tv::DivideOp>(
        weights,
        body.reduceLast(tv::ReductionKind::Sum, weights, /*keep=*/true));
  results.push_back(body.binary<tv::MultiplyOp>(
      weights, buildScalar(op.builder, op.location, gate->scale)));
  results.push_back(tv::OneHotIndexOp::create(
      op.builder, op.location, indexType, body.transpose(selected, {0, 2, 1}),
      tv::DomainAttr()));
}

/// `nnscaler_moe_gmm(x, topk_idx, topk_weight, gate, up, down;
/// n_routed_experts, local_expert_start, local_expert_end)`: for each token the
/// sum, over its experts that are held here, of weight times
/// `down(silu(gate x) * up x)`.
void nnscaler::importGroupedExperts(ForwardOp &op, Results &results) {
  int64_t experts = op.count("n_routed_experts");
  std::optional<int64_t> start = op.integer("local_expert_start"),
                         end = op.integer("local_expert_end");
  RankedTensorType type = op.resultType(0);
  if (!op.requireOperands(6) || !type || op.failedAlready)
    return;
  if (op.operandType(0).getRank() != 2 || op.operandType(1).getRank() != 2 ||
      op.operandType(3).getRank() != 3) {
    op.error() << "needs tokens and numbers of rank 2 and experts of rank 3";
    return;
  }
  int64_t tokens = op.operandType(0).getDimSize(0),
          hidden = op.operandType(0).getDimSize(1),
          count = op.operandType(1).getDimSize(1),
          held = op.operandType(3).getDimSize(0),
          inner = op.operandType(3).getDimSize(1);
  if (!start || !end || *start < 0 || *start > *end || *end > experts ||
      *end - *start != held) {
    op.error() << "holds " << held << " of " << experts
               << " experts where the keywords say " << start.value_or(-1)
               << ":" << end.value_or(-1);
    return;
  }
  if (!requireShape(op, 1, {tokens, count}) ||
      !requireShape(op, 2, {tokens, count}) ||
      !requireShape(op, 3, {held, inner, hidden}) ||
      !requireShape(op, 4, {held, inner, hidden}) ||
      !requireShape(op, 5, {held, hidden, inner}))
    return;
  OpBody body{op};
  Value x = op.operands[0];
  Value selected = tv::OneHotOp::create(
      op.builder, op.location, body.like(x, {tokens, count, held}),
      op.operands[1], *start, tv::DomainAttr());
  Value weights =
      body.einsum({op.operands[2], selected}, "ak,ake->ae", {tokens, held});
  auto project = [&](Value weight) {
    return body.einsum({x, weight}, "ah,edh->aed", {tokens, held, inner});
  };
  Value activated = body.binary<tv::MultiplyOp>(
      body.unary<tv::SiluOp>(project(op.operands[3])), project(op.operands[4]));
  results.push_back(body.einsum({weights, activated, op.operands[5]},
                                "ae,aed,ehd->ah", {tokens, hidden}));
}
