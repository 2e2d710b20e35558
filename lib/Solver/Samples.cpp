//===- Samples.cpp - evaluation at fixed points ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Doubles find a difference; where functions are known, intervals confirm that
// it is not made of rounding.
//
//===----------------------------------------------------------------------===//

#include "Samples.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace verify;

//===--- Points -----------------------------------------------------------===//

/// A fixed number that looks random, for an atom at a point.
static uint64_t draw(const TermAlgebra &terms, Scalar atom, unsigned point) {
  uint64_t hash = terms.getTensor(atom) * 0x9e3779b97f4a7c15ULL + point + 1;
  for (int64_t index : terms.getIndex(atom))
    hash = (hash ^ static_cast<uint64_t>(index + 77)) * 0xbf58476d1ce4e5b9ULL +
           (hash >> 31);
  hash = (hash ^ (hash >> 30)) * 0x94d049bb133111ebULL;
  return hash ^ (hash >> 31);
}

/// The value of an atom at a point. Reals are positive at even points, of both
/// signs at odd ones; near 1 at the first two points, near 1/32 and 1/1024 at
/// the following, where exponentials of large sums do not overflow.
static Scalar valueAt(const TermAlgebra &terms, ScalarAlgebra &algebra,
                      Scalar atom, unsigned point) {
  uint64_t number = draw(terms, atom, point);
  auto magnitude = static_cast<int64_t>((number >> 20) % 96) + 17;
  bool isNegative = point % 2 == 1 && (number >> 8 & 1) != 0;
  switch (terms.getSort(atom)) {
  case ScalarSort::Integer:
    return algebra.integer(static_cast<int64_t>((number >> 20) % 4));
  case ScalarSort::Boolean:
    return algebra.boolean((number >> 20 & 1) != 0);
  case ScalarSort::Extended:
    if ((number >> 12) % 4 == 0)
      return algebra.minusInfinity();
    break;
  case ScalarSort::Real:
    break;
  }
  int64_t unit = int64_t(64) << 5 * (point / 2 % 3);
  return algebra.rational(isNegative ? -magnitude : magnitude, unit);
}

Samples::Point::Point(const TermAlgebra &terms, unsigned number)
    : number(number), evaluator(terms, algebra, [this, &terms](Scalar atom) {
        return valueAt(terms, algebra, atom, this->number);
      }) {}

std::optional<double> Samples::Point::evaluate(Scalar term) {
  double value = DoubleAlgebra::getDouble(evaluator.evaluate(term));
  if (std::isnan(value) || (std::isinf(value) && value > 0))
    return std::nullopt;
  return value;
}

bool Samples::Point::holds(const Condition &condition) {
  std::optional<double> value = evaluate(condition.term);
  if (!value)
    return false;
  switch (condition.kind) {
  case ConditionKind::NonZero:
    return std::fabs(*value) > 1e-9;
  case ConditionKind::NonNegative:
    return *value >= 0;
  case ConditionKind::Positive:
    return *value > 1e-9;
  }
  return false;
}

/// A number to some nine digits: what powers of 2 times `second` it is nearly.
static std::pair<int, int64_t> roundToDigits(double value) {
  int exponent = 0;
  double fraction = std::frexp(value, &exponent);
  return {exponent, std::llround(std::ldexp(fraction, 30))};
}

//===--- Questions --------------------------------------------------------===//

Samples::Samples(const TermAlgebra &terms, unsigned count) : terms(terms) {
  for (unsigned number = 0; number < count; ++number)
    points.emplace_back(terms, number);
}

void Samples::clear() {
  for (Point &point : points) {
    point.evaluator.clear();
    point.isAllowed.reset();
  }
}

bool Samples::isAllowed(Point &point, llvm::ArrayRef<Condition> hypotheses) {
  if (point.isAllowed && llvm::ArrayRef(point.hypotheses) == hypotheses)
    return *point.isAllowed;
  point.hypotheses.assign(hypotheses.begin(), hypotheses.end());
  point.isAllowed = llvm::all_of(hypotheses, [&](const Condition &condition) {
    return point.holds(condition);
  });
  return *point.isAllowed;
}

llvm::SmallVector<AtomValue>
Samples::describe(unsigned number, llvm::ArrayRef<Scalar> roots) const {
  llvm::SmallVector<AtomValue> result;
  RationalAlgebra algebra;
  for (Scalar node : terms.collectNodes(roots)) {
    if (terms.getKind(node) != TermKind::Atom)
      continue;
    Scalar value = valueAt(terms, algebra, node, number);
    std::string text = "-inf";
    if (terms.getSort(node) == ScalarSort::Boolean)
      text = algebra.get(value).isZero() ? "false" : "true";
    else if (!algebra.isMinusInfinity(value))
      text = algebra.get(value).toString();
    result.push_back({node, text});
  }
  return result;
}

/// Whether intervals show the difference, as far as they can.
bool Samples::isConfirmed(const Point &point, Scalar left, Scalar right,
                          bool isClose) const {
  IntervalAlgebra algebra(256);
  TermEvaluator evaluator(terms, algebra, [&](Scalar atom) {
    return valueAt(terms, algebra, atom, point.number);
  });
  Scalar first = evaluator.evaluate(left), second = evaluator.evaluate(right);
  const NumericStatus &status = algebra.status();
  // Unknown functions have no value here, but a smooth one among doubles.
  if (status.usesUninterpreted)
    return !isClose;
  return !status.isUndefined && !status.isUndecided &&
         algebra.areDisjoint(first, second);
}

std::optional<llvm::SmallVector<AtomValue>>
Samples::findDifference(Scalar left, Scalar right,
                        llvm::ArrayRef<Condition> hypotheses) {
  agreed = false;
  bool hasValue = false;
  for (Point &point : points) {
    // Smaller numbers are for what has no value at larger ones.
    if (agreed && hasValue && point.number >= 2)
      break;
    std::optional<double> first = point.evaluate(left);
    std::optional<double> second = point.evaluate(right);
    if (!first || !second)
      continue;
    double difference = std::fabs(*first - *second);
    double size = std::fabs(*first) + std::fabs(*second);
    bool isEqual = *first == *second || difference <= 1e-15;
    // As far as rounding in terms near 1 explains.
    bool isClose =
        isEqual || (std::isfinite(size) && difference <= 1e-9 * (1 + size));
    bool isFar = !isEqual && !(difference <= 1e-9 * size) &&
                 isAllowed(point, hypotheses) &&
                 isConfirmed(point, left, right, isClose);
    if (isClose && !isFar && isAllowed(point, hypotheses)) {
      agreed = true;
      // Where nothing is selected, everything agrees.
      hasValue |= *first != 0;
    }
    if (!isFar)
      continue;
    return describe(point.number, {left, right});
  }
  return std::nullopt;
}

std::optional<llvm::SmallVector<AtomValue>>
Samples::findViolation(const Condition &condition,
                       llvm::ArrayRef<Condition> hypotheses) {
  agreed = false;
  for (Point &point : points) {
    // Smaller numbers are for what has no value at larger ones.
    if (agreed && point.number >= 2)
      break;
    std::optional<double> value = point.evaluate(condition.term);
    if (!value)
      continue;
    // Only clear violations count.
    bool isViolated =
        condition.kind == ConditionKind::NonZero ? *value == 0 : *value < -1e-6;
    if (!isViolated)
      agreed |= point.holds(condition) && isAllowed(point, hypotheses);
    else if (isAllowed(point, hypotheses))
      return describe(point.number, {condition.term});
  }
  return std::nullopt;
}

std::optional<Samples::Signature> Samples::getSignature(Scalar term) {
  if (!terms.isRealOrExtended(term))
    return std::nullopt;
  Signature signature{};
  bool hasValue = false;
  for (auto &&[entry, point] : llvm::zip(signature, points)) {
    std::optional<double> value = point.evaluate(term);
    bool isNumber = value && std::isfinite(*value);
    hasValue |= isNumber && *value != 0;
    if (isNumber)
      entry = roundToDigits(*value);
  }
  if (!hasValue)
    return std::nullopt;
  return signature;
}

bool Samples::mayBeEqual(Scalar left, Scalar right) {
  return llvm::all_of(points, [&](Point &point) {
    std::optional<double> first = point.evaluate(left);
    std::optional<double> second = point.evaluate(right);
    return !first || !second || *first == *second ||
           roundToDigits(*first) == roundToDigits(*second);
  });
}
