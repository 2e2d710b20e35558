//===- RandomTerms.h - random terms and points ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What tests of properties draw from. The same seed gives the same terms and
// the same points.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_TEST_UNIT_RANDOMTERMS_H
#define VERIFY_TEST_UNIT_RANDOMTERMS_H

#include "TermExpressions.h"

#include "Verify/Scalar/Evaluation.h"
#include "Verify/Scalar/Laws.h"
#include "Verify/Scalar/NumericAlgebras.h"

#include <cmath>
#include <random>

namespace verify {

/// Makes random terms over a few atoms.
class RandomTerms {
public:
  RandomTerms(TermAlgebra &terms, unsigned seed, bool isRational)
      : terms(terms), random(seed), isRational(isRational) {}

  Expression real(unsigned depth) {
    if (depth == 0)
      return leaf();
    switch (random() % (isRational ? 8 : 14)) {
    case 0:
    case 1:
      return real(depth - 1) + real(depth - 1);
    case 2:
      return real(depth - 1) - real(depth - 1);
    case 3:
    case 4:
      return real(depth - 1) * real(depth - 1);
    case 5:
      return real(depth - 1) / denominator(depth - 1);
    case 6:
      return max(real(depth - 1), real(depth - 1));
    case 7:
      return select(condition(depth - 1), real(depth - 1), real(depth - 1));
    case 8:
      return exp(real(depth - 1) / 4);
    case 9:
      return log(positive(depth - 1));
    case 10:
      return sqrt(positive(depth - 1));
    case 11:
      return rsqrt(positive(depth - 1));
    case 12:
      return abs(real(depth - 1));
    default:
      return apply(Function::Tanh, real(depth - 1));
    }
  }

private:
  Expression leaf() {
    if (random() % 5 == 0)
      return {&terms, terms.rational(int64_t(random() % 5) - 2, 2)};
    return {&terms, terms.atom(random() % 3, {int64_t(random() % 3)},
                               ScalarSort::Real)};
  }
  Expression positive(unsigned depth) {
    if (random() % 2 == 0)
      return exp(real(depth) / 4) + exp(real(depth) / 4);
    Expression value = real(depth);
    return value * value + exp(leaf());
  }
  Expression denominator(unsigned depth) {
    if (random() % 3 == 0)
      return real(depth);
    return isRational ? real(depth) * real(depth) + 1 : positive(depth);
  }
  Expression condition(unsigned depth) {
    if (random() % 3 == 0)
      return {&terms,
              terms.atom(9, {int64_t(random() % 2)}, ScalarSort::Boolean)};
    if (random() % 2 == 0)
      return compare({&terms, terms.atom(8, {0}, ScalarSort::Integer)},
                     Comparison(random() % 4),
                     {&terms, terms.integer(int64_t(random() % 3))});
    return compare(real(depth), Comparison(random() % 4), real(depth));
  }

  TermAlgebra &terms;
  std::mt19937 random;
  bool isRational;
};

/// A point with values in doubles.
struct DoublePoint {
  DoublePoint(const TermAlgebra &terms, unsigned seed)
      : evaluator(terms, algebra, [&terms, seed, this](Scalar atom) {
          std::mt19937 random(unsigned(atom.bits) * 31 + seed);
          random();
          switch (terms.getSort(atom)) {
          case ScalarSort::Integer:
            return DoubleAlgebra::fromDouble(random() % 3);
          case ScalarSort::Boolean:
            return algebra.boolean(random() % 2);
          default:
            return DoubleAlgebra::fromDouble((random() % 257) / 64.0 - 2);
          }
        }) {}

  /// The value, if everything below is defined and of moderate size.
  std::optional<double> get(Scalar term) {
    double value = DoubleAlgebra::getDouble(evaluator.evaluate(term));
    if (!std::isfinite(value) || std::fabs(value) > 1e9)
      return std::nullopt;
    return value;
  }
  /// Whether the claim holds, with a tolerance; nothing if it is a near thing.
  std::optional<bool> holdsNearly(const Claim &claim, double tolerance = 1e-5) {
    std::optional<double> left = get(claim.left);
    std::optional<double> right =
        claim.kind == ClaimKind::Equal ? get(claim.right) : 0;
    if (!left || !right)
      return std::nullopt;
    double difference = *left - *right;
    double scale = 1 + std::fabs(*left) + std::fabs(*right);
    if (claim.kind == ClaimKind::Equal)
      return std::fabs(difference) <= tolerance * scale;
    bool isNear = std::fabs(difference) < 1e-7;
    if (isNear)
      return claim.kind == ClaimKind::NonNegative && difference >= 0
                 ? std::optional(true)
                 : std::nullopt;
    return claim.kind == ClaimKind::NonZero || difference > 0;
  }
  /// The same for a premise: equations must hold up to rounding, and signs
  /// without any doubt.
  std::optional<bool> holdsExactly(const Claim &claim) {
    return holdsNearly(claim, 1e-10);
  }

  DoubleAlgebra algebra;
  TermEvaluator evaluator;
};

} // namespace verify

#endif // VERIFY_TEST_UNIT_RANDOMTERMS_H
