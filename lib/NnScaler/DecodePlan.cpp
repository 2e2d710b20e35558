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

#include "PlanDecoder.h"

#include "Verify/Pickle/LargePages.h"
#include "Verify/Pickle/Reader.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ThreadPool.h"

#include <atomic>
#include <memory>
#include <numeric>

using namespace verify;
using namespace verify::nnscaler;

static size_t getMemoryLimit(const pickle::Graph &graph) {
  constexpr size_t base = size_t(64) << 20, hardCap = size_t(16) << 30;
  return std::min(base + 32 * graph.getFileSize(), hardCap);
}

/// Decoders, each with an arena of its own in `plan`.
static std::vector<std::unique_ptr<Decoder>>
makeDecoders(const pickle::Graph &graph, PlanFile &plan, unsigned threads,
             const llvm::DenseSet<int64_t> &knownDevices) {
  std::vector<std::unique_ptr<Decoder>> decoders;
  for (unsigned thread = 0; thread != threads; ++thread) {
    auto &arena =
        plan.arenas.emplace_back(std::make_unique<llvm::BumpPtrAllocator>());
    decoders.push_back(std::make_unique<Decoder>(
        graph, *arena, getMemoryLimit(graph) / threads, knownDevices));
  }
  return decoders;
}

PlanDecoder::PlanDecoder(const pickle::Graph &graph, PlanFile &plan,
                         unsigned threads)
    : graph(graph), plan(plan),
      decoders(makeDecoders(graph, plan, std::max(threads, 1u), knownDevices)),
      decoder(*decoders.front()), indices(graph.getNumNodes(), none) {
  if (threads > 1)
    helpers = std::make_unique<llvm::DefaultThreadPool>(
        llvm::hardware_concurrency(threads - 1));
}

PlanDecoder::~PlanDecoder() = default;

bool PlanDecoder::decodeRoot() {
  Value root = graph.getRoot();
  if (decoder.getClass(root) != PlanClass::ModuleCodeGen)
    return decoder.fail("expected an execution plan (ModuleCodeGen), found " +
                        graph.describe(root));
  ObjectFields object = decoder.open(root);
  if (!decoder.getIntegers(object, Field::Devices, plan.devices) ||
      !decoder.getInteger(object, Field::RuntimeDevices, plan.runtimeDevices) ||
      !decoder.getBoolean(object, Field::EnableDataParallel,
                          plan.enableDataParallel) ||
      !decoder.getObject(object, Field::ExecutionPlan, PlanClass::ExecutionPlan,
                         executionPlan))
    return false;
  for (int64_t device : plan.devices) {
    if (!Decoder::isDevice(device))
      return decoder.failField(object, Field::Devices,
                               llvm::Twine(device) + " is no device");
    if (!knownDevices.insert(device).second)
      return decoder.failField(object, Field::Devices,
                               "device " + llvm::Twine(device) +
                                   " occurs twice");
  }
  int64_t numDevices = plan.devices.size();
  if (numDevices == 0)
    return decoder.failField(object, Field::Devices, "no devices");
  if (plan.runtimeDevices < numDevices || plan.runtimeDevices > INT32_MAX ||
      plan.runtimeDevices % numDevices != 0)
    return decoder.failField(
        object, Field::RuntimeDevices,
        llvm::Twine(plan.runtimeDevices) + " is no multiple of the " +
            llvm::Twine(numDevices) + " devices of a replica");
  if (plan.enableDataParallel != (plan.runtimeDevices > numDevices))
    return decoder.failField(
        object, Field::EnableDataParallel,
        llvm::Twine(plan.enableDataParallel ? "true" : "false") +
            ", but the plan uses " + llvm::Twine(numDevices) + " of " +
            llvm::Twine(plan.runtimeDevices) + " devices");
  ObjectFields planObject = decoder.open(executionPlan);
  return decodePrograms(planObject) && decodeOutputs(planObject);
}

bool PlanDecoder::decodePrograms(const ObjectFields &executionPlan) {
  Value sequences;
  if (!decoder.get(executionPlan, Field::Sequences, sequences))
    return false;
  if (graph.getKind(sequences) != pickle::Kind::Dictionary)
    return decoder.failType(executionPlan, Field::Sequences, "dict", sequences);
  llvm::DenseSet<int64_t> missing = knownDevices;
  for (size_t i = 0, e = graph.getNumEntries(sequences); i != e; ++i) {
    auto [key, sequence] = graph.getEntry(sequences, i);
    std::optional<int64_t> device = decoder.toInteger(key);
    if (!device)
      return decoder.failType(executionPlan, Field::Sequences, "devices", key);
    if (!Decoder::isDevice(*device) || !missing.erase(*device))
      return decoder.failField(executionPlan, Field::Sequences,
                               "device " + llvm::Twine(*device) +
                                   " is not among the devices of the plan");
    DeviceProgram program;
    program.device = *device;
    if (!placeCells(executionPlan, sequence, program.cells))
      return false;
    plan.programs.push_back(program);
  }
  for (int64_t device : plan.devices)
    if (missing.contains(device))
      return decoder.failField(executionPlan, Field::Sequences,
                               "device " + llvm::Twine(device) + " is missing");
  return true;
}

bool PlanDecoder::decodeOutputs(const ObjectFields &executionPlan) {
  if (!decoder.decodeArguments(executionPlan, Field::Outputs, plan.outputs))
    return false;
  for (const References &array : decoder.getReferences())
    resolve(array);
  decoder.forgetReferences();
  return true;
}

bool PlanDecoder::placeCells(const ObjectFields &executionPlan, Value sequence,
                             llvm::ArrayRef<Cell> &cells) {
  std::optional<llvm::ArrayRef<Value>> elements = decoder.toSequence(sequence);
  if (!elements)
    return decoder.failType(executionPlan, Field::Sequences, "lists of cells",
                            sequence);
  auto [known, isNew] = cellsByValue.try_emplace(sequence.getRaw());
  if (isNew) {
    Cell *first;
    if (!decoder.allocate(elements->size(), first))
      return false;
    known->second = llvm::ArrayRef(first, elements->size());
    cellArrays.emplace_back(first, elements->size());
    for (Value element : *elements) {
      // What is held in place is no key: it is no cell either.
      if (!element.isNode())
        return decoder.failType(executionPlan, Field::Sequences, "a cell",
                                element);
      auto [number, isFirst] =
          numberOfCell.try_emplace(element.getRaw(), cellValues.size());
      if (isFirst)
        cellValues.push_back(element);
      first++->node = number->second;
    }
  }
  cells = known->second;
  return true;
}

void PlanDecoder::reserveTables() {
  // Room is not touched before it is used, and growing would copy.
  std::vector<uint32_t> counts = graph.countObjects();
  size_t numSubTensors = 0, numFullTensors = 0, numNodes = 0;
  for (Value value : graph.getGlobals()) {
    uint32_t count = counts[graph.getGlobalNumber(value)];
    PlanClass planClass = decoder.getClassByGlobal(value);
    if (planClass == PlanClass::SubTensor)
      numSubTensors += count;
    else if (planClass == PlanClass::FullTensor)
      numFullTensors += count;
    else if (getNodeKind(planClass))
      numNodes += count;
  }
  auto reserve = [&](auto &table, size_t count) {
    table.reserve(count);
    pickle::preferLargePages(table.data(), count * sizeof(table[0]));
    // Of objects that nothing leads to there may be far more than of others.
    if (helpers)
      helpers->async(
          [start = table.data(),
           size = std::min(count * sizeof(table[0]), graph.getFileSize())] {
            pickle::populatePages(start, size);
          });
  };
  reserve(plan.subTensors, numSubTensors);
  reserve(plan.fullTensors, numFullTensors);
  reserve(plan.nodes, numNodes);
  for (Objects *objects : {&subTensorObjects, &fullTensorObjects, &nodeObjects})
    objects->pending.resize(graph.getNumNodes());
}

void PlanDecoder::resolve(const References &array) {
  switch (array.kind) {
  case References::Arguments:
    for (Argument &argument : llvm::MutableArrayRef(
             static_cast<Argument *>(array.first), array.size))
      resolveArgument(argument);
    return;
  case References::Keywords:
    for (KeywordArgument &keyword : llvm::MutableArrayRef(
             static_cast<KeywordArgument *>(array.first), array.size))
      resolveArgument(keyword.value);
    return;
  case References::Nodes:
    for (Index &node :
         llvm::MutableArrayRef(static_cast<Index *>(array.first), array.size))
      node = getNode(Value::fromRaw(node));
    return;
  }
}

bool PlanDecoder::decodeAll(llvm::ArrayRef<Index> numbers,
                            llvm::function_ref<bool(Decoder &, Index)> decode) {
  // Each thread takes the next part that none has taken.
  constexpr size_t partSize = 2048;
  struct Part {
    const Decoder *decoder;
    size_t first, last; ///< of its references
  };
  std::vector<Part> parts(llvm::divideCeil(numbers.size(), partSize));
  std::atomic<size_t> nextPart = 0;
  std::atomic<bool> hasFailed = false;
  auto work = [&](Decoder &own) {
    for (size_t part = nextPart++; part < parts.size() && !hasFailed;
         part = nextPart++) {
      size_t first = own.getReferences().size();
      for (Index number : numbers.slice(part * partSize).take_front(partSize))
        if (!decode(own, number)) {
          hasFailed = true;
          return;
        }
      parts[part] = {&own, first, own.getReferences().size()};
    }
  };
  if (parts.size() > 1)
    for (size_t helper = 1; helper != decoders.size(); ++helper)
      helpers->async([&work, &own = *decoders[helper]] { work(own); });
  work(decoder);
  if (helpers)
    helpers->wait();
  if (hasFailed)
    return false;
  for (const Part &part : parts)
    for (const References &array : part.decoder->getReferences().slice(
             part.first, part.last - part.first))
      resolve(array);
  for (auto &each : decoders)
    each->forgetReferences();
  return true;
}

template <typename Entry, typename Decode, typename Resolve>
bool PlanDecoder::decodeTable(std::vector<Entry> &table, Objects &objects,
                              Decode decode, Resolve resolve) {
  // What lies together in the file lies together in memory: going through a
  // batch in the order of the file saves most cache misses.
  std::vector<Index> numbers;
  for (unsigned node : objects.pending.set_bits())
    numbers.push_back(indices[node]);
  objects.pending.reset();
  if (!decodeAll(numbers, [&](Decoder &own, Index number) {
        return (own.*decode)(objects.values[number], table[number]);
      }))
    return false;
  for (Index number : numbers)
    resolve(number);
  return true;
}

bool PlanDecoder::decodeCells() {
  ObjectFields fields = decoder.open(executionPlan);
  cells.resize(cellValues.size());
  std::vector<Index> numbers(cells.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  llvm::sort(numbers, [&](Index left, Index right) {
    return cellValues[left].getNode() < cellValues[right].getNode();
  });
  if (!decodeAll(numbers, [&](Decoder &own, Index number) {
        return own.decodeCell(fields, cellValues[number], cells[number]);
      }))
    return false;
  for (auto [number, cell] : llvm::enumerate(cells)) {
    cell.node = getNode(Value::fromRaw(cell.node));
    cell.number = number;
    if (cell.mirrorNumber != none)
      cell.mirrorNumber = getCellNumber(Value::fromRaw(cell.mirrorNumber));
  }
  return true;
}

bool PlanDecoder::decodePending() {
  // Decoding an object may refer to more of them.
  auto getMirror = [&](Value value) { return getNode(value); };
  auto getGradient = [&](Value value) { return getSubTensor(value); };
  auto getFull = [&](Value value) { return getFullTensor(value); };
  auto resolveNode = [&](Index number) {
    Index mirror = plan.nodes[number].mirror;
    resolveField(mirror, getMirror);
    plan.nodes[number].mirror = mirror;
  };
  auto resolveSubTensor = [&](Index number) {
    Index full = plan.subTensors[number].full;
    Index gradient = plan.subTensors[number].gradient;
    resolveField(full, getFull);
    resolveField(gradient, getGradient);
    plan.subTensors[number].full = full;
    plan.subTensors[number].gradient = gradient;
  };
  auto resolveFullTensor = [&](Index number) {
    Index gradient = plan.fullTensors[number].gradient;
    resolveField(gradient, getFull);
    plan.fullTensors[number].gradient = gradient;
  };
  while (nodeObjects.pending.any() || subTensorObjects.pending.any() ||
         fullTensorObjects.pending.any())
    if (!decodeTable(plan.nodes, nodeObjects, &Decoder::decodeNode,
                     resolveNode) ||
        !decodeTable(plan.subTensors, subTensorObjects,
                     &Decoder::decodeSubTensor, resolveSubTensor) ||
        !decodeTable(plan.fullTensors, fullTensorObjects,
                     &Decoder::decodeFullTensor, resolveFullTensor))
      return false;
  return true;
}

llvm::Error PlanDecoder::run() {
  reserveTables();
  if (decodeRoot() && decodeCells() && decodePending() && completeCells() &&
      checkTensors() && checkNodes())
    return llvm::Error::success();
  return llvm::createStringError(decoder.getMessage());
}

static llvm::Expected<PlanFile> decode(llvm::Expected<pickle::Graph> graph,
                                       unsigned threads) {
  if (!graph)
    return graph.takeError();
  if (threads > 1) {
    PlanFile plan;
    llvm::Error error = PlanDecoder(*graph, plan, threads).run();
    if (!error)
      return plan;
    llvm::consumeError(std::move(error));
  }
  // What is said of a plan that is no good does not depend on threads: one says
  // it.
  PlanFile plan;
  if (llvm::Error error = PlanDecoder(*graph, plan, 1).run())
    return error;
  return plan;
}

llvm::Expected<PlanFile> nnscaler::readPlanFile(llvm::StringRef path,
                                                unsigned threads) {
  return decode(pickle::readPickleFile(path), threads);
}

llvm::Expected<PlanFile>
nnscaler::readPlan(std::unique_ptr<llvm::MemoryBuffer> buffer,
                   unsigned threads) {
  return decode(pickle::readPickle(std::move(buffer)), threads);
}
