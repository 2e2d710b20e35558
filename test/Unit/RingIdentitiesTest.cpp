//===- RingIdentitiesTest.cpp - claims that need no solver ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RingIdentities.h"

#include "RandomTerms.h"

#include "Verify/Solver/Solver.h"

#include "gtest/gtest.h"

using namespace verify;

namespace {

class RingIdentitiesTest : public testing::Test {
protected:
  /// Sums and products of atoms, constants and functions.
  Scalar make(unsigned depth) {
    if (depth == 0)
      return makeLeaf();
    unsigned count = 2 + pick(2);
    if (pick(2)) {
      llvm::SmallVector<Scalar> factors;
      for (unsigned i = 0; i < count; ++i)
        factors.push_back(make(depth - 1));
      return terms.product(factors);
    }
    llvm::SmallVector<WeightedScalar> summands;
    for (unsigned i = 0; i < count; ++i)
      summands.push_back({make(depth - 1), int64_t(pick(9)) - 4});
    return terms.sum(summands);
  }

  /// The same in another order, with some products multiplied out and some
  /// summands put together.
  Scalar rearrange(Scalar term) {
    llvm::SmallVector<Scalar> operands(terms.getOperands(term));
    llvm::SmallVector<int64_t> weights(terms.getWeights(term));
    if (terms.getKind(term) == TermKind::Sum) {
      llvm::SmallVector<WeightedScalar> summands;
      for (auto [operand, weight] : llvm::zip_equal(operands, weights))
        summands.push_back({rearrange(operand), weight});
      std::shuffle(summands.begin(), summands.end(), random);
      if (summands.size() > 2 && pick(2)) {
        auto inner = llvm::ArrayRef(summands).drop_front();
        return terms.sum({summands.front(), {terms.sum(inner), 1}});
      }
      return terms.sum(summands);
    }
    if (terms.getKind(term) != TermKind::Product)
      return term;
    for (Scalar &operand : operands)
      operand = rearrange(operand);
    std::shuffle(operands.begin(), operands.end(), random);
    auto *sum = llvm::find_if(operands, [&](Scalar factor) {
      return terms.getKind(factor) == TermKind::Sum;
    });
    if (sum == operands.end() || pick(4) == 0)
      return terms.product(operands);
    llvm::SmallVector<WeightedScalar> summands;
    llvm::SmallVector<Scalar> parts(terms.getOperands(*sum));
    weights.assign(terms.getWeights(*sum).begin(),
                   terms.getWeights(*sum).end());
    for (auto [part, weight] : llvm::zip_equal(parts, weights)) {
      *sum = part;
      summands.push_back({terms.product(operands), weight});
    }
    return terms.sum(summands);
  }

  /// One weight or one leaf is another.
  Scalar change(Scalar term) {
    llvm::SmallVector<Scalar> operands(terms.getOperands(term));
    TermKind kind = terms.getKind(term);
    if (kind != TermKind::Sum && kind != TermKind::Product)
      return terms.sum({{term, 1}, {makeLeaf(), 1}});
    unsigned place = pick(unsigned(operands.size()));
    llvm::SmallVector<int64_t> weights(terms.getWeights(term));
    if (kind == TermKind::Sum && pick(2))
      ++weights[place];
    else
      operands[place] = change(operands[place]);
    if (kind == TermKind::Product)
      return terms.product(operands);
    llvm::SmallVector<WeightedScalar> summands;
    for (auto [operand, weight] : llvm::zip_equal(operands, weights))
      summands.push_back({operand, weight});
    return terms.sum(summands);
  }

  bool areEqual(Scalar left, Scalar right) {
    return isRingIdentity(terms, {ClaimKind::Equal, left, right});
  }
  Scalar getAtom(uint32_t tensor, ScalarSort sort = ScalarSort::Real) {
    return terms.atom(tensor, {0}, sort);
  }
  unsigned pick(unsigned count) { return unsigned(random() % count); }

  TermAlgebra terms;
  std::mt19937 random{7};

private:
  Scalar makeLeaf() {
    switch (pick(6)) {
    case 0:
      return terms.rational(int64_t(pick(7)) - 3, 2);
    case 1:
      return terms.apply(Function::Exp, getAtom(pick(4)));
    default:
      return getAtom(pick(4));
    }
  }
};

TEST_F(RingIdentitiesTest, Rearranged) {
  for (unsigned round = 0; round < 400; ++round) {
    Scalar term = make(3), other = rearrange(term);
    EXPECT_TRUE(areEqual(term, other)) << terms.toString(term) << "\n"
                                       << terms.toString(other);
  }
}

TEST_F(RingIdentitiesTest, Changed) {
  unsigned differing = 0;
  for (unsigned round = 0; round < 400; ++round) {
    Scalar term = make(3), other = change(rearrange(term));
    DoublePoint first(terms, 2 * round), second(terms, 2 * round + 1);
    Claim claim = {ClaimKind::Equal, term, other};
    if (first.holdsNearly(claim).value_or(true) &&
        second.holdsNearly(claim).value_or(true))
      continue;
    ++differing;
    EXPECT_FALSE(areEqual(term, other)) << terms.toString(term) << "\n"
                                        << terms.toString(other);
  }
  EXPECT_GT(differing, 200U);
}

TEST_F(RingIdentitiesTest, Constants) {
  Scalar a = getAtom(0);
  auto getMultiple = [&](int64_t top, int64_t bottom = 1) {
    return terms.product({terms.rational(top, bottom), a});
  };
  EXPECT_TRUE(areEqual(getMultiple(2), terms.add(a, a)));
  EXPECT_FALSE(areEqual(getMultiple(3), terms.add(a, a)));
  EXPECT_TRUE(areEqual(terms.sum({{getMultiple(1, 3), 3}}), a));
  EXPECT_TRUE(areEqual(getMultiple(0), terms.rational(0)));
  EXPECT_FALSE(areEqual(terms.add(a, terms.rational(1)), a));
}

TEST_F(RingIdentitiesTest, NothingIsKnownOfOtherTerms) {
  Scalar a = getAtom(0), b = getAtom(1);
  Scalar sum = terms.add(a, b), other = terms.add(b, a);
  EXPECT_TRUE(areEqual(sum, other));
  EXPECT_FALSE(areEqual(terms.apply(Function::Exp, sum),
                        terms.apply(Function::Exp, other)));
  EXPECT_FALSE(areEqual(terms.divide(terms.multiply(a, b), b), a));
  EXPECT_FALSE(areEqual(a, b));
}

TEST_F(RingIdentitiesTest, OnlyEquationsOfReals) {
  Scalar a = getAtom(0);
  EXPECT_FALSE(isRingIdentity(terms, {ClaimKind::NonNegative, a, a}));
  for (ScalarSort sort :
       {ScalarSort::Extended, ScalarSort::Integer, ScalarSort::Boolean}) {
    Scalar other = getAtom(1, sort);
    EXPECT_FALSE(areEqual(other, other));
  }
  // Infinity less itself is no number.
  Scalar b = getAtom(1, ScalarSort::Extended);
  EXPECT_FALSE(areEqual(terms.sum({{a, 1}, {b, 1}, {b, -1}}), a));
}

TEST_F(RingIdentitiesTest, WhatTakesLongIsLeftToTheSolver) {
  // 2^40 monomials, if one went on.
  llvm::SmallVector<Scalar> factors;
  for (uint32_t factor = 0; factor < 40; ++factor)
    factors.push_back(terms.add(getAtom(2 * factor), getAtom(2 * factor + 1)));
  Scalar left = terms.product(factors), a = getAtom(0), b = getAtom(1);
  factors[0] = terms.add(terms.multiply(a, terms.add(b, b)), a);
  EXPECT_FALSE(areEqual(left, terms.product(factors)));
}

TEST_F(RingIdentitiesTest, TheSolverIsNotAsked) {
  Scalar a = getAtom(0), b = getAtom(1), c = getAtom(2);
  Prover prover(terms);
  Scalar left = terms.multiply(a, terms.add(b, c));
  Scalar right = terms.add(terms.multiply(c, a), terms.multiply(b, a));
  EXPECT_EQ(prover.prove(left, right, {}).verdict, Verdict::Proved);
  EXPECT_GT(prover.getStatistics().ringIdentities, 0U);
  EXPECT_EQ(prover.getStatistics().solverQueries, 0U);
  auto exponential = [&](Scalar term) {
    return terms.apply(Function::Exp, term);
  };
  left = terms.multiply(exponential(a), exponential(b));
  EXPECT_EQ(prover.prove(left, exponential(terms.add(b, a)), {}).verdict,
            Verdict::Proved);
  EXPECT_GT(prover.getStatistics().solverQueries, 0U);
}

} // namespace
