//===- FunctionBounds.h - doubles around a function's value -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_SCALAR_FUNCTIONBOUNDS_H
#define VERIFY_LIB_SCALAR_FUNCTIONBOUNDS_H

#include "Verify/Scalar/NumericAlgebras.h"

namespace verify {

/// A double that is not above the value of `exp`, `log`, `sin`, `cos`, `tanh`
/// or `erf` at `at`, and minus infinity for other functions; infinity or not a
/// number where that value is no number.
double getLowerBound(Function function, double at, FunctionSource source);
/// One that is not below it, and infinity for other functions.
double getUpperBound(Function function, double at, FunctionSource source);

} // namespace verify

#endif // VERIFY_LIB_SCALAR_FUNCTIONBOUNDS_H
