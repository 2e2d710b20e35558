//===- GraphInterpreter.h - executes a graph on numbers ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a graph or stage: each value is one tensor for each coordinate of the
// axes it varies with.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_INTERPRETER_GRAPHINTERPRETER_H
#define VERIFY_LIB_INTERPRETER_GRAPHINTERPRETER_H

#include "Verify/Interpreter/InputValues.h"
#include "Verify/Interpreter/OpExecutor.h"
#include "Verify/Interpreter/Run.h"

#include <map>

namespace verify {

class GraphInterpreter {
public:
  GraphInterpreter(mlir::Block &body, tv::MeshAttr mesh, Workspace &workspace,
                   InputValues &inputs)
      : body(body), mesh(mesh), workspace(workspace), inputs(inputs),
        executor(workspace) {}

  /// Adds a row for each expect; where there is none, for each value that no op
  /// uses. Fails after an error at the op that cannot be executed.
  llvm::LogicalResult run(std::vector<ResultRow> &rows);

  /// The first op that was evaluated outside of its domain, or null.
  mlir::Operation *getUndefined() const { return executor.getUndefined(); }

private:
  /// One coordinate for each axis of the mesh, -1 where it does not matter.
  using Place = std::vector<int64_t>;
  struct Values {
    llvm::SmallVector<unsigned, 2> axes; ///< the value varies with
    std::map<Place, TensorRef> tensors;
  };

  std::optional<unsigned> findAxis(llvm::StringRef name) const;
  /// All places that differ in `axes` and lie in `domain`, which may be null.
  std::vector<Place> listPlaces(llvm::ArrayRef<unsigned> axes,
                                tv::DomainAttr domain) const;
  /// The tensor of `value` at a place; null after an error at `op`.
  TensorRef read(mlir::Value value, const Place &place, mlir::Operation *op);
  llvm::LogicalResult execute(mlir::Operation *op);
  mlir::FailureOr<llvm::SmallVector<unsigned, 2>>
  findVaryingAxes(mlir::Operation *op);
  TensorRef compute(mlir::Operation *op, const Place &place);
  TensorRef sumOverAxes(mlir::Value value, const IndexRelation &relation,
                        const Place &place, mlir::Operation *op);
  /// What a gather or a slice over an axis gives.
  TensorRef moveAlongAxis(mlir::Operation *op, const Place &place);
  /// The part of a reference tensor that a lineage names at a place.
  TensorRef takePart(const Tensor &reference, tv::LineageAttr lineage,
                     const Place &place, mlir::Operation *op);
  llvm::LogicalResult addExpect(tv::ExpectOp op, ResultRow &row);
  std::string print(const Place &place) const;

  mlir::Block &body;
  tv::MeshAttr mesh;
  Workspace &workspace;
  InputValues &inputs;
  OpExecutor executor;
  llvm::DenseMap<mlir::Value, Values> values;
};

} // namespace verify

#endif // VERIFY_LIB_INTERPRETER_GRAPHINTERPRETER_H
