//===- ImportRandomOps.cpp - dropout and noise ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a random op draws is an unknown of the op and of the element of the
// whole tensor, so that shards fit together and replicas agree
// (docs/Soundness.md).
//
//===----------------------------------------------------------------------===//

#include "ForwardOp.h"

#include "Verify/IR/Gradients.h"

#include <cmath>

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

Value nnscaler::buildDropout(ForwardOp &op, Value value, double probability,
                             ArrayRef<int64_t> bounds, StringRef name) {
  if (probability < 0 || probability >= 1 || std::isnan(probability)) {
    op.error() << "drops with probability " << probability
               << ", which is not in [0, 1)";
    return {};
  }
  if (probability == 0)
    return value;
  const Argument &output = op.node.outputs.front();
  const SubTensor &tensor = op.plan.get(output);
  auto piece =
      tv::PieceAttr::get(op.plan.context, op.plan.getPiece(tensor).getFull(),
                         /*gradient=*/false, bounds, /*part=*/0, /*parts=*/1);
  Type type = value.getType();
  Value draws =
      tv::RandomOp::create(op.builder, op.location, type, name, piece, value);
  Value kept = tv::MultiplyOp::create(op.builder, op.location, type, value,
                                      draws, tv::DomainAttr());
  // 1 - p exactly: the difference of two doubles need not be a literal.
  Value one = buildScalar(op.builder, op.location, 1);
  Value share = tv::SubtractOp::create(
      op.builder, op.location, one.getType(), one,
      buildScalar(op.builder, op.location, probability), tv::DomainAttr());
  return tv::DivideOp::create(op.builder, op.location, type, kept, share,
                              tv::DomainAttr());
}

void nnscaler::importDropout(ForwardOp &op, Results &results) {
  double probability = op.real("p");
  const Argument *training = op.keyword("training");
  // Plans hold the text of an attribute of the module; they are training runs.
  bool isText = training && !training->isTensor &&
                training->kind == ConstantKind::String &&
                training->getText() == "self.training";
  bool isTraining = isText || op.boolean("training");
  op.requireFalse("inplace");
  RankedTensorType type = op.resultType(0);
  if (!type || !op.requireOperands(1) || op.failedAlready)
    return;
  if (type != op.operands[0].getType()) {
    op.error() << "gives " << type << " for " << op.operands[0].getType();
    return;
  }
  if (!isTraining)
    probability = 0;
  tv::PieceAttr piece = op.plan.getPiece(op.plan.get(op.node.outputs[0]));
  Value result = buildDropout(op, op.operands[0], probability,
                              piece.getBounds(), "dropout");
  if (result && result == op.operands[0])
    result = tv::CopyOp::create(op.builder, op.location, type, result,
                                tv::DomainAttr());
  if (result)
    results.push_back(result);
}

/// `randn_like(input)`: numbers of a normal distribution. What is proved is so
/// for all numbers, and counterexamples are of 0 and 1, which are among them.
void nnscaler::importNormalDraws(ForwardOp &op, Results &results) {
  if (!op.requireOperands(1))
    return;
  RankedTensorType type = getCreatedType(op, op.operandTensor(0).elementType);
  if (!type)
    return;
  if (type.getShape() != op.operandType(0).getShape() ||
      !isa<FloatType>(type.getElementType())) {
    op.error() << "does not make " << type << " like " << op.operandType(0);
    return;
  }
  results.push_back(tv::RandomOp::create(
      op.builder, op.location, type, "randn_like",
      op.plan.getPiece(op.plan.get(op.node.outputs[0])), op.operands[0]));
}
