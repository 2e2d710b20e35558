//===- ObligationTest.cpp - parts of arguments ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Obligation.h"
#include "TermExpressions.h"

using namespace verify;

/// `exp(x) / (exp(x) + ...)` of so many numbers, with one of them subtracted.
static Expression getPart(TermAlgebra &terms, int64_t count, bool isShifted) {
  auto make = [&](int64_t number) {
    Expression x{&terms, terms.atom(0, {number}, ScalarSort::Real)};
    Expression last{&terms, terms.atom(0, {count}, ScalarSort::Real)};
    return Expression{&terms,
                      terms.apply(Function::Exp, isShifted ? x - last : x)};
  };
  Expression sum = make(0);
  for (int64_t i = 1; i < count; ++i)
    sum = sum + make(i);
  return make(0) / sum;
}

namespace {

TEST(ObligationTest, FactsOfAPartAreProvedRecordsOnly) {
  TermAlgebra terms;
  Normalizer normalizer(terms, {});
  std::optional<RecordId> goal =
      normalizer.proveEqual(getPart(terms, 8, false), getPart(terms, 8, true));
  ASSERT_TRUE(goal);
  ProvedRecords proved;
  Argument argument = collectArgument(terms, normalizer, *goal, proved);
  ASSERT_GT(argument.records.size(), 8u);
  llvm::ArrayRef<RecordId> records = argument.records;
  size_t facts = 0;
  for (size_t i = 0; i < records.size(); ++i) {
    // Those before are proved, and none of the part itself.
    Argument part = takePart(normalizer, proved, records.drop_front(i));
    for (RecordId fact : part.facts)
      EXPECT_TRUE(llvm::is_contained(records.take_front(i), fact)) << i;
    facts += part.facts.size();
    for (RecordId needed : normalizer.getRecord(records[i]).needs)
      EXPECT_TRUE(llvm::is_contained(part.facts, needed)) << i;
    EXPECT_EQ(llvm::ArrayRef(part.records), records.drop_front(i));
    proved.add(records[i]);
  }
  EXPECT_GT(facts, 0u);
}

TEST(ObligationTest, ManyClaimsAreNotProvedTogether) {
  TermAlgebra terms;
  Normalizer normalizer(terms, {});
  std::optional<RecordId> goal = normalizer.proveEqual(
      getPart(terms, 400, false), getPart(terms, 400, true));
  ASSERT_TRUE(goal);
  Argument argument = collectArgument(terms, normalizer, *goal, {});
  llvm::ArrayRef<RecordId> rest = argument.records;
  unsigned parts = 0;
  for (; !rest.empty(); ++parts) {
    size_t count = countTogether(normalizer, rest), claims = 0;
    ASSERT_GT(count, 0u);
    for (RecordId record : rest.take_front(count))
      claims += normalizer.getRecord(record).claims.size();
    EXPECT_TRUE(count == 1 || claims <= 256) << claims;
    rest = rest.drop_front(count);
  }
  EXPECT_GT(parts, 2u);
}

} // namespace
