//===- DenseComparison.cpp - both sides of an expect ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DenseRuns.h"
#include "DimensionMaps.h"
#include "ValueNumbering.h"

#include <cmath>

using namespace mlir;
using namespace verify;

namespace {
/// A value of a claim: where its elements lie, and the terms of its sum.
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

/// The axes whose coordinates tell elements of a claim apart.
static uint64_t findComparedAxes(const DenseEvaluator::Claim &claim,
                                 const FactorAnalysis &factors,
                                 const ElementEvaluator &elements) {
  uint64_t axes = 0;
  auto bit = [&](StringAttr axis) {
    return uint64_t(1) << *factors.findAxis(axis.getValue());
  };
  for (Value value : claim.values)
    axes |= elements.getVaryingAxes(value);
  for (ArrayAttr dimension : claim.lineage.getDimensions())
    for (auto factor : dimension.getAsRange<tv::DimensionFactorAttr>())
      if (factor.getAxis())
        axes |= bit(factor.getAxis());
  for (StringAttr axis : claim.lineage.getSumAxes())
    axes &= ~bit(axis);
  return axes;
}

/// The values of a claim, each summed where it exists.
static FailureOr<SmallVector<Summand>>
listSummands(const DenseEvaluator::Claim &claim, const FactorAnalysis &factors,
             const DenseTensors &tensors) {
  SmallVector<unsigned> axes;
  for (StringAttr axis : claim.lineage.getSumAxes())
    axes.push_back(*factors.findAxis(axis.getValue()));
  SmallVector<Summand> summands;
  for (Value value : claim.values) {
    Operation *producer = value.getDefiningOp();
    auto domain = producer ? producer->getAttrOfType<tv::DomainAttr>("domain")
                           : tv::DomainAttr();
    SmallVector<SmallVector<int64_t, 2>> bounds;
    for (StringAttr axis : claim.lineage.getSumAxes()) {
      tv::AxisSetAttr set =
          domain ? domain.getSet(axis.getValue()) : tv::AxisSetAttr();
      bounds.emplace_back(set ? SmallVector<int64_t, 2>(set.getBounds())
                              : SmallVector<int64_t, 2>());
    }
    Summand summand;
    summand.tensor = tensors.find(value);
    auto terms = listAxisTerms(factors, *summand.tensor, axes, bounds);
    if (failed(terms))
      return failure();
    summand.terms = std::move(*terms);
    summands.push_back(std::move(summand));
  }
  return summands;
}

/// Whether the same positions of both values are kept.
static bool haveSamePositions(Value left, Value right,
                              const FactorAnalysis &factors) {
  if (left == right)
    return true;
  auto isSame = [](Representative first, Representative second) {
    return first.position == second.position;
  };
  ArrayRef<FactorAnalysis::Node> lefts = factors.getDimensions(left);
  ArrayRef<FactorAnalysis::Node> rights = factors.getDimensions(right);
  return lefts.size() == rights.size() &&
         llvm::all_of(llvm::zip_equal(lefts, rights), [&](auto pair) {
           auto first = factors.getRepresentatives(std::get<0>(pair));
           auto second = factors.getRepresentatives(std::get<1>(pair));
           return first.data() == second.data() ||
                  llvm::equal(first, second, isSame);
         });
}

LogicalResult DenseEvaluator::visit(const Claim &claim, bool skipsUnknown,
                                    Visitor visitor) {
  failureReason.clear();
  if (!tensors.find(claim.reference))
    return fail("the expect is not among the targets");
  Value first = claim.values.front();
  for (Value value : claim.values) {
    if (!tensors.find(value))
      return fail("the expect is not among the targets");
    if (!haveSamePositions(first, value, factors))
      return fail("the terms of a sum are kept at different positions");
  }
  for (StringAttr axis : claim.lineage.getSumAxes())
    if (!factors.findAxis(axis.getValue()))
      return fail("a lineage sums over devices that are spelled out");
  auto summands = listSummands(claim, factors, tensors);
  if (failed(summands))
    return fail("a sum has more than 2^63 terms");
  const DenseTensor &reference = *tensors.find(claim.reference);
  SmallVector<ArrayRef<Representative>> kept;
  int64_t count = 1;
  for (FactorAnalysis::Node node : factors.getDimensions(first)) {
    kept.push_back(factors.getRepresentatives(node));
    count *= static_cast<int64_t>(kept.back().size());
  }
  // A single element is its own sum.
  bool isSum = summands->size() != 1 || !claim.lineage.getSumAxes().empty();
  std::vector<WeightedScalar> terms;
  SmallVector<int64_t> starts(summands->size());
  SmallVector<unsigned, 4> layout = getLayout(*summands->front().tensor);
  for (const MeshPlace &place : listPlaces(
           factors, findComparedAxes(claim, factors, elements), claim.domain)) {
    auto mapped = mapDimensions(claim.lineage, place.coordinates,
                                claim.reference, first, skipsUnknown);
    if (failed(mapped))
      return failure();
    if (count == 0 || llvm::any_of(*mapped, [](const auto &map) {
          return map->unknown.front() ==
                 static_cast<int64_t>(map->unknown.size());
        }))
      continue;
    for (auto [start, summand] : llvm::zip_equal(starts, *summands))
      start = summand.tensor->getOffset(place);
    bool isInRuns = usesRuns && isLong(factors, first);
    ArrayRef<int64_t> neighbours;
    if (isInRuns && reference.dimensionStrides[layout.back()] == 1)
      neighbours = (*mapped)[layout.back()]->neighbours;
    int64_t next = 0;
    for (int64_t at = 0; at < count; at = next) {
      int64_t offset = 0, rest = at, stride = 1;
      next = at;
      SmallVector<int64_t> index(kept.size());
      for (unsigned i : llvm::reverse(layout)) {
        const DimensionMap &map = *(*mapped)[i];
        auto size = static_cast<int64_t>(kept[i].size());
        int64_t place = rest % size;
        if (map.unknown[place] > 0)
          next = (at / stride + map.unknown[place]) * stride;
        offset += map.ordinals[place] * reference.dimensionStrides[i];
        index[i] = kept[i][place].position;
        rest /= size;
        stride *= size;
      }
      if (next != at)
        continue;
      next = at + 1;
      // Elements that follow in the same runs have the same enclosures.
      if (!neighbours.empty()) {
        int64_t runEnd = count;
        for (auto [start, summand] : llvm::zip_equal(starts, *summands))
          for (AxisTerm term : summand.terms) {
            int64_t place = start + term.offset;
            runEnd = std::min(runEnd, summand.tensor->getEnd(
                                          summand.tensor->findRun(place + at)) -
                                          place);
          }
        runEnd = std::min(runEnd - at,
                          reference.getEnd(reference.findRun(offset)) - offset);
        next =
            at + std::min(runEnd, neighbours[at % kept[layout.back()].size()]);
      }
      size_t mark = algebra.mark();
      Scalar actual = summands->front().tensor->get(starts[0] + at);
      if (isSum) {
        terms.clear();
        for (auto [start, summand] : llvm::zip_equal(starts, *summands))
          for (AxisTerm term : summand.terms)
            terms.push_back(
                {summand.tensor->get(start + at + term.offset), term.weight});
        actual = algebra.sum(terms);
      }
      Scalar plan = algebra.keep(actual, mark);
      Visit answer = visitor(place.coordinates, index, reference.get(offset),
                             plan, next - at);
      if (answer != Visit::Keep)
        algebra.release(plan);
      if (answer == Visit::Stop)
        return success();
    }
  }
  return success();
}

std::vector<uint64_t>
DenseEvaluator::getComparisonKey(tv::ExpectOp expect) const {
  return tensors.getNumbering().getKey(expect);
}

std::optional<DenseEvaluator::Difference>
DenseEvaluator::compare(tv::ExpectOp expect,
                        llvm::function_ref<bool(Scalar, Scalar)> differs) {
  std::optional<Difference> largest;
  double largestDifference = -1;
  SmallVector<Value> values(expect.getValues());
  Claim claim{values, expect.getReference(), expect.getLineage(),
              expect.getDomain()};
  auto visitor = [&](const Coordinates &coordinates, ArrayRef<int64_t> index,
                     Scalar expected, Scalar plan, int64_t) {
    double difference = differs(expected, plan)
                            ? getRelativeDifference(algebra.toDouble(expected),
                                                    algebra.toDouble(plan))
                            : -1;
    if (difference <= largestDifference)
      return Visit::Continue;
    if (largest)
      algebra.release(largest->plan);
    largestDifference = difference;
    largest = {
        coordinates, SmallVector<int64_t>(index),
        elements.getReferenceIndex(expect.getLineage(), coordinates, index),
        expected, plan};
    return Visit::Keep;
  };
  if (failed(visit(claim, /*skipsUnknown=*/false, visitor)))
    return std::nullopt;
  return largest;
}
