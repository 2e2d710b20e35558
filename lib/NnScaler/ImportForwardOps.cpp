//===- ImportForwardOps.cpp - forward ops of nnScaler graphs --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One entry for each signature of the libraries, here and in the files of
// copies, movement, slicing, choice, reductions, neural networks, activations,
// losses and normalizations. A signature, keyword or argument that is not
// listed is an error; none is skipped.
//
//===----------------------------------------------------------------------===//

#include "OpBody.h"

#include "Verify/IR/Gradients.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

/// A value times the number of a keyword, which is 1 if it is absent.
static Value scaleBy(ForwardOp &op, StringRef name, Value value) {
  double factor = op.keyword(name) ? op.real(name) : 1;
  if (factor == 1 || !value)
    return value;
  return OpBody{op}.binary<tv::MultiplyOp>(
      value, buildScalar(op.builder, op.location, factor));
}

/// An op on two tensors, or a tensor and a number in either order.
template <typename Op>
static void importBinary(ForwardOp &op, Results &results) {
  op.requireNone("rounding_mode");
  op.requireNone("out");
  auto operands = op.operandsOrNumber();
  if (!operands)
    return;
  auto [left, right] = *operands;
  if (std::is_same_v<Op, tv::AddOp> || std::is_same_v<Op, tv::SubtractOp>)
    right = scaleBy(op, "alpha", right);
  if (RankedTensorType type = op.resultType(0))
    results.push_back(Op::create(op.builder, op.location, type, left, right,
                                 tv::DomainAttr()));
}

/// A positive number to the power of a tensor, by its logarithm.
static void importExponential(ForwardOp &op, Results &results) {
  const Argument &base = op.node.inputs[0];
  bool isPositive =
      (base.kind == ConstantKind::Integer && base.getInteger() > 0) ||
      (base.kind == ConstantKind::Float && base.getReal() > 0);
  Value number = op.constant();
  if (!isPositive && !op.failedAlready)
    op.error() << "needs a base that is positive";
  if (op.failedAlready)
    return;
  OpBody body{op};
  results.push_back(body.unary<tv::ExpOp>(body.binary<tv::MultiplyOp>(
      op.operands[0], body.unary<tv::LogOp>(number))));
}

/// A complex factor of what has the type `product`, without dimensions that are
/// repeated, and what einsum calls those that are left: capital letters and, of
/// real and imaginary part, `part`. None if it does not broadcast.
static std::optional<std::pair<Value, std::string>>
getFactor(OpBody body, Value operand, RankedTensorType product, char part) {
  ArrayRef<int64_t> own = OpBody::shape(operand).drop_back();
  int64_t rank = product.getRank() - 1;
  auto added = rank - static_cast<int64_t>(own.size());
  if (added < 0 || rank > 20)
    return std::nullopt;
  SmallVector<int64_t> shape;
  std::string letters;
  for (auto [i, size] : llvm::enumerate(own)) {
    if (size == 1 && product.getDimSize(added + i) != 1)
      continue;
    shape.push_back(size);
    letters.push_back(static_cast<char>('A' + added + i));
  }
  shape.push_back(2);
  letters.push_back(part);
  return std::pair(
      shape.size() == own.size() + 1 ? operand : body.reshape(operand, shape),
      letters);
}

static void importComplexProduct(ForwardOp &op, RankedTensorType type,
                                 Results &results) {
  OpBody body{op};
  auto left = getFactor(body, op.operands[0], type, 'd'),
       right = getFactor(body, op.operands[1], type, 'c');
  if (!left || !right) {
    op.error() << "does not give " << type << " for "
               << op.operands[0].getType() << " and "
               << op.operands[1].getType();
    return;
  }
  // table[d, c, e]: part e of the product of part d and part c.
  auto tableType = RankedTensorType::get({2, 2, 2}, op.builder.getF64Type());
  Value table = tv::ConstantOp::create(
      op.builder, op.location, tableType,
      DenseElementsAttr::get(tableType,
                             ArrayRef<double>{1, 0, 0, 1, 0, 1, -1, 0}),
      tv::DomainAttr());
  std::string all;
  for (int64_t i = 0; i + 1 < type.getRank(); ++i)
    all.push_back(static_cast<char>('A' + i));
  results.push_back(
      body.einsum({left->first, right->first, table},
                  left->second + "," + right->second + ",dce->" + all + "e",
                  type.getShape()));
}

/// Tensors that broadcast, complex numbers among them: pairs of the last
/// dimension, of which a real number is a factor of both.
static void importProduct(ForwardOp &op, Results &results) {
  SmallVector<bool> isComplex;
  for (unsigned i = 0; i < op.operands.size(); ++i)
    isComplex.push_back(op.plan.isComplex(op.operandTensor(i)));
  if (!llvm::is_contained(isComplex, true) || op.operands.size() != 2) {
    importBinary<tv::MultiplyOp>(op, results);
    return;
  }
  RankedTensorType type = op.resultType(0);
  if (!type)
    return;
  if (isComplex[0] && isComplex[1]) {
    importComplexProduct(op, type, results);
    return;
  }
  SmallVector<Value> factors(op.operands);
  Value &real = factors[isComplex[0]];
  SmallVector<int64_t> shape(OpBody::shape(real));
  shape.push_back(1);
  real = OpBody{op}.reshape(real, shape);
  results.push_back(tv::MultiplyOp::create(
      op.builder, op.location, type, factors[0], factors[1], tv::DomainAttr()));
}

static void importPower(ForwardOp &op, Results &results) {
  if (op.operands.size() == 1 && op.node.inputs.size() == 2 &&
      op.node.inputs[1].isTensor) {
    importExponential(op, results);
    return;
  }
  if (!op.requireOperands(1) || op.node.inputs.size() != 2 ||
      !op.node.inputs[0].isTensor) {
    if (!op.failedAlready)
      op.error() << "needs a tensor and a number";
    return;
  }
  const Argument &exponent = op.node.inputs[1];
  op.usesConstant = true;
  int64_t numerator = exponent.getInteger(), denominator = 1;
  if (exponent.kind == ConstantKind::Float) {
    // Exponents are read exactly: a float is a dyadic rational.
    int power = 0;
    double mantissa = exponent.getReal();
    while (power < 30 && mantissa != std::floor(mantissa)) {
      mantissa *= 2;
      ++power;
    }
    if (mantissa != std::floor(mantissa) || std::abs(mantissa) > 1e9) {
      op.error() << "exponent " << exponent.getReal() << " is not supported";
      return;
    }
    numerator = static_cast<int64_t>(mantissa);
    denominator = int64_t(1) << power;
  } else if (exponent.kind != ConstantKind::Integer) {
    op.error() << "exponent is not a number";
    return;
  }
  // The derivative has an exponent that is 1 smaller.
  if (numerator < -1000 || numerator > 1000 || denominator > 1000) {
    op.error() << "exponent " << numerator << "/" << denominator
               << " is not supported";
    return;
  }
  if (RankedTensorType type = op.resultType(0))
    results.push_back(tv::PowerOp::create(op.builder, op.location, type,
                                          op.operands[0], numerator,
                                          denominator, tv::DomainAttr()));
}

/// Whether the operands from `first` on are of this rank.
static bool requireRank(ForwardOp &op, unsigned first, int64_t rank) {
  for (unsigned i = first; i < op.operands.size(); ++i)
    if (op.operandType(i).getRank() != rank) {
      op.error() << "needs operands of rank " << rank << ", got "
                 << op.operandType(i);
      return false;
    }
  return true;
}

static void importMatmul(ForwardOp &op, Results &results) {
  op.requireNone("out");
  if (!op.requireOperands(2))
    return;
  if (op.node.signature.ends_with(".bmm") && !requireRank(op, 0, 3))
    return;
  if (RankedTensorType type = op.resultType(0))
    results.push_back(tv::MatmulOp::create(op.builder, op.location, type,
                                           op.operands[0], op.operands[1],
                                           tv::DomainAttr()));
}

/// `torch.outer(input, vec2)`: each product of elements of two vectors.
static void importOuter(ForwardOp &op, Results &results) {
  RankedTensorType type = op.resultType(0);
  op.requireNone("out");
  if (!op.requireOperands(2) || !type || !requireRank(op, 0, 1))
    return;
  Value column =
      OpBody{op}.reshape(op.operands[0], {op.operandType(0).getDimSize(0), 1});
  results.push_back(tv::MultiplyOp::create(
      op.builder, op.location, type, column, op.operands[1], tv::DomainAttr()));
}

/// `dot(input, tensor)` of two vectors, or `mv(input, vec)` of a matrix and
/// one.
template <bool isMatrix>
static void importVectorProduct(ForwardOp &op, Results &results) {
  op.requireNone("out");
  Value left = op.floats("input");
  Value right =
      op.failedAlready ? Value() : op.floats(isMatrix ? "vec" : "tensor");
  if (!right)
    return;
  ArrayRef<int64_t> shape = OpBody::shape(left);
  if (shape.size() != 1 + isMatrix) {
    op.error() << "needs a " << (isMatrix ? "matrix" : "vector") << ", got "
               << left.getType();
    return;
  }
  OpBody body{op};
  if (!requireShape(op, 1, {shape.back()}))
    return;
  if (isMatrix)
    results.push_back(body.einsum({left, right}, "ab,b->a", {shape.front()}));
  else
    results.push_back(
        body.reshape(body.einsum({left, right}, "a,a->", {}), {1}));
}

static void importSquare(ForwardOp &op, Results &results) {
  RankedTensorType type = op.resultType(0);
  if (type && op.requireOperands(1))
    results.push_back(tv::PowerOp::create(
        op.builder, op.location, type, op.operands[0], 2, 1, tv::DomainAttr()));
}

/// `torch.baddbmm(input, left, right, beta, alpha)`: `alpha` times a product,
/// added to `beta` times a tensor.
static void importAddedProduct(ForwardOp &op, Results &results) {
  RankedTensorType type = op.resultType(0);
  bool isBatched = op.node.signature.ends_with(".baddbmm");
  if (!op.requireOperands(3) || !type || !requireRank(op, 1, isBatched ? 3 : 2))
    return;
  Value product =
      tv::MatmulOp::create(op.builder, op.location, type, op.operands[1],
                           op.operands[2], tv::DomainAttr());
  results.push_back(tv::AddOp::create(
      op.builder, op.location, type, scaleBy(op, "beta", op.operands[0]),
      scaleBy(op, "alpha", product), tv::DomainAttr()));
}

/// `einsum(*operands, equation)`: a letter for each dimension, and the result's
/// after `->`.
static void importEinsum(ForwardOp &op, Results &results) {
  const Argument *equation = op.keyword("equation");
  RankedTensorType type = op.resultType(0);
  if (!type)
    return;
  std::string letters;
  if (equation && !equation->isTensor && equation->kind == ConstantKind::String)
    llvm::copy_if(equation->getText(), std::back_inserter(letters),
                  [](char letter) { return letter != ' '; });
  if (op.operands.empty() || !StringRef(letters).contains("->") ||
      StringRef(letters).ends_with(">")) {
    op.error() << "keyword 'equation' does not say what the dimensions of the "
                  "result are";
    return;
  }
  results.push_back(OpBody{op}.einsum(op.operands, letters, type.getShape()));
}

/// The rules of all signatures of the libraries.
static ForwardRules listRules() {
  constexpr MinusInfinity kept = MinusInfinity::Kept;
  ForwardRules rules = {
      {"torch.add", {importBinary<tv::AddOp>, kept}},
      {"torch.sub", {importBinary<tv::SubtractOp>}},
      {"torch.mul", {.import = importProduct, .takesComplex = true}},
      {"torch.div", {importBinary<tv::DivideOp>}},
      {"torch.neg", {importUnary<tv::NegateOp>}},
      {"torch.exp", {importUnary<tv::ExpOp>}},
      {"torch.rsqrt", {importUnary<tv::RsqrtOp>}},
      {"torch.sqrt", {importUnary<tv::SqrtOp>}},
      {"torch.log", {importUnary<tv::LogOp>}},
      {"torch.sigmoid", {importUnary<tv::SigmoidOp>}},
      {"torch.tanh", {importUnary<tv::TanhOp>}},
      {"torch.erf", {importUnary<tv::ErfOp>}},
      {"torch.sin", {importUnary<tv::SinOp>}},
      {"torch.cos", {importUnary<tv::CosOp>}},
      {"torch.abs", {importUnary<tv::AbsOp>}},
      {"torch.sign", {importUnary<tv::SignOp>}},
      {"_operator.neg", {importUnary<tv::NegateOp>}},
      {"_operator.pow", {importPower}},
      {"torch.pow", {importPower}},
      {"torch.square", {importSquare}},
      {"torch.outer", {importOuter}},
      {"torch.dot",
       {.import = importVectorProduct<false>, .parameters = "input tensor"}},
      {"torch.mv",
       {.import = importVectorProduct<true>, .parameters = "input vec"}},
      {"torch.matmul", {importMatmul}},
      {"torch.bmm", {importMatmul}},
      {"torch.baddbmm", {importAddedProduct}},
      {"torch.addmm", {importAddedProduct}},
      {"nnscaler.runtime.function.einsum", {importEinsum}},
  };
  addCopyFunctions(rules);
  addMovementFunctions(rules);
  addRepetitions(rules);
  addSlicingFunctions(rules);
  addChoosingFunctions(rules);
  addReducingFunctions(rules);
  addNetworkFunctions(rules);
  addActivations(rules);
  addLosses(rules);
  addNormalizations(rules);
  addConvolutions(rules);
  addImageFunctions(rules);
  addScatteringFunctions(rules);
  return rules;
}

/// The rule of a signature.
static ForwardRule findRule(StringRef signature) {
  static const ForwardRules rules = listRules();
  ForwardRule rule = rules.lookup(signature);
  // What functions of Python call is the function itself.
  StringRef method = signature;
  if (!rule.import && method.consume_front("torch._C._nn."))
    rule = rules.lookup(("torch.nn.functional." + method).str());
  // A method of a tensor is the function of that name, but for the one whose
  // condition is not what it is a method of.
  if (!rule.import && method.consume_front("torch.Tensor.") &&
      method != "where")
    rule = rules.lookup(("torch." + method).str());
  return rule.import ? rule : findModelFunction(signature.rsplit('.').second);
}

/// Whether results may hold minus infinity where no operand does, and whether
/// they may where one does.
static bool makesInfinity(const ForwardRule &rule, const Node &node) {
  if (rule.minusInfinity != MinusInfinity::KeptOrGiven)
    return rule.minusInfinity == MinusInfinity::Made;
  return llvm::any_of(node.inputs, isMinusInfinity) ||
         llvm::any_of(node.keywords, [](const KeywordArgument &keyword) {
           return isMinusInfinity(keyword.value);
         });
}
static bool keepsInfinity(const ForwardRule &rule) {
  return rule.minusInfinity == MinusInfinity::Kept ||
         rule.minusInfinity == MinusInfinity::KeptOrGiven;
}

bool nnscaler::makesMinusInfinity(const Node &node) {
  return makesInfinity(findRule(node.signature), node);
}

bool nnscaler::keepsMinusInfinity(const Node &node) {
  return keepsInfinity(findRule(node.signature));
}

bool nnscaler::stopsGradients(const Node &node) {
  ForwardRule rule = findRule(node.signature);
  return rule.ignoresValues || rule.detaches;
}

bool nnscaler::detachesResults(const Node &node) {
  return findRule(node.signature).detaches;
}

bool nnscaler::ignoresOthers(const Node &node) {
  return findRule(node.signature).ignoresOthers;
}

/// Whether the rule of an op has asked for all of its arguments.
static LogicalResult requireUsed(ForwardOp &op) {
  const Node &node = op.node;
  for (const KeywordArgument &keyword : node.keywords)
    if (!op.usedKeywords.contains(keyword.name))
      return op.error() << "unknown keyword '" << keyword.name << "'";
  StringRef rest = op.parameters;
  for (auto [number, input] : llvm::enumerate(node.inputs)) {
    StringRef name;
    std::tie(name, rest) = rest.split(' ');
    const auto &used = input.isTensor ? op.usedTensors : op.usedKeywords;
    bool isNamed = used.contains(name) && !name.empty();
    bool isNoBias = node.signature == "torch.nn.functional.linear" &&
                    number == 2 && input.kind == ConstantKind::None;
    if (op.parameters.empty() ? !input.isTensor && !isNoBias && !op.usesConstant
                              : !isNamed)
      return op.error() << "unknown positional argument";
    if (llvm::any_of(node.keywords, [&](const KeywordArgument &keyword) {
          return keyword.name == name;
        }))
      return op.error() << "argument '" << name << "' is given twice";
  }
  return success();
}

LogicalResult nnscaler::importForwardOp(const PlanContext &plan,
                                        const Node &node,
                                        ArrayRef<Value> operands,
                                        OpBuilder &builder, Location location,
                                        SmallVectorImpl<Value> &results) {
  ForwardRule rule = findRule(node.signature);
  if (!rule.import)
    return emitError(location)
           << "unknown op '" << node.signature << "' (cell " << node.id
           << "); docs/Functions.md lists those that are known";
  for (ArrayRef<Argument> list : {node.inputs, node.outputs})
    for (const Argument &argument : list)
      if (argument.isTensor && plan.isComplex(plan.get(argument)) &&
          !rule.takesComplex)
        return emitError(location) << "'" << node.signature
                                   << "': is not supported on complex numbers";
  Block *block = builder.getInsertionBlock();
  Operation *last = block->empty() ? nullptr : &block->back();
  ForwardOp op{plan, node, operands, builder, location};
  op.parameters = rule.parameters;
  op.holdsMinusInfinity =
      makesInfinity(rule, node) ||
      (keepsInfinity(rule) && llvm::any_of(operands, [](Value operand) {
         return isExtended(operand.getType());
       }));
  rule.import(op, results);
  if (op.failedAlready)
    return failure();
  // Casts between integers and floats, say: right or wrong, not supported.
  for (auto it = last ? std::next(last->getIterator()) : block->begin();
       it != block->end(); ++it)
    if (isa<tv::SemanticsOpInterface>(*it) && failed(verifyElements(&*it)))
      return failure();
  if (failed(requireUsed(op)))
    return failure();
  if (results.size() != node.outputs.size())
    return emitError(location)
           << "'" << node.signature << "' gives " << results.size()
           << " tensors, the plan has " << node.outputs.size();
  for (auto [number, value] : llvm::enumerate(results)) {
    RankedTensorType own = op.resultType(number);
    if (!own || own != value.getType()) {
      if (own)
        op.error() << "makes " << value.getType() << " where the plan declares "
                   << own;
      return failure();
    }
    // Another op's part of the tensor may be minus infinity.
    if (RankedTensorType type =
            plan.getType(plan.get(node.outputs[number]), location);
        type != own)
      value =
          tv::CopyOp::create(builder, location, type, value, tv::DomainAttr());
  }
  return success();
}
