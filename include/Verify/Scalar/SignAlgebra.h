//===- SignAlgebra.h - scalars as sets of signs -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shows where divisors, roots and logarithms are defined without computing
// them: an exponential is positive, and so is a sum of such. Numbers that are
// doubles stay numbers, as long as nothing is rounded; so do positions.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_SCALAR_SIGNALGEBRA_H
#define VERIFY_SCALAR_SIGNALGEBRA_H

#include "Verify/Scalar/NumericAlgebras.h"

namespace verify {

/// Scalars as sets of signs; every value lies in its set, wherever the scalars
/// it was computed from do and all operations before it were used inside of
/// their domains. An operation that may be used outside of its domain makes the
/// status undecided; comparisons do not.
class SignAlgebra final : public NumericAlgebra {
public:
  /// What a value may be, a bit for each.
  enum Sign : uint8_t {
    MinusInfinity = 1,
    Negative = 2,
    Zero = 4,
    Positive = 8
  };
  static constexpr uint8_t anyReal = Negative | Zero | Positive;

  /// The scalar of which nothing but that is known.
  static Scalar fromSigns(uint8_t signs);
  static uint8_t getSigns(Scalar value);

  Scalar constant(const Rational &value) override;
  Scalar rational(int64_t numerator, int64_t denominator = 1) override;
  Scalar integer(int64_t value) override;
  Scalar boolean(bool value) override { return fromNumber(value ? 1 : 0); }
  /// The number, if it is known; else one of a sign that it may have.
  double toDouble(Scalar value) const override;
  int64_t getCost() const override { return 1; }
  std::optional<Scalar> join(Scalar left, Scalar right) override;

  Scalar minusInfinity() override;
  Scalar add(Scalar left, Scalar right) override;
  Scalar multiply(Scalar left, Scalar right) override;
  Scalar divide(Scalar left, Scalar right) override;
  Scalar negate(Scalar value) override;
  Scalar sum(llvm::ArrayRef<WeightedScalar> terms) override;
  Scalar power(Scalar base, int64_t numerator,
               int64_t denominator = 1) override;
  Scalar apply(Function function, Scalar argument) override;
  Scalar maximum(llvm::ArrayRef<Scalar> values) override;
  Scalar compare(Comparison comparison, Scalar left, Scalar right) override;
  Scalar select(Scalar condition, Scalar ifTrue, Scalar ifFalse) override;
  Scalar uninterpreted(llvm::StringRef name, llvm::ArrayRef<Scalar> arguments,
                       ScalarSort sort) override;

private:
  /// The scalar of a number, which is not minus 0 afterwards.
  static Scalar fromNumber(double value);
  /// The number, where it is known.
  static std::optional<double> getNumber(Scalar value);
  /// Notes that `value` may have signs that are not `allowed`.
  void require(Scalar value, uint8_t allowed);
};

} // namespace verify

#endif // VERIFY_SCALAR_SIGNALGEBRA_H
