//===- PickleCorruptionTest.cpp - damaged files never crash -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cuts files short and changes bytes in them, always in the same pseudo-random
// way. A damaged file is read or refused; a refusal names the file and is one
// printable line. VERIFY_PLANS_DIR names a folder of real plans to damage too.
// Run under the sanitizers, this is where memory errors would show.
//
//===----------------------------------------------------------------------===//

#include "PlanBytes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <cstdlib>
#include <random>

using namespace verify;
using namespace verify::nnscaler;

namespace {

void expectNoCrash(std::string file) {
  llvm::Expected<PlanFile> plan =
      readPlan(llvm::MemoryBuffer::getMemBufferCopy(file, "damaged.pkl"));
  if (plan)
    return;
  std::string message = llvm::toString(plan.takeError());
  EXPECT_TRUE(llvm::StringRef(message).starts_with("damaged.pkl: ")) << message;
  EXPECT_GT(message.size(), std::string("damaged.pkl: ").size());
  EXPECT_LT(message.size(), 1000u) << message;
  EXPECT_TRUE(llvm::all_of(message, llvm::isPrint)) << message;
}

/// Damages a file in so many ways.
void damage(const std::string &file, size_t numTruncations, size_t numFlips) {
  std::minstd_rand random(12345);
  auto below = [&](size_t bound) { return random() % bound; };
  for (size_t i = 0; i != numTruncations; ++i)
    expectNoCrash(file.substr(0, below(file.size())));
  for (size_t i = 0; i != numFlips; ++i) {
    std::string damaged = file;
    // One byte, and now and then several.
    for (size_t count = i % 8 == 0 ? 1 + below(8) : 1; count; --count)
      damaged[below(file.size())] = static_cast<char>(below(256));
    expectNoCrash(std::move(damaged));
  }
}

TEST(PickleCorruptionTest, SamplePlan) {
  damage(getSamplePlan().write("root"), 1000, 10000);
}

TEST(PickleCorruptionTest, EveryTruncationOfTheSamplePlan) {
  std::string file = getSamplePlan().write("root");
  for (size_t size = 0; size != file.size(); ++size) {
    llvm::Expected<PlanFile> plan = readPlan(llvm::MemoryBuffer::getMemBuffer(
        llvm::StringRef(file).take_front(size), "damaged.pkl",
        /*RequiresNullTerminator=*/false));
    ASSERT_FALSE(!!plan) << size;
    EXPECT_TRUE(llvm::StringRef(llvm::toString(plan.takeError()))
                    .starts_with("damaged.pkl: byte "));
  }
}

TEST(PickleCorruptionTest, OpcodesAtRandom) {
  // Files of nothing but small operands reach states no pickler leaves.
  static constexpr llvm::StringLiteral opcodes =
      "(.012BCGJKMNQRTUX]abdehjlopqrstu})\x81\x82\x85\x86\x87\x88\x89\x8a\x8c"
      "\x8f\x90\x91\x92\x93\x94\x97\x98";
  std::minstd_rand random(54321);
  for (int i = 0; i != 20000; ++i) {
    std::string file = "]cm\nC\n)\x81}\x8f(";
    for (size_t size = random() % 64; size; --size)
      file += random() % 3 ? opcodes[random() % opcodes.size()]
                           : static_cast<char>(random() % 4);
    expectNoCrash(file + ".");
  }
}

TEST(PickleCorruptionTest, RealPlans) {
  const char *folder = std::getenv("VERIFY_PLANS_DIR");
  if (!folder)
    return;
  std::error_code error;
  std::vector<std::string> paths;
  for (llvm::sys::fs::directory_iterator file(folder, error), end;
       file != end && !error; file.increment(error))
    if (llvm::sys::path::extension(file->path()) == ".pkl")
      paths.push_back(file->path());
  llvm::sort(paths);
  EXPECT_FALSE(paths.empty());
  for (const std::string &path : paths) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    ASSERT_TRUE(!!buffer) << path;
    // As much work for a large file as for one of 100 KB.
    size_t share = std::max<size_t>(1, (*buffer)->getBufferSize() / 100'000);
    damage((*buffer)->getBuffer().str(), 1000 / share, 10000 / share);
  }
}

} // namespace
