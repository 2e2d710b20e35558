//===- DenseEvaluator.cpp - whole values of a graph -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Analysis/DenseEvaluator.h"

#include "DenseRuns.h"
#include "DimensionMaps.h"
#include "ValueNumbering.h"
#include "mlir/IR/Threading.h"

#include <cmath>

using namespace mlir;
using namespace verify;

/// Most elements of a tensor, and of all that are kept at a time, and most
/// scalar operations of a run, all roughly and in doubles: minutes, and one or
/// two gigabytes.
static constexpr int64_t sizeLimit = int64_t(1) << 27;
static constexpr int64_t stepLimit = int64_t(1) << 32;
/// The same for values in runs, where it shows on the way that it is too much.
static constexpr int64_t runLimit = int64_t(1) << 25;
static constexpr int64_t runStepLimit = int64_t(1) << 31;

/// In how many shares a long value is computed if an operand has so many
/// scalars that threads pay.
static constexpr size_t shareCount = 4, heavySize = 512;

/// A long value of no more runs is looked at for what is the same although its
/// operands are not: zeros, say.
static constexpr size_t fewRuns = 64;

DenseEvaluator::DenseEvaluator(const FactorAnalysis &factors,
                               NumericAlgebra &algebra, ElementSource &source)
    : factors(factors), algebra(algebra), source(source),
      elements(factors, algebra, source),
      usesRuns(source.getLongPositions() != LongPositions::All),
      rows(algebra.makeRows()), maps(std::make_unique<DimensionMaps>()) {
  bool hasTwins = usesRuns && algebra.makeTwin();
  workers.resize(hasTwins ? shareCount : 1);
  for (Worker &worker : workers) {
    worker.twin = hasTwins ? algebra.makeTwin() : nullptr;
    NumericAlgebra &own = worker.twin ? *worker.twin : algebra;
    if (usesRuns && rows && rows->mayKeepElements())
      worker.rows = own.makeRows();
  }
}

DenseEvaluator::~DenseEvaluator() = default;

LogicalResult DenseEvaluator::fail(const Twine &reason) {
  if (failureReason.empty())
    failureReason = reason.str();
  return failure();
}

LogicalResult DenseEvaluator::failTooCostly() {
  isTooCostly = true;
  return fail("to execute the plan takes too many steps");
}

//===--- What an execution costs
//-------------------------------------------===//

int64_t DenseEvaluator::countPlaces(ArrayRef<FactorAnalysis::Node> nodes,
                                    uint64_t axes) const {
  int64_t count = 1;
  auto multiply = [&](FactorAnalysis::Node node) {
    auto size = static_cast<int64_t>(factors.getRepresentatives(node).size());
    if (llvm::MulOverflow(count, size, count))
      count = INT64_MAX;
  };
  llvm::for_each(nodes, multiply);
  for (unsigned axis = 0; axis < factors.getAxisCount(); ++axis)
    if (axes >> axis & 1)
      multiply(factors.getAxis(axis));
  return count;
}

/// The factors of an op that are reduced.
static SmallVector<FactorAnalysis::Node>
findReduced(const FactorAnalysis &factors, Operation *op) {
  llvm::BitVector isBound = factors.getRelation(op).getBoundFactors();
  SmallVector<FactorAnalysis::Node> reduced;
  for (auto [number, node] : llvm::enumerate(factors.getFactors(op)))
    if (!isBound.test(number))
      reduced.push_back(node);
  return reduced;
}

LogicalResult DenseEvaluator::checkCost(const Order &order) {
  int64_t kept = 0, steps = 0, limit = std::min(stepLimit, mostSteps);
  isTooCostly = true;
  auto isAbove = [&](int64_t &total, int64_t more, int64_t limit) {
    return llvm::AddOverflow(total, more, total) ||
           total > limit / algebra.getCost();
  };
  auto countElements = [&](Value value) {
    return countPlaces(factors.getDimensions(value),
                       factors.getVaryingAxes(value));
  };
  ArrayRef<std::pair<unsigned, Value>> lastUses = order.lastUses;
  for (unsigned number : order.values) {
    Value value = factors.getValue(number);
    Operation *op = value.getDefiningOp();
    if (op && isAbove(kept, countElements(value), sizeLimit))
      return fail("to execute the plan takes more than " +
                  Twine(sizeLimit / algebra.getCost()) + " elements at a time");
    int64_t more = 0;
    if (isa_and_present<tv::SemanticsOpInterface>(op) &&
        !factors.isOpaque(op) &&
        (llvm::MulOverflow(countElements(value),
                           countPlaces(findReduced(factors, op), 0), more) ||
         isAbove(steps, more, limit)))
      return fail("to execute the plan takes more than " +
                  Twine(limit / algebra.getCost()) + " steps");
    for (; !lastUses.empty() && lastUses.back().first == number;
         lastUses = lastUses.drop_back())
      if (Value last = lastUses.back().second; last.getDefiningOp())
        kept -= countElements(last);
  }
  isTooCostly = false;
  return success();
}

void DenseEvaluator::layOut(Value value, DenseTensor &tensor,
                            const llvm::BitVector &uniform) const {
  uint64_t axes = factors.getVaryingAxes(value);
  auto add = [&](int64_t count) {
    int64_t stride = tensor.size;
    if (llvm::MulOverflow(tensor.size, count, tensor.size))
      tensor.size = INT64_MAX;
    return stride;
  };
  auto count = [&](FactorAnalysis::Node node) {
    return static_cast<int64_t>(factors.getRepresentatives(node).size());
  };
  ArrayRef<FactorAnalysis::Node> nodes = factors.getDimensions(value);
  tensor.dimensionStrides.assign(nodes.size(), 0);
  auto isUniform = [&](size_t i) { return !uniform.empty() && uniform[i]; };
  // In runs, positions of a sequence are inside of experts, say, and those
  // inside of short dimensions: there are fewest runs along them.
  auto getLength = [&](size_t i) -> size_t {
    return usesRuns && isLong(factors, nodes[i])
               ? factors.getRepresentatives(nodes[i]).size()
               : 0;
  };
  size_t longest = 0;
  for (size_t i = 0; i < nodes.size(); ++i)
    longest = std::max(longest, getLength(i));
  auto getClass = [&](size_t i) -> unsigned {
    size_t length = getLength(i);
    return length == 0 ? 0 : length < longest / 16 ? 1 : 2;
  };
  for (unsigned number : {2, 1, 0})
    for (size_t i = nodes.size(); i-- > 0;)
      if (getClass(i) == number && !isUniform(i))
        tensor.dimensionStrides[i] = add(count(nodes[i]));
  tensor.axisStrides.assign(factors.getAxisCount(), 0);
  for (unsigned axis = factors.getAxisCount(); axis-- > 0;)
    if (axes >> axis & 1)
      tensor.axisStrides[axis] =
          add(tensor.countClasses(axis, count(factors.getAxis(axis))));
}

LogicalResult DenseEvaluator::allocate(Value value, DenseTensor &tensor) {
  layOut(value, tensor, findUniform(value.getDefiningOp()));
  if (usesRuns && isLong(factors, value) && tensor.size < INT64_MAX)
    return success();
  if (tensor.size > sizeLimit)
    return fail("a tensor has more than " + Twine(sizeLimit) +
                " elements in the small case");
  tensor.elements.assign(tensor.size, Scalar());
  return success();
}

void DenseEvaluator::fillOutside(uint64_t axes, tv::DomainAttr domain,
                                 DenseTensor &tensor) {
  if (!domain || domain.getSets().empty())
    return;
  llvm::DenseSet<int64_t> inside;
  for (const MeshPlace &place : listPlaces(factors, axes, domain))
    inside.insert(tensor.getOffset(place));
  std::vector<MeshPlace> places = listPlaces(factors, axes, {}, &tensor);
  int64_t count = tensor.size / static_cast<int64_t>(places.size());
  for (const MeshPlace &place : places)
    if (int64_t offset = tensor.getOffset(place); !inside.contains(offset))
      for (int64_t i = 0; i < count; ++i)
        tensor.elements[offset + i] = algebra.integer(0);
}

size_t DenseEvaluator::countShares(tv::SemanticsOpInterface op) const {
  // Not by the number of threads: where runs are joined may depend on it.
  auto isHeavy = [&](Value operand) {
    const DenseTensor *tensor = tensors.find(operand);
    return tensor && tensor->elements.size() >= heavySize;
  };
  return llvm::any_of(op->getOperands(), isHeavy) ? workers.size() : 1;
}

LogicalResult DenseEvaluator::computeRuns(tv::SemanticsOpInterface op,
                                          DenseTensor &tensor) {
  uint64_t axes = factors.getVaryingAxes(op->getResult(0));
  auto kept = static_cast<int64_t>(tensors.getScalarCount());
  int64_t free = std::max<int64_t>(runLimit / algebra.getCost() - kept, 0);
  int64_t limit = std::min(runStepLimit, mostSteps) / algebra.getCost();
  auto failWith = [&](const RunRelation &relation) {
    return relation.wasTooCostly() ? failTooCostly()
                                   : fail("'" + op->getName().getStringRef() +
                                          "': " + relation.getFailure());
  };
  size_t count = countShares(op);
  SmallVector<std::unique_ptr<RunRelation>, shareCount> shares;
  SmallVector<int64_t, shareCount> stepsOf(count, steps);
  SmallVector<LogicalResult, shareCount> isDone(count, failure());
  for (const Worker &worker : MutableArrayRef(workers).take_front(count)) {
    shares.push_back(std::make_unique<RunRelation>(
        op, axes, factors, worker.twin ? *worker.twin : algebra,
        worker.rows.get(), tensors, free));
    shares.back()->setShare(static_cast<int64_t>(shares.size()) - 1,
                            static_cast<int64_t>(count));
    shares.back()->stopWhen(stopped);
  }
  parallelFor(op->getContext(), 0, count, [&](size_t i) {
    isDone[i] = shares[i]->compute(tensor, stepsOf[i], limit);
  });
  int64_t before = steps;
  for (auto [worker, own] : llvm::zip(workers, stepsOf)) {
    steps += own - before;
    if (NumericAlgebra *twin = worker.twin.get()) {
      algebra.addStatus(twin->status());
      twin->clearStatus();
    }
  }
  for (auto [share, done] : llvm::zip_equal(shares, isDone))
    if (failed(done))
      return failWith(*share);
  RunRelation &first = *shares.front();
  for (std::unique_ptr<RunRelation> &later : llvm::drop_begin(shares))
    if (failed(first.take(*later)))
      return failWith(first);
  if (steps > limit)
    return failTooCostly();
  return succeeded(first.finish(tensor)) ? success() : failWith(first);
}

LogicalResult DenseEvaluator::compute(tv::SemanticsOpInterface op,
                                      DenseTensor &tensor) {
  Value value = op->getResult(0);
  uint64_t axes = factors.getVaryingAxes(value);
  auto isInRuns = [&](Value each) { return isLong(factors, each); };
  if (usesRuns &&
      (isInRuns(value) || llvm::any_of(op->getOperands(), isInRuns)))
    return computeRuns(op, tensor);
  DenseRelation relation(op, axes, factors, algebra, rows.get(), tensors);
  if (failed(relation.run(tensor, steps, stepLimit)))
    return fail("'" + op->getName().getStringRef() +
                "': " + relation.getFailure());
  fillOutside(axes, op->getAttrOfType<tv::DomainAttr>("domain"), tensor);
  tensor.isOwned = true;
  return success();
}

LogicalResult DenseEvaluator::evaluate(Value value) {
  DenseTensor tensor;
  tensor.axisClasses.resize(factors.getAxisCount());
  Operation *op = value.getDefiningOp();
  auto semantics = dyn_cast_if_present<tv::SemanticsOpInterface>(op);
  if (semantics && factors.isOpaque(op))
    semantics = {};
  if (semantics && usesRuns)
    findClasses(semantics, tensor);
  if (failed(allocate(value, tensor)))
    return failure();
  LogicalResult isDone = failure();
  if (semantics)
    isDone = compute(semantics, tensor);
  else if (auto distributed = dyn_cast_if_present<tv::DistributeOp>(op))
    isDone = distribute(distributed, tensor);
  else
    isDone = fill(value, tensor);
  if (failed(isDone))
    return failure();
  bool isShort = tensor.elements.size() <= fewRuns;
  if (usesRuns && (!semantics || isa<tv::AllSliceOp>(op) ||
                   (isLong(factors, value) && isShort)))
    mergeClasses(tensor);
  if (usesRuns && isLong(factors, value))
    mergeDimensions(value, tensor);
  tensors.insert(value, std::move(tensor));
  return success();
}

//===--- Results ----------------------------------------------------------===//

/// Whether all pairs of a row are distinct. Where the doubles in enclosures
/// rise and no neighbours overlap, no two do.
static bool areAllDistinct(
    ArrayRef<Scalar> row, const NumericAlgebra &algebra,
    llvm::function_ref<bool(Scalar left, Scalar right)> areDistinct) {
  std::vector<std::pair<double, Scalar>> sorted;
  bool rises = true;
  for (Scalar scalar : row) {
    sorted.emplace_back(algebra.toDouble(scalar), scalar);
    rises &= !std::isnan(sorted.back().first);
  }
  if (rises)
    llvm::stable_sort(sorted, llvm::less_first());
  for (size_t i = 1; i < sorted.size() && rises; ++i) {
    if (!areDistinct(sorted[i - 1].second, sorted[i].second))
      return false;
    rises = sorted[i - 1].first < sorted[i].first;
  }
  if (rises)
    return true;
  for (size_t i = 0; i < row.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (!areDistinct(row[i], row[j]))
        return false;
  return true;
}

bool DenseEvaluator::haveDistinctElements(
    Value value,
    llvm::function_ref<bool(Scalar left, Scalar right)> areDistinct) const {
  const DenseTensor &tensor = *tensors.find(value);
  Operation *op = value.getDefiningOp();
  auto domain =
      op ? op->getAttrOfType<tv::DomainAttr>("domain") : tv::DomainAttr();
  // The last dimension is a row.
  SmallVector<int64_t, 4> sizes;
  for (FactorAnalysis::Node node : factors.getDimensions(value))
    sizes.push_back(
        static_cast<int64_t>(factors.getRepresentatives(node).size()));
  int64_t row = sizes.pop_back_val(), count = 1;
  for (int64_t size : sizes)
    count *= size;
  int64_t stride = tensor.dimensionStrides.back();
  int64_t rows = sizes.empty() ? 1 : sizes.back();
  int64_t rowStride = sizes.empty() ? 0 : tensor.dimensionStrides.end()[-2];
  SmallVector<Scalar> scalars, before;
  for (const MeshPlace &place :
       listPlaces(factors, factors.getVaryingAxes(value), domain))
    for (int64_t at = 0; at < count;) {
      int64_t start = tensor.getOffset(place), rest = at;
      for (size_t i = sizes.size(); i-- > 0;) {
        start += rest % sizes[i] * tensor.dimensionStrides[i];
        rest /= sizes[i];
      }
      // The rows after it that lie in the same runs are the same.
      int64_t same = rows - at % rows;
      scalars.clear();
      for (int64_t i = 0; i < row; ++i) {
        int64_t offset = start + i * stride;
        size_t run = tensor.findRun(offset);
        scalars.push_back(tensor.elements[run]);
        if (rowStride > 0)
          same = std::min<int64_t>(
              same, llvm::divideCeil(tensor.getEnd(run) - offset, rowStride));
      }
      at += same;
      if (scalars == before)
        continue;
      if (!areAllDistinct(scalars, algebra, areDistinct))
        return false;
      std::swap(scalars, before);
    }
  return true;
}

Value DenseEvaluator::getLeader(Value value) const {
  return tensors.getNumbering()->getLeader(value);
}

std::optional<Scalar>
DenseEvaluator::getElement(Value value, const Coordinates &coordinates,
                           ArrayRef<int64_t> index) const {
  const DenseTensor *found = tensors.find(value);
  if (!found)
    return std::nullopt;
  const DenseTensor &tensor = *found;
  int64_t offset = 0;
  auto add = [&](FactorAnalysis::Node node, int64_t position, int64_t stride) {
    std::optional<int64_t> ordinal =
        findOrdinal(factors.getRepresentatives(node), position);
    offset += ordinal.value_or(0) * stride;
    return ordinal.has_value();
  };
  for (auto [axis, stride] : llvm::enumerate(tensor.axisStrides)) {
    if (stride == 0)
      continue;
    auto ordinal = findOrdinal(
        factors.getRepresentatives(factors.getAxis(axis)), coordinates[axis]);
    if (!ordinal)
      return std::nullopt;
    offset += tensor.getAxisOffset(axis, *ordinal);
  }
  for (auto [node, position, stride] : llvm::zip_equal(
           factors.getDimensions(value), index, tensor.dimensionStrides))
    if (!add(node, position, stride))
      return std::nullopt;
  return tensor.get(offset);
}
