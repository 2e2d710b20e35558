//===- Ledger.cpp - the argument of all proofs, checked once more ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What was proved assumes lemmas. Whether each of them was proved, holds where
// it is used, and does not rest on itself is found again here from the graph.
//
//===----------------------------------------------------------------------===//

#include "EquivalenceChecker.h"

using namespace mlir;
using namespace verify;

namespace {
/// One entry of the argument, checked once.
enum class Mark { Open, Closed };
} // namespace

/// Checks that everything `expect` depends on is a boundary tensor, a constant,
/// or a value that one of `assumed` speaks of. Says what is wrong; empty if
/// nothing is.
static StringRef checkCone(tv::ExpectOp expect, ArrayRef<tv::ExpectOp> assumed,
                           tv::MeshAttr mesh) {
  llvm::SmallDenseMap<Value, tv::ExpectOp, 8> given;
  for (tv::ExpectOp lemma : assumed) {
    if (lemma.getValues().size() != 1 ||
        !lemma.getLineage().getSumAxes().empty())
      return "rests on a sum";
    given[lemma.getValues().front()] = lemma;
  }
  SmallVector<Value> worklist(expect.getValues());
  llvm::SmallDenseSet<Value, 16> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    Operation *producer = value.getDefiningOp();
    if (!producer)
      return "rests on a value without producer";
    bool isRoot = llvm::is_contained(expect.getValues(), value);
    auto lemma = given.find(value);
    if (lemma != given.end() && !isRoot) {
      // At least the domain on which the value exists.
      auto domain = producer->getAttrOfType<tv::DomainAttr>("domain");
      if (!domain || !domain.isSubsetOf(lemma->second.getDomain(), mesh))
        return "a lemma is used outside its domain";
      continue;
    }
    if (auto given = dyn_cast<tv::DistributeOp>(producer)) {
      if (!given.getReference().getDefiningOp<tv::InputOp>())
        return "is given a tensor of the reference that is no input";
      continue;
    }
    if (isa<tv::UndefinedOp>(producer))
      return "rests on an undefined value";
    llvm::append_range(worklist, producer->getOperands());
  }
  return "";
}

LogicalResult verify::checkLedger(const ExpectStatuses &statuses,
                                  const DefinedTensors &defined,
                                  tv::GraphOp graph) {
  llvm::DenseMap<Operation *, Mark> marks;
  SmallVector<Operation *> worklist;
  std::vector<std::pair<tv::ExpectOp, const ExpectStatus *>> used;
  marks.reserve(statuses.size());
  used.reserve(statuses.size());
  for (tv::ExpectOp result : graph.getBody().getOps<tv::ExpectOp>())
    if (result.getContract())
      worklist.push_back(result);
  while (!worklist.empty()) {
    Operation *op = worklist.back();
    auto expect = cast<tv::ExpectOp>(op);
    const auto *status = statuses.find(op);
    if (status == statuses.end() || !status->second.verdict.isProved())
      return expect.emitOpError("ledger: is not proved");
    auto [mark, isNew] = marks.try_emplace(op, Mark::Open);
    if (!isNew) {
      mark->second = Mark::Closed;
      worklist.pop_back();
      continue;
    }
    used.emplace_back(expect, &status->second);
    for (tv::ExpectOp lemma : status->second.assumed) {
      if (!defined.contains(lemma.getReference()))
        return expect.emitOpError("ledger: rests on a tensor that may be "
                                  "undefined where the results are defined");
      auto found = marks.find(lemma);
      if (found == marks.end())
        worklist.push_back(lemma);
      else if (found->second == Mark::Open)
        return expect.emitOpError("ledger: the argument is circular");
    }
  }
  std::vector<StringRef> wrong(used.size());
  forEachInParallel(graph.getContext(), used.size(), [&](size_t number) {
    auto [expect, status] = used[number];
    wrong[number] = checkCone(expect, status->assumed, graph.getMesh());
  });
  for (auto [one, text] : llvm::zip_equal(used, wrong))
    if (!text.empty())
      return one.first.emitOpError("ledger: ") << text;
  return success();
}
