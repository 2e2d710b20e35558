//===- PlanFileTest.cpp - how plans are decoded -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the tables of a plan hold for the objects of its file, and which forms
// Python may give to one and the same thing.
//
//===----------------------------------------------------------------------===//

#include "PlanBytes.h"

#include "llvm/Support/raw_ostream.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <fstream>
#include <set>

#ifdef __linux__
#include <unistd.h>
#endif

using namespace verify;
using namespace verify::nnscaler;
using testing::ElementsAre;

namespace {

class PlanFileTest : public testing::Test {
protected:
  void SetUp() override { writer = getSamplePlan(); }

  /// Reads the plan; on an error the test fails and the plan is empty.
  const PlanFile &read() {
    llvm::Expected<PlanFile> result = readPlan(writer);
    if (result)
      plan = std::make_unique<PlanFile>(std::move(*result));
    else
      plan = std::make_unique<PlanFile>();
    EXPECT_TRUE(!!result) << llvm::toString(result.takeError());
    return *plan;
  }
  const Node &getNode(int64_t id) const {
    for (const Node &node : plan->nodes)
      if (node.id == id)
        return node;
    ADD_FAILURE() << "no node " << id;
    static Node missing;
    return missing;
  }
  const SubTensor &getTensor(llvm::StringRef name) const {
    for (const SubTensor &tensor : plan->subTensors)
      if (tensor.name == name)
        return tensor;
    ADD_FAILURE() << "no tensor " << name.str();
    static SubTensor missing;
    return missing;
  }
  /// What a keyword argument of the linear op becomes.
  Argument decode(PlanWriter::Expression value) {
    writer.set("linear", "_kwargs",
               dictionary({{string("value"), std::move(value)}}));
    read();
    const Node &node = getNode(20);
    return node.keywords.size() == 1 ? node.keywords[0].value : Argument();
  }

  PlanWriter writer;
  std::unique_ptr<PlanFile> plan;
};

TEST_F(PlanFileTest, Root) {
  read();
  EXPECT_THAT(plan->devices, ElementsAre(0));
  EXPECT_EQ(plan->runtimeDevices, 2);
  EXPECT_TRUE(plan->enableDataParallel);
  ASSERT_EQ(plan->outputs.size(), 1u);
  EXPECT_EQ(plan->subTensors[plan->outputs[0].tensor].name, "y");
  EXPECT_EQ(plan->fullTensors.size(), 6u);
  EXPECT_EQ(plan->subTensors.size(), 6u);
  EXPECT_EQ(plan->nodes.size(), 8u);
}

TEST_F(PlanFileTest, Cells) {
  read();
  ASSERT_EQ(plan->programs.size(), 1u);
  EXPECT_EQ(plan->programs[0].device, 0);
  auto cells = plan->programs[0].cells;
  ASSERT_EQ(cells.size(), 4u);
  EXPECT_FALSE(cells[0].isReuse);
  EXPECT_EQ(cells[0].id, 10);
  EXPECT_EQ(cells[0].mirror, -1);
  ASSERT_EQ(cells[0].outputs.size(), 1u);
  EXPECT_EQ(plan->subTensors[cells[0].outputs[0].tensor].name, "x");
  EXPECT_TRUE(cells[1].isReuse);
  EXPECT_EQ(cells[1].id, 30);
  EXPECT_EQ(cells[1].mirror, 31);
  EXPECT_EQ(plan->nodes[cells[1].node].id, 11);
  EXPECT_EQ(plan->nodes[cells[3].node].kind, NodeKind::WeightReducer);
}

TEST_F(PlanFileTest, CellsThatAreNotReused) {
  writer.set("plan", "_seq",
             dictionary({{integer(0),
                          tuple({object("forward"), object("backward")})}}));
  read();
  auto cells = plan->programs[0].cells;
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_EQ(cells[0].id, 11);
  EXPECT_EQ(cells[0].mirror, 12);
  EXPECT_EQ(cells[0].inputs.data(), plan->nodes[cells[0].node].inputs.data());
}

TEST_F(PlanFileTest, Segment) {
  read();
  const Node &segment = getNode(11);
  EXPECT_EQ(segment.kind, NodeKind::Segment);
  EXPECT_EQ(segment.className, "IRSegment");
  EXPECT_THAT(segment.devices, ElementsAre(0));
  ASSERT_EQ(segment.nodes.size(), 2u);
  EXPECT_EQ(plan->nodes[segment.nodes[0]].id, 20);
  EXPECT_EQ(plan->nodes[segment.mirror].id, 12);
  EXPECT_EQ(&plan->nodes[plan->nodes[segment.mirror].mirror], &segment);
}

TEST_F(PlanFileTest, ForwardOp) {
  read();
  const Node &linear = getNode(20);
  EXPECT_EQ(linear.kind, NodeKind::Forward);
  EXPECT_EQ(linear.name, "linear");
  EXPECT_EQ(linear.signature, "a.linear");
  EXPECT_EQ(linear.file, "model.py");
  EXPECT_EQ(linear.line, 12u);
  ASSERT_EQ(linear.keywords.size(), 1u);
  EXPECT_EQ(linear.keywords[0].name, "bias");
  EXPECT_EQ(linear.keywords[0].value.kind, ConstantKind::None);
  EXPECT_EQ(getNode(21).kind, NodeKind::Backward);
  EXPECT_EQ(&plan->nodes[linear.mirror], &getNode(21));
}

TEST_F(PlanFileTest, CommentsThatAreNoPlaces) {
  for (llvm::StringRef comment :
       {"", "created by a pass", "File \"x.py", "File \"x.py\", line x"}) {
    writer.set("linear", "_comment", string(comment));
    read();
    EXPECT_EQ(getNode(20).file, "");
    EXPECT_EQ(getNode(20).line, 0u);
  }
  writer.set("linear", "_comment", string("File \"x.py\", line 7"));
  read();
  EXPECT_EQ(getNode(20).file, "x.py");
}

TEST_F(PlanFileTest, Adapter) {
  writer.set("adapter", "_recompute", integer(3));
  read();
  const Node &adapter = getNode(22);
  EXPECT_EQ(adapter.kind, NodeKind::Adapter);
  EXPECT_TRUE(adapter.isForward);
  EXPECT_TRUE(adapter.isDifferentiable);
  EXPECT_FALSE(adapter.isCustom);
  EXPECT_FALSE(getNode(23).isForward);
  ASSERT_EQ(adapter.primitives.size(), 1u);
  EXPECT_EQ(adapter.recompute, 3);
  EXPECT_EQ(getNode(23).recompute, -1);
  EXPECT_EQ(adapter.primitives[0].name, "AllReducePrim");
  EXPECT_EQ(adapter.primitives[0].signature,
            "nnscaler.runtime.adapter.all_reduce");
  ASSERT_EQ(adapter.primitives[0].keywords.size(), 1u);
  const Argument &ranks = adapter.primitives[0].keywords[0].value;
  EXPECT_EQ(ranks.kind, ConstantKind::List);
  ASSERT_EQ(ranks.getElements().size(), 1u);
  EXPECT_EQ(ranks.getElements()[0].getInteger(), 0);
}

TEST_F(PlanFileTest, FlagsOfAdapters) {
  // Which of them are set says what a backward adapter does.
  writer.set("adapter", "_differentiable", boolean(false));
  writer.set("adapter", "custom", boolean(true));
  read();
  EXPECT_TRUE(getNode(22).isForward);
  EXPECT_FALSE(getNode(22).isDifferentiable);
  EXPECT_TRUE(getNode(22).isCustom);
}

TEST_F(PlanFileTest, Tensors) {
  writer.set("full_y", "_shape", integers({16, 8}));
  writer.set("y_indices", "_indices",
             tuple({integers({4, 8}), integers({0, 8})}));
  writer.set("y_value", "_weight", integers({1, 3}));
  read();
  const SubTensor &tensor = getTensor("y");
  EXPECT_EQ(tensor.id, 161);
  EXPECT_THAT(tensor.getShape(), ElementsAre(4, 8));
  ASSERT_EQ(tensor.slice.size(), 2u);
  EXPECT_EQ(tensor.slice[0].start, 4);
  EXPECT_EQ(tensor.slice[0].end, 8);
  EXPECT_EQ(tensor.part, 1);
  EXPECT_EQ(tensor.parts, 3);
  EXPECT_EQ(tensor.elementType, "float32");
  EXPECT_TRUE(tensor.requiresGradient);
  EXPECT_EQ(plan->subTensors[tensor.gradient].name, "gy");
  const FullTensor &full = plan->fullTensors[tensor.full];
  EXPECT_EQ(full.id, 160);
  EXPECT_TRUE(full.isLoss);
  EXPECT_TRUE(full.requiresGradient);
  EXPECT_EQ(full.elementType, "float32");
  EXPECT_EQ(plan->fullTensors[full.gradient].name, "gy");
  EXPECT_TRUE(getTensor("w").isParameter);
  EXPECT_TRUE(getTensor("gw").isGradient);
  EXPECT_EQ(getTensor("gw").gradient, none);
}

TEST_F(PlanFileTest, EqualArraysAreStoredOnce) {
  read();
  EXPECT_EQ(getTensor("x").slice.data(), getTensor("gy").slice.data());
}

TEST_F(PlanFileTest, FormsOfSizes) {
  writer.set("x", "_shape",
             call("torch", "Size", {tuple({integer(4), integer(8)})}));
  writer.set("full_x", "_shape", list({integer(4), integer(8)}));
  writer.set("x_indices", "_indices",
             tuple({call("builtins", "slice", {integer(0), integer(4), null()}),
                    tuple({integer(0),
                           scalar("i8", "<", pickle::little<int64_t>(8))})}));
  read();
  EXPECT_THAT(getTensor("x").getShape(), ElementsAre(4, 8));
  EXPECT_EQ(getTensor("x").slice[1].end, 8);
}

TEST_F(PlanFileTest, FormsOfState) {
  for (const char *object : {"x", "linear", "plan", "full_w", "w_value"})
    writer.useSlots(object);
  read();
  EXPECT_EQ(getTensor("x").id, 141);
  EXPECT_EQ(getNode(20).line, 12u);
}

TEST_F(PlanFileTest, FlagsOfTheWhole) {
  // What parts have may be of an earlier time.
  writer.set("full_x", "_requires_grad", boolean(false));
  writer.set("full_w", "_dtype", global("torch", "float64"));
  writer.set("gw", "_dtype", null());
  writer.set("y", "_requires_grad", boolean(false));
  read();
  EXPECT_FALSE(getTensor("x").requiresGradient);
  EXPECT_EQ(getTensor("x").gradient, none);
  EXPECT_EQ(getTensor("w").elementType, "float64");
  EXPECT_EQ(getTensor("gw").elementType, "float32");
  EXPECT_TRUE(getTensor("y").requiresGradient);
  EXPECT_NE(getTensor("y").gradient, none);
}

TEST_F(PlanFileTest, MissingFieldsThatMayBe) {
  writer.remove("linear", "_comment");
  writer.set("linear", "signature", null());
  writer.remove("adapter", "custom");
  writer.set("adapter", "_custom", boolean(true));
  writer.set("x", "_dtype", null());
  writer.set("full_x", "_dtype", null());
  read();
  EXPECT_EQ(getNode(20).signature, "");
  EXPECT_TRUE(getNode(22).isCustom);
  EXPECT_EQ(getTensor("x").elementType, "");
}

TEST_F(PlanFileTest, Constants) {
  EXPECT_EQ(decode(null()).kind, ConstantKind::None);
  Argument argument = decode(boolean(true));
  EXPECT_EQ(argument.kind, ConstantKind::Boolean);
  EXPECT_EQ(argument.getInteger(), 1);
  argument = decode(integer(-(int64_t(1) << 40)));
  EXPECT_EQ(argument.kind, ConstantKind::Integer);
  EXPECT_EQ(argument.getInteger(), -(int64_t(1) << 40));
  argument = decode(real(0.1));
  EXPECT_EQ(argument.kind, ConstantKind::Float);
  EXPECT_EQ(argument.getReal(), 0.1);
  argument = decode(string("self.training"));
  EXPECT_EQ(argument.kind, ConstantKind::String);
  EXPECT_EQ(argument.getText(), "self.training");
  argument = decode(global("torch", "bfloat16"));
  EXPECT_EQ(argument.kind, ConstantKind::ElementType);
  EXPECT_EQ(argument.getText(), "bfloat16");
  argument = decode(global("torch", "half"));
  EXPECT_EQ(argument.getText(), "float16");
  argument = decode(global("torch.nn", "Linear"));
  EXPECT_EQ(argument.kind, ConstantKind::Opaque);
  EXPECT_EQ(argument.getText(), "torch.nn.Linear");
  argument = decode(call("model", "make", {integer(1)}));
  EXPECT_EQ(argument.kind, ConstantKind::Opaque);
  EXPECT_EQ(argument.getText(), "model.make");
  argument = decode(raw("C\1x"));
  EXPECT_EQ(argument.kind, ConstantKind::Opaque);
  EXPECT_EQ(argument.getText(), "bytes");
  argument = decode(object("y"));
  EXPECT_TRUE(argument.isTensor);
  EXPECT_EQ(plan->subTensors[argument.tensor].name, "y");
}

TEST_F(PlanFileTest, Containers) {
  Argument argument = decode(tuple(
      {list({integer(1), tuple({})}), dictionary({{string("k"), real(2)}})}));
  EXPECT_EQ(argument.kind, ConstantKind::Tuple);
  ASSERT_EQ(argument.getElements().size(), 2u);
  EXPECT_EQ(argument.getElements()[0].kind, ConstantKind::List);
  ASSERT_EQ(argument.getElements()[0].getElements().size(), 2u);
  EXPECT_EQ(argument.getElements()[0].getElements()[0].getInteger(), 1);
  EXPECT_EQ(argument.getElements()[0].getElements()[1].kind,
            ConstantKind::Tuple);
  const Argument &entries = argument.getElements()[1];
  EXPECT_EQ(entries.kind, ConstantKind::Dictionary);
  ASSERT_EQ(entries.getElements().size(), 2u);
  EXPECT_EQ(entries.getElements()[0].getText(), "k");
  EXPECT_EQ(entries.getElements()[1].getReal(), 2);

  argument = decode(call("builtins", "slice", {integer(1), null(), null()}));
  EXPECT_EQ(argument.kind, ConstantKind::Opaque);
  EXPECT_EQ(argument.getText(), "slice");
  ASSERT_EQ(argument.getElements().size(), 3u);
  EXPECT_EQ(argument.getElements()[0].getInteger(), 1);
}

TEST_F(PlanFileTest, Factories) {
  Argument argument =
      decode(call("collections", "defaultdict", {global("builtins", "list")}));
  EXPECT_EQ(argument.kind, ConstantKind::Dictionary);
  EXPECT_TRUE(argument.getElements().empty());
}

TEST_F(PlanFileTest, Objects) {
  writer.define("value", "nnscaler.ir.cten.IRObject",
                {{"name", string("size")}, {"_value", integer(9)}});
  Argument argument = decode(object("value"));
  EXPECT_EQ(argument.kind, ConstantKind::Object);
  EXPECT_EQ(argument.getText(), "size");
  ASSERT_EQ(argument.getElements().size(), 1u);
  EXPECT_EQ(argument.getElements()[0].getInteger(), 9);
}

TEST_F(PlanFileTest, SharedConstantsAreDecodedOnce) {
  // Each level holds the one below twice: 2^20 values if copied.
  std::string opcodes = "Np1000\n";
  for (int i = 1000; i != 1020; ++i)
    opcodes += "0g" + std::to_string(i) + "\ng" + std::to_string(i) +
               "\n\x86p" + std::to_string(i + 1) + "\n";
  Argument argument = decode(raw(opcodes));
  EXPECT_EQ(argument.getElements()[0].getElements().data(),
            argument.getElements()[1].getElements().data());
  EXPECT_LT(plan->arenas.front()->getBytesAllocated(), size_t(1) << 16);
}

TEST_F(PlanFileTest, NumpyScalars) {
  using pickle::little;
  EXPECT_EQ(decode(scalar("i8", "<", little<int64_t>(-5))).getInteger(), -5);
  EXPECT_EQ(decode(scalar("i4", "<", little<int32_t>(-5))).getInteger(), -5);
  EXPECT_EQ(decode(scalar("i1", "|", "\xfb")).getInteger(), -5);
  EXPECT_EQ(decode(scalar("u1", "|", "\xfb")).getInteger(), 251);
  EXPECT_EQ(decode(scalar("i2", ">", std::string("\1\2"))).getInteger(), 258);
  EXPECT_EQ(decode(scalar("u8", "<", little<uint64_t>(7))).getInteger(), 7);
  Argument argument = decode(scalar("b1", "|", "\1"));
  EXPECT_EQ(argument.kind, ConstantKind::Boolean);
  EXPECT_EQ(argument.getInteger(), 1);
  argument = decode(
      scalar("f8", "<", little<uint64_t>(llvm::bit_cast<uint64_t>(0.1))));
  EXPECT_EQ(argument.kind, ConstantKind::Float);
  EXPECT_EQ(argument.getReal(), 0.1);
  argument = decode(
      scalar("f4", "<", little<uint32_t>(llvm::bit_cast<uint32_t>(1.5f))));
  EXPECT_EQ(argument.getReal(), 1.5);
  argument = decode(scalar("f2", "<", pickle::bytes("\0\x3e")));
  EXPECT_EQ(argument.getReal(), 1.5);
}

TEST_F(PlanFileTest, BytesOfProtocolTwo) {
  // Protocol 2 has no bytes: _codecs.encode makes them from Latin-1 text.
  Argument argument = decode(call(
      "numpy.core.multiarray", "scalar",
      {call("numpy", "dtype", {string("<u2")}),
       call("_codecs", "encode", {string("\xc3\xbf\1"), string("latin1")})}));
  EXPECT_EQ(argument.kind, ConstantKind::Integer);
  EXPECT_EQ(argument.getInteger(), 511);
}

TEST_F(PlanFileTest, OneObjectIsOneEntry) {
  read();
  std::set<llvm::StringRef> names;
  for (const SubTensor &tensor : plan->subTensors)
    EXPECT_TRUE(names.insert(tensor.name).second);
  std::set<int64_t> ids;
  for (const Node &node : plan->nodes)
    EXPECT_TRUE(ids.insert(node.id).second);
}

/// What the tables of a plan hold, as text.
std::string print(const PlanFile &plan) {
  std::string text;
  llvm::raw_string_ostream out(text);
  auto printArguments = [&](llvm::ArrayRef<Argument> arguments) {
    for (const Argument &argument : arguments)
      out << " " << argument.isTensor << argument.tensor;
  };
  for (const FullTensor &tensor : plan.fullTensors)
    out << tensor.id << tensor.name << " " << tensor.gradient << "\n";
  for (const SubTensor &tensor : plan.subTensors)
    out << tensor.id << tensor.name << " " << tensor.full << " "
        << tensor.gradient << " " << tensor.getShape().back() << "\n";
  for (const Node &node : plan.nodes) {
    out << node.id << node.name << " " << node.mirror << ":";
    printArguments(node.inputs);
    printArguments(node.outputs);
    for (Index inner : node.nodes)
      out << " " << inner;
    out << "\n";
  }
  for (const DeviceProgram &program : plan.programs)
    for (const Cell &cell : program.cells) {
      out << cell.node << " " << cell.mirror << ":";
      printArguments(cell.inputs);
      out << "\n";
    }
  return text;
}

TEST_F(PlanFileTest, ThreadsChangeNothing) {
  // More than one part of a batch.
  addOps(writer, 5000);
  llvm::Expected<PlanFile> one = readPlan(writer, 1);
  ASSERT_TRUE(!!one) << llvm::toString(one.takeError());
  EXPECT_EQ(one->nodes.size(), 5008u);
  EXPECT_EQ(one->subTensors.size(), 10006u);
  for (unsigned threads : {2, 3}) {
    llvm::Expected<PlanFile> several = readPlan(writer, threads);
    ASSERT_TRUE(!!several) << llvm::toString(several.takeError());
    EXPECT_EQ(several->arenas.size(), threads);
    EXPECT_TRUE(print(*several) == print(*one));
  }
  for (const Node &node : one->nodes) {
    if (node.name != "op4999")
      continue;
    const SubTensor &tensor = one->subTensors[node.inputs[0].tensor];
    EXPECT_EQ(tensor.name, "t4999");
    EXPECT_EQ(one->subTensors[tensor.gradient].name, "gt4999");
  }
}

#ifdef __linux__
/// The memory that the process has now, in bytes.
static size_t getResidentMemory() {
  std::ifstream file("/proc/self/statm");
  size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

TEST_F(PlanFileTest, WhatNothingLeadsToTakesNoMemory) {
  // A node of a plan takes about 200 bytes, such an object 4 of the file.
  constexpr size_t count = 2000000;
  std::string opcodes = "(lcnnscaler.ir.operator\nIRFwOperation\np200\n0(";
  for (size_t i = 0; i < count; ++i)
    opcodes += "h\xc8)\x81";
  opcodes += "e";
  writer.set("root", "junk", raw(opcodes));
  size_t before = getResidentMemory();
  llvm::Expected<PlanFile> several = readPlan(writer, 2);
  size_t after = getResidentMemory();
  ASSERT_TRUE(!!several) << llvm::toString(several.takeError());
  EXPECT_EQ(several->nodes.size(), 8u);
  EXPECT_GT(several->nodes.capacity(), count);
  EXPECT_LT(after, before + count * 100);
}
#endif

TEST_F(PlanFileTest, ThreadsGiveTheSameError) {
  addOps(writer, 5000);
  for (const char *op : {"op4800", "op3000", "op30"})
    writer.set(op, "_inputs", null());
  std::string error = readPlanError(writer, 1);
  EXPECT_THAT(error,
              testing::HasSubstr("IRBpOperation 100030: field '_inputs'"));
  EXPECT_EQ(readPlanError(writer, 3), error);
}

} // namespace
