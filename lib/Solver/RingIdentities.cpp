//===- RingIdentities.cpp - claims that need no solver --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `left - right` is taken apart from the last node down. All that a node occurs
// in has a greater number, so when its turn comes its coefficient is complete,
// and a node is taken apart once. Products are opaque at first: mostly, sums
// are only put together in another order.
//
//===----------------------------------------------------------------------===//

#include "RingIdentities.h"

#include "llvm/ADT/STLExtras.h"

#include <map>
#include <tuple>

using namespace verify;

namespace {
/// A sum of products, until it is shown to be 0 or not.
class Difference {
public:
  explicit Difference(const TermAlgebra &terms) : terms(terms) {}

  /// Whether it is 0. False too where that is not found out.
  bool isZero(Scalar left, Scalar right);

private:
  /// The numbers of its factors, in descending order. What can be taken apart
  /// comes first, and apart from what cannot.
  struct Monomial {
    llvm::SmallVector<uint64_t, 2> open, closed;
    bool operator<(const Monomial &other) const {
      // Descending, so what is open goes first.
      return std::tie(other.open, other.closed) < std::tie(open, closed);
    }
  };
  using Summands = std::map<uint64_t, Rational, std::greater<>>;

  /// Takes sums apart that are no factors. False if something is no real.
  bool takeSumsApart(Summands &summands);
  /// Adds `coefficient` times the product of `rest` and `factors`.
  bool add(const Monomial &rest, llvm::ArrayRef<Scalar> factors,
           Rational coefficient);
  /// Takes the greatest factor of a monomial apart.
  bool takeApart(const Monomial &monomial, const Rational &coefficient);

  const TermAlgebra &terms;
  std::map<Monomial, Rational> monomials;
  size_t added = 0;
};
} // namespace

/// Monomials that are added: some milliseconds, then Z3 is as fast.
static constexpr size_t mostAdded = 1 << 14;

bool Difference::takeSumsApart(Summands &summands) {
  for (auto place = summands.begin(); place != summands.end();) {
    auto [number, coefficient] = *place;
    Scalar term{number};
    if (terms.getSort(term) != ScalarSort::Real)
      return false;
    if (terms.getKind(term) != TermKind::Sum && !coefficient.isZero()) {
      ++place;
      continue;
    }
    if (!coefficient.isZero())
      for (auto [operand, weight] :
           llvm::zip_equal(terms.getOperands(term), terms.getWeights(term))) {
        if (operand.bits >= number)
          return false;
        summands[operand.bits] += coefficient * Rational(weight);
      }
    place = summands.erase(place);
  }
  return true;
}

bool Difference::add(const Monomial &rest, llvm::ArrayRef<Scalar> factors,
                     Rational coefficient) {
  if (++added > mostAdded)
    return false;
  Monomial result = rest;
  for (Scalar factor : factors) {
    if (terms.getSort(factor) != ScalarSort::Real)
      return false;
    TermKind kind = terms.getKind(factor);
    if (kind == TermKind::Constant) {
      coefficient *= terms.getConstant(factor);
      continue;
    }
    bool isOpen = kind == TermKind::Sum || kind == TermKind::Product;
    auto &numbers = isOpen ? result.open : result.closed;
    numbers.insert(llvm::upper_bound(numbers, factor.bits, std::greater<>()),
                   factor.bits);
  }
  auto [place, isNew] = monomials.try_emplace(std::move(result), coefficient);
  if (!isNew)
    place->second += coefficient;
  return true;
}

bool Difference::takeApart(const Monomial &monomial,
                           const Rational &coefficient) {
  Scalar term{monomial.open.front()};
  Monomial rest = monomial;
  rest.open.erase(rest.open.begin());
  llvm::ArrayRef<Scalar> operands = terms.getOperands(term);
  if (llvm::any_of(operands,
                   [&](Scalar operand) { return operand.bits >= term.bits; }))
    return false;
  if (terms.getKind(term) == TermKind::Product)
    return add(rest, operands, coefficient);
  return llvm::all_of(
      llvm::zip_equal(operands, terms.getWeights(term)), [&](auto summand) {
        auto [operand, weight] = summand;
        return add(rest, operand, coefficient * Rational(weight));
      });
}

bool Difference::isZero(Scalar left, Scalar right) {
  Summands summands;
  summands[left.bits] += Rational(1);
  summands[right.bits] += Rational(-1);
  if (!takeSumsApart(summands))
    return false;
  for (const auto &[number, coefficient] : summands)
    if (!add({}, Scalar{number}, coefficient))
      return false;
  while (!monomials.empty()) {
    auto place = monomials.begin();
    auto [monomial, coefficient] = *place;
    monomials.erase(place);
    if (coefficient.isZero())
      continue;
    // What is left has nothing that could be taken apart.
    if (monomial.open.empty() || !takeApart(monomial, coefficient))
      return false;
  }
  return true;
}

bool verify::isRingIdentity(const TermAlgebra &terms, const Claim &claim) {
  return claim.kind == ClaimKind::Equal &&
         Difference(terms).isZero(claim.left, claim.right);
}
