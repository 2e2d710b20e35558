//===- ValueMatching.cpp - what plan values are, by their numbers ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ValueMatching.h"

#include "FoldedGroups.h"
#include "RankFold.h"
#include "Verify/IR/Locations.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace verify;

/// Most slices of a reference value that are tried for one value.
static constexpr size_t lineageLimit = 256;
/// Numerators and denominators of factors that are named.
static constexpr int64_t factorLimit = 4096;
/// Relative differences that rounding never makes of equal sums, almost.
static constexpr double roundingLimit = 1e-2;

/// Where the value exists.
static tv::DomainAttr getDomain(Value value) {
  Operation *op = value.getDefiningOp();
  return op ? op->getAttrOfType<tv::DomainAttr>("domain") : tv::DomainAttr();
}

/// The devices that execute what gives the value.
static SmallVector<int64_t> listDevices(Value value) {
  SmallVector<int64_t> devices;
  tv::DomainAttr domain = getDomain(value);
  tv::AxisSetAttr set = domain ? domain.getSet("device") : tv::AxisSetAttr();
  if (!set)
    return devices;
  for (size_t i = 0; i < set.getBounds().size(); i += 2)
    for (int64_t device = set.getBounds()[i]; device < set.getBounds()[i + 1];
         ++device)
      devices.push_back(device);
  return devices;
}

SmallVector<int64_t> verify::getDevices(Value value) {
  auto graph =
      value.getParentBlock()
          ? dyn_cast<tv::GraphOp>(value.getParentBlock()->getParentOp())
          : tv::GraphOp();
  return graph ? addFoldedRanks(graph, listDevices(value)) : listDevices(value);
}

PlaceKey verify::getPlaceKey(Location location) {
  PlaceKey key{getOpKind(location)};
  if (FileLineColLoc file = getFilePlace(location)) {
    key.file = file.getFilename().getAsOpaquePointer();
    key.line = file.getLine();
  }
  return key;
}

ValueMatcher::OpKey ValueMatcher::getKey(Operation *op) {
  const void *what = op->getName().getAsOpaquePointer();
  // Of one that nothing computes, which tensor it is.
  if (auto undefined = dyn_cast<tv::UndefinedOp>(op))
    what = undefined.getNameAttr().getAsOpaquePointer();
  return std::tuple_cat(std::tuple(what), getPlaceKey(op->getLoc()).asTuple());
}

void ValueMatcher::listPlaces() {
  for (Operation &op : graph.getBody().front()) {
    if (op.getNumResults() != 1)
      continue;
    SmallVector<int64_t> devices = listDevices(op.getResult(0));
    if (!devices.empty())
      byPlace[getKey(&op)][devices.front()].push_back(op.getResult(0));
  }
}

SmallVector<Value> ValueMatcher::getCounterparts(Value value) {
  if (byPlace.empty())
    listPlaces();
  Operation *op = value.getDefiningOp();
  SmallVector<int64_t> devices = listDevices(value);
  auto found =
      op && !devices.empty() ? byPlace.find(getKey(op)) : byPlace.end();
  if (found == byPlace.end())
    return {value};
  auto own = found->second.find(devices.front());
  auto ordinal = llvm::find(own->second, value) - own->second.begin();
  SmallVector<Value> counterparts;
  // What stands for several devices is not compared with what stands for one.
  for (auto &[device, values] : found->second)
    if (ordinal < static_cast<int64_t>(values.size()) &&
        values[ordinal].getType() == value.getType() &&
        (values[ordinal] == value || getFoldedRanks(graph, device).empty()))
      counterparts.push_back(values[ordinal]);
  return counterparts;
}

//===----------------------------------------------------------------------===//
// Hypotheses
//===----------------------------------------------------------------------===//

SmallVector<StringAttr> ValueMatcher::getVaryingAxes(Value value) {
  SmallVector<StringAttr> names;
  uint64_t axes = evaluator->getVaryingAxes(value);
  for (unsigned axis = 0; axis < factors->getAxisCount(); ++axis)
    if ((axes >> axis & 1) && factors->getAxisSize(axis) > 1)
      names.push_back(
          StringAttr::get(mesh.getContext(), factors->getAxisName(axis)));
  return names;
}

SmallVector<tv::LineageAttr>
ValueMatcher::listLineages(Value value, Value reference,
                           ArrayRef<StringAttr> sumAxes) {
  ArrayRef<int64_t> local = cast<RankedTensorType>(value.getType()).getShape();
  ArrayRef<int64_t> whole =
      cast<RankedTensorType>(reference.getType()).getShape();
  if (local.size() != whole.size() ||
      getSort(value.getType()) != getSort(reference.getType()))
    return {};
  for (auto [part, size] : llvm::zip_equal(local, whole))
    if (size % part)
      return {};
  // Of the axes that are not summed, replicas and micro-batches index one
  // dimension, together; ranks index one, the same or another.
  Indexing samples, ranks;
  for (StringAttr axis : getVaryingAxes(value))
    if (!llvm::is_contained(sumAxes, axis)) {
      Indexing &own = RankFold::isAxis(axis) ? ranks : samples;
      own.factors.push_back(
          tv::DimensionFactorAttr::get(mesh.getContext(), axis, 0, 0, 0));
      own.parts *= mesh.getAxisSize(axis.getValue()).value_or(1);
    }
  SmallVector<tv::LineageAttr> lineages;
  for (samples.carrier = 0; samples.carrier <= local.size(); ++samples.carrier)
    for (ranks.carrier = 0; ranks.carrier <= local.size(); ++ranks.carrier)
      if (samples.isWhole(local.size()) && ranks.isWhole(local.size()) &&
          !addLineages(lineages, local, whole, {samples, ranks}, sumAxes))
        return lineages;
  return lineages;
}

bool ValueMatcher::addLineages(SmallVectorImpl<tv::LineageAttr> &lineages,
                               ArrayRef<int64_t> local, ArrayRef<int64_t> whole,
                               ArrayRef<Indexing> indexing,
                               ArrayRef<StringAttr> sumAxes) const {
  MLIRContext *context = mesh.getContext();
  SmallVector<SmallVector<ArrayAttr>> chosen = {{}};
  for (auto [i, part, size] : llvm::enumerate(local, whole)) {
    int64_t parts = 1;
    SmallVector<Attribute> list;
    for (const Indexing &each : indexing)
      if (each.carrier == i) {
        parts *= each.parts;
        llvm::append_range(list, each.factors);
      }
    if (parts > 1 && size % (parts * part))
      return true;
    int64_t extent = size / parts;
    SmallVector<SmallVector<ArrayAttr>> next;
    for (const SmallVector<ArrayAttr> &prefix : chosen)
      for (int64_t start = 0; start < extent; start += part) {
        SmallVector<Attribute> factors = list;
        factors.push_back(tv::DimensionFactorAttr::get(
            context, StringAttr(), start, start + part, extent));
        next.push_back(prefix);
        next.back().push_back(ArrayAttr::get(context, factors));
        if (next.size() > lineageLimit)
          return false;
      }
    chosen = std::move(next);
  }
  for (const SmallVector<ArrayAttr> &dimensions : chosen)
    lineages.push_back(tv::LineageAttr::get(context, dimensions, sumAxes));
  return true;
}

SmallVector<SmallVector<Value>> ValueMatcher::listGroups(Value value) {
  SmallVector<SmallVector<Value>> groups;
  SmallVector<Value> all = getCounterparts(value);
  auto own = llvm::find(all, value) - all.begin();
  auto count = static_cast<int64_t>(all.size());
  auto add = [&](int64_t first, int64_t stride, int64_t size) {
    SmallVector<Value> group;
    for (int64_t i = 0; i < size && first + i * stride < count; ++i)
      group.push_back(all[first + i * stride]);
    if (static_cast<int64_t>(group.size()) == size &&
        llvm::is_contained(group, value) && !llvm::is_contained(groups, group))
      groups.push_back(std::move(group));
  };
  // Neighbours first, then those at a distance, then all.
  for (int64_t size = 2; size < count; size *= 2)
    for (int64_t stride = 1; stride * size <= count; stride *= 2)
      add(own / (stride * size) * (stride * size) + own % stride, stride, size);
  add(0, 1, count);
  return groups;
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// The simple fraction that `value` is, if it is one.
static std::optional<std::pair<int64_t, int64_t>> toFraction(double value) {
  for (int64_t denominator = 1; denominator <= factorLimit; ++denominator) {
    double numerator = std::round(value * denominator);
    if (numerator == 0 || std::fabs(numerator) > factorLimit)
      continue;
    if (std::fabs(value * denominator - numerator) <=
        1e-9 * std::fabs(numerator) / denominator)
      return std::pair(static_cast<int64_t>(numerator), denominator);
  }
  return std::nullopt;
}

/// Whether a factor may be believed where a single number speaks for it: any
/// two numbers have some ratio. It may be a small number, that of some points
/// of the mesh, or a power of two, as scales of losses are.
static bool isUsualFactor(std::pair<int64_t, int64_t> fraction,
                          tv::MeshAttr mesh) {
  auto [numerator, denominator] = fraction;
  int64_t points = 1;
  for (tv::AxisAttr axis : mesh.getAxes())
    points *= axis.getSize();
  int64_t factor = std::max(numerator, denominator);
  return numerator == -denominator ||
         (numerator > 0 && std::min(numerator, denominator) == 1 &&
          (factor <= std::max<int64_t>(points, 16) ||
           llvm::isPowerOf2_64(factor)));
}

int64_t ValueMatcher::countLooked(Value value) const {
  int64_t count = 1;
  for (FactorAnalysis::Node node : factors->getDimensions(value))
    count *= static_cast<int64_t>(factors->getRepresentatives(node).size());
  return count;
}

ValueMatcher::Extent ValueMatcher::getExtent(ArrayRef<Value> terms) const {
  uint64_t axes = 0;
  for (Value term : terms)
    axes |= factors->getVaryingAxes(term);
  SmallVector<unsigned> roots;
  for (FactorAnalysis::Node node : factors->getDimensions(terms.front()))
    roots.push_back(factors->getRoot(node));
  return {getDomain(terms.front()).getAsOpaquePointer(), axes, roots};
}

/// Whether `known` elements tell what a value is of which `wanted` are looked
/// at.
static bool areEnough(int64_t known, int64_t wanted) {
  return known >= wanted - known;
}

bool ValueMatcher::isMostlyKnown(ArrayRef<Value> terms, Value reference,
                                 tv::LineageAttr lineage) {
  DenseEvaluator::Claim claim{terms, reference, lineage,
                              getDomain(terms.front())};
  return areEnough(evaluator->countKnown(claim), countLooked(terms.front()));
}

bool ValueMatcher::isOtherSum(ArrayRef<Value> terms, Value reference,
                              tv::LineageAttr lineage) {
  bool differs = false;
  auto visitor = [&](const Coordinates &, ArrayRef<int64_t>,
                     Scalar expectedScalar, Scalar actualScalar, int64_t) {
    double expected = algebra->toDouble(expectedScalar);
    double actual = algebra->toDouble(actualScalar);
    // Far more than rounding makes of it.
    differs = std::fabs(expected - actual) >
              roundingLimit * std::max(std::fabs(expected), std::fabs(actual));
    return differs ? DenseEvaluator::Visit::Stop
                   : DenseEvaluator::Visit::Continue;
  };
  DenseEvaluator::Claim claim{terms, reference, lineage,
                              getDomain(terms.front())};
  return succeeded(evaluator->visit(claim, /*skipsUnknown=*/true, visitor,
                                    /*isLastOnly=*/true)) &&
         differs;
}

std::optional<Match> ValueMatcher::match(ArrayRef<Value> terms, Value reference,
                                         tv::LineageAttr lineage) {
  int64_t visited = 0;
  double largest = 0;
  std::optional<double> ratio;
  std::optional<double> only;
  bool fits = true, isUniform = true;
  auto isSame = [&](double left, double right) {
    if (std::isinf(left) || std::isinf(right))
      return left == right;
    largest = std::max({largest, std::fabs(left), std::fabs(right)});
    return left == right ||
           std::fabs(left - right) <=
               1e-7 * std::max(std::fabs(left), std::fabs(right)) +
                   1e-11 * largest;
  };
  auto visitor = [&](const Coordinates &, ArrayRef<int64_t>,
                     Scalar expectedScalar, Scalar actualScalar,
                     int64_t count) {
    double expected = algebra->toDouble(expectedScalar);
    double actual = algebra->toDouble(actualScalar);
    visited += count;
    isUniform &= isSame(std::fabs(actual), only.value_or(std::fabs(actual)));
    only = std::fabs(actual);
    if (!ratio && expected != 0 && actual != 0 && std::isfinite(expected) &&
        std::isfinite(actual))
      ratio = isSame(actual, expected) ? 1 : actual / expected;
    fits = isSame(actual, expected * ratio.value_or(1));
    return fits ? DenseEvaluator::Visit::Continue : DenseEvaluator::Visit::Stop;
  };
  DenseEvaluator::Claim claim{terms, reference, lineage,
                              getDomain(terms.front())};
  if (failed(evaluator->visit(claim, /*skipsUnknown=*/true, visitor)) ||
      !fits || !areEnough(visited, countLooked(terms.front())))
    return std::nullopt;
  auto fraction = toFraction(ratio.value_or(1));
  if (!fraction || (isUniform && !isUsualFactor(*fraction, mesh)))
    return std::nullopt;
  return Match{reference, lineage, SmallVector<Value>(terms), fraction->first,
               fraction->second};
}

std::optional<Match> ValueMatcher::matchPart(Value value, Value reference,
                                             tv::LineageAttr expected) {
  SmallVector<tv::LineageAttr> lineages = listLineages(value, reference, {});
  bool isListed = llvm::is_contained(lineages, expected);
  std::optional<Match> multiple;
  for (tv::LineageAttr lineage : lineages)
    if (std::optional<Match> found = match(value, reference, lineage)) {
      if (!found->isScaled())
        return found;
      // Parts of a product are multiples of each other.
      if (isListed ? lineage == expected : !multiple)
        multiple = found;
    }
  return multiple;
}

bool ValueMatcher::isPart(Value value, Value reference,
                          tv::LineageAttr lineage) {
  std::optional<Match> found = match(value, reference, lineage);
  return found && !found->isScaled();
}

std::optional<Match> ValueMatcher::matchSum(Value value, Value reference) {
  SmallVector<StringAttr> varying = getVaryingAxes(value);
  SmallVector<SmallVector<Value>> groups = listGroups(value);
  groups.insert(groups.begin(), {value});
  // Meshes of plans have three.
  if (varying.size() > 8)
    return std::nullopt;
  // A value that is indexed by the axes, or a term of a sum over some of them.
  for (uint64_t mask = 0; mask < uint64_t(1) << varying.size(); ++mask) {
    SmallVector<StringAttr> sumAxes;
    for (auto [i, axis] : llvm::enumerate(varying))
      if (mask >> i & 1)
        sumAxes.push_back(axis);
    SmallVector<tv::LineageAttr> lineages =
        listLineages(value, reference, sumAxes);
    // Most groups are alike.
    std::map<Extent, SmallVector<tv::LineageAttr>> known;
    for (const SmallVector<Value> &group : groups) {
      if (group.size() == 1 && sumAxes.empty())
        continue;
      auto [own, isNew] = known.try_emplace(getExtent(group));
      if (isNew)
        llvm::copy_if(lineages, std::back_inserter(own->second),
                      [&](tv::LineageAttr lineage) {
                        return isMostlyKnown(group, reference, lineage);
                      });
      for (tv::LineageAttr lineage : own->second)
        if (!isOtherSum(group, reference, lineage))
          if (std::optional<Match> found = match(group, reference, lineage);
              found && !found->isScaled())
            return found;
    }
  }
  return std::nullopt;
}

Value ValueMatcher::getLeader(Value value) const {
  return evaluator->getLeader(value);
}

bool ValueMatcher::areEqual(Value left, Value right) {
  if (left == right)
    return true;
  if (left.getType() != right.getType())
    return false;
  bool areZero = true;
  auto isEqual = [&](Scalar first, Scalar second) {
    double number = algebra->toDouble(first);
    areZero &= number == 0;
    return number == algebra->toDouble(second);
  };
  return evaluator->haveEqualElements(left, right, isEqual) && !areZero;
}
