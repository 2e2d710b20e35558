//===- ImportScatteringFunctions.cpp - elements at places of an index -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of PyTorch that put elements where an index names, or add them
// there. An index that names none puts nothing; PyTorch stops.
//
//===----------------------------------------------------------------------===//

#include "OpBody.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

namespace {
/// What is put along a dimension of `input`.
struct Scattering {
  Value input;
  int64_t at; ///< the dimension
  /// [..., i, ..., j]: 1 if element i of a line belongs at place j of it.
  Value places;
  /// The dimensions of what is put, with `y` in place of `at`.
  std::string lines;
};
} // namespace

/// `input`, `dim` and `index`, of which each line has its own places, or, of a
/// vector, all lines have the same. None after an error.
static std::optional<Scattering> readScattering(ForwardOp &op, bool isVector) {
  op.requireNone("out");
  Value input = op.floats("input");
  std::optional<int64_t> dim = op.integer("dim");
  Value index = op.failedAlready ? Value() : op.tensor("index");
  if ((!dim || !index) && !op.failedAlready)
    op.error() << "needs a dimension and a tensor 'index'";
  if (op.failedAlready)
    return std::nullopt;
  auto rank = static_cast<int64_t>(OpBody::shape(input).size());
  if (rank > 20) {
    op.error() << "is not supported on rank " << rank;
    return std::nullopt;
  }
  int64_t at = op.dimension(*dim, rank);
  if (op.failedAlready)
    return std::nullopt;
  SmallVector<int64_t> shape(OpBody::shape(input));
  int64_t size = shape[at];
  ArrayRef<int64_t> given = OpBody::shape(index);
  if (isVector ? given.size() != 1
               : given.size() != shape.size() ||
                     !llvm::all_of(llvm::seq(rank), [&](int64_t i) {
                       return i == at || given[i] == shape[i];
                     })) {
    op.error() << "has an index of " << index.getType() << " for "
               << input.getType();
    return std::nullopt;
  }
  SmallVector<int64_t> places(given);
  places.push_back(size);
  Scattering result = {input, at, {}, {}};
  result.places =
      tv::OneHotOp::create(op.builder, op.location, OpBody::like(input, places),
                           index, /*start=*/0, tv::DomainAttr());
  for (int64_t i = 0; i < rank; ++i)
    result.lines.push_back(i == at ? 'y' : static_cast<char>('a' + i));
  return result;
}

/// The sum of the elements of `source` that belong at each place.
static Value addUp(OpBody body, const Scattering &scattering, Value source,
                   bool isVector) {
  std::string result = scattering.lines;
  result[scattering.at] = 'z';
  return body.einsum({source, scattering.places},
                     scattering.lines + "," +
                         (isVector ? "y" : scattering.lines) + "z->" + result,
                     OpBody::shape(scattering.input));
}

/// The shape of what is put.
static SmallVector<int64_t> getSourceShape(const Scattering &scattering,
                                           bool isVector) {
  SmallVector<int64_t> shape(OpBody::shape(scattering.input));
  shape[scattering.at] =
      OpBody::shape(scattering.places)[isVector ? 0 : scattering.at];
  return shape;
}

/// `scatter_add(input, dim, index, src)`, or `index_add(input, dim, index,
/// source; alpha=1)` if the index is a vector.
template <bool isVector>
static void importScatterAdd(ForwardOp &op, Results &results) {
  auto scattering = readScattering(op, isVector);
  Value source = scattering ? op.floats(isVector ? "source" : "src") : Value();
  double factor = isVector ? op.real("alpha", 1) : 1;
  if (!source || op.failedAlready ||
      !requireShape(op, 2, getSourceShape(*scattering, isVector)))
    return;
  OpBody body{op};
  Value sum = addUp(body, *scattering, source, isVector);
  if (factor != 1)
    sum = body.binary<tv::MultiplyOp>(sum, body.number(factor));
  results.push_back(body.binary<tv::AddOp>(scattering->input, sum));
}

/// `scatter(input, dim, index, value)` of a number, which may be in the place
/// of `src`, too. Of several elements at one place PyTorch does not say which
/// is there, so that a tensor is refused.
static void importScatter(ForwardOp &op, Results &results) {
  auto scattering = readScattering(op, /*isVector=*/false);
  if (!scattering)
    return;
  op.requireNone("reduce");
  OpBody body{op};
  const Argument *given = op.positional("src");
  if (given && given->isTensor) {
    op.error() << "puts the elements of a tensor, of which several may belong "
                  "at one place; that is not supported";
    return;
  }
  Value put = body.number(op.real(op.keyword("value") ? "value" : "src"));
  Value ones = tv::ConstantOp::create(
      op.builder, op.location,
      OpBody::like(scattering->input, getSourceShape(*scattering, false)),
      DenseElementsAttr::get(RankedTensorType::get({}, op.builder.getF64Type()),
                             1.0),
      tv::DomainAttr());
  Value count = addUp(body, *scattering, ones, /*isVector=*/false);
  if (!op.failedAlready)
    results.push_back(body.select(
        body.compare(tv::ComparisonKind::NotEqual, count, body.number(0)), put,
        scattering->input));
}

void nnscaler::addScatteringFunctions(ForwardRules &rules) {
  rules.insert({
      {"torch.scatter_add",
       {.import = importScatterAdd<false>,
        .parameters = "input dim index src"}},
      {"torch.index_add",
       {.import = importScatterAdd<true>,
        .parameters = "input dim index source"}},
      {"torch.scatter",
       {.import = importScatter, .parameters = "input dim index src"}},
  });
}
