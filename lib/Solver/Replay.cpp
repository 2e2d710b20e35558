//===- Replay.cpp - that accepted steps make up the whole -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Classes of equal terms, and the walk over nodes. Any way of replacing equals
// by equals is sound; a missing step makes the replay fail and nothing else.
//
//===----------------------------------------------------------------------===//

#include "Replay.h"

#include "llvm/ADT/STLExtras.h"

using namespace verify;

//===--- Equations --------------------------------------------------------===//

uint64_t Replay::find(uint64_t term) {
  auto place = classes.find(term);
  if (place == classes.end())
    return term;
  uint64_t root = find(place->second);
  classes[term] = root;
  return root;
}

void Replay::accept(llvm::ArrayRef<Claim> claims) {
  for (const Claim &claim : claims) {
    if (claim.kind != ClaimKind::Equal) {
      signs.push_back(claim);
      continue;
    }
    equations.try_emplace(claim.left.bits, claim.right);
    uint64_t left = find(claim.left.bits), right = find(claim.right.bits);
    if (left != right)
      classes[left] = right;
  }
}

llvm::SmallVector<Scalar, 4> Replay::versions(Scalar term) const {
  llvm::SmallVector<Scalar, 4> result{term};
  while (result.size() < 8) {
    auto place = equations.find(result.back().bits);
    if (place == equations.end() || llvm::is_contained(result, place->second))
      break;
    result.push_back(place->second);
  }
  return result;
}

bool Replay::isConstant(Scalar term, int64_t value) const {
  return terms.getKind(term) == TermKind::Constant &&
         terms.getConstant(term) == Rational(value);
}

Scalar Replay::times(Scalar left, Scalar right) {
  if (isLiteral)
    return terms.product({left, right});
  if (isConstant(left, 1))
    return right;
  if (isConstant(right, 1))
    return left;
  llvm::SmallVector<Scalar, 4> lefts = versions(left), rights = versions(right);
  for (Scalar first : llvm::reverse(lefts))
    for (Scalar second : llvm::reverse(rights)) {
      Scalar product = terms.product({first, second});
      if (equations.contains(product.bits))
        return product;
    }
  return terms.product({lefts.back(), rights.back()});
}

Scalar Replay::inverse(Scalar term) {
  Scalar one = terms.rational(1);
  llvm::SmallVector<Scalar, 4> all = versions(term);
  for (Scalar version : llvm::reverse(all)) {
    Scalar result = terms.divide(one, version);
    if (equations.contains(result.bits))
      return result;
  }
  return terms.divide(one, all.back());
}

Scalar Replay::sum(llvm::ArrayRef<WeightedScalar> summands) {
  if (isLiteral)
    return terms.sum(summands);
  // Mostly, the last version of each summand is the one that was added.
  for (size_t dropped = 0; dropped < 4; ++dropped) {
    llvm::SmallVector<WeightedScalar> chosen;
    for (const WeightedScalar &summand : summands) {
      auto all = versions(summand.value);
      size_t place = all.size() - 1 - std::min(dropped, all.size() - 1);
      chosen.push_back({all[place], summand.weight});
    }
    Scalar result = terms.sum(chosen);
    if (equations.contains(result.bits))
      return result;
  }
  llvm::SmallVector<WeightedScalar> last;
  for (const WeightedScalar &summand : summands)
    last.push_back({versions(summand.value).back(), summand.weight});
  return terms.sum(last);
}

Scalar Replay::complement(Scalar indicator) {
  return sum({{terms.rational(1), 1}, {indicator, -1}});
}

/// `ifFalse + condition (ifTrue - ifFalse)`.
Scalar Replay::select(Scalar condition, Scalar ifTrue, Scalar ifFalse) {
  if (!isLiteral && ifTrue == ifFalse)
    return ifTrue;
  Scalar change = sum({{ifTrue, 1}, {ifFalse, -1}});
  return sum({{ifFalse, 1}, {times(condition, change), 1}});
}

Scalar Replay::expand(Scalar term, Scalar goal) {
  if (areEqual(term, goal))
    return goal;
  for (Scalar version : versions(term)) {
    llvm::ArrayRef<Scalar> operands = terms.getOperands(version);
    bool isInverse = terms.getKind(version) == TermKind::Quotient &&
                     isConstant(operands[0], 1);
    if (isInverse && areEqual(inverse(operands[1]), goal))
      return goal;
    if (terms.getKind(version) != TermKind::Product)
      continue;
    Scalar product = terms.rational(1);
    for (Scalar factor : operands) {
      llvm::ArrayRef<Scalar> inner = terms.getOperands(factor);
      bool isInverted = terms.getKind(factor) == TermKind::Quotient &&
                        isConstant(inner[0], 1) &&
                        !equations.contains(factor.bits);
      product = times(product, isInverted ? inverse(inner[1]) : factor);
    }
    if (areEqual(product, goal))
      return goal;
  }
  return term;
}

//===--- Nodes ------------------------------------------------------------===//

bool Replay::haveClaimedForms(llvm::ArrayRef<Scalar> operands) {
  return llvm::all_of(operands, [&](Scalar term) {
    Pair claimed = claimedForm(term), actual = translated.lookup(term.bits);
    return areEqual(actual.value, claimed.value) &&
           areEqual(actual.mask, claimed.mask);
  });
}

/// Whether the node can be a literal part of a polynomial.
static bool isPolynomialKind(const TermAlgebra &terms, Scalar node) {
  switch (terms.getKind(node)) {
  case TermKind::Sum:
  case TermKind::Product:
  case TermKind::Quotient:
  case TermKind::Select:
  case TermKind::ToReal:
  case TermKind::IsFinite:
    return true;
  case TermKind::Power:
    return terms.getExponent(node).second == 1 &&
           terms.getExponent(node).first >= 0;
  default:
    return terms.getOperands(node).empty() &&
           terms.getKind(node) != TermKind::Uninterpreted;
  }
}

std::optional<Replay::Pair> Replay::translateNode(Scalar node) {
  isLiteral = !normalizer.getRecordOf(node) && isPolynomialKind(terms, node);
  Pair meaning;
  if (isLiteral) {
    meaning = meaningOf(node);
    isLiteral = false;
    return meaning;
  }
  if (!haveClaimedForms(terms.getOperands(node)))
    return std::nullopt;
  Pair claimed = claimedForm(node);
  meaning = meaningOf(node);
  if (!areEqual(expand(meaning.value, claimed.value), claimed.value) ||
      !areEqual(meaning.mask, claimed.mask))
    return std::nullopt;
  return claimed;
}

std::optional<Replay::Pair> Replay::translate(Scalar root) {
  llvm::SmallVector<std::pair<Scalar, bool>> stack{{root, false}};
  while (!stack.empty()) {
    auto [node, isReady] = stack.pop_back_val();
    if (translated.contains(node.bits))
      continue;
    if (isReady) {
      std::optional<Pair> pair = translateNode(node);
      if (!pair)
        return std::nullopt;
      translated[node.bits] = *pair;
      continue;
    }
    stack.push_back({node, true});
    for (Scalar term : terms.getOperands(node))
      stack.push_back({term, false});
  }
  return translated.lookup(root.bits);
}

//===--- Questions --------------------------------------------------------===//

bool Replay::isHypothesis(const Claim &claim, llvm::ArrayRef<Condition> given) {
  return llvm::any_of(given, [&](const Condition &condition) {
    std::optional<Pair> pair = toClaim(condition).kind == claim.kind
                                   ? translate(condition.term)
                                   : std::nullopt;
    return pair && pair->value == claim.left;
  });
}

bool Replay::proves(Scalar left, Scalar right) {
  std::optional<Pair> first = translate(left), second = translate(right);
  if (!first || !second)
    return false;
  if (!areEqual(first->mask, second->mask))
    return false;
  if (areEqual(first->value, second->value))
    return true;
  // Values only matter where they are finite.
  if (isConstant(first->mask, 1))
    return false;
  return areEqual(times(first->mask, first->value),
                  times(second->mask, second->value));
}

bool Replay::proves(const Condition &condition) {
  std::optional<Pair> pair = translate(condition.term);
  ClaimKind kind = toClaim(condition).kind;
  return pair && llvm::any_of(signs, [&](const Claim &sign) {
           return sign.kind == kind && areEqual(sign.left, pair->value);
         });
}
