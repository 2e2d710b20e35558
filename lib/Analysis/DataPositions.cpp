//===- DataPositions.cpp - positions that data name -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Positions that are only compared with data for equality may be permuted if
// the data are permuted with them. All positions that the same data may be
// equal to then have to be permuted alike: they are related to one line of
// numbers, as slices of it, and a literal that the data are compared with is a
// slice of one. Data of which anything else is asked keep theirs.
// Executions permute nothing: there only data that ops compute do.
//
//===----------------------------------------------------------------------===//

#include "Verify/Analysis/FactorAnalysis.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace verify;

/// Whether an op gives elements of its operands, in other places.
static bool isMovement(Operation *op) {
  return isa<tv::DistributeOp>(op) || op->hasTrait<tv::MovesElements>();
}

static bool isData(Value value) {
  return getElementKind(value.getType()) == ElementKind::Integer;
}

std::optional<int64_t> verify::getIntegerLiteral(Value value) {
  Operation *op = value.getDefiningOp();
  while (op && isMovement(op) && op->getNumOperands() == 1)
    op = op->getOperand(0).getDefiningOp();
  auto literal = dyn_cast_if_present<tv::ConstantOp>(op);
  if (!literal || !literal.getValue().isSplat() || !isData(literal.getResult()))
    return std::nullopt;
  APInt number = literal.getValue().getSplatValue<APInt>();
  if (number.getBitWidth() > 64)
    return std::nullopt;
  bool isUnsigned = literal.getValue().getElementType().isUnsignedInteger();
  return isUnsigned ? static_cast<int64_t>(number.getZExtValue())
                    : number.getSExtValue();
}

/// Calls `visit` with data, as an operand of an op that compares them with a
/// literal, and with that.
static void
visitCompared(Operation &op,
              llvm::function_ref<void(OpOperand &, int64_t)> visit) {
  auto compare = dyn_cast<tv::CompareOp>(op);
  if (!compare)
    return;
  for (unsigned i : {0, 1})
    if (std::optional<int64_t> number =
            getIntegerLiteral(compare->getOperand(1 - i)))
      visit(compare->getOpOperand(i), *number);
}

/// Whether a permutation of the numbers of positions that leaves literal
/// `number` where it is, as what is no position is, changes nothing else that a
/// comparison with it sees. Positions that stand for others have numbers below
/// all of these.
static bool staysWithLiteral(Operation &op, int64_t number) {
  tv::ComparisonKind kind = cast<tv::CompareOp>(op).getKind();
  return (kind == tv::ComparisonKind::Equal ||
          kind == tv::ComparisonKind::NotEqual) &&
         number > FactorAnalysis::greatestBulkNumber;
}

namespace {
/// Which integer tensors hold elements of the same inputs, and whether anything
/// is asked of these but where they are equal to a number of a position or to a
/// literal.
class DataClasses {
public:
  /// `findRelation` gives the relation of an op, or null if it has none.
  DataClasses(
      ArrayRef<Operation *> ops,
      llvm::function_ref<const IndexRelation *(Operation &op)> findRelation) {
    for (Operation *op : ops)
      add(*op, findRelation(*op));
    // When all classes are known.
    for (Value value : named)
      notFree.insert(getClass(value));
    for (Value value : computed)
      notGiven.insert(getClass(value));
  }

  const void *getClass(Value value) {
    return classes.getOrInsertLeaderValue(value.getAsOpaquePointer());
  }
  /// Whether a permutation of the numbers is one of the data.
  bool isFree(Value value) {
    return isGiven(value) && !notFree.contains(getClass(value));
  }
  /// Whether nothing but inputs, and what nothing produces, gives the data, and
  /// no negative number of a position is asked for.
  bool isGiven(Value value) { return !notGiven.contains(getClass(value)); }

private:
  void add(Operation &op, const IndexRelation *relation) {
    // What is expected to be equal is permuted alike.
    if (isMovement(&op) || isa<tv::ExpectOp>(op)) {
      SmallVector<Value> values(op.getOperands());
      llvm::append_range(values, op.getResults());
      llvm::erase_if(values, [](Value value) { return !isData(value); });
      for (Value value : values)
        classes.unionSets(values.front().getAsOpaquePointer(),
                          value.getAsOpaquePointer());
      return;
    }
    llvm::SmallBitVector isCompared(op.getNumOperands());
    visitCompared(op, [&](OpOperand &data, int64_t literal) {
      if (staysWithLiteral(op, literal))
        isCompared.set(data.getOperandNumber());
    });
    // Arithmetic, order and literals name positions of their own, whoever asks.
    for (OpOperand &operand : op.getOpOperands()) {
      if (!isData(operand.get()) || isCompared.test(operand.getOperandNumber()))
        continue;
      std::optional<int64_t> first =
          relation ? findFirst(*relation, operand.getOperandNumber())
                   : std::nullopt;
      if (!first)
        named.push_back(operand.get());
      // The number of a position that stands for others is negative.
      else if (*first < 0)
        computed.push_back(operand.get());
    }
    // What nothing produces may be any number; executions take one that stands
    // for itself in all one-hots, or that no position has.
    for (Value result : op.getResults())
      if (isData(result) && !isa<tv::InputOp, tv::UndefinedOp>(op))
        computed.push_back(result);
  }

  /// The least number of a position that an operand is compared with; none if
  /// it is not.
  static std::optional<int64_t> findFirst(const IndexRelation &relation,
                                          unsigned operand) {
    std::optional<int64_t> first;
    for (const IndexRelation::Position &position : relation.positions)
      if (position.use == PositionUse::Equality && position.operand == operand)
        first = std::min(first.value_or(position.start), position.start);
    return first;
  }

  llvm::EquivalenceClasses<const void *> classes;
  /// Of which more is asked, and which have to be what they are.
  SmallVector<Value> named, computed;
  llvm::DenseSet<const void *> notFree, notGiven;
};

/// What one class of data is compared with.
struct Numbers {
  struct Use {
    FactorAnalysis::Node positions;
    int64_t start, end;
  };
  SmallVector<Use> uses;
  int64_t end = 0;
  /// Numbers that are looked at for themselves where programs are executed.
  llvm::SmallSetVector<int64_t, 8> bounds;
  /// What else they are compared with.
  llvm::SmallSetVector<int64_t, 4> literals;

  /// Where positions are to be cut, so that these numbers, the first one of
  /// each use, and the one after its last, begin parts.
  void
  visitCuts(llvm::function_ref<void(FactorAnalysis::Node, int64_t)> visit) {
    for (const Use &use : uses) {
      bounds.insert(use.start);
      bounds.insert(use.end);
    }
    // As an index to ignore.
    for (int64_t literal : literals) {
      bounds.insert(literal);
      bounds.insert(literal + 1);
    }
    for (const Use &use : uses)
      for (int64_t bound : bounds)
        if (use.start < bound && bound < use.end)
          visit(use.positions, bound - use.start);
  }
};
} // namespace

/// Adds the literals that the data of each class are compared with.
static void addLiterals(ArrayRef<Operation *> ops, DataClasses &data,
                        llvm::MapVector<const void *, Numbers> &numbersOf) {
  for (Operation *op : ops)
    visitCompared(*op, [&](OpOperand &operand, int64_t literal) {
      auto *found = numbersOf.find(data.getClass(operand.get()));
      if (found != numbersOf.end() &&
          literal < std::numeric_limits<int64_t>::max())
        found->second.literals.insert(literal);
    });
}

void FactorAnalysis::noteData(Operation &op) {
  // Most ops are of real numbers.
  auto isDataOperand = [&](unsigned operand) {
    return values->data[operand].isData;
  };
  if (llvm::any_of(operands, isDataOperand) ||
      llvm::any_of(op.getResults(), isData))
    onData.push_back(&op);
}

void FactorAnalysis::relateData() {
  if (failure)
    return;
  DataClasses data(onData, [&](Operation &op) -> const IndexRelation * {
    const ValueData *known =
        op.getNumResults() == 1 ? values->find(op.getResult(0)) : nullptr;
    return known ? known->relation : nullptr;
  });
  llvm::MapVector<const void *, Numbers> numbersOf;
  for (Operation *op : comparing) {
    ValueData &known = values->data[values->numbers.at(op->getResult(0))];
    for (size_t i = 0; i < known.relation->positions.size(); ++i) {
      const IndexRelation::Position &position = known.relation->positions[i];
      if (position.use != PositionUse::Equality)
        continue;
      Node node = known.factors.of(values->nodes)[position.factor];
      Value operand = op->getOperand(position.operand);
      // Executions permute nothing, but take data from what is kept everywhere.
      if (options.fixedWidth ? !data.isGiven(operand) : !data.isFree(operand)) {
        // Equal ops elsewhere may read other data.
        auto changed = std::make_unique<IndexRelation>(*known.relation);
        changed->positions[i].use = PositionUse::Order;
        known.relation = changed.get();
        values->relations.push_back(std::move(changed));
        makeRigid(node);
        continue;
      }
      int64_t end =
          position.getNumber(known.relation->extents[position.factor]);
      Numbers &numbers = numbersOf[data.getClass(operand)];
      numbers.uses.push_back({node, position.start, end});
      numbers.end = std::max(numbers.end, end);
    }
  }
  addLiterals(onData, data, numbersOf);
  if (options.fixedWidth) {
    for (auto &[leader, numbers] : numbersOf)
      numbers.visitCuts(
          [&](Node positions, int64_t at) { split(positions, at); });
    return;
  }
  for (auto &[leader, numbers] : numbersOf) {
    Node line = newAtom(numbers.end);
    // A literal that is the number of a position is that of no other one. What
    // is none stays where it is.
    for (int64_t literal : numbers.literals)
      if (literal >= 0 && literal < numbers.end)
        numbers.uses.push_back({newAtom(1), literal, literal + 1});
    for (const Numbers::Use &use : numbers.uses) {
      SmallVector<Node> blocks;
      if (use.start > 0)
        blocks.push_back(newAtom(use.start));
      blocks.push_back(use.positions);
      if (use.end < numbers.end)
        blocks.push_back(newAtom(numbers.end - use.end));
      unify(line, newNode(Kind::Concat, blocks));
    }
  }
}
