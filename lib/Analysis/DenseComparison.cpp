//===- DenseComparison.cpp - both sides of an expect ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementPairs.h"
#include "ValueNumbering.h"

#include <cmath>

using namespace mlir;
using namespace verify;

double verify::getRelativeDifference(double left, double right) {
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
    axes |= factors.getVaryingAxes(value);
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
             ArrayRef<const DenseTensor *> tensors) {
  SmallVector<unsigned> axes;
  for (StringAttr axis : claim.lineage.getSumAxes())
    axes.push_back(*factors.findAxis(axis.getValue()));
  SmallVector<Summand> summands;
  for (auto [value, tensor] : llvm::zip_equal(claim.values, tensors)) {
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
    summand.tensor = tensor;
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

llvm::BitVector DenseEvaluator::findUniform(const Claim &claim) const {
  const DenseTensor &reference = *tensors.find(claim.reference);
  llvm::BitVector uniform(reference.dimensionStrides.size());
  for (auto [i, stride] : llvm::enumerate(reference.dimensionStrides))
    uniform[i] = stride == 0 && llvm::all_of(claim.values, [&](Value value) {
                   const DenseTensor *tensor = tensors.find(value);
                   return tensor && i < tensor->dimensionStrides.size() &&
                          tensor->dimensionStrides[i] == 0;
                 });
  return uniform;
}

FailureOr<SmallVector<const DenseTensor *>>
DenseEvaluator::getWholeTerms(const Claim &claim,
                              const llvm::BitVector &uniform) {
  Value first = claim.values.front();
  SmallVector<const DenseTensor *> whole;
  for (Value value : claim.values) {
    if (!tensors.find(value))
      return fail("the expect is not among the targets");
    if (!haveSamePositions(first, value, factors))
      return fail("the terms of a sum are kept at different positions");
    whole.push_back(getWholeOnce(value, uniform));
    if (!whole.back())
      return failTooCostly();
    if (whole.back()->dimensionStrides != whole.front()->dimensionStrides)
      return fail("the terms of a sum are kept in different orders");
  }
  return whole;
}

/// Keeps the first position that is known of dimensions whose positions are all
/// alike; returns for how many pairs each one stands then.
static int64_t
leaveOutRepeated(const llvm::BitVector &uniform,
                 ArrayRef<std::shared_ptr<const DimensionMap>> mapped,
                 SmallVectorImpl<ArrayRef<Representative>> &kept) {
  int64_t repeats = 1;
  for (unsigned i : uniform.set_bits()) {
    ArrayRef<int64_t> unknown = mapped[i]->unknown;
    const int64_t *known = llvm::find(unknown, 0);
    if (known == unknown.end())
      continue;
    repeats *= llvm::count(unknown, 0);
    kept[i] = kept[i].slice(known - unknown.begin(), 1);
  }
  return repeats;
}

/// Chooses one position each of the `spread` dimensions, which the reference
/// has several of and the value of a claim one, in all ways.
static void forEachChoice(
    ArrayRef<unsigned> spread, const DenseTensor &reference,
    ArrayRef<std::shared_ptr<const DimensionMap>> mapped,
    SmallVector<ArrayRef<Representative>> kept, int64_t start,
    llvm::function_ref<bool(ArrayRef<ArrayRef<Representative>>, int64_t)>
        visit) {
  auto choose = [&](auto choose, ArrayRef<unsigned> rest,
                    int64_t start) -> bool {
    if (rest.empty())
      return visit(kept, start);
    unsigned i = rest.front();
    ArrayRef<Representative> all = kept[i];
    bool goesOn = true;
    for (size_t place = 0; goesOn && place < all.size(); ++place) {
      int64_t ordinal = mapped[i]->ordinals[place];
      if (ordinal < 0)
        continue;
      kept[i] = all.slice(place, 1);
      goesOn = choose(choose, rest.drop_front(),
                      start + ordinal * reference.dimensionStrides[i]);
    }
    kept[i] = all;
    return goesOn;
  };
  (void)choose(choose, spread, start);
}

SmallVector<unsigned> DenseEvaluator::findSpread(const Claim &claim) const {
  SmallVector<unsigned> spread;
  if (claim.values.size() != 1)
    return spread;
  const DenseTensor *reference = tensors.find(claim.reference);
  const DenseTensor *value = tensors.find(claim.values.front());
  if (!reference || !value ||
      reference->dimensionStrides.size() != value->dimensionStrides.size())
    return spread;
  // Of long ones there are too many positions to look at each.
  ArrayRef<FactorAnalysis::Node> nodes =
      factors.getDimensions(claim.values.front());
  for (unsigned i = 0; i < value->dimensionStrides.size(); ++i)
    if (value->dimensionStrides[i] == 0 &&
        reference->dimensionStrides[i] != 0 && !isLong(factors, nodes[i]))
      spread.push_back(i);
  return spread;
}

LogicalResult DenseEvaluator::forEachPlace(
    const Claim &claim, bool skipsUnknown, ArrayRef<unsigned> spread,
    llvm::function_ref<bool(ElementPairs &pairs, const Coordinates &coordinates,
                            int64_t repeats)>
        visit) {
  failureReason.clear();
  if (!tensors.find(claim.reference))
    return fail("the expect is not among the targets");
  Value first = claim.values.front();
  // Of pairs that are all alike one is looked at.
  llvm::BitVector uniform = findUniform(claim);
  limitWholes();
  llvm::BitVector single = uniform;
  for (unsigned i : spread)
    single.set(i);
  auto whole = getWholeTerms(claim, single);
  if (failed(whole))
    return failure();
  for (StringAttr axis : claim.lineage.getSumAxes())
    if (!factors.findAxis(axis.getValue()))
      return fail("a lineage sums over devices that are spelled out");
  auto summands = listSummands(claim, factors, *whole);
  if (failed(summands))
    return fail("a sum has more than 2^63 terms");
  // Of the reference only elements that are neighbours have to be there.
  const DenseTensor *reference = tensors.find(claim.reference);
  llvm::BitVector missing(reference->dimensionStrides.size());
  for (unsigned i = 0; i < missing.size(); ++i)
    missing[i] = reference->dimensionStrides[i] == 0;
  SmallVector<unsigned, 4> layout = getLayout(*whole->front());
  for (unsigned i : llvm::reverse(layout))
    if (factors.getRepresentatives(factors.getDimensions(first)[i]).size() >
        1) {
      missing.reset(i);
      break;
    }
  reference = getWholeOnce(claim.reference, missing);
  if (!reference)
    return failTooCostly();
  SmallVector<ArrayRef<Representative>> all;
  for (FactorAnalysis::Node node : factors.getDimensions(first))
    all.push_back(factors.getRepresentatives(node));
  bool isInRuns = usesRuns && isLong(factors, first);
  for (const MeshPlace &place : listPlaces(
           factors, findComparedAxes(claim, factors, elements), claim.domain)) {
    auto mapped = mapDimensions(claim.lineage, place.coordinates,
                                claim.reference, first, skipsUnknown);
    if (failed(mapped))
      return failure();
    SmallVector<ArrayRef<Representative>> kept(all);
    int64_t repeats = leaveOutRepeated(uniform, *mapped, kept);
    bool goesOn = true;
    forEachChoice(
        spread, *reference, *mapped, std::move(kept), /*start=*/0,
        [&](ArrayRef<ArrayRef<Representative>> chosen, int64_t start) {
          ElementPairs pairs(*summands, *reference, chosen, place, *mapped,
                             isInRuns, start);
          return goesOn = visit(pairs, place.coordinates, repeats);
        });
    if (!goesOn)
      break;
  }
  return success();
}

int64_t DenseEvaluator::countKnown(const Claim &claim) {
  for (StringAttr axis : claim.lineage.getSumAxes())
    if (!factors.findAxis(axis.getValue()))
      return 0;
  int64_t total = 0;
  for (const MeshPlace &place : listPlaces(
           factors, findComparedAxes(claim, factors, elements), claim.domain)) {
    auto mapped =
        mapDimensions(claim.lineage, place.coordinates, claim.reference,
                      claim.values.front(), /*skipsUnknown=*/true);
    if (failed(mapped))
      return 0;
    int64_t known = 1;
    for (const auto &map : *mapped)
      known *= llvm::count(map->unknown, 0);
    total += known;
  }
  return total;
}

/// A single element is its own sum.
static bool isSum(const DenseEvaluator::Claim &claim) {
  return claim.values.size() != 1 || !claim.lineage.getSumAxes().empty();
}

LogicalResult DenseEvaluator::visit(const Claim &claim, bool skipsUnknown,
                                    Visitor visitor, bool isLastOnly) {
  std::vector<WeightedScalar> terms;
  bool sums = isSum(claim);
  auto visitPairs = [&](ElementPairs &pairs, const Coordinates &coordinates,
                        int64_t repeats) {
    if (isLastOnly)
      pairs.skipToLast();
    while (pairs.find()) {
      int64_t equal = pairs.countEqual();
      size_t mark = algebra.mark();
      Scalar actual = pairs.getFirst();
      if (sums) {
        pairs.getTerms(terms);
        actual = algebra.sum(terms);
      }
      Scalar plan = algebra.keep(actual, mark);
      Visit answer = visitor(coordinates, pairs.getIndex(),
                             pairs.getReference(), plan, equal * repeats);
      if (answer != Visit::Keep)
        algebra.release(plan);
      if (answer == Visit::Stop)
        return false;
      pairs.skip(equal);
    }
    return true;
  };
  return forEachPlace(claim, skipsUnknown, {}, visitPairs);
}

LogicalResult DenseEvaluator::visitRows(const Claim &claim,
                                        RowVisitor visitor) {
  std::vector<Scalar> references, actual;
  std::vector<int64_t> places;
  std::vector<WeightedScalar> terms;
  bool sums = isSum(claim);
  auto visitPairs = [&](ElementPairs &pairs, const Coordinates &coordinates,
                        int64_t) {
    while (pairs.find()) {
      if (ElementPairs::Row row = sums ? ElementPairs::Row() : pairs.getRow();
          !row.firsts.empty()) {
        visitor(coordinates, row.references, row.firsts, [&](size_t number) {
          return pairs.getIndex(row.getPair(number));
        });
        pairs.skipRow(row.count);
        continue;
      }
      references.clear();
      actual.clear();
      places.clear();
      size_t mark = algebra.mark();
      int64_t count;
      if (sums) {
        count = pairs.countEqual();
        pairs.getTerms(terms);
        references.push_back(pairs.getReference());
        actual.push_back(algebra.keep(algebra.sum(terms), mark));
        places.push_back(0);
      } else {
        count = pairs.readRow(references, actual, places);
      }
      visitor(coordinates, references, actual,
              [&](size_t number) { return pairs.getIndex(places[number]); });
      if (sums)
        algebra.release(actual.front());
      pairs.skipRow(count);
    }
    return true;
  };
  return forEachPlace(claim, /*skipsUnknown=*/false, findSpread(claim),
                      visitPairs);
}

bool DenseEvaluator::haveEqualElements(
    Value left, Value right,
    llvm::function_ref<bool(Scalar, Scalar)> areEqual) const {
  if (!tensors.find(left) || !tensors.find(right))
    return false;
  std::deque<DenseTensor> storage;
  const DenseTensor *first = getWhole(left, storage);
  const DenseTensor *second = getWhole(right, storage);
  if (!first || !second || first->axisStrides != second->axisStrides ||
      first->axisClasses != second->axisClasses ||
      first->dimensionStrides != second->dimensionStrides ||
      !haveSamePositions(left, right, factors))
    return false;
  size_t firstRun = 0, secondRun = 0;
  for (int64_t at = 0; at < first->size;) {
    if (!areEqual(first->elements[firstRun], second->elements[secondRun]))
      return false;
    int64_t firstEnd = first->getEnd(firstRun);
    int64_t secondEnd = second->getEnd(secondRun);
    at = std::min(firstEnd, secondEnd);
    firstRun += firstEnd == at;
    secondRun += secondEnd == at;
  }
  return true;
}

std::vector<uint64_t>
DenseEvaluator::getComparisonKey(tv::ExpectOp expect) const {
  return tensors.getNumbering()->getKey(expect);
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
