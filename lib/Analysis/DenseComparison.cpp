//===- DenseComparison.cpp - both sides of an expect ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DenseRelation.h"

#include <cmath>

using namespace mlir;
using namespace verify;

namespace {
/// A value of an expect: where its elements lie, and the terms of its sum.
struct Summand {
  const DenseTensor *tensor = nullptr;
  std::vector<AxisTerm> terms;
};
} // namespace

/// How far apart two numbers are, as a part of the larger one.
static double getRelativeDifference(double left, double right) {
  double larger = std::max(std::fabs(left), std::fabs(right));
  double difference = std::fabs(left - right);
  if (std::isnan(difference))
    return 0;
  // Minus infinity and a number.
  if (std::isinf(larger))
    return 2;
  return larger == 0 ? 0 : difference / larger;
}

/// The axes whose coordinates tell elements of an expect apart.
static uint64_t findComparedAxes(tv::ExpectOp expect,
                                 const FactorAnalysis &factors,
                                 const ElementEvaluator &elements) {
  uint64_t axes = 0;
  auto bit = [&](StringAttr axis) {
    return uint64_t(1) << *factors.findAxis(axis.getValue());
  };
  for (Value value : expect.getValues())
    axes |= elements.getVaryingAxes(value);
  for (ArrayAttr dimension : expect.getLineage().getDimensions())
    for (auto factor : dimension.getAsRange<tv::DimensionFactorAttr>())
      if (factor.getAxis())
        axes |= bit(factor.getAxis());
  for (StringAttr axis : expect.getLineage().getSumAxes())
    axes &= ~bit(axis);
  return axes;
}

/// The values of an expect, each summed where it exists.
static FailureOr<SmallVector<Summand>>
listSummands(tv::ExpectOp expect, const FactorAnalysis &factors,
             const llvm::DenseMap<Value, DenseTensor> &tensors) {
  SmallVector<unsigned> axes;
  for (StringAttr axis : expect.getLineage().getSumAxes())
    axes.push_back(*factors.findAxis(axis.getValue()));
  SmallVector<Summand> summands;
  for (Value value : expect.getValues()) {
    Operation *producer = value.getDefiningOp();
    auto domain = producer ? producer->getAttrOfType<tv::DomainAttr>("domain")
                           : tv::DomainAttr();
    SmallVector<SmallVector<int64_t, 2>> bounds;
    for (StringAttr axis : expect.getLineage().getSumAxes()) {
      tv::AxisSetAttr set =
          domain ? domain.getSet(axis.getValue()) : tv::AxisSetAttr();
      bounds.emplace_back(set ? SmallVector<int64_t, 2>(set.getBounds())
                              : SmallVector<int64_t, 2>());
    }
    Summand summand;
    summand.tensor = &tensors.find(value)->second;
    auto terms = listAxisTerms(factors, *summand.tensor, axes, bounds);
    if (failed(terms))
      return failure();
    summand.terms = std::move(*terms);
    summands.push_back(std::move(summand));
  }
  return summands;
}

std::optional<DenseEvaluator::Difference>
DenseEvaluator::compare(tv::ExpectOp expect,
                        llvm::function_ref<bool(Scalar, Scalar)> differs) {
  failureReason.clear();
  for (Value operand : expect->getOperands())
    if (!tensors.contains(operand)) {
      (void)fail("the expect is not among the targets");
      return std::nullopt;
    }
  for (StringAttr axis : expect.getLineage().getSumAxes())
    if (!factors.findAxis(axis.getValue())) {
      (void)fail("a lineage sums over devices that are spelled out");
      return std::nullopt;
    }
  auto summands = listSummands(expect, factors, tensors);
  if (failed(summands)) {
    (void)fail("a sum has more than 2^63 terms");
    return std::nullopt;
  }
  const DenseTensor &reference = tensors.find(expect.getReference())->second;
  Value first = expect.getValues().front();
  SmallVector<ArrayRef<Representative>> kept;
  int64_t count = 1;
  for (FactorAnalysis::Node node : factors.getDimensions(first)) {
    kept.push_back(factors.getRepresentatives(node));
    count *= static_cast<int64_t>(kept.back().size());
  }
  // A single element is its own sum.
  bool isSum =
      summands->size() != 1 || !expect.getLineage().getSumAxes().empty();
  std::optional<Difference> largest;
  double largestDifference = -1;
  std::vector<WeightedScalar> terms;
  SmallVector<int64_t> starts(summands->size());
  for (const MeshPlace &place :
       listPlaces(factors, findComparedAxes(expect, factors, elements),
                  expect.getDomain())) {
    auto offsets = getReferenceOffsets(expect.getLineage(), place.coordinates,
                                       expect.getReference(), first);
    if (failed(offsets))
      return std::nullopt;
    for (auto [start, summand] : llvm::zip_equal(starts, *summands))
      start = summand.tensor->getOffset(place);
    for (int64_t at = 0; at < count; ++at) {
      int64_t offset = 0, rest = at;
      SmallVector<int64_t> index(kept.size());
      for (size_t i = kept.size(); i-- > 0;) {
        auto size = static_cast<int64_t>(kept[i].size());
        offset += (*offsets)[i][rest % size];
        index[i] = kept[i][rest % size].position;
        rest /= size;
      }
      Scalar expected = reference.elements[offset];
      size_t mark = algebra.mark();
      Scalar actual = summands->front().tensor->elements[starts[0] + at];
      if (isSum) {
        terms.clear();
        for (auto [start, summand] : llvm::zip_equal(starts, *summands))
          for (AxisTerm term : summand.terms)
            terms.push_back({summand.tensor->elements[start + at + term.offset],
                             term.weight});
        actual = algebra.sum(terms);
      }
      Scalar plan = algebra.keep(actual, mark);
      double difference =
          differs(expected, plan)
              ? getRelativeDifference(algebra.toDouble(expected),
                                      algebra.toDouble(plan))
              : -1;
      if (difference <= largestDifference) {
        algebra.release(plan);
        continue;
      }
      if (largest)
        algebra.release(largest->plan);
      largestDifference = difference;
      largest = {place.coordinates, index,
                 elements.getReferenceIndex(expect.getLineage(),
                                            place.coordinates, index),
                 expected, plan};
    }
  }
  return largest;
}
