//===- DefinedTensors.cpp - what is defined where results are -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Analysis/DefinedTensors.h"

#include "Domains.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace verify;

/// Cells of a grid, times boxes, that are looked at to see whether the boxes
/// cover a tensor.
static constexpr uint64_t coverageLimit = 1 << 20;

/// Whether boxes together are all of a tensor; false where that takes long.
static bool areAll(ArrayRef<int64_t> shape, ArrayRef<Box> boxes) {
  return countCells(shape, boxes) <= coverageLimit / boxes.size() &&
         !findUncovered(shape, boxes);
}

DefinedTensors::DefinedTensors(tv::GraphOp graph) {
  llvm::MapVector<Value, SmallVector<Box>> results;
  for (Operation &op : graph.getBody().front()) {
    if (isa<tv::InputOp>(op))
      add(op.getResult(0));
    if (auto expect = dyn_cast<tv::ExpectOp>(op);
        expect && expect.getContract())
      if (std::optional<Box> box = findBox(expect, graph.getMesh())) {
        SmallVector<Box> &boxes = results[expect.getReference()];
        if (!llvm::is_contained(boxes, *box))
          boxes.push_back(std::move(*box));
      }
    auto semantics = dyn_cast<tv::SemanticsOpInterface>(op);
    if (!semantics || op.hasAttr("domain") || !getKind(semantics).isTotal)
      continue;
    if (op.getNumOperands() == 0)
      add(op.getResult(0));
    else
      open[&op] = op.getNumOperands();
  }
  for (auto &[tensor, boxes] : results)
    if (areAll(cast<RankedTensorType>(tensor.getType()).getShape(), boxes))
      add(tensor);
  followAll();
}

bool DefinedTensors::isTotal(Operation *op) const {
  Operation *same = equal.find(op);
  auto found = kinds.find(same);
  return found != kinds.end() && found->second.isTotal;
}

void DefinedTensors::addProved(Value reference) {
  add(reference);
  followAll();
}

void DefinedTensors::followAll() {
  while (!worklist.empty())
    follow(worklist.pop_back_val());
}

/// Whether an index is at every position of a dimension, whatever the factors
/// of other dimensions are, which are `used`.
static bool isOnto(const DimensionExpr &index, llvm::BitVector &used) {
  switch (index.getKind()) {
  case DimensionExpr::Kind::Unit:
    return true;
  case DimensionExpr::Kind::Factor: {
    bool isNew = !used.test(index.getFactor());
    used.set(index.getFactor());
    return isNew;
  }
  case DimensionExpr::Kind::Product:
    return llvm::all_of(index.getChildren(), [&](const DimensionExpr &child) {
      return isOnto(child, used);
    });
  case DimensionExpr::Kind::Concat:
  case DimensionExpr::Kind::Hole:
    return false;
  }
  return false;
}

std::optional<DefinedTensors::Part>
DefinedTensors::findRead(const IndexRelation::Access &access,
                         const IndexRelation &relation) {
  Part part;
  part.operand = access.operand;
  llvm::BitVector used(relation.extents.size());
  for (auto [number, index] : llvm::enumerate(access.dimensions)) {
    if (index.getKind() != DimensionExpr::Kind::Concat) {
      if (!isOnto(index, used))
        return std::nullopt;
      continue;
    }
    // One part of one dimension, between others that are not read.
    if (part.dimension)
      return std::nullopt;
    int64_t position = 0;
    for (const DimensionExpr &child : index.getChildren()) {
      int64_t size = child.getSize(relation.extents);
      if (child.getKind() != DimensionExpr::Kind::Hole) {
        if (part.dimension || !isOnto(child, used))
          return std::nullopt;
        part.dimension = number;
        part.begin = position;
        part.end = position + size;
      }
      position += size;
    }
    if (!part.dimension)
      return std::nullopt;
  }
  return part;
}

const DefinedTensors::Kind &
DefinedTensors::getKind(tv::SemanticsOpInterface op) {
  Operation *same = equal.find(op);
  if (!same) {
    same = op;
    equal.insert(op);
  }
  auto [found, isNew] = kinds.try_emplace(same);
  Kind &kind = found->second;
  if (!isNew)
    return kind;
  FailureOr<IndexRelation> relation = op.getIndexRelation();
  if (failed(relation) || relation->runsAlongAxes())
    return kind;
  kind.isTotal = getDomainCondition(op, *relation).isMet;
  llvm::BitVector strict = findStrictAccesses(op, *relation);
  for (unsigned number : strict.set_bits())
    if (auto part = findRead(relation->accesses[number], *relation))
      kind.read.push_back(*part);
  return kind;
}

std::optional<Box> DefinedTensors::findBox(tv::ExpectOp result,
                                           tv::MeshAttr mesh) {
  auto isEverywhere = [&](StringAttr axis) {
    tv::AxisSetAttr set = result.getDomain().getSet(axis);
    return !set || set.size() == mesh.getAxisSize(axis);
  };
  auto type = cast<RankedTensorType>(result.getReference().getType());
  Box box;
  for (auto [dimension, size] :
       llvm::zip_equal(result.getLineage().getDimensions(), type.getShape())) {
    box.push_back({0, size});
    for (auto factor : dimension.getAsRange<tv::DimensionFactorAttr>()) {
      if (factor.getAxis()) {
        if (!isEverywhere(factor.getAxis()))
          return std::nullopt;
        continue;
      }
      if (factor.getStart() == 0 && factor.getEnd() == factor.getExtent())
        continue;
      // One of several factors is no interval of the dimension.
      if (dimension.size() != 1)
        return std::nullopt;
      box.back() = {factor.getStart(), factor.getEnd()};
    }
  }
  return box;
}

void DefinedTensors::add(Value tensor, const Part &part) {
  if (!part.dimension)
    return add(tensor);
  if (defined.contains(tensor))
    return;
  // Those that are known neither overlap nor touch each other.
  SmallVector<Part> &known = parts[tensor];
  Part joined = part;
  llvm::erase_if(known, [&](const Part &other) {
    if (other.dimension != joined.dimension || other.end < joined.begin ||
        joined.end < other.begin)
      return false;
    joined.begin = std::min(joined.begin, other.begin);
    joined.end = std::max(joined.end, other.end);
    return true;
  });
  known.push_back(joined);
  auto type = cast<RankedTensorType>(tensor.getType());
  if (joined.begin == 0 && joined.end == type.getDimSize(*joined.dimension))
    add(tensor);
}

void DefinedTensors::add(Value tensor) {
  if (defined.insert(tensor).second)
    worklist.push_back(tensor);
}

void DefinedTensors::follow(Value tensor) {
  Operation *producer = tensor.getDefiningOp();
  if (auto semantics = dyn_cast_or_null<tv::SemanticsOpInterface>(producer);
      semantics && !producer->hasAttr("domain"))
    for (const Part &part : getKind(semantics).read)
      add(producer->getOperand(part.operand), part);
  for (Operation *user : tensor.getUsers())
    if (auto found = open.find(user);
        found != open.end() && --found->second == 0)
      add(user->getResult(0));
}
