//===- LoopNest.h - executes one op on whole tensors ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the index relation of an op into loops over all elements of its result
// and runs the op's scalar body in them. It knows no op: what is registered
// with a relation and a body can be executed. Written apart from the evaluators
// of lib/Analysis, which look at representatives only.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_INTERPRETER_LOOPNEST_H
#define VERIFY_INTERPRETER_LOOPNEST_H

#include "Verify/IR/TVInterfaces.h"
#include "Verify/Interpreter/Tensor.h"

namespace verify {

class LoopNest {
public:
  /// The loops of `op`. Mesh axes are not looked at: operands are those of one
  /// coordinate, summed over axes where the op says so. Fails after an error at
  /// the op.
  static mlir::FailureOr<LoopNest> build(tv::SemanticsOpInterface op);

  const IndexRelation &getRelation() const { return relation; }
  /// Executions of the scalar body; saturates.
  int64_t countSteps() const;

  /// The result on these operands; null after an error at the op.
  TensorRef run(llvm::ArrayRef<TensorRef> operands, Workspace &workspace);

private:
  struct Loop {
    unsigned factor = 0;
    int64_t extent = 0;
    int64_t resultStride = 0;
    llvm::SmallVector<int64_t, 4> strides; ///< for each present access
  };
  /// The loops over a block of the result on which one set of factors is bound.
  struct Part {
    int64_t resultBase = 0;
    llvm::SmallVector<unsigned, 2> present;  ///< accesses
    llvm::SmallVector<int64_t> bases;        ///< of the present accesses
    llvm::SmallVector<Loop, 4> outer, inner; ///< of the result; reduced
  };

  static int64_t countSteps(const Part &part);
  explicit LoopNest(tv::SemanticsOpInterface op) : op(op) {}
  llvm::LogicalResult addPart(llvm::ArrayRef<unsigned> choice);
  /// How present access `slot` moves with the loops, which are by factor.
  llvm::LogicalResult addAccess(Part &part, size_t slot,
                                llvm::ArrayRef<Loop *> loopOf) const;
  /// The sum, maximum or minimum of `terms`.
  Scalar combineTerms(NumericAlgebra &algebra) const;
  llvm::LogicalResult runPart(const Part &part,
                              llvm::ArrayRef<TensorRef> operands,
                              Tensor &result, Workspace &workspace);
  Scalar computeElement(const Part &part, llvm::ArrayRef<TensorRef> operands,
                        llvm::SmallVectorImpl<int64_t> &offsets,
                        NumericAlgebra &algebra);

  /// A stretch of a dimension: where it starts, and the strides of its factors.
  struct Block {
    int64_t start = 0;
    bool isHole = false;
    llvm::SmallVector<std::pair<unsigned, int64_t>, 2> factors;
  };
  std::vector<Block> listBlocks(const DimensionExpr &expr);

  tv::SemanticsOpInterface op;
  IndexRelation relation;
  /// Extents of the factors, then of the holes of the result.
  llvm::SmallVector<int64_t> extents;
  llvm::SmallVector<std::vector<Block>> resultBlocks;
  std::vector<llvm::SmallVector<std::vector<Block>>> accessBlocks;
  std::vector<Part> parts;

  // For one element.
  llvm::SmallVector<int64_t> current; ///< position of each factor
  llvm::SmallVector<Scalar> scalars;
  std::vector<WeightedScalar> terms;
};

} // namespace verify

#endif // VERIFY_INTERPRETER_LOOPNEST_H
