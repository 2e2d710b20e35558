//===- ResidualBranches.cpp - inputs that keep deep models simple ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResidualBranches.h"

#include "Verify/Analysis/Identities.h"
#include "llvm/ADT/SetVector.h"

#include <deque>
#include <set>

using namespace mlir;
using namespace verify;

/// Fewer branches than this are executed as they are.
static constexpr size_t fewBranches = 6;
/// Branches that are looked for around a place, and values that are looked at.
static constexpr size_t nearBranches = 2, nearValues = 5000;
/// A value with more uses belongs to all layers.
static constexpr unsigned manyUses = 16;
/// Most ops of a branch, and most parameters that end one.
static constexpr size_t branchOps = 2000, branchEnds = 4;

namespace {
/// Parameters that make a value 0, if all of them are.
struct Ends {
  SmallVector<Value, 2> parameters;
  /// Ops between them and the value, at most.
  unsigned distance = 0;
};

struct Branch {
  SmallVector<Value, 2> ends;
  SmallVector<Operation *> ops;
};

class BranchFinder {
public:
  BranchFinder(tv::GraphOp graph, const FactorAnalysis &factors)
      : graph(graph), factors(factors) {}

  /// In the order of the reference's forward pass.
  std::vector<Branch> find();

private:
  void findEnds(tv::SemanticsOpInterface op);
  /// The ops that lead from `from` to `to`, if there are some.
  SmallVector<Operation *> findBetween(Value from, Value to) const;

  tv::GraphOp graph;
  const FactorAnalysis &factors;
  llvm::DenseMap<Value, Ends> ends;
};
} // namespace

void BranchFinder::findEnds(tv::SemanticsOpInterface op) {
  if (getElementKind(op->getResult(0).getType()) != ElementKind::Real)
    return;
  // The nearest operand that is enough, else all that can be 0.
  const Ends *nearest = nullptr;
  llvm::SetVector<Value> all;
  unsigned distance = 0;
  auto isZero = [&](Value operand) { return ends.contains(operand); };
  for (Value operand : op->getOperands()) {
    auto found = ends.find(operand);
    if (found == ends.end())
      continue;
    all.insert(found->second.parameters.begin(),
               found->second.parameters.end());
    distance = std::max(distance, found->second.distance);
    auto isThis = [&](Value other) { return other == operand; };
    if (computesZero(op, factors, isThis) &&
        (!nearest || found->second.distance < nearest->distance))
      nearest = &found->second;
  }
  Ends result;
  if (nearest) {
    result = *nearest;
  } else if (!all.empty() && all.size() <= branchEnds &&
             computesZero(op, factors, isZero)) {
    result.parameters.assign(all.begin(), all.end());
    result.distance = distance;
  } else {
    return;
  }
  ++result.distance;
  ends[op->getResult(0)] = std::move(result);
}

SmallVector<Operation *> BranchFinder::findBetween(Value from, Value to) const {
  Operation *first = from.getDefiningOp();
  llvm::SetVector<Operation *> seen;
  bool isFound = false;
  SmallVector<Value> worklist = {to};
  while (!worklist.empty() && seen.size() < branchOps) {
    Value value = worklist.pop_back_val();
    isFound |= value == from;
    Operation *op = value.getDefiningOp();
    if (!op || value == from || !first || op->isBeforeInBlock(first) ||
        !seen.insert(op))
      continue;
    llvm::append_range(worklist, op->getOperands());
  }
  if (!isFound)
    return {};
  return SmallVector<Operation *>(seen.begin(), seen.end());
}

std::vector<Branch> BranchFinder::find() {
  // What outputs depend on; what follows are gradients.
  llvm::DenseSet<Value> forward;
  Block &body = graph.getBody().front();
  for (auto expect : body.getOps<tv::ExpectOp>())
    if (auto contract = expect.getContract();
        contract && contract->getRole() == tv::ContractRole::Output)
      forward.insert(expect.getReference());
  for (Operation &op : llvm::reverse(body))
    if (op.getNumResults() == 1 && forward.contains(op.getResult(0)))
      forward.insert(op.operand_begin(), op.operand_end());

  std::vector<Branch> branches;
  for (Operation &op : body) {
    if (op.getNumResults() != 1 || !forward.contains(op.getResult(0)))
      continue;
    if (auto input = dyn_cast<tv::InputOp>(op)) {
      if (input.getContract().getRole() == tv::ContractRole::Parameter &&
          getElementKind(input.getType()) == ElementKind::Real)
        ends[input] = {{input}, 0};
      continue;
    }
    if (auto semantics = dyn_cast<tv::SemanticsOpInterface>(op);
        semantics && !factors.isOpaque(&op))
      findEnds(semantics);
    // What is added to a branch has its shape: no mask, no bias.
    if (!isa<tv::AddOp>(op) || !llvm::all_equal({op.getOperand(0).getType(),
                                                 op.getOperand(1).getType(),
                                                 op.getResult(0).getType()}))
      continue;
    for (auto [trunk, branch] :
         {std::pair(op.getOperand(0), op.getOperand(1)),
          std::pair(op.getOperand(1), op.getOperand(0))}) {
      auto found = ends.find(branch);
      if (found == ends.end())
        continue;
      SmallVector<Operation *> between = findBetween(trunk, branch);
      if (between.empty())
        continue;
      between.push_back(&op);
      branches.push_back({found->second.parameters, std::move(between)});
      break;
    }
  }
  return branches;
}

/// The branches nearest to a value of the reference.
static std::set<size_t>
findNear(Value value, const llvm::DenseMap<Operation *, size_t> &branchOf) {
  std::set<size_t> near;
  llvm::DenseSet<Value> seen = {value};
  std::deque<Value> queue = {value};
  while (!queue.empty() && near.size() < nearBranches &&
         seen.size() < nearValues) {
    Value next = queue.front();
    queue.pop_front();
    Operation *op = next.getDefiningOp();
    if (auto found = branchOf.find(op); found != branchOf.end())
      near.insert(found->second);
    auto visit = [&](Value other) {
      if (seen.insert(other).second)
        queue.push_back(other);
    };
    if (op)
      llvm::for_each(op->getOperands(), visit);
    if (next.hasNUsesOrMore(manyUses))
      continue;
    for (Operation *user : next.getUsers())
      if (!user->hasAttr("domain") && user->getNumResults() == 1)
        visit(user->getResult(0));
  }
  return near;
}

llvm::StringSet<> verify::chooseZeroParameters(tv::GraphOp graph,
                                               const FactorAnalysis &factors,
                                               tv::ExpectOp place) {
  llvm::StringSet<> zeros;
  std::vector<Branch> branches = BranchFinder(graph, factors).find();
  if (branches.size() < fewBranches)
    return zeros;
  llvm::DenseMap<Operation *, size_t> branchOf;
  for (auto [number, branch] : llvm::enumerate(branches))
    for (Operation *op : branch.ops)
      branchOf.try_emplace(op, number);
  std::set<size_t> stays;
  for (size_t number : findNear(place.getReference(), branchOf)) {
    stays.insert(number == 0 ? 0 : number - 1);
    stays.insert(number);
    stays.insert(std::min(number + 1, branches.size() - 1));
  }
  if (2 * stays.size() > branches.size())
    return zeros;
  auto getName = [](Value parameter) {
    return parameter.getDefiningOp<tv::InputOp>()
        .getContract()
        .getName()
        .getValue();
  };
  for (auto [number, branch] : llvm::enumerate(branches))
    if (!stays.contains(number))
      for (Value end : branch.ends)
        zeros.insert(getName(end));
  for (size_t number : stays)
    for (Value end : branches[number].ends)
      zeros.erase(getName(end));
  return zeros;
}
