//===- WidthAlgebra.h - how many indices a product mentions -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An algebra whose scalars are bounds, for one sort of dimensions. Scalar
// bodies run under it, so an op states nothing for it (docs/Soundness.md).
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_ANALYSIS_WIDTHALGEBRA_H
#define VERIFY_LIB_ANALYSIS_WIDTHALGEBRA_H

#include "Verify/Scalar/ScalarAlgebra.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace verify {

/// How many different indices of a sort one product of a scalar can mention,
/// besides those of its own dimensions. Numbers are in halves, because roots
/// halve, and saturate at `Width::unbounded`.
struct Width {
  static constexpr int64_t unbounded = int64_t(1) << 32;
  /// What a fraction is divided by: a value, or a scalar inside a body.
  using DivisorKey = std::pair<const void *, unsigned>;

  /// Of the numerator, with functions that a law may undo counted as their
  /// arguments.
  int64_t numerator = 0;
  /// Of each divisor, as often as its highest power has it; sorted.
  llvm::SmallVector<std::pair<DivisorKey, int64_t>, 2> divisors;
  /// Of what `exp` makes of the logarithms in a sum.
  int64_t logarithms = 0;
  /// The greatest of all arguments of `exp` inside, which `log` may undo.
  int64_t exponents = 0;
  /// Whether the scalar takes steps: comparisons and integer data do.
  bool isDiscrete = false;
  /// Whether it is 0 but for one position of the sort, that its data name.
  bool isExclusive = false;
  /// Whether discrete scalars are summed over the sort.
  bool countsSteps = false;

  int64_t getDenominator() const;
  /// Of the scalar with all fractions brought to one denominator.
  int64_t getWhole() const;
  /// Adds the divisors of `other` as for a sum (`isProduct` false), where equal
  /// divisors are one, or for a product.
  void addDivisors(const Width &other, bool isProduct);
  /// Sums over all positions of `ofSort` dimensions of the sort, which are
  /// among `ofAny` dimensions that are summed over.
  void addSums(int64_t ofSort, int64_t ofAny);
  bool operator==(const Width &other) const = default;
};

/// `left + right`, at most `Width::unbounded`.
int64_t addWidths(int64_t left, int64_t right);

class WidthAlgebra : public ScalarAlgebra {
public:
  /// Greatest width of an argument of a function, so far.
  struct Arguments {
    int64_t numerator = 0;
    int64_t denominator = 0;
    bool exist = false;
    /// Whether one counts steps.
    bool countSteps = false;
  };

  /// `op` names divisors that are no operand's value.
  explicit WidthAlgebra(const void *op);

  Scalar of(Width width);
  /// The value of an operand, to which a division refers by `key`.
  Scalar operand(Width width, const void *key);
  /// The position in a dimension; `isUnique` if it is the only one of the sort,
  /// so that data name one position at most.
  Scalar position(bool isUnique);
  const Width &get(Scalar scalar) const { return widths[scalar.bits]; }
  /// Says that a function is applied to `values`.
  void addArguments(llvm::ArrayRef<Scalar> values);
  const Arguments &getArguments() const { return arguments; }

  Scalar rational(int64_t numerator, int64_t denominator) override;
  Scalar literal(double value, FloatFormat format) override;
  Scalar integer(int64_t value) override;
  Scalar boolean(bool value) override;
  Scalar minusInfinity() override;
  Scalar add(Scalar left, Scalar right) override;
  Scalar subtract(Scalar left, Scalar right) override;
  Scalar multiply(Scalar left, Scalar right) override;
  Scalar divide(Scalar left, Scalar right) override;
  Scalar negate(Scalar value) override;
  Scalar sum(llvm::ArrayRef<WeightedScalar> terms) override;
  Scalar power(Scalar base, int64_t numerator, int64_t denominator) override;
  Scalar apply(Function function, Scalar value) override;
  Scalar maximum(llvm::ArrayRef<Scalar> values) override;
  Scalar compare(Comparison comparison, Scalar left, Scalar right) override;
  Scalar select(Scalar condition, Scalar ifTrue, Scalar ifFalse) override;
  Scalar uninterpreted(llvm::StringRef name, llvm::ArrayRef<Scalar> values,
                       ScalarSort sort) override;
  Scalar toReal(Scalar value) override;

private:
  /// The key of a scalar as a divisor.
  Width::DivisorKey getKey(Scalar scalar);

  const void *op;
  unsigned divisions = 0;
  std::vector<Width> widths;
  std::vector<const void *> keys;
  std::vector<bool> isZero, isPosition, isUniquePosition;
  Arguments arguments;
};

} // namespace verify

#endif // VERIFY_LIB_ANALYSIS_WIDTHALGEBRA_H
