//===- LineageLinker.cpp - states what relates plan and reference ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LineageLinker.h"

#include "Boundaries.h"
#include "FoldedGroups.h"
#include "InferredLineage.h"
#include "Verify/Semantics/Boxes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace verify;

//===----------------------------------------------------------------------===//
// Linking
//===----------------------------------------------------------------------===//

void LineageLinker::add(ArrayRef<Value> values, Value tensor,
                        tv::LineageAttr lineage, tv::ContractAttr contract,
                        int64_t device, Location location, bool isGuess) {
  auto [found, isNew] = known.try_emplace(
      std::tuple(values.front(), tensor, lineage), claims.size());
  if (!isNew && ArrayRef(claims[found->second].values) == values &&
      claims[found->second].contract == contract) {
    Claim &claim = claims[found->second];
    // It is reported where the first device has it, whichever ran first.
    if (device < *llvm::min_element(claim.devices))
      claim.location = location;
    if (!llvm::is_contained(claim.devices, device))
      claim.devices.push_back(device);
    claim.isGuess &= isGuess;
    return;
  }
  found->second = claims.size();
  claims.push_back({SmallVector<Value, 1>(values),
                    tensor,
                    lineage,
                    contract,
                    {device},
                    location,
                    isGuess});
}

llvm::SmallBitVector LineageLinker::getNoAxes() const {
  return llvm::SmallBitVector(mesh.getAxes().size());
}

void LineageLinker::set(llvm::SmallBitVector &axes, StringRef axis,
                        bool value) const {
  for (auto [number, known] : llvm::enumerate(mesh.getAxes()))
    if (known.getName() == axis)
      axes[number] = value;
}

void LineageLinker::findVarying() {
  for (Operation &op : *builder.getInsertionBlock()) {
    if (op.getNumResults() != 1)
      continue;
    llvm::SmallBitVector axes = getNoAxes();
    if (auto distribute = dyn_cast<tv::DistributeOp>(op)) {
      for (ArrayAttr dimension : distribute.getLineage().getDimensions())
        for (auto factor : dimension.getAsRange<tv::DimensionFactorAttr>())
          if (factor.getAxis())
            set(axes, factor.getAxis(), true);
    } else {
      for (Value operand : op.getOperands())
        if (auto found = varying.find(operand); found != varying.end())
          axes |= found->second;
    }
    // Nothing is to be taken away from what depends on no axis.
    if (axes.none() && !isa<tv::AllSliceOp>(op))
      continue;
    if (op.hasTrait<tv::RunsAlongAxes>()) {
      auto semantics = cast<tv::SemanticsOpInterface>(op);
      FailureOr<IndexRelation> relation = semantics.getIndexRelation();
      if (succeeded(relation)) {
        for (const auto &sum : relation->axisSums)
          set(axes, sum.axis, false);
        for (const auto &read : relation->axisReads)
          set(axes, read.axis, false);
        for (const auto &factor : relation->axisFactors)
          set(axes, factor.axis, !factor.isRead);
      }
    }
    if (axes.any())
      varying[op.getResult(0)] = std::move(axes);
  }
}

void LineageLinker::addLemma(const StatedPiece &stated, Value tensor) {
  // A term of a sum is not a part of the reference tensor.
  if (stated.piece.getParts() != 1 ||
      stated.spread.kind == RankFold::Spread::Other ||
      !stated.value.getDefiningOp() ||
      isa<tv::DistributeOp>(stated.value.getDefiningOp()))
    return;
  auto type = cast<RankedTensorType>(tensor.getType());
  auto local = cast<RankedTensorType>(stated.value.getType());
  // Many devices state the same.
  unsigned divided = stated.spread.kind == RankFold::Spread::Divided
                         ? stated.spread.dimension + 1
                         : 0;
  auto [found, isNew] = lineages.try_emplace({stated.piece, type, divided});
  if (isNew)
    found->second =
        getLineage(stated.piece, type.getShape(), mesh, stated.spread);
  tv::LineageAttr lineage = found->second;
  if (!lineage ||
      ArrayRef<int64_t>(lineage.getLocalShape()) != local.getShape() ||
      // Programs that were traced apart may have one number for two tensors.
      !tv::areComparable(local, type))
    return;
  // Of ranks the piece tells terms apart itself.
  if (!isTerm(stated.value, lineage, /*saysOfRanks=*/true))
    add({stated.value}, tensor, lineage, {}, stated.device, stated.location);
}

bool LineageLinker::isTerm(Value value, tv::LineageAttr lineage,
                           bool saysOfRanks) const {
  auto found = varying.find(value);
  if (found == varying.end())
    return false;
  llvm::SmallBitVector axes = found->second;
  if (saysOfRanks)
    set(axes, RankFold::axis, false);
  for (ArrayAttr dimension : lineage.getDimensions())
    for (auto factor : dimension.getAsRange<tv::DimensionFactorAttr>())
      if (factor.getAxis())
        set(axes, factor.getAxis(), false);
  for (auto [number, axis] : llvm::enumerate(mesh.getAxes()))
    if (axes[number] && axis.getSize() > 1)
      return true;
  return false;
}

void LineageLinker::addInferred() {
  Block &block = *builder.getInsertionBlock();
  if (llvm::none_of(block, LineageInference::startsAt))
    return;
  LineageInference inference(mesh);
  for (const Claim &claim : claims)
    if (!claim.contract)
      inference.setKnown(claim.values.front(),
                         {claim.reference, claim.lineage});
  for (auto distribute : block.getOps<tv::DistributeOp>())
    inference.setKnown(distribute.getResult(),
                       {distribute.getReference(), distribute.getLineage()});
  for (Operation &op : block)
    inference.visit(op);
  for (auto &[value, found] : inference.take()) {
    auto domain =
        value.getDefiningOp()->getAttrOfType<tv::DomainAttr>("domain");
    tv::AxisSetAttr devices = domain.getSet("device");
    if (!devices || isTerm(value, found.lineage, /*saysOfRanks=*/false))
      continue;
    for (int64_t device = 0, end = *mesh.getAxisSize("device"); device < end;
         ++device)
      if (devices.contains(device))
        add({value}, found.reference, found.lineage, {}, device, value.getLoc(),
            /*isGuess=*/true);
  }
}

/// `[:, 32:64]` of bounds and extents.
static std::string printPart(ArrayRef<int64_t> bounds) {
  std::string text;
  for (size_t i = 0; i < bounds.size(); i += 3) {
    text += i ? ", " : "[";
    bool isWhole = bounds[i] == 0 && bounds[i + 1] == bounds[i + 2];
    text += isWhole ? ":"
                    : std::to_string(bounds[i]) + ":" +
                          std::to_string(bounds[i + 1]);
  }
  return text + "]";
}

void MissingPart::report() const {
  InFlightDiagnostic error = emitError(tv::BufferOp(holders.front()).getLoc())
                             << "no device holds part " << printPart(bounds)
                             << " of parameter '" << parameter << "'";
  for (tv::BufferOp holder : holders)
    error.attachNote(holder.getLoc())
        << "device " << holder.getDevice() << " holds part "
        << printPart(holder.getPiece().getBounds());
}

LogicalResult LineageLinker::checkCoverage(StringRef name,
                                           ArrayRef<int64_t> shape,
                                           ArrayRef<tv::BufferOp> holders) {
  SmallVector<Box> boxes;
  for (tv::BufferOp holder : holders) {
    ArrayRef<int64_t> bounds = tv::PieceAttr(holder.getPiece()).getBounds();
    Box &box = boxes.emplace_back();
    for (size_t i = 0; i < shape.size(); ++i)
      box.push_back({bounds[3 * i], bounds[3 * i + 1]});
  }
  std::optional<Box> uncovered = findUncovered(shape, boxes);
  if (!uncovered)
    return success();
  SmallVector<int64_t> hole;
  for (auto [range, size] : llvm::zip_equal(*uncovered, shape))
    hole.append({range.first, range.second, size});
  missing = {name.str(), hole, SmallVector<tv::BufferOp>(holders)};
  return failure();
}

LogicalResult LineageLinker::checkTrained(
    const llvm::StringMap<SmallVector<const FinalGradient *>> &held) {
  llvm::StringSet<> trained;
  for (const FinalGradient &expected : reference.getGradients())
    trained.insert(tv::BufferOp(expected.parameter).getName());
  for (const FinalGradient &gradient : plan.getGradients()) {
    tv::BufferOp parameter = gradient.parameter;
    if (!trained.contains(parameter.getName()))
      return emitError(parameter.getLoc())
             << "device " << parameter.getDevice() << " trains parameter '"
             << parameter.getName() << "', and the reference does not";
  }
  llvm::DenseSet<Operation *> updated;
  for (const auto &entry : held)
    for (const FinalGradient *gradient : entry.second)
      updated.insert(gradient->parameter);
  for (auto copy : planOp.getBody().getOps<tv::BufferOp>())
    if (!copy.getGradientOf() && trained.contains(copy.getName()) &&
        held.contains(copy.getName()) && !updated.contains(copy) &&
        !(fold && fold->isCovered(copy.getDevice())))
      return copy.emitOpError("parameter '")
             << copy.getName() << "' is trained, but not on device "
             << copy.getDevice() << ", which holds part "
             << printPart(copy.getPiece().getBounds());
  return success();
}

LogicalResult LineageLinker::addGradients() {
  llvm::StringMap<SmallVector<const FinalGradient *>> held;
  for (const FinalGradient &gradient : plan.getGradients()) {
    tv::BufferOp parameter = gradient.parameter;
    held[parameter.getName()].push_back(&gradient);
  }
  if (failed(checkTrained(held)))
    return failure();
  for (const FinalGradient &expected : reference.getGradients()) {
    tv::BufferOp parameter = expected.parameter;
    auto shape = cast<RankedTensorType>(expected.value.getType()).getShape();
    SmallVector<tv::BufferOp> holders;
    for (const FinalGradient *gradient : held[parameter.getName()]) {
      tv::BufferOp copy = gradient->parameter;
      tv::PieceAttr piece = copy.getPiece();
      SmallVector<int64_t> whole;
      for (size_t i = 2; i < piece.getBounds().size(); i += 3)
        whole.push_back(piece.getBounds()[i]);
      RankFold::Spread spread =
          fold ? fold->getGiven(copy) : RankFold::Spread();
      // The slice of a parameter is never divided by replicas.
      tv::LineageAttr lineage = ArrayRef<int64_t>(whole) == shape
                                    ? getLineage(piece, shape, mesh, spread)
                                    : tv::LineageAttr();
      if (!lineage)
        return copy.emitOpError("the reference program does not belong to this "
                                "plan: parameter '")
               << parameter.getName() << "' has another shape there";
      if (fold)
        llvm::append_range(holders, fold->getCopies(copy));
      else
        holders.push_back(copy);
      add({gradient->value}, expected.value, lineage,
          tv::ContractAttr::get(builder.getContext(),
                                tv::ContractRole::Gradient,
                                parameter.getNameAttr()),
          copy.getDevice(), gradient->location);
    }
    if (holders.empty())
      return planOp.emitOpError("no device trains parameter '")
             << parameter.getName() << "'";
    // They are listed in the order of the plan, whichever of them stand for
    // others.
    llvm::sort(holders, [](tv::BufferOp left, tv::BufferOp right) {
      return left->isBeforeInBlock(right);
    });
    if (failed(checkCoverage(parameter.getName(), shape, holders)))
      return failure();
  }
  return success();
}

void LineageLinker::findLemmas() {
  // Of several values stated to hold one tensor the last one does: gradients
  // are added to.
  llvm::DenseMap<std::pair<int64_t, int64_t>, Value> byTensor;
  for (const StatedPiece &stated : reference.getPieces())
    byTensor[{stated.piece.getFull(), stated.piece.getGradient()}] =
        stated.value;
  claims.reserve(plan.getPieces().size());
  known.reserve(plan.getPieces().size());
  findVarying();
  // A tensor that a plan hands on has other names there, one for each stage of
  // a pipeline; copies are values of two names.
  DenseValueMap<std::pair<Value, tv::PieceAttr>> named;
  for (const StatedPiece &stated : plan.getPieces()) {
    Value &tensor =
        byTensor[{stated.piece.getFull(), stated.piece.getGradient()}];
    auto [other, piece] = named.lookup(stated.value);
    if (!tensor && other && piece.getBounds() == stated.piece.getBounds() &&
        piece.getParts() == stated.piece.getParts())
      tensor = other;
    if (!tensor)
      continue;
    named.try_emplace(stated.value, tensor, stated.piece);
    addLemma(stated, tensor);
  }
  addInferred();
}

LogicalResult LineageLinker::findResults() {
  return success(succeeded(addOutputs()) && succeeded(addGradients()));
}

LinkCounts LineageLinker::write() {
  LinkCounts counts;
  int64_t number = 0;
  for (Claim &claim : claims) {
    // Where the value exists, on the devices that claim it.
    SmallVector<tv::AxisSetAttr> sets = {tv::AxisSetAttr::get(
        builder.getContext(), builder.getStringAttr("device"),
        toIntervals(SmallVector<int64_t>(ArrayRef(claim.devices))))};
    auto produced =
        claim.values.front().getDefiningOp()->getAttrOfType<tv::DomainAttr>(
            "domain");
    bool sumsMicroBatches =
        llvm::any_of(claim.lineage.getSumAxes(),
                     [](StringAttr axis) { return axis.getValue() == "mb"; });
    if (!sumsMicroBatches && produced)
      if (tv::AxisSetAttr set = produced.getSet("mb"))
        sets.push_back(set);
    // Devices that stand for themselves beside folded ones are at one
    // coordinate.
    if (fold && llvm::none_of(claim.devices, [&](int64_t device) {
          return fold->isFolded(device);
        }))
      sets.push_back(tv::AxisSetAttr::get(
          builder.getContext(), builder.getStringAttr(RankFold::axis), {0, 1}));
    auto expect = tv::ExpectOp::create(
        builder, claim.location, claim.values, claim.reference, claim.lineage,
        tv::DomainAttr::get(builder.getContext(), sets), number++,
        claim.contract);
    if (fold && !claim.contract && claim.values.size() == 1 &&
        isTerm(claim.values.front(), claim.lineage, /*saysOfRanks=*/false))
      setDoubtful(expect);
    if (claim.isGuess)
      setGuess(expect);
    ++(claim.contract ? counts.results : counts.lemmas);
  }
  return counts;
}
