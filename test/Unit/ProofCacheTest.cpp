//===- ProofCacheTest.cpp - proofs of earlier runs ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Analysis/ProofCache.h"

#include "Verify/Analysis/StageBuilder.h"
#include "Verify/IR/TVDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include "gtest/gtest.h"

using namespace mlir;
using namespace verify;

namespace {
class ProofCacheTest : public ::testing::Test {
protected:
  ProofCacheTest() {
    context.loadDialect<tv::TVDialect>();
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("proofs", directory));
  }
  ~ProofCacheTest() override {
    EXPECT_FALSE(llvm::sys::fs::remove_directories(directory));
  }

  /// A stage with a constant.
  tv::StageOp parse(StringRef number, StringRef name = "stage") {
    std::string text = ("tv.stage @" + name +
                        R"( <device = 2> expects array<i64: 0> () {
      %l = tv.constant dense<)" +
                        number + R"(> : tensor<f64> : () -> tensor<4xf32>
      %r = tv.constant dense<)" +
                        number +
                        R"(> : tensor<f64> on <device = 1> : () -> tensor<4xf32>
      tv.expect %r is %l <[0:4 of 4]> on <device = 1> number 0 : tensor<4xf32> is tensor<4xf32>
    })")
                           .str();
    modules.push_back(parseSourceString<ModuleOp>(text, &context));
    EXPECT_TRUE(modules.back());
    return *modules.back()->getOps<tv::StageOp>().begin();
  }
  unsigned countFiles() {
    unsigned count = 0;
    std::error_code error;
    for (llvm::sys::fs::directory_iterator it(directory, error), end;
         it != end && !error; it.increment(error))
      ++count;
    return count;
  }
  static StageVerdict makeProof(unsigned obligations) {
    StageVerdict verdict;
    verdict.verdict = Verdict::Proved;
    verdict.confirmed = obligations;
    verdict.byCongruence = 2;
    return verdict;
  }

  MLIRContext context;
  SmallString<64> directory;
  std::vector<OwningOpRef<ModuleOp>> modules;
  ProverOptions options;
};
} // namespace

TEST_F(ProofCacheTest, WhatIsKeptIsFoundByContent) {
  {
    ProofCache cache(directory, options, StageProofs::Any);
    EXPECT_EQ(cache.getProblem(), "");
    EXPECT_FALSE(cache.find(parse("0.5")));
    cache.add(parse("0.5"), makeProof(7));
  }
  ProofCache cache(directory, options, StageProofs::Any);
  // Names decide nothing.
  std::optional<StageVerdict> found = cache.find(parse("0.5", "other"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->verdict, Verdict::Proved);
  EXPECT_EQ(found->confirmed, 7u);
  EXPECT_EQ(found->byCongruence, 2u);
  EXPECT_FALSE(cache.find(parse("0.25")));
  // Nor is a proof that of other options.
  ProverOptions others = options;
  others.monomialLimit = 1;
  EXPECT_FALSE(
      ProofCache(directory, others, StageProofs::Any).find(parse("0.5")));
  EXPECT_FALSE(
      ProofCache(directory, options, StageProofs::FullSize).find(parse("0.5")));
}

TEST_F(ProofCacheTest, OnlyProofsAreKept) {
  ProofCache cache(directory, options, StageProofs::Any);
  StageVerdict verdict = makeProof(1);
  verdict.byNormalization = 1;
  cache.add(parse("0.5"), verdict);
  for (Verdict other :
       {Verdict::ProvedByNormalization, Verdict::NotProved, Verdict::Unknown}) {
    verdict = makeProof(1);
    verdict.verdict = other;
    cache.add(parse("0.5"), verdict);
  }
  EXPECT_FALSE(cache.find(parse("0.5")));
  EXPECT_EQ(countFiles(), 0u);
}

TEST_F(ProofCacheTest, OldEntriesGo) {
  {
    ProofCache cache(directory, options, StageProofs::Any, /*byteLimit=*/1000);
    for (int number = 0; number < 50; ++number)
      cache.add(parse(std::to_string(number) + ".5"), makeProof(1));
    EXPECT_EQ(countFiles(), 50u);
  }
  EXPECT_GT(countFiles(), 0u);
  EXPECT_LT(countFiles(), 10u);
}

TEST_F(ProofCacheTest, WhatKilledRunsLeftGoes) {
  auto write = [&](StringRef name) {
    SmallString<64> path(directory);
    llvm::sys::path::append(path, name);
    std::error_code error;
    llvm::raw_fd_ostream(path, error) << std::string(2000, 'x');
    EXPECT_FALSE(error);
  };
  write(std::string(64, 'a') + "-01234567.tmp");
  write("another-file.tmp");
  {
    ProofCache cache(directory, options, StageProofs::Any, /*byteLimit=*/1000);
    cache.add(parse("0.5"), makeProof(1));
  }
  EXPECT_EQ(countFiles(), 2u);
}

TEST_F(ProofCacheTest, WhatCannotBeWrittenIsStillRead) {
  std::string blocked;
  {
    ProofCache cache(directory, options, StageProofs::Any);
    cache.add(parse("0.25"), makeProof(1));
    std::error_code error;
    blocked = llvm::sys::fs::directory_iterator(directory, error)->path();
    EXPECT_FALSE(error);
    cache.add(parse("0.5"), makeProof(7));
  }
  EXPECT_FALSE(llvm::sys::fs::remove(blocked));
  EXPECT_FALSE(llvm::sys::fs::create_directory(blocked));
  ProofCache cache(directory, options, StageProofs::Any);
  cache.add(parse("0.25"), makeProof(1));
  EXPECT_NE(cache.getProblem(), "");
  EXPECT_TRUE(cache.find(parse("0.5")));
  EXPECT_FALSE(cache.find(parse("0.25")));
}

TEST_F(ProofCacheTest, TextIsThatOfTheContent) {
  auto text = [&](tv::StageOp stage) { return *StageBuilder::getText(stage); };
  EXPECT_EQ(text(parse("0.5")), text(parse("0.5", "other")));
  EXPECT_NE(text(parse("0.5")), text(parse("0.25")));
  // A context of its own gives the same text.
  MLIRContext second;
  second.loadDialect<tv::TVDialect>();
  std::string printed;
  llvm::raw_string_ostream(printed) << *parse("0.5");
  auto module = parseSourceString<ModuleOp>(printed, &second);
  ASSERT_TRUE(module);
  EXPECT_EQ(text(parse("0.5")), text(*module->getOps<tv::StageOp>().begin()));
}
