//===- OpBody.h - building the body of a model's function -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_NNSCALER_OPBODY_H
#define VERIFY_LIB_NNSCALER_OPBODY_H

#include "ForwardOp.h"

#include "Verify/IR/Gradients.h"

namespace verify::nnscaler {

/// Builds ops of an op's body, their types from their operands.
struct OpBody {
  ForwardOp &op;

  static llvm::ArrayRef<int64_t> shape(mlir::Value value) {
    return mlir::cast<mlir::RankedTensorType>(value.getType()).getShape();
  }
  static mlir::RankedTensorType like(mlir::Value value,
                                     llvm::ArrayRef<int64_t> shape) {
    auto type = mlir::cast<mlir::RankedTensorType>(value.getType());
    return mlir::RankedTensorType::get(shape, type.getElementType());
  }
  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape) {
    return tv::ReshapeOp::create(op.builder, op.location, like(value, shape),
                                 value, tv::DomainAttr());
  }
  mlir::Value transpose(mlir::Value value,
                        llvm::ArrayRef<int64_t> permutation) {
    llvm::SmallVector<int64_t> result;
    for (int64_t dimension : permutation)
      result.push_back(shape(value)[dimension]);
    return tv::TransposeOp::create(op.builder, op.location, like(value, result),
                                   value, permutation, tv::DomainAttr());
  }
  /// Repeats `value`, whose dimensions are `dimensions` of the result.
  mlir::Value broadcast(mlir::Value value, llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<int64_t> dimensions) {
    return tv::BroadcastOp::create(op.builder, op.location, like(value, shape),
                                   value, dimensions, tv::DomainAttr());
  }
  /// Elements `start` to `end`, exclusive, along a dimension.
  mlir::Value slice(mlir::Value value, int64_t dimension, int64_t start,
                    int64_t end) {
    llvm::SmallVector<int64_t> result(shape(value));
    result[dimension] = end - start;
    return tv::SliceOp::create(op.builder, op.location, like(value, result),
                               value, dimension, start, end, tv::DomainAttr());
  }
  /// Zeros before and after, along a dimension.
  mlir::Value pad(mlir::Value value, int64_t dimension, int64_t low,
                  int64_t high) {
    llvm::SmallVector<int64_t> result(shape(value));
    result[dimension] += low + high;
    return tv::PadOp::create(op.builder, op.location, like(value, result),
                             value, dimension, low, high, tv::DomainAttr());
  }
  mlir::Value linear(mlir::Value value, mlir::Value weight) {
    llvm::SmallVector<int64_t> result(shape(value));
    result.back() = shape(weight)[0];
    return tv::LinearOp::create(op.builder, op.location, like(value, result),
                                value, weight, tv::DomainAttr());
  }
  mlir::Value matmul(mlir::Value left, mlir::Value right) {
    llvm::SmallVector<int64_t> result(shape(left));
    result.back() = shape(right).back();
    return tv::MatmulOp::create(op.builder, op.location, like(left, result),
                                left, right, tv::DomainAttr());
  }
  mlir::Value einsum(mlir::ValueRange values, llvm::StringRef equation,
                     llvm::ArrayRef<int64_t> shape) {
    return tv::EinsumOp::create(
        op.builder, op.location, like(values.front(), shape), values,
        op.builder.getStringAttr(equation), tv::DomainAttr());
  }
  /// Reduces the last dimension, which disappears or stays with size 1.
  mlir::Value reduceLast(tv::ReductionKind kind, mlir::Value value,
                         bool keep = false) {
    llvm::SmallVector<int64_t> result(shape(value));
    int64_t last = static_cast<int64_t>(result.size()) - 1;
    result.back() = 1;
    if (!keep)
      result.pop_back();
    return tv::ReduceOp::create(op.builder, op.location, like(value, result),
                                kind, value, last, keep, tv::DomainAttr());
  }
  mlir::Value number(double value) {
    return buildScalar(op.builder, op.location, value);
  }
  /// An integer of that type, without dimensions.
  mlir::Value integer(mlir::Type element, int64_t value) {
    auto type = mlir::RankedTensorType::get({}, element);
    return tv::ConstantOp::create(
        op.builder, op.location, type,
        mlir::DenseElementsAttr::get(type,
                                     op.builder.getIntegerAttr(element, value)),
        tv::DomainAttr());
  }
  mlir::Value power(mlir::Value value, int64_t numerator,
                    int64_t denominator = 1) {
    return tv::PowerOp::create(op.builder, op.location, value.getType(), value,
                               numerator, denominator, tv::DomainAttr());
  }
  /// Which elements of a tensor are so compared with those of another, or with
  /// a number in either place.
  mlir::Value compare(tv::ComparisonKind kind, mlir::Value left,
                      mlir::Value right) {
    auto type = mlir::RankedTensorType::get(
        shape(shape(left).empty() ? right : left), op.builder.getI1Type());
    return tv::CompareOp::create(op.builder, op.location, type, kind, left,
                                 right, tv::DomainAttr());
  }
  /// Elements of `ifTrue` where the condition holds, else of `ifFalse`, whose
  /// type the result has.
  mlir::Value select(mlir::Value condition, mlir::Value ifTrue,
                     mlir::Value ifFalse) {
    return tv::SelectOp::create(op.builder, op.location, ifFalse.getType(),
                                condition, ifTrue, ifFalse, tv::DomainAttr());
  }
  template <typename Op> mlir::Value unary(mlir::Value value) {
    return Op::create(op.builder, op.location, value.getType(), value,
                      tv::DomainAttr());
  }
  template <typename Op>
  mlir::Value binary(mlir::Value left, mlir::Value right) {
    return Op::create(op.builder, op.location, left.getType(), left, right,
                      tv::DomainAttr());
  }
};

/// Gives the elements of a value in another shape. The frontend gives a tensor
/// of rank 0 the shape (1).
inline void giveReshaped(ForwardOp &op, mlir::Value value,
                         llvm::SmallVector<int64_t> shape, Results &results) {
  if (op.failedAlready)
    return;
  if (shape.empty())
    shape.push_back(1);
  // A result is never an operand itself.
  bool isNew = !llvm::is_contained(op.operands, value);
  results.push_back(isNew && OpBody::shape(value) == llvm::ArrayRef(shape)
                        ? value
                        : OpBody{op}.reshape(value, shape));
}

/// Whether no element of an operand may be minus infinity, of whose softmax
/// there is no logarithm.
inline bool requireFinite(ForwardOp &op, unsigned number) {
  if (!isExtended(op.operandType(number)))
    return true;
  op.error() << "is not supported on minus infinity";
  return false;
}

/// `value` where it is at least `least` and at most `most`, else that bound. At
/// the bounds it is `value`, as the derivative of PyTorch's `clamp` has it.
mlir::Value clamp(OpBody body, mlir::Value value, std::optional<double> least,
                  std::optional<double> most);

/// Whether operand `number` has the shape that the others give it.
bool requireShape(ForwardOp &op, unsigned number,
                  llvm::ArrayRef<int64_t> shape);

} // namespace verify::nnscaler

#endif // VERIFY_LIB_NNSCALER_OPBODY_H
