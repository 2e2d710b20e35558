//===- FoldedGroups.cpp - graphs in which ranks are an axis ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FoldedGroups.h"

#include "Verify/IR/DenseValues.h"

using namespace mlir;
using namespace verify;

static constexpr llvm::StringLiteral foldedName = "tv.folded";
static constexpr llvm::StringLiteral doubtfulName = "tv.doubtful";

void verify::setFoldedGroups(tv::GraphOp graph,
                             ArrayRef<ArrayRef<int64_t>> groups) {
  Builder builder(graph.getContext());
  SmallVector<Attribute> lists;
  for (ArrayRef<int64_t> ranks : groups)
    lists.push_back(builder.getDenseI64ArrayAttr(ranks));
  graph->setAttr(foldedName, builder.getArrayAttr(lists));
}

bool verify::hasFoldedGroups(tv::GraphOp graph) {
  return graph->hasAttr(foldedName);
}

ArrayRef<int64_t> verify::getFoldedRanks(tv::GraphOp graph, int64_t device) {
  auto groups = graph->getAttrOfType<ArrayAttr>(foldedName);
  if (!groups)
    return {};
  for (Attribute each : groups)
    if (auto ranks = dyn_cast<DenseI64ArrayAttr>(each);
        ranks && !ranks.empty() && ranks[0] == device)
      return ranks;
  return {};
}

SmallVector<int64_t> verify::addFoldedRanks(tv::GraphOp graph,
                                            ArrayRef<int64_t> devices) {
  SmallVector<int64_t> all;
  for (int64_t device : devices) {
    ArrayRef<int64_t> ranks = getFoldedRanks(graph, device);
    if (ranks.empty())
      all.push_back(device);
    else
      llvm::append_range(all, ranks);
  }
  llvm::sort(all);
  all.erase(llvm::unique(all), all.end());
  return all;
}

void verify::setDoubtful(tv::ExpectOp lemma) {
  lemma->setAttr(doubtfulName, UnitAttr::get(lemma.getContext()));
}

bool verify::isDoubtful(tv::ExpectOp expect) {
  // A result of the contract is no lemma, whatever attribute it came with.
  return !expect.getContract() && expect->hasAttr(doubtfulName);
}

bool verify::dropDoubtful(tv::GraphOp graph) {
  bool isFound = false;
  for (auto lemma :
       llvm::make_early_inc_range(graph.getBody().getOps<tv::ExpectOp>()))
    if (isDoubtful(lemma)) {
      lemma.erase();
      isFound = true;
    }
  return isFound;
}

/// The first devices of all groups.
static SmallVector<int64_t> listFirsts(tv::GraphOp graph) {
  SmallVector<int64_t> firsts;
  if (auto groups = graph->getAttrOfType<ArrayAttr>(foldedName))
    for (Attribute each : groups)
      if (auto ranks = dyn_cast<DenseI64ArrayAttr>(each);
          ranks && !ranks.empty())
        firsts.push_back(ranks[0]);
  return firsts;
}

/// Visits the ops that `expect` rests on, and says of each whether another
/// lemma speaks of its value: then not of those before it. Parameters and data
/// are no device's.
static void
walkUnder(tv::ExpectOp expect,
          llvm::function_ref<void(Operation *op, bool hasLemma)> visit) {
  auto hasLemma = [&](Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      auto lemma = dyn_cast<tv::ExpectOp>(user);
      return lemma && lemma != expect && lemma.getValues().size() == 1;
    });
  };
  SmallVector<Value> worklist(expect.getValues());
  DenseValueSet seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!seen.insert(value).second || !op || op->getNumOperands() == 0 ||
        isa<tv::DistributeOp>(op))
      continue;
    bool isEnd =
        !llvm::is_contained(expect.getValues(), value) && hasLemma(value);
    visit(op, isEnd);
    if (!isEnd)
      llvm::append_range(worklist, op->getOperands());
  }
}

bool verify::addFoldedUnder(tv::ExpectOp expect,
                            llvm::DenseSet<int64_t> &devices) {
  auto graph = expect->getParentOfType<tv::GraphOp>();
  SmallVector<int64_t> firsts =
      graph ? listFirsts(graph) : SmallVector<int64_t>();
  if (firsts.empty())
    return false;
  size_t before = devices.size();
  walkUnder(expect, [&](Operation *op, bool) {
    auto domain = op->getAttrOfType<tv::DomainAttr>("domain");
    if (tv::AxisSetAttr set =
            domain ? domain.getSet("device") : tv::AxisSetAttr())
      for (int64_t first : firsts)
        if (set.contains(first))
          devices.insert(first);
  });
  return devices.size() > before;
}

bool verify::restsOnParts(tv::ExpectOp expect) {
  bool isFound = false;
  walkUnder(expect, [&](Operation *op, bool hasLemma) {
    isFound |= !hasLemma && tv::communicates(op) && !isa<tv::AllReduceOp>(op);
  });
  return isFound;
}
