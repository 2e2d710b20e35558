//===- Terms.cpp - the store of hash-consed terms -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Storage, hash-consing and access. Which operations exist on which sorts is
// decided in TermOperations.cpp.
//
//===----------------------------------------------------------------------===//

#include "Verify/Scalar/Terms.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <deque>

using namespace verify;
using llvm::ArrayRef;

TermAlgebra::TermAlgebra() { table.resize(1024); }
TermAlgebra::~TermAlgebra() = default;

//===--- Hash-consing -----------------------------------------------------===//

bool TermAlgebra::isSame(const Node &existing, TermKind kind, ScalarSort sort,
                         uint64_t payload, ArrayRef<Scalar> operands,
                         ArrayRef<int64_t> words) const {
  return existing.kind == kind && existing.sort == sort &&
         existing.payload == payload && existing.operands == operands &&
         existing.words == words;
}

static uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
  return hash ^ (hash >> 32);
}

Scalar TermAlgebra::intern(TermKind kind, ScalarSort sort, uint64_t payload,
                           ArrayRef<Scalar> operands, ArrayRef<int64_t> words) {
  uint64_t hash = mix(
      static_cast<uint64_t>(kind) * 4 + static_cast<uint64_t>(sort), payload);
  for (Scalar operand : operands)
    hash = mix(hash, operand.bits);
  for (int64_t word : words)
    hash = mix(hash, static_cast<uint64_t>(word));
  size_t mask = table.size() - 1;
  size_t place = hash & mask;
  for (; table[place] != 0; place = (place + 1) & mask)
    if (hashes[table[place] - 1] == static_cast<uint32_t>(hash) &&
        isSame(nodes[table[place] - 1], kind, sort, payload, operands, words))
      return {table[place] - 1};
  auto number = static_cast<uint32_t>(nodes.size());
  nodes.push_back(
      {kind, sort, payload, operands.copy(allocator), words.copy(allocator)});
  hashes.push_back(static_cast<uint32_t>(hash));
  table[place] = number + 1;
  if (nodes.size() * 2 > table.size())
    growTable();
  return {number};
}

void TermAlgebra::growTable() {
  // Only the low half of the hash is kept, which suffices below 2^32 places.
  std::vector<uint32_t> larger(table.size() * 2);
  size_t mask = larger.size() - 1;
  for (uint32_t number = 0; number < nodes.size(); ++number) {
    size_t place = hashes[number] & mask;
    while (larger[place] != 0)
      place = (place + 1) & mask;
    larger[place] = number + 1;
  }
  table = std::move(larger);
}

void TermAlgebra::clear() {
  nodes.clear();
  allocator.Reset();
  constants.clear();
  constantNumbers.clear();
  names.clear();
  nameNumbers.clear();
  hashes.clear();
  llvm::fill(table, 0);
  firstError.reset();
}

//===--- Access -----------------------------------------------------------===//

Rational TermAlgebra::getConstant(Scalar term) const {
  if (getKind(term) == TermKind::Integer)
    return Rational(static_cast<int64_t>(node(term).payload));
  return constants[node(term).payload];
}

Function TermAlgebra::getFunction(Scalar term) const {
  return static_cast<Function>(node(term).payload);
}

Comparison TermAlgebra::getComparison(Scalar term) const {
  return static_cast<Comparison>(node(term).payload);
}

std::pair<int64_t, int64_t> TermAlgebra::getExponent(Scalar term) const {
  ArrayRef<int64_t> words = getWeights(term);
  return {words[0], words[1]};
}

llvm::StringRef TermAlgebra::getFunctionName(Scalar term) const {
  return names[node(term).payload];
}

uint32_t TermAlgebra::getTensor(Scalar atom) const {
  return static_cast<uint32_t>(node(atom).payload);
}

ArrayRef<int64_t> TermAlgebra::getIndex(Scalar atom) const {
  return getWeights(atom);
}

void TermAlgebra::writeOperation(Scalar term, std::string &bytes) const {
  auto writeNumber = [&](uint64_t number) {
    bytes.append(reinterpret_cast<const char *>(&number), sizeof(number));
  };
  auto writeText = [&](llvm::StringRef text) {
    writeNumber(text.size());
    bytes += text;
  };
  TermKind kind = getKind(term);
  writeNumber(static_cast<uint64_t>(kind));
  writeNumber(static_cast<uint64_t>(getSort(term)));
  switch (kind) {
  case TermKind::Atom:
    return;
  // The payload is a number in a table of this algebra.
  case TermKind::Constant:
    writeText(getConstant(term).toString());
    break;
  case TermKind::Uninterpreted:
    writeText(getFunctionName(term));
    break;
  // It means the same in every algebra, or nothing.
  case TermKind::Integer:
  case TermKind::Boolean:
  case TermKind::MinusInfinity:
  case TermKind::Sum:
  case TermKind::Product:
  case TermKind::Quotient:
  case TermKind::Power:
  case TermKind::Apply:
  case TermKind::Maximum:
  case TermKind::Compare:
  case TermKind::Select:
  case TermKind::ToReal:
  case TermKind::IsFinite:
  case TermKind::FinitePart:
    writeNumber(node(term).payload);
    break;
  }
  writeNumber(getWeights(term).size());
  for (int64_t word : getWeights(term))
    writeNumber(static_cast<uint64_t>(word));
}

Scalar TermAlgebra::withOperands(Scalar term, ArrayRef<Scalar> operands) {
  // A copy: creating a node moves the others.
  Node like = node(term);
  for (auto [own, other] : llvm::zip_equal(like.operands, operands))
    if (getSort(own) != getSort(other))
      return fail("an operand replaced by one of another sort", like.sort);
  return intern(like.kind, like.sort, like.payload, operands, like.words);
}

//===--- Traversal --------------------------------------------------------===//

llvm::BitVector TermAlgebra::findNodes(ArrayRef<Scalar> roots) const {
  // Operands have smaller numbers than users.
  uint64_t highest = 0;
  for (Scalar root : roots)
    highest = std::max(highest, root.bits + 1);
  llvm::BitVector isReached(highest);
  llvm::SmallVector<Scalar> worklist(roots);
  while (!worklist.empty()) {
    Scalar term = worklist.pop_back_val();
    if (isReached[term.bits])
      continue;
    isReached.set(term.bits);
    for (Scalar operand : getOperands(term))
      if (!isReached[operand.bits])
        worklist.push_back(operand);
  }
  return isReached;
}

llvm::SmallVector<Scalar>
TermAlgebra::collectNodes(ArrayRef<Scalar> roots) const {
  llvm::BitVector nodes = findNodes(roots);
  llvm::SmallVector<Scalar> result;
  result.reserve(nodes.count());
  for (unsigned number : nodes.set_bits())
    result.push_back({number});
  return result;
}

std::optional<Condition> TermAlgebra::getCondition(Scalar term) const {
  switch (getKind(term)) {
  case TermKind::Quotient:
    return Condition{ConditionKind::NonZero, getOperands(term)[1]};
  case TermKind::Power: {
    auto [numerator, denominator] = getExponent(term);
    if (denominator == 1 && numerator >= 0)
      return std::nullopt;
    if (denominator == 1)
      return Condition{ConditionKind::NonZero, getOperands(term)[0]};
    return Condition{numerator > 0 ? ConditionKind::NonNegative
                                   : ConditionKind::Positive,
                     getOperands(term)[0]};
  }
  case TermKind::Apply:
    if (getFunction(term) == Function::Sqrt)
      return Condition{ConditionKind::NonNegative, getOperands(term)[0]};
    if (getFunction(term) == Function::Log ||
        getFunction(term) == Function::Rsqrt)
      return Condition{ConditionKind::Positive, getOperands(term)[0]};
    return std::nullopt;
  default:
    return std::nullopt;
  }
}

namespace {
/// Where a term is computed: where a condition holds, or where it does not, and
/// where that is.
struct Guard {
  Scalar condition;
  bool holds = true;
  const Guard *outer = nullptr;
};

/// Collects conditions from roots down. What a selection does not select need
/// not be defined.
class ConditionCollector {
public:
  explicit ConditionCollector(TermAlgebra &terms) : terms(terms) {}

  /// Fails if there are too many places where something is computed.
  bool run(ArrayRef<Scalar> roots) {
    llvm::SmallVector<Scalar> nodes = terms.collectNodes(roots);
    if (nodes.empty())
      return true;
    size_t count = nodes.back().bits + 1;
    isPartial.resize(count);
    isAlways.resize(count);
    // Operands come first.
    for (Scalar node : nodes)
      if (terms.getCondition(node) ||
          llvm::any_of(terms.getOperands(node),
                       [&](Scalar operand) { return isPartial[operand.bits]; }))
        isPartial.set(node.bits);
    visit(roots, /*guard=*/nullptr);
    for (size_t next = 0; next != branches.size(); ++next) {
      if (next == branchLimit)
        return false;
      visit(branches[next].first, branches[next].second);
    }
    return true;
  }

  /// In the order of the operations that have them.
  llvm::SmallVector<Condition> take() {
    llvm::stable_sort(found, llvm::less_first());
    llvm::SmallVector<Condition> result;
    llvm::DenseSet<std::pair<uint64_t, unsigned>> known;
    for (auto &[node, condition] : found)
      if (known
              .insert(
                  {condition.term.bits, static_cast<unsigned>(condition.kind)})
              .second)
        result.push_back(condition);
    return result;
  }

private:
  static constexpr size_t branchLimit = 20000;

  void visit(ArrayRef<Scalar> roots, const Guard *guard) {
    llvm::SmallVector<Scalar> worklist(roots);
    llvm::DenseSet<uint64_t> own;
    while (!worklist.empty()) {
      Scalar term = worklist.pop_back_val();
      // What is computed anyway needs no guard.
      if (!isPartial[term.bits] || isAlways[term.bits] ||
          (guard && !own.insert(term.bits).second))
        continue;
      if (!guard)
        isAlways.set(term.bits);
      if (std::optional<Condition> condition = terms.getCondition(term))
        add(term, *condition, guard);
      llvm::SmallVector<Scalar> operands(terms.getOperands(term));
      if (terms.getKind(term) != TermKind::Select) {
        llvm::append_range(worklist, operands);
        continue;
      }
      worklist.push_back(operands[0]);
      for (bool holds : {true, false})
        if (Scalar branch = operands[holds ? 1 : 2]; isPartial[branch.bits])
          branches.emplace_back(
              branch, &guards.emplace_back(Guard{operands[0], holds, guard}));
    }
  }

  void add(Scalar node, Condition condition, const Guard *guard) {
    for (; guard; guard = guard->outer) {
      Scalar one = terms.rational(1);
      condition.term =
          guard->holds ? terms.select(guard->condition, condition.term, one)
                       : terms.select(guard->condition, one, condition.term);
    }
    found.emplace_back(node.bits, condition);
  }

  TermAlgebra &terms;
  /// Terms at or below which there is a condition; those without a guard.
  llvm::BitVector isPartial, isAlways;
  std::deque<Guard> guards;
  std::vector<std::pair<Scalar, const Guard *>> branches;
  std::vector<std::pair<uint64_t, Condition>> found;
};
} // namespace

llvm::SmallVector<Condition>
TermAlgebra::collectConditions(ArrayRef<Scalar> roots) {
  ConditionCollector collector(*this);
  if (!collector.run(roots))
    fail("selections are nested too often", ScalarSort::Real);
  return collector.take();
}
