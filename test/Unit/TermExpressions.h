//===- TermExpressions.h - terms written as expressions ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Operators on scalars of a term algebra and a fixture that proves equations
// between them, so that tests read like the laws they are about.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_TEST_UNIT_TERMEXPRESSIONS_H
#define VERIFY_TEST_UNIT_TERMEXPRESSIONS_H

#include "Verify/Solver/Solver.h"

#include <gtest/gtest.h>

namespace verify {

/// A term with its algebra.
struct Expression {
  TermAlgebra *terms;
  Scalar scalar;

  operator Scalar() const { return scalar; }
};

inline Expression operator+(Expression left, Expression right) {
  return {left.terms, left.terms->add(left, right)};
}
inline Expression operator-(Expression left, Expression right) {
  return {left.terms, left.terms->subtract(left, right)};
}
inline Expression operator-(Expression value) {
  return {value.terms, value.terms->negate(value)};
}
inline Expression operator*(Expression left, Expression right) {
  return {left.terms, left.terms->multiply(left, right)};
}
inline Expression operator/(Expression left, Expression right) {
  return {left.terms, left.terms->divide(left, right)};
}
inline Expression operator+(Expression left, int64_t right) {
  return left + Expression{left.terms, left.terms->rational(right, 1)};
}
inline Expression operator-(Expression left, int64_t right) {
  return left + -right;
}
inline Expression operator+(int64_t left, Expression right) {
  return right + left;
}
inline Expression operator-(int64_t left, Expression right) {
  return -right + left;
}
inline Expression operator*(int64_t left, Expression right) {
  return Expression{right.terms, right.terms->rational(left, 1)} * right;
}
inline Expression operator/(int64_t left, Expression right) {
  return Expression{right.terms, right.terms->rational(left, 1)} / right;
}
inline Expression operator/(Expression left, int64_t right) {
  return left / Expression{left.terms, left.terms->rational(right, 1)};
}
inline Expression apply(Function function, Expression value) {
  return {value.terms, value.terms->apply(function, value)};
}
inline Expression exp(Expression value) { return apply(Function::Exp, value); }
inline Expression log(Expression value) { return apply(Function::Log, value); }
inline Expression sqrt(Expression value) {
  return apply(Function::Sqrt, value);
}
inline Expression rsqrt(Expression value) {
  return apply(Function::Rsqrt, value);
}
inline Expression abs(Expression value) { return apply(Function::Abs, value); }
inline Expression sign(Expression value) {
  return apply(Function::Sign, value);
}
inline Expression pow(Expression base, int64_t numerator,
                      int64_t denominator = 1) {
  return {base.terms, base.terms->power(base, numerator, denominator)};
}
inline Expression max(Expression left, Expression right) {
  return {left.terms, left.terms->maximum({left, right})};
}
inline Expression compare(Expression left, Comparison comparison,
                          Expression right) {
  return {left.terms, left.terms->compare(comparison, left, right)};
}
inline Expression select(Expression condition, Expression ifTrue,
                         Expression ifFalse) {
  return {condition.terms, condition.terms->select(condition, ifTrue, ifFalse)};
}

/// Proves and fails to prove equations.
class TermTest : public ::testing::Test {
protected:
  Expression real(uint32_t tensor, int64_t index = 0) {
    return atom(tensor, index, ScalarSort::Real);
  }
  Expression atom(uint32_t tensor, int64_t index, ScalarSort sort) {
    return {&terms, terms.atom(tensor, {index}, sort)};
  }
  Expression number(int64_t numerator, int64_t denominator = 1) {
    return {&terms, terms.rational(numerator, denominator)};
  }
  Expression integer(int64_t value) { return {&terms, terms.integer(value)}; }
  Expression sum(uint32_t tensor, int64_t count, int64_t exponent = 1,
                 int64_t first = 0) {
    Expression result = number(0);
    for (int64_t index = first; index < first + count; ++index)
      result = result + pow(real(tensor, index), exponent);
    return result;
  }
  static Condition nonZero(Scalar term) {
    return {ConditionKind::NonZero, term};
  }
  static Condition nonNegative(Scalar term) {
    return {ConditionKind::NonNegative, term};
  }
  static Condition positive(Scalar term) {
    return {ConditionKind::Positive, term};
  }

  Verdict prove(Scalar left, Scalar right,
                llvm::ArrayRef<Condition> hypotheses = {}) {
    lastResult = prover.prove(left, right, hypotheses);
    return lastResult.verdict;
  }
  void expectProved(Scalar left, Scalar right,
                    llvm::ArrayRef<Condition> hypotheses = {}) {
    EXPECT_EQ(prove(left, right, hypotheses), Verdict::Proved)
        << terms.toString(left) << " = " << terms.toString(right) << ": "
        << lastResult.reason;
  }
  /// Neither proved by the solver nor by normalization.
  void expectNotProved(Scalar left, Scalar right,
                       llvm::ArrayRef<Condition> hypotheses = {}) {
    Verdict verdict = prove(left, right, hypotheses);
    EXPECT_TRUE(verdict == Verdict::NotProved || verdict == Verdict::Unknown)
        << terms.toString(left) << " = " << terms.toString(right) << ": "
        << getName(verdict).str();
  }
  /// Proved under the reference's own conditions, all of which the plan's
  /// follow from.
  void expectPlanProved(Scalar reference, Scalar plan) {
    auto hypotheses = terms.collectConditions({reference});
    expectProved(reference, plan, hypotheses);
    for (const Condition &condition : terms.collectConditions({plan})) {
      lastResult = prover.proveCondition(condition, hypotheses);
      EXPECT_EQ(lastResult.verdict, Verdict::Proved)
          << terms.toString(condition.term) << ": " << lastResult.reason;
    }
  }

  TermAlgebra terms;
  Prover prover{terms};
  ProofResult lastResult;
};

} // namespace verify

#endif // VERIFY_TEST_UNIT_TERMEXPRESSIONS_H
