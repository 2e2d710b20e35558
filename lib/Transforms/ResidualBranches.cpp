//===- ResidualBranches.cpp - inputs that keep deep models simple ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ResidualBranches.h"

#include "../Analysis/DenseRuns.h"
#include "Verify/Analysis/Identities.h"
#include "Verify/IR/DenseValues.h"
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

static StringRef getParameterName(tv::InputOp parameter) {
  return parameter.getContract().getName().getValue();
}

namespace {
/// Parameters that make a value 0, if all of them are.
struct Ends {
  SmallVector<Value, 2> parameters;
  /// Ops between them and the value, at most.
  unsigned distance = 0;
};

class BranchFinder {
public:
  BranchFinder(ArrayRef<tv::ExpectOp> results, const FactorAnalysis &factors)
      : results(results), factors(factors) {}

  /// In the order of the reference's forward pass.
  std::vector<ResidualBranch> find();

private:
  void findEnds(tv::SemanticsOpInterface op);
  void findScores(ResidualBranch &branch) const;
  /// The ops that lead from `from` to `to`, if there are some.
  SmallVector<Operation *> findBetween(Value from, Value to) const;

  /// What outputs of the reference depend on, in order; what follows are
  /// gradients.
  std::vector<Operation *> listForward() const;

  ArrayRef<tv::ExpectOp> results;
  const FactorAnalysis &factors;
  DenseValueMap<Ends> ends;
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

static bool hasTwoLongDimensions(Value value, const FactorAnalysis &factors) {
  return llvm::count_if(factors.getDimensions(value),
                        [&](FactorAnalysis::Node node) {
                          return isLong(factors, node);
                        }) > 1;
}

void BranchFinder::findScores(ResidualBranch &branch) const {
  auto isQuadratic = [&](Value value) {
    return hasTwoLongDimensions(value, factors);
  };
  for (Operation *op : branch.ops) {
    Value result = op->getResult(0);
    bool takesScores = llvm::any_of(op->getOperands(), isQuadratic);
    branch.isQuadratic |= isQuadratic(result);
    auto found = ends.find(result);
    if (takesScores != isQuadratic(result) && found != ends.end())
      llvm::append_range(takesScores ? branch.valueEnds : branch.scoreEnds,
                         found->second.parameters);
  }
}

std::vector<Operation *> BranchFinder::listForward() const {
  llvm::DenseSet<Operation *> seen;
  std::vector<std::pair<unsigned, Operation *>> numbered;
  SmallVector<Value> worklist;
  for (tv::ExpectOp result : results)
    if (result.getContract()->getRole() == tv::ContractRole::Output)
      worklist.push_back(tv::ExpectOp(result).getReference());
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    numbered.emplace_back(factors.getNumber(value), op);
    llvm::append_range(worklist, op->getOperands());
  }
  llvm::sort(numbered);
  auto ops = llvm::make_second_range(numbered);
  return {ops.begin(), ops.end()};
}

std::vector<ResidualBranch> BranchFinder::find() {
  // A table of the model is never 0, if it can be told from a weight.
  llvm::StringSet<> learned;
  for (tv::ExpectOp result : results) {
    tv::ContractAttr contract = *tv::ExpectOp(result).getContract();
    if (contract.getRole() == tv::ContractRole::Gradient)
      learned.insert(contract.getName().getValue());
  }
  std::vector<ResidualBranch> branches;
  for (Operation *each : listForward()) {
    Operation &op = *each;
    if (auto input = dyn_cast<tv::InputOp>(op)) {
      if (input.getContract().getRole() == tv::ContractRole::Parameter &&
          getElementKind(input.getType()) == ElementKind::Real &&
          (learned.empty() || learned.contains(getParameterName(input))))
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
      ResidualBranch &added = branches.emplace_back();
      added.ends = found->second.parameters;
      added.ops = std::move(between);
      findScores(added);
      break;
    }
  }
  return branches;
}

/// Whether a value is read in more branches than a residual connection is.
static bool isReadInMany(Value value,
                         const llvm::DenseMap<Operation *, size_t> &branchOf) {
  llvm::SmallDenseSet<size_t> branches;
  for (Operation *user : value.getUsers())
    if (auto found = branchOf.find(user); found != branchOf.end())
      branches.insert(found->second);
  return branches.size() > 2;
}

/// Values of the reference from which branches near `place` are looked for: the
/// one it speaks of, or, where many branches read that one, as they do a mask,
/// those that correspond to what reads the place in the plan.
static SmallVector<Value>
findStarts(tv::ExpectOp place,
           const llvm::DenseMap<Operation *, size_t> &branchOf) {
  Value reference = place.getReference();
  if (!isReadInMany(reference, branchOf))
    return {reference};
  SmallVector<Value> starts;
  std::deque<Value> queue(place.getValues().begin(), place.getValues().end());
  DenseValueSet seen(queue.begin(), queue.end());
  while (!queue.empty() && seen.size() < nearValues) {
    Value value = queue.front();
    queue.pop_front();
    bool isInBranch = false;
    for (Operation *user : value.getUsers())
      if (auto stated = dyn_cast<tv::ExpectOp>(user);
          stated && stated.getReference() != reference &&
          branchOf.contains(stated.getReference().getDefiningOp())) {
        starts.push_back(stated.getReference());
        isInBranch = true;
      }
    if (isInBranch)
      continue;
    for (Operation *user : value.getUsers())
      if (user->getNumResults() == 1 && seen.insert(user->getResult(0)).second)
        queue.push_back(user->getResult(0));
  }
  return starts.empty() ? SmallVector<Value>{reference} : starts;
}

/// The branches nearest to some values of the reference, the nearest first.
static llvm::SmallSetVector<size_t, nearBranches>
findNear(ArrayRef<Value> starts,
         const llvm::DenseMap<Operation *, size_t> &branchOf) {
  llvm::SmallSetVector<size_t, nearBranches> near;
  DenseValueSet seen(starts.begin(), starts.end());
  std::deque<Value> queue(starts.begin(), starts.end());
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

/// Whether all that leads from a value of a branch to its result does so
/// through scores.
static bool showsInScoresAlone(Value value, const ResidualBranch &branch,
                               const FactorAnalysis &factors) {
  llvm::SmallPtrSet<Operation *, 32> ops(branch.ops.begin(), branch.ops.end());
  // The addition of the result is the last op.
  Operation *end = branch.ops.back();
  llvm::SmallPtrSet<Operation *, 32> seen;
  SmallVector<Value> worklist = {value};
  while (!worklist.empty()) {
    Value next = worklist.pop_back_val();
    if (hasTwoLongDimensions(next, factors))
      continue;
    for (Operation *user : next.getUsers()) {
      if (user == end)
        return false;
      if (ops.contains(user) && seen.insert(user).second)
        worklist.push_back(user->getResult(0));
    }
  }
  return true;
}

/// Whether a value of the reference is 0 where the parameters `zeros` are.
static bool isZeroWith(const llvm::StringSet<> &zeros, Value value,
                       const FactorAnalysis &factors) {
  Operation *last = value.getDefiningOp();
  if (!last)
    return false;
  DenseValueSet found;
  auto isZero = [&](Value operand) { return found.contains(operand); };
  for (Operation &op : *last->getBlock()) {
    if (op.getNumResults() == 1 && !op.hasAttr("domain")) {
      auto semantics = dyn_cast<tv::SemanticsOpInterface>(op);
      bool isParameter =
          isa<tv::InputOp>(op) &&
          zeros.contains(getParameterName(cast<tv::InputOp>(op)));
      if (isParameter || (semantics && !factors.isOpaque(&op) &&
                          computesZero(semantics, factors, isZero)))
        found.insert(op.getResult(0));
    }
    if (&op == last)
      break;
  }
  return isZero(value);
}

/// Whether a value that nothing produces leads to those of `place`, with none
/// in between of which something else is stated.
static bool restsOnUndefined(tv::ExpectOp place) {
  auto isStated = [&](Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      return isa<tv::ExpectOp>(user) && user != place;
    });
  };
  SmallVector<Value> worklist(place.getValues());
  llvm::SmallPtrSet<Operation *, 32> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!op || !op->hasAttr("domain") || !seen.insert(op).second)
      continue;
    if (isa<tv::UndefinedOp>(op))
      return true;
    if (value == place.getValues().front() || !isStated(value))
      llvm::append_range(worklist, op->getOperands());
  }
  return false;
}

ResidualBranches::ResidualBranches(ArrayRef<tv::ExpectOp> results,
                                   const FactorAnalysis &factors)
    : factors(factors), branches(BranchFinder(results, factors).find()) {
  for (auto [number, branch] : llvm::enumerate(branches))
    for (Operation *op : branch.ops)
      branchOf.try_emplace(op, number);
}

ZeroParameters
ResidualBranches::chooseZeros(tv::ExpectOp place,
                              QuadraticBranches quadratic) const {
  std::set<size_t> near;
  std::optional<size_t> nearestQuadratic;
  for (size_t number : findNear(findStarts(place, branchOf), branchOf)) {
    if (!nearestQuadratic && branches[number].isQuadratic)
      nearestQuadratic = number;
    near.insert(number == 0 ? 0 : number - 1);
    near.insert(number);
    near.insert(std::min(number + 1, branches.size() - 1));
  }
  // Otherwise that would be the same as none.
  bool isAverage = quadratic == QuadraticBranches::NearestAverage;
  bool keepsNearest = quadratic == QuadraticBranches::Nearest || isAverage;
  if (keepsNearest && !nearestQuadratic)
    return {};
  bool isDeep =
      branches.size() >= fewBranches && 2 * near.size() <= branches.size();
  ZeroParameters chosen;
  llvm::StringSet<> &zeros = chosen.names, others;
  for (auto [number, branch] : llvm::enumerate(branches)) {
    bool mayBeQuadratic = quadratic == QuadraticBranches::LikeOthers ||
                          (keepsNearest && nearestQuadratic == number);
    bool isFar = isDeep && !near.contains(number);
    bool isZero = isFar || (branch.isQuadratic && !mayBeQuadratic);
    auto add = [&](ArrayRef<Value> ends, bool areZero) {
      for (Value end : ends)
        (areZero ? zeros : others)
            .insert(getParameterName(end.getDefiningOp<tv::InputOp>()));
    };
    add(branch.ends, isZero);
    // Scores that are 0 are the same in all layers, and so is what they give.
    add(branch.scoreEnds, isZero || isAverage);
    add(branch.valueEnds, isFar);
  }
  for (const auto &entry : others)
    zeros.erase(entry.getKey());
  if (quadratic == QuadraticBranches::None || isAverage) {
    Value value = place.getReference();
    auto inside = branchOf.find(value.getDefiningOp());
    bool isInScores =
        inside != branchOf.end() && branches[inside->second].isQuadratic &&
        showsInScoresAlone(value, branches[inside->second], factors);
    // What nothing produces is not 0, and shows where it is added.
    if (restsOnUndefined(place))
      chosen.mayShowPlace =
          !isInScores ||
          branches[inside->second].ops.back() == value.getDefiningOp();
    else
      chosen.mayShowPlace = !isInScores && !isZeroWith(zeros, value, factors);
  }
  return chosen;
}
