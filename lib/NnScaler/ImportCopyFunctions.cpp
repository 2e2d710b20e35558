//===- ImportCopyFunctions.cpp - casts and copies -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that give what they are given: in another type, on another device,
// or under several names.
//
//===----------------------------------------------------------------------===//

#include "OpBody.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

/// Whether torch takes a text for the name of a device: `cuda:0`.
static bool isDevice(StringRef text) {
  auto [kind, number] = text.split(':');
  unsigned index;
  return (kind == "cpu" || kind == "cuda" || kind == "meta") &&
         (text == kind || !number.getAsInteger(10, index));
}

/// Whether a target of `to` is a type, or a device, where values are the same.
static bool isTarget(const Argument &target) {
  return !target.isTensor &&
         (target.kind == ConstantKind::ElementType ||
          target.kind == ConstantKind::None ||
          (target.kind == ConstantKind::Integer && target.getInteger() >= 0) ||
          (target.kind == ConstantKind::String && isDevice(target.getText())));
}

/// A copy with elements of another type: truth values as integers, these and
/// integers as real numbers, and which numbers are not 0. The rest is no op if
/// types differ.
static Value buildCast(ForwardOp &op, RankedTensorType type, Value value) {
  ElementKind from = getElementKind(value.getType()), to = getElementKind(type);
  bool isInteger = from == ElementKind::Integer;
  if (to == ElementKind::Real && (isInteger || from == ElementKind::Boolean))
    return tv::ToRealOp::create(op.builder, op.location, type, value,
                                tv::DomainAttr());
  if (to == ElementKind::Integer && from == ElementKind::Boolean) {
    OpBody body{op};
    Type element = type.getElementType();
    return tv::SelectOp::create(op.builder, op.location, type, value,
                                body.integer(element, 1),
                                body.integer(element, 0), tv::DomainAttr());
  }
  if (to != ElementKind::Boolean || (from != ElementKind::Real && !isInteger))
    return tv::CopyOp::create(op.builder, op.location, type, value,
                              tv::DomainAttr());
  auto scalar = OpBody::like(value, {});
  Type element = scalar.getElementType();
  Attribute zero = isInteger ? Attribute(op.builder.getIntegerAttr(element, 0))
                             : Attribute(op.builder.getFloatAttr(element, 0));
  Value none = tv::ConstantOp::create(op.builder, op.location, scalar,
                                      DenseElementsAttr::get(scalar, zero),
                                      tv::DomainAttr());
  return tv::CompareOp::create(op.builder, op.location, type,
                               tv::ComparisonKind::NotEqual, value, none,
                               tv::DomainAttr());
}

static void importCopy(ForwardOp &op, Results &results) {
  bool takesType = op.node.signature == "torch.Tensor.to" ||
                   op.node.signature == "torch.Tensor.type";
  StringRef name = takesType ? "dtype" : "dtype_or_device";
  const Argument *target = op.keyword(name);
  // Where values lie, and when they get there.
  for (StringRef other : {"memory_format", "non_blocking", "copy"})
    op.keyword(other);
  if (!op.requireOperands(1))
    return;
  RankedTensorType type = op.resultType(0);
  if (!type)
    return;
  // Only what the op converts to may be the dtype of its result.
  StringRef from = op.operandTensor(0).elementType, to = from;
  StringRef method = op.node.signature;
  if (method.consume_front("torch.Tensor."))
    to = llvm::StringSwitch<StringRef>(method)
             .Case("float", "float32")
             .Case("double", "float64")
             .Case("half", "float16")
             .Case("bfloat16", "bfloat16")
             .Case("bool", "bool")
             .Case("int", "int32")
             .Case("long", "int64")
             .Default(from);
  if (target && !isTarget(*target)) {
    op.error() << "keyword '" << name << "' is neither a type nor a device";
    return;
  }
  if (target && target->kind == ConstantKind::ElementType)
    to = target->getText();
  StringRef declared = op.plan.get(op.node.outputs[0]).elementType;
  if (declared != to)
    op.error() << "makes " << to << " where the plan declares " << declared;
  else
    results.push_back(buildCast(op, type, op.operands[0]));
}

/// `torch.Tensor.type_as(input, other)`.
static void importTypeAs(ForwardOp &op, Results &results) {
  RankedTensorType type = op.resultType(0);
  if (!op.requireOperands(2) || !type)
    return;
  StringRef to = op.operandTensor(1).elementType,
            declared = op.plan.get(op.node.outputs[0]).elementType;
  if (declared != to)
    op.error() << "makes " << to << " where the plan declares " << declared;
  else
    results.push_back(buildCast(op, type, op.operands[0]));
}

/// `torch.Tensor.detach(input)`.
static void importDetach(ForwardOp &op, Results &results) {
  RankedTensorType type = op.resultType(0);
  if (type && op.requireOperands(1))
    results.push_back(tv::DetachOp::create(op.builder, op.location, type,
                                           op.operands[0], tv::DomainAttr()));
}

static void importMultiref(ForwardOp &op, Results &results) {
  std::optional<int64_t> times = op.integer("times");
  if (!op.requireOperands(1))
    return;
  if (!times) {
    op.error() << "needs keyword 'times'";
    return;
  }
  if (*times != static_cast<int64_t>(op.node.outputs.size())) {
    op.error() << "copies " << *times << " times for " << op.node.outputs.size()
               << " outputs";
    return;
  }
  for (unsigned i = 0; i < op.node.outputs.size(); ++i)
    if (RankedTensorType type = op.resultType(i))
      results.push_back(tv::CopyOp::create(op.builder, op.location, type,
                                           op.operands[0], tv::DomainAttr()));
}

/// `torch.view_as_complex(input)` and `torch.view_as_real(input)`: pairs are
/// complex numbers.
template <bool isComplex>
static void importPairs(ForwardOp &op, Results &results) {
  RankedTensorType type = op.resultType(0);
  if (!op.requireOperands(1) || !type)
    return;
  if (op.plan.isComplex(op.operandTensor(0)) == isComplex ||
      op.plan.isComplex(op.plan.get(op.node.outputs[0])) != isComplex) {
    op.error() << "does not give " << type << " for "
               << op.operands[0].getType();
    return;
  }
  results.push_back(tv::CopyOp::create(op.builder, op.location, type,
                                       op.operands[0], tv::DomainAttr()));
}

void nnscaler::addCopyFunctions(ForwardRules &rules) {
  constexpr MinusInfinity kept = MinusInfinity::Kept;
  rules.insert({
      {"torch.clone", {importCopy, kept}},
      {"torch.detach",
       {.import = importDetach,
        .minusInfinity = kept,
        .takesComplex = true,
        .detaches = true}},
      {"torch.Tensor.to", {importCopy, kept}},
      {"torch.Tensor.type", {importCopy, kept}},
      {"torch.view_as_complex",
       {.import = importPairs<true>, .takesComplex = true}},
      {"torch.view_as_real",
       {.import = importPairs<false>, .takesComplex = true}},
      {"torch.Tensor.float", {importCopy, kept}},
      {"torch.Tensor.double", {importCopy, kept}},
      {"torch.Tensor.half", {importCopy, kept}},
      {"torch.Tensor.bfloat16", {importCopy, kept}},
      {"torch.Tensor.bool", {importCopy}},
      {"torch.Tensor.int", {importCopy}},
      {"torch.Tensor.long", {importCopy}},
      {"torch.Tensor.type_as", {.import = importTypeAs, .ignoresOthers = true}},
      {"torch.Tensor.contiguous", {importCopy, kept, true}},
      {"nnscaler.runtime.function.to", {importCopy, kept}},
      {"nnscaler.runtime.function.identity", {importCopy, kept, true}},
      {"nnscaler.runtime.function.multiref", {importMultiref, kept, true}},
  });
}
