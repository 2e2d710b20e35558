//===- ForwardOp.h - one forward op while it is imported --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_NNSCALER_FORWARDOP_H
#define VERIFY_LIB_NNSCALER_FORWARDOP_H

#include "Importer.h"

#include "llvm/ADT/StringMap.h"

#include <cmath>

namespace verify::nnscaler {

/// One forward op while it is imported. Accessors report what is wrong at the
/// op; `failedAlready` remembers that they did.
struct ForwardOp {
  const PlanContext &plan;
  const Node &node;
  llvm::ArrayRef<mlir::Value> operands; ///< tensor inputs, in order
  mlir::OpBuilder &builder;
  mlir::Location location;
  llvm::SmallDenseSet<llvm::StringRef> usedKeywords = {};
  /// Names of tensors by position that were asked for.
  llvm::SmallDenseSet<llvm::StringRef> usedTensors = {};
  bool usesConstant = false; ///< of an input that is not a tensor
  bool failedAlready = false;
  /// Whether what it gives may be minus infinity; false where only what others
  /// give of the same tensors may be.
  bool holdsMinusInfinity = true;
  /// The names of its arguments by position, separated by spaces; empty if the
  /// plan has only tensors by position.
  llvm::StringRef parameters = {};

  mlir::InFlightDiagnostic error() {
    failedAlready = true;
    return mlir::emitError(location) << "'" << node.signature << "': ";
  }

  /// The argument by position that has this name; null if there is none.
  const Argument *positional(llvm::StringRef name) const {
    llvm::StringRef rest = parameters;
    if (rest.empty())
      return nullptr;
    for (const Argument &input : node.inputs) {
      llvm::StringRef own;
      std::tie(own, rest) = rest.split(' ');
      if (!own.empty() && own == name)
        return &input;
    }
    return nullptr;
  }
  /// A constant by keyword, or by the position of that name.
  const Argument *keyword(llvm::StringRef name) {
    usedKeywords.insert(name);
    for (const KeywordArgument &argument : node.keywords)
      if (argument.name == name)
        return &argument.value;
    const Argument *argument = positional(name);
    return argument && !argument->isTensor ? argument : nullptr;
  }
  /// The tensor at the position of that name; null if there is none, or if it
  /// is None. Any other constant, and a tensor by keyword, is an error.
  mlir::Value tensor(llvm::StringRef name) {
    requireNone(name);
    usedTensors.insert(name);
    const Argument *argument = positional(name);
    if (failedAlready || !argument || !argument->isTensor)
      return {};
    unsigned before = 0;
    for (const Argument &input : node.inputs)
      if (&input != argument)
        before += input.isTensor;
      else
        break;
    return operands[before];
  }
  /// The same where there has to be one, of floating-point numbers.
  mlir::Value floats(llvm::StringRef name) {
    mlir::Value value = tensor(name);
    if (!value && !failedAlready)
      error() << "needs a tensor '" << name << "'";
    if (value && !mlir::isa<mlir::FloatType>(
                     mlir::cast<mlir::RankedTensorType>(value.getType())
                         .getElementType())) {
      error() << "is not supported on " << value.getType();
      return {};
    }
    return value;
  }
  /// A keyword whose value may only be `None` or absent.
  void requireNone(llvm::StringRef name) {
    const Argument *value = keyword(name);
    if (value && (value->isTensor || value->kind != ConstantKind::None))
      error() << "keyword '" << name << "' other than None is not supported";
  }
  std::optional<int64_t> integer(llvm::StringRef name) {
    const Argument *value = keyword(name);
    if (!value || (!value->isTensor && value->kind == ConstantKind::None))
      return std::nullopt;
    if (!value->isTensor && value->kind == ConstantKind::Integer)
      return value->getInteger();
    error() << "keyword '" << name << "' is not an integer";
    return std::nullopt;
  }
  /// A keyword that may also be the second argument by position.
  std::optional<int64_t> integerOrSecond(llvm::StringRef name) {
    if (keyword(name) || node.inputs.size() != operands.size() + 1 ||
        node.inputs.size() < 2 || node.inputs[1].isTensor ||
        node.inputs[1].kind != ConstantKind::Integer)
      return integer(name);
    usesConstant = true;
    return node.inputs[1].getInteger();
  }
  /// A list of integers, or one alone; none, after an error, if there is none.
  std::optional<llvm::SmallVector<int64_t>> integers(llvm::StringRef name) {
    const Argument *value = keyword(name);
    auto isInteger = [](const Argument &argument) {
      return !argument.isTensor && argument.kind == ConstantKind::Integer;
    };
    if (value && isInteger(*value))
      return llvm::SmallVector<int64_t>{value->getInteger()};
    if (value && value->isSequence() && !value->getElements().empty() &&
        llvm::all_of(value->getElements(), isInteger))
      return llvm::map_to_vector(
          value->getElements(),
          [](const Argument &element) { return element.getInteger(); });
    error() << "keyword '" << name << "' is not a list of integers";
    return std::nullopt;
  }
  /// An integer of at least 1; an error, and 1, if there is none.
  int64_t count(llvm::StringRef name) {
    std::optional<int64_t> value = integer(name);
    if (value && *value >= 1)
      return *value;
    if (!failedAlready)
      error() << "keyword '" << name << "' is not a positive integer";
    return 1;
  }
  /// A number; an error if there is none and no `otherwise`.
  double real(llvm::StringRef name, std::optional<double> otherwise = {}) {
    const Argument *value = keyword(name);
    if (otherwise && !value)
      return *otherwise;
    if (value && !value->isTensor && value->kind == ConstantKind::Float &&
        std::isfinite(value->getReal()))
      return value->getReal();
    if (value && !value->isTensor && value->kind == ConstantKind::Integer &&
        value->getInteger() > -(int64_t(1) << 53) &&
        value->getInteger() < int64_t(1) << 53)
      return static_cast<double>(value->getInteger());
    error() << "keyword '" << name << "' is not a number";
    return 0;
  }
  /// A truth value; an error if there is none.
  bool boolean(llvm::StringRef name) {
    const Argument *value = keyword(name);
    if (value && !value->isTensor && value->kind == ConstantKind::Boolean)
      return value->getInteger();
    error() << "keyword '" << name << "' is not a truth value";
    return false;
  }
  /// A keyword whose value may only be `False` or absent.
  void requireFalse(llvm::StringRef name) {
    if (keyword(name) && boolean(name))
      error() << "keyword '" << name << "' other than False is not supported";
  }
  /// The sub-tensor of tensor operand `number`.
  const SubTensor &operandTensor(unsigned number) const {
    for (const Argument &input : node.inputs)
      if (input.isTensor && number-- == 0)
        return plan.get(input);
    llvm_unreachable("there are as many sub-tensors as operands");
  }
  /// A dimension, counted from the end if negative.
  int64_t dimension(int64_t value, int64_t rank) {
    int64_t result = value < 0 ? value + rank : value;
    if (result < 0 || result >= rank) {
      error() << "has no dimension " << value;
      return 0;
    }
    return result;
  }
  mlir::RankedTensorType operandType(unsigned number) {
    return mlir::cast<mlir::RankedTensorType>(operands[number].getType());
  }
  bool requireOperands(unsigned count) {
    if (operands.size() == count)
      return true;
    error() << "has " << operands.size() << " tensor operands, expected "
            << count;
    return false;
  }
  mlir::RankedTensorType resultType(unsigned number) {
    if (number >= node.outputs.size() || !node.outputs[number].isTensor) {
      error() << "has no output tensor " << number;
      return {};
    }
    mlir::RankedTensorType type =
        plan.getType(plan.get(node.outputs[number]), location);
    failedAlready |= !type;
    return type && !holdsMinusInfinity ? getRealType(type) : type;
  }
  /// The argument that is not a tensor, as a rank-0 constant: an integer where
  /// the tensor is of integers too, else a real number.
  mlir::Value constant() {
    usesConstant = true;
    const Argument *found = nullptr;
    for (const Argument &input : node.inputs)
      if (!input.isTensor)
        found = &input;
    if (!found || (found->kind != ConstantKind::Integer &&
                   found->kind != ConstantKind::Float)) {
      error() << "needs a number as its other operand";
      return {};
    }
    mlir::Type integers = operandType(0).getElementType();
    if (found->kind == ConstantKind::Integer && integers.isInteger()) {
      if (!llvm::isIntN(integers.getIntOrFloatBitWidth(),
                        found->getInteger())) {
        error() << "integer " << found->getInteger() << " is too large";
        return {};
      }
      auto type = mlir::RankedTensorType::get({}, integers);
      return tv::ConstantOp::create(
          builder, location, type,
          mlir::DenseElementsAttr::get(
              type, builder.getIntegerAttr(integers, found->getInteger())),
          tv::DomainAttr());
    }
    double value = found->kind == ConstantKind::Float
                       ? found->getReal()
                       : static_cast<double>(found->getInteger());
    if (found->kind == ConstantKind::Integer &&
        (found->getInteger() > int64_t(1) << 62 ||
         static_cast<int64_t>(value) != found->getInteger())) {
      error() << "integer " << found->getInteger() << " is too large";
      return {};
    }
    if (!std::isfinite(value)) {
      error() << "constant is not finite";
      return {};
    }
    auto type = mlir::RankedTensorType::get({}, builder.getF64Type());
    return tv::ConstantOp::create(builder, location, type,
                                  mlir::DenseElementsAttr::get(type, value),
                                  tv::DomainAttr());
  }
  /// Two tensors, or a tensor and a number in either order; none after an
  /// error.
  std::optional<std::pair<mlir::Value, mlir::Value>> operandsOrNumber() {
    if (operands.size() == 2)
      return std::pair(operands[0], operands[1]);
    if (operands.size() != 1 || node.inputs.size() != 2) {
      error() << "has " << node.inputs.size() << " operands, expected 2";
      return std::nullopt;
    }
    mlir::Value number = constant();
    if (!number)
      return std::nullopt;
    return node.inputs[0].isTensor ? std::pair(operands[0], number)
                                   : std::pair(number, operands[0]);
  }
};

using Results = llvm::SmallVectorImpl<mlir::Value>;

/// What becomes of minus infinity in a forward op: results never hold it, hold
/// it where an operand does, there or where it is given as a number, or hold it
/// by themselves.
enum class MinusInfinity { Never, Kept, KeptOrGiven, Made };

/// Whether a constant is that float.
inline bool isMinusInfinity(const Argument &argument) {
  return !argument.isTensor && argument.kind == ConstantKind::Float &&
         std::isinf(argument.getReal()) && argument.getReal() < 0;
}

/// What dropout with probability `probability` makes of `value`: elements are
/// kept or dropped by draws that belong to this op and to `bounds`, start, end
/// and extent of each dimension of `value` in the whole tensor. `name` tells
/// the draws of one op apart. Null after an error.
mlir::Value buildDropout(ForwardOp &op, mlir::Value value, double probability,
                         llvm::ArrayRef<int64_t> bounds, llvm::StringRef name);

/// How ops of one signature are imported.
struct ForwardRule {
  void (*import)(ForwardOp &, Results &) = nullptr;
  MinusInfinity minusInfinity = MinusInfinity::Never;
  /// Whether it does the same to pairs of numbers, which complex numbers are
  /// imported as.
  bool takesComplex = false;
  /// Whether its results do not depend on the values of its operands.
  bool ignoresValues = false;
  /// Whether autograd passes no gradient through it all the same.
  bool detaches = false;
  /// Whether they do not depend on those of its operands but the first one.
  bool ignoresOthers = false;
  /// The names of its arguments by position, separated by spaces, where the
  /// plan has them as the model's source has: the frontend knows nothing of it.
  const char *parameters = "";
};

/// Rules by signature.
using ForwardRules = llvm::StringMap<ForwardRule>;

/// Functions of PyTorch that cast and copy, move and repeat elements, give
/// parts, put elements where an index says, choose and create elements, or
/// combine them, and those of `torch.nn.functional`: functions of single
/// elements, losses, normalizations and images apart.
void addCopyFunctions(ForwardRules &rules);
void addMovementFunctions(ForwardRules &rules);
void addRepetitions(ForwardRules &rules);
void addSlicingFunctions(ForwardRules &rules);
void addChoosingFunctions(ForwardRules &rules);
void addReducingFunctions(ForwardRules &rules);
void addNetworkFunctions(ForwardRules &rules);
void addActivations(ForwardRules &rules);
void addLosses(ForwardRules &rules);
void addNormalizations(ForwardRules &rules);
void addConvolutions(ForwardRules &rules);
void addImageFunctions(ForwardRules &rules);
void addScatteringFunctions(ForwardRules &rules);

/// The rule of a function of the user's own model, by its last name: the module
/// it lives in differs from plan to plan. Without `import` if none is known.
ForwardRule findModelFunction(llvm::StringRef name);

/// `gate_fw` and `nnscaler_moe_gmm`, mixture of experts.
void importGate(ForwardOp &op, Results &results);
void importGroupedExperts(ForwardOp &op, Results &results);

/// An op that computes each element from the same one of its operand.
template <typename Op> void importUnary(ForwardOp &op, Results &results) {
  op.requireFalse("inplace");
  if (!op.requireOperands(1))
    return;
  if (mlir::RankedTensorType type = op.resultType(0))
    results.push_back(Op::create(op.builder, op.location, type, op.operands[0],
                                 tv::DomainAttr()));
}

/// The type of a tensor that is created: what keyword `dtype` says, or `like`
/// where that is absent, must be what the plan declares. Null after an error.
mlir::RankedTensorType getCreatedType(ForwardOp &op, llvm::StringRef like);

/// `torch.nn.functional.dropout` and `torch.randn_like`.
void importDropout(ForwardOp &op, Results &results);
void importNormalDraws(ForwardOp &op, Results &results);

} // namespace verify::nnscaler

#endif // VERIFY_LIB_NNSCALER_FORWARDOP_H
