//===- ProofCache.h - proofs of earlier runs --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A directory of stages that were proved, shared between runs and processes. An
// entry is named by what it is about: the content of the stage, the program
// that proved it, the solver and the options. Another program never reads it.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_ANALYSIS_PROOFCACHE_H
#define VERIFY_ANALYSIS_PROOFCACHE_H

#include "Verify/Analysis/StageProver.h"

namespace verify {

class ProofCache {
public:
  /// `options` decide about a proof besides the stage. Makes the directory if
  /// it is not there. At the end, the oldest entries go until what is left has
  /// at most `byteLimit` bytes.
  ProofCache(llvm::StringRef directory, const ProverOptions &options,
             StageProofs kinds, uint64_t byteLimit = uint64_t(256) << 20);
  ~ProofCache();

  /// The verdict of an earlier run. None if there is none, or if the entry is
  /// not what was written.
  std::optional<StageVerdict> find(tv::StageOp stage);
  /// Keeps a proof that rests on nothing but the solver; others are not kept.
  void add(tv::StageOp stage, const StageVerdict &verdict);
  /// Why proofs cannot be kept; empty if they can. Those that are there may be
  /// used even so.
  llvm::StringRef getProblem() const { return problem; }

private:
  std::optional<std::string> getName(tv::StageOp stage) const;
  void trim() const;

  std::string directory;
  /// What decides about a proof besides the stage; empty if it is not known.
  std::string settings;
  uint64_t byteLimit;
  std::string problem;
  bool wasExtended = false;
};

} // namespace verify

#endif // VERIFY_ANALYSIS_PROOFCACHE_H
