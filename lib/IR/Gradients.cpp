//===- Gradients.cpp - building vector-Jacobian products ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/Gradients.h"

#include "Verify/IR/DenseValues.h"
#include "Verify/IR/TVOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace verify;

Value verify::buildScalar(OpBuilder &builder, Location location, double value) {
  auto type = RankedTensorType::get({}, builder.getF64Type());
  return tv::ConstantOp::create(builder, location, type,
                                DenseElementsAttr::get(type, value),
                                tv::DomainAttr());
}

Value verify::sumToShape(OpBuilder &builder, Location location, Value gradient,
                         RankedTensorType type) {
  auto source = cast<RankedTensorType>(gradient.getType());
  if (source.getShape() == type.getShape())
    return gradient;
  int64_t offset = source.getRank() - type.getRank();
  SmallVector<int64_t> repeated;
  SmallVector<int64_t> kept;
  for (int64_t i = 0; i < source.getRank(); ++i) {
    bool isRepeated = i < offset || (type.getDimSize(i - offset) == 1 &&
                                     source.getDimSize(i) != 1);
    if (isRepeated)
      repeated.push_back(i);
    else
      kept.push_back(source.getDimSize(i));
  }
  Value sum = gradient;
  if (!repeated.empty())
    sum = tv::ReduceOp::create(
        builder, location, RankedTensorType::get(kept, type.getElementType()),
        tv::ReductionKind::Sum, gradient, repeated, /*keep=*/false,
        tv::DomainAttr());
  if (cast<RankedTensorType>(sum.getType()).getShape() != type.getShape())
    sum = tv::ReshapeOp::create(builder, location, type, sum, tv::DomainAttr());
  return sum;
}

FailureOr<SmallVector<Value>>
verify::buildReverse(OpBuilder &builder, Location location,
                     ArrayRef<Operation *> ops, ValueRange inputs,
                     ValueRange outputs, ArrayRef<Value> outputGradients) {
  // Only values that depend on an input carry a gradient.
  DenseValueSet active(inputs.begin(), inputs.end());
  for (Operation *op : ops)
    if (llvm::any_of(op->getOperands(),
                     [&](Value value) { return active.contains(value); }))
      active.insert(op->result_begin(), op->result_end());

  DenseValueMap<Value> gradients;
  auto accumulate = [&](Value value, Value gradient) {
    Value &slot = gradients[value];
    slot = slot ? Value(tv::AddOp::create(builder, location, gradient.getType(),
                                          slot, gradient, tv::DomainAttr()))
                : gradient;
  };
  for (auto [output, gradient] : llvm::zip_equal(outputs, outputGradients))
    if (gradient)
      accumulate(output, gradient);

  for (Operation *op : llvm::reverse(ops)) {
    Value gradient = gradients.lookup(op->getResult(0));
    if (!gradient || !active.contains(op->getResult(0)))
      continue;
    auto differentiable = dyn_cast<tv::DifferentiableOpInterface>(op);
    if (!differentiable)
      return emitError(location)
             << "'" << op->getName() << "' has no derivative";
    SmallVector<Value> operandGradients;
    if (failed(
            differentiable.buildGradients(builder, gradient, operandGradients)))
      return failure();
    for (auto [operand, operandGradient] :
         llvm::zip_equal(op->getOperands(), operandGradients))
      if (operandGradient && active.contains(operand))
        accumulate(operand, operandGradient);
  }
  return llvm::map_to_vector(
      inputs, [&](Value input) { return gradients.lookup(input); });
}
