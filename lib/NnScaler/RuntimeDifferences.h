//===- RuntimeDifferences.h - what is executed otherwise --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the code that nnScaler makes of a plan (nnscaler/codegen) and its
// runtime (nnscaler/runtime/executor.py) do otherwise than the plan is read.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_NNSCALER_RUNTIMEDIFFERENCES_H
#define VERIFY_LIB_NNSCALER_RUNTIMEDIFFERENCES_H

#include "Importer.h"

#include <map>

namespace verify::nnscaler {

struct RuntimeDifference {
  const Node *node;
  llvm::StringRef reason;
};

/// What was found of a plan.
struct RuntimeDifferences {
  /// The first difference; nothing is proved of a plan that has any.
  std::optional<RuntimeDifference> first;
  /// Where the plan is taken at its word, which the report says; or empty.
  std::string assumption;
};

RuntimeDifferences findRuntimeDifferences(const PlanFile &plan,
                                          mlir::MLIRContext *context);

/// Compares a backward segment with what autograd does after its forward one.
class BackwardComparison {
public:
  BackwardComparison(const PlanFile &plan, const Node &forward,
                     const Node &backward);
  std::optional<RuntimeDifference> find();
  /// What the forward segment gives after an adapter has replaced it, with the
  /// gradient of what it was before; or null.
  const SubTensor *getReplaced() const { return replaced; }

private:
  /// What a tensor's number stands for, where the walk is.
  struct Bound {
    int64_t gradient = -1; ///< its number, -1 if there is none
    bool isOver = false;   ///< gradients that are added come too late
    /// The gradient of the value that an adapter has replaced; -1 if none has.
    int64_t replaced = -1;
    /// Whether nobody asks for its gradient, whatever numbers that has.
    bool isData = false;
  };

  const SubTensor &get(const Argument &argument) const {
    return plan.subTensors[argument.tensor];
  }
  /// The number of a tensor's gradient, -1 if it has none.
  int64_t getGradient(const SubTensor &tensor) const;
  /// Whether these are the gradients of the tensors that have one, in order.
  bool areGradients(llvm::ArrayRef<Argument> gradients,
                    llvm::ArrayRef<Argument> tensors) const;
  bool note(const Node &node, llvm::StringRef reason) {
    difference = {&node, reason};
    return false;
  }
  // Each returns false, having noted it, at a difference.
  bool compareOrder();
  bool walk();
  bool visit(const Node &op);
  bool compareMirror(const Node &op);
  bool checkWithoutMirror(const Node &op);
  /// Whether nothing reads what an op gives of numbers that have gradients.
  bool isUnread(const Node &op);
  bool take(const SubTensor &tensor, const Node &op);
  /// `before` is the operand of an adapter.
  bool give(const SubTensor &tensor, const Node &op, const SubTensor *before);
  /// Whether the backward of an adapter is an identity.
  bool passesGradient(const Node &adapter) const;

  const PlanFile &plan;
  const Node &forward, &backward;
  llvm::DenseSet<int64_t> read;         ///< by tensor id, once it was asked for
  llvm::DenseMap<int64_t, Bound> bound; ///< by tensor id
  llvm::DenseSet<int64_t> gradients;    ///< of what was given, by number
  llvm::DenseMap<int64_t, int64_t> dataGradients; ///< tensors, by gradient
  std::optional<RuntimeDifference> difference;
  const SubTensor *replaced = nullptr;
};

/// Compares what the devices of a group have to do alike, as it is done
/// together, and which the plan does not say of each value.
class DeviceComparison {
public:
  explicit DeviceComparison(const PlanFile &plan) : plan(plan) {}
  std::optional<RuntimeDifference> find(mlir::MLIRContext *context);

private:
  /// Sums buffers that hold these weights, one after the other.
  struct Reducer {
    const Node *node;
    llvm::SmallVector<const SubTensor *> weights;
  };
  using Group = std::vector<int64_t>;

  const SubTensor &get(const Argument &argument) const {
    return plan.subTensors[argument.tensor];
  }
  /// The reducers of a program over several devices of a replica, in order.
  llvm::SmallVector<Reducer> listReducers(const DeviceProgram &program) const;
  bool compareReducers(llvm::MutableArrayRef<Reducer> found);
  bool compareRecomputed(const DeviceProgram &program);

  const PlanFile &plan;
  // What the first device of a group does, in order.
  std::map<Group, llvm::SmallVector<Reducer>> reducers;
  std::map<Group, llvm::SmallVector<size_t>> recomputed;
  std::optional<RuntimeDifference> difference;
};

} // namespace verify::nnscaler

#endif // VERIFY_LIB_NNSCALER_RUNTIMEDIFFERENCES_H
