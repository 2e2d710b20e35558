//===- DecodePlan.cpp - reads an execution plan -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decodes the root of a plan and the sequences of its devices, then everything
// they lead to. Only what is executed is reached: schedules, producer and
// consumer tables and annotation objects are never looked at.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"

#include "Verify/Pickle/Reader.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

#include <memory>

using namespace verify;
using namespace verify::nnscaler;

bool Decoder::decodeRoot() {
  Value root = graph.getRoot(), executionPlan;
  if (classes.get(root) != PlanClass::ModuleCodeGen)
    return fail("expected an execution plan (ModuleCodeGen), found " +
                graph.describe(root));
  ObjectFields object = open(root);
  if (!getIntegers(object, Field::Devices, plan.devices) ||
      !getInteger(object, Field::RuntimeDevices, plan.runtimeDevices) ||
      !getBoolean(object, Field::EnableDataParallel, plan.enableDataParallel) ||
      !getObject(object, Field::ExecutionPlan, PlanClass::ExecutionPlan,
                 executionPlan))
    return false;
  for (int64_t device : plan.devices) {
    if (!isDevice(device))
      return failField(object, Field::Devices,
                       llvm::Twine(device) + " is no device");
    if (!knownDevices.insert(device).second)
      return failField(object, Field::Devices,
                       "device " + llvm::Twine(device) + " occurs twice");
  }
  int64_t numDevices = plan.devices.size();
  if (numDevices == 0)
    return failField(object, Field::Devices, "no devices");
  if (plan.runtimeDevices < numDevices || plan.runtimeDevices > INT32_MAX ||
      plan.runtimeDevices % numDevices != 0)
    return failField(object, Field::RuntimeDevices,
                     llvm::Twine(plan.runtimeDevices) +
                         " is no multiple of the " + llvm::Twine(numDevices) +
                         " devices of a replica");
  if (plan.enableDataParallel != (plan.runtimeDevices > numDevices))
    return failField(object, Field::EnableDataParallel,
                     llvm::Twine(plan.enableDataParallel ? "true" : "false") +
                         ", but the plan uses " + llvm::Twine(numDevices) +
                         " of " + llvm::Twine(plan.runtimeDevices) +
                         " devices");
  ObjectFields planObject = open(executionPlan);
  return decodePrograms(planObject) &&
         decodeArguments(planObject, Field::Outputs, plan.outputs);
}

bool Decoder::decodePrograms(const ObjectFields &executionPlan) {
  Value sequences;
  if (!get(executionPlan, Field::Sequences, sequences))
    return false;
  if (graph.getKind(sequences) != Kind::Dictionary)
    return failType(executionPlan, Field::Sequences, "dict", sequences);
  llvm::DenseSet<int64_t> missing = knownDevices;
  for (size_t i = 0, e = graph.getNumEntries(sequences); i != e; ++i) {
    auto [key, sequence] = graph.getEntry(sequences, i);
    std::optional<int64_t> device = toInteger(key);
    if (!device)
      return failType(executionPlan, Field::Sequences, "devices", key);
    if (!isDevice(*device) || !missing.erase(*device))
      return failField(executionPlan, Field::Sequences,
                       "device " + llvm::Twine(*device) +
                           " is not among the devices of the plan");
    DeviceProgram program;
    program.device = *device;
    if (!decodeCells(executionPlan, sequence, program.cells))
      return false;
    plan.programs.push_back(program);
  }
  for (int64_t device : plan.devices)
    if (missing.contains(device))
      return failField(executionPlan, Field::Sequences,
                       "device " + llvm::Twine(device) + " is missing");
  return true;
}

bool Decoder::decodeCells(const ObjectFields &executionPlan, Value sequence,
                          llvm::ArrayRef<Cell> &cells) {
  std::optional<llvm::ArrayRef<Value>> elements = toSequence(sequence);
  if (!elements)
    return failType(executionPlan, Field::Sequences, "lists of cells",
                    sequence);
  auto known = cellsByValue.find(sequence.getRaw());
  if (known != cellsByValue.end()) {
    cells = known->second;
    return true;
  }
  Cell *first;
  if (!allocate(elements->size(), first))
    return false;
  for (size_t i = 0; i != elements->size(); ++i)
    if (!decodeCell(executionPlan, (*elements)[i], first[i]))
      return false;
  cells = llvm::ArrayRef(first, elements->size());
  cellsByValue.try_emplace(sequence.getRaw(), cells);
  cellArrays.emplace_back(first, elements->size());
  return true;
}

bool Decoder::decodeCell(const ObjectFields &executionPlan, Value value,
                         Cell &cell) {
  cell.isReuse = classes.get(value) == PlanClass::ReuseCell;
  if (!cell.isReuse) {
    cell.node = getNode(value);
    if (cell.node == none)
      return failType(executionPlan, Field::Sequences, "a cell", value);
    // Filled in from the node once that is decoded.
    return true;
  }
  ObjectFields object = open(value);
  Value executed, mirror;
  if (!getId(object, cell.id) || !get(object, Field::Cell, executed) ||
      !get(object, Field::Mirror, mirror) ||
      !decodeArguments(object, Field::Inputs, cell.inputs) ||
      !decodeArguments(object, Field::Outputs, cell.outputs))
    return false;
  cell.node = getNode(executed);
  if (cell.node == none)
    return failType(object, Field::Cell, "a cell", executed);
  if (graph.isNone(mirror))
    return true;
  if (classes.get(mirror) != PlanClass::ReuseCell)
    return failType(object, Field::Mirror, "ExeReuseCell or None", mirror);
  return getId(open(mirror), cell.mirror);
}

void Decoder::reserveTables() {
  // Room is not touched before it is used, and growing would copy.
  std::vector<uint32_t> counts = graph.countObjects();
  size_t numSubTensors = 0, numFullTensors = 0, numNodes = 0;
  for (Value value : graph.getGlobals()) {
    uint32_t count = counts[graph.getGlobalNumber(value)];
    PlanClass planClass = classes.getByGlobal(value);
    if (planClass == PlanClass::SubTensor)
      numSubTensors += count;
    else if (planClass == PlanClass::FullTensor)
      numFullTensors += count;
    else if (getNodeKind(planClass))
      numNodes += count;
  }
  plan.subTensors.reserve(numSubTensors);
  plan.fullTensors.reserve(numFullTensors);
  plan.nodes.reserve(numNodes);
}

template <typename Decode>
bool Decoder::decodeBatch(const std::vector<Value> &values, size_t &numDecoded,
                          Decode decode) {
  // What lies together in the file lies together in memory: going through a
  // batch in the order of the file saves most cache misses.
  std::vector<uint64_t> order;
  order.reserve(values.size() - numDecoded);
  for (; numDecoded != values.size(); ++numDecoded)
    order.push_back(uint64_t(values[numDecoded].getNode()) << 32 | numDecoded);
  llvm::sort(order);
  return llvm::all_of(
      order, [&](uint64_t entry) { return decode(static_cast<Index>(entry)); });
}

bool Decoder::decodePending() {
  // Decoding an object may refer to more of them.
  size_t numNodes = 0, numSubTensors = 0, numFullTensors = 0;
  auto decodeOneNode = [&](Index index) {
    return decodeNode(nodeValues[index], index);
  };
  auto decodeOneSubTensor = [&](Index index) {
    if (!decodeSubTensor(subTensorValues[index], index))
      return false;
    // A new gradient usually lies next to its tensor.
    for (; numSubTensors != subTensorValues.size(); ++numSubTensors)
      if (!decodeSubTensor(subTensorValues[numSubTensors],
                           static_cast<Index>(numSubTensors)))
        return false;
    return true;
  };
  auto decodeOneFullTensor = [&](Index index) {
    return decodeFullTensor(fullTensorValues[index], index);
  };
  while (numNodes != nodeValues.size() ||
         numSubTensors != subTensorValues.size() ||
         numFullTensors != fullTensorValues.size())
    if (!decodeBatch(nodeValues, numNodes, decodeOneNode) ||
        !decodeBatch(subTensorValues, numSubTensors, decodeOneSubTensor) ||
        !decodeBatch(fullTensorValues, numFullTensors, decodeOneFullTensor))
      return false;
  return true;
}

bool Decoder::completeCells() {
  for (llvm::MutableArrayRef<Cell> cells : cellArrays)
    for (Cell &cell : cells) {
      const Node &node = plan.nodes[cell.node];
      if (!cell.isReuse) {
        cell.id = node.id;
        cell.inputs = node.inputs;
        cell.outputs = node.outputs;
        if (node.mirror != none)
          cell.mirror = plan.nodes[node.mirror].id;
      } else if (cell.inputs.size() != node.inputs.size() ||
                 cell.outputs.size() != node.outputs.size()) {
        return fail("ExeReuseCell " + llvm::Twine(cell.id) + ": " +
                    llvm::Twine(cell.inputs.size()) + " inputs and " +
                    llvm::Twine(cell.outputs.size()) + " outputs, but " +
                    node.className + " " + llvm::Twine(node.id) + " has " +
                    llvm::Twine(node.inputs.size()) + " and " +
                    llvm::Twine(node.outputs.size()));
      }
    }
  return true;
}

bool Decoder::checkTensors() {
  for (size_t i = 0; i != plan.subTensors.size(); ++i)
    if (!checkSubTensor(subTensorValues[i], plan.subTensors[i]))
      return false;
  return true;
}

llvm::Error Decoder::run() {
  reserveTables();
  if (decodeRoot() && decodePending() && completeCells() && checkTensors() &&
      checkNodes())
    return llvm::Error::success();
  return llvm::createStringError(message);
}

static llvm::Expected<PlanFile> decode(llvm::Expected<pickle::Graph> graph) {
  if (!graph)
    return graph.takeError();
  PlanFile plan;
  if (llvm::Error error = Decoder(*graph, plan).run())
    return error;
  return plan;
}

llvm::Expected<PlanFile> nnscaler::readPlanFile(llvm::StringRef path) {
  return decode(pickle::readPickleFile(path));
}

llvm::Expected<PlanFile>
nnscaler::readPlan(std::unique_ptr<llvm::MemoryBuffer> buffer) {
  return decode(pickle::readPickle(std::move(buffer)));
}
