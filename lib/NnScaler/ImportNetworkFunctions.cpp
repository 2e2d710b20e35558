//===- ImportNetworkFunctions.cpp - neural networks -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `torch.nn.functional`, and what the runtime has in its place.
//
//===----------------------------------------------------------------------===//

#include "ForwardOp.h"

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

static void importSoftmax(ForwardOp &op, Results &results) {
  std::optional<int64_t> dimension = op.integer("dim");
  op.keyword("_stacklevel"); // Position of the caller, for a warning.
  op.requireNone("dtype");
  if (!op.requireOperands(1))
    return;
  if (!dimension) {
    op.error() << "needs keyword 'dim'";
    return;
  }
  RankedTensorType type = op.resultType(0);
  int64_t at = op.dimension(*dimension, op.operandType(0).getRank());
  if (type && !op.failedAlready)
    results.push_back(tv::SoftmaxOp::create(
        op.builder, op.location, type, op.operands[0], at, tv::DomainAttr()));
}

static void importGelu(ForwardOp &op, Results &results) {
  if (const Argument *approximate = op.keyword("approximate"))
    if (approximate->isTensor || approximate->kind != ConstantKind::String ||
        approximate->getText() != "none")
      op.error() << "keyword 'approximate' other than 'none' is not supported";
  importUnary<tv::GeluOp>(op, results);
}

static void importLayerNorm(ForwardOp &op, Results &results) {
  const Argument *shape = op.keyword("normalized_shape");
  double epsilon = op.real("eps");
  RankedTensorType type = op.resultType(0);
  if (!op.requireOperands(3) || !type || op.failedAlready)
    return;
  ArrayRef<int64_t> normalized = op.operandType(1).getShape();
  bool fits = shape && shape->isSequence() &&
              shape->getElements().size() == normalized.size();
  if (fits)
    for (auto [argument, size] : llvm::zip(shape->getElements(), normalized))
      fits &= !argument.isTensor && argument.kind == ConstantKind::Integer &&
              argument.getInteger() == size;
  if (!fits) {
    op.error() << "keyword 'normalized_shape' is not the shape of the weight";
    return;
  }
  results.push_back(tv::LayerNormOp::create(
      op.builder, op.location, type, op.operands[0], op.operands[1],
      op.operands[2], llvm::APFloat(epsilon), tv::DomainAttr()));
}

static void importEmbedding(ForwardOp &op, Results &results) {
  // The function that is called has no defaults.
  for (StringRef name : {"padding_idx", "start", "stop"})
    if (!op.keyword(name)) {
      op.error() << "needs keyword '" << name << "'";
      return;
    }
  op.requireNone("padding_idx");
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
  if (RankedTensorType type = op.resultType(0))
    results.push_back(tv::EmbeddingOp::create(op.builder, op.location, type,
                                              op.operands[0], op.operands[1],
                                              *start, tv::DomainAttr()));
}

void nnscaler::addNetworkFunctions(ForwardRules &rules) {
  rules.insert({
      {"torch.nn.functional.linear", {importLinear}},
      {"torch.nn.functional.softmax", {importSoftmax}},
      {"torch.nn.functional.dropout", {importDropout}},
      {"torch.nn.functional.gelu", {importGelu}},
      {"torch.nn.functional.silu", {importUnary<tv::SiluOp>}},
      {"nnscaler.runtime.function.layer_norm", {importLayerNorm}},
      {"nnscaler.runtime.function.embedding", {importEmbedding}},
  });
}
