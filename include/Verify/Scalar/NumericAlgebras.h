//===- NumericAlgebras.h - scalars as numbers -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algebras of the interpreter: doubles for speed, exact rationals where the
// program has no transcendental functions, and outward-rounded intervals, which
// alone can refute. None of them knows the sort of a scalar: integers and
// booleans (0 and 1) are numbers like others. Rationals and intervals hold all
// 64-bit integers exactly, doubles those below 2^53.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_SCALAR_NUMERICALGEBRAS_H
#define VERIFY_SCALAR_NUMERICALGEBRAS_H

#include "Verify/Scalar/ScalarAlgebra.h"
#include "llvm/ADT/bit.h"

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace verify {

/// What happened in an evaluation that a verdict has to know.
struct NumericStatus {
  /// An operation was used outside its domain.
  bool isUndefined = false;
  /// A comparison, selection or definedness condition could not be
  /// decided, because intervals overlap.
  bool isUndecided = false;
  /// A value is an approximation without bounds.
  bool isInexact = false;
  /// An unknown function got a made-up meaning.
  bool usesUninterpreted = false;
};

/// Many scalars at once: the scalars of this algebra are rows of as many
/// scalars of another, and its operations are those of that one, element by
/// element.
class RowAlgebra : public ScalarAlgebra {
public:
  /// Forgets all rows; those made from now on have `newSize` elements.
  virtual void reset(size_t newSize) = 0;
  /// The row of `first` and the scalars that follow it at distance `stride`,
  /// which have to stay where they are; with stride 0 all are the same.
  virtual Scalar makeRow(const Scalar *first, int64_t stride) = 0;
  /// Scalars at a distance from each other, which may be 0.
  struct Elements {
    const Scalar *first;
    int64_t stride;
    Scalar operator[](size_t index) const {
      return first[static_cast<int64_t>(index) * stride];
    }
  };
  /// The elements of a row, until the next one is made.
  virtual Elements get(Scalar row) const = 0;
  /// Adds `weight` times each element of a row to that of `sums`.
  virtual void addTo(llvm::MutableArrayRef<Scalar> sums, Scalar row,
                     int64_t weight) = 0;
  /// The sums of parts of a row that follow each other, each up to one of
  /// `lasts`, of each element `weights` times.
  virtual void sumParts(Scalar row, llvm::ArrayRef<int64_t> weights,
                        llvm::ArrayRef<size_t> lasts,
                        llvm::MutableArrayRef<Scalar> sums) = 0;
  /// Whether elements may be kept one by one (`NumericAlgebra::keep`): where
  /// scalars are held in memory, that forgets the others.
  virtual bool mayKeepElements() const = 0;
  /// Keeps many scalars of the other algebra at once, apart from all others and
  /// each other, and forgets all else that was made since `mark`.
  virtual void keepAll(llvm::MutableArrayRef<Scalar> values, size_t mark) = 0;
};

/// What the numeric algebras have in common.
class NumericAlgebra : public ScalarAlgebra {
public:
  /// Rows of scalars of this algebra, which has to outlive them; null if there
  /// are none.
  virtual std::unique_ptr<RowAlgebra> makeRows() { return nullptr; }
  /// An algebra with the same scalars, and a status of its own, that another
  /// thread may use at the same time; null if there is none.
  virtual std::unique_ptr<NumericAlgebra> makeTwin() const { return nullptr; }
  /// The number nearest to `value`, or an enclosure of it.
  virtual Scalar constant(const Rational &value) = 0;
  /// A double near to `value`.
  virtual double toDouble(Scalar value) const = 0;
  /// Whether results are near to the numbers and no more: enough to choose what
  /// is looked at, and not to decide.
  virtual bool isApproximate() const { return false; }
  /// What a scalar costs, in doubles, to keep and to compute.
  virtual int64_t getCost() const { return 8; }
  /// Forgets all scalars and the status, and keeps the memory.
  virtual void reset() { state = {}; }

  // Long executions give memory back scalar by scalar. Algebras whose scalars
  // are not kept in memory have nothing to do for it.

  /// A point in time, for `keep`.
  virtual size_t mark() const { return 0; }
  /// Forgets all scalars made since `mark` and returns a scalar of the same
  /// value, apart from all others.
  virtual Scalar keep(Scalar value, size_t mark) { return value; }
  /// Forgets a scalar that `keep` returned, or one made on its own.
  virtual void release(Scalar value) {}

  /// A scalar that stands for both of two that are equal or close, `left` if
  /// that will do: in intervals it encloses both. None if they are not close;
  /// then no scalar is made.
  virtual std::optional<Scalar> join(Scalar left, Scalar right) = 0;
  /// Whether it is known that the number is 0 or more.
  virtual bool isNonNegative(Scalar value) const { return false; }
  /// Whether it is known that no neighbours of a row would be joined.
  virtual bool areApart(llvm::ArrayRef<Scalar> row) const { return false; }

  const NumericStatus &status() const { return state; }
  void clearStatus() { state = {}; }
  /// Notes what happened in a twin.
  void addStatus(const NumericStatus &other);

  Scalar rational(int64_t numerator, int64_t denominator = 1) override;
  Scalar literal(double value,
                 FloatFormat format = FloatFormat::Double) override;
  Scalar integer(int64_t value) override;
  Scalar boolean(bool value) override;
  Scalar subtract(Scalar left, Scalar right) override;
  Scalar toReal(Scalar value) override { return value; }

protected:
  NumericStatus state;
};

/// Scalars as doubles; `Scalar::bits` is the double itself. Comparisons are
/// those of the rounded values.
class DoubleAlgebra final : public NumericAlgebra {
public:
  /// What to make of a sum of two numbers that cancel all but the last bits.
  enum class Remainders { Keep, Drop };
  explicit DoubleAlgebra(Remainders remainders = Remainders::Keep)
      : least(remainders == Remainders::Drop ? 0x1p-40 : 0) {}

  /// The scalar of a double, and back.
  static Scalar fromDouble(double value) {
    return {llvm::bit_cast<uint64_t>(value)};
  }
  static double getDouble(Scalar value) {
    return llvm::bit_cast<double>(value.bits);
  }

  Scalar constant(const Rational &value) override;
  Scalar rational(int64_t numerator, int64_t denominator = 1) override;
  Scalar integer(int64_t value) override { return rational(value); }
  Scalar boolean(bool value) override { return fromDouble(value); }
  double toDouble(Scalar value) const override { return getDouble(value); }
  bool isNonNegative(Scalar value) const override {
    return getDouble(value) >= 0;
  }
  int64_t getCost() const override { return 1; }
  bool isApproximate() const override { return true; }
  std::optional<Scalar> join(Scalar left, Scalar right) override;
  bool areApart(llvm::ArrayRef<Scalar> row) const override;
  std::unique_ptr<RowAlgebra> makeRows() override;
  std::unique_ptr<NumericAlgebra> makeTwin() const override {
    auto twin = std::make_unique<DoubleAlgebra>();
    twin->least = least;
    return twin;
  }
  /// The sum, or 0 for a remainder that is dropped.
  double sumUp(double left, double right) const {
    double sum = left + right;
    return std::fabs(sum) < least * std::fabs(left) ? 0 : sum;
  }

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
  /// A smooth function, so that rounding does not make two results differ.
  Scalar uninterpreted(llvm::StringRef name, llvm::ArrayRef<Scalar> arguments,
                       ScalarSort sort) override;

private:
  /// Marks the evaluation as undefined and gives the value of a function
  /// outside its domain; `phase` tells functions apart.
  Scalar undefined(double argument, double phase);

  /// A smaller part of an operand is a remainder.
  double least;
};

/// Scalars as exact rationals, as long as no transcendental function is applied
/// to anything but the points where its value is rational.
class RationalAlgebra final : public NumericAlgebra {
public:
  RationalAlgebra();

  /// The value; `value` is not minus infinity.
  const Rational &get(Scalar value) const { return values[value.bits]; }
  bool isMinusInfinity(Scalar value) const { return value.bits == 0; }

  Scalar constant(const Rational &value) override;
  double toDouble(Scalar value) const override;
  void reset() override;
  size_t mark() const override { return values.size(); }
  Scalar keep(Scalar value, size_t mark) override;
  void release(Scalar value) override;
  std::optional<Scalar> join(Scalar left, Scalar right) override;

  Scalar minusInfinity() override { return {0}; }
  Scalar add(Scalar left, Scalar right) override;
  Scalar multiply(Scalar left, Scalar right) override;
  Scalar divide(Scalar left, Scalar right) override;
  Scalar negate(Scalar value) override;
  Scalar sum(llvm::ArrayRef<WeightedScalar> terms) override;
  Scalar power(Scalar base, int64_t numerator,
               int64_t denominator = 1) override;
  Scalar apply(Function function, Scalar argument) override;
  Scalar maximum(llvm::ArrayRef<Scalar> candidates) override;
  Scalar compare(Comparison comparison, Scalar left, Scalar right) override;
  Scalar select(Scalar condition, Scalar ifTrue, Scalar ifFalse) override;
  Scalar uninterpreted(llvm::StringRef name, llvm::ArrayRef<Scalar> arguments,
                       ScalarSort sort) override;

private:
  Scalar undefined();
  Scalar inexact(double value);
  /// -1, 0 or 1 as `left` is less, equal or greater.
  int order(Scalar left, Scalar right) const;

  /// Place 0 stands for minus infinity.
  std::vector<Rational> values;
  /// Places that are free.
  std::vector<size_t> released;
};

/// Scalars as closed intervals. Every value lies in its interval unless the
/// status says undefined.
class EnclosingAlgebra : public NumericAlgebra {
public:
  /// Whether no number lies in both intervals.
  bool areDisjoint(Scalar left, Scalar right) const {
    return isLess(left, right) || isLess(right, left);
  }
  /// Whether the value certainly does not exist, because it is computed from
  /// one outside of a domain. Not every algebra can tell.
  virtual bool isUndefined(Scalar value) const { return false; }
  /// The precision of the ends in bits.
  virtual unsigned getPrecision() const = 0;
  Scalar compare(Comparison comparison, Scalar left, Scalar right) override;

protected:
  /// Whether that holds for all numbers of both intervals.
  virtual bool isLess(Scalar left, Scalar right) const = 0;
  virtual bool isLessOrEqual(Scalar left, Scalar right) const = 0;
  virtual bool isEqual(Scalar left, Scalar right) const = 0;
  /// A boolean, noted as undecided if it is neither.
  virtual Scalar truth(bool isSurelyTrue, bool isSurelyFalse) = 0;
};

/// Where intervals of doubles have the bounds of functions from.
enum class FunctionSource {
  Library, ///< the C library, taken to be close (docs/Soundness.md, A24)
  Rounded  ///< MPFR, rounded downward and upward: slower
};

/// Intervals between doubles: for speed, where 53 bits suffice.
class DoubleIntervalAlgebra final : public EnclosingAlgebra {
public:
  explicit DoubleIntervalAlgebra(
      FunctionSource source = FunctionSource::Library)
      : source(source) {}

  bool isUndefined(Scalar value) const override {
    return get(value).isUndefined();
  }
  unsigned getPrecision() const override { return 53; }
  /// The interval that `value` is in another such algebra.
  Scalar copy(const DoubleIntervalAlgebra &from, Scalar value) {
    intervals.push_back(from.get(value));
    return {intervals.size() - 1};
  }
  double getLower(Scalar value) const { return get(value).lower; }
  double getUpper(Scalar value) const { return get(value).upper; }
  bool isNonNegative(Scalar value) const override {
    return get(value).lower >= 0;
  }

  Scalar constant(const Rational &value) override;
  Scalar rational(int64_t numerator, int64_t denominator = 1) override;
  Scalar integer(int64_t value) override { return rational(value); }
  Scalar boolean(bool value) override { return point(value); }
  double toDouble(Scalar value) const override;
  int64_t getCost() const override { return 3; }
  void reset() override;
  size_t mark() const override { return intervals.size(); }
  Scalar keep(Scalar value, size_t mark) override;
  void keepAll(llvm::MutableArrayRef<Scalar> values, size_t mark);
  void release(Scalar value) override {
    if (!isShared(value))
      released.push_back(value.bits);
  }
  std::optional<Scalar> join(Scalar left, Scalar right) override;
  std::unique_ptr<RowAlgebra> makeRows() override;

  Scalar minusInfinity() override;
  Scalar add(Scalar left, Scalar right) override;
  Scalar multiply(Scalar left, Scalar right) override;
  Scalar divide(Scalar left, Scalar right) override;
  Scalar negate(Scalar value) override;
  Scalar sum(llvm::ArrayRef<WeightedScalar> terms) override;
  Scalar power(Scalar base, int64_t numerator,
               int64_t denominator = 1) override;
  Scalar apply(Function function, Scalar argument) override;
  Scalar maximum(llvm::ArrayRef<Scalar> candidates) override;
  Scalar compare(Comparison comparison, Scalar left, Scalar right) override;
  Scalar select(Scalar condition, Scalar ifTrue, Scalar ifFalse) override;
  /// The whole line: an unknown function refutes nothing.
  Scalar uninterpreted(llvm::StringRef name, llvm::ArrayRef<Scalar> arguments,
                       ScalarSort sort) override;

protected:
  bool isLess(Scalar left, Scalar right) const override;
  bool isLessOrEqual(Scalar left, Scalar right) const override;
  bool isEqual(Scalar left, Scalar right) const override;
  Scalar truth(bool isSurelyTrue, bool isSurelyFalse) override;

private:
  struct Interval {
    double lower, upper;
    bool isPoint() const { return lower == upper; }
    bool isZero() const { return lower == 0 && upper == 0; }
    bool isFinite() const {
      return std::isfinite(lower) && std::isfinite(upper);
    }
    /// The lower end is no number: so is what is made of it.
    bool isUndefined() const { return lower != lower; }
  };
  enum class Domain { Inside, Outside, Undecided };

  const Interval &get(Scalar value) const { return intervals[value.bits]; }
  /// The interval, or the whole line if arithmetic left no ends. Minus infinity
  /// is a value only where an operand is; elsewhere it is an overflow.
  Scalar make(double lower, double upper, bool mayBeMinusInfinity = false);
  Scalar point(double value) {
    return value == 0 || value == 1 ? Scalar{static_cast<uint64_t>(value)}
                                    : make(value, value);
  }
  /// Whether it is one of the points 0 and 1, which are at the places of these
  /// numbers for all.
  static bool isShared(Scalar value) { return value.bits < 2; }
  Scalar wholeLine() { return make(1, 0); }
  Scalar undefined();
  /// Whether a condition `value > 0` (or `>= 0`) holds, which is noted.
  Domain requirePositive(const Interval &value, bool allowsZero);
  Domain requireNonZero(const Interval &value);
  /// The value of what is not certainly inside of its domain.
  Scalar outside(Domain domain);
  Scalar root(const Interval &value);
  Scalar increasing(Function function, const Interval &value);
  /// A sine or cosine.
  Scalar wave(Function function, const Interval &value);

  FunctionSource source;
  std::vector<Interval> intervals = {{0, 0}, {1, 1}};
  /// Places that are free.
  std::vector<size_t> released;
};

/// Intervals with ends of a given number of bits, rounded outward.
class IntervalAlgebra final : public EnclosingAlgebra {
public:
  /// At least 64 bits are used, so that integers are exact.
  explicit IntervalAlgebra(unsigned precision);
  ~IntervalAlgebra() override;

  unsigned getPrecision() const override { return bits; }
  /// A double that is not greater (not less) than any number in the interval.
  double getLower(Scalar value) const;
  double getUpper(Scalar value) const;
  bool isNonNegative(Scalar value) const override {
    return getLower(value) >= 0;
  }
  /// Whether the interval is a single number.
  bool isPoint(Scalar value) const;
  /// `[0.333, 0.334]`.
  std::string toString(Scalar value) const;

  Scalar constant(const Rational &value) override;
  double toDouble(Scalar value) const override;
  void reset() override;
  size_t mark() const override { return used; }
  Scalar keep(Scalar value, size_t mark) override;
  void release(Scalar value) override { released.push_back(value.bits); }
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
  Scalar maximum(llvm::ArrayRef<Scalar> candidates) override;
  Scalar select(Scalar condition, Scalar ifTrue, Scalar ifFalse) override;
  /// The whole line: an unknown function refutes nothing.
  Scalar uninterpreted(llvm::StringRef name, llvm::ArrayRef<Scalar> arguments,
                       ScalarSort sort) override;

protected:
  bool isLess(Scalar left, Scalar right) const override;
  bool isLessOrEqual(Scalar left, Scalar right) const override;
  bool isEqual(Scalar left, Scalar right) const override;
  Scalar truth(bool isSurelyTrue, bool isSurelyFalse) override;

private:
  struct Interval;

  /// A new interval with unspecified contents.
  Scalar allocate();
  Interval &get(Scalar value) const;
  Scalar wholeLine();
  /// Makes an interval that arithmetic left undefined the whole line.
  Scalar checked(Scalar value);
  /// Notes that a condition `value > 0` (or `>= 0`) is violated or undecided.
  /// Returns whether the operation is possible on the whole interval.
  bool requirePositive(Scalar value, bool allowsZero);
  bool requireNonZero(Scalar value);

  /// Whether both are one number, whatever is known of it.
  bool isSame(Scalar left, Scalar right) const;

  unsigned bits;
  std::vector<std::unique_ptr<Interval>> intervals;
  size_t used = 0;
  /// The number of the last interval that was made.
  uint64_t lastOrigin = 0;
  /// Whether intervals were joined that are no points: each stands for several
  /// numbers then.
  bool hasJoined = false;
  /// Places below `used` that are free.
  std::vector<size_t> released;
};

} // namespace verify

#endif // VERIFY_SCALAR_NUMERICALGEBRAS_H
