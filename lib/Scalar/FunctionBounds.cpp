//===- FunctionBounds.cpp - doubles around a function's value -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionBounds.h"

#include "llvm/Support/ErrorHandling.h"

#include <cmath>
#include <limits>
#include <mpfr.h>

using namespace verify;

/// Relative error of functions of the C library, 16 units in the last place.
static constexpr double libraryError = 0x1p-48;

static double callLibrary(Function function, double at) {
  switch (function) {
  case Function::Exp:
    return std::exp(at);
  case Function::Log:
    return std::log(at);
  case Function::Sin:
    return std::sin(at);
  case Function::Cos:
    return std::cos(at);
  case Function::Tanh:
    return std::tanh(at);
  case Function::Erf:
    return std::erf(at);
  default:
    break;
  }
  llvm_unreachable("a function without bounds");
}

/// MPFR rounds each function in the direction that is asked for.
static double callRounded(Function function, double at, mpfr_rnd_t direction) {
  // As exact as doubles are; kept, for it is called often.
  struct Number {
    Number() { mpfr_init2(value, std::numeric_limits<double>::digits); }
    ~Number() { mpfr_clear(value); }
    mpfr_t value;
  };
  thread_local Number number;
  mpfr_ptr value = number.value;
  mpfr_set_d(value, at, direction);
  switch (function) {
  case Function::Exp:
    mpfr_exp(value, value, direction);
    break;
  case Function::Log:
    mpfr_log(value, value, direction);
    break;
  case Function::Sin:
    mpfr_sin(value, value, direction);
    break;
  case Function::Cos:
    mpfr_cos(value, value, direction);
    break;
  case Function::Tanh:
    mpfr_tanh(value, value, direction);
    break;
  case Function::Erf:
    mpfr_erf(value, value, direction);
    break;
  default:
    llvm_unreachable("a function without bounds");
  }
  return mpfr_get_d(value, direction);
}

/// How far a number may be from what the library gives; as far as the least
/// normal number where errors are not relative.
static double getError(double value) {
  return std::fabs(value) * libraryError + std::numeric_limits<double>::min();
}

double verify::getLowerBound(Function function, double at,
                             FunctionSource source) {
  if (source == FunctionSource::Rounded)
    return callRounded(function, at, MPFR_RNDD);
  double value = callLibrary(function, at);
  return std::isinf(value) ? value : value - getError(value);
}

double verify::getUpperBound(Function function, double at,
                             FunctionSource source) {
  if (source == FunctionSource::Rounded)
    return callRounded(function, at, MPFR_RNDU);
  double value = callLibrary(function, at);
  return std::isinf(value) ? value : value + getError(value);
}
