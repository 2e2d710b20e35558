//===- PlanBytes.cpp - writes plans for tests -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Holds the sample plan and how its objects are written.
//
//===----------------------------------------------------------------------===//

#include "PlanBytes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

using namespace verify::nnscaler;
using verify::pickle::little;
using verify::pickle::text;
using Expression = PlanWriter::Expression;

void PlanWriter::define(llvm::StringRef object, llvm::StringRef qualifiedClass,
                        Fields fields) {
  objects[object.str()] = {qualifiedClass.str(), std::move(fields), false};
}

void PlanWriter::setClass(llvm::StringRef object,
                          llvm::StringRef qualifiedClass) {
  objects[object.str()].qualifiedClass = qualifiedClass.str();
}

void PlanWriter::set(llvm::StringRef object, llvm::StringRef field,
                     Expression value) {
  remove(object, field);
  objects[object.str()].fields.emplace_back(field.str(), std::move(value));
}

void PlanWriter::remove(llvm::StringRef object, llvm::StringRef field) {
  llvm::erase_if(objects[object.str()].fields,
                 [&](const auto &entry) { return entry.first == field; });
}

void PlanWriter::useSlots(llvm::StringRef object) {
  objects[object.str()].hasSlots = true;
}

std::string PlanWriter::mention(const std::string &name) {
  if (auto slot = slots.find(name); slot != slots.end())
    return "j" + little<uint32_t>(slot->second);
  auto slot = static_cast<uint32_t>(slots.size());
  slots[name] = slot;
  const Object &object = objects[name];
  auto [module, className] = llvm::StringRef(object.qualifiedClass).rsplit('.');
  std::string file = ("c" + module + "\n" + className + "\n)\x81r").str() +
                     little<uint32_t>(slot);
  if (object.hasSlots)
    file += "N";
  file += "}(";
  for (const auto &[field, value] : object.fields)
    file += text(field) + value(*this);
  file += "u";
  if (object.hasSlots)
    file += "\x86";
  return file + "b";
}

std::string PlanWriter::write(llvm::StringRef object) {
  slots.clear();
  return "\x80\4" + mention(object.str()) + ".";
}

Expression verify::nnscaler::raw(std::string opcodes) {
  return [=](PlanWriter &) { return opcodes; };
}

Expression verify::nnscaler::null() { return raw("N"); }

Expression verify::nnscaler::boolean(bool value) {
  return raw(value ? "\x88" : "\x89");
}

Expression verify::nnscaler::integer(int64_t value) {
  return raw("\x8a\x08" + little<int64_t>(value));
}

Expression verify::nnscaler::real(double value) {
  return raw("G" + little<uint64_t>(llvm::byteswap<uint64_t>(
                       llvm::bit_cast<uint64_t>(value))));
}

Expression verify::nnscaler::string(llvm::StringRef characters) {
  return raw(text(characters));
}

/// Values one after the other, between two strings.
static Expression enclose(std::string before, std::vector<Expression> elements,
                          std::string after) {
  return [=](PlanWriter &writer) {
    std::string file = before;
    for (const Expression &element : elements)
      file += element(writer);
    return file + after;
  };
}

Expression verify::nnscaler::list(std::vector<Expression> elements) {
  return enclose("](", std::move(elements), "e");
}

Expression verify::nnscaler::tuple(std::vector<Expression> elements) {
  return enclose("(", std::move(elements), "t");
}

Expression verify::nnscaler::integers(std::vector<int64_t> elements) {
  std::vector<Expression> values;
  for (int64_t element : elements)
    values.push_back(integer(element));
  return tuple(std::move(values));
}

Expression verify::nnscaler::dictionary(
    std::vector<std::pair<Expression, Expression>> entries) {
  std::vector<Expression> all;
  for (auto &[key, value] : entries)
    all.insert(all.end(), {key, value});
  return enclose("}(", std::move(all), "u");
}

Expression verify::nnscaler::global(llvm::StringRef module,
                                    llvm::StringRef name) {
  return raw(("c" + module + "\n" + name + "\n").str());
}

Expression verify::nnscaler::call(llvm::StringRef module, llvm::StringRef name,
                                  std::vector<Expression> arguments) {
  return enclose(("c" + module + "\n" + name + "\n(").str(),
                 std::move(arguments), "tR");
}

Expression verify::nnscaler::scalar(llvm::StringRef type, llvm::StringRef order,
                                    std::string data) {
  Expression state = tuple({integer(3), string(order), null()});
  Expression dtype =
      enclose("", {call("numpy", "dtype", {string(type)}), state}, "b");
  return call("numpy._core.multiarray", "scalar",
              {dtype, raw("C" + std::string(1, char(data.size())) + data)});
}

Expression verify::nnscaler::object(llvm::StringRef name) {
  return
      [name = name.str()](PlanWriter &writer) { return writer.mention(name); };
}

/// A tensor that covers its full tensor.
static void defineTensor(PlanWriter &writer, const std::string &name,
                         int64_t id, std::vector<int64_t> shape,
                         const std::string &gradient) {
  bool isParameter = name == "w", isGradient = gradient.empty();
  auto gradientOr = [&](const std::string &prefix) {
    return isGradient ? null() : object(prefix + gradient);
  };
  writer.define("full_" + name, "nnscaler.ir.tensor.IRFullTensor",
                {{"_id", integer(id)},
                 {"name", string(name)},
                 {"_is_attr", boolean(isParameter)},
                 {"_is_grad", boolean(isGradient)},
                 {"_is_loss", boolean(name == "y" || name == "gy")},
                 {"_requires_grad", boolean(!isGradient)},
                 {"_dtype", global("torch", "float32")},
                 {"_shape", integers(shape)},
                 {"_grad", gradientOr("full_")}});
  std::vector<Expression> ranges;
  for (int64_t size : shape)
    ranges.push_back(integers({0, size}));
  writer.define(name + "_indices", "nnscaler.ir.tensor.IndexMap",
                {{"_indices", tuple(ranges)}});
  writer.define(name + "_value", "nnscaler.ir.tensor.ValueMap",
                {{"_weight", integers({0, 1})}});
  writer.define(name, "nnscaler.ir.tensor.IRSubTensor",
                {{"_id", integer(id + 1)},
                 {"name", string(name)},
                 {"_cell", null()},
                 {"_is_attr", boolean(isParameter)},
                 {"_is_grad", boolean(isGradient)},
                 {"_requires_grad", boolean(!isGradient)},
                 {"_shape", integers(shape)},
                 {"_dtype", global("torch", "float32")},
                 {"_full_tensor", object("full_" + name)},
                 {"_indmap", object(name + "_indices")},
                 {"_valmap", object(name + "_value")},
                 {"_grad", gradientOr("")}});
}

/// A cell with the fields all cells have.
static void defineCell(PlanWriter &writer, const std::string &name,
                       const std::string &qualifiedClass, int64_t id,
                       std::vector<Expression> inputs,
                       std::vector<Expression> outputs, Expression mirror,
                       PlanWriter::Fields more = {}) {
  PlanWriter::Fields fields = {{"_id", integer(id)},
                               {"name", string(name)},
                               {"signature", string("a." + name)},
                               {"_device", integers({0})},
                               {"_inputs", list(std::move(inputs))},
                               {"_outputs", list(std::move(outputs))},
                               {"_kwargs", dictionary({})},
                               {"_mirror", std::move(mirror)},
                               {"_comment", null()}};
  for (auto &field : more)
    fields.push_back(std::move(field));
  writer.define(name, qualifiedClass, std::move(fields));
}

static PlanWriter::Fields getAdapterFields(bool isForward) {
  return {{"_prims", list({object("prim")})},
          {"_forward", boolean(isForward)},
          {"_differentiable", boolean(true)},
          {"custom", boolean(false)}};
}

static void defineOps(PlanWriter &writer) {
  defineCell(writer, "linear", "nnscaler.graph.function.dimops.IRDimops", 20,
             {object("x"), object("w")}, {object("y")},
             object("linear_backward"));
  writer.set("linear", "_kwargs", dictionary({{string("bias"), null()}}));
  writer.set("linear", "_comment",
             string("File \"model.py\", line 12, in forward,  y = f(x)"));
  defineCell(writer, "linear_backward", "nnscaler.ir.operator.IRBpOperation",
             21, {object("gy")}, {object("gx"), object("gw")},
             object("linear"));
  writer.define(
      "prim", "nnscaler.ir.adapter.prim.AllReducePrim",
      {{"_inputs", list({object("y")})},
       {"_outputs", list({object("y")})},
       {"_device", integers({0})},
       {"signature", string("nnscaler.runtime.adapter.all_reduce")},
       {"kwargs", dictionary({{string("ranks"), list({integer(0)})}})}});
  defineCell(writer, "adapter", "nnscaler.ir.adapter.adapter.IRAdapter", 22,
             {object("y")}, {object("y")}, object("adapter_backward"),
             getAdapterFields(/*isForward=*/true));
  defineCell(writer, "adapter_backward",
             "nnscaler.ir.adapter.adapter.IRAdapter", 23, {object("gy")},
             {object("gy")}, object("adapter"),
             getAdapterFields(/*isForward=*/false));
}

static void defineCells(PlanWriter &writer) {
  defineCell(writer, "data", "nnscaler.ir.operator.IRDataOperation", 10,
             {call("nnscaler.ir.cten", "IRObject", {})}, {object("x")}, null());
  defineCell(writer, "forward", "nnscaler.graph.segment.IRSegment", 11,
             {object("x")}, {object("y")}, object("backward"),
             {{"_nodes", list({object("linear"), object("adapter")})}});
  defineCell(writer, "backward", "nnscaler.graph.segment.IRSegment", 12,
             {object("gy")}, {object("gx")}, object("forward"),
             {{"_nodes",
               list({object("adapter_backward"), object("linear_backward")})}});
  defineCell(writer, "reducer", "nnscaler.ir.adapter.adapter.IRWeightReducer",
             13, {object("w")}, {}, null());
  defineCell(writer, "reuse_forward", "nnscaler.execplan.execplan.ExeReuseCell",
             30, {object("x")}, {object("y")}, object("reuse_backward"),
             {{"_cell", object("forward")}});
  defineCell(writer, "reuse_backward",
             "nnscaler.execplan.execplan.ExeReuseCell", 31, {object("gy")},
             {object("gx")}, object("reuse_forward"),
             {{"_cell", object("backward")}});
}

PlanWriter verify::nnscaler::getSamplePlan() {
  PlanWriter writer;
  defineTensor(writer, "gx", 110, {4, 8}, "");
  defineTensor(writer, "gw", 120, {8, 8}, "");
  defineTensor(writer, "gy", 130, {4, 8}, "");
  defineTensor(writer, "x", 140, {4, 8}, "gx");
  defineTensor(writer, "w", 150, {8, 8}, "gw");
  defineTensor(writer, "y", 160, {4, 8}, "gy");
  defineOps(writer);
  defineCells(writer);
  writer.define(
      "plan", "nnscaler.execplan.execplan.ExecutionPlan",
      {{"_seq",
        dictionary({{integer(0),
                     list({object("data"), object("reuse_forward"),
                           object("reuse_backward"), object("reducer")})}})},
       {"_outputs", list({object("y")})}});
  writer.define("root", "nnscaler.codegen.module.module.ModuleCodeGen",
                {{"execplan", object("plan")},
                 {"devices", integers({0})},
                 {"runtime_ndevs", integer(2)},
                 {"enable_dp", boolean(true)}});
  return writer;
}

void verify::nnscaler::addOps(PlanWriter &writer, unsigned count) {
  std::vector<Expression> nodes = {object("adapter_backward"),
                                   object("linear_backward")};
  for (unsigned i = 0; i != count; ++i) {
    std::string tensor = "t" + std::to_string(i), gradient = "g" + tensor;
    std::string op = "op" + std::to_string(i);
    defineTensor(writer, gradient, 1000 + 10 * i, {4, i + 1}, "");
    defineTensor(writer, tensor, 1005 + 10 * i, {4, i + 1}, gradient);
    defineCell(writer, op, "nnscaler.ir.operator.IRBpOperation", 100000 + i,
               {object(tensor)}, {object("gx")}, null());
    nodes.push_back(object(op));
  }
  writer.set("backward", "_nodes", list(nodes));
}

llvm::Expected<PlanFile> verify::nnscaler::readPlan(PlanWriter &writer,
                                                    unsigned threads) {
  return readPlan(
      llvm::MemoryBuffer::getMemBufferCopy(writer.write("root"), "test.pkl"),
      threads);
}

std::string verify::nnscaler::readPlanError(PlanWriter &writer,
                                            unsigned threads) {
  llvm::Expected<PlanFile> plan = readPlan(writer, threads);
  return plan ? "" : llvm::toString(plan.takeError());
}
