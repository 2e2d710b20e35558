//===- DiagnosisText.cpp - words for differences --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnosis.h"

#include "FoldedGroups.h"
#include "RankFold.h"
#include "Verify/IR/Locations.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace verify;

StringRef verify::getName(DifferenceKind kind) {
  switch (kind) {
  case DifferenceKind::Other:
    return "other value";
  case DifferenceKind::Undefined:
    return "undefined value";
  case DifferenceKind::MissingSum:
    return "missing sum";
  case DifferenceKind::ExtraSum:
    return "extra sum";
  case DifferenceKind::WrongGroup:
    return "wrong group";
  case DifferenceKind::WrongSlice:
    return "wrong slice";
  case DifferenceKind::ScaleFactor:
    return "wrong scale factor";
  case DifferenceKind::MissingMicroBatch:
    return "missing micro-batch";
  case DifferenceKind::EarlyReduction:
    return "early reduction";
  case DifferenceKind::OutsideDomain:
    return "outside the domain";
  case DifferenceKind::MixedMicroBatches:
    return "mixed micro-batches";
  case DifferenceKind::WrongConstant:
    return "wrong constant";
  case DifferenceKind::ExchangedOperands:
    return "exchanged operands";
  case DifferenceKind::WrongOperand:
    return "wrong operand";
  }
  return "";
}

std::string verify::describe(Operation *op) {
  std::string name = getOpName(op->getLoc());
  return "'" + (name.empty() ? op->getName().getStringRef().str() : name) + "'";
}

std::string verify::describe(tv::ExpectOp expect) {
  if (std::optional<tv::ContractAttr> contract = expect.getContract()) {
    bool isGradient = contract->getRole() == tv::ContractRole::Gradient;
    return ((isGradient ? "gradient of '" : "output '") +
            contract->getName().getValue() + "'")
        .str();
  }
  std::string name = getOpName(expect.getLoc());
  return name.empty() ? "result of this op" : "result of '" + name + "'";
}

std::string verify::printNumber(double value, int digits) {
  // Of extended reals a mask has the least one.
  if (std::isnan(value) || (std::isinf(value) && value > 0))
    return "no finite double";
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.*g", digits, value);
  return text;
}

std::pair<std::string, std::string> verify::printDifferent(double left,
                                                           double right) {
  constexpr int fewest = 6, most = std::numeric_limits<double>::max_digits10;
  for (int digits = fewest; digits <= most; ++digits) {
    std::pair<std::string, std::string> texts = {printNumber(left, digits),
                                                 printNumber(right, digits)};
    if (texts.first != texts.second)
      return texts;
  }
  // More bits than those of doubles told them apart.
  return {printNumber(left), std::isfinite(left)
                                 ? "a number of the same first digits"
                                 : printNumber(right)};
}

std::string verify::describeRanges(ArrayRef<int64_t> numbers) {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (size_t i = 0, last; i < numbers.size(); i = last + 1) {
    last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1)
      ++last;
    out << (i ? ", " : "") << numbers[i];
    if (last > i)
      out << "-" << numbers[last];
  }
  return text;
}

std::string verify::describeDevices(ArrayRef<int64_t> devices) {
  if (devices.empty())
    return "all devices";
  return (devices.size() == 1 ? "device " : "devices ") +
         describeRanges(devices);
}

/// The coordinates of an axis at which one of the expects speaks of a value;
/// of none where one of them does not say.
static SmallVector<int64_t> listCoordinates(ArrayRef<tv::ExpectOp> expects,
                                            StringRef axis) {
  SmallVector<int64_t> coordinates;
  for (tv::ExpectOp expect : expects) {
    tv::AxisSetAttr set = expect.getDomain().getSet(axis);
    if (!set)
      return {};
    for (size_t i = 0; i < set.getBounds().size(); i += 2)
      for (int64_t coordinate = set.getBounds()[i];
           coordinate < set.getBounds()[i + 1]; ++coordinate)
        coordinates.push_back(coordinate);
  }
  llvm::sort(coordinates);
  coordinates.erase(llvm::unique(coordinates), coordinates.end());
  return coordinates;
}

SmallVector<int64_t> verify::listDevices(tv::ExpectOp expect,
                                         ArrayRef<int64_t> ranks) {
  SmallVector<int64_t> devices = listCoordinates(expect, "device");
  auto graph = expect->getParentOfType<tv::GraphOp>();
  if (!graph)
    return devices;
  if (ranks.empty())
    return addFoldedRanks(graph, devices);
  SmallVector<int64_t> some;
  for (int64_t device : devices) {
    ArrayRef<int64_t> all = getFoldedRanks(graph, device);
    if (all.empty())
      some.push_back(device);
    for (int64_t rank : ranks)
      if (rank < static_cast<int64_t>(all.size()))
        some.push_back(all[rank]);
  }
  return some;
}

std::string verify::describePlace(SmallVector<int64_t> devices,
                                  ArrayRef<tv::ExpectOp> expects,
                                  ArrayRef<int64_t> microBatches,
                                  tv::MeshAttr mesh) {
  llvm::sort(devices);
  devices.erase(llvm::unique(devices), devices.end());
  std::string text = describeDevices(devices);
  int64_t replicas = mesh.getAxisSize("dp").value_or(1);
  if (replicas > 1)
    text += " of each of " + std::to_string(replicas) + " replicas";
  // What the contract speaks of is that of the whole step.
  bool isResult = llvm::all_of(expects, [](tv::ExpectOp expect) {
    return expect.getContract().has_value();
  });
  int64_t count = mesh.getAxisSize("mb").value_or(1);
  if (isResult || count == 1)
    return text;
  SmallVector<int64_t> where(microBatches);
  if (where.empty())
    where = listCoordinates(expects, "mb");
  if (where.empty() || static_cast<int64_t>(where.size()) == count)
    return text + ", all micro-batches";
  return text + (where.size() == 1 ? ", micro-batch " : ", micro-batches ") +
         describeRanges(where);
}

std::string verify::describePart(tv::LineageAttr lineage) {
  std::string text;
  for (ArrayAttr dimension : lineage.getDimensions()) {
    text += text.empty() ? "[" : ", ";
    auto range = cast<tv::DimensionFactorAttr>(dimension.getValue().back());
    if (range.getEnd() - range.getStart() == range.getExtent())
      text += ":";
    else
      text += std::to_string(range.getStart()) + ":" +
              std::to_string(range.getEnd());
  }
  return text.empty() ? "the number" : text + "]";
}

std::string verify::describeSum(const Match &match, tv::LineageAttr implied,
                                tv::MeshAttr mesh) {
  std::string text;
  SmallVector<int64_t> devices;
  for (Value term : match.terms)
    llvm::append_range(devices, getDevices(term));
  llvm::sort(devices);
  devices.erase(llvm::unique(devices), devices.end());
  // Devices that one stands for are named.
  bool areRanksNamed = devices.size() > 1;
  bool isOverRanks =
      llvm::any_of(match.lineage.getSumAxes(), RankFold::isAxis) &&
      llvm::none_of(implied.getSumAxes(), RankFold::isAxis);
  if (match.terms.size() > 1 || (isOverRanks && areRanksNamed))
    text = describeDevices(devices);
  for (StringAttr axis : match.lineage.getSumAxes()) {
    if (llvm::is_contained(implied.getSumAxes(), axis) ||
        (RankFold::isAxis(axis) && areRanksNamed))
      continue;
    int64_t size = mesh.getAxisSize(axis.getValue()).value_or(1);
    text += (text.empty() ? "the " : " and the ") + std::to_string(size) +
            (axis.getValue() == "dp"   ? " replicas"
             : axis.getValue() == "mb" ? " micro-batches"
                                       : " coordinates of " + axis.str());
  }
  return text;
}
