//===- ExecutedOtherwiseTest.cpp - programs that run otherwise -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RuntimeDifferences.h"

#include "mlir/IR/MLIRContext.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <deque>

using namespace verify;
using namespace verify::nnscaler;
using testing::HasSubstr;

namespace {

/// Two devices with one program: `y, z = f(x, x2)`, where `f` is a segment of
/// one op, its backward, and a reducer of two weights that `f` takes first `w`,
/// then `v`.
class ExecutedOtherwiseTest : public testing::Test {
protected:
  /// The number of a gradient is 100 more.
  Argument tensor(int64_t id, bool hasGradient = true) {
    return tensorWith(id, hasGradient ? 100 + id : -1);
  }
  Argument tensorWith(int64_t id, int64_t gradient) {
    SubTensor made;
    made.id = id;
    if (gradient >= 0) {
      made.gradient = plan.subTensors.size();
      plan.subTensors.emplace_back().id = gradient;
    }
    Argument argument;
    argument.isTensor = true;
    argument.tensor = plan.subTensors.size();
    plan.subTensors.push_back(made);
    return argument;
  }
  Argument weight(int64_t id) {
    Argument argument = tensor(id, false);
    SubTensor &made = plan.subTensors[argument.tensor];
    made.isParameter = true;
    made.full = plan.fullTensors.size();
    plan.fullTensors.emplace_back().id = 1000 + id;
    return argument;
  }
  llvm::ArrayRef<Argument> list(std::vector<Argument> arguments) {
    return lists.emplace_back(std::move(arguments));
  }
  Node &node(Index index) { return plan.nodes[index]; }
  Index addNode(NodeKind kind, std::vector<Argument> inputs,
                std::vector<Argument> outputs, std::vector<Index> nodes = {}) {
    Node made;
    made.kind = kind;
    made.id = plan.nodes.size();
    made.inputs = list(std::move(inputs));
    made.outputs = list(std::move(outputs));
    made.nodes = numbers.emplace_back(std::move(nodes));
    plan.nodes.push_back(made);
    return plan.nodes.size() - 1;
  }
  void pair(Index forward, Index backward) {
    node(forward).mirror = backward;
    node(backward).mirror = forward;
    node(backward).isForward = false;
  }
  /// Executes a node on tensors of its own.
  Cell &add(std::vector<Cell> &program, Index index) {
    Cell cell;
    cell.node = index;
    cell.id = 500 + program.size();
    cell.number = nextNumber++;
    cell.inputs = node(index).inputs;
    cell.outputs = node(index).outputs;
    program.push_back(cell);
    return program.back();
  }

  /// An op that takes weights, in a segment with others like it.
  Index addOp(Argument used) {
    return addNode(NodeKind::Forward, {used}, {tensor(50, false)});
  }

  ExecutedOtherwiseTest() {
    x = tensor(1), x2 = tensor(2), y = tensor(3), z = tensor(4);
    w = weight(10), v = weight(11);
    for (int device = 0; device != 2; ++device) {
      Index op = addNode(NodeKind::Forward, {x, x2}, {y, z});
      Index mirror =
          addNode(NodeKind::Backward, {tensor(103, false), tensor(104, false)},
                  {tensor(101, false), tensor(102, false)});
      pair(op, mirror);
      ops[device] = {addOp(w), addOp(v)};
      Index segment = addNode(NodeKind::Segment, {x, x2}, {y, z},
                              {op, ops[device][0], ops[device][1]});
      Index backward = addNode(NodeKind::Segment, node(mirror).inputs.vec(),
                               node(mirror).outputs.vec(), {mirror});
      pair(segment, backward);
      reducers[device] = addNode(NodeKind::WeightReducer, {w, v}, {});
      node(reducers[device]).devices = devices;
      std::vector<Cell> &program = programs[device];
      program.reserve(10);
      Cell &forward = add(program, segment);
      Cell &back = add(program, backward);
      back.mirrorNumber = forward.number;
      add(program, reducers[device]);
    }
  }

  /// Why the plan is executed otherwise; empty if it is not.
  std::string find() {
    plan.programs.clear();
    for (int device = 0; device != 2; ++device)
      plan.programs.push_back({device, programs[device]});
    mlir::MLIRContext context;
    RuntimeDifferences found = findRuntimeDifferences(plan, &context);
    return found.first ? found.first->reason.str() : "";
  }
  Cell &forward() { return programs[1][0]; }
  Cell &backward() { return programs[1][1]; }

  PlanFile plan;
  std::deque<std::vector<Argument>> lists;
  std::deque<std::vector<Index>> numbers;
  Argument x, x2, y, z, w, v;
  std::array<Index, 2> ops[2];
  Index reducers[2];
  std::vector<Cell> programs[2];
  Index nextNumber = 0;
  const std::vector<int64_t> devices = {0, 1};
};

TEST_F(ExecutedOtherwiseTest, None) { EXPECT_EQ(find(), ""); }

TEST_F(ExecutedOtherwiseTest, GradientsOfTheExecution) {
  // The runtime asks the tensors of the execution which gradients they have.
  forward().outputs = list({tensorWith(3, 104), tensorWith(4, 103)});
  EXPECT_THAT(find(), HasSubstr("of something else in the execution"));
  // As in the other order: it is a pair that counts, not a place.
  backward().inputs = list({tensor(104, false), tensor(103, false)});
  EXPECT_EQ(find(), "");
}

TEST_F(ExecutedOtherwiseTest, OneGradientOfTwoOutputs) {
  std::vector<Argument> outputs = {tensorWith(3, 103), tensorWith(4, 103)};
  std::vector<Argument> starts = {tensor(103, false), tensor(103, false)};
  forward().outputs = node(forward().node).outputs = list(outputs);
  backward().inputs = node(backward().node).inputs = list(starts);
  EXPECT_THAT(find(),
              HasSubstr("this backward starts from one gradient twice"));
}

TEST_F(ExecutedOtherwiseTest, InputsThatAreOneTensor) {
  forward().inputs = list({x, tensorWith(1, 102)});
  EXPECT_THAT(find(), HasSubstr("two inputs of this segment are one tensor"));
}

TEST_F(ExecutedOtherwiseTest, InputsThatAreOneVariable) {
  // An identity gives what it takes, under another name.
  std::vector<Primitive> pass(1), again(1);
  pass[0].name = again[0].name = "IdentityPrim";
  pass[0].inputs = again[0].inputs = again[0].outputs = list({x});
  pass[0].outputs = list({x2});
  Index first = addNode(NodeKind::Adapter, {x}, {x2});
  Index second = addNode(NodeKind::Adapter, {x}, {x});
  node(first).primitives = pass;
  node(second).primitives = again;
  std::vector<Cell> cells;
  cells.reserve(3);
  add(cells, first);
  programs[1].insert(programs[1].begin(), cells.begin(), cells.end());
  EXPECT_THAT(find(), HasSubstr("two inputs of this segment are one tensor"));
  // Nor does a second one in place tell them apart, or sending.
  add(cells, second);
  programs[1].insert(programs[1].begin() + 1, cells.back());
  EXPECT_THAT(find(), HasSubstr("two inputs of this segment are one tensor"));
  pass[0].name = "BroadcastPrim";
  EXPECT_THAT(find(), HasSubstr("two inputs of this segment are one tensor"));
  // What is summed is another tensor, and so is what is bound again.
  again[0].name = "AllReducePrim";
  EXPECT_EQ(find(), "");
  again[0].name = pass[0].name = "IdentityPrim";
  pass[0].name = "AllReducePrim";
  EXPECT_EQ(find(), "");
}

TEST_F(ExecutedOtherwiseTest, AnotherMirror) {
  // Whatever number that has.
  backward().mirrorNumber = none;
  EXPECT_THAT(find(), HasSubstr("whose execution it is said to follow"));
  backward().mirrorNumber = programs[0][0].number;
  EXPECT_THAT(find(), HasSubstr("whose execution it is said to follow"));
}

TEST_F(ExecutedOtherwiseTest, Reducers) {
  std::swap(programs[1][1], programs[1][2]);
  EXPECT_THAT(find(), HasSubstr("adds to a gradient that was reduced"));
  // A reducer of others may.
  node(reducers[1]).inputs = list({weight(12), weight(13)});
  node(reducers[0]).inputs = node(reducers[1]).inputs;
  EXPECT_EQ(find(), "");
  std::swap(programs[1][1], programs[1][2]);
  programs[1].push_back(programs[1][2]);
  EXPECT_THAT(find(), HasSubstr("a gradient is reduced twice"));
}

TEST_F(ExecutedOtherwiseTest, OrderOfFirstUses) {
  // That of the weights in the reducer does not count.
  node(reducers[1]).inputs = list({v, w});
  EXPECT_EQ(find(), "");
  std::swap(node(ops[1][0]).inputs, node(ops[1][1]).inputs);
  EXPECT_THAT(find(), HasSubstr("the runtime sums buffers of gradients"));
  // Nor does it where each device reduces by itself.
  node(reducers[0]).devices = llvm::ArrayRef(devices).take_front();
  node(reducers[1]).devices = llvm::ArrayRef(devices).drop_front();
  EXPECT_EQ(find(), "");
}

TEST_F(ExecutedOtherwiseTest, OtherBuffers) {
  node(reducers[1]).inputs = list({w});
  EXPECT_THAT(find(), HasSubstr("the runtime sums buffers of gradients"));
  Index another = addNode(NodeKind::WeightReducer, {v}, {});
  node(another).devices = devices;
  add(programs[1], another);
  EXPECT_THAT(find(), HasSubstr("the runtime sums buffers of gradients"));
  std::swap(programs[0], programs[1]);
  EXPECT_THAT(find(), HasSubstr("the runtime sums buffers of gradients"));
  node(reducers[0]).inputs = list({w});
  EXPECT_THAT(find(), HasSubstr("one more reducer"));
}

TEST_F(ExecutedOtherwiseTest, ReducersOfSeveralGroups) {
  // Each device has one of another group as well, and device 1 two.
  const std::vector<int64_t> groups[] = {{0, 2}, {1, 2}, {1, 3}};
  const int holders[] = {0, 1, 1};
  for (auto [number, device] : llvm::enumerate(holders)) {
    Index another = addNode(NodeKind::WeightReducer, {weight(20 + number)}, {});
    node(another).devices = groups[number];
    add(programs[device], another);
  }
  EXPECT_EQ(find(), "");
}

TEST_F(ExecutedOtherwiseTest, Slices) {
  const Range halves[] = {{0, 2}, {2, 4}};
  Argument part = weight(10);
  plan.subTensors[w.tensor].slice = halves[0];
  plan.subTensors[part.tensor].slice = halves[1];
  plan.subTensors[part.tensor].full = plan.subTensors[w.tensor].full;
  node(reducers[1]).inputs = list({part, v});
  EXPECT_THAT(find(), HasSubstr("the runtime sums buffers of gradients"));
}

TEST_F(ExecutedOtherwiseTest, Recomputation) {
  std::vector<Argument> ranks(2);
  ranks[1].setInteger(1);
  ranks[0].setInteger(0);
  const ConstantParts parts = {"", ranks};
  KeywordArgument keyword = {"ranks", {}};
  keyword.value.setParts(ConstantKind::List, &parts);
  std::vector<Primitive> sum(1);
  sum[0].name = "AllReducePrim";
  sum[0].keywords = keyword;
  Index adapters[2], between[2];
  for (int device = 0; device != 2; ++device) {
    adapters[device] =
        addNode(NodeKind::Adapter, {tensor(60, false)}, {tensor(61, false)});
    node(adapters[device]).primitives = sum;
    node(adapters[device]).recompute = 7;
    Node &segment = node(programs[device][0].node);
    std::vector<Index> &longer = numbers.emplace_back(segment.nodes.vec());
    longer.push_back(adapters[device]);
    segment.nodes = longer;
  }
  EXPECT_EQ(find(), "");
  node(adapters[1]).recompute = -1;
  EXPECT_THAT(find(), HasSubstr("or not all of them"));
  // A second one, in one part with the first.
  for (int device = 0; device != 2; ++device) {
    Index another =
        addNode(NodeKind::Adapter, {tensor(61, false)}, {tensor(62, false)});
    node(another).primitives = sum;
    between[device] = addNode(NodeKind::Forward, {}, {});
    for (Index each : {adapters[device], between[device], another})
      node(each).recompute = 7;
    Node &segment = node(programs[device][0].node);
    std::vector<Index> &longer = numbers.emplace_back(segment.nodes.vec());
    longer.push_back(between[device]);
    longer.push_back(another);
    segment.nodes = longer;
  }
  EXPECT_EQ(find(), "");
  // What lies between cuts it, on one device.
  node(between[1]).recompute = -1;
  EXPECT_THAT(find(), HasSubstr("in another order"));
  node(between[0]).recompute = 8;
  EXPECT_EQ(find(), "");
}

} // namespace
