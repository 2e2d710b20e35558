//===- DenseClasses.cpp - coordinates with the same elements --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inputs are equal along most of a dimension, so that what most devices have of
// them is equal too. Coordinates of an axis at which a value has the same
// elements are one class, and what is computed of such values is computed once
// for each class. That they are the same is found by comparing what is given;
// for what is computed it follows from its operands.
//
//===----------------------------------------------------------------------===//

#include "DenseParts.h"

#include <map>

using namespace mlir;
using namespace verify;

/// An axis along which more coordinates differ has no classes: few others would
/// be the same, and each is compared with all of them.
static constexpr size_t mostClasses = 32;

int64_t DenseTensor::countClasses(unsigned axis, int64_t coordinates) const {
  return axisClasses[axis].empty() ? coordinates
                                   : *llvm::max_element(axisClasses[axis]) + 1;
}

/// Numbers from 0 on in the order of the keys' first places; none if all keys
/// differ.
static std::vector<int64_t>
numberClasses(ArrayRef<SmallVector<int64_t, 4>> keys) {
  std::map<ArrayRef<int64_t>, int64_t, std::less<>> numbers;
  std::vector<int64_t> classes;
  for (const SmallVector<int64_t, 4> &key : keys)
    classes.push_back(
        numbers.try_emplace(key, static_cast<int64_t>(numbers.size()))
            .first->second);
  if (numbers.size() == keys.size())
    classes.clear();
  return classes;
}

void DenseEvaluator::findClasses(tv::SemanticsOpInterface op,
                                 DenseTensor &tensor) const {
  const IndexRelation &relation = factors.getRelation(op);
  uint64_t axes = factors.getVaryingAxes(op->getResult(0));
  auto domain = op->getAttrOfType<tv::DomainAttr>("domain");
  for (unsigned axis = 0; axis < factors.getAxisCount(); ++axis) {
    StringRef name = factors.getAxisName(axis);
    auto isNamed = [&](const auto &use) { return use.axis == name; };
    // A part for each coordinate.
    bool isDivided = llvm::any_of(relation.axisFactors, [&](const auto &use) {
      return use.axis == name && !use.isRead;
    });
    if (!(axes >> axis & 1) || isDivided)
      continue;
    // Operands that are read at one coordinate, or at all, are the same for
    // all.
    bool isRead = llvm::any_of(relation.axisReads, isNamed) ||
                  llvm::any_of(relation.axisSums, isNamed) ||
                  llvm::any_of(relation.axisFactors, isNamed);
    auto coordinates = factors.getRepresentatives(factors.getAxis(axis));
    SmallVector<SmallVector<int64_t, 4>> keys(coordinates.size());
    tv::AxisSetAttr set = domain ? domain.getSet(name) : tv::AxisSetAttr();
    for (auto [ordinal, key] : llvm::enumerate(keys)) {
      key.push_back(!set || set.contains(coordinates[ordinal].position));
      if (isRead)
        continue;
      for (Value operand : op->getOperands()) {
        const DenseTensor &from = *tensors.find(operand);
        key.push_back(from.getAxisOffset(axis, static_cast<int64_t>(ordinal)));
      }
    }
    tensor.axisClasses[axis] = numberClasses(keys);
  }
}

//===--- Finding classes
//---------------------------------------------------===//

/// Changes the strides after those of `axis` where it gets another size.
static void resizeAxis(DenseTensor &tensor, unsigned axis, int64_t from,
                       int64_t to) {
  int64_t stride = tensor.axisStrides[axis];
  for (int64_t &other : tensor.axisStrides)
    if (other > stride)
      other = other / from * to;
}

DenseTensor verify::expandAxis(const DenseTensor &tensor, unsigned axis) {
  ArrayRef<int64_t> classes = tensor.axisClasses[axis];
  int64_t count = tensor.countClasses(axis, 0);
  DenseTensor expanded =
      selectParts(tensor, {tensor.axisStrides[axis], count}, classes);
  expanded.axisClasses[axis].clear();
  resizeAxis(expanded, axis, count, static_cast<int64_t>(classes.size()));
  return expanded;
}

void DenseEvaluator::mergeClasses(DenseTensor &tensor) {
  for (unsigned axis = 0; axis < tensor.axisStrides.size(); ++axis) {
    int64_t stride = tensor.axisStrides[axis];
    if (stride == 0 || !tensor.axisClasses[axis].empty())
      continue;
    auto count = static_cast<int64_t>(
        factors.getRepresentatives(factors.getAxis(axis)).size());
    auto areSame = [&](int64_t left, int64_t right) {
      for (int64_t outer = 0; outer < tensor.size; outer += stride * count)
        if (!coversSame(algebra, tensor, outer + left * stride,
                        outer + right * stride, stride))
          return false;
      return true;
    };
    SmallVector<int64_t> firsts;
    std::vector<int64_t> classes;
    for (int64_t number = 0; number < count && firsts.size() <= mostClasses;
         ++number) {
      int64_t *found = llvm::find_if(
          firsts, [&](int64_t first) { return areSame(first, number); });
      classes.push_back(found - firsts.begin());
      if (found == firsts.end())
        firsts.push_back(number);
    }
    if (static_cast<int64_t>(firsts.size()) == count ||
        firsts.size() > mostClasses)
      continue;
    keepParts(tensor, {stride, count}, firsts, algebra);
    resizeAxis(tensor, axis, count, static_cast<int64_t>(firsts.size()));
    tensor.axisClasses[axis] = std::move(classes);
  }
}
