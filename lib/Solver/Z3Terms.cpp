//===- Z3Terms.cpp - terms as Z3 expressions ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums of products are made by Z3's simplifier, so that its linear arithmetic,
// with products as unknowns, decides claims from the equations between products
// that the laws give.
//
//===----------------------------------------------------------------------===//

#include "Z3Terms.h"

#include "llvm/ADT/STLExtras.h"

#include <climits>

using namespace verify;

Z3Terms::Z3Terms(z3::context &context, const TermAlgebra &terms)
    : context(context), terms(terms), real(context.real_sort()),
      integer(context.int_sort()), boolean(context.bool_sort()),
      normalization(context) {
  normalization.set("som", true);
  normalization.set("som_blowup", UINT_MAX);
}

//===--- Formulas ---------------------------------------------------------===//

void Z3Terms::noteDefinitions(Scalar term) {
  auto place = definitionsOfTerm.find(term.bits);
  if (place == definitionsOfTerm.end())
    return;
  isPending.resize(definitions.size());
  for (unsigned definition : place->second)
    if (!isPending[definition]) {
      isPending[definition] = true;
      pending.push_back(definition);
    }
}

void Z3Terms::takeDefinitions(z3::expr_vector &formulas) {
  for (unsigned definition : pending)
    formulas.push_back(definitions[definition]);
  dropDefinitions();
}

void Z3Terms::dropDefinitions() {
  for (unsigned definition : pending)
    isPending[definition] = false;
  pending.clear();
}

z3::expr Z3Terms::normalize(const z3::expr &formula) {
  return formula.simplify(normalization);
}

z3::expr Z3Terms::difference(const Claim &claim) {
  z3::expr left = encodeReal(claim.left);
  noteDefinitions(claim.left);
  if (claim.kind != ClaimKind::Equal)
    return left;
  z3::expr right = encodeReal(claim.right);
  noteDefinitions(claim.right);
  return (left - right);
}

z3::expr Z3Terms::encode(const Claim &claim) {
  z3::expr value = difference(claim);
  z3::expr zero = context.real_val(0);
  switch (claim.kind) {
  case ClaimKind::Equal:
    return value == zero;
  case ClaimKind::NonZero:
    return value != zero;
  case ClaimKind::NonNegative:
    return value >= zero;
  case ClaimKind::Positive:
    return value > zero;
  }
  throw z3::exception("a claim without a formula");
}

z3::expr Z3Terms::encode(const LawInstance &instance) {
  z3::expr_vector premises(context), conclusions(context);
  for (const Claim &premise : instance.premises)
    premises.push_back(encode(premise));
  for (const Claim &conclusion : instance.conclusions)
    conclusions.push_back(encode(conclusion));
  z3::expr conclusion =
      conclusions.size() == 1 ? conclusions[0] : z3::mk_or(conclusions);
  if (premises.empty())
    return conclusion;
  return z3::implies(premises.size() == 1 ? premises[0] : z3::mk_and(premises),
                     conclusion);
}

//===--- Names ------------------------------------------------------------===//

z3::expr Z3Terms::number(const Rational &value) {
  std::optional<int64_t> whole = value.getInteger();
  if (whole)
    return context.real_val(*whole);
  return context.real_val(value.toString().c_str());
}

z3::expr Z3Terms::fresh(Scalar term, const z3::sort &sort) {
  // The node number as symbol, which is cheaper than a string.
  return context.constant(context.int_symbol(static_cast<int>(term.bits)),
                          sort);
}

z3::expr Z3Terms::define(Scalar term, const z3::expr &definition) {
  z3::expr name = fresh(term, real);
  auto &used = definitionsOfTerm[term.bits];
  used.push_back(static_cast<unsigned>(definitions.size()));
  definitions.push_back(name == definition);
  return name;
}

z3::func_decl Z3Terms::function(const std::string &name, unsigned arity,
                                const z3::sort &sort) {
  std::string key = name + "/" + std::to_string(arity);
  auto place = functions.find(key);
  if (place != functions.end())
    return place->second;
  z3::sort_vector domain(context);
  for (unsigned i = 0; i < arity; ++i)
    domain.push_back(real);
  z3::func_decl result = context.function(key.c_str(), domain, sort);
  functions.emplace(key, result);
  return result;
}

z3::expr Z3Terms::encodeCall(Scalar term, const std::string &name,
                             const z3::sort &sort) {
  z3::expr_vector arguments(context);
  for (Scalar operand : terms.getOperands(term))
    arguments.push_back(encodeReal(operand));
  return function(name, arguments.size(), sort)(arguments);
}

std::optional<z3::expr> Z3Terms::findAtom(Scalar atom) const {
  auto place = expressionOfTerm.find(atom.bits);
  if (place == expressionOfTerm.end())
    return std::nullopt;
  return expressions[place->second];
}

//===--- Terms ------------------------------------------------------------===//

z3::expr Z3Terms::encodeReal(Scalar root) {
  // Operands first, without recursion, because sums may be chains.
  llvm::SmallVector<std::pair<Scalar, bool>> stack{{root, false}};
  while (!stack.empty()) {
    auto [term, isReady] = stack.pop_back_val();
    if (expressionOfTerm.contains(term.bits))
      continue;
    if (isReady) {
      encodeOperandsDone(term);
      continue;
    }
    stack.push_back({term, true});
    for (Scalar operand : terms.getOperands(term))
      if (terms.getSort(operand) == ScalarSort::Real)
        stack.push_back({operand, false});
  }
  return expressions[expressionOfTerm.lookup(root.bits)];
}

void Z3Terms::encodeOperandsDone(Scalar term) {
  z3::expr result = encodeNode(term);
  expressionOfTerm[term.bits] = static_cast<unsigned>(expressions.size());
  expressions.push_back(result);
  // Definitions of operands are definitions of the term.
  llvm::SmallVector<unsigned, 2> used;
  for (Scalar operand : terms.getOperands(term)) {
    auto below = definitionsOfTerm.find(operand.bits);
    if (below != definitionsOfTerm.end())
      used.append(below->second.begin(), below->second.end());
  }
  if (used.empty())
    return;
  auto &all = definitionsOfTerm[term.bits];
  all.append(used.begin(), used.end());
  llvm::sort(all);
  all.erase(llvm::unique(all), all.end());
}

z3::expr Z3Terms::encodeSum(Scalar term) {
  z3::expr_vector summands(context);
  for (auto [operand, weight] :
       llvm::zip(terms.getOperands(term), terms.getWeights(term))) {
    z3::expr value = encodeReal(operand);
    summands.push_back(weight == 1 ? value : context.real_val(weight) * value);
  }
  return summands.size() == 1 ? summands[0] : z3::sum(summands);
}

z3::expr Z3Terms::encodeProduct(llvm::ArrayRef<Scalar> factors) {
  std::vector<Z3_ast> values;
  for (Scalar factor : factors)
    values.push_back(encodeReal(factor));
  return z3::expr(
      context,
      Z3_mk_mul(context, static_cast<unsigned>(values.size()), values.data()));
}

z3::expr Z3Terms::encodeInverse(Scalar term) {
  if (terms.getKind(term) == TermKind::Constant) {
    Rational value = terms.getConstant(term);
    if (!value.isZero())
      return number(value.inverse());
  }
  return function("inverse", 1, real)(encodeReal(term));
}

z3::expr Z3Terms::encodeToReal(Scalar term) {
  Scalar operand = terms.getOperands(term)[0];
  if (terms.getSort(operand) == ScalarSort::Boolean)
    return define(term, z3::ite(encodeBoolean(operand), context.real_val(1),
                                context.real_val(0)));
  if (terms.getSort(operand) != ScalarSort::Integer)
    throw z3::exception("a conversion of a scalar that is not a number");
  if (terms.getKind(operand) == TermKind::Atom) {
    atoms.push_back(operand);
    z3::expr symbol = fresh(operand, integer);
    expressionOfTerm[operand.bits] = static_cast<unsigned>(expressions.size());
    expressions.push_back(symbol);
    return z3::to_real(symbol);
  }
  if (terms.getKind(operand) == TermKind::Uninterpreted)
    return z3::to_real(encodeCall(
        operand, "integer:" + terms.getFunctionName(operand).str(), integer));
  throw z3::exception("an integer term outside a normal form");
}

z3::expr Z3Terms::encodeNode(Scalar term) {
  llvm::ArrayRef<Scalar> operands = terms.getOperands(term);
  if (terms.getSort(term) != ScalarSort::Real)
    throw z3::exception("a claim about a term that is not real");
  switch (terms.getKind(term)) {
  case TermKind::Constant:
    return number(terms.getConstant(term));
  case TermKind::Atom:
    atoms.push_back(term);
    return fresh(term, real);
  case TermKind::Sum:
    return encodeSum(term);
  case TermKind::Product:
    return encodeProduct(operands);
  case TermKind::Quotient:
    return encodeReal(operands[0]) * encodeInverse(operands[1]);
  case TermKind::Power: {
    auto [numerator, denominator] = terms.getExponent(term);
    if (denominator == 1 && numerator > 0)
      return encodeProduct(llvm::SmallVector<Scalar>(
          static_cast<size_t>(numerator), operands[0]));
    if (numerator == 0)
      return context.real_val(1);
    return encodeCall(
        term, "power:" + Rational(numerator, denominator).toString(), real);
  }
  case TermKind::Apply: {
    Function applied = terms.getFunction(term);
    z3::expr zero = context.real_val(0), one = context.real_val(1);
    z3::expr argument = encodeReal(operands[0]);
    if (applied == Function::Abs)
      return define(term, z3::ite(argument >= zero, argument, -argument));
    if (applied == Function::Sign)
      return define(term, z3::ite(argument > zero, one,
                                  z3::ite(argument < zero, -one, zero)));
    return encodeCall(term, "function:" + getName(applied).str(), real);
  }
  case TermKind::Maximum:
    // Known by what MaximumBound and MaximumAttained say of it.
    return fresh(term, real);
  case TermKind::Uninterpreted:
    return encodeCall(term, "real:" + terms.getFunctionName(term).str(), real);
  case TermKind::ToReal:
    return encodeToReal(term);
  case TermKind::FinitePart:
    if (terms.getKind(operands[0]) == TermKind::Uninterpreted)
      return encodeCall(operands[0],
                        "finite:" + terms.getFunctionName(operands[0]).str(),
                        real);
    if (terms.getKind(operands[0]) == TermKind::Atom)
      atoms.push_back(operands[0]);
    return fresh(term, real);
  default:
    throw z3::exception("a term that has no real normal form");
  }
}

z3::expr Z3Terms::encodeBoolean(Scalar term) {
  llvm::ArrayRef<Scalar> operands = terms.getOperands(term);
  switch (terms.getKind(term)) {
  case TermKind::Atom:
    atoms.push_back(term);
    break;
  case TermKind::Compare: {
    z3::expr left = encodeReal(operands[0]);
    z3::expr right = encodeReal(operands[1]);
    z3::expr zero = context.real_val(0);
    z3::expr value = right - left;
    llvm::SmallVector<unsigned, 2> used;
    for (Scalar operand : operands) {
      auto below = definitionsOfTerm.find(operand.bits);
      if (below != definitionsOfTerm.end())
        used.append(below->second.begin(), below->second.end());
    }
    if (!used.empty())
      definitionsOfTerm[term.bits] = used;
    switch (terms.getComparison(term)) {
    case Comparison::Equal:
      return value == zero;
    case Comparison::NotEqual:
      return value != zero;
    case Comparison::Less:
      return value > zero;
    case Comparison::LessEqual:
      return value >= zero;
    }
    break;
  }
  case TermKind::Uninterpreted:
    return encodeCall(term, "boolean:" + terms.getFunctionName(term).str(),
                      boolean);
  case TermKind::IsFinite:
    if (terms.getKind(operands[0]) == TermKind::Uninterpreted)
      return encodeCall(operands[0],
                        "isfinite:" + terms.getFunctionName(operands[0]).str(),
                        boolean);
    break;
  default:
    throw z3::exception("a boolean term outside a normal form");
  }
  z3::expr symbol = fresh(term, boolean);
  expressionOfTerm[term.bits] = static_cast<unsigned>(expressions.size());
  expressions.push_back(symbol);
  return symbol;
}
