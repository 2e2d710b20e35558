//===- Laws.h - ground instances of the laws of real functions --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything a proof may use beyond polynomial arithmetic, comparison and
// congruence. The normal form is computed by code that nothing rests on; what
// it claims is checked by the solver from instances of these laws, and each
// instance is made here, from its arguments, and nowhere else. So this file and
// Laws.cpp are what has to be right.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_SCALAR_LAWS_H
#define VERIFY_SCALAR_LAWS_H

#include "Verify/Scalar/Terms.h"

#include <vector>

namespace verify {

/// What a claim says of its real terms.
enum class ClaimKind : uint8_t { Equal, NonZero, NonNegative, Positive };

/// `left = right`, or a property of `left`.
struct Claim {
  ClaimKind kind;
  Scalar left;
  Scalar right = {};
  bool operator==(const Claim &other) const {
    return kind == other.kind && left == other.left && right == other.right;
  }
};

/// The claim that says the same as `condition`.
Claim toClaim(const Condition &condition);

/// The laws, each with what its instances say. `rest` stands for further
/// factors on both sides of an equation.
enum class Law : uint8_t {
  /// A condition that the caller gave.
  Hypothesis,
  /// p + q = r: exp(p) exp(q) rest = exp(r) rest.
  ExpOfSum,
  /// p = 0: exp(p) = 1.
  ExpOfZero,
  /// exp(p) > 0.
  ExpPositive,
  /// p = n log(q) + ... + r, q > 0, ...: exp(p) = q^n ... exp(r).
  ExpOfLogs,
  /// log(exp(p)) = p.
  LogOfExp,
  /// p > 0, q > 0, ..., p q ... = r: log(r) = log(p) + log(q) + ...
  LogOfProduct,
  /// p > 0: log(1/p) = -log(p).
  LogOfInverse,
  /// max(exp(p), ...) = exp(max(p, ...)).
  MaximumOfExp,
  /// p != 0: p (1/p) rest = rest.
  Cancellation,
  /// p != 0, q p = 1: 1/p = q.
  UniqueInverse,
  /// p != 0: 1/p != 0. p > 0: 1/p > 0.
  InverseSign,
  /// p != 0, p q = 0: q = 0.
  ZeroProduct,
  /// p q != 0: p != 0.
  FactorNonZero,
  /// p > 0, p q > 0 (>= 0): q > 0 (>= 0).
  FactorPositive,
  /// All factors != 0 (>= 0, > 0): their product is.
  ProductSign,
  /// p p >= 0.
  Square,
  /// p >= 0: root(p)^n rest = p rest, where root(p) = p^(1/n).
  PowerOfRoot,
  /// p >= 0: root(p) >= 0. p > 0: root(p) > 0.
  RootSign,
  /// r >= 0, r^n = p: root(p) = r.
  UniqueRoot,
  /// p > 0: rsqrt(p) = 1/sqrt(p).
  InverseRoot,
  /// p != 0: p^(-n) = (1/p)^n.
  NegativePower,
  /// p >= 0: p^(m/n) = root(p)^m; p > 0: p^(-m/n) = (1/root(p))^m.
  BrokenPower,
  /// |p| |p| rest = p p rest; |p| sign(p) rest = p rest.
  AbsoluteValue,
  /// max(p, ...) >= p.
  MaximumBound,
  /// max(p, ...) = p or ...
  MaximumAttained,
  /// k >= 0, p = k q, ...: max(p, ...) = k max(q, ...).
  MaximumScale,
  /// For i and j that are 0 or 1, i <= j: i j rest = i rest.
  IndicatorImplies,
  /// For i and j that are 0 or 1, i + j <= 1: i j rest = 0.
  IndicatorExcludes,
  /// i = 0: i rest = 0. i = 1: i rest = rest.
  IndicatorCase
};

/// The name of a law for reports and comments: `exp-of-sum`.
llvm::StringRef getName(Law law);

/// If all premises hold, one of the conclusions does.
struct LawInstance {
  Law law;
  llvm::SmallVector<Claim, 1> premises;
  llvm::SmallVector<Claim, 1> conclusions;
};

/// The number of an instance in its book.
using InstanceId = uint32_t;

/// Makes and keeps instances of laws; equal ones are kept once. Terms are those
/// of one algebra and of sort Real.
class LawBook {
public:
  explicit LawBook(TermAlgebra &terms) : terms(terms) {}

  const LawInstance &get(InstanceId instance) const {
    return instances[instance];
  }
  size_t size() const { return instances.size(); }

  InstanceId hypothesis(const Claim &claim);
  /// `sum` is the term that is claimed to be `left + right`.
  InstanceId expOfSum(Scalar left, Scalar right, Scalar sum,
                      llvm::ArrayRef<Scalar> rest);
  InstanceId expOfZero(Scalar argument);
  InstanceId expPositive(Scalar argument);
  /// `argument` is claimed to be the sum of `remainder` and, for each power,
  /// its weight times the logarithm of its value.
  InstanceId expOfLogs(Scalar argument, llvm::ArrayRef<WeightedScalar> powers,
                       Scalar remainder);
  InstanceId logOfExp(Scalar argument);
  /// `value` is claimed to be the product of `factors`.
  InstanceId logOfProduct(Scalar value, llvm::ArrayRef<Scalar> factors);
  InstanceId logOfInverse(Scalar value);
  InstanceId maximumOfExp(llvm::ArrayRef<Scalar> arguments);
  /// Cancels `count` factors `factor` against as many of its inverse.
  InstanceId cancellation(Scalar factor, unsigned count,
                          llvm::ArrayRef<Scalar> rest);
  InstanceId uniqueInverse(Scalar value, Scalar result);
  InstanceId inverseSign(Scalar value, ClaimKind kind);
  InstanceId zeroProduct(Scalar factor, Scalar value);
  InstanceId factorNonZero(llvm::ArrayRef<Scalar> factors, unsigned which);
  InstanceId factorPositive(Scalar positive, Scalar other, ClaimKind kind);
  InstanceId productSign(llvm::ArrayRef<Scalar> factors, ClaimKind kind);
  InstanceId square(Scalar value);
  /// `p^(1/degree)`, as the function `sqrt` for degree 2.
  Scalar root(Scalar value, int64_t degree);
  InstanceId powerOfRoot(Scalar value, int64_t degree,
                         llvm::ArrayRef<Scalar> rest);
  InstanceId rootSign(Scalar value, int64_t degree, ClaimKind kind);
  InstanceId uniqueRoot(Scalar value, int64_t degree, Scalar result);
  InstanceId inverseRoot(Scalar value);
  InstanceId negativePower(Scalar value, int64_t count);
  InstanceId brokenPower(Scalar value, int64_t numerator, int64_t denominator);
  InstanceId absoluteSquare(Scalar value, llvm::ArrayRef<Scalar> rest);
  InstanceId absoluteSign(Scalar value, llvm::ArrayRef<Scalar> rest);
  InstanceId maximumBound(Scalar maximum, unsigned which);
  InstanceId maximumAttained(Scalar maximum);
  /// `scaled[i]` is claimed to be `factor * values[i]`.
  InstanceId maximumScale(Scalar factor, llvm::ArrayRef<Scalar> scaled,
                          llvm::ArrayRef<Scalar> values);
  /// The indicators are conversions of booleans to reals.
  InstanceId indicatorImplies(Scalar first, Scalar second,
                              llvm::ArrayRef<Scalar> rest);
  InstanceId indicatorExcludes(Scalar first, Scalar second,
                               llvm::ArrayRef<Scalar> rest);
  InstanceId indicatorCase(Scalar indicator, bool value,
                           llvm::ArrayRef<Scalar> rest);

private:
  InstanceId keep(LawInstance instance);
  Scalar times(llvm::ArrayRef<Scalar> factors, llvm::ArrayRef<Scalar> rest);
  Scalar inverse(Scalar value);
  bool isZero(Scalar term) const;
  Scalar exp(Scalar argument) { return terms.apply(Function::Exp, argument); }
  Scalar log(Scalar argument) { return terms.apply(Function::Log, argument); }

  TermAlgebra &terms;
  std::vector<LawInstance> instances;
  std::unordered_multimap<size_t, InstanceId> numbers;
};

} // namespace verify

#endif // VERIFY_SCALAR_LAWS_H
