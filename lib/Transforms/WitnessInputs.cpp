//===- WitnessInputs.cpp - concrete inputs of both programs ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WitnessInputs.h"

using namespace mlir;
using namespace verify;

/// FNV-1a: the same on every machine, as the seed is printed.
static uint64_t hash(StringRef text) {
  uint64_t value = 1469598103934665603u;
  for (char letter : text)
    value = (value ^ static_cast<unsigned char>(letter)) * 1099511628211u;
  return value;
}

Scalar WitnessInputs::input(Value value, ArrayRef<int64_t> index) {
  auto op = value.getDefiningOp<tv::InputOp>();
  uint64_t name = op ? hash(op.getContract().getName().getValue()) : 0;
  // Weights are divided by what they are summed over, so that nothing grows
  // beyond what exponentials bear.
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  int64_t scale = shape.size() < 2 ? 1 : llvm::PowerOf2Ceil(shape.back());
  Scalar drawn = draw(name, getSort(value.getType()), index, scale);
  if (!op || op.getContract().getRole() != tv::ContractRole::Random)
    return drawn;
  // Draws of random ops are 0 or 1.
  bool isKept = algebra.toDouble(drawn) > 0;
  return algebra.rational(isKept);
}

Scalar WitnessInputs::opaque(unsigned number, Type type,
                             ArrayRef<int64_t> index) {
  return draw(number, getSort(type), index);
}

Scalar WitnessInputs::undefined(Operation *op, ArrayRef<int64_t> place) {
  return draw(hash(cast<tv::UndefinedOp>(op).getName()),
              getSort(op->getResult(0).getType()), place);
}

Scalar WitnessInputs::draw(uint64_t name, ScalarSort sort,
                           ArrayRef<int64_t> index, int64_t scale) {
  uint64_t state = name + seed * 0x9e3779b97f4a7c15u;
  for (int64_t position : index)
    state = (state ^ static_cast<uint64_t>(position + 1)) * 0xbf58476d1ce4e5b9u;
  state ^= state >> 31;
  state *= 0x94d049bb133111ebu;
  state ^= state >> 29;
  if (sort == ScalarSort::Integer)
    return algebra.integer(range.data[state % range.data.size()]);
  if (sort == ScalarSort::Boolean)
    return algebra.boolean(state % 2);
  // Odd eighths between -1 and 1, say: none of them 0.
  int64_t number = static_cast<int64_t>(state % range.resolution);
  return algebra.rational(2 * number + 1 - range.resolution,
                          range.resolution * scale);
}

WitnessRange verify::getWitnessRange(tv::GraphOp graph,
                                     const FactorAnalysis &factors) {
  WitnessRange range;
  if (!graph.getBody().getOps<tv::DescendingRankOp>().empty())
    range.resolution = 1 << 20;
  // Integer data take values that are kept wherever they select a position.
  SmallVector<int64_t> &values = range.data;
  for (auto oneHot : graph.getBody().getOps<tv::OneHotOp>()) {
    if (oneHot->hasAttr("domain"))
      continue;
    for (Representative entry : factors.getRepresentatives(
             factors.getDimensions(oneHot.getResult()).back()))
      if (entry.weight == 1 && !llvm::is_contained(values, entry.position))
        values.push_back(entry.position);
  }
  // Where they are only compared they have to differ all the same.
  if (values.empty())
    values.append({1, -3, 1000});
  return range;
}

bool verify::isFarApart(double left, double right) {
  if (std::isinf(left) || std::isinf(right))
    return left != right;
  double difference = std::abs(left - right);
  return difference > 1e-7 * std::max(std::abs(left), std::abs(right)) &&
         difference > 1e-13;
}
