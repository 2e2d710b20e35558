//===- ImportReducingFunctions.cpp - what dimensions are combined to ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of PyTorch that combine elements along dimensions.
//
//===----------------------------------------------------------------------===//

#include "OpBody.h"

#include "Verify/IR/Gradients.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

namespace {
/// Which dimensions of operand 0 are combined.
struct Reduction {
  SmallVector<int64_t> dimensions; ///< ascending
  bool isKept = false;             ///< they stay, with size 1
};
} // namespace

/// What keywords `dim`, all dimensions where it is absent, and `keepdim` say.
static std::optional<Reduction> readReduction(ForwardOp &op) {
  const Argument *keep = op.keyword("keepdim");
  const Argument *dims = op.keyword("dim");
  if (!op.requireOperands(1))
    return std::nullopt;
  int64_t rank = op.operandType(0).getRank();
  Reduction reduction;
  bool isAll = !dims || (!dims->isTensor && dims->kind == ConstantKind::None);
  if (isAll) {
    llvm::append_range(reduction.dimensions, llvm::seq<int64_t>(rank));
  } else {
    // PyTorch takes an empty list for all dimensions, sometimes.
    auto list = op.integers("dim");
    if (!list)
      return std::nullopt;
    for (int64_t dimension : *list)
      reduction.dimensions.push_back(op.dimension(dimension, rank));
  }
  llvm::sort(reduction.dimensions);
  if (llvm::adjacent_find(reduction.dimensions) != reduction.dimensions.end() &&
      !op.failedAlready)
    op.error() << "keyword 'dim' names a dimension twice";
  reduction.isKept = keep && op.boolean("keepdim");
  if (op.failedAlready)
    return std::nullopt;
  return reduction;
}

/// The same of a function of floating-point numbers that the frontend does not
/// know, unless `needsDim` and there is no `dim`.
static std::optional<Reduction> readFloatReduction(ForwardOp &op,
                                                   bool needsDim = false) {
  op.requireNone("out");
  const Argument *dims = op.keyword("dim");
  if (needsDim && (!dims || dims->kind == ConstantKind::None))
    op.error() << "needs keyword 'dim'";
  if (op.failedAlready || !op.floats("input"))
    return std::nullopt;
  return readReduction(op);
}

/// Elements along dimensions as one. The frontend gives a full reduction the
/// shape (1), not ().
static Value reduce(ForwardOp &op, tv::ReductionKind kind, Value value,
                    const Reduction &reduction) {
  SmallVector<int64_t> shape;
  for (auto [i, size] : llvm::enumerate(OpBody::shape(value)))
    if (!llvm::is_contained(reduction.dimensions, i))
      shape.push_back(size);
    else if (reduction.isKept)
      shape.push_back(1);
  Value result = tv::ReduceOp::create(
      op.builder, op.location, OpBody::like(value, shape), kind, value,
      reduction.dimensions, reduction.isKept, tv::DomainAttr());
  return shape.empty() ? OpBody{op}.reshape(result, {1}) : result;
}

/// Sum or mean over the dimensions of keyword `dim`, or over all.
template <tv::ReductionKind kind>
static void importReduce(ForwardOp &op, Results &results) {
  op.requireNone("dtype");
  if (auto reduction = readReduction(op))
    results.push_back(reduce(op, kind, op.operands[0], *reduction));
}

/// `torch.norm(input, p, dim, keepdim)` of the elements as a vector: the root
/// of the sum of squares, or the sum of magnitudes.
static void importNorm(ForwardOp &op, Results &results) {
  op.requireNone("dtype");
  op.requireNone("out");
  const Argument *given = op.keyword("p");
  bool isEuclidean =
      !given || (!given->isTensor && given->kind == ConstantKind::String &&
                 given->getText() == "fro");
  double p = isEuclidean ? 2 : op.real("p");
  auto reduction = readReduction(op);
  if (!reduction || op.failedAlready)
    return;
  OpBody body{op};
  Value value = op.operands[0];
  if (p == 1) {
    results.push_back(reduce(op, tv::ReductionKind::Sum,
                             body.unary<tv::AbsOp>(value), *reduction));
  } else if (p == 2) {
    Value square = tv::PowerOp::create(op.builder, op.location, value.getType(),
                                       value, 2, 1, tv::DomainAttr());
    results.push_back(body.unary<tv::SqrtOp>(
        reduce(op, tv::ReductionKind::Sum, square, *reduction)));
  } else {
    op.error() << "keyword 'p' is neither 'fro' nor 1 nor 2";
  }
}

/// The root of the sum of squares along dimensions.
static Value buildNorm(ForwardOp &op, Value value, const Reduction &reduction) {
  OpBody body{op};
  return body.unary<tv::SqrtOp>(
      reduce(op, tv::ReductionKind::Sum, body.power(value, 2), reduction));
}

/// `normalize(input, p=2, dim=1, eps=1e-12)`: lines along dimensions, divided
/// by their norm, or by `eps` where that is less.
static void importNormalize(ForwardOp &op, Results &results) {
  double p = op.real("p", 2), epsilon = op.real("eps", 1e-12);
  op.requireNone("out");
  Value value = op.floats("input");
  if (op.failedAlready)
    return;
  Reduction reduction{.dimensions = {}, .isKept = true};
  int64_t rank = op.operandType(0).getRank();
  auto dims = op.keyword("dim") ? op.integers("dim")
                                : std::optional(SmallVector<int64_t>{1});
  for (int64_t dimension : dims.value_or(SmallVector<int64_t>()))
    reduction.dimensions.push_back(op.dimension(dimension, rank));
  llvm::sort(reduction.dimensions);
  if (llvm::adjacent_find(reduction.dimensions) != reduction.dimensions.end() &&
      !op.failedAlready)
    op.error() << "keyword 'dim' names a dimension twice";
  if (p != 1 && p != 2 && !op.failedAlready)
    op.error() << "keyword 'p' is neither 1 nor 2";
  if (op.failedAlready)
    return;
  OpBody body{op};
  Value norm = p == 2 ? buildNorm(op, value, reduction)
                      : reduce(op, tv::ReductionKind::Sum,
                               body.unary<tv::AbsOp>(value), reduction);
  norm = clamp(body, norm, epsilon, std::nullopt);
  results.push_back(body.binary<tv::DivideOp>(value, norm));
}

/// `cosine_similarity(x1, x2, dim=1, eps=1e-8)`: the product of lines, divided
/// by their norms, each at least `eps`. The derivative is that of the norm also
/// where that is less.
static void importCosine(ForwardOp &op, Results &results) {
  Value left = op.floats("x1");
  Value right = op.failedAlready ? Value() : op.floats("x2");
  double epsilon = op.real("eps", 1e-8);
  if (op.failedAlready || !requireShape(op, 1, OpBody::shape(left)))
    return;
  int64_t at =
      op.dimension(op.integer("dim").value_or(1), op.operandType(0).getRank());
  if (op.failedAlready)
    return;
  OpBody body{op};
  Reduction reduction{.dimensions = {at}, .isKept = false};
  auto buildDivisor = [&](Value value) {
    Value norm = buildNorm(op, value, reduction);
    Value more = body.binary<tv::SubtractOp>(
        clamp(body, norm, epsilon, std::nullopt), norm);
    return body.binary<tv::AddOp>(norm, body.unary<tv::DetachOp>(more));
  };
  Value product = reduce(op, tv::ReductionKind::Sum,
                         body.binary<tv::MultiplyOp>(left, right), reduction);
  results.push_back(body.binary<tv::DivideOp>(
      product,
      body.binary<tv::MultiplyOp>(buildDivisor(left), buildDivisor(right))));
}

/// `logsumexp(input, dim, keepdim)`: the logarithm of the sum of exponentials.
static void importLogSumExp(ForwardOp &op, Results &results) {
  auto reduction = readFloatReduction(op, /*needsDim=*/true);
  if (!reduction)
    return;
  OpBody body{op};
  results.push_back(body.unary<tv::LogOp>(
      reduce(op, tv::ReductionKind::Sum, body.unary<tv::ExpOp>(op.operands[0]),
             *reduction)));
}

/// The mean of squares of what differs from the mean, of one number less or as
/// keyword `correction` says; `isRoot` is the root of that, and `hasMean` gives
/// the mean, too.
template <bool isRoot, bool hasMean>
static void importVariance(ForwardOp &op, Results &results) {
  bool isUnbiased = !op.keyword("unbiased") || op.boolean("unbiased");
  double correction = op.real("correction", isUnbiased ? 1 : 0);
  auto reduction = readFloatReduction(op);
  if (!reduction || op.failedAlready)
    return;
  int64_t count = 1;
  for (int64_t dimension : reduction->dimensions)
    count *= op.operandType(0).getDimSize(dimension);
  if (correction != std::floor(correction)) {
    op.error() << "keyword 'correction' is not an integer";
    return;
  }
  double divisor = static_cast<double>(count) - correction;
  if (divisor <= 0) {
    op.error() << "corrects a mean of " << count << " by " << correction;
    return;
  }
  OpBody body{op};
  Value value = op.operands[0];
  Reduction kept{reduction->dimensions, /*isKept=*/true};
  Value distance = body.binary<tv::SubtractOp>(
      value, reduce(op, tv::ReductionKind::Average, value, kept));
  Value result = body.binary<tv::DivideOp>(
      reduce(op, tv::ReductionKind::Sum, body.power(distance, 2), *reduction),
      body.number(divisor));
  results.push_back(isRoot ? body.unary<tv::SqrtOp>(result) : result);
  if (hasMean)
    results.push_back(
        reduce(op, tv::ReductionKind::Average, value, *reduction));
}

//===----------------------------------------------------------------------===//
// The greatest and the least
//===----------------------------------------------------------------------===//

/// The first `count` elements along a dimension in the order of their size, and
/// where they are. No two may be equal (docs/Soundness.md, A23): those that are
/// have one rank, and are added up.
/// Result `placesResult` has the latter.
static std::optional<std::pair<Value, Value>>
chooseGreatest(ForwardOp &op, int64_t dimension, int64_t count, bool isLeast,
               unsigned placesResult = 1) {
  OpBody body{op};
  int64_t rank = op.operandType(0).getRank();
  SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(rank));
  std::swap(permutation[dimension], permutation[rank - 1]);
  Value value = body.transpose(op.operands[0], permutation);
  SmallVector<int64_t> shape(OpBody::shape(value));
  if (rank > 20) {
    op.error() << "is not supported on rank " << rank;
    return std::nullopt;
  }
  if (count > shape.back()) {
    op.error() << "takes " << count << " of a dimension of " << shape.back();
    return std::nullopt;
  }
  RankedTensorType numbers = op.resultType(placesResult);
  if (!numbers)
    return std::nullopt;
  // [..., i, j] is 1 if element i is the one of rank j.
  Value order = tv::DescendingRankOp::create(
      op.builder, op.location,
      RankedTensorType::get(shape, op.builder.getI64Type()),
      isLeast ? body.unary<tv::NegateOp>(value) : value, Value(),
      tv::DomainAttr());
  SmallVector<int64_t> chosenShape(shape);
  chosenShape.push_back(count);
  Value chosen = tv::OneHotOp::create(op.builder, op.location,
                                      OpBody::like(value, chosenShape), order,
                                      0, tv::DomainAttr());
  std::string lines;
  for (int64_t i = 0; i + 1 < rank; ++i)
    lines.push_back(static_cast<char>('a' + i));
  shape.back() = count;
  Value values = body.einsum(
      {value, chosen}, lines + "y," + lines + "yz->" + lines + "z", shape);
  SmallVector<int64_t> exchanged = llvm::to_vector(llvm::seq(rank + 1));
  std::swap(exchanged[rank - 1], exchanged[rank]);
  Value places = tv::OneHotIndexOp::create(
      op.builder, op.location,
      RankedTensorType::get(shape, numbers.getElementType()),
      body.transpose(chosen, exchanged), tv::DomainAttr());
  return std::pair(body.transpose(values, permutation),
                   body.transpose(places, permutation));
}

/// `torch.topk(input, k, dim, largest, sorted)`.
static void importTopK(ForwardOp &op, Results &results) {
  int64_t count = op.count("k");
  int64_t dim = op.integer("dim").value_or(-1);
  bool isLeast = op.keyword("largest") && !op.boolean("largest");
  if (op.keyword("sorted") && !op.boolean("sorted") && !op.failedAlready)
    op.error() << "keyword 'sorted' other than True is not supported";
  if (!op.requireOperands(1) || op.failedAlready)
    return;
  int64_t at = op.dimension(dim, op.operandType(0).getRank());
  if (op.failedAlready)
    return;
  if (auto chosen = chooseGreatest(op, at, count, isLeast)) {
    results.push_back(chosen->first);
    results.push_back(chosen->second);
  }
}

/// The greater or lesser one of two.
template <typename Op>
static void importGreater(ForwardOp &op, Results &results) {
  op.requireNone("out");
  RankedTensorType type = op.resultType(0);
  if (type && op.requireOperands(2))
    results.push_back(Op::create(op.builder, op.location, type, op.operands[0],
                                 op.operands[1], tv::DomainAttr()));
}

/// `torch.max`, or `torch.min` if `isLeast`: of two tensors, of all elements,
/// or along `dim`, with where it is.
template <typename Op, bool isLeast>
static void importGreatest(ForwardOp &op, Results &results) {
  if (op.operands.size() == 2) {
    importGreater<Op>(op, results);
    return;
  }
  op.requireNone("out");
  auto reduction = readReduction(op);
  if (!reduction)
    return;
  const Argument *dim = op.keyword("dim");
  if (!dim || (!dim->isTensor && dim->kind == ConstantKind::None)) {
    results.push_back(reduce(
        op, isLeast ? tv::ReductionKind::Minimum : tv::ReductionKind::Maximum,
        op.operands[0], *reduction));
    return;
  }
  if (reduction->dimensions.size() != 1) {
    op.error() << "keyword 'dim' is not an integer";
    return;
  }
  int64_t at = reduction->dimensions.front();
  auto chosen = chooseGreatest(op, at, 1, isLeast);
  if (!chosen)
    return;
  for (Value value : {chosen->first, chosen->second}) {
    SmallVector<int64_t> shape(OpBody::shape(value));
    if (!reduction->isKept)
      shape.erase(shape.begin() + at);
    giveReshaped(op, value, std::move(shape), results);
  }
}

/// `amax(input, dim, keepdim)`, or `amin`.
template <tv::ReductionKind kind>
static void importExtreme(ForwardOp &op, Results &results) {
  if (auto reduction = readFloatReduction(op))
    results.push_back(reduce(op, kind, op.operands[0], *reduction));
}

/// `argmax(input, dim, keepdim)`, or `argmin`: where the first one is.
template <bool isLeast>
static void importPlace(ForwardOp &op, Results &results) {
  auto reduction = readFloatReduction(op, /*needsDim=*/true);
  if (!reduction)
    return;
  if (reduction->dimensions.size() != 1) {
    op.error() << "keyword 'dim' is not an integer";
    return;
  }
  int64_t at = reduction->dimensions.front();
  auto chosen = chooseGreatest(op, at, 1, isLeast, /*placesResult=*/0);
  if (!chosen)
    return;
  SmallVector<int64_t> shape(OpBody::shape(chosen->second));
  if (!reduction->isKept)
    shape.erase(shape.begin() + at);
  giveReshaped(op, chosen->second, std::move(shape), results);
}

/// `torch.cumsum(input, dim)`.
static void importCumulativeSum(ForwardOp &op, Results &results) {
  std::optional<int64_t> dimension = op.integer("dim");
  op.requireNone("dtype");
  if (!op.requireOperands(1))
    return;
  if (!dimension) {
    op.error() << "needs keyword 'dim'";
    return;
  }
  int64_t at = op.dimension(*dimension, op.operandType(0).getRank());
  RankedTensorType type = op.resultType(0);
  if (type && !op.failedAlready)
    results.push_back(tv::CumulativeSumOp::create(
        op.builder, op.location, type, op.operands[0], at, tv::DomainAttr()));
}

void nnscaler::addReducingFunctions(ForwardRules &rules) {
  rules.insert({
      {"torch.sum", {importReduce<tv::ReductionKind::Sum>}},
      {"torch.mean", {importReduce<tv::ReductionKind::Average>}},
      {"torch.norm", {importNorm}},
      {"torch.functional.norm", {importNorm}},
      {"torch.topk", {importTopK}},
      {"torch.maximum", {importGreater<tv::MaximumOp>}},
      {"torch.minimum", {importGreater<tv::MinimumOp>}},
      {"torch.max", {importGreatest<tv::MaximumOp, false>}},
      {"torch.min", {importGreatest<tv::MinimumOp, true>}},
      {"torch.cumsum", {importCumulativeSum}},
      {"torch.nn.functional.normalize",
       {.import = importNormalize, .parameters = "input p dim eps"}},
      {"torch.nn.functional.cosine_similarity",
       {.import = importCosine, .parameters = "x1 x2 dim eps"}},
      {"torch.cosine_similarity",
       {.import = importCosine, .parameters = "x1 x2 dim eps"}},
      {"torch.logsumexp",
       {.import = importLogSumExp, .parameters = "input dim keepdim"}},
      {"torch.var",
       {.import = importVariance<false, false>,
        .parameters = "input dim unbiased keepdim"}},
      {"torch.std",
       {.import = importVariance<true, false>,
        .parameters = "input dim unbiased keepdim"}},
      {"torch.var_mean",
       {.import = importVariance<false, true>,
        .parameters = "input dim unbiased keepdim"}},
      {"torch.amax",
       {.import = importExtreme<tv::ReductionKind::Maximum>,
        .parameters = "input dim keepdim"}},
      {"torch.amin",
       {.import = importExtreme<tv::ReductionKind::Minimum>,
        .parameters = "input dim keepdim"}},
      {"torch.argmax",
       {.import = importPlace<false>, .parameters = "input dim keepdim"}},
      {"torch.argmin",
       {.import = importPlace<true>, .parameters = "input dim keepdim"}},
  });
}
