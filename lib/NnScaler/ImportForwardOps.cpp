//===- ImportForwardOps.cpp - forward ops of nnScaler graphs --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One entry for each signature of the libraries. A signature, keyword or
// argument that is not listed here is an error; none is skipped.
//
//===----------------------------------------------------------------------===//

#include "ForwardOp.h"

#include "llvm/ADT/StringMap.h"

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

static void importCopy(ForwardOp &op, Results &results) {
  const Argument *target = op.keyword("dtype_or_device");
  op.keyword("memory_format");
  if (!op.requireOperands(1))
    return;
  RankedTensorType type = op.resultType(0);
  if (!type)
    return;
  // Only what the op converts to may be the dtype of its result.
  StringRef from = op.operandTensor(0).elementType, to = from;
  if (op.node.signature == "torch.Tensor.float")
    to = "float32";
  if (target && !isTarget(*target)) {
    op.error() << "keyword 'dtype_or_device' is neither a type nor a device";
    return;
  }
  if (target && target->kind == ConstantKind::ElementType)
    to = target->getText();
  StringRef declared = op.plan.get(op.node.outputs[0]).elementType;
  if (declared != to)
    op.error() << "makes " << to << " where the plan declares " << declared;
  else
    results.push_back(tv::CopyOp::create(op.builder, op.location, type,
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

/// An op on two tensors, or a tensor and a number in either order.
template <typename Op>
static void importBinary(ForwardOp &op, Results &results) {
  if (const Argument *alpha = op.keyword("alpha"))
    if (alpha->isTensor || alpha->kind != ConstantKind::Integer ||
        alpha->getInteger() != 1)
      op.error() << "keyword 'alpha' other than 1 is not supported";
  op.requireNone("rounding_mode");
  op.requireNone("out");
  Value left, right;
  if (op.operands.size() == 2) {
    left = op.operands[0];
    right = op.operands[1];
  } else if (op.operands.size() == 1 && op.node.inputs.size() == 2) {
    Value constant = op.constant();
    bool isFirst = op.node.inputs[0].isTensor;
    left = isFirst ? op.operands[0] : constant;
    right = isFirst ? constant : op.operands[0];
  } else {
    op.error() << "has " << op.node.inputs.size() << " operands, expected 2";
  }
  RankedTensorType type = op.resultType(0);
  if (type && left && right)
    results.push_back(Op::create(op.builder, op.location, type, left, right,
                                 tv::DomainAttr()));
}

template <typename Op>
static void importUnary(ForwardOp &op, Results &results) {
  op.requireFalse("inplace");
  if (!op.requireOperands(1))
    return;
  if (RankedTensorType type = op.resultType(0))
    results.push_back(Op::create(op.builder, op.location, type, op.operands[0],
                                 tv::DomainAttr()));
}

static void importPower(ForwardOp &op, Results &results) {
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

/// Sum or mean over the dimensions of keyword `dim`, or over all.
template <tv::ReductionKind kind>
static void importReduce(ForwardOp &op, Results &results) {
  op.requireNone("dtype");
  const Argument *keep = op.keyword("keepdim");
  const Argument *dims = op.keyword("dim");
  if (!op.requireOperands(1))
    return;
  int64_t rank = op.operandType(0).getRank();
  SmallVector<int64_t> dimensions;
  bool isAll = !dims || (!dims->isTensor && dims->kind == ConstantKind::None);
  if (isAll) {
    for (int64_t i = 0; i < rank; ++i)
      dimensions.push_back(i);
  } else {
    ArrayRef<Argument> list = dims->kind == ConstantKind::Integer
                                  ? ArrayRef<Argument>(*dims)
                                  : dims->getElements();
    // PyTorch takes an empty list for all dimensions, sometimes.
    bool isList = dims->kind == ConstantKind::Integer || dims->isSequence();
    if (list.empty() || !isList) {
      op.error() << "keyword 'dim' is not a list of integers";
      return;
    }
    for (const Argument &dimension : list) {
      if (dimension.isTensor || dimension.kind != ConstantKind::Integer) {
        op.error() << "keyword 'dim' is not a list of integers";
        return;
      }
      dimensions.push_back(op.dimension(dimension.getInteger(), rank));
    }
  }
  llvm::sort(dimensions);
  dimensions.erase(llvm::unique(dimensions), dimensions.end());
  bool isKept = keep && op.boolean("keepdim");
  RankedTensorType type = op.resultType(0);
  if (!type || op.failedAlready)
    return;
  SmallVector<int64_t> shape;
  for (int64_t i = 0; i < rank; ++i)
    if (!llvm::is_contained(dimensions, i))
      shape.push_back(op.operandType(0).getDimSize(i));
    else if (isKept)
      shape.push_back(1);
  // The frontend gives a full reduction the shape (1), not ().
  bool isFull = shape.empty();
  Value sum = tv::ReduceOp::create(
      op.builder, op.location,
      isFull ? RankedTensorType::get({}, type.getElementType()) : type, kind,
      op.operands[0], dimensions, isKept, tv::DomainAttr());
  if (isFull)
    sum = tv::ReshapeOp::create(op.builder, op.location, type, sum,
                                tv::DomainAttr());
  results.push_back(sum);
}

static void importView(ForwardOp &op, Results &results) {
  const Argument *size = op.keyword("size");
  if (!size)
    size = op.keyword("shape");
  if (!op.requireOperands(1))
    return;
  RankedTensorType type = op.resultType(0);
  if (!type)
    return;
  // The runtime uses the sizes, so they must be those of the output.
  if (!size || !size->isSequence()) {
    op.error() << "needs keyword 'size'";
    return;
  }
  if (size->getElements().size() != static_cast<size_t>(type.getRank())) {
    op.error() << "has " << size->getElements().size() << " sizes for rank "
               << type.getRank();
    return;
  }
  int64_t inferred = 0;
  for (auto [argument, expected] :
       llvm::zip(size->getElements(), type.getShape())) {
    if (argument.isTensor || argument.kind != ConstantKind::Integer) {
      op.error() << "sizes are not integers";
      return;
    }
    inferred += argument.getInteger() == -1;
    if (argument.getInteger() != -1 && argument.getInteger() != expected) {
      op.error() << "makes size " << argument.getInteger() << " where the plan "
                 << "declares " << expected;
      return;
    }
  }
  if (inferred > 1) {
    op.error() << "has more than one size of -1";
    return;
  }
  results.push_back(tv::ReshapeOp::create(op.builder, op.location, type,
                                          op.operands[0], tv::DomainAttr()));
}

static void importTranspose(ForwardOp &op, Results &results) {
  std::optional<int64_t> first = op.integer("dim0"),
                         second = op.integer("dim1");
  if (!op.requireOperands(1))
    return;
  if (!first || !second) {
    op.error() << "needs keywords 'dim0' and 'dim1'";
    return;
  }
  int64_t rank = op.operandType(0).getRank();
  SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(rank));
  int64_t one = op.dimension(*first, rank), other = op.dimension(*second, rank);
  RankedTensorType type = op.resultType(0);
  if (!type || op.failedAlready)
    return;
  std::swap(permutation[one], permutation[other]);
  results.push_back(tv::TransposeOp::create(op.builder, op.location, type,
                                            op.operands[0], permutation,
                                            tv::DomainAttr()));
}

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

static void importMatmul(ForwardOp &op, Results &results) {
  op.requireNone("out");
  if (!op.requireOperands(2))
    return;
  if (RankedTensorType type = op.resultType(0))
    results.push_back(tv::MatmulOp::create(op.builder, op.location, type,
                                           op.operands[0], op.operands[1],
                                           tv::DomainAttr()));
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

/// The rule of a signature.
static ForwardRule findRule(StringRef signature) {
  constexpr MinusInfinity kept = MinusInfinity::Kept;
  static const llvm::StringMap<ForwardRule> table = {
      {"torch.add", {importBinary<tv::AddOp>, kept}},
      {"torch.sub", {importBinary<tv::SubtractOp>}},
      {"torch.mul", {importBinary<tv::MultiplyOp>}},
      {"torch.div", {importBinary<tv::DivideOp>}},
      {"torch.neg", {importUnary<tv::NegateOp>}},
      {"torch.exp", {importUnary<tv::ExpOp>}},
      {"torch.rsqrt", {importUnary<tv::RsqrtOp>}},
      {"torch.nn.functional.silu", {importUnary<tv::SiluOp>}},
      {"torch.pow", {importPower}},
      {"torch.sum", {importReduce<tv::ReductionKind::Sum>}},
      {"torch.mean", {importReduce<tv::ReductionKind::Average>}},
      {"torch.Tensor.view", {importView, kept}},
      {"torch.Tensor.reshape", {importView, kept}},
      {"torch.transpose", {importTranspose, kept}},
      {"torch.matmul", {importMatmul}},
      {"torch.nn.functional.linear", {importLinear}},
      {"torch.nn.functional.softmax", {importSoftmax}},
      {"torch.Tensor.float", {importCopy, kept}},
      {"torch.Tensor.contiguous", {importCopy, kept, true}},
      {"torch.nn.functional.dropout", {importDropout}},
      {"torch.nn.functional.gelu", {importGelu}},
      {"nnscaler.runtime.function.layer_norm", {importLayerNorm}},
      {"nnscaler.runtime.function.to", {importCopy, kept}},
      {"nnscaler.runtime.function.identity", {importCopy, kept, true}},
      {"nnscaler.runtime.function.multiref", {importMultiref, kept, true}},
      {"nnscaler.runtime.function.embedding", {importEmbedding}},
  };
  ForwardRule rule = table.lookup(signature);
  return rule.import ? rule : findModelFunction(signature.rsplit('.').second);
}

bool nnscaler::makesMinusInfinity(const Node &node) {
  return findRule(node.signature).minusInfinity == MinusInfinity::Made;
}

bool nnscaler::ignoresValues(const Node &node) {
  return findRule(node.signature).ignoresValues;
}

bool nnscaler::keepsMinusInfinity(const Node &node) {
  return findRule(node.signature).minusInfinity == MinusInfinity::Kept;
}

LogicalResult nnscaler::importForwardOp(const PlanContext &plan,
                                        const Node &node,
                                        ArrayRef<Value> operands,
                                        OpBuilder &builder, Location location,
                                        SmallVectorImpl<Value> &results) {
  ForwardRule rule = findRule(node.signature);
  if (!rule.import)
    return emitError(location)
           << "unknown op '" << node.signature << "' (cell " << node.id << ")";
  for (ArrayRef<Argument> list : {node.inputs, node.outputs})
    for (const Argument &argument : list)
      if (argument.isTensor && plan.isComplex(plan.get(argument)) &&
          !rule.takesComplex)
        return emitError(location) << "'" << node.signature
                                   << "': is not supported on complex numbers";
  Block *block = builder.getInsertionBlock();
  Operation *last = block->empty() ? nullptr : &block->back();
  ForwardOp op{plan,
               node,
               operands,
               builder,
               location,
               {},
               /*usesConstant=*/false,
               /*failedAlready=*/false};
  rule.import(op, results);
  if (op.failedAlready)
    return failure();
  // Casts between integers and floats, say: right or wrong, not supported.
  for (auto it = last ? std::next(last->getIterator()) : block->begin();
       it != block->end(); ++it)
    if (isa<tv::SemanticsOpInterface>(*it) && failed(verifyElements(&*it)))
      return failure();
  for (const KeywordArgument &keyword : node.keywords)
    if (!op.usedKeywords.contains(keyword.name))
      return emitError(location)
             << "'" << node.signature << "': unknown keyword '" << keyword.name
             << "'";
  // Positional arguments after the tensors, such as a dimension.
  for (auto [number, input] : llvm::enumerate(node.inputs)) {
    bool isNoBias = node.signature == "torch.nn.functional.linear" &&
                    number == 2 && input.kind == ConstantKind::None;
    if (!input.isTensor && !isNoBias && !op.usesConstant)
      return emitError(location)
             << "'" << node.signature << "': unknown positional argument";
  }
  if (results.size() != node.outputs.size())
    return emitError(location)
           << "'" << node.signature << "' gives " << results.size()
           << " tensors, the plan has " << node.outputs.size();
  for (auto [number, value] : llvm::enumerate(results))
    if (RankedTensorType declared = op.resultType(number);
        !declared || declared != value.getType()) {
      if (declared)
        op.error() << "makes " << value.getType() << " where the plan declares "
                   << declared;
      return failure();
    }
  return success();
}
