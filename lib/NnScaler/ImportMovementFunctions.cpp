//===- ImportMovementFunctions.cpp - other shapes and orders --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of PyTorch that give elements of their operands in other places.
//
//===----------------------------------------------------------------------===//

#include "OpBody.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

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
  // What complex numbers are imported as has one more.
  bool isComplex = op.plan.isComplex(op.operandTensor(0));
  ArrayRef<int64_t> sizes = type.getShape().drop_back(isComplex);
  if (size->getElements().size() != sizes.size()) {
    op.error() << "has " << size->getElements().size() << " sizes for rank "
               << sizes.size();
    return;
  }
  int64_t inferred = 0;
  for (auto [argument, expected] : llvm::zip(size->getElements(), sizes)) {
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

/// Tensor `input` with two dimensions exchanged, of which keywords of these
/// names say the numbers.
static void exchange(ForwardOp &op, StringRef one, StringRef other,
                     Results &results) {
  std::optional<int64_t> first = op.integer(one), second = op.integer(other);
  op.tensor("input");
  if (!op.requireOperands(1) || op.failedAlready)
    return;
  if (!first || !second) {
    op.error() << "needs keywords '" << one << "' and '" << other << "'";
    return;
  }
  int64_t rank = op.operandType(0).getRank();
  SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(rank));
  int64_t from = op.dimension(*first, rank), to = op.dimension(*second, rank);
  if (op.failedAlready)
    return;
  std::swap(permutation[from], permutation[to]);
  results.push_back(OpBody{op}.transpose(op.operands[0], permutation));
}
static void importTranspose(ForwardOp &op, Results &results) {
  exchange(op, "dim0", "dim1", results);
}
static void importSwapAxes(ForwardOp &op, Results &results) {
  exchange(op, "axis0", "axis1", results);
}

/// `torch.permute(input, dims)`.
static void importPermute(ForwardOp &op, Results &results) {
  auto dims = op.integers("dims");
  if (!op.requireOperands(1) || !dims)
    return;
  int64_t rank = op.operandType(0).getRank();
  SmallVector<int64_t> permutation;
  for (int64_t dim : *dims)
    permutation.push_back(op.dimension(dim, rank));
  SmallVector<int64_t> sorted = permutation;
  llvm::sort(sorted);
  if (op.failedAlready)
    return;
  if (!llvm::equal(sorted, llvm::seq<int64_t>(rank)))
    op.error() << "keyword 'dims' does not name each dimension once";
  else
    results.push_back(OpBody{op}.transpose(op.operands[0], permutation));
}

/// `torch.squeeze(input, dim)`: without dimensions of size 1, all or those of
/// `dim`.
static void importSqueeze(ForwardOp &op, Results &results) {
  const Argument *dim = op.keyword("dim");
  bool isAll = !dim || (!dim->isTensor && dim->kind == ConstantKind::None);
  std::optional<SmallVector<int64_t>> dims;
  if (!isAll)
    dims = op.integers("dim");
  if (!op.requireOperands(1) || op.failedAlready)
    return;
  ArrayRef<int64_t> shape = op.operandType(0).getShape();
  int64_t rank = op.operandType(0).getRank();
  llvm::SmallDenseSet<int64_t> chosen;
  if (isAll)
    llvm::for_each(llvm::seq<int64_t>(rank),
                   [&](int64_t i) { chosen.insert(i); });
  else
    for (int64_t i : *dims)
      if (!chosen.insert(op.dimension(i, rank)).second && !op.failedAlready)
        op.error() << "keyword 'dim' names a dimension twice";
  SmallVector<int64_t> kept;
  for (auto [i, size] : llvm::enumerate(shape))
    if (size != 1 || !chosen.contains(i))
      kept.push_back(size);
  giveReshaped(op, op.operands[0], std::move(kept), results);
}

/// `torch.unsqueeze(input, dim)`: a new dimension of size 1 there.
static void importUnsqueeze(ForwardOp &op, Results &results) {
  std::optional<int64_t> dim = op.integer("dim");
  if (!op.requireOperands(1))
    return;
  if (!dim) {
    op.error() << "needs keyword 'dim'";
    return;
  }
  int64_t at = op.dimension(*dim, op.operandType(0).getRank() + 1);
  SmallVector<int64_t> shape(op.operandType(0).getShape());
  shape.insert(shape.begin() + at, 1);
  giveReshaped(op, op.operands[0], std::move(shape), results);
}

/// `torch.flatten(input, start_dim, end_dim)`: these and those between as one.
static void importFlatten(ForwardOp &op, Results &results) {
  int64_t start = op.integer("start_dim").value_or(0);
  int64_t end = op.integer("end_dim").value_or(-1);
  if (!op.requireOperands(1))
    return;
  ArrayRef<int64_t> shape = op.operandType(0).getShape();
  int64_t rank = op.operandType(0).getRank();
  start = op.dimension(start, rank);
  end = op.dimension(end, rank);
  if (op.failedAlready)
    return;
  if (start > end) {
    op.error() << "ends at dimension " << end << ", before " << start;
    return;
  }
  SmallVector<int64_t> result(shape.take_front(start));
  ArrayRef<int64_t> flat = shape.slice(start, end - start + 1);
  // The elements are there, so that their number fits.
  result.push_back(llvm::product_of(flat));
  llvm::append_range(result, shape.drop_front(end + 1));
  giveReshaped(op, op.operands[0], std::move(result), results);
}

/// `input.view_as(other)`, or `reshape_as`.
static void importViewAs(ForwardOp &op, Results &results) {
  if (!op.requireOperands(2))
    return;
  if (op.operandType(0).getNumElements() != op.operandType(1).getNumElements())
    op.error() << "does not give " << op.operandType(0) << " the shape of "
               << op.operandType(1);
  else
    results.push_back(
        OpBody{op}.reshape(op.operands[0], op.operandType(1).getShape()));
}

/// `t(input)`: the transpose of a matrix; a vector as it is.
static void importT(ForwardOp &op, Results &results) {
  if (!op.requireOperands(1))
    return;
  if (op.operandType(0).getRank() != 2)
    op.error() << "needs a matrix, got " << op.operandType(0);
  else
    results.push_back(OpBody{op}.transpose(op.operands[0], {1, 0}));
}

/// `movedim(input, source, destination)`: dimensions at other places, and the
/// others in their order at those that are left.
static void importMoveDim(ForwardOp &op, Results &results) {
  Value input = op.tensor("input");
  auto source = op.integers("source"), destination = op.integers("destination");
  if (!input && !op.failedAlready)
    op.error() << "needs a tensor 'input'";
  if (!source || !destination || op.failedAlready)
    return;
  int64_t rank = op.operandType(0).getRank();
  SmallVector<int64_t> permutation(rank, -1);
  llvm::SmallDenseSet<int64_t> moved;
  bool fits = source->size() == destination->size();
  for (size_t i = 0; fits && i != source->size(); ++i) {
    int64_t from = op.dimension((*source)[i], rank),
            to = op.dimension((*destination)[i], rank);
    fits &=
        !op.failedAlready && moved.insert(from).second && permutation[to] == -1;
    if (fits)
      permutation[to] = from;
  }
  if (!fits) {
    if (!op.failedAlready)
      op.error() << "does not move each dimension to one place";
    return;
  }
  int64_t next = 0;
  for (int64_t &place : permutation) {
    while (place == -1 && moved.contains(next))
      ++next;
    if (place == -1)
      place = next++;
  }
  results.push_back(OpBody{op}.transpose(input, permutation));
}

/// `unflatten(input, dim, sizes)`: one dimension as several.
static void importUnflatten(ForwardOp &op, Results &results) {
  Value input = op.tensor("input");
  std::optional<int64_t> dim = op.integer("dim");
  auto sizes = op.integers("sizes");
  if ((!input || !dim) && !op.failedAlready)
    op.error() << "needs a tensor and a dimension";
  if (!sizes || op.failedAlready)
    return;
  SmallVector<int64_t> shape(OpBody::shape(input));
  int64_t at = op.dimension(*dim, static_cast<int64_t>(shape.size()));
  if (op.failedAlready)
    return;
  // At most one of them follows from the others.
  int64_t known = 1;
  int64_t *inferred = nullptr;
  bool fits = true;
  for (int64_t &size : *sizes)
    if (size == -1 && !inferred)
      inferred = &size;
    else
      fits &= size > 0 && !llvm::MulOverflow(known, size, known);
  if (fits && inferred)
    *inferred = shape[at] / known;
  if (!fits || known * (inferred ? *inferred : 1) != shape[at]) {
    op.error() << "does not divide a dimension of " << shape[at];
    return;
  }
  shape.erase(shape.begin() + at);
  shape.insert(shape.begin() + at, sizes->begin(), sizes->end());
  giveReshaped(op, input, std::move(shape), results);
}

/// Tensors, which are there, one after the other along a dimension.
static void concatenate(ForwardOp &op, ArrayRef<Value> values, int64_t at,
                        Results &results) {
  SmallVector<int64_t> shape(OpBody::shape(values.front()));
  auto getElement = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getElementType();
  };
  auto getNumber = [&](Value value) {
    auto extended = dyn_cast<tv::ExtendedType>(getElement(value));
    return extended ? extended.getReal() : getElement(value);
  };
  Type element = getElement(values.front());
  for (Value value : values.drop_front()) {
    ArrayRef<int64_t> other = OpBody::shape(value);
    // One that may hold minus infinity makes the result one.
    if (isa<tv::ExtendedType>(getElement(value)))
      element = getElement(value);
    if (other.size() != shape.size() ||
        getNumber(value) != getNumber(values.front()) ||
        llvm::AddOverflow(shape[at], other[at], shape[at])) {
      op.error() << "cannot put " << value.getType() << " after "
                 << values.front().getType();
      return;
    }
  }
  results.push_back(tv::ConcatOp::create(
      op.builder, op.location, RankedTensorType::get(shape, element),
      ValueRange(values), at, tv::DomainAttr()));
}

/// `cat(*tensors, dim)`.
static void importConcat(ForwardOp &op, Results &results) {
  int64_t dim = op.integer("dim").value_or(0);
  if (op.operands.empty()) {
    op.error() << "has no operands";
    return;
  }
  int64_t at = op.dimension(dim, op.operandType(0).getRank());
  if (!op.failedAlready)
    concatenate(op, op.operands, at, results);
}

/// `stack(*tensors, dim)`: as in `cat`, along a new dimension.
static void importStack(ForwardOp &op, Results &results) {
  int64_t dim = op.integer("dim").value_or(0);
  if (op.operands.empty()) {
    op.error() << "has no operands";
    return;
  }
  int64_t at = op.dimension(dim, op.operandType(0).getRank() + 1);
  if (op.failedAlready)
    return;
  SmallVector<Value> rows;
  for (Value value : op.operands) {
    SmallVector<int64_t> shape(OpBody::shape(value));
    shape.insert(shape.begin() + std::min<size_t>(at, shape.size()), 1);
    rows.push_back(OpBody{op}.reshape(value, shape));
  }
  concatenate(op, rows, at, results);
}

/// `torch.nn.functional.pad(input, pad, mode, value)`, with zeros; pairs of
/// lengths, of the last dimension first.
static void importPad(ForwardOp &op, Results &results) {
  auto lengths = op.integers("pad");
  if (const Argument *mode = op.keyword("mode"))
    if (mode->isTensor || mode->kind != ConstantKind::String ||
        mode->getText() != "constant")
      op.error() << "keyword 'mode' other than 'constant' is not supported";
  const Argument *filling = op.keyword("value");
  bool isNone =
      !filling || (!filling->isTensor && filling->kind == ConstantKind::None);
  if (!isNone && op.real("value") != 0 && !op.failedAlready)
    op.error() << "keyword 'value' other than 0 is not supported";
  if (!op.requireOperands(1) || !lengths || op.failedAlready)
    return;
  Value value = op.operands[0];
  int64_t rank = op.operandType(0).getRank();
  if (lengths->size() % 2 != 0 ||
      static_cast<int64_t>(lengths->size()) > 2 * rank) {
    op.error() << "has " << lengths->size() << " lengths for rank " << rank;
    return;
  }
  for (size_t i = 0; i != lengths->size(); i += 2) {
    int64_t low = (*lengths)[i], high = (*lengths)[i + 1];
    int64_t at = rank - 1 - static_cast<int64_t>(i / 2);
    int64_t size = OpBody::shape(value)[at];
    if (low < 0 || high < 0 || llvm::AddOverflow(size, low, size) ||
        llvm::AddOverflow(size, high, size)) {
      op.error() << "lengths " << low << " and " << high
                 << " are not supported";
      return;
    }
    value = OpBody{op}.pad(value, at, low, high);
  }
  results.push_back(value);
}

void nnscaler::addMovementFunctions(ForwardRules &rules) {
  constexpr MinusInfinity kept = MinusInfinity::Kept;
  rules.insert({
      {"torch.Tensor.view", {importView, kept, /*takesComplex=*/true}},
      {"torch.Tensor.reshape", {importView, kept, /*takesComplex=*/true}},
      {"torch.flatten", {importFlatten, kept}},
      {"torch.squeeze", {importSqueeze, kept}},
      {"torch.unsqueeze", {importUnsqueeze, kept}},
      {"torch.transpose", {importTranspose, kept}},
      {"torch.permute", {importPermute, kept}},
      {"torch.Tensor.view_as",
       {.import = importViewAs, .minusInfinity = kept, .ignoresOthers = true}},
      {"torch.Tensor.reshape_as",
       {.import = importViewAs, .minusInfinity = kept, .ignoresOthers = true}},
      {"torch.swapaxes",
       {.import = importSwapAxes,
        .minusInfinity = kept,
        .parameters = "input axis0 axis1"}},
      {"torch.swapdims",
       {.import = importTranspose,
        .minusInfinity = kept,
        .parameters = "input dim0 dim1"}},
      {"torch.t", {importT, kept}},
      {"torch.movedim",
       {.import = importMoveDim,
        .minusInfinity = kept,
        .parameters = "input source destination"}},
      {"torch.unflatten",
       {.import = importUnflatten,
        .minusInfinity = kept,
        .parameters = "input dim sizes"}},
      {"torch.nn.functional.pad", {importPad, kept}},
      {"nnscaler.runtime.function.cat", {importConcat, kept}},
      {"nnscaler.runtime.function.stack", {importStack, kept}},
  });
}
