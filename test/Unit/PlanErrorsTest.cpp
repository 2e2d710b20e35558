//===- PlanErrorsTest.cpp - how contradictory plans are refused -*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One change to the sample plan per case, and the message it gives: the file,
// the object's class and id, the field and what is wrong.
//
//===----------------------------------------------------------------------===//

#include "PlanBytes.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace verify;
using namespace verify::nnscaler;

namespace {

/// A field of the sample plan with another value, and the message.
struct ErrorCase {
  const char *object, *field;
  PlanWriter::Expression value;
  const char *message; // after "test.pkl: "
};

void expectErrors(llvm::ArrayRef<ErrorCase> cases) {
  for (const ErrorCase &errorCase : cases) {
    PlanWriter writer = getSamplePlan();
    writer.set(errorCase.object, errorCase.field, errorCase.value);
    EXPECT_EQ(readPlanError(writer),
              std::string("test.pkl: ") + errorCase.message);
  }
}

TEST(PlanErrorsTest, MissingFields) {
  const std::pair<const char *, const char *> fields[] = {
      {"root", "execplan"},
      {"root", "devices"},
      {"root", "runtime_ndevs"},
      {"root", "enable_dp"},
      {"plan", "_seq"},
      {"plan", "_outputs"},
      {"reuse_forward", "_id"},
      {"reuse_forward", "_cell"},
      {"reuse_forward", "_inputs"},
      {"forward", "_nodes"},
      {"forward", "_mirror"},
      {"linear", "_id"},
      {"linear", "_inputs"},
      {"linear", "_outputs"},
      {"linear", "_kwargs"},
      {"linear", "_device"},
      {"adapter", "_prims"},
      {"adapter", "_forward"},
      {"adapter", "_differentiable"},
      {"prim", "_inputs"},
      {"prim", "kwargs"},
      {"x", "_id"},
      {"x", "_shape"},
      {"x", "_dtype"},
      {"x", "_full_tensor"},
      {"x", "_indmap"},
      {"x", "_valmap"},
      {"x", "_is_attr"},
      {"x", "_is_grad"},
      {"x", "_requires_grad"},
      {"x", "_grad"},
      {"x_indices", "_indices"},
      {"x_value", "_weight"},
      {"full_x", "_id"},
      {"full_x", "_shape"},
      {"full_x", "_is_loss"},
      {"full_x", "_requires_grad"},
      {"full_x", "_dtype"},
      {"full_x", "_grad"},
  };
  for (auto [object, field] : fields) {
    PlanWriter writer = getSamplePlan();
    writer.remove(object, field);
    EXPECT_THAT(
        readPlanError(writer),
        testing::EndsWith(std::string(": field '") + field + "': missing"));
  }
}

TEST(PlanErrorsTest, Root) {
  PlanWriter writer = getSamplePlan();
  writer.setClass("root", "os.ModuleCodeGen");
  EXPECT_EQ(readPlanError(writer), "test.pkl: expected an execution plan "
                                   "(ModuleCodeGen), found ModuleCodeGen");
  expectErrors({
      {"root", "devices", integers({0, 0}),
       "ModuleCodeGen: field 'devices': device 0 occurs twice"},
      {"root", "devices", integers({-1}),
       "ModuleCodeGen: field 'devices': -1 is no device"},
      {"root", "devices", integers({}),
       "ModuleCodeGen: field 'devices': no devices"},
      {"root", "devices", tuple({string("0")}),
       "ModuleCodeGen: field 'devices': expected integers of 64 bits, found "
       "str"},
      {"root", "runtime_ndevs", integer(0),
       "ModuleCodeGen: field 'runtime_ndevs': 0 is no multiple of the 1 "
       "devices of a replica"},
      {"root", "runtime_ndevs", boolean(true),
       "ModuleCodeGen: field 'runtime_ndevs': expected an integer of 64 bits, "
       "found bool"},
      {"root", "enable_dp", boolean(false),
       "ModuleCodeGen: field 'enable_dp': false, but the plan uses 1 of 2 "
       "devices"},
      {"root", "execplan", integer(1),
       "ModuleCodeGen: field 'execplan': expected ExecutionPlan, found int"},
  });
}

TEST(PlanErrorsTest, Programs) {
  auto sequence = [](PlanWriter::Expression key, PlanWriter::Expression value) {
    return dictionary({{std::move(key), std::move(value)}});
  };
  expectErrors({
      {"plan", "_seq", list({}),
       "ExecutionPlan: field '_seq': expected dict, found list"},
      {"plan", "_seq", dictionary({}),
       "ExecutionPlan: field '_seq': device 0 is missing"},
      {"plan", "_seq", sequence(integer(1), list({})),
       "ExecutionPlan: field '_seq': device 1 is not among the devices of the "
       "plan"},
      {"plan", "_seq", sequence(integer(INT64_MAX), list({})),
       "ExecutionPlan: field '_seq': device 9223372036854775807 is not among "
       "the devices of the plan"},
      {"plan", "_seq", sequence(string("0"), list({})),
       "ExecutionPlan: field '_seq': expected devices, found str"},
      {"plan", "_seq", sequence(integer(0), null()),
       "ExecutionPlan: field '_seq': expected lists of cells, found None"},
      {"plan", "_seq",
       sequence(integer(0), list({call("nnscaler.new", "IRNewCell", {})})),
       "ExecutionPlan: field '_seq': expected a cell, found IRNewCell"},
      {"plan", "_seq",
       sequence(integer(0), list({object("data"), integer(-1)})),
       "ExecutionPlan: field '_seq': expected a cell, found int"},
      {"reuse_forward", "_cell", object("reuse_backward"),
       "ExeReuseCell 30: field '_cell': expected a cell, found ExeReuseCell"},
      {"reuse_forward", "_mirror", object("forward"),
       "ExeReuseCell 30: field '_mirror': expected ExeReuseCell or None, found "
       "IRSegment"},
      {"reuse_forward", "_inputs", list({}),
       "ExeReuseCell 30: 0 inputs and 1 outputs, but IRSegment 11 has 1 and "
       "1"},
  });
}

TEST(PlanErrorsTest, Nodes) {
  expectErrors({
      {"forward", "_nodes", list({object("linear"), object("x")}),
       "IRSegment 11: field '_nodes': expected an op at position 1, found "
       "IRSubTensor"},
      {"forward", "_nodes", list({object("forward")}),
       "IRSegment 11: field '_nodes': expected an op at position 0, found "
       "IRSegment"},
      {"forward", "_mirror", object("x"),
       "IRSegment 11: field '_mirror': expected a cell or None, found "
       "IRSubTensor"},
      {"forward", "_mirror", object("linear"),
       "IRSegment 11: field '_mirror': IRSegment cannot have the mirror "
       "IRDimops 20"},
      {"forward", "_mirror", object("forward"),
       "IRSegment 12: field '_mirror': IRSegment 11 is the mirror of something "
       "else"},
      {"linear", "_inputs", list({object("full_x")}),
       "IRDimops 20: field '_inputs': expected IRSubTensor or a constant, "
       "found "
       "IRFullTensor"},
      {"linear", "_inputs", dictionary({}),
       "IRDimops 20: field '_inputs': expected a list or tuple, found dict"},
      {"linear", "_kwargs", dictionary({{integer(1), null()}}),
       "IRDimops 20: field '_kwargs': expected keywords, found int"},
      {"linear", "_comment", string("one line\nx = 2"),
       "IRDimops 20: field '_comment': more than one line"},
      {"adapter", "_recompute", boolean(true),
       "IRAdapter 22: field '_recompute': expected an integer of 64 bits, "
       "found bool"},
      {"adapter", "_recompute", integer(-1),
       "IRAdapter 22: field '_recompute': the group -1"},
      {"linear", "name", integer(3),
       "IRDimops 20: field 'name': expected str, found int"},
      {"linear", "_device", integers({0, 1}),
       "IRDimops 20: field '_device': device 1 is not among the devices of the "
       "plan"},
      {"linear", "_device", integers({INT64_MAX}),
       "IRDimops 20: field '_device': device 9223372036854775807 is not among "
       "the devices of the plan"},
      {"adapter", "_prims",
       list({call("nnscaler.ir.adapter.prim", "NewPrim", {})}),
       "IRAdapter 22: field '_prims': expected a communication primitive, "
       "found NewPrim"},
      {"adapter", "custom", integer(1),
       "IRAdapter 22: field 'custom': expected bool, found int"},
  });
}

TEST(PlanErrorsTest, Tensors) {
  expectErrors({
      {"x", "_indmap", string("all"),
       "IRSubTensor 141: field '_indmap': expected IndexMap, found str"},
      {"x", "_dtype", global("torch", "save"),
       "IRSubTensor 141: field '_dtype': expected an element type of torch, "
       "found torch.save"},
      {"x", "_grad", object("full_gx"),
       "IRSubTensor 141: field '_grad': expected IRSubTensor or None, found "
       "IRFullTensor"},
      {"x", "_id", integer(-1), "IRSubTensor -1: field '_id': -1 is no number"},
      {"x", "_grad", object("x"),
       "IRSubTensor 141: field '_grad': not a gradient"},
      {"x", "_shape", integers({4, -8}),
       "IRSubTensor 141: field '_shape': negative size -8"},
      {"x", "_shape", integers({4, 7}),
       "IRSubTensor 141: field '_shape': dimension 1: size 7, but the index "
       "map says 8"},
      {"x", "_shape", integers({4}),
       "IRSubTensor 141: field '_shape': 1 dimensions, but the index map has "
       "2"},
      {"full_x", "_shape", integers({4}),
       "IRSubTensor 141: field '_indmap': 2 dimensions, but the full tensor "
       "has 1"},
      {"full_x", "_shape", integers({4, 6}),
       "IRSubTensor 141: field '_indmap': dimension 1: range [0, 8) is not "
       "within the size 6"},
      {"full_x", "_shape", integers({1LL << 32, 1LL << 31}),
       "IRFullTensor 140: field '_shape': more than 2^63 elements in all"},
      {"full_x", "_shape", tuple(std::vector(65, integer(1))),
       "IRFullTensor 140: field '_shape': more than 64 numbers"},
      {"x_indices", "_indices", tuple({integers({0, 4}), integers({-1, 7})}),
       "IRSubTensor 141: field '_indmap': dimension 1: range [-1, 7) is not "
       "within the size 8"},
      {"x_indices", "_indices", tuple({integers({0, 4}), integers({0})}),
       "IRSubTensor 141: field '_indmap': expected a start and an end per "
       "dimension, found tuple"},
      {"x_indices", "_indices",
       tuple({call("builtins", "slice", {integer(0), integer(4), integer(2)}),
              integers({0, 8})}),
       "IRSubTensor 141: field '_indmap': expected a start and an end per "
       "dimension, found slice"},
      {"x_value", "_weight", integers({1, 1}),
       "IRSubTensor 141: field '_valmap': expected a part and a number of "
       "parts"},
      {"x_value", "_weight", integers({0, int64_t(1) << 32}),
       "IRSubTensor 141: field '_valmap': 2^32 parts or more"},
      {"x_value", "_weight", integers({0}),
       "IRSubTensor 141: field '_valmap': expected a part and a number of "
       "parts"},
      {"full_x", "_is_attr", boolean(true),
       "IRSubTensor 141: field '_is_attr': the full tensor says otherwise"},
      {"full_x", "_is_grad", boolean(true),
       "IRSubTensor 141: field '_is_grad': the full tensor says otherwise"},
      {"full_x", "_is_loss", boolean(true),
       "IRFullTensor 140: field '_is_loss': the gradient says otherwise"},
  });
}

TEST(PlanErrorsTest, Constants) {
  expectErrors({
      {"linear", "_kwargs",
       dictionary({{string("a"), raw("\x8a\x09" + std::string(9, '\1'))}}),
       "IRDimops 20: field '_kwargs': an integer does not fit 64 bits"},
      {"linear", "_kwargs",
       dictionary({{string("a"), scalar("c8", "<", std::string(8, '\0'))}}),
       "IRDimops 20: field '_kwargs': a numpy scalar cannot be read"},
      {"linear", "_kwargs",
       dictionary({{string("a"), scalar("i8", "<", "\1")}}),
       "IRDimops 20: field '_kwargs': a numpy scalar cannot be read"},
      // NumPy has no such types.
      {"linear", "_kwargs",
       dictionary({{string("a"), scalar("i3", "<", "abc")}}),
       "IRDimops 20: field '_kwargs': a numpy scalar cannot be read"},
      {"linear", "_kwargs", dictionary({{string("a"), scalar("u0", "<", "")}}),
       "IRDimops 20: field '_kwargs': a numpy scalar cannot be read"},
      {"linear", "_kwargs",
       dictionary(
           {{string("a"), call("numpy.core.multiarray", "scalar",
                               {call("numpy", "dtype", {string("i1")}),
                                call("_codecs", "encode",
                                     {string("\b"), string("cp037")})})}}),
       "IRDimops 20: field '_kwargs': a numpy scalar cannot be read"},
      {"linear", "_kwargs",
       dictionary({{string("a"), call("collections", "OrderedDict",
                                      {list({list({string("b"), null()})})})}}),
       "IRDimops 20: field '_kwargs': a dictionary made of arguments cannot be "
       "read"},
      // Python has the last one.
      {"linear", "_kwargs",
       dictionary({{string("a"), null()}, {string("a"), integer(1)}}),
       "IRDimops 20: field '_kwargs': the key 'a' is there twice"},
      {"linear", "_kwargs",
       dictionary({{string("a"),
                    dictionary({{integer(1), null()}, {integer(1), null()}})}}),
       "IRDimops 20: field '_kwargs': the key 1 is there twice"},
      // For Python this is 1 as well.
      {"linear", "_kwargs",
       dictionary({{string("a"), dictionary({{integer(1), null()},
                                             {raw("\x88"), null()}})}}),
       "IRDimops 20: field '_kwargs': expected keys that are str or int, found "
       "bool"},
      {"prim", "kwargs",
       dictionary({{string("ranks"), list({integer(0)})},
                   {string("ranks"), list({integer(1)})}}),
       "AllReducePrim: field 'kwargs': the key 'ranks' is there twice"},
      // A list that contains itself, and one that is merely deep.
      {"linear", "_kwargs", dictionary({{string("a"), raw("]p999\ng999\na")}}),
       "IRDimops 20: field '_kwargs': a constant is nested more than 32 levels "
       "deep"},
      {"linear", "_kwargs",
       dictionary({{string("a"), raw("N" + pickle::repeat("\x85", 100000))}}),
       "IRDimops 20: field '_kwargs': a constant is nested more than 32 levels "
       "deep"},
  });
}

TEST(PlanErrorsTest, States) {
  // A number, a second state, and dictionaries with an element or an entry.
  for (std::string state : {"K\1b", "}b}b", "}bK\1a", "}bK\1K\2s"}) {
    PlanWriter writer = getSamplePlan();
    writer.set("plan", "_outputs",
               list({raw("cnnscaler.ir.tensor\nIRSubTensor\n)\x81" + state)}));
    EXPECT_EQ(readPlanError(writer),
              "test.pkl: IRSubTensor: the state is not a dictionary of fields");
  }
}

TEST(PlanErrorsTest, LongListsThatAreShared) {
  // Every node of a long segment mentions one long list.
  PlanWriter writer = getSamplePlan();
  std::string nodes;
  for (int i = 0; i != 2000; ++i)
    nodes += "cnnscaler.ir.operator\nIRDataOperation\n)\x81}(" +
             pickle::text("_id") + "K\1" + pickle::text("_inputs") + "g999\n" +
             pickle::text("_outputs") + ")" + pickle::text("_kwargs") + "}" +
             pickle::text("_device") + ")" + pickle::text("_mirror") + "Nub";
  writer.set("forward", "_nodes",
             raw("(" + pickle::repeat("N", 2000) + "lp999\n0](" + nodes + "e"));
  llvm::Expected<PlanFile> plan = readPlan(writer);
  ASSERT_TRUE(!!plan) << llvm::toString(plan.takeError());
  EXPECT_LT(plan->arenas.front()->getBytesAllocated(), size_t(1) << 20);
}

} // namespace
