//===- ImportChoosingFunctions.cpp - conditions, and tensors of numbers ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of PyTorch that compare, that choose by truth values, as attention
// masks do, and that create tensors of given numbers.
//
//===----------------------------------------------------------------------===//

#include "OpBody.h"

#include "Verify/IR/Gradients.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

/// A constant of `type` that is `value` everywhere: a number, a truth value,
/// or minus infinity where elements may be that. Null after an error.
static Value buildFilled(ForwardOp &op, RankedTensorType type,
                         const Argument &value) {
  Type element = type.getElementType();
  bool isInteger = !value.isTensor && value.kind == ConstantKind::Integer;
  bool isFloat = !value.isTensor && value.kind == ConstantKind::Float;
  Attribute literal;
  if (element.isInteger(1)) {
    if (!value.isTensor && value.kind == ConstantKind::Boolean)
      literal = op.builder.getBoolAttr(value.getInteger());
  } else if (element.isInteger()) {
    if (isInteger &&
        llvm::isIntN(element.getIntOrFloatBitWidth(), value.getInteger()))
      literal = op.builder.getIntegerAttr(element, value.getInteger());
  } else if (isInteger || isFloat) {
    // Doubles hold all integers up to 2^53.
    bool isExact = isFloat || llvm::isIntN(54, value.getInteger());
    double number =
        isFloat ? value.getReal() : static_cast<double>(value.getInteger());
    bool isAllowed = isa<tv::ExtendedType>(element) ? isMinusInfinity(value)
                                                    : std::isfinite(number);
    element = op.builder.getF64Type();
    if (isExact && isAllowed)
      literal = op.builder.getFloatAttr(element, number);
  }
  if (!literal) {
    op.error() << "a number that it is given is none of " << type;
    return {};
  }
  return tv::ConstantOp::create(
      op.builder, op.location, type,
      DenseElementsAttr::get(RankedTensorType::get({}, element), literal),
      tv::DomainAttr());
}

/// The same for a scalar among elements of `type`, which are extended only
/// where it is minus infinity itself.
static Value buildChosen(ForwardOp &op, RankedTensorType type,
                         const Argument &value) {
  Type element = type.getElementType();
  auto extended = dyn_cast<tv::ExtendedType>(element);
  if (extended && !isMinusInfinity(value))
    element = extended.getReal();
  return buildFilled(op, RankedTensorType::get({}, element), value);
}

static Value buildTruth(ForwardOp &op, bool value) {
  auto type = RankedTensorType::get({}, op.builder.getI1Type());
  return tv::ConstantOp::create(op.builder, op.location, type,
                                DenseElementsAttr::get(type, value),
                                tv::DomainAttr());
}

static Value buildSelect(ForwardOp &op, RankedTensorType type, Value condition,
                         Value ifTrue, Value ifFalse) {
  return tv::SelectOp::create(op.builder, op.location, type, condition, ifTrue,
                              ifFalse, tv::DomainAttr());
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

/// Two tensors, or a tensor and a number in either order.
template <tv::ComparisonKind kind, bool isSwapped = false>
static void importComparison(ForwardOp &op, Results &results) {
  op.requireNone("out");
  auto operands = op.operandsOrNumber();
  RankedTensorType type = op.resultType(0);
  if (!type || !operands)
    return;
  // The op could make numbers of truth values, too.
  if (!type.getElementType().isInteger(1)) {
    op.error() << "makes bool where the plan declares " << type;
    return;
  }
  auto [left, right] = *operands;
  if (isSwapped)
    std::swap(left, right);
  results.push_back(tv::CompareOp::create(op.builder, op.location, type, kind,
                                          left, right, tv::DomainAttr()));
}

/// Whether operands are of truth values: PyTorch has other functions of these
/// names for numbers.
static bool requireTruths(ForwardOp &op, unsigned count) {
  op.requireNone("out");
  if (!op.requireOperands(count))
    return false;
  for (unsigned i = 0; i != count; ++i)
    if (!op.operandType(i).getElementType().isInteger(1)) {
      op.error() << "is only supported on truth values, got "
                 << op.operandType(i);
      return false;
    }
  return true;
}

static void importNot(ForwardOp &op, Results &results) {
  RankedTensorType type = op.resultType(0);
  if (type && requireTruths(op, 1))
    results.push_back(buildSelect(op, type, op.operands[0],
                                  buildTruth(op, false), buildTruth(op, true)));
}

/// Both of two, or one of them at least: one where the other is `isDecided`.
template <bool isDecided>
static void importConnective(ForwardOp &op, Results &results) {
  RankedTensorType type = op.resultType(0);
  if (!type || !requireTruths(op, 2))
    return;
  Value decided = buildTruth(op, isDecided), other = op.operands[1];
  results.push_back(buildSelect(op, type, op.operands[0],
                                isDecided ? decided : other,
                                isDecided ? other : decided));
}

/// `where(condition, input, other)`, of which the last two may be numbers.
static void importWhere(ForwardOp &op, Results &results) {
  op.requireNone("out");
  ArrayRef<Argument> inputs = op.node.inputs;
  RankedTensorType type = op.resultType(0);
  if (!type)
    return;
  if (inputs.size() != 3 || !inputs[0].isTensor) {
    op.error() << "needs a condition and two values to choose from";
    return;
  }
  op.usesConstant = true;
  unsigned next = 1;
  SmallVector<Value, 2> values;
  for (const Argument &input : inputs.drop_front())
    values.push_back(input.isTensor ? op.operands[next++]
                                    : buildChosen(op, type, input));
  if (!op.failedAlready)
    results.push_back(
        buildSelect(op, type, op.operands[0], values[0], values[1]));
}

/// `masked_fill(input, mask, value)`: a number where the mask holds.
static void importMaskedFill(ForwardOp &op, Results &results) {
  const Argument *value = op.keyword("value");
  if (!value && op.node.inputs.size() == 3) {
    op.usesConstant = true;
    value = &op.node.inputs[2];
  }
  RankedTensorType type = op.resultType(0);
  if (!type || !op.requireOperands(2))
    return;
  if (!value || value->isTensor) {
    op.error() << "needs a number as keyword 'value'";
    return;
  }
  if (Value filling = buildChosen(op, type, *value))
    results.push_back(
        buildSelect(op, type, op.operands[1], filling, op.operands[0]));
}

/// `one_hot(input, num_classes)`: 1 at the class that an integer names, else 0.
static void importOneHot(ForwardOp &op, Results &results) {
  Value classes = op.tensor("input");
  int64_t count = op.count("num_classes");
  RankedTensorType type = op.resultType(0);
  if (!classes && !op.failedAlready)
    op.error() << "needs a tensor 'input'";
  if (op.failedAlready || !type)
    return;
  SmallVector<int64_t> shape(OpBody::shape(classes));
  shape.push_back(count);
  if (!op.operandType(0).getElementType().isInteger() ||
      op.operandType(0).getElementType().isInteger(1) ||
      !type.getElementType().isInteger(64)) {
    op.error() << "makes " << type << " of " << classes.getType();
    return;
  }
  // Of a class that there is not, nothing; PyTorch stops.
  Value marks = tv::OneHotOp::create(
      op.builder, op.location,
      RankedTensorType::get(shape, op.builder.getF32Type()), classes,
      /*start=*/0, tv::DomainAttr());
  OpBody body{op};
  results.push_back(buildSelect(
      op, RankedTensorType::get(shape, type.getElementType()),
      body.compare(tv::ComparisonKind::NotEqual, marks, body.number(0)),
      body.integer(type.getElementType(), 1),
      body.integer(type.getElementType(), 0)));
}

/// Where a matrix is on or below a diagonal, or on or above it, as real numbers
/// of `type`: 1 there, else 0. Of diagonals beside the one through the origin
/// only the sides without that one.
static Value buildTriangle(ForwardOp &op, RankedTensorType type, bool isUpper,
                           bool isBeside) {
  OpBody body{op};
  // With the diagonal below it, or above: the transpose of that.
  bool isBelow = isUpper == isBeside;
  SmallVector<int64_t> shape(type.getShape());
  if (!isBelow)
    std::swap(shape[0], shape[1]);
  Value triangle = tv::LowerTriangleOp::create(
      op.builder, op.location,
      RankedTensorType::get(shape, type.getElementType()), tv::DomainAttr());
  if (!isBelow)
    triangle = body.transpose(triangle, {1, 0});
  if (!isBeside)
    return triangle;
  return tv::SubtractOp::create(op.builder, op.location, triangle.getType(),
                                buildScalar(op.builder, op.location, 1),
                                triangle, tv::DomainAttr());
}

/// The same as truth values, for any diagonal.
static Value buildTriangleTruths(ForwardOp &op, ArrayRef<int64_t> matrix,
                                 bool isUpper, int64_t diagonal) {
  auto truths = RankedTensorType::get(matrix, op.builder.getI1Type());
  auto compare = [&](tv::ComparisonKind kind, Value left, Value right) {
    return tv::CompareOp::create(op.builder, op.location, truths, kind, left,
                                 right, tv::DomainAttr());
  };
  bool isBeside = diagonal == (isUpper ? 1 : -1);
  if (diagonal == 0 || isBeside) {
    auto type = RankedTensorType::get(matrix, op.builder.getF32Type());
    return compare(tv::ComparisonKind::NotEqual,
                   buildTriangle(op, type, isUpper, isBeside),
                   buildScalar(op.builder, op.location, 0));
  }
  auto count = [&](int64_t size, int64_t start) -> Value {
    return tv::IotaOp::create(
        op.builder, op.location,
        RankedTensorType::get({size}, op.builder.getI64Type()), start,
        /*step=*/1, tv::DomainAttr());
  };
  Value rows = OpBody{op}.reshape(count(matrix[0], diagonal), {matrix[0], 1});
  Value columns = count(matrix[1], 0);
  return isUpper ? compare(tv::ComparisonKind::LessEqual, rows, columns)
                 : compare(tv::ComparisonKind::LessEqual, columns, rows);
}

/// `torch.tril(input, diagonal)`, `torch.triu` if `isUpper`: zeros on the other
/// side of the diagonal.
template <bool isUpper>
static void importTriangle(ForwardOp &op, Results &results) {
  int64_t diagonal = op.integer("diagonal").value_or(0);
  RankedTensorType type = op.resultType(0);
  if (!op.requireOperands(1) || !type)
    return;
  ArrayRef<int64_t> shape = op.operandType(0).getShape();
  if (shape.size() < 2) {
    op.error() << "needs a matrix, got " << op.operandType(0);
    return;
  }
  if (diagonal < -(int64_t(1) << 32) || diagonal > int64_t(1) << 32) {
    op.error() << "diagonal " << diagonal << " is not supported";
    return;
  }
  ArrayRef<int64_t> matrix = shape.take_back(2);
  bool isBeside = diagonal == (isUpper ? 1 : -1);
  if (isReal(op.operandType(0)) && (diagonal == 0 || isBeside)) {
    auto factors =
        RankedTensorType::get(matrix, op.operandType(0).getElementType());
    results.push_back(OpBody{op}.binary<tv::MultiplyOp>(
        op.operands[0], buildTriangle(op, factors, isUpper, isBeside)));
    return;
  }
  Argument none;
  if (type.getElementType().isInteger(1))
    none.setBoolean(false);
  else
    none.setInteger(0);
  Value kept = buildTriangleTruths(op, matrix, isUpper, diagonal);
  if (Value zero = buildChosen(op, type, none))
    results.push_back(buildSelect(op, type, kept, op.operands[0], zero));
}

//===----------------------------------------------------------------------===//
// Tensors of given numbers
//===----------------------------------------------------------------------===//

RankedTensorType nnscaler::getCreatedType(ForwardOp &op, StringRef like) {
  const Argument *type = op.keyword("dtype");
  for (StringRef name : {"layout", "device", "memory_format", "generator"})
    op.requireNone(name);
  for (StringRef name : {"requires_grad", "pin_memory"})
    op.requireFalse(name);
  RankedTensorType declared = op.resultType(0);
  if (!declared || op.failedAlready)
    return {};
  bool isGiven = type && (type->isTensor || type->kind != ConstantKind::None);
  if (isGiven && (type->isTensor || type->kind != ConstantKind::ElementType)) {
    op.error() << "keyword 'dtype' is not a type";
    return {};
  }
  StringRef made = isGiven ? type->getText() : like;
  StringRef expected = op.plan.get(op.node.outputs[0]).elementType;
  if (made == expected)
    return declared;
  op.error() << "makes " << (made.empty() ? "a type of its own" : made)
             << " where the plan declares " << expected;
  return {};
}

/// `full(size, fill_value)`, and those that fill with one number; `isLike` if
/// the size is that of an operand.
template <int number, bool isGiven, bool isLike>
static void importFull(ForwardOp &op, Results &results) {
  RankedTensorType type = getCreatedType(
      op, isLike && op.operands.size() == 1 ? op.operandTensor(0).elementType
                                            : StringRef());
  if (!op.requireOperands(isLike ? 1 : 0) || !type)
    return;
  SmallVector<int64_t> shape;
  if (isLike)
    llvm::append_range(shape, op.operandType(0).getShape());
  else if (auto size = op.integers("size"))
    shape = *size;
  else
    return;
  if (type.getShape() != ArrayRef(shape)) {
    op.error() << "does not make " << type;
    return;
  }
  Argument value;
  if (type.getElementType().isInteger(1))
    value.setBoolean(number != 0);
  else
    value.setInteger(number);
  if (const Argument *given = isGiven ? op.keyword("fill_value") : &value)
    value = *given;
  else
    op.error() << "needs keyword 'fill_value'";
  if (Value filled = op.failedAlready ? Value() : buildFilled(op, type, value))
    results.push_back(filled);
}

/// A keyword that is an integer, or a float that is one.
static std::optional<int64_t> getWhole(ForwardOp &op, StringRef name) {
  double value = op.real(name);
  if (op.failedAlready)
    return std::nullopt;
  if (value == std::floor(value) && std::abs(value) < 9e15)
    return static_cast<int64_t>(value);
  op.error() << "keyword '" << name << "' that is no integer is not supported";
  return std::nullopt;
}

/// `arange(start, end, step)`, of integers.
static void importRange(ForwardOp &op, Results &results) {
  RankedTensorType type = getCreatedType(op, "");
  std::optional<int64_t> start = getWhole(op, "start"),
                         end = getWhole(op, "end"), step = getWhole(op, "step");
  if (!op.requireOperands(0) || !type || !start || !end || !step)
    return;
  if (*step == 0 || type.getRank() != 1) {
    op.error() << "has no steps, or makes no vector";
    return;
  }
  // All are less than 2^53.
  int64_t distance = *step > 0 ? *end - *start : *start - *end;
  int64_t count = llvm::divideCeilSigned(distance, std::abs(*step));
  if (count != type.getDimSize(0)) {
    op.error() << "makes " << std::max<int64_t>(count, 0)
               << " numbers where the plan declares " << type.getDimSize(0);
    return;
  }
  results.push_back(tv::IotaOp::create(op.builder, op.location, type, *start,
                                       *step, tv::DomainAttr()));
}

void nnscaler::addChoosingFunctions(ForwardRules &rules) {
  using enum tv::ComparisonKind;
  constexpr MinusInfinity chosen = MinusInfinity::KeptOrGiven;
  rules.insert({
      {"torch.eq", {importComparison<Equal>}},
      {"_operator.eq", {importComparison<Equal>}},
      {"torch.ne", {importComparison<NotEqual>}},
      {"_operator.ne", {importComparison<NotEqual>}},
      {"torch.lt", {importComparison<Less>}},
      {"_operator.lt", {importComparison<Less>}},
      {"torch.le", {importComparison<LessEqual>}},
      {"_operator.le", {importComparison<LessEqual>}},
      {"torch.gt", {importComparison<Less, true>}},
      {"_operator.gt", {importComparison<Less, true>}},
      {"torch.ge", {importComparison<LessEqual, true>}},
      {"_operator.ge", {importComparison<LessEqual, true>}},
      {"torch.logical_not", {importNot}},
      {"torch.bitwise_not", {importNot}},
      {"_operator.invert", {importNot}},
      {"torch.logical_and", {importConnective<false>}},
      {"torch.bitwise_and", {importConnective<false>}},
      {"_operator.and_", {importConnective<false>}},
      {"torch.logical_or", {importConnective<true>}},
      {"torch.bitwise_or", {importConnective<true>}},
      {"_operator.or_", {importConnective<true>}},
      {"torch.tril", {importTriangle<false>, MinusInfinity::Kept}},
      {"torch.triu", {importTriangle<true>, MinusInfinity::Kept}},
      {"torch.where", {importWhere, chosen}},
      {"torch.masked_fill", {importMaskedFill, chosen}},
      {"torch.nn.functional.one_hot",
       {.import = importOneHot, .parameters = "input num_classes"}},
      {"torch.zeros_like", {importFull<0, false, true>}},
      {"torch.ones_like", {importFull<1, false, true>}},
      {"torch.full_like", {importFull<0, true, true>, chosen}},
      {"nnscaler.runtime.function.zeros", {importFull<0, false, false>}},
      {"nnscaler.runtime.function.ones", {importFull<1, false, false>}},
      {"nnscaler.runtime.function.full", {importFull<0, true, false>, chosen}},
      {"nnscaler.runtime.function.arange", {importRange}},
  });
}
