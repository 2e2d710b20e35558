//===- LawBookTest.cpp - instances of laws are true -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Proofs rest on the instances that a law book makes, so each law is given
// arguments of every kind, fitting or not: wherever the premises hold, a
// conclusion must.
//
//===----------------------------------------------------------------------===//

#include "LawCalls.h"

using namespace verify;

TEST(LawBookTest, ConclusionsHoldWherePremisesDo) {
  std::vector<unsigned> held(static_cast<size_t>(Law::IndicatorCase) + 1);
  for (unsigned seed = 0; seed < 3000; ++seed) {
    TermAlgebra terms;
    LawCalls calls(terms, seed);
    calls.callAll();
    ASSERT_FALSE(terms.error());
    DoublePoint point(terms, seed);
    for (InstanceId id = 0; id < calls.book.size(); ++id) {
      const LawInstance &instance = calls.book.get(id);
      bool isApplicable = true;
      for (const Claim &premise : instance.premises)
        isApplicable &= point.holdsExactly(premise).value_or(false);
      bool isDecided = true, holds = false;
      for (const Claim &conclusion : instance.conclusions) {
        std::optional<bool> result = point.holdsNearly(conclusion);
        isDecided &= result.has_value();
        holds |= result.value_or(false);
      }
      if (!isApplicable || !isDecided)
        continue;
      ++held[static_cast<size_t>(instance.law)];
      EXPECT_TRUE(holds) << seed << " " << getName(instance.law).str() << ": "
                         << terms.toString(instance.conclusions[0].left)
                         << " and "
                         << terms.toString(instance.conclusions[0].right);
    }
  }
  for (size_t law = 1; law < held.size(); ++law)
    EXPECT_GT(held[law], 20u) << getName(Law(law)).str();
}

TEST(LawBookTest, EqualInstancesAreKeptOnce) {
  TermAlgebra terms;
  LawBook book(terms);
  Scalar x = terms.atom(0, {0}, ScalarSort::Real);
  InstanceId first = book.expPositive(x);
  EXPECT_EQ(book.square(x), first + 1);
  EXPECT_EQ(book.expPositive(x), first);
  EXPECT_EQ(book.size(), 2u);
}
