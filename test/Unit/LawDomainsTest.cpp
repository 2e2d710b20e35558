//===- LawDomainsTest.cpp - conditions of laws suffice and are needed -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates instances of laws over all real numbers. Outside of its domain a
// function has some value, drawn anew for each point: the laws must hold
// whatever it is, and each condition of a law must fail to be superfluous.
//
//===----------------------------------------------------------------------===//

#include "LawCalls.h"

#include <map>
#include <set>
#include <tuple>

using namespace verify;

namespace {
/// A point of the reals with total extensions of the partial functions. Written
/// without the evaluators of the program.
class TotalPoint {
public:
  TotalPoint(const TermAlgebra &terms, unsigned seed)
      : terms(terms), seed(seed) {}

  double get(Scalar term) {
    auto found = values.find(term.bits);
    if (found != values.end())
      return found->second;
    double value = compute(term);
    // A sum that is 0 but for rounding is 0: domains end there.
    if (terms.getKind(term) == TermKind::Sum && std::fabs(value) < 1e-11)
      value = 0;
    return values[term.bits] = value;
  }

  /// Whether the claim holds; nothing if that is a matter of rounding.
  std::optional<bool> holds(const Claim &claim) {
    double left = get(claim.left);
    double right = claim.kind == ClaimKind::Equal ? get(claim.right) : 0;
    if (!std::isfinite(left) || !std::isfinite(right) ||
        std::fabs(left) > 1e9 || std::fabs(right) > 1e9)
      return std::nullopt;
    double difference = left - right;
    double scale = 1 + std::fabs(left) + std::fabs(right);
    bool isNear = std::fabs(difference) <= 1e-9 * scale;
    if (claim.kind == ClaimKind::Equal) {
      if (isNear)
        return true;
      if (std::fabs(difference) < 1e-5 * scale)
        return std::nullopt;
      return false;
    }
    if (isNear && difference != 0)
      return std::nullopt;
    switch (claim.kind) {
    case ClaimKind::NonZero:
      return difference != 0;
    case ClaimKind::NonNegative:
      return difference >= 0;
    default:
      return difference > 0;
    }
  }

private:
  /// The value of a function outside of its domain; often 0, 1 or negative.
  double extend(const std::string &function, double argument) {
    auto [found, isNew] = extension.try_emplace({function, argument}, 0);
    if (isNew) {
      std::seed_seq sequence{seed, unsigned(extension.size())};
      std::mt19937 random(sequence);
      random();
      found->second = double(random() % 13) / 2 - 3;
    }
    return found->second;
  }

  double power(double base, int64_t numerator, int64_t denominator) {
    bool isDefined = denominator == 1
                         ? numerator >= 0 || base != 0
                         : base > 0 || (base == 0 && numerator > 0);
    if (!isDefined)
      return extend("power " + std::to_string(numerator) + "/" +
                        std::to_string(denominator),
                    base);
    return std::pow(base, double(numerator) / double(denominator));
  }

  double apply(Function function, double x) {
    switch (function) {
    case Function::Exp:
      return std::exp(x);
    case Function::Log:
      return x > 0 ? std::log(x) : extend("log", x);
    case Function::Sqrt:
      return x >= 0 ? std::sqrt(x) : extend("sqrt", x);
    case Function::Rsqrt:
      return x > 0 ? 1 / std::sqrt(x) : extend("rsqrt", x);
    case Function::Abs:
      return std::fabs(x);
    case Function::Sign:
      return x > 0 ? 1 : x < 0 ? -1 : 0;
    default:
      ADD_FAILURE() << "a function without laws";
      return 0;
    }
  }

  double compute(Scalar term) {
    llvm::ArrayRef<Scalar> operands = terms.getOperands(term);
    switch (terms.getKind(term)) {
    case TermKind::Constant:
      return std::stod(terms.getConstant(term).getNumerator().toString()) /
             std::stod(terms.getConstant(term).getDenominator().toString());
    case TermKind::Atom: {
      std::mt19937 random(unsigned(terms.getIndex(term)[0]) * 31 + seed);
      random();
      return (random() % 257) / 64.0 - 2;
    }
    case TermKind::Sum: {
      double total = 0;
      for (auto [operand, weight] : llvm::zip(operands, terms.getWeights(term)))
        total += double(weight) * get(operand);
      return total;
    }
    case TermKind::Product: {
      double total = 1;
      for (Scalar operand : operands)
        total *= get(operand);
      return total;
    }
    case TermKind::Quotient: {
      double divisor = get(operands[1]);
      return get(operands[0]) *
             (divisor == 0 ? extend("inverse", 0) : 1 / divisor);
    }
    case TermKind::Power: {
      auto [numerator, denominator] = terms.getExponent(term);
      return power(get(operands[0]), numerator, denominator);
    }
    case TermKind::Apply:
      return apply(terms.getFunction(term), get(operands[0]));
    case TermKind::Maximum: {
      double greatest = get(operands[0]);
      for (Scalar operand : operands)
        greatest = std::max(greatest, get(operand));
      return greatest;
    }
    case TermKind::Boolean:
      return terms.getBoolean(term);
    case TermKind::ToReal:
      return get(operands[0]);
    case TermKind::Compare: {
      double left = get(operands[0]), right = get(operands[1]);
      bool isEqual = std::fabs(left - right) < 1e-9;
      switch (terms.getComparison(term)) {
      case Comparison::Equal:
        return isEqual;
      case Comparison::NotEqual:
        return !isEqual;
      case Comparison::Less:
        return !isEqual && left < right;
      case Comparison::LessEqual:
        return isEqual || left < right;
      }
    }
      [[fallthrough]];
    default:
      ADD_FAILURE() << "a term that no law is about: " << terms.toString(term);
      return 0;
    }
  }

  const TermAlgebra &terms;
  unsigned seed;
  std::map<uint64_t, double> values;
  std::map<std::pair<std::string, double>, double> extension;
};

/// One kind of premise of a law.
using Premise = std::tuple<Law, ClaimKind>;

/// What evaluation showed of all laws.
struct Findings {
  std::map<Law, unsigned> held;
  /// Premises without which a law was seen to fail.
  std::map<Premise, unsigned> needed;
  std::set<Premise> premises;
};
} // namespace

static void evaluate(const LawInstance &instance, const TermAlgebra &terms,
                     TotalPoint &point, unsigned seed, Findings &findings) {
  std::optional<Premise> failed;
  unsigned failures = 0;
  for (const Claim &premise : instance.premises) {
    findings.premises.insert({instance.law, premise.kind});
    std::optional<bool> holds = point.holds(premise);
    if (!holds)
      return;
    if (!*holds) {
      ++failures;
      failed = {instance.law, premise.kind};
    }
  }
  bool isTrue = false;
  for (const Claim &conclusion : instance.conclusions) {
    std::optional<bool> holds = point.holds(conclusion);
    if (!holds)
      return;
    isTrue |= *holds;
  }
  if (failures == 0) {
    ++findings.held[instance.law];
    EXPECT_TRUE(isTrue) << seed << " " << getName(instance.law).str() << ": "
                        << terms.toString(instance.conclusions[0].left)
                        << " and "
                        << terms.toString(instance.conclusions[0].right);
  } else if (failures == 1 && !isTrue) {
    ++findings.needed[*failed];
  }
}

TEST(LawDomainsTest, LawsHoldUnderAnyExtensionAndNeedTheirConditions) {
  Findings findings;
  for (unsigned seed = 0; seed < 4000; ++seed) {
    TermAlgebra terms;
    LawCalls calls(terms, seed);
    calls.callAll();
    ASSERT_FALSE(terms.error());
    TotalPoint point(terms, seed);
    for (InstanceId id = 0; id < calls.book.size(); ++id)
      evaluate(calls.book.get(id), terms, point, seed, findings);
  }
  // Laws without a condition, and a condition that the other one implies: if
  // q p = 1 then p is not 0.
  const std::set<Law> unconditional = {
      Law::ExpPositive,   Law::LogOfExp,     Law::MaximumOfExp,   Law::Square,
      Law::AbsoluteValue, Law::MaximumBound, Law::MaximumAttained};
  const std::set<Premise> implied = {{Law::UniqueInverse, ClaimKind::NonZero}};
  std::set<Law> conditional;
  for (const Premise &premise : findings.premises) {
    conditional.insert(std::get<Law>(premise));
    unsigned count = findings.needed[premise];
    if (implied.count(premise))
      EXPECT_EQ(count, 0u) << getName(std::get<Law>(premise)).str();
    else
      EXPECT_GT(count, 5u) << getName(std::get<Law>(premise)).str() << " with "
                           << int(std::get<ClaimKind>(premise));
  }
  for (size_t number = 1; number <= size_t(Law::IndicatorCase); ++number) {
    Law law = Law(number);
    EXPECT_NE(conditional.count(law), unconditional.count(law))
        << getName(law).str();
    EXPECT_GT(findings.held[law], 20u) << getName(law).str();
  }
}
