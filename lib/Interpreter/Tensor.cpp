//===- Tensor.cpp - whole tensors of numbers ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Interpreter/Tensor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace verify;

Tensor::Tensor(Workspace &workspace, ArrayRef<int64_t> shape)
    : shape(shape), workspace(workspace) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  // Place 0, which rationals keep for minus infinity, and the double 0 may be
  // released any number of times.
  elements.assign(count, Scalar());
  workspace.live += count;
}

Tensor::~Tensor() {
  workspace.live -= size();
  for (Scalar element : elements)
    workspace.algebra.release(element);
}

std::shared_ptr<Tensor> Workspace::allocate(ArrayRef<int64_t> shape,
                                            Location location) {
  int64_t count = 1, all;
  bool isTooMuch = false;
  for (int64_t size : shape)
    isTooMuch |= llvm::MulOverflow(count, size, count);
  if (isTooMuch || llvm::AddOverflow(live, count, all) ||
      all > limits.elements) {
    emitError(location)
        << "the run needs more than " << limits.elements
        << " tensor elements at a time; run a plan of the same shape with "
           "smaller sizes, or raise the limit";
    return nullptr;
  }
  return std::make_shared<Tensor>(*this, shape);
}

LogicalResult Workspace::countSteps(int64_t count, Location location) {
  if (failed(requireSteps(count, location)))
    return failure();
  steps += count;
  return success();
}

LogicalResult Workspace::requireSteps(int64_t count, Location location) {
  if (count <= limits.steps - steps)
    return success();
  return emitError(location)
         << "the run takes more than " << limits.steps
         << " scalar operations; run a plan of the same shape with smaller "
            "sizes, or raise the limit";
}

TensorRef Workspace::fill(ArrayRef<int64_t> shape, Scalar value,
                          Location location) {
  std::shared_ptr<Tensor> result = allocate(shape, location);
  if (!result)
    return nullptr;
  for (Scalar &element : result->elements)
    element = algebra.keep(value, algebra.mark());
  return result;
}

TensorRef Workspace::combine(ArrayRef<TensorRef> terms,
                             function_ref<Scalar(ArrayRef<Scalar>)> body,
                             Location location) {
  std::shared_ptr<Tensor> result = allocate(terms.front()->shape, location);
  if (!result ||
      failed(countSteps(result->size() * static_cast<int64_t>(terms.size()),
                        location)))
    return nullptr;
  std::vector<Scalar> scalars(terms.size());
  for (int64_t i = 0; i < result->size(); ++i) {
    size_t mark = algebra.mark();
    for (auto [scalar, term] : llvm::zip_equal(scalars, terms))
      scalar = term->elements[i];
    result->elements[i] = algebra.keep(body(scalars), mark);
  }
  return result;
}

TensorRef Workspace::add(ArrayRef<TensorRef> terms, Location location) {
  std::vector<WeightedScalar> weighted(terms.size());
  auto sum = [&](ArrayRef<Scalar> scalars) {
    for (auto [term, scalar] : llvm::zip_equal(weighted, scalars))
      term = {scalar, 1};
    return algebra.sum(weighted);
  };
  return combine(terms, sum, location);
}

TensorRef Workspace::slice(const Tensor &tensor, ArrayRef<int64_t> starts,
                           ArrayRef<int64_t> shape, Location location) {
  std::shared_ptr<Tensor> result = allocate(shape, location);
  if (!result)
    return nullptr;
  size_t next = 0;
  forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    int64_t offset = 0;
    for (auto [size, start, position] :
         llvm::zip_equal(tensor.shape, starts, index))
      offset = offset * size + start + position;
    result->elements[next++] =
        algebra.keep(tensor.elements[offset], algebra.mark());
  });
  return result;
}

TensorRef Workspace::concatenate(ArrayRef<TensorRef> parts, int64_t dimension,
                                 Location location) {
  SmallVector<int64_t> shape(parts.front()->shape);
  shape[dimension] = 0;
  for (const TensorRef &part : parts)
    shape[dimension] += part->shape[dimension];
  std::shared_ptr<Tensor> result = allocate(shape, location);
  if (!result)
    return nullptr;
  int64_t start = 0;
  for (const TensorRef &part : parts) {
    size_t next = 0;
    forEachIndex(part->shape, [&](ArrayRef<int64_t> index) {
      int64_t offset = 0;
      for (auto [i, size] : llvm::enumerate(shape))
        offset = offset * size + index[i] +
                 (static_cast<int64_t>(i) == dimension ? start : 0);
      result->elements[offset] =
          algebra.keep(part->elements[next++], algebra.mark());
    });
    start += part->shape[dimension];
  }
  return result;
}

void verify::forEachIndex(ArrayRef<int64_t> shape,
                          llvm::function_ref<void(ArrayRef<int64_t>)> visit) {
  if (llvm::is_contained(shape, 0))
    return;
  SmallVector<int64_t> index(shape.size(), 0);
  while (true) {
    visit(index);
    size_t i = shape.size();
    while (i > 0 && ++index[i - 1] == shape[i - 1])
      index[--i] = 0;
    if (i == 0)
      return;
  }
}

std::string verify::printIndex(ArrayRef<int64_t> index) {
  std::string text = "[";
  for (int64_t position : index)
    text += (text.size() > 1 ? ", " : "") + std::to_string(position);
  return text + "]";
}
