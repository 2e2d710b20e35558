//===- Pattern.h - obligations under other names ----------------*- C++ -*-===//
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model repeats itself: what has to be shown of one expert is what has to be
// shown of the next, of other unknowns. A proof is for all values of the
// unknowns, so it holds under other names as well.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_SOLVER_PATTERN_H
#define VERIFY_LIB_SOLVER_PATTERN_H

#include "Verify/Scalar/Terms.h"
#include "Verify/Solver/Solver.h"

#include "llvm/ADT/StringSet.h"

namespace verify {

/// `left = right` under `hypotheses` in a small case, as bytes; atoms are
/// numbered in the order in which they occur. Two obligations that have the
/// same bytes differ in the names of their atoms only, also if they are of
/// different algebras.
std::string getPattern(const TermAlgebra &terms, Scalar left, Scalar right,
                       llvm::ArrayRef<Condition> hypotheses,
                       SmallCase smallCase);

/// Patterns of what was proved.
class ProvedPatterns {
public:
  bool contains(llvm::StringRef pattern) const {
    return patterns.contains(pattern);
  }
  void add(llvm::StringRef pattern);

private:
  llvm::StringSet<> patterns;
  size_t size = 0; ///< in bytes
};

} // namespace verify

#endif // VERIFY_LIB_SOLVER_PATTERN_H
