//===- InputValues.h - the tensors nobody computes --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Inputs, parameters and draws of random ops, whole: read from a file or drawn
// from a seed. What is drawn depends on the seed, the role, the name and the
// element, so both programs, and both levels of IR, get the same.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_INTERPRETER_INPUTVALUES_H
#define VERIFY_INTERPRETER_INPUTVALUES_H

#include "Verify/IR/TVOps.h"
#include "Verify/Interpreter/Tensor.h"
#include "llvm/ADT/StringMap.h"

#include <map>
#include <optional>

namespace verify {

/// Tensors of a file, by name; none is minus infinity. Texts, integers of 64
/// bits and what doubles have are exact; other numbers of JSON are rounded.
struct GivenTensor {
  llvm::SmallVector<int64_t> shape;
  std::vector<std::optional<Rational>> elements;
  bool isUsed = false;
};
using GivenTensors = llvm::StringMap<GivenTensor>;

/// Reads `.json` (an object of nested lists of numbers, or of strings as `1/3`
/// and `-inf`) or `.npz` without compression. On failure `error` says why.
std::optional<GivenTensors> readTensors(llvm::StringRef path,
                                        std::string &error);

/// What integer inputs of a program index: by name, the number of positions.
using IndexLimits = llvm::StringMap<int64_t>;
IndexLimits findIndexLimits(tv::PlanOp plan);
IndexLimits findIndexLimits(mlir::Block &graph);

/// The name by which the argument of a stage is drawn or given.
std::string getArgumentName(mlir::BlockArgument argument);

class InputValues {
public:
  InputValues(Workspace &workspace, unsigned seed, GivenTensors &given,
              bool drawsPositive)
      : workspace(workspace), seed(seed), given(given),
        drawsPositive(drawsPositive) {}

  void setIndexLimits(IndexLimits newLimits) { limits = std::move(newLimits); }
  /// Whether any tensor was drawn.
  bool hasDrawn() const { return isDrawn; }

  /// The whole tensor; null after an error at `location`.
  TensorRef get(tv::ContractRole role, llvm::StringRef name,
                mlir::RankedTensorType type, mlir::Location location);
  /// Numbers for a tensor that nothing makes, of its own at each place.
  TensorRef makeUndefined(llvm::StringRef name, llvm::ArrayRef<int64_t> place,
                          mlir::RankedTensorType type, mlir::Location location);
  /// Whole draws of a random op that depend on the place as well.
  TensorRef drawAt(llvm::StringRef name, llvm::ArrayRef<int64_t> place,
                   mlir::RankedTensorType type, mlir::Location location);

private:
  TensorRef draw(tv::ContractRole role, llvm::StringRef name,
                 llvm::ArrayRef<int64_t> place, mlir::RankedTensorType type,
                 mlir::Location location);
  TensorRef take(const GivenTensor &tensor, llvm::StringRef name,
                 mlir::RankedTensorType type, mlir::Location location);

  Workspace &workspace;
  unsigned seed;
  GivenTensors &given;
  bool drawsPositive;
  bool isDrawn = false;
  IndexLimits limits;
  std::map<std::pair<tv::ContractRole, std::string>, TensorRef> known;
};

} // namespace verify

#endif // VERIFY_INTERPRETER_INPUTVALUES_H
