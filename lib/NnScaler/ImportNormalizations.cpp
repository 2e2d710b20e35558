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
  auto all = [&](double value) -> Value {
    auto parameter = OpBody::like(op.operands[0], normalized);
    return tv::ConstantOp::create(
        op.builder, op.location, parameter,
        DenseElementsAttr::get(
            parameter,
            op.builder.getFloatAttr(parameter.getElementType(), value)),
        tv::DomainAttr());
  };
  results.push_back(
      tv::LayerNormOp::create(op.builder, op.location, type, op.operands[0],
                              hasWeight ? op.operands[1] : all(1),
                              op.operands.size() > 2 ? op.operands[2] : all(0),
                              llvm::APFloat(epsilon), tv::DomainAttr()));
}

void nnscaler::addNormalizations(ForwardRules &rules) {
  rules.insert({
      {"nnscaler.runtime.function.layer_norm", {importLayerNorm}},
  });
}
