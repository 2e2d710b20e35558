//===- InputValues.cpp - the tensors nobody computes ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Interpreter/InputValues.h"

#include <cstdlib>
#include <set>

using namespace mlir;
using namespace verify;

/// Integer data that index nothing lie below this.
static constexpr int64_t defaultIndexLimit = 8;
/// The same of those that index nothing and are computed with: masks, mostly,
/// which other numbers make exponentials too large of. Most are 1, as rows of
/// which all are masked are outside of the domain of a softmax in doubles.
static constexpr int64_t maskLimit = 2;

/// FNV-1a: the same on every machine, as the seed is printed.
static uint64_t hash(StringRef text, uint64_t value) {
  for (char letter : text)
    value = (value ^ static_cast<unsigned char>(letter)) * 1099511628211u;
  return value;
}

static uint64_t mix(uint64_t state) {
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9u;
  state = (state ^ (state >> 27)) * 0x94d049bb133111ebu;
  return state ^ (state >> 31);
}

TensorRef InputValues::get(tv::ContractRole role, StringRef name,
                           RankedTensorType type, Location location) {
  TensorRef &value = known[{role, name.str()}];
  if (value) {
    if (ArrayRef<int64_t>(value->shape) == type.getShape())
      return value;
    emitError(location) << "'" << name << "' is " << type << " here and "
                        << printIndex(value->shape) << " elsewhere";
    return nullptr;
  }
  auto found = given.find(name);
  if (found != given.end()) {
    found->second.isUsed = true;
    value = take(found->second, name, type, location);
  } else {
    value = draw(role, name, {}, type, location);
  }
  return value;
}

TensorRef InputValues::makeUndefined(StringRef name, ArrayRef<int64_t> place,
                                     RankedTensorType type, Location location) {
  return draw(tv::ContractRole::Input, ("undefined " + name).str(), place, type,
              location);
}

TensorRef InputValues::drawAt(StringRef name, ArrayRef<int64_t> place,
                              RankedTensorType type, Location location) {
  return draw(tv::ContractRole::Random, name, place, type, location);
}

TensorRef InputValues::draw(tv::ContractRole role, StringRef name,
                            ArrayRef<int64_t> place, RankedTensorType type,
                            Location location) {
  std::shared_ptr<Tensor> result =
      workspace.allocate(type.getShape(), location);
  if (!result)
    return nullptr;
  isDrawn = true;
  ElementKind kind = getElementKind(type);
  uint64_t stream = hash(name, 1469598103934665603u + uint64_t(role));
  for (int64_t position : place)
    stream = mix(stream + static_cast<uint64_t>(position) + 1);
  stream = mix(stream + seed * 0x9e3779b97f4a7c15u);
  int64_t limit = defaultIndexLimit;
  if (auto found = limits.find(name); found != limits.end())
    limit = found->second;
  // Weights are divided by about the root of what they are summed over, so that
  // nothing grows beyond what exponentials bear.
  int64_t scale = 1;
  if (type.getRank() >= 2 && role == tv::ContractRole::Parameter)
    while (scale * scale < type.getShape().back())
      scale *= 2;
  NumericAlgebra &algebra = workspace.algebra;
  auto make = [&](uint64_t drawn) -> Scalar {
    if (role == tv::ContractRole::Random)
      return algebra.rational(drawn % 4 != 0);
    switch (kind) {
    case ElementKind::Integer:
      return algebra.integer(limit == maskLimit
                                 ? drawn % 8 != 0
                                 : static_cast<int64_t>(drawn % limit));
    case ElementKind::Boolean:
      return algebra.boolean(drawn % 2);
    case ElementKind::Real:
    case ElementKind::Extended:
    case ElementKind::Other: {
      // Odd parts of 64 between -1 and 1, none of them 0.
      int64_t part = 2 * static_cast<int64_t>(drawn % 64) - 63;
      return algebra.rational(drawsPositive ? std::abs(part) : part,
                              64 * scale);
    }
    }
    return algebra.integer(0);
  };
  uint64_t number = 0;
  for (Scalar &element : result->elements) {
    size_t mark = algebra.mark();
    element = algebra.keep(make(mix(stream + ++number)), mark);
  }
  return result;
}

TensorRef InputValues::take(const GivenTensor &tensor, StringRef name,
                            RankedTensorType type, Location location) {
  if (ArrayRef<int64_t>(tensor.shape) != type.getShape()) {
    emitError(location) << "'" << name << "' is " << type
                        << ", the given one has shape "
                        << printIndex(tensor.shape);
    return nullptr;
  }
  ElementKind kind = getElementKind(type);
  std::shared_ptr<Tensor> result =
      workspace.allocate(type.getShape(), location);
  if (!result)
    return nullptr;
  NumericAlgebra &algebra = workspace.algebra;
  for (auto [element, number] :
       llvm::zip_equal(result->elements, tensor.elements)) {
    bool isExact = kind == ElementKind::Integer || kind == ElementKind::Boolean;
    bool isTruth = number && (number->isZero() || number->isOne());
    if ((!number && kind != ElementKind::Extended) ||
        (isExact && !number->isInteger()) ||
        (kind == ElementKind::Boolean && !isTruth)) {
      emitError(location) << "'" << name << "' is " << type
                          << ", the given one has the element "
                          << (number ? number->toString() : "-inf");
      return nullptr;
    }
    size_t mark = algebra.mark();
    element = algebra.keep(
        number ? algebra.constant(*number) : algebra.minusInfinity(), mark);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// What integer data index
//===----------------------------------------------------------------------===//

namespace {
/// Follows integer inputs to the ops that compare them with positions.
class IndexLimitSearch {
public:
  void addInput(Value value, StringRef name) { origins[value].insert(name); }
  void move(Value from, Value to) {
    const auto &names = origins[from];
    SmallVector<StringRef> copy(names.begin(), names.end());
    origins[to].insert(copy.begin(), copy.end());
  }
  void visit(Operation *op);
  IndexLimits take();

private:
  IndexLimits limits;
  llvm::DenseMap<Value, std::set<StringRef>> origins;
  /// What is computed with.
  std::set<StringRef> numbers;
};
} // namespace

void IndexLimitSearch::visit(Operation *op) {
  if (!isa<tv::SemanticsOpInterface>(op))
    return;
  SmallVector<Value> integers;
  for (Value operand : op->getOperands())
    if (getElementKind(operand.getType()) == ElementKind::Integer)
      integers.push_back(operand);
  if (integers.empty())
    return;
  if (getElementKind(op->getResult(0).getType()) == ElementKind::Integer)
    for (Value operand : integers)
      move(operand, op->getResult(0));
  if (isa<tv::ToRealOp>(op))
    for (Value operand : integers)
      numbers.insert(origins[operand].begin(), origins[operand].end());
  FailureOr<IndexRelation> relation =
      cast<tv::SemanticsOpInterface>(op).getIndexRelation();
  if (failed(relation))
    return;
  for (const IndexRelation::Position &position : relation->positions)
    for (Value operand : integers)
      for (StringRef name : origins[operand]) {
        int64_t extent = relation->extents[position.factor];
        int64_t &limit = limits.try_emplace(name, extent).first->second;
        limit = std::max<int64_t>(1, std::min(limit, extent));
      }
}

IndexLimits IndexLimitSearch::take() {
  for (StringRef name : numbers)
    limits.try_emplace(name, maskLimit);
  return std::move(limits);
}

std::string verify::getArgumentName(BlockArgument argument) {
  return "argument " + std::to_string(argument.getArgNumber());
}

IndexLimits verify::findIndexLimits(tv::PlanOp plan) {
  IndexLimitSearch search;
  SymbolTable symbols(plan);
  plan.walk([&](tv::LoadDataOp op) {
    for (auto [result, name] : llvm::zip(op.getResults(), op.getNames()))
      search.addInput(result, cast<StringAttr>(name).getValue());
  });
  for (auto program : plan.getBody().getOps<tv::ProgramOp>())
    for (Operation &op : program.getBody().front()) {
      auto call = dyn_cast<tv::CallOp>(op);
      auto segment = call ? symbols.lookup<tv::SegmentOp>(call.getCallee())
                          : tv::SegmentOp();
      if (!segment) {
        search.visit(&op);
        continue;
      }
      Block &body = segment.getBody().front();
      for (auto [argument, operand] :
           llvm::zip(body.getArguments(), call.getOperands()))
        search.move(operand, argument);
      for (Operation &inner : body)
        search.visit(&inner);
      for (auto [result, value] :
           llvm::zip(call.getResults(), body.getTerminator()->getOperands()))
        search.move(value, result);
    }
  return search.take();
}

IndexLimits verify::findIndexLimits(Block &graph) {
  IndexLimitSearch search;
  SmallVector<std::string> names;
  for (BlockArgument argument : graph.getArguments())
    names.push_back(getArgumentName(argument));
  for (auto [argument, name] : llvm::zip_equal(graph.getArguments(), names))
    search.addInput(argument, name);
  for (auto input : graph.getOps<tv::InputOp>())
    search.addInput(input.getResult(),
                    input.getContract().getName().getValue());
  // Ops with a domain belong to the plan, whose offsets say nothing.
  for (Operation &op : graph)
    if (!op.hasAttr("domain"))
      search.visit(&op);
  return search.take();
}
