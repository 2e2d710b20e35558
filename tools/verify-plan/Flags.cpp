//===- Flags.cpp - options of verify-plan ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"

#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace verify;

static bool isGiven(const cl::Option *option) {
  return option->getNumOccurrences() > 0;
}

std::string Flags::findMisuse() const {
  if (planPath.empty() || referencePath.empty())
    return "usage: verify-plan --reference single.pkl parallel.pkl";
  auto without = [](const cl::Option &option, StringRef reason) {
    return ("error: --" + option.ArgStr + " has no effect " + reason).str();
  };
  if (referencePath.getNumOccurrences() > 1)
    return "error: --reference is given more than once";
  if (!runFlags.isAsked()) {
    if (const cl::Option *given = runFlags.findGiven())
      return without(*given, "without --run");
  } else {
    const cl::Option *all[] = {&resourceLimit, &smtLib,   &cache,
                               &bufferedSends, &timeline, &statistics};
    if (const auto *given = find_if(all, isGiven); given != std::end(all))
      return without(**given, "with --run");
  }
  if (isGiven(&cache) && isGiven(&smtLib))
    return without(cache, "with --emit-smtlib");
  if (smtLib.empty())
    return "";
  std::error_code error = sys::fs::create_directories(smtLib);
  if (!error && !sys::fs::can_write(smtLib))
    error = make_error_code(std::errc::permission_denied);
  return error ? "error: --emit-smtlib: '" + smtLib.getValue() +
                     "': " + error.message()
               : "";
}
