//===- Tensor.h - whole tensors of numbers ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the interpreter computes with: tensors of scalars of one numeric
// algebra, and the memory and time that a run may take.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_INTERPRETER_TENSOR_H
#define VERIFY_INTERPRETER_TENSOR_H

#include "Verify/Scalar/NumericAlgebras.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"

#include <memory>

namespace verify {

class Workspace;

/// Elements in row-major order. They belong to the tensor.
class Tensor {
public:
  Tensor(Workspace &workspace, llvm::ArrayRef<int64_t> shape);
  ~Tensor();
  Tensor(const Tensor &) = delete;
  Tensor &operator=(const Tensor &) = delete;

  int64_t size() const { return static_cast<int64_t>(elements.size()); }

  llvm::SmallVector<int64_t> shape;
  std::vector<Scalar> elements;

private:
  Workspace &workspace;
};

/// Tensors are shared between the values that are the same tensor.
using TensorRef = std::shared_ptr<const Tensor>;

/// What a run may take.
struct RunLimits {
  /// Most elements of all tensors that are alive at a time.
  int64_t elements = int64_t(1) << 27;
  /// Most scalar operations, roughly.
  int64_t steps = int64_t(1) << 34;
};

/// The algebra of a run, and the memory and time it has taken.
class Workspace {
public:
  Workspace(NumericAlgebra &algebra, const RunLimits &limits)
      : algebra(algebra), limits(limits) {}

  /// A tensor whose elements are not set; null, after an error at `location`,
  /// if the run would need too much memory.
  std::shared_ptr<Tensor> allocate(llvm::ArrayRef<int64_t> shape,
                                   mlir::Location location);
  /// Counts operations; failure, after an error, if there are too many.
  llvm::LogicalResult countSteps(int64_t count, mlir::Location location);
  /// Fails, after an error, if so many operations are more than may be left.
  llvm::LogicalResult requireSteps(int64_t count, mlir::Location location);

  // Pieces of tensors. All return null after an error at `location`.

  TensorRef fill(llvm::ArrayRef<int64_t> shape, Scalar value,
                 mlir::Location location);
  /// What `body` makes of corresponding elements of tensors of one shape.
  TensorRef combine(llvm::ArrayRef<TensorRef> terms,
                    llvm::function_ref<Scalar(llvm::ArrayRef<Scalar>)> body,
                    mlir::Location location);
  /// The sum, element by element, of tensors of one shape.
  TensorRef add(llvm::ArrayRef<TensorRef> terms, mlir::Location location);
  /// The part of `tensor` that starts at `starts` and has `shape`, which lies
  /// inside.
  TensorRef slice(const Tensor &tensor, llvm::ArrayRef<int64_t> starts,
                  llvm::ArrayRef<int64_t> shape, mlir::Location location);
  /// Tensors that agree in all other dimensions, one after the other.
  TensorRef concatenate(llvm::ArrayRef<TensorRef> parts, int64_t dimension,
                        mlir::Location location);

  NumericAlgebra &algebra;
  /// Whether a value that is not rational ends the run, or a condition that
  /// intervals do not decide.
  bool isExact = false;

private:
  friend class Tensor;
  RunLimits limits;
  int64_t live = 0;
  int64_t steps = 0;
};

/// Calls `visit` for each index of `shape` in row-major order.
void forEachIndex(llvm::ArrayRef<int64_t> shape,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t>)> visit);

/// `[2, 3]`.
std::string printIndex(llvm::ArrayRef<int64_t> index);

} // namespace verify

#endif // VERIFY_INTERPRETER_TENSOR_H
