//===- Z3Terms.h - terms as Z3 expressions ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Encodes real terms, claims and instances of laws. Functions are uninterpreted
// and known by their laws only; 1/b is an unknown function of b; comparisons,
// absolute values and signs are named and defined.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_SOLVER_Z3TERMS_H
#define VERIFY_LIB_SOLVER_Z3TERMS_H

#include "Verify/Scalar/Laws.h"

#include "llvm/ADT/DenseMap.h"

#include <z3++.h>

namespace verify {

/// Encodes terms of one algebra in one context. All members may throw
/// `z3::exception`.
class Z3Terms {
public:
  Z3Terms(z3::context &context, const TermAlgebra &terms);

  /// The claim as a formula.
  z3::expr encode(const Claim &claim);
  /// The instance as an implication.
  z3::expr encode(const LawInstance &instance);
  /// Appends the definitions that formulas encoded since the last call use.
  void takeDefinitions(z3::expr_vector &formulas);
  void dropDefinitions();
  /// The formula with both sides of its equations as sums of products.
  z3::expr normalize(const z3::expr &formula);
  /// The expression of an atom, if it was encoded.
  std::optional<z3::expr> findAtom(Scalar atom) const;
  /// Atoms encoded so far.
  llvm::ArrayRef<Scalar> getAtoms() const { return atoms; }

private:
  z3::expr encodeReal(Scalar root);
  /// Encodes a term whose real operands are encoded.
  void encodeOperandsDone(Scalar term);
  z3::expr encodeNode(Scalar term);
  z3::expr encodeBoolean(Scalar term);
  z3::expr encodeCall(Scalar term, const std::string &name,
                      const z3::sort &sort);
  z3::expr encodeToReal(Scalar term);
  z3::expr encodeSum(Scalar term);
  z3::expr encodeProduct(llvm::ArrayRef<Scalar> factors);
  z3::expr encodeInverse(Scalar term);
  z3::expr number(const Rational &value);
  /// A constant for `term`, defined to be `definition`.
  z3::expr define(Scalar term, const z3::expr &definition);
  z3::expr fresh(Scalar term, const z3::sort &sort);
  z3::expr difference(const Claim &claim);
  z3::func_decl function(const std::string &name, unsigned arity,
                         const z3::sort &sort);
  void noteDefinitions(Scalar term);

  z3::context &context;
  const TermAlgebra &terms;
  z3::sort real, integer, boolean;
  z3::params normalization;
  std::vector<z3::expr> expressions;
  llvm::DenseMap<uint64_t, unsigned> expressionOfTerm;
  std::vector<z3::expr> definitions;
  /// Definitions that a term uses, for terms that use any.
  llvm::DenseMap<uint64_t, llvm::SmallVector<unsigned, 2>> definitionsOfTerm;
  std::vector<unsigned> pending;
  std::vector<bool> isPending;
  std::unordered_map<std::string, z3::func_decl> functions;
  llvm::SmallVector<Scalar> atoms;
};

} // namespace verify

#endif // VERIFY_LIB_SOLVER_Z3TERMS_H
