//===- InferredLineage.cpp - lineage of what no plan states ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InferredLineage.h"

#include "MovedLineage.h"
#include "Verify/Analysis/Congruence.h"
#include "Verify/IR/TVInterfaces.h"
#include "Verify/IR/TVOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace verify;

/// Most tensors of the reference that one value is compared with.
static constexpr size_t candidateLimit = 4;
/// Most ops between a tensor with a lemma and one that is inferred; those of
/// one op of a plan are fewer.
static constexpr unsigned depthLimit = 64;

/// Most ops that a number which is the same in all elements is made of.
static constexpr unsigned literalLimit = 8;

/// The ops that a value is computed by from literals alone, the last one first;
/// none if it is not. Each stands there as often as it is used.
static SmallVector<Operation *> listLiteral(Value value) {
  SmallVector<Operation *> ops;
  SmallVector<Value> worklist = {value};
  while (!worklist.empty()) {
    Operation *op = worklist.pop_back_val().getDefiningOp();
    bool isKnown = isa_and_present<tv::ConstantOp>(op) ||
                   (isa_and_present<tv::SemanticsOpInterface>(op) &&
                    op->getNumOperands() != 0);
    if (!isKnown || ops.size() + op->getNumOperands() >= literalLimit)
      return {};
    ops.push_back(op);
    llvm::append_range(worklist, op->getOperands());
  }
  return ops;
}

static bool isLiteral(Value value) { return !listLiteral(value).empty(); }

/// Whether a literal of the plan is this one of the reference.
static bool isSameLiteral(Value value, Value reference) {
  SmallVector<Operation *> own = listLiteral(value),
                           others = listLiteral(reference);
  return !own.empty() && value.getType() == reference.getType() &&
         llvm::equal(own, others, [](Operation *one, Operation *other) {
           return isSameOp(*one, *other) &&
                  one->getResultTypes() == other->getResultTypes();
         });
}

void LineageInference::setKnown(Value value, Correspondence correspondence) {
  candidates[value] = {correspondence};
  known.insert(value);
}

std::optional<Correspondence>
LineageInference::match(Operation &op, ArrayRef<Correspondence> operands,
                        Operation &reference) {
  if (!isSameOp(op, reference))
    return std::nullopt;
  for (auto [own, operand, other] :
       llvm::zip_equal(op.getOperands(), operands, reference.getOperands())) {
    // Literals have no lineage.
    bool isSame = operand.reference ? operand.reference == other
                                    : isSameLiteral(own, other);
    if (!isSame)
      return std::nullopt;
  }
  SmallVector<tv::LineageAttr> lineages;
  for (const Correspondence &operand : operands)
    lineages.push_back(operand.lineage);
  tv::LineageAttr lineage =
      followLineage(cast<tv::SemanticsOpInterface>(reference), lineages,
                    cast<RankedTensorType>(op.getResult(0).getType()), mesh);
  if (!lineage)
    return std::nullopt;
  return Correspondence{reference.getResult(0), lineage};
}

LineageInference::Candidates LineageInference::followAllMoved(
    Operation &op, ArrayRef<SmallVector<Correspondence>> choices) const {
  Candidates found;
  for (const auto &choice : choices)
    if (std::optional<Correspondence> exchanged = followMoved(op, choice))
      found.push_back(*exchanged);
  return found;
}

std::optional<Correspondence>
LineageInference::followMoved(Operation &op,
                              ArrayRef<Correspondence> operands) const {
  SmallVector<tv::LineageAttr> lineages;
  for (const Correspondence &operand : operands) {
    if (!operand.reference || operand.reference != operands.front().reference)
      return std::nullopt;
    lineages.push_back(operand.lineage);
  }
  tv::LineageAttr lineage =
      followMovement(cast<tv::SemanticsOpInterface>(op), lineages, mesh);
  if (!lineage || namesAxisTwice(lineage))
    return std::nullopt;
  Value reference = operands.front().reference;
  auto getShape = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  };
  if (ArrayRef<int64_t>(lineage.getLocalShape()) != getShape(op.getResult(0)) ||
      ArrayRef<int64_t>(lineage.getReferenceShape(mesh)) != getShape(reference))
    return std::nullopt;
  return Correspondence{reference, lineage};
}

LineageInference::Candidates LineageInference::getCandidates(Value value,
                                                             unsigned depth) {
  auto found = candidates.find(value);
  if (found != candidates.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  Candidates result;
  if (depth < depthLimit && op->getNumResults() == 1 && op->hasAttr("domain") &&
      isa<tv::SemanticsOpInterface>(op))
    result = infer(*op, depth + 1);
  candidates[value] = result;
  return result;
}

/// Whether an op gives parts of what devices have. A sum is none.
static bool exchangesParts(Operation &op) {
  return tv::communicates(&op) && op.hasTrait<tv::MovesElements>();
}

LineageInference::Candidates LineageInference::infer(Operation &op,
                                                     unsigned depth) {
  if (tv::communicates(&op) && !exchangesParts(op))
    return {};
  // Each choice of candidates for the operands; nearly always there is one.
  SmallVector<SmallVector<Correspondence>> choices(1);
  for (Value operand : op.getOperands()) {
    Candidates given = isLiteral(operand) ? Candidates{Correspondence()}
                                          : getCandidates(operand, depth);
    SmallVector<SmallVector<Correspondence>> longer;
    for (const auto &choice : choices)
      for (const Correspondence &candidate : given) {
        longer.push_back(choice);
        longer.back().push_back(candidate);
      }
    choices = std::move(longer);
    if (choices.empty() || choices.size() > candidateLimit)
      return {};
  }
  if (tv::communicates(&op))
    return followAllMoved(op, choices);
  Candidates found;
  for (const auto &choice : choices) {
    const auto *tensor = llvm::find_if(
        choice, [](const Correspondence &at) { return bool(at.reference); });
    if (tensor == choice.end())
      continue;
    llvm::SmallPtrSet<Operation *, 4> tried;
    for (Operation *user : tensor->reference.getUsers()) {
      // Not one of the plan's.
      if (user->getNumResults() != 1 || user->hasAttr("domain") ||
          !tried.insert(user).second)
        continue;
      if (std::optional<Correspondence> matched = match(op, choice, *user))
        found.push_back(*matched);
      if (found.size() > candidateLimit)
        return {};
    }
  }
  // What the plan alone moves is a part of what it is of.
  if (found.empty())
    return followAllMoved(op, choices);
  return found;
}

/// Whether what an op leads to is inferred.
static bool leadsFrom(Operation &op) {
  return isa<tv::DescendingRankOp, tv::ExpOp>(op);
}

bool LineageInference::startsAt(Operation &op) {
  return leadsFrom(op) || exchangesParts(op);
}

void LineageInference::visit(Operation &op) {
  if (op.getNumResults() != 1 || !op.hasAttr("domain") ||
      candidates.contains(op.getResult(0)))
    return;
  Value result = op.getResult(0);
  if (exchangesParts(op)) {
    if (!getCandidates(result, 0).empty()) {
      exchanged.push_back(result);
      addSources(op);
    }
    return;
  }
  bool leadsOn =
      leadsFrom(op) || llvm::any_of(op.getOperands(), [&](Value operand) {
        return inferred.contains(operand);
      });
  if (!leadsOn || getCandidates(result, 0).empty())
    return;
  inferred.insert(result);
}

void LineageInference::addSources(Operation &op) {
  SmallVector<Value> worklist(op.getOperands());
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!walked.insert(value).second)
      continue;
    const Candidates found = candidates.lookup(value);
    Operation *source = value.getDefiningOp();
    if (known.contains(value) || !source || found.size() != 1)
      continue;
    auto isPartOf = [&](Value operand) {
      const Candidates whole = candidates.lookup(operand);
      return whole.size() == 1 &&
             whole.front().reference == found.front().reference;
    };
    if (exchangesParts(*source) ||
        (source->hasTrait<tv::MovesElements>() &&
         llvm::all_of(source->getOperands(), isPartOf)))
      llvm::append_range(worklist, source->getOperands());
    else
      sources.insert(value);
  }
}

bool LineageInference::isFollowed(Operation &op) {
  Value result = op.getResult(0);
  if (candidates.lookup(result).empty())
    return false;
  // What is known of it may be stated, and not follow from its operands.
  return inferred.contains(result) ||
         (isa<tv::SemanticsOpInterface>(op) && !infer(op, 0).empty());
}

SmallVector<std::pair<Value, Correspondence>> LineageInference::take() {
  SmallVector<std::pair<Value, Correspondence>> result;
  for (Value value : exchanged)
    if (const Candidates &found = candidates[value];
        found.size() == 1 &&
        llvm::any_of(value.getUsers(), [](Operation *user) {
          return user->getNumResults() == 1 && !tv::communicates(user);
        }))
      result.emplace_back(value, found.front());
  for (Value value : sources)
    result.emplace_back(value, candidates.lookup(value).front());
  for (Value value : inferred) {
    // Asking what users follow from adds to the map.
    const Candidates found = candidates.lookup(value);
    bool isLast = llvm::any_of(value.getUsers(), [&](Operation *user) {
      return user->getNumResults() == 1 && !isFollowed(*user);
    });
    if (isLast && found.size() == 1 && !sources.contains(value))
      result.emplace_back(value, found.front());
  }
  return result;
}

static constexpr llvm::StringLiteral guessName = "tv.guess";

void verify::setGuess(tv::ExpectOp lemma) {
  lemma->setDiscardableAttr(guessName, UnitAttr::get(lemma.getContext()));
}

bool verify::isGuess(tv::ExpectOp lemma) {
  return !lemma.getContract() && lemma->getDiscardableAttr(guessName);
}

/// What is said of an operand on its way to `place`: which part it is of
/// `reference`. Null if nothing is.
static tv::LineageAttr findLineage(Value operand, Value reference,
                                   tv::ExpectOp place) {
  if (auto part = operand.getDefiningOp<tv::DistributeOp>())
    return part.getReference() == reference ? part.getLineage()
                                            : tv::LineageAttr();
  for (Operation *user : operand.getUsers())
    if (auto lemma = dyn_cast<tv::ExpectOp>(user);
        lemma && lemma != place && lemma.getValues().size() == 1 &&
        lemma.getReference() == reference)
      return lemma.getLineage();
  return {};
}

bool verify::takesOtherParts(tv::ExpectOp place, tv::MeshAttr mesh) {
  Operation *own = place.getValues().front().getDefiningOp();
  auto reference =
      place.getReference().getDefiningOp<tv::SemanticsOpInterface>();
  if (place.getValues().size() != 1 || !own || !reference ||
      !isSameOp(*own, *reference))
    return false;
  SmallVector<tv::LineageAttr> lineages;
  for (auto [operand, expected] :
       llvm::zip_equal(own->getOperands(), reference->getOperands())) {
    lineages.push_back(findLineage(operand, expected, place));
    if (!lineages.back())
      return false;
  }
  tv::LineageAttr given =
      followLineage(reference, lineages,
                    cast<RankedTensorType>(own->getResult(0).getType()), mesh);
  return given && given != place.getLineage();
}
