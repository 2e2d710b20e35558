//===- NormalForm.cpp - normal forms of terms -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Records, and the questions a caller may ask.
//
//===----------------------------------------------------------------------===//

#include "Verify/Scalar/NormalForm.h"

#include "NormalizerState.h"

#include "llvm/ADT/STLExtras.h"

using namespace verify;

//===--- Records ----------------------------------------------------------===//

NormalizerState::Scope::Scope(NormalizerState &state)
    : id(static_cast<RecordId>(state.records.size())), state(state),
      wasRecording(state.isRecording) {
  state.isRecording = true;
  state.records.emplace_back();
  state.open.push_back(id);
}

template <typename T> static void makeUnique(llvm::SmallVectorImpl<T> &list) {
  llvm::sort(list);
  list.erase(llvm::unique(list), list.end());
}

NormalizerState::Scope::~Scope() {
  Record &record = state.records[id];
  makeUnique(record.instances);
  makeUnique(record.needs);
  makeUnique(record.uses);
  state.open.pop_back();
  state.isRecording = wasRecording;
}

void NormalizerState::claimEqual(Scalar left, Scalar right) {
  Claim claim{ClaimKind::Equal, left, right};
  if (left != right && !llvm::is_contained(current().claims, claim))
    current().claims.push_back(claim);
}

void NormalizerState::fail(std::string reason) {
  if (!failure)
    failure = std::move(reason);
}

NormalizerState::NormalizerState(TermAlgebra &terms,
                                 llvm::ArrayRef<Condition> hypotheses,
                                 NormalizerLimits limits)
    : terms(terms), laws(terms), limits(std::move(limits)) {
  // A hypothesis may only be used for terms above its own, or else two of them
  // could justify each other; operands have smaller numbers than users.
  llvm::SmallVector<Condition> sorted(hypotheses);
  llvm::sort(sorted, [](const Condition &left, const Condition &right) {
    return std::pair(left.term.bits, left.kind) <
           std::pair(right.term.bits, right.kind);
  });
  for (const Condition &condition : sorted)
    addHypothesis(condition);
}

//===--- Questions --------------------------------------------------------===//

void NormalizerState::collectUnnormalized(
    Scalar root, llvm::SmallVectorImpl<Scalar> &nodes) {
  size_t count = terms.size();
  if (forms.size() < count) {
    forms.resize(count);
    isNormalized.resize(count);
    literals.resize(count);
    recordOfNode.resize(count, -1);
  }
  llvm::SmallVector<std::pair<Scalar, bool>> stack{{root, false}};
  llvm::DenseMap<uint64_t, char> isListed;
  while (!stack.empty()) {
    auto [node, isDone] = stack.pop_back_val();
    if (isDone) {
      nodes.push_back(node);
      continue;
    }
    if (isNormalized[node.bits] || !isListed.try_emplace(node.bits, 1).second)
      continue;
    stack.push_back({node, true});
    for (Scalar operand : terms.getOperands(node))
      stack.push_back({operand, false});
  }
}

std::optional<RecordId> NormalizerState::proveEqual(Scalar left, Scalar right) {
  if (!normalize(left) || !normalize(right))
    return std::nullopt;
  Scope scope(*this);
  current().roots = {left, right};
  const Form a = getForm(left), b = getForm(right);
  for (Scalar root : {left, right}) {
    claimEqual(literals[root.bits].value, termOf(getForm(root).value));
    claimEqual(literals[root.bits].mask, termOf(getForm(root).mask));
  }
  auto connect = [&](PolynomialId first, PolynomialId second) {
    if (first == second)
      return true;
    std::optional<RecordId> cleared = proveEqualByClearing(first, second);
    if (cleared)
      need(*cleared);
    return cleared.has_value();
  };
  if (!connect(a.mask, b.mask))
    return std::nullopt;
  if (a.value == b.value)
    return scope.id;
  // Values only matter where they are finite.
  bool isEqual = a.mask == PolynomialStore::one
                     ? connect(a.value, b.value)
                     : connect(multiplyClaimed(a.mask, a.value, true),
                               multiplyClaimed(b.mask, b.value, true));
  if (!isEqual || hasFailed())
    return std::nullopt;
  return scope.id;
}

std::optional<RecordId>
NormalizerState::proveCondition(const Condition &condition) {
  if (terms.getSort(condition.term) != ScalarSort::Real ||
      !normalize(condition.term))
    return std::nullopt;
  PolynomialId polynomial = getForm(condition.term).value;
  Claim claim = toClaim(condition);
  std::optional<RecordId> sign = findSign(claim.kind, polynomial);
  if (!sign || hasFailed())
    return std::nullopt;
  Scope scope(*this);
  need(*sign);
  current().roots.push_back(condition.term);
  claim.left = literals[condition.term.bits].value;
  current().claims.push_back(claim);
  claimEqual(claim.left, termOf(polynomial));
  return scope.id;
}

//===--- The interface ----------------------------------------------------===//

Normalizer::Normalizer(TermAlgebra &terms, llvm::ArrayRef<Condition> hypotheses,
                       const NormalizerLimits &limits)
    : state(std::make_unique<NormalizerState>(terms, hypotheses, limits)) {}

Normalizer::~Normalizer() = default;

const std::optional<std::string> &Normalizer::failure() const {
  return state->failure;
}

bool Normalizer::isExhausted() const { return state->isExhausted; }

Scalar Normalizer::getNormalForm(Scalar term) {
  if (!state->normalize(term))
    return term;
  return state->termOf(state->getForm(term).value);
}

Scalar Normalizer::getFiniteness(Scalar term) {
  if (!state->normalize(term))
    return term;
  return state->termOf(state->getForm(term).mask);
}

std::optional<RecordId> Normalizer::proveEqual(Scalar left, Scalar right) {
  return state->proveEqual(left, right);
}

std::optional<RecordId> Normalizer::proveCondition(const Condition &condition) {
  return state->proveCondition(condition);
}

const Record &Normalizer::getRecord(RecordId record) const {
  return state->records[record];
}

std::optional<RecordId> Normalizer::getRecordOf(Scalar term) const {
  if (term.bits >= state->recordOfNode.size() ||
      state->recordOfNode[term.bits] < 0)
    return std::nullopt;
  return static_cast<RecordId>(state->recordOfNode[term.bits]);
}

const LawBook &Normalizer::getLaws() const { return state->laws; }
LawBook &Normalizer::getLaws() { return state->laws; }
