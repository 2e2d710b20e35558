//===- RefutationReport.cpp - text of counterexamples ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FoldedGroups.h"
#include "RankFold.h"
#include "Refutation.h"
#include "WitnessFile.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace verify;

static std::string describeElement(ArrayRef<int64_t> index) {
  std::string text = "element [";
  for (auto [i, position] : llvm::enumerate(index))
    text += (i ? ", " : "") + std::to_string(position);
  return text + "]";
}

/// How many results there are, counted on each device of a replica.
static int64_t countResults(ArrayRef<tv::ExpectOp> results) {
  int64_t count = 0;
  for (tv::ExpectOp result : results)
    count += result.getNumDevices();
  return count;
}

/// `1 output and the gradients of 10 parameters`.
static std::string summarize(ArrayRef<tv::ExpectOp> results) {
  llvm::StringSet<> outputs, gradients;
  for (tv::ExpectOp result : SmallVector<tv::ExpectOp>(results)) {
    tv::ContractAttr contract = *result.getContract();
    bool isOutput = contract.getRole() == tv::ContractRole::Output;
    (isOutput ? outputs : gradients).insert(contract.getName().getValue());
  }
  auto count = [](size_t number, StringRef noun) {
    return (Twine(number) + " " + noun + (number == 1 ? "" : "s")).str();
  };
  std::string text;
  if (!outputs.empty())
    text = count(outputs.size(), "output");
  if (gradients.size() == 1)
    text += std::string(text.empty() ? "" : " and ") +
            "the gradient of 1 parameter";
  else if (!gradients.empty())
    text += std::string(text.empty() ? "" : " and ") + "the gradients of " +
            count(gradients.size(), "parameter");
  return text;
}

/// `parameters 'a', 'b' and 10 more being 0, `.
static std::string describeZeros(const llvm::StringSet<> &zeros) {
  SmallVector<StringRef> names;
  for (const auto &entry : zeros)
    names.push_back(entry.getKey());
  llvm::sort(names);
  constexpr size_t shown = 2;
  std::string text = names.size() == 1 ? "parameter " : "parameters ";
  for (auto [number, name] : llvm::enumerate(ArrayRef(names).take_front(shown)))
    text += (number == 0         ? "'"
             : names.size() == 2 ? " and '"
                                 : ", '") +
            name.str() + "'";
  if (names.size() > shown)
    text += " and " + std::to_string(names.size() - shown) + " more";
  return text + " being 0, ";
}

static StringRef describePositions(LongPositions positions) {
  switch (positions) {
  case LongPositions::All:
    return "";
  case LongPositions::Blocks:
    return ", few of them different along long dimensions";
  case LongPositions::Last:
    return ", equal along long dimensions but for the last position";
  }
  return "";
}

/// `replica 3`, of ranks for which one device stands the device.
static std::string describeCoordinate(tv::ExpectOp expect, StringRef axis,
                                      int64_t coordinate) {
  StringRef noun = axis == "dp"   ? "replica"
                   : axis == "mb" ? "micro-batch"
                                  : axis;
  SmallVector<int64_t> devices = listDevices(expect, {coordinate});
  if (axis == RankFold::axis && !devices.empty()) {
    noun = "device";
    coordinate = devices.front();
  }
  return (noun + " " + Twine(coordinate)).str();
}

static void printElement(Diagnostic &note, tv::ExpectOp expect,
                         const DifferentElement &element) {
  note << describeElement(element.index) << " of " << describe(expect) << " is "
       << element.planValue << " in the plan and " << element.referenceValue
       << " in the reference";
  StringRef separator = ", at ";
  for (auto &[axis, coordinate] : element.coordinates) {
    note << separator << describeCoordinate(expect, axis, coordinate);
    separator = ", ";
  }
}

/// Whether an op computes of a value that differs before it is computed.
static bool leadsTo(tv::ExpectOp expect, Operation *op) {
  llvm::SetVector<Operation *> cone =
      collectCone(llvm::to_vector(op->getOperands()));
  return llvm::any_of(expect.getValues(), [&](Value value) {
    Operation *producer = value.getDefiningOp();
    return producer && producer != op && cone.contains(producer);
  });
}

Finding Refutation::getFinding() {
  if (!diagnosed)
    diagnosed = diagnose(getLooked(*coarse));
  std::optional<Finding> finding = *diagnosed;
  DifferentElement element{confirmed.index, confirmed.planValue,
                           confirmed.referenceValue, confirmed.coordinates};
  if (!finding) {
    finding.emplace();
    finding->expect = confirmed.expect;
    finding->alike = {confirmed.expect};
    finding->element = element;
  }
  // What was looked at roughly is known then.
  if (usesGroups() && finding->expect == confirmed.expect)
    finding->element = element;
  if (Operation *undefined = confirmed.undefinedOp) {
    std::string text = describe(undefined) +
                       " is undefined on these inputs: it divides by 0, or "
                       "takes a root or logarithm that does not exist";
    if (leadsTo(finding->expect, undefined)) {
      finding->related.emplace_back(undefined->getLoc(), std::move(text));
    } else {
      finding->kind = DifferenceKind::OutsideDomain;
      finding->op = undefined;
      finding->element.planValue = confirmed.planValue;
      finding->explanation = std::move(text);
    }
  }
  return std::move(*finding);
}

/// Whether ranks have different parts of what a value is part of.
static bool isDividedByRanks(Value value) {
  auto part = value.getDefiningOp<tv::DistributeOp>();
  return part && RankFold::areDivided(part.getLineage());
}

/// Whether what is said of a device that stands for others is not that of each
/// of them: other parts, or other members of a group.
static bool isOfOne(const Finding &finding) {
  if (auto reduction = dyn_cast_if_present<tv::AllReduceOp>(finding.op))
    return llvm::none_of(reduction.getAxes().getAsRange<StringAttr>(),
                         RankFold::isAxis);
  return finding.kind == DifferenceKind::WrongSlice ||
         (finding.op &&
          llvm::any_of(finding.op->getOperands(), isDividedByRanks));
}

bool Refutation::addFolded(llvm::DenseSet<int64_t> &devices) {
  Finding finding = getFinding();
  bool isNew = false;
  for (tv::ExpectOp expect : finding.alike)
    if (isOfOne(finding) || restsOnParts(expect))
      isNew |= addFoldedUnder(expect, devices);
  return isNew;
}

/// How much larger than others inputs are, if they are.
static std::string describeExponent(const WitnessSeed &seed) {
  if (seed.exponent == 0)
    return "";
  return (" times 2^" + Twine(seed.exponent) +
          (seed.scalesParameters ? "" : " but for parameters"))
      .str();
}

void Refutation::addCounterexample(InFlightDiagnostic &error) {
  error.attachNote(confirmed.expect.getLoc())
      << "counterexample: with the " << (seed.isPositive ? "positive " : "")
      << "inputs of seed " << seed.number << describeExponent(seed)
      << describePositions(seed.positions)
      << (seed.hasNeighbours ? ", integers in pairs of neighbours, " : ", ")
      << (seed.zeros ? describeZeros(*seed.zeros) : "")
      << (seed.constant ? "the others equal along the dimensions that devices "
                          "divide, "
                        : "")
      << describeElement(confirmed.index) << " of "
      << describe(confirmed.expect) << " is " << confirmed.planValue
      << " in the plan and " << confirmed.referenceValue
      << " in the reference; confirmed at full size in " << confirmed.precision
      << "-bit interval arithmetic";
}

llvm::Expected<bool> Refutation::writeInputs(StringRef path) const {
  if (!confirmedAt)
    return llvm::createStringError("nothing was found on any");
  return writeWitness(path, graph, *confirmedAt, seed);
}

int64_t Refutation::count(ArrayRef<tv::ExpectOp> expects) const {
  int64_t count = 0;
  for (tv::ExpectOp result : expects)
    count += std::max<int64_t>(
        listDevices(result, diagnosis->getRanks(result)).size(), 1);
  return count;
}

std::string Refutation::describeWhere(ArrayRef<tv::ExpectOp> expects,
                                      ArrayRef<int64_t> microBatches) {
  SmallVector<int64_t> devices;
  for (tv::ExpectOp expect : expects) {
    SmallVector<int64_t> own = listDevices(expect, diagnosis->getRanks(expect));
    // One that is on all devices does not name them.
    if (own.empty())
      return describePlace(SmallVector<int64_t>(), expects, microBatches,
                           graph.getMesh());
    llvm::append_range(devices, own);
  }
  return describePlace(std::move(devices), expects, microBatches,
                       graph.getMesh());
}

/// The name of the parameter, one that is trained if any is, that is fewest ops
/// before a value of the reference, which tells a layer from others at the same
/// line; empty if there is none near.
static StringRef findNearestParameter(tv::GraphOp graph, Value value) {
  constexpr size_t mostValues = 256;
  llvm::DenseSet<StringAttr> trained;
  for (auto expect : graph.getBody().getOps<tv::ExpectOp>())
    if (tv::ContractAttr contract = expect.getContractAttr();
        contract && contract.getRole() == tv::ContractRole::Gradient)
      trained.insert(contract.getName());
  SmallVector<Value> values = {value};
  llvm::SmallDenseSet<Value> seen = {value};
  for (size_t next = 0; next != std::min(values.size(), mostValues); ++next) {
    Operation *op = values[next].getDefiningOp();
    if (!op)
      continue;
    if (auto input = dyn_cast<tv::InputOp>(op);
        input && input.getContract().getRole() == tv::ContractRole::Parameter &&
        (trained.empty() || trained.contains(input.getContract().getName())))
      return input.getContract().getName().getValue();
    for (Value operand : op->getOperands())
      if (seen.insert(operand).second)
        values.push_back(operand);
  }
  return "";
}

/// Whether some values do not depend on all that they are computed of, as what
/// is dropped or the lesser one of two.
static bool hidesValues(tv::GraphOp graph) {
  return llvm::any_of(graph.getBody().getOps(), [](Operation &op) {
    if (auto input = dyn_cast<tv::InputOp>(op))
      return input.getContract().getRole() == tv::ContractRole::Random;
    if (auto reduce = dyn_cast<tv::ReduceOp>(op))
      return reduce.getKind() == tv::ReductionKind::Maximum ||
             reduce.getKind() == tv::ReductionKind::Minimum;
    return isa<tv::ReluOp, tv::MaximumOp, tv::MinimumOp, tv::CompareOp,
               tv::SelectOp>(op) ||
           op.hasTrait<tv::AssumesNoTies>();
  });
}

bool Refutation::showsLess() const {
  return isPartial || seed.zeros || seed.constant || seed.exponent ||
         seed.positions != LongPositions::All || diagnosis->isIncomplete() ||
         hidesValues(graph);
}

void Refutation::addConsequences(InFlightDiagnostic &error, Location place,
                                 const Finding &finding) {
  // Where not all were looked at, what rests on what is known to be wrong.
  bool isBound =
      isPartial && !finding.roots.empty() && !diagnosis->isIncomplete();
  SmallVector<tv::ExpectOp> affected = wrong;
  if (isBound) {
    llvm::append_range(affected, diagnosis->findRoots(wrong));
    llvm::append_range(affected, finding.roots);
    affected = findDependent(affected);
  }
  int64_t number = count(affected), total = countResults(results);
  bool isOne = number == 1, areAll = number == total;
  StringRef wrongResults = isOne ? " results comes" : " results come";
  if (isBound)
    wrongResults = isOne ? " results, which rests on it, may come"
                         : " results, which rest on it, may come";
  error.attachNote(place) << "as a consequence "
                          << (!isBound && !areAll && showsLess() ? "at least "
                                                                 : "")
                          << number << " of " << total << wrongResults
                          << " out wrong: " << summarize(affected) << ", on "
                          << describeWhere(affected, {})
                          << (isBound && !areAll ? "; others were not compared"
                                                 : "");
}

void Refutation::report() {
  Finding finding = getFinding();
  tv::ExpectOp expect = finding.expect;
  Operation *op = finding.op;
  bool isUndefined = finding.kind == DifferenceKind::Undefined;
  Location place = op && (isUndefined || !expect.getContract())
                       ? op->getLoc()
                       : expect.getLoc();
  InFlightDiagnostic error = emitError(place);
  if (isUndefined) {
    error << "undefined value: " << finding.explanation;
  } else {
    error << describe(expect) << " differs from the reference on "
          << describeWhere(finding.alike, finding.microBatches);
    if (!finding.explanation.empty())
      error.attachNote(op ? op->getLoc() : place)
          << getName(finding.kind) << ": " << finding.explanation;
  }
  for (auto &[where, text] : finding.related)
    error.attachNote(where) << text;
  StringRef parameter = findNearestParameter(graph, expect.getReference());
  error.attachNote(expect.getReference().getLoc())
      << "single-device model: "
      << (isUndefined ? "the value that depends on it" : "the reference value")
      << " is computed here"
      << (parameter.empty()
              ? ""
              : "; the nearest parameter before it is '" + parameter + "'");
  if (!isUndefined)
    printElement(error.attachNote(expect.getLoc()), expect, finding.element);
  if (finding.otherValues)
    error.attachNote(finding.other.getLoc())
        << finding.otherValues << " more "
        << (finding.otherValues == 1 ? "value differs" : "values differ")
        << " although what goes into "
        << (finding.otherValues == 1 ? "it" : "them") << " does not"
        << (finding.otherValues == 1 ? ": " : ", the first is ")
        << describe(finding.other) << " on "
        << describeWhere(finding.other, {});
  addConsequences(error, place, finding);
  if (!isUndefined)
    addCounterexample(error);
}
