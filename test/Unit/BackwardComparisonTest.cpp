//===- BackwardComparisonTest.cpp - what autograd makes of a segment ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeDifferences.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <deque>

using namespace verify;
using namespace verify::nnscaler;
using testing::HasSubstr;

namespace {

/// A segment of `t = linear(x, w)`, an adapter from `t` to `u`, `y = sum(u)`,
/// and its backward. Tensor i has the gradient 10 + i.
class BackwardComparisonTest : public testing::Test {
protected:
  BackwardComparisonTest() {
    weight.isParameter = weight.requiresGradient = true;
    weight.name = "w";
    add("linear", {x, weight}, {t});
    add("adapter", {t}, {u}).kind = NodeKind::Adapter;
    add("sum", {u}, {y});
  }

  struct Op {
    llvm::StringRef name;
    std::vector<SubTensor> inputs, outputs;
    NodeKind kind = NodeKind::Forward;
    llvm::StringRef forward = "IdentityAllreducePrim", backward = forward;
    bool isDifferentiable = true, isMirrorDifferentiable = true;
    bool isCustom = false, isMirrorCustom = false;
    bool hasMirror = true;
    std::vector<SubTensor> mirrorInputs, mirrorOutputs;
  };

  static SubTensor getTensor(int64_t id, bool hasGradient = true) {
    SubTensor tensor;
    tensor.id = id;
    // An index until the plan is built, which is the number of the gradient.
    tensor.gradient = hasGradient ? 10 + id : none;
    return tensor;
  }
  static std::vector<SubTensor> getGradients(llvm::ArrayRef<SubTensor> list) {
    std::vector<SubTensor> gradients;
    for (const SubTensor &tensor : list)
      if (tensor.gradient != none)
        gradients.push_back(getTensor(tensor.gradient, false));
    return gradients;
  }
  Op &add(llvm::StringRef name, std::vector<SubTensor> in,
          std::vector<SubTensor> out) {
    Op op;
    op.name = name;
    op.inputs = std::move(in);
    op.outputs = std::move(out);
    op.mirrorInputs = getGradients(op.outputs);
    op.mirrorOutputs = getGradients(op.inputs);
    ops.push_back(std::move(op));
    return ops.back();
  }
  /// Gives a tensor another gradient, in the mirror as well.
  static void setGradient(Op &op, SubTensor &tensor, int64_t id) {
    tensor.gradient = id;
    op.mirrorInputs = getGradients(op.outputs);
    op.mirrorOutputs = getGradients(op.inputs);
  }

  llvm::ArrayRef<Argument> getArguments(llvm::ArrayRef<SubTensor> list) {
    std::vector<Argument> &arguments = lists.emplace_back();
    for (SubTensor tensor : list) {
      if (tensor.gradient != none) {
        plan.subTensors.push_back(getTensor(tensor.gradient, false));
        tensor.gradient = plan.subTensors.size() - 1;
      }
      arguments.emplace_back();
      arguments.back().isTensor = true;
      arguments.back().tensor = plan.subTensors.size();
      plan.subTensors.push_back(tensor);
    }
    return arguments;
  }
  llvm::ArrayRef<Primitive> getPrimitives(llvm::StringRef name) {
    std::vector<Primitive> &list = primitives.emplace_back(1);
    list[0].name = name;
    return list;
  }

  /// Why the two differ; empty if they do not.
  std::string compare() {
    std::vector<Index> &forward = lines.emplace_back();
    std::vector<Index> &backward = lines.emplace_back();
    for (const Op &op : ops) {
      Node node, mirror;
      node.kind = op.kind;
      node.signature = op.name;
      node.inputs = getArguments(op.inputs);
      node.outputs = getArguments(op.outputs);
      node.primitives = getPrimitives(op.forward);
      node.isDifferentiable = op.isDifferentiable;
      node.isCustom = op.isCustom;
      mirror.kind =
          op.kind == NodeKind::Adapter ? NodeKind::Adapter : NodeKind::Backward;
      mirror.isForward = false;
      mirror.isDifferentiable = op.isMirrorDifferentiable;
      mirror.isCustom = op.isMirrorCustom;
      mirror.primitives = getPrimitives(op.backward);
      mirror.inputs = getArguments(op.mirrorInputs);
      mirror.outputs = getArguments(op.mirrorOutputs);
      Index index = plan.nodes.size();
      if (op.hasMirror) {
        node.mirror = index + 1;
        mirror.mirror = index;
        backward.insert(backward.begin(), index + 1);
      }
      forward.push_back(index);
      plan.nodes.push_back(node);
      plan.nodes.push_back(mirror);
    }
    if (isExchanged)
      std::swap(backward[0], backward[1]);
    if (isLonger)
      backward.push_back(forward.back() + 1);
    plan.nodes.emplace_back();
    plan.nodes.emplace_back();
    Node &segment = plan.nodes[plan.nodes.size() - 2],
         &mirror = plan.nodes.back();
    segment.kind = mirror.kind = NodeKind::Segment;
    segment.nodes = forward;
    mirror.nodes = backward;
    mirror.outputs = getArguments(getGradients(inputs));
    if (isData)
      mirror.outputs = {};
    segment.inputs = getArguments(inputs);
    segment.outputs = getArguments(outputs);
    mirrorOfSegment = plan.nodes.size() - 1;
    segment.mirror = mirrorOfSegment;
    mirror.mirror = mirrorOfSegment - 1;
    BackwardComparison comparison(plan, segment, mirror);
    std::optional<RuntimeDifference> found = comparison.find();
    replaced = comparison.getReplaced() ? comparison.getReplaced()->id : -1;
    return found ? found->reason.str() : "";
  }

  SubTensor x = getTensor(1), weight = getTensor(2), t = getTensor(3),
            u = getTensor(4), y = getTensor(5);
  std::deque<Op> ops;
  std::vector<SubTensor> inputs = {x}, outputs = {y};
  bool isExchanged = false, isLonger = false, isData = false;
  int64_t replaced = -1;
  Index mirrorOfSegment = none;
  PlanFile plan;
  std::deque<std::vector<Argument>> lists;
  std::deque<std::vector<Primitive>> primitives;
  std::deque<std::vector<Index>> lines;
};

TEST_F(BackwardComparisonTest, Agrees) { EXPECT_EQ(compare(), ""); }

TEST_F(BackwardComparisonTest, Order) {
  isExchanged = true;
  EXPECT_THAT(compare(), HasSubstr("in reverse order"));
}

TEST_F(BackwardComparisonTest, BackwardOfNothing) {
  isLonger = true;
  EXPECT_THAT(compare(), HasSubstr("the backward of nothing"));
}

TEST_F(BackwardComparisonTest, OtherGradients) {
  ops[2].mirrorOutputs[0].id = 99;
  EXPECT_THAT(compare(), HasSubstr("other tensors than the gradients"));
}

TEST_F(BackwardComparisonTest, MissingGradient) {
  ops[0].mirrorOutputs.pop_back();
  EXPECT_THAT(compare(), HasSubstr("other tensors than the gradients"));
}

TEST_F(BackwardComparisonTest, MoreGradients) {
  ops[2].mirrorInputs.push_back(getTensor(99, false));
  EXPECT_THAT(compare(), HasSubstr("other tensors than the gradients"));
}

TEST_F(BackwardComparisonTest, NotDifferentiable) {
  ops[1].isDifferentiable = false;
  EXPECT_THAT(compare(), HasSubstr("in the same way"));
}

TEST_F(BackwardComparisonTest, MirrorNotDifferentiable) {
  ops[1].isMirrorDifferentiable = false;
  EXPECT_THAT(compare(), HasSubstr("in the same way"));
}

TEST_F(BackwardComparisonTest, CustomForward) {
  ops[1].isCustom = true;
  EXPECT_THAT(compare(), HasSubstr("in the same way"));
}

TEST_F(BackwardComparisonTest, CustomAdaptersHaveTheirMirrorsPrimitives) {
  ops[1].isCustom = ops[1].isMirrorCustom = true;
  ops[1].backward = "ChunkPrim";
  EXPECT_EQ(compare(), "");
}

TEST_F(BackwardComparisonTest, OtherPrimitive) {
  ops[1].forward = "IdentityPrim";
  EXPECT_THAT(compare(), HasSubstr("is not that of the primitives"));
}

TEST_F(BackwardComparisonTest, ParameterWithoutGradient) {
  setGradient(ops[0], ops[0].inputs[1], none);
  EXPECT_THAT(compare(), HasSubstr("gives this parameter a gradient"));
}

TEST_F(BackwardComparisonTest, ParameterTakenTwice) {
  ops[2].inputs.push_back(weight);
  setGradient(ops[2], ops[2].inputs[1], 97);
  EXPECT_EQ(compare(), "") << "each use has a gradient of its own";
}

TEST_F(BackwardComparisonTest, SeveralGradientsOfOneTensor) {
  add("sum", {x}, {getTensor(6)});
  EXPECT_EQ(compare(), "") << "autograd adds up what has one number";
  setGradient(ops[3], ops[3].inputs[0], 98);
  EXPECT_THAT(compare(), HasSubstr("of what it takes"));
}

TEST_F(BackwardComparisonTest, OneGradientOfTwoTensors) {
  add("sum", {x}, {getTensor(6)});
  setGradient(ops[3], ops[3].outputs[0], 13);
  EXPECT_THAT(compare(), HasSubstr("two tensors in one"));
}

TEST_F(BackwardComparisonTest, OneGradientOfWhatAnAdapterDoesNotTake) {
  setGradient(ops[1], ops[1].outputs[0], 11);
  setGradient(ops[2], ops[2].inputs[0], 11);
  EXPECT_THAT(compare(), HasSubstr("two tensors in one"));
}

TEST_F(BackwardComparisonTest, OneGradientOfTwoInputs) {
  SubTensor other = getTensor(6);
  other.gradient = x.gradient;
  inputs.push_back(other);
  EXPECT_THAT(compare(), HasSubstr("two tensors in one"));
}

TEST_F(BackwardComparisonTest, GradientsOfInputsThatNobodyAsksFor) {
  inputs[0].gradient = 95;
  EXPECT_THAT(compare(), HasSubstr("of what it takes"));
  isData = true;
  EXPECT_EQ(compare(), "");
  outputs.push_back(inputs[0]);
  add("sum", {x}, {getTensor(6)});
  setGradient(ops[3], ops[3].inputs[0], 94);
  EXPECT_EQ(compare(), "") << "nor what they are added up to";
  setGradient(ops[3], ops[3].inputs[0], 14);
  EXPECT_THAT(compare(), HasSubstr("two tensors in one"));
  setGradient(ops[3], ops[3].inputs[0], 94);
  setGradient(ops[1], ops[1].outputs[0], 11);
  setGradient(ops[2], ops[2].inputs[0], 11);
  EXPECT_THAT(compare(), HasSubstr("two tensors in one"));
}

TEST_F(BackwardComparisonTest, BackwardInPlace) {
  setGradient(ops[1], ops[1].outputs[0], 13);
  setGradient(ops[2], ops[2].inputs[0], 13);
  EXPECT_EQ(compare(), "");
  // What takes the operand later adds its gradient before the adapter does.
  add("sum", {t}, {getTensor(6)});
  EXPECT_THAT(compare(), HasSubstr("of what it takes"));
  ops[1].forward = ops[1].backward = "AllReduceIdentityPrim";
  EXPECT_EQ(compare(), "") << "an identity does not tell";
  ops[1].isCustom = ops[1].isMirrorCustom = true;
  EXPECT_THAT(compare(), HasSubstr("of what it takes"));
  ops[1].backward = "IdentityPrim";
  EXPECT_EQ(compare(), "");
}

TEST_F(BackwardComparisonTest, BackwardInPlaceOfAnOutput) {
  setGradient(ops[1], ops[1].outputs[0], 13);
  setGradient(ops[2], ops[2].inputs[0], 13);
  outputs.push_back(t);
  EXPECT_THAT(compare(), HasSubstr("of what it gives"));
}

TEST_F(BackwardComparisonTest, GivenTwice) {
  add("sum", {u}, {getTensor(3)});
  EXPECT_THAT(compare(), HasSubstr("two tensors in one"));
  setGradient(ops.back(), ops.back().outputs[0], 93);
  EXPECT_EQ(compare(), "") << "each value has a gradient of its own";
  add("sum", {t}, {getTensor(6)});
  EXPECT_THAT(compare(), HasSubstr("of what it takes"));
  setGradient(ops.back(), ops.back().inputs[0], 93);
  EXPECT_EQ(compare(), "") << "it is of the last value";
}

TEST_F(BackwardComparisonTest, ForwardInPlace) {
  ops[1].outputs[0].id = ops[2].inputs[0].id = 3;
  EXPECT_EQ(compare(), "");
  SubTensor after = t;
  after.gradient = u.gradient;
  outputs.push_back(after);
  EXPECT_EQ(compare(), "");
  EXPECT_EQ(replaced, -1);
  outputs.back() = t;
  EXPECT_EQ(compare(), "");
  EXPECT_EQ(replaced, 3) << "the gradient is that of the value before";
  outputs.back().gradient = 96;
  EXPECT_THAT(compare(), HasSubstr("of what it gives"));
}

TEST_F(BackwardComparisonTest, InPlaceBothWays) {
  ops[1].outputs[0] = ops[2].inputs[0] = t;
  setGradient(ops[1], ops[1].outputs[0], 13);
  setGradient(ops[2], ops[2].inputs[0], 13);
  EXPECT_EQ(compare(), "");
}

TEST_F(BackwardComparisonTest, OutputWithAnotherGradient) {
  outputs[0].gradient = 96;
  EXPECT_THAT(compare(), HasSubstr("of what it gives"));
}

TEST_F(BackwardComparisonTest, OpsWithoutMirror) {
  SubTensor mask = getTensor(6, false), taken = x;
  taken.gradient = none;
  Op &op = add("model.create_mask", {taken}, {mask});
  op.hasMirror = false;
  outputs.push_back(mask);
  EXPECT_EQ(compare(), "") << "it does not look at what it takes";
  op.name = "torch.neg";
  EXPECT_THAT(compare(), HasSubstr("the backward of this op"));
  op.inputs[0] = getTensor(7, false);
  EXPECT_EQ(compare(), "");
  op.inputs[0].isParameter = op.inputs[0].requiresGradient = true;
  EXPECT_THAT(compare(), HasSubstr("the backward of this op"));
  op.inputs.clear();
  op.outputs[0].gradient = 16;
  EXPECT_THAT(compare(), HasSubstr("the backward of this op"));
}

TEST_F(BackwardComparisonTest, TypesOfOthers) {
  SubTensor mask = getTensor(6, false), given = getTensor(7, false);
  Op &op = add("torch.Tensor.type_as", {mask, getTensor(1)}, {given});
  op.hasMirror = false;
  outputs.push_back(given);
  EXPECT_EQ(compare(), "");
  std::swap(op.inputs[0], op.inputs[1]);
  EXPECT_THAT(compare(), HasSubstr("the backward of this op"));
}

TEST_F(BackwardComparisonTest, DetachedTensors) {
  SubTensor taken = getTensor(6), given = getTensor(7, false);
  ops.front().outputs.push_back(taken);
  ops.front().mirrorInputs = getGradients(ops.front().outputs);
  Op &op = add("torch.Tensor.detach", {taken}, {given});
  outputs.push_back(given);
  EXPECT_THAT(compare(), HasSubstr("passes no gradient through this op"));
  op.hasMirror = false;
  EXPECT_EQ(compare(), "");
  op.outputs[0].gradient = 17;
  EXPECT_THAT(compare(), HasSubstr("the backward of this op"));
  op.outputs[0].gradient = none;
  op.name = "torch.clone";
  EXPECT_THAT(compare(), HasSubstr("the backward of this op"));
}

TEST_F(BackwardComparisonTest, WhatNobodyReads) {
  SubTensor taken = getTensor(6), values = getTensor(7, false),
            places = getTensor(8, false), last = getTensor(9, false);
  values.elementType = "float32";
  places.elementType = "int64";
  ops.front().outputs.push_back(taken);
  ops.front().mirrorInputs = getGradients(ops.front().outputs);
  add("torch.topk", {taken}, {values, places}).hasMirror = false;
  EXPECT_EQ(compare(), "");
  // Integers have no gradients.
  outputs.push_back(places);
  EXPECT_EQ(compare(), "");
  outputs.push_back(values);
  EXPECT_THAT(compare(), HasSubstr("the backward of this op"));
  outputs.pop_back();
  add("torch.zeros_like", {values}, {last}).hasMirror = false;
  EXPECT_THAT(compare(), HasSubstr("the backward of this op"));
}

TEST_F(BackwardComparisonTest, AdaptersWithoutMirror) {
  SubTensor taken = x;
  taken.gradient = none;
  Op &op = add("adapter", {taken}, {getTensor(6, false)});
  op.kind = NodeKind::Adapter;
  op.hasMirror = op.isDifferentiable = false;
  op.forward = "AllReducePrim";
  EXPECT_EQ(compare(), "") << "it detaches what it gives";
  op.forward = "IdentityPrim";
  EXPECT_THAT(compare(), HasSubstr("the backward of this op"));
  op.isDifferentiable = true;
  EXPECT_THAT(compare(), HasSubstr("the backward of this adapter"));
  op.isDifferentiable = false;
  op.forward = "AllReducePrim";
  op.outputs[0].gradient = 16;
  EXPECT_THAT(compare(), HasSubstr("no gradient passes"));
}

/// The segment and its backward, and an adapter that sends what that gives.
class RuntimeDifferencesTest : public BackwardComparisonTest {
protected:
  RuntimeDifferencesTest() {
    SubTensor second = getTensor(6);
    add("sum", {second}, {getTensor(7)});
    inputs.push_back(second);
    outputs.push_back(getTensor(7));
    given = getGradients(inputs);
    read = {0, 1};
  }

  std::string find() {
    EXPECT_EQ(compare(), "");
    std::vector<Cell> cells(3);
    Node adapter;
    adapter.kind = NodeKind::Adapter;
    plan.nodes.push_back(adapter);
    for (auto [number, cell] : llvm::enumerate(cells)) {
      cell.node = mirrorOfSegment - 1 + number;
      cell.id = cell.number = number;
    }
    cells[0].inputs = getArguments(inputs);
    cells[0].outputs = getArguments(outputs);
    cells[1].mirror = cells[1].mirrorNumber = 0;
    cells[1].inputs = getArguments(getGradients(outputs));
    cells[1].outputs = getArguments(given);
    std::vector<SubTensor> sent;
    sent.reserve(read.size());
    for (size_t number : read)
      sent.push_back(given[number]);
    cells[2].inputs = getArguments(sent);
    DeviceProgram program;
    program.cells = cells;
    plan.programs.push_back(program);
    mlir::MLIRContext context;
    RuntimeDifferences found = findRuntimeDifferences(plan, &context);
    assumption = found.assumption;
    return found.first ? found.first->reason.str() : "";
  }

  std::vector<SubTensor> given; ///< by the execution of the backward segment
  std::vector<size_t> read;     ///< of these
  std::string assumption;
};

TEST_F(RuntimeDifferencesTest, Agrees) {
  EXPECT_EQ(find(), "");
  EXPECT_EQ(assumption, "");
}

TEST_F(RuntimeDifferencesTest, GradientsInAnotherOrder) {
  std::swap(given[0], given[1]);
  EXPECT_THAT(find(), HasSubstr("in their order"));
}

TEST_F(RuntimeDifferencesTest, GradientsInAnotherOrderThatNobodyReads) {
  std::swap(given[0], given[1]);
  read = {};
  EXPECT_EQ(find(), "");
}

TEST_F(RuntimeDifferencesTest, GradientThatOnlyItsOwnBackwardReads) {
  given = getGradients(outputs);
  read = {};
  EXPECT_EQ(find(), "");
}

TEST_F(RuntimeDifferencesTest, MoreGradientsThanInputs) {
  given.push_back(getTensor(77, false));
  read = {2};
  EXPECT_THAT(find(), HasSubstr("in their order"));
}

TEST_F(RuntimeDifferencesTest, ReplacedOutput) {
  ops[1].outputs[0].id = ops[2].inputs[0].id = 3;
  outputs.push_back(t);
  EXPECT_EQ(find(), "");
  EXPECT_THAT(assumption, HasSubstr("(tensor 3)"));
}

} // namespace
