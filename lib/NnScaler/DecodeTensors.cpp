//===- DecodeTensors.cpp - full tensors and their parts ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decodes full tensors and sub-tensors. That they agree is checked when all are
// there.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"

#include "llvm/Support/MathExtras.h"

using namespace verify;
using namespace verify::nnscaler;

bool Decoder::decodeShape(const ObjectFields &object,
                          llvm::SmallVectorImpl<int64_t> &sizes) {
  if (!getSizes(object, Field::Shape, sizes))
    return false;
  int64_t numElements = 1;
  for (int64_t size : sizes) {
    if (size < 0)
      return failField(object, Field::Shape,
                       "negative size " + llvm::Twine(size));
    if (llvm::MulOverflow(numElements, std::max<int64_t>(size, 1), numElements))
      return failField(object, Field::Shape, "more than 2^63 elements in all");
  }
  return true;
}

bool Decoder::decodeGradient(const ObjectFields &tensor, PlanClass expected,
                             Value &gradient) {
  if (!get(tensor, Field::Gradient, gradient))
    return false;
  if (graph.isNone(gradient) || classes.get(gradient) == expected)
    return true;
  return failType(tensor, Field::Gradient,
                  getClassName(expected) + llvm::Twine(" or None"), gradient);
}

bool Decoder::decodeFullTensor(Value value, FullTensor &tensor) {
  ObjectFields object = open(value);
  Value gradient;
  llvm::SmallVector<int64_t, maxRank> shape;
  if (!getId(object, tensor.id) ||
      !getOptionalString(object, Field::Name, tensor.name) ||
      !decodeShape(object, shape) ||
      !getBoolean(object, Field::IsParameter, tensor.isParameter) ||
      !getBoolean(object, Field::IsGradient, tensor.isGradient) ||
      !getBoolean(object, Field::IsLoss, tensor.isLoss) ||
      !getBoolean(object, Field::RequiresGradient, tensor.requiresGradient) ||
      !decodeElementType(object, tensor.elementType) ||
      !decodeGradient(object, PlanClass::FullTensor, gradient))
    return false;
  tensor.shape = integerArrays.intern(shape);
  if (!graph.isNone(gradient))
    tensor.gradient = gradient.getRaw();
  return true;
}

bool Decoder::decodeElementType(const ObjectFields &object,
                                llvm::StringRef &type) {
  Value value;
  if (!get(object, Field::ElementType, value))
    return false;
  if (graph.isNone(value))
    return true;
  std::optional<llvm::StringRef> name = toElementType(value);
  if (!name)
    return failType(object, Field::ElementType, "an element type of torch",
                    value);
  type = *name;
  return true;
}

bool Decoder::decodeRange(const ObjectFields &tensor, Value value,
                          Range &range) {
  llvm::ArrayRef<Value> bounds;
  if (std::optional<llvm::ArrayRef<Value>> sequence = toSequence(value)) {
    bounds = *sequence;
  } else if (classes.get(value) == PlanClass::Slice) {
    bounds = graph.getElements(graph.getArguments(value));
    // A step other than one is no range.
    if (bounds.size() == 3 &&
        (graph.isNone(bounds[2]) || toInteger(bounds[2]) == 1))
      bounds = bounds.drop_back();
  }
  std::optional<int64_t> start, end;
  if (bounds.size() == 2) {
    start = toInteger(bounds[0]);
    end = toInteger(bounds[1]);
  }
  if (!start || !end)
    return failType(tensor, Field::IndexMap, "a start and an end per dimension",
                    value);
  range = {*start, *end};
  return true;
}

bool Decoder::decodeIndexMap(const ObjectFields &tensor, Value indexMap,
                             llvm::ArrayRef<Range> &slice) {
  Value sequence;
  llvm::ArrayRef<Value> indices;
  if (!getElements(open(indexMap), Field::Indices, sequence, indices))
    return false;
  if (indices.size() > maxRank)
    return failField(tensor, Field::IndexMap,
                     "more than " + llvm::Twine(maxRank) + " dimensions");
  Range ranges[maxRank];
  for (size_t i = 0; i != indices.size(); ++i)
    if (!decodeRange(tensor, indices[i], ranges[i]))
      return false;
  slice = rangeArrays.intern(llvm::ArrayRef(ranges, indices.size()));
  return true;
}

bool Decoder::decodeValueMap(const ObjectFields &tensor, Value valueMap,
                             SubTensor &result) {
  llvm::SmallVector<int64_t, maxRank> weight;
  if (!getSizes(open(valueMap), Field::Weight, weight))
    return false;
  if (weight.size() != 2 || weight[0] < 0 || weight[0] >= weight[1])
    return failField(tensor, Field::ValueMap,
                     "expected a part and a number of parts");
  if (weight[1] > UINT32_MAX)
    return failField(tensor, Field::ValueMap, "2^32 parts or more");
  result.part = static_cast<uint32_t>(weight[0]);
  result.parts = static_cast<uint32_t>(weight[1]);
  return true;
}

bool Decoder::decodeSubTensor(Value value, SubTensor &tensor) {
  ObjectFields object = open(value);
  Value full, indexMap, valueMap, gradient;
  llvm::SmallVector<int64_t, maxRank> shape;
  if (!getId(object, tensor.id) ||
      !getOptionalString(object, Field::Name, tensor.name) ||
      !getObject(object, Field::FullTensor, PlanClass::FullTensor, full) ||
      !decodeShape(object, shape) ||
      !getObject(object, Field::IndexMap, PlanClass::IndexMap, indexMap) ||
      !decodeIndexMap(object, indexMap, tensor.slice) ||
      !getObject(object, Field::ValueMap, PlanClass::ValueMap, valueMap) ||
      !decodeValueMap(object, valueMap, tensor) ||
      !decodeElementType(object, tensor.elementType) ||
      !getBoolean(object, Field::IsParameter, tensor.isParameter) ||
      !getBoolean(object, Field::IsGradient, tensor.isGradient) ||
      !getBoolean(object, Field::RequiresGradient, tensor.requiresGradient) ||
      !decodeGradient(object, PlanClass::SubTensor, gradient))
    return false;
  tensor.fitsShape = shape == tensor.getShape();
  tensor.full = full.getRaw();
  if (!graph.isNone(gradient))
    tensor.gradient = gradient.getRaw();
  return true;
}
