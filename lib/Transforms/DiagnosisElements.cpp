//===- DiagnosisElements.cpp - in what both sides of an expect differ -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnosis.h"

#include "RankFold.h"
#include "WitnessInputs.h"

using namespace mlir;
using namespace verify;

/// The coordinates for which those of `where` stand among all that are looked
/// at; none for all, or where that is not known: with `tellsBulk` it is for one
/// that stands for several.
static SmallVector<int64_t>
listCoordinates(ArrayRef<Representative> all,
                const llvm::DenseSet<int64_t> &where, bool tellsBulk) {
  if (where.size() == all.size())
    return {};
  SmallVector<int64_t> coordinates;
  // In order, each that is looked at stands for as many.
  int64_t next = 0;
  for (Representative entry : all) {
    int64_t first = std::exchange(next, next + entry.weight);
    if (entry.position < first || entry.position >= next)
      return {};
    if (!where.contains(entry.position))
      continue;
    if (!tellsBulk && entry.weight != 1)
      return {};
    for (int64_t other = first; other < next; ++other)
      coordinates.push_back(other);
  }
  return coordinates;
}

namespace {
/// What is found of all elements of an expect, looked at once.
class ElementComparison {
public:
  ElementComparison(const FactorAnalysis &factors, double scale)
      : factors(factors), scale(scale) {
    microBatches.number = factors.findAxis("mb");
    ranks.number = factors.findAxis(RankFold::axis);
  }

  /// Adds pairs at the same coordinates.
  void add(const Coordinates &coordinates, ArrayRef<Scalar> references,
           ArrayRef<Scalar> plans,
           llvm::function_ref<SmallVector<int64_t>(size_t number)> getIndex);
  const FarthestPair &getFarthest() const { return farthest; }
  bool isDifferent() const { return largest >= 0; }
  DifferentElement getElement() const;
  SmallVector<int64_t> listMicroBatches() const {
    return list(microBatches, /*tellsBulk=*/false);
  }
  SmallVector<int64_t> listRanks() const {
    return list(ranks, /*tellsBulk=*/true);
  }

private:
  struct Axis {
    std::optional<unsigned> number;
    llvm::DenseSet<int64_t> where; ///< coordinates at which elements differ
    int64_t last = -1;             ///< the one that was added last
    void add(const Coordinates &coordinates) {
      int64_t coordinate = number ? coordinates[*number] : -1;
      if (coordinate == last)
        return;
      where.insert(coordinate);
      last = coordinate;
    }
  };
  SmallVector<int64_t> list(const Axis &axis, bool tellsBulk) const;

  const FactorAnalysis &factors;
  double scale;
  FarthestPair farthest;
  /// The element with the largest relative difference, of these the first.
  double largest = -1, reference = 0, plan = 0;
  Coordinates coordinates;
  SmallVector<int64_t> index;
  Axis microBatches, ranks;
};
} // namespace

void ElementComparison::add(
    const Coordinates &coordinates, ArrayRef<Scalar> references,
    ArrayRef<Scalar> plans,
    llvm::function_ref<SmallVector<int64_t>(size_t number)> getIndex) {
  // Most elements do not differ.
  constexpr size_t most = 256;
  for (size_t number = 0; number < references.size(); ++number) {
    while (number % most == 0 && number < references.size()) {
      size_t count = std::min(most, references.size() - number);
      if (!farthest.addClose(references.slice(number, count),
                             plans.slice(number, count)))
        break;
      number += count;
    }
    if (number == references.size())
      break;
    double expected = DoubleAlgebra::getDouble(references[number]);
    double actual = DoubleAlgebra::getDouble(plans[number]);
    if (!farthest.add(expected, actual) || !isFarApart(expected, actual, scale))
      continue;
    microBatches.add(coordinates);
    ranks.add(coordinates);
    double difference = getRelativeDifference(expected, actual);
    if (difference <= largest)
      continue;
    largest = difference;
    this->coordinates = coordinates;
    index = getIndex(number);
    reference = expected;
    plan = actual;
  }
}

SmallVector<std::pair<std::string, int64_t>>
verify::nameCoordinates(const FactorAnalysis &factors,
                        const Coordinates &coordinates) {
  SmallVector<std::pair<std::string, int64_t>> named;
  for (auto [axis, coordinate] : llvm::enumerate(coordinates))
    if (coordinate >= 0 && factors.getAxisSize(axis) > 1)
      named.push_back({factors.getAxisName(axis).str(), coordinate});
  return named;
}

/// `about 0.0021`: as few digits as tell two numbers apart.
static std::pair<std::string, std::string> printRoughly(double left,
                                                        double right) {
  auto print = [](double value, int digits) {
    return (std::isfinite(value) ? "about " : "") + printNumber(value, digits);
  };
  std::pair<std::string, std::string> texts;
  constexpr int most = std::numeric_limits<double>::max_digits10;
  for (int digits = 2; digits <= most && texts.first == texts.second; ++digits)
    texts = {print(left, digits), print(right, digits)};
  return texts;
}

DifferentElement ElementComparison::getElement() const {
  DifferentElement element;
  element.index = index;
  std::tie(element.planValue, element.referenceValue) =
      factors.isGrouped() ? printRoughly(plan, reference)
                          : printDifferent(plan, reference);
  element.coordinates = nameCoordinates(factors, coordinates);
  return element;
}

SmallVector<int64_t> ElementComparison::list(const Axis &axis,
                                             bool tellsBulk) const {
  // Coordinates are told apart where all of them are looked at.
  if (!axis.number || coordinates[*axis.number] < 0)
    return {};
  return listCoordinates(
      factors.getRepresentatives(factors.getAxis(*axis.number)), axis.where,
      tellsBulk);
}

std::optional<Diagnosis::Difference>
Diagnosis::findDifference(tv::ExpectOp expect, DenseEvaluator &evaluator,
                          DoubleAlgebra &algebra) {
  SmallVector<Value> values(expect.getValues());
  DenseEvaluator::Claim claim = {values, expect.getReference(),
                                 expect.getLineage(), expect.getDomain()};
  auto compareAll = [&](ElementComparison &comparison) {
    if (succeeded(evaluator.visitRows(claim, [&](const Coordinates &coordinates,
                                                 ArrayRef<Scalar> references,
                                                 ArrayRef<Scalar> plans,
                                                 auto getIndex) {
          comparison.add(coordinates, references, plans, getIndex);
        })))
      return true;
    failureReason = evaluator.getFailure();
    return false;
  };
  ElementComparison comparison(factors, 1);
  if (!compareAll(comparison))
    return std::nullopt;
  // Numbers that all are small may be so for another reason than rounding.
  const FarthestPair &farthest = comparison.getFarthest();
  Difference difference;
  difference.distance = farthest.getDifference();
  difference.isUnordered = farthest.isUnordered();
  difference.isFaint = !farthest.isFarApart(1);
  std::optional<ElementComparison> faint;
  if (difference.isFaint) {
    double scale = std::min(farthest.getMagnitude(), 1.0);
    if (!farthest.isFarApart(scale))
      return std::nullopt;
    faint.emplace(factors, scale);
    if (!compareAll(*faint))
      return std::nullopt;
  }
  const ElementComparison &found = faint ? *faint : comparison;
  if (!found.isDifferent())
    return std::nullopt;
  difference.element = found.getElement();
  difference.microBatches = found.listMicroBatches();
  difference.ranks = found.listRanks();
  return difference;
}
