//===- ScalarAlgebra.h - what scalar bodies are written against -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The abstract algebra in which every op states its scalar body, once. What a
// scalar *is* depends on the implementation: a hash-consed term for the prover,
// a double, an exact rational or an outward-rounded interval for the
// interpreter. What is proved and what is executed is therefore the same code.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_SCALAR_SCALARALGEBRA_H
#define VERIFY_SCALAR_SCALARALGEBRA_H

#include "Verify/Scalar/Rational.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace verify {

/// A scalar of some algebra. Meaningless without the algebra that made it.
struct Scalar {
  uint64_t bits = 0;
  bool operator==(Scalar other) const { return bits == other.bits; }
  bool operator!=(Scalar other) const { return bits != other.bits; }
};

/// The kinds of scalar. `Extended` is a real or minus infinity; only sums with
/// reals or extended scalars, `max`, `exp`, comparison and selection accept it.
enum class ScalarSort : uint8_t { Real, Integer, Extended, Boolean };

/// Real functions of one argument. Arguments outside a function's domain
/// (`log`, `sqrt`, `rsqrt`) give an unspecified value, the same for the same
/// argument, and record a definedness condition.
enum class Function : uint8_t {
  Exp,
  Log,
  Sqrt,
  Rsqrt,
  Sin,
  Cos,
  Tanh,
  Erf,
  ErfDerivative, ///< `2 exp(-x^2) / sqrt(pi)`
  Abs,
  Sign
};

enum class Comparison : uint8_t { Equal, NotEqual, Less, LessEqual };

/// Names for diagnostics: `extended (minus infinity)`, `rsqrt`, `<=`.
llvm::StringRef getName(ScalarSort sort);
llvm::StringRef getName(Function function);
llvm::StringRef getName(Comparison comparison);

/// One term of a weighted sum: `weight` copies of `value`.
struct WeightedScalar {
  Scalar value;
  int64_t weight = 1;
};

/// The algebra. All operations are total; `divide`, `power` and the functions
/// with a restricted domain record the condition under which they are defined.
class ScalarAlgebra {
public:
  virtual ~ScalarAlgebra();

  /// The exact rational `numerator / denominator`; the denominator is not 0.
  virtual Scalar rational(int64_t numerator, int64_t denominator = 1) = 0;
  /// A float literal of the source program: the simplest rational that rounds
  /// to `value` in `format` (docs/Soundness.md, assumption on literals).
  virtual Scalar literal(double value,
                         FloatFormat format = FloatFormat::Double) = 0;
  /// A constant of sort Integer.
  virtual Scalar integer(int64_t value) = 0;
  virtual Scalar boolean(bool value) = 0;
  virtual Scalar minusInfinity() = 0;

  virtual Scalar add(Scalar left, Scalar right) = 0;
  virtual Scalar subtract(Scalar left, Scalar right) = 0;
  virtual Scalar multiply(Scalar left, Scalar right) = 0;
  virtual Scalar divide(Scalar left, Scalar right) = 0;
  virtual Scalar negate(Scalar value) = 0;
  /// The sum of all terms, each counted `weight` times; 0 if there are none.
  virtual Scalar sum(llvm::ArrayRef<WeightedScalar> terms) = 0;
  /// `base` to the rational power `numerator / denominator`.
  virtual Scalar power(Scalar base, int64_t numerator,
                       int64_t denominator = 1) = 0;
  virtual Scalar apply(Function function, Scalar argument) = 0;
  /// The greatest of `values`, of which there is at least one.
  virtual Scalar maximum(llvm::ArrayRef<Scalar> values) = 0;
  virtual Scalar compare(Comparison comparison, Scalar left, Scalar right) = 0;
  virtual Scalar select(Scalar condition, Scalar ifTrue, Scalar ifFalse) = 0;
  /// An unknown function, the same wherever `name` and arguments are the same.
  virtual Scalar uninterpreted(llvm::StringRef name,
                               llvm::ArrayRef<Scalar> arguments,
                               ScalarSort sort) = 0;
  /// An integer scalar as a real one; a boolean one as 0 or 1.
  virtual Scalar toReal(Scalar value) = 0;
};

} // namespace verify

#endif // VERIFY_SCALAR_SCALARALGEBRA_H
