//===- Flags.cpp - options of verify-plan ---------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"

#include "Verify/Output/TensorFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace verify;

/// Whether two names are those of one file, which need not be there yet.
static bool areSame(StringRef left, StringRef right) {
  auto normalize = [](StringRef name) {
    SmallString<128> path(name);
    // Where there is no working directory the name has to do.
    if (sys::fs::make_absolute(path))
      path = name;
    sys::path::remove_dots(path, /*remove_dot_dot=*/true);
    return path;
  };
  return normalize(left) == normalize(right) ||
         sys::fs::equivalent(left, right);
}

std::string Flags::findWrongOutput() const {
  const cl::opt<std::string> *outputs[] = {
      &statistics, &timeline, &counterexample, &runFlags.getOutput()};
  for (const cl::opt<std::string> *output : outputs) {
    if (output->empty() || *output == "-")
      continue;
    std::string problem = ("error: --" + output->ArgStr + " is ").str();
    for (StringRef plan : {planPath.getValue(), referencePath.getValue()})
      if (areSame(*output, plan))
        return problem + "a plan that is read";
    for (const cl::opt<std::string> *other : outputs)
      if (other != output && !other->empty() && areSame(*output, *other))
        return problem + "the file of --" + other->ArgStr.str();
  }
  if (!counterexample.empty())
    if (std::string problem = TensorFile::findProblem(counterexample);
        !problem.empty())
      return "error: --counterexample: " + problem;
  if (smtLib.empty())
    return "";
  std::error_code error = sys::fs::create_directories(smtLib);
  if (!error && !sys::fs::is_directory(smtLib.getValue()))
    error = make_error_code(std::errc::not_a_directory);
  if (!error && !sys::fs::can_write(smtLib))
    error = make_error_code(std::errc::permission_denied);
  return error ? "error: --emit-smtlib: '" + smtLib.getValue() +
                     "': " + error.message()
               : "";
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
    for (const cl::opt<unsigned> *number : {&resourceLimit, &bufferedSends})
      if (number->getNumOccurrences() > 0)
        return without(*number, "with --run");
    for (const cl::opt<std::string> *path :
         {&smtLib, &cache, &timeline, &statistics, &counterexample})
      if (!path->empty())
        return without(*path, "with --run");
  }
  if (!cache.empty() && !smtLib.empty())
    return without(cache, "with --emit-smtlib");
  return findWrongOutput();
}
