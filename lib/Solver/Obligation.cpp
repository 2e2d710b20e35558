//===- Obligation.cpp - from records to queries ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A record `needs` others if its claims follow from theirs, and `uses` others
// if it replaced equals by equals on their word. All of them must be proved;
// only the needed ones enter the query as facts.
//
//===----------------------------------------------------------------------===//

#include "Obligation.h"

#include "llvm/ADT/DenseSet.h"

using namespace verify;

void ProvedRecords::add(RecordId record) {
  if (record >= records.size())
    records.resize(record + 64);
  records.set(record);
}

void ProvedRecords::add(const Argument &argument) {
  for (RecordId record : argument.records)
    add(record);
  for (Scalar node : argument.nodes) {
    if (node.bits >= nodes.size())
      nodes.resize(static_cast<unsigned>(node.bits) + 64);
    nodes.set(static_cast<unsigned>(node.bits));
  }
}

//===--- Collection -------------------------------------------------------===//

namespace {
/// Visits records and the nodes they are about, operands first.
class Collector {
public:
  Collector(const TermAlgebra &terms, const Normalizer &normalizer,
            const ProvedRecords &proved)
      : terms(terms), normalizer(normalizer), proved(proved) {}

  void visitRecord(RecordId record, bool isFact);
  Argument argument;

private:
  void visitNodes(Scalar root);

  const TermAlgebra &terms;
  const Normalizer &normalizer;
  const ProvedRecords &proved;
  llvm::DenseSet<RecordId> visited, facts;
  llvm::DenseSet<uint64_t> visitedNodes;
};
} // namespace

void Collector::visitRecord(RecordId record, bool isFact) {
  if (proved.contains(record)) {
    if (isFact && facts.insert(record).second)
      argument.facts.push_back(record);
    return;
  }
  if (!visited.insert(record).second)
    return;
  const Record &content = normalizer.getRecord(record);
  for (RecordId needed : content.needs)
    visitRecord(needed, true);
  for (RecordId used : content.uses)
    visitRecord(used, false);
  for (Scalar root : content.roots)
    visitNodes(root);
  argument.records.push_back(record);
}

void Collector::visitNodes(Scalar root) {
  llvm::SmallVector<std::pair<Scalar, bool>> stack{{root, false}};
  while (!stack.empty()) {
    auto [node, isReady] = stack.pop_back_val();
    if (isReady) {
      if (std::optional<RecordId> record = normalizer.getRecordOf(node))
        visitRecord(*record, false);
      argument.nodes.push_back(node);
      continue;
    }
    if (proved.containsNode(node) || !visitedNodes.insert(node.bits).second)
      continue;
    stack.push_back({node, true});
    for (Scalar operand : terms.getOperands(node))
      stack.push_back({operand, false});
  }
}

Argument verify::collectArgument(const TermAlgebra &terms,
                                 const Normalizer &normalizer, RecordId goal,
                                 const ProvedRecords &proved) {
  Collector collector(terms, normalizer, proved);
  collector.visitRecord(goal, false);
  return std::move(collector.argument);
}

//===--- Queries ----------------------------------------------------------===//

size_t verify::countTogether(const Normalizer &normalizer,
                             llvm::ArrayRef<RecordId> records) {
  constexpr size_t mostClaims = 256, mostInstances = 1024;
  size_t count = 0, claims = 0, instances = 0;
  for (RecordId record : records) {
    const Record &content = normalizer.getRecord(record);
    claims += content.claims.size();
    instances += content.instances.size();
    if ((claims > mostClaims || instances > mostInstances) && count > 0)
      break;
    ++count;
  }
  return count;
}

Argument verify::takePart(const Normalizer &normalizer,
                          const ProvedRecords &proved,
                          llvm::ArrayRef<RecordId> records) {
  Argument part;
  part.records.assign(records.begin(), records.end());
  llvm::DenseSet<RecordId> facts;
  for (RecordId record : records)
    for (RecordId needed : normalizer.getRecord(record).needs)
      if (proved.contains(needed) && facts.insert(needed).second)
        part.facts.push_back(needed);
  return part;
}

Query verify::makeQuery(const Normalizer &normalizer,
                        const Argument &argument) {
  Query query;
  llvm::DenseSet<InstanceId> instances;
  for (RecordId record : argument.records) {
    const Record &content = normalizer.getRecord(record);
    for (InstanceId instance : content.instances)
      if (instances.insert(instance).second)
        query.instances.push_back(normalizer.getLaws().get(instance));
    query.claims.append(content.claims);
  }
  for (RecordId fact : argument.facts)
    query.facts.append(normalizer.getRecord(fact).claims);
  return query;
}

Query verify::makeLocalQuery(const Normalizer &normalizer, RecordId record) {
  Query query;
  const Record &content = normalizer.getRecord(record);
  for (InstanceId instance : content.instances)
    query.instances.push_back(normalizer.getLaws().get(instance));
  for (RecordId needed : content.needs)
    query.facts.append(normalizer.getRecord(needed).claims);
  query.claims = content.claims;
  return query;
}

void verify::addGeneralLaws(TermAlgebra &terms, Normalizer &normalizer,
                            llvm::ArrayRef<Condition> hypotheses,
                            const Claim &claim, Query &query,
                            llvm::SmallVectorImpl<RecordId> &rests) {
  llvm::SmallVector<Scalar> roots{claim.left};
  if (claim.kind == ClaimKind::Equal)
    roots.push_back(claim.right);
  for (const Condition &condition : hypotheses) {
    std::optional<RecordId> record = normalizer.proveCondition(condition);
    if (!record)
      continue;
    for (const Claim &fact : normalizer.getRecord(*record).claims) {
      query.facts.push_back(fact);
      roots.push_back(fact.left);
    }
    rests.push_back(*record);
  }
  LawBook &laws = normalizer.getLaws();
  auto add = [&](InstanceId instance) {
    query.instances.push_back(laws.get(instance));
  };
  for (Scalar node : terms.collectNodes(roots)) {
    TermKind kind = terms.getKind(node);
    if (kind == TermKind::Maximum && terms.getSort(node) == ScalarSort::Real) {
      for (unsigned i = 0; i < terms.getOperands(node).size(); ++i)
        add(laws.maximumBound(node, i));
      add(laws.maximumAttained(node));
    }
    if (kind == TermKind::Quotient)
      add(laws.cancellation(terms.getOperands(node)[1], 1, {}));
    if (kind != TermKind::Apply)
      continue;
    Scalar argument = terms.getOperands(node)[0];
    if (terms.getFunction(node) == Function::Exp)
      add(laws.expPositive(argument));
    if (terms.getFunction(node) == Function::Sqrt) {
      add(laws.rootSign(argument, 2, ClaimKind::NonNegative));
      add(laws.powerOfRoot(argument, 2, {}));
    }
  }
}
