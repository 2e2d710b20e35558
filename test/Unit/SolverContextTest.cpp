//===- SolverContextTest.cpp - provers that share a context ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Z3Solver.h"

#include "gtest/gtest.h"

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

using namespace verify;

namespace {

/// A prover with terms of its own.
struct Owner {
  explicit Owner(std::shared_ptr<SolverContext> context,
                 const ProverOptions &options = {})
      : prover(terms, options, std::move(context)) {}

  Scalar getAtom(uint32_t tensor) {
    return terms.atom(tensor, {0}, ScalarSort::Real);
  }
  /// exp(a) * (exp(b) + c1 + ... + cn) = exp(a + b) + exp(a) * c1 + ... +
  /// exp(a) * cn, or with b instead of the last exp(a).
  Verdict prove(bool isRight, uint32_t number) {
    Scalar a = getAtom(0), b = getAtom(1);
    Scalar sum = terms.apply(Function::Exp, b),
           right = terms.apply(Function::Exp, terms.add(a, b));
    a = terms.apply(Function::Exp, a);
    for (uint32_t term = 0; term <= number; ++term) {
      Scalar c = getAtom(2 + term);
      bool isLast = term == number;
      sum = terms.add(sum, c);
      right = terms.add(right, terms.multiply(isLast && !isRight ? b : a, c));
    }
    return prover.prove(terms.multiply(a, sum), right, {}).verdict;
  }
  void check(uint32_t number) {
    EXPECT_EQ(prove(true, number), Verdict::Proved);
    EXPECT_EQ(prove(false, number), Verdict::NotProved);
  }
  void clear() {
    terms.clear();
    prover.clear();
  }

  TermAlgebra terms;
  Prover prover;
};

/// Has a context, as one that is busy with a query.
class Busy {
public:
  explicit Busy(SolverContext &context) {
    std::promise<void> entered;
    thread = std::thread([&] {
      SolverContext::Lock lock = context.enter();
      entered.set_value();
      over.get_future().wait();
    });
    entered.get_future().wait();
  }
  ~Busy() {
    over.set_value();
    thread.join();
  }

private:
  std::promise<void> over;
  std::thread thread;
};

TEST(SolverContextTest, TermsOfProversAreApart) {
  auto context = std::make_shared<SolverContext>();
  Owner first(context), second(context);
  for (uint32_t round = 0; round < 4; ++round) {
    first.check(round);
    second.check(9 - round);
    // The other one's terms stay.
    (round % 2 ? first : second).clear();
  }
  size_t queries = first.prover.getStatistics().solverQueries +
                   second.prover.getStatistics().solverQueries;
  EXPECT_GE(queries, 8U);
  EXPECT_EQ(context->queries, queries);
}

TEST(SolverContextTest, Threads) {
  auto context = std::make_shared<SolverContext>();
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (uint32_t number = 0; number < 4; ++number)
    threads.emplace_back([=] {
      Owner owner(context);
      for (uint32_t round = 0; round < 20; ++round) {
        owner.check(number + round);
        owner.clear();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_GT(context->queries, 0U);
}

TEST(SolverContextTest, WhoWaitsForLongMakesAnother) {
  auto context = std::make_shared<SolverContext>();
  Owner late(context);
  {
    Busy busy(*context);
    late.check(0);
  }
  EXPECT_EQ(context->queries, 0U);
  late.check(1);
  EXPECT_EQ(context->queries, 0U) << "it keeps what it made";
}

TEST(SolverContextTest, WhatIsBeingMadeIsWaitedFor) {
  SolverContext context;
  std::promise<void> entered;
  std::atomic<bool> isThere = false;
  std::thread maker([&] {
    SolverContext::Lock lock = context.enter();
    entered.set_value();
    context.get().get();
    isThere = true;
  });
  entered.get_future().wait();
  // Others are in nobody's way before.
  size_t vain = 0;
  while (!isThere) {
    SolverContext::Lock lock = context.enter(std::chrono::milliseconds(1));
    vain += !lock;
  }
  maker.join();
  // One at either end, where the thread is interrupted just there.
  EXPECT_LE(vain, 2U);
}

TEST(SolverContextTest, WhoWaitsForLongLeaves) {
  auto context = std::make_shared<SolverContext>();
  size_t queries;
  {
    Owner owner(context);
    owner.check(0);
    queries = context->queries;
    EXPECT_GT(queries, 0U);
    Busy busy(*context);
    owner.check(1);
  }
  EXPECT_EQ(context->queries, queries);
  Owner(context).check(2);
  EXPECT_GT(context->queries, queries);
}

TEST(SolverContextTest, WhatIsUnknownIsAskedAgainInAFreshOne) {
  auto context = std::make_shared<SolverContext>();
  Owner(context).check(0);
  size_t queries = context->queries;
  ProverOptions options;
  options.resourceLimit = options.nonlinearResourceLimit = 1;
  Owner hasty(context, options);
  // The softmax of two numbers, as it is and with the second one subtracted.
  TermAlgebra &terms = hasty.terms;
  Scalar x = hasty.getAtom(0), y = hasty.getAtom(1);
  auto getPart = [&](Scalar x, Scalar y) {
    Scalar part = terms.apply(Function::Exp, x);
    return terms.divide(part, terms.add(part, terms.apply(Function::Exp, y)));
  };
  ProofResult result = hasty.prover.prove(
      getPart(x, y), getPart(terms.subtract(x, y), terms.rational(0)), {});
  EXPECT_EQ(result.verdict, Verdict::ProvedByNormalization);
  EXPECT_GT(hasty.prover.getStatistics().solverQueries, 1U);
  EXPECT_EQ(context->queries, queries + 1);
}

} // namespace
