//===- WitnessInputs.cpp - concrete inputs of both programs ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WitnessInputs.h"

#include "Verify/IR/DenseValues.h"

#include "../Analysis/DenseRuns.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace verify;

/// FNV-1a: the same on every machine, as the seed is printed.
static uint64_t hash(StringRef text) {
  uint64_t value = 1469598103934665603u;
  for (char letter : text)
    value = (value ^ static_cast<unsigned char>(letter)) * 1099511628211u;
  return value;
}

bool WitnessInputs::isZero(Value value) const {
  auto op = value.getDefiningOp<tv::InputOp>();
  return seed.zeros && op &&
         op.getContract().getRole() == tv::ContractRole::Parameter &&
         getSort(value.getType()) == ScalarSort::Real &&
         seed.zeros->contains(op.getContract().getName().getValue());
}

const llvm::SmallBitVector *WitnessInputs::findConstant(Value value) const {
  auto op = value.getDefiningOp<tv::InputOp>();
  if (!seed.constant || !op ||
      op.getContract().getRole() != tv::ContractRole::Parameter)
    return nullptr;
  auto found = seed.constant->find(op.getContract().getName().getValue());
  // Two parameters may have one name.
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  return found != seed.constant->end() &&
                 static_cast<int64_t>(found->second.size()) == rank
             ? &found->second
             : nullptr;
}

std::optional<uint64_t> WitnessInputs::getInputNumber(Value value) const {
  auto op = value.getDefiningOp<tv::InputOp>();
  if (!seed.zeros || !op ||
      op.getContract().getRole() != tv::ContractRole::Parameter ||
      getSort(value.getType()) != ScalarSort::Real)
    return std::nullopt;
  if (isZero(value))
    return 0;
  // `layers.12.weight` and `layers.13.weight` are one.
  std::string name;
  StringRef whole = op.getContract().getName().getValue();
  bool isApart = seed.apart && seed.apart->contains(whole);
  for (char letter : whole)
    if (isApart || !llvm::isDigit(letter))
      name += letter;
  // Of those that are not 0.
  return hash(name) | 1;
}

int WitnessInputs::getExponent(tv::InputOp op) const {
  bool isParameter =
      op && op.getContract().getRole() == tv::ContractRole::Parameter;
  return isParameter && !seed.scalesParameters ? 0 : seed.exponent;
}

Scalar WitnessInputs::input(Value value, ArrayRef<int64_t> index) {
  auto op = value.getDefiningOp<tv::InputOp>();
  StringRef name = op ? op.getContract().getName().getValue() : StringRef();
  if (isZero(value))
    return algebra.rational(0);
  uint64_t number = getInputNumber(value).value_or(op ? hash(name) : 0);
  // Weights are divided by what they are summed over, so that nothing grows
  // beyond what exponentials bear.
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  int64_t scale = shape.size() < 2 ? 1 : llvm::PowerOf2Ceil(shape.back());
  ScalarSort sort = getSort(value.getType());
  bool isInSequence =
      sort == ScalarSort::Integer && seed.positions == LongPositions::Last;
  SmallVector<int64_t> at(index);
  if (const llvm::SmallBitVector *constant = findConstant(value))
    for (unsigned dimension : constant->set_bits())
      at[dimension] = 0;
  uint64_t state =
      isInSequence ? getSequenceState(value, number, at) : getState(number, at);
  Scalar drawn = sort == ScalarSort::Integer
                     ? drawInteger(name, state, getPosition(at, shape))
                     : draw(state, sort, scale, getExponent(op));
  if (!op || op.getContract().getRole() != tv::ContractRole::Random)
    return drawn;
  // Draws of random ops are 0 or 1.
  bool isKept = algebra.toDouble(drawn) > 0;
  return algebra.rational(isKept);
}

uint64_t WitnessInputs::getSequenceState(Value value, uint64_t name,
                                         ArrayRef<int64_t> index) const {
  SmallVector<int64_t> others(index);
  uint64_t count = 0;
  for (auto [position, size, node] : llvm::zip_equal(
           others, cast<RankedTensorType>(value.getType()).getShape(),
           range.factors->getDimensions(value))) {
    if (isLong(*range.factors, node)) {
      if (position != size - 1)
        continue;
      ++count;
    } else {
      // By another bit of their number with another seed.
      ArrayRef<Representative> kept = range.factors->getRepresentatives(node);
      unsigned bits = std::max(1U, llvm::Log2_64_Ceil(kept.size()));
      if (auto ordinal = findOrdinal(kept, position))
        count += static_cast<uint64_t>(*ordinal) >> seed.number % bits;
    }
    position = 0;
  }
  return getState(name, others) + count;
}

Scalar WitnessInputs::opaque(unsigned number, Type type,
                             ArrayRef<int64_t> index) {
  return draw(getState(number, index), getSort(type));
}

Scalar WitnessInputs::undefined(Operation *op, ArrayRef<int64_t> place) {
  // No number of a position, nor of one that stands for others.
  constexpr int64_t nowhere = std::numeric_limits<int64_t>::min() / 2;
  ScalarSort sort = getSort(op->getResult(0).getType());
  uint64_t name = hash(cast<tv::UndefinedOp>(op).getName());
  if (sort != ScalarSort::Integer)
    return draw(getState(name, place), sort);
  auto found = range.missing.find(op);
  if (found == range.missing.end())
    return algebra.integer(nowhere);
  // One number for all of a tensor is enough.
  ArrayRef<int64_t> values(found->second);
  return algebra.integer(values[getState(name, {}) % values.size()]);
}

uint64_t WitnessInputs::getState(uint64_t name, ArrayRef<int64_t> index) const {
  uint64_t state = name + seed.number * 0x9e3779b97f4a7c15u;
  for (int64_t position : index)
    state = (state ^ static_cast<uint64_t>(position + 1)) * 0xbf58476d1ce4e5b9u;
  state ^= state >> 31;
  state *= 0x94d049bb133111ebu;
  state ^= state >> 29;
  return state;
}

/// Where integers are only compared they have to differ all the same.
static constexpr int64_t anyNumbers[] = {1, -3, 1000};
/// What is computed with is a mask, mostly, of which one number or the other
/// makes exponentials 0: not all of a row shall be that.
static constexpr int64_t mostlyOnes[] = {1, 1, 1, 0},
                         mostlyZeros[] = {0, 0, 0, 1};

int64_t WitnessInputs::getPosition(ArrayRef<int64_t> index,
                                   ArrayRef<int64_t> shape) const {
  if (index.empty())
    return 0;
  // Long sequences are equal along all positions but the last one.
  return seed.positions == LongPositions::Last
             ? index.back() + 1 == shape.back()
             : index.back();
}

Scalar WitnessInputs::drawInteger(StringRef input, uint64_t state,
                                  int64_t position) {
  auto found = range.data.find(input);
  if (found == range.data.end())
    return algebra.integer(drawNumber(input, state));
  ArrayRef<int64_t> values(found->second);
  // The places of pairs that have no number in common.
  SmallVector<size_t> pairs;
  if (seed.hasNeighbours)
    for (size_t i = 1; i < values.size(); ++i)
      if (values[i] == values[i - 1] + 1 &&
          (pairs.empty() || pairs.back() + 1 < i - 1))
        pairs.push_back(i - 1);
  if (pairs.size() >= 2)
    values = values.slice(pairs[position % pairs.size()], 2);
  return algebra.integer(values[state % values.size()]);
}

int64_t WitnessInputs::drawNumber(StringRef input, uint64_t state) const {
  auto found = range.numbers.find(input);
  ArrayRef<int64_t> values(anyNumbers), literals;
  if (found != range.numbers.end()) {
    literals = found->second.literals;
    unsigned kind = found->second.areComputedWith ? seed.number % 3 : 2;
    values = kind == 0   ? ArrayRef<int64_t>(mostlyOnes)
             : kind == 1 ? ArrayRef<int64_t>(mostlyZeros)
                         : values;
  }
  size_t number = state % (values.size() + literals.size());
  return number < values.size() ? values[number]
                                : literals[number - values.size()];
}

Scalar WitnessInputs::draw(uint64_t state, ScalarSort sort, int64_t scale,
                           int exponent) {
  if (sort == ScalarSort::Integer)
    return algebra.integer(anyNumbers[state % std::size(anyNumbers)]);
  if (sort == ScalarSort::Boolean)
    return algebra.boolean(state % 2);
  // Odd eighths between -1 and 1, say: none of them 0.
  int64_t number = static_cast<int64_t>(state % range.resolution);
  int64_t numerator = 2 * number + 1 - range.resolution;
  if (seed.isPositive)
    numerator = std::abs(numerator);
  int64_t times = int64_t{1} << std::abs(exponent);
  return exponent < 0
             ? algebra.rational(numerator, range.resolution * scale * times)
             : algebra.rational(numerator * times, range.resolution * scale);
}

ConstantDimensions
verify::findDividedDimensions(tv::GraphOp graph,
                              const FactorAnalysis &factors) {
  ConstantDimensions divided;
  for (auto op : graph.getBody().getOps<tv::DistributeOp>()) {
    auto input = op.getReference().getDefiningOp<tv::InputOp>();
    if (!input || input.getContract().getRole() != tv::ContractRole::Parameter)
      continue;
    auto whole = cast<RankedTensorType>(input.getResult().getType());
    auto part = cast<RankedTensorType>(op.getResult().getType());
    for (auto [i, node] :
         llvm::enumerate(factors.getDimensions(input.getResult()))) {
      if (part.getDimSize(i) == whole.getDimSize(i) || factors.isSelected(node))
        continue;
      llvm::SmallBitVector &dimensions =
          divided[input.getContract().getName().getValue()];
      if (dimensions.empty())
        dimensions.resize(whole.getRank());
      if (i < dimensions.size())
        dimensions.set(i);
    }
  }
  return divided;
}

namespace {
/// What is asked of data.
struct DataUses {
  /// In which they select positions.
  SmallVector<tv::OneHotOp> oneHots;
  /// What they are compared with, and what the reference says that they may be.
  llvm::SmallSetVector<int64_t, 4> literals, allowed;
  /// Whether anything is computed of how large they are.
  bool areComputedWith = false;

  void add(int64_t literal, tv::CompareOp compare) {
    literals.insert(literal);
    bool isEquality = compare.getKind() == tv::ComparisonKind::Equal ||
                      compare.getKind() == tv::ComparisonKind::NotEqual;
    if (isEquality && !compare->hasAttr("domain"))
      allowed.insert(literal);
  }
};
} // namespace

static DataUses findUses(Value data) {
  DataUses found;
  SmallVector<Value> worklist = {data};
  DenseValueSet seen;
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    for (Operation *user : next.getUsers()) {
      if (auto oneHot = dyn_cast<tv::OneHotOp>(user)) {
        found.oneHots.push_back(oneHot);
        continue;
      }
      if (auto compare = dyn_cast<tv::CompareOp>(user))
        for (Value side : compare->getOperands())
          if (std::optional<int64_t> literal = getIntegerLiteral(side))
            found.add(*literal, compare);
      found.areComputedWith |= isa<tv::ToRealOp>(user);
      for (Value result : user->getResults())
        if (getElementKind(result.getType()) == ElementKind::Integer)
          worklist.push_back(result);
    }
  }
  return found;
}

/// Whether a number is that of a position which stands for others, or which
/// they stand for. Data have other numbers: there no position of these equals
/// them.
static bool isAmongOthers(const FactorAnalysis &factors, tv::OneHotOp oneHot,
                          int64_t number) {
  Value result = oneHot.getResult();
  auto start = static_cast<int64_t>(oneHot.getStart());
  int64_t position = 0;
  int64_t size = cast<RankedTensorType>(result.getType()).getShape().back();
  FactorAnalysis::Node node = factors.getDimensions(result).back();
  if (!llvm::SubOverflow(number, start, position) && position >= 0 &&
      position < size)
    return factors.getWeight(node, position) != 1;
  // Executions number what stands for others below 0.
  return llvm::any_of(
      factors.getRepresentatives(node), [&](Representative entry) {
        return entry.weight != 1 && number == -1 - (start + entry.position);
      });
}

/// The numbers that are those of positions which are looked at for themselves
/// in all one-hots that select them.
static SmallVector<int64_t> listCommon(const FactorAnalysis &factors,
                                       ArrayRef<tv::OneHotOp> oneHots) {
  std::optional<SmallVector<int64_t>> common;
  for (tv::OneHotOp oneHot : oneHots) {
    SmallVector<int64_t> values;
    for (Representative entry : factors.getRepresentatives(
             factors.getDimensions(oneHot.getResult()).back())) {
      int64_t value = entry.position + oneHot.getStart();
      if (entry.weight == 1 && (!common || llvm::is_contained(*common, value)))
        values.push_back(value);
    }
    common = std::move(values);
  }
  return common.value_or(SmallVector<int64_t>());
}

FailureOr<WitnessRange> verify::getWitnessRange(const FactorAnalysis &factors) {
  WitnessRange range;
  range.factors = &factors;
  if (factors.hasSelections())
    range.resolution = 1 << 20;
  for (Operation *op : factors.getDataOps()) {
    if (!isa<tv::InputOp, tv::UndefinedOp>(op))
      continue;
    DataUses uses = findUses(op->getResult(0));
    auto input = dyn_cast<tv::InputOp>(op);
    ArrayRef<int64_t> literals = uses.literals.getArrayRef();
    if (uses.oneHots.empty()) {
      if (input && (uses.areComputedWith || !literals.empty()))
        range.numbers[input.getContract().getName().getValue()] = {
            SmallVector<int64_t>(literals), uses.areComputedWith};
      continue;
    }
    SmallVector<tv::OneHotOp> asked = uses.oneHots;
    llvm::erase_if(asked, [&](tv::OneHotOp oneHot) {
      return isa<tv::InputOp>(op) && oneHot->hasAttr("domain");
    });
    SmallVector<int64_t> common = listCommon(factors, asked);
    // The plan alone may ask for positions.
    if (asked.empty())
      common.assign(std::begin(anyNumbers), std::end(anyNumbers));
    bool isEmpty = common.empty();
    // As an index that is ignored.
    for (int64_t literal : uses.allowed)
      if (!llvm::is_contained(common, literal))
        common.push_back(literal);
    for (tv::OneHotOp oneHot : uses.oneHots)
      llvm::erase_if(common, [&](int64_t value) {
        return isAmongOthers(factors, oneHot, value);
      });
    if (input) {
      if (isEmpty || common.empty())
        return failure();
      // Of inputs that share a name each takes what all may.
      auto [found, isNew] = range.data.try_emplace(
          input.getContract().getName().getValue(), common);
      llvm::erase_if(found->second, [&](int64_t value) {
        return !llvm::is_contained(common, value);
      });
      if (found->second.empty())
        return failure();
    } else if (!common.empty()) {
      range.missing[op] = std::move(common);
    }
  }
  return range;
}

bool verify::isFarApart(double left, double right, double scale) {
  FarthestPair pair;
  pair.add(left, right);
  return pair.isFarApart(scale);
}

bool FarthestPair::addClose(ArrayRef<Scalar> lefts, ArrayRef<Scalar> rights) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  // Several at once, of which none waits for the one before.
  constexpr size_t lanes = 4;
  double largest[lanes] = {};
  bool areClose = true;
  auto add = [&](size_t i, double &largest) {
    double left = DoubleAlgebra::getDouble(lefts[i]);
    double right = DoubleAlgebra::getDouble(rights[i]);
    double larger = std::max(std::abs(left), std::abs(right));
    bool isClose = std::abs(left - right) <= closeness * larger;
    areClose &= (left == right) | (isClose & (larger < infinity));
    largest = std::max(largest, larger);
  };
  size_t i = 0;
  for (; i + lanes <= lefts.size(); i += lanes)
    for (size_t lane = 0; lane < lanes; ++lane)
      add(i + lane, largest[lane]);
  for (; i < lefts.size(); ++i)
    add(i, largest[0]);
  if (areClose)
    for (double each : largest)
      magnitude = std::max(magnitude, each);
  return areClose;
}

bool FarthestPair::addDifference(double left, double right) {
  // Where numbers grow beyond doubles one of them may be none.
  if (std::isnan(left) || std::isnan(right)) {
    bool isOne = std::isnan(left) != std::isnan(right);
    hasNaN |= isOne;
    return isOne;
  }
  double between = std::abs(left - right);
  if (std::isinf(left) || std::isinf(right))
    between = std::numeric_limits<double>::infinity();
  difference = std::max(difference, between);
  return true;
}

bool FarthestPair::isFarApart(double scale) const {
  return isUnordered() || difference > faint * scale;
}
