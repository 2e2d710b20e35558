//===- FunctionBounds.cpp - doubles around a function's value -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionBounds.h"

#include "MPFRCaches.h"

#include <cmath>
#include <limits>
#include <mpfr.h>

using namespace verify;

/// Relative error of functions of the C library, 16 units in the last place.
static constexpr double libraryError = 0x1p-48;

namespace {
/// One function of both libraries.
struct Entry {
  Function function;
  double (*library)(double);
  int (*rounded)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
};
} // namespace

static constexpr Entry entries[] = {
    {Function::Exp, std::exp, mpfr_exp},    {Function::Log, std::log, mpfr_log},
    {Function::Sin, std::sin, mpfr_sin},    {Function::Cos, std::cos, mpfr_cos},
    {Function::Tanh, std::tanh, mpfr_tanh}, {Function::Erf, std::erf, mpfr_erf},
};

/// Null for other functions.
static const Entry *find(Function function) {
  for (const Entry &entry : entries)
    if (entry.function == function)
      return &entry;
  return nullptr;
}

/// MPFR rounds each function in the direction that is asked for.
static double callRounded(const Entry &entry, double at, mpfr_rnd_t direction) {
  // As exact as doubles are; kept, for it is called often.
  struct Number {
    Number() {
      freeMPFRCachesWithThread();
      mpfr_init2(value, std::numeric_limits<double>::digits);
    }
    ~Number() { mpfr_clear(value); }
    mpfr_t value;
  };
  thread_local Number number;
  mpfr_set_d(number.value, at, direction);
  entry.rounded(number.value, number.value, direction);
  return mpfr_get_d(number.value, direction);
}

/// How far a number may be from what the library gives; as far as the least
/// normal number where errors are not relative.
static double getError(double value) {
  return std::fabs(value) * libraryError + std::numeric_limits<double>::min();
}

double verify::getLowerBound(Function function, double at,
                             FunctionSource source) {
  const Entry *entry = find(function);
  if (!entry)
    return -std::numeric_limits<double>::infinity();
  if (source == FunctionSource::Rounded)
    return callRounded(*entry, at, MPFR_RNDD);
  double value = entry->library(at);
  return std::isinf(value) ? value : value - getError(value);
}

double verify::getUpperBound(Function function, double at,
                             FunctionSource source) {
  const Entry *entry = find(function);
  if (!entry)
    return std::numeric_limits<double>::infinity();
  if (source == FunctionSource::Rounded)
    return callRounded(*entry, at, MPFR_RNDU);
  double value = entry->library(at);
  return std::isinf(value) ? value : value + getError(value);
}
