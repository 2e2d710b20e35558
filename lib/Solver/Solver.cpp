//===- Solver.cpp - the interface of the prover ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProverImplementation.h"

#include "llvm/Support/ErrorHandling.h"

using namespace verify;

llvm::StringRef verify::getName(Verdict verdict) {
  switch (verdict) {
  case Verdict::Proved:
    return "proved";
  case Verdict::ProvedByNormalization:
    return "proved by normalization";
  case Verdict::NotProved:
    return "not proved";
  case Verdict::Unknown:
    return "unknown";
  }
  llvm_unreachable("a verdict without a name");
}

Prover::Prover(TermAlgebra &terms, ProverOptions options,
               std::shared_ptr<SolverContext> context)
    : implementation(std::make_unique<Implementation>(terms, options,
                                                      std::move(context))) {}

Prover::~Prover() = default;

void Prover::expectDifferences() {
  implementation->areDifferencesExpected = true;
}

void Prover::setBeforeLongAttempt(std::function<bool(Effort)> ask) {
  implementation->beforeLongAttempt = std::move(ask);
}

ProofResult Prover::prove(Scalar left, Scalar right,
                          llvm::ArrayRef<Condition> hypotheses) {
  return implementation->prove(left, right, hypotheses);
}

std::optional<ProofResult>
Prover::compareAtSamples(Scalar left, Scalar right,
                         llvm::ArrayRef<Condition> hypotheses) {
  return implementation->compareAtSamples(left, right, hypotheses);
}

ProofResult Prover::proveCondition(const Condition &condition,
                                   llvm::ArrayRef<Condition> hypotheses) {
  return implementation->proveCondition(condition, hypotheses);
}

std::string Prover::toSmtLib(Scalar left, Scalar right,
                             llvm::ArrayRef<Condition> hypotheses) {
  return implementation->toSmtLib(left, right, hypotheses);
}

std::string Prover::toSmtLib(const Condition &condition,
                             llvm::ArrayRef<Condition> hypotheses) {
  return implementation->toSmtLib(condition, hypotheses);
}

const ProverOptions &Prover::getOptions() const {
  return implementation->options;
}

const ProverStatistics &Prover::getStatistics() const {
  return implementation->statistics;
}

void Prover::clear() { implementation->clear(); }

void Prover::setSmallCase(SmallCase smallCase) {
  implementation->clear();
  implementation->smallCase = smallCase;
}
