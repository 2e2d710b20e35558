//===- SmtLib.h - queries as SMT-LIB 2 text ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For other solvers, and for readers. Made from terms and not by Z3.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_SOLVER_SMTLIB_H
#define VERIFY_LIB_SOLVER_SMTLIB_H

#include "Z3Solver.h"

#include <optional>
#include <string>

namespace verify {

/// The query as a script whose `check-sat` answers `unsat` if all claims
/// follow, which is expected if `isProved`. With a `goal` the script asks
/// again, for the goal from the claims. `comments` are printed first, one a
/// line.
std::string printSmtLib(const TermAlgebra &terms, const Query &query,
                        std::optional<Claim> goal, bool isProved,
                        llvm::ArrayRef<std::string> comments);

} // namespace verify

#endif // VERIFY_LIB_SOLVER_SMTLIB_H
