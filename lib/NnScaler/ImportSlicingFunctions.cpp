//===- ImportSlicingFunctions.cpp - parts of tensors ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of PyTorch that give ranges of dimensions: `tensor[...]` and those
// that divide a tensor.
//
//===----------------------------------------------------------------------===//

#include "OpBody.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

/// Parts of these sizes along dimension `dim`, one after the other.
static void divide(ForwardOp &op, ArrayRef<int64_t> sizes, int64_t at,
                   Results &results) {
  int64_t start = 0, whole = op.operandType(0).getDimSize(at);
  for (int64_t size : sizes) {
    if (size < 1 || size > whole - start) {
      op.error() << "takes a part of " << size << " of what is left of "
                 << whole << ": " << whole - start;
      return;
    }
    results.push_back(
        OpBody{op}.slice(op.operands[0], at, start, start + size));
    start += size;
  }
  if (start != whole)
    op.error() << "divides " << start << " of a dimension of " << whole;
}

/// Whether the plan has so many results.
static bool givesParts(ForwardOp &op, int64_t count) {
  if (count == static_cast<int64_t>(op.node.outputs.size()))
    return true;
  op.error() << "gives " << count << " tensors, the plan has "
             << op.node.outputs.size();
  return false;
}

/// `torch.chunk(input, chunks, dim)`, of equal parts.
static void importChunk(ForwardOp &op, Results &results) {
  int64_t chunks = op.count("chunks"), dim = op.integer("dim").value_or(0);
  if (!op.requireOperands(1))
    return;
  int64_t at = op.dimension(dim, op.operandType(0).getRank());
  if (op.failedAlready)
    return;
  int64_t whole = op.operandType(0).getDimSize(at);
  if (whole % chunks != 0)
    op.error() << "makes " << chunks << " parts of a dimension of " << whole;
  else if (givesParts(op, chunks))
    divide(op, SmallVector<int64_t>(chunks, whole / chunks), at, results);
}

/// `torch.split(tensor, split_size_or_sections, dim)`: parts of one size, but
/// for the last one, or of those sizes.
static void importSplit(ForwardOp &op, Results &results) {
  auto sizes = op.integers("split_size_or_sections");
  int64_t dim = op.integer("dim").value_or(0);
  if (!op.requireOperands(1) || !sizes)
    return;
  int64_t at = op.dimension(dim, op.operandType(0).getRank());
  if (op.failedAlready)
    return;
  if (!op.keyword("split_size_or_sections")->isSequence()) {
    int64_t size = sizes->front(), whole = op.operandType(0).getDimSize(at);
    if (size < 1) {
      op.error() << "takes parts of " << size;
      return;
    }
    if (!givesParts(op, llvm::divideCeil(whole, size)))
      return;
    sizes->assign(whole / size, size);
    if (whole % size != 0)
      sizes->push_back(whole % size);
  }
  divide(op, *sizes, at, results);
}

/// Tensor `input` and keyword `dim`, or `otherwise`, as a dimension of it; none
/// after an error.
static std::optional<std::pair<Value, int64_t>>
getDimension(ForwardOp &op, std::optional<int64_t> otherwise) {
  Value input = op.tensor("input");
  std::optional<int64_t> dim = op.integer("dim");
  if (!dim)
    dim = otherwise;
  if ((!input || !dim) && !op.failedAlready)
    op.error() << "needs a tensor and a dimension";
  if (op.failedAlready)
    return std::nullopt;
  int64_t at = op.dimension(*dim, op.operandType(0).getRank());
  if (op.failedAlready)
    return std::nullopt;
  return std::pair(input, at);
}

/// `narrow(input, dim, start, length)`, or, if that is one that is left out of
/// the shape, `select(input, dim, index)`.
template <bool isOne> static void importPart(ForwardOp &op, Results &results) {
  auto found = getDimension(op, std::nullopt);
  std::optional<int64_t> start = op.integer(isOne ? "index" : "start");
  int64_t length = isOne ? 1 : op.count("length");
  if (!start && !op.failedAlready)
    op.error() << "needs to know where it starts";
  if (!found || op.failedAlready)
    return;
  auto [input, at] = *found;
  SmallVector<int64_t> shape(OpBody::shape(input));
  int64_t first = *start < 0 ? *start + shape[at] : *start;
  if (first < 0 || length > shape[at] || first > shape[at] - length) {
    op.error() << "takes " << length << " from " << *start
               << " of a dimension of " << shape[at];
    return;
  }
  Value part = OpBody{op}.slice(input, at, first, first + length);
  if (isOne)
    shape.erase(shape.begin() + at);
  else
    shape[at] = length;
  giveReshaped(op, part, std::move(shape), results);
}

/// `unbind(input, dim=0)`: each slice of a dimension, without that.
static void importUnbind(ForwardOp &op, Results &results) {
  auto found = getDimension(op, 0);
  if (!found)
    return;
  auto [input, at] = *found;
  SmallVector<int64_t> shape(OpBody::shape(input));
  int64_t count = shape[at];
  shape.erase(shape.begin() + at);
  if (givesParts(op, count))
    for (int64_t i = 0; i < count; ++i)
      giveReshaped(op, OpBody{op}.slice(input, at, i, i + 1), shape, results);
}

/// `roll(input, shifts, dims)`: the elements at the end of a dimension come to
/// its start; of all in a row where no dimension is given.
static void importRoll(ForwardOp &op, Results &results) {
  Value input = op.tensor("input");
  auto shifts = op.integers("shifts");
  const Argument *given = op.keyword("dims");
  bool isFlat =
      !given || (!given->isTensor && given->kind == ConstantKind::None);
  auto dims =
      isFlat ? std::optional(SmallVector<int64_t>{0}) : op.integers("dims");
  if (!input && !op.failedAlready)
    op.error() << "needs a tensor 'input'";
  if (!shifts || !dims || op.failedAlready)
    return;
  if (shifts->size() != dims->size()) {
    op.error() << "has " << shifts->size() << " shifts of " << dims->size()
               << " dimensions";
    return;
  }
  OpBody body{op};
  Value value = input;
  if (isFlat)
    value = body.reshape(value, {op.operandType(0).getNumElements()});
  for (auto [shift, dim] : llvm::zip(*shifts, *dims)) {
    ArrayRef<int64_t> shape = OpBody::shape(value);
    int64_t at = op.dimension(dim, static_cast<int64_t>(shape.size()));
    if (op.failedAlready)
      return;
    int64_t size = shape[at], distance = ((shift % size) + size) % size;
    if (distance == 0)
      continue;
    Value end = body.slice(value, at, size - distance, size),
          start = body.slice(value, at, 0, size - distance);
    value = tv::ConcatOp::create(op.builder, op.location, value.getType(),
                                 ValueRange{end, start}, at, tv::DomainAttr());
  }
  giveReshaped(op, value, SmallVector<int64_t>(OpBody::shape(input)), results);
}

namespace {
/// Takes a tensor apart as `tensor[slicers]` does, dimension by dimension.
class Indexing {
public:
  explicit Indexing(ForwardOp &op) : op(op), value(op.operands[0]) {}

  /// False after an error.
  bool add(const Argument &slicer);
  void finish(Results &results);

private:
  bool addRange(ArrayRef<Argument> bounds);
  /// A position, counted from the end if negative.
  static int64_t count(int64_t position, int64_t size) {
    return position < 0 ? position + size : position;
  }
  bool hasDimension() {
    if (next < OpBody::shape(value).size())
      return true;
    op.error() << "has more indices than dimensions";
    return false;
  }

  ForwardOp &op;
  Value value;
  size_t next = 0;             ///< dimension of `value`
  SmallVector<int64_t> result; ///< its shape, of the dimensions before
};
} // namespace

bool Indexing::add(const Argument &slicer) {
  if (!slicer.isTensor && slicer.kind == ConstantKind::None) {
    result.push_back(1);
    return true;
  }
  if (!slicer.isTensor && slicer.kind == ConstantKind::Opaque &&
      slicer.getText() == "slice")
    return hasDimension() && addRange(slicer.getElements());
  if (slicer.isTensor || slicer.kind != ConstantKind::Integer) {
    op.error() << "an index that is neither an integer, a slice nor None is "
                  "not supported";
    return false;
  }
  if (!hasDimension())
    return false;
  int64_t size = OpBody::shape(value)[next];
  int64_t at = count(slicer.getInteger(), size);
  if (at < 0 || at >= size) {
    op.error() << "index " << slicer.getInteger() << " is outside of a "
               << "dimension of " << size;
    return false;
  }
  value = OpBody{op}.slice(value, next++, at, at + 1);
  return true;
}

bool Indexing::addRange(ArrayRef<Argument> bounds) {
  int64_t size = OpBody::shape(value)[next];
  auto isNone = [](const Argument &bound) {
    return !bound.isTensor && bound.kind == ConstantKind::None;
  };
  auto isInteger = [](const Argument &bound) {
    return !bound.isTensor && bound.kind == ConstantKind::Integer;
  };
  if (bounds.size() != 3 || !llvm::all_of(bounds, [&](const Argument &bound) {
        return isNone(bound) || isInteger(bound);
      })) {
    op.error() << "the bounds of a slice are not integers";
    return false;
  }
  if (!isNone(bounds[2]) && bounds[2].getInteger() != 1) {
    op.error() << "a step of " << bounds[2].getInteger() << " is not supported";
    return false;
  }
  auto clip = [&](const Argument &bound, int64_t otherwise) {
    if (isNone(bound))
      return otherwise;
    return std::clamp<int64_t>(count(bound.getInteger(), size), 0, size);
  };
  int64_t start = clip(bounds[0], 0), end = clip(bounds[1], size);
  if (start >= end) {
    op.error() << "takes nothing of a dimension of " << size;
    return false;
  }
  if (end - start != size)
    value = OpBody{op}.slice(value, next, start, end);
  ++next;
  result.push_back(end - start);
  return true;
}

void Indexing::finish(Results &results) {
  llvm::append_range(result, OpBody::shape(value).drop_front(next));
  giveReshaped(op, value, std::move(result), results);
}

/// `fullslice(tensor, *slicers)`, or with keyword `slicers`: `tensor[slicers]`.
static void importIndexing(ForwardOp &op, Results &results) {
  const Argument *keyword = op.keyword("slicers");
  op.usesConstant = true;
  if (op.operands.empty() || !op.node.inputs.front().isTensor ||
      (keyword && (!keyword->isSequence() || op.node.inputs.size() != 1))) {
    op.error() << "needs a tensor and indices";
    return;
  }
  Indexing indexing(op);
  for (const Argument &slicer :
       keyword ? keyword->getElements() : op.node.inputs.drop_front())
    if (!indexing.add(slicer))
      return;
  indexing.finish(results);
}

/// `torch.gather(input, dim, index)`: of each line along `dim` the elements
/// that the same line of the index names.
static void importGather(ForwardOp &op, Results &results) {
  std::optional<int64_t> dim = op.integerOrSecond("dim");
  op.requireFalse("sparse_grad");
  op.requireNone("out");
  RankedTensorType type = op.resultType(0);
  if (!op.requireOperands(2) || !type)
    return;
  int64_t rank = op.operandType(0).getRank();
  if (!dim || rank > 20) {
    op.error() << "needs keyword 'dim'";
    return;
  }
  int64_t at = op.dimension(*dim, rank);
  if (op.failedAlready)
    return;
  SmallVector<int64_t> shape(op.operandType(0).getShape());
  int64_t lines = shape[at];
  if (op.operandType(1).getRank() == rank)
    shape[at] = op.operandType(1).getDimSize(at);
  if (!requireShape(op, 1, shape))
    return;
  // Of a class that there is not, nothing; PyTorch stops.
  shape.push_back(lines);
  Value chosen = tv::OneHotOp::create(
      op.builder, op.location,
      RankedTensorType::get(shape, type.getElementType()), op.operands[1],
      /*start=*/0, tv::DomainAttr());
  std::string result, input;
  for (int64_t i = 0; i < rank; ++i) {
    result.push_back(static_cast<char>('a' + i));
    input.push_back(i == at ? 'z' : static_cast<char>('a' + i));
  }
  results.push_back(OpBody{op}.einsum({op.operands[0], chosen},
                                      input + "," + result + "z->" + result,
                                      type.getShape()));
}

/// `torch.index_select(input, dim, index)`: along `dim` the elements that a
/// vector names.
static void importIndexSelect(ForwardOp &op, Results &results) {
  std::optional<int64_t> dim = op.integerOrSecond("dim");
  op.requireNone("out");
  RankedTensorType type = op.resultType(0);
  if (!op.requireOperands(2) || !type)
    return;
  int64_t rank = op.operandType(0).getRank();
  if (!dim || rank > 20 || op.operandType(1).getRank() != 1) {
    op.error() << "needs keyword 'dim' and a vector of indices";
    return;
  }
  int64_t at = op.dimension(*dim, rank);
  if (op.failedAlready)
    return;
  SmallVector<int64_t> shape(op.operandType(0).getShape());
  int64_t count = op.operandType(1).getDimSize(0);
  Value chosen = tv::OneHotOp::create(
      op.builder, op.location, OpBody::like(op.operands[0], {count, shape[at]}),
      op.operands[1],
      /*start=*/0, tv::DomainAttr());
  shape[at] = count;
  std::string result, input;
  for (int64_t i = 0; i < rank; ++i) {
    result.push_back(i == at ? 'y' : static_cast<char>('a' + i));
    input.push_back(i == at ? 'z' : static_cast<char>('a' + i));
  }
  results.push_back(OpBody{op}.einsum({op.operands[0], chosen},
                                      input + ",yz->" + result, shape));
}

void nnscaler::addSlicingFunctions(ForwardRules &rules) {
  constexpr MinusInfinity kept = MinusInfinity::Kept;
  rules.insert({
      {"torch.chunk", {importChunk, kept}},
      {"torch.split", {importSplit, kept}},
      {"torch.functional.split", {importSplit, kept}},
      {"torch.narrow",
       {.import = importPart<false>,
        .minusInfinity = kept,
        .parameters = "input dim start length"}},
      {"torch.select",
       {.import = importPart<true>,
        .minusInfinity = kept,
        .parameters = "input dim index"}},
      {"torch.unbind",
       {.import = importUnbind,
        .minusInfinity = kept,
        .parameters = "input dim"}},
      {"torch.roll",
       {.import = importRoll,
        .minusInfinity = kept,
        .parameters = "input shifts dims"}},
      {"torch.gather", {importGather}},
      {"torch.index_select", {importIndexSelect}},
      {"nnscaler.runtime.function.index_select", {importIndexSelect}},
      {"nnscaler.runtime.function.fullslice",
       {importIndexing, kept, /*takesComplex=*/true}},
  });
}
