//===- Evaluation.h - terms under another algebra ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Carries terms over to any algebra, given values for the atoms.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_SCALAR_EVALUATION_H
#define VERIFY_SCALAR_EVALUATION_H

#include "Verify/Scalar/Terms.h"

#include <functional>

namespace verify {

/// Evaluates terms of one algebra in another. Values of nodes are kept, so that
/// terms that share nodes share the work.
class TermEvaluator {
public:
  /// `valueOfAtom` gives the value of an atom in `target`.
  TermEvaluator(const TermAlgebra &terms, ScalarAlgebra &target,
                std::function<Scalar(Scalar)> valueOfAtom)
      : terms(terms), target(target), valueOfAtom(std::move(valueOfAtom)) {}

  Scalar evaluate(Scalar root);
  /// Forgets all values.
  void clear() { isKnown.clear(); }

private:
  Scalar evaluateNode(Scalar node);
  Scalar evaluateLeaf(Scalar node);
  Scalar constant(const Rational &value);

  const TermAlgebra &terms;
  ScalarAlgebra &target;
  std::function<Scalar(Scalar)> valueOfAtom;
  std::vector<Scalar> values;
  std::vector<bool> isKnown;
};

} // namespace verify

#endif // VERIFY_SCALAR_EVALUATION_H
