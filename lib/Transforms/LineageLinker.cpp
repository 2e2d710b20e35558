//===- LineageLinker.cpp - states what relates plan and reference ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LineageLinker.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;
using namespace verify;

//===----------------------------------------------------------------------===//
// Boundaries
//===----------------------------------------------------------------------===//

Value ReferenceBoundary::load(tv::LoadDataOp op, unsigned number) {
  if (number < inputs.size() && inputs[number])
    return inputs[number];
  inputs.resize(std::max<size_t>(inputs.size(), number + 1));
  auto contract =
      tv::ContractAttr::get(builder.getContext(), tv::ContractRole::Input,
                            cast<StringAttr>(op.getNames()[number]));
  inputs[number] = tv::InputOp::create(
      builder, op.getLoc(), op.getResult(number).getType(), contract);
  return inputs[number];
}

Value ReferenceBoundary::parameter(tv::BufferOp op) {
  Value &value = parameters[op.getName()];
  if (value) {
    op.emitOpError("names parameter '") << op.getName() << "' twice";
    return {};
  }
  auto contract = tv::ContractAttr::get(
      builder.getContext(), tv::ContractRole::Parameter, op.getNameAttr());
  value = tv::InputOp::create(builder, op.getLoc(), op.getType().getTensor(),
                              contract);
  return value;
}

/// Names a random op: what it is and the tensor it makes.
static std::string getRandomName(tv::RandomOp op) {
  return (op.getName() + " of tensor " + Twine(op.getPiece().getFull())).str();
}

Value ReferenceBoundary::random(tv::RandomOp op, int64_t device) {
  std::string name = getRandomName(op);
  Value &value = draws[name];
  if (value && value.getType() != op.getResult().getType()) {
    op.emitOpError("draws ") << op.getResult().getType() << " for " << name
                             << ", which was " << value.getType() << " before";
    return {};
  }
  if (!value)
    value = tv::InputOp::create(
        builder, op.getLoc(), op.getResult().getType(),
        tv::ContractAttr::get(builder.getContext(), tv::ContractRole::Random,
                              builder.getStringAttr(name)));
  return value;
}

Value ReferenceBoundary::findRandom(tv::RandomOp op) const {
  return draws.lookup(getRandomName(op));
}

Value ReferenceBoundary::findInput(unsigned number) const {
  return number < inputs.size() ? inputs[number] : Value();
}

Value ReferenceBoundary::findParameter(StringRef name) const {
  return parameters.lookup(name);
}

tv::LineageAttr verify::getLineage(tv::PieceAttr piece, ArrayRef<int64_t> shape,
                                   tv::MeshAttr mesh) {
  MLIRContext *context = piece.getContext();
  ArrayRef<int64_t> bounds = piece.getBounds();
  if (bounds.size() != 3 * shape.size())
    return {};
  int64_t parts = 1;
  SmallVector<Attribute> axes;
  for (StringRef name : {"dp", "mb"}) {
    int64_t size = mesh.getAxisSize(name).value_or(1);
    if (size == 1 || llvm::MulOverflow(parts, size, parts))
      continue;
    axes.push_back(tv::DimensionFactorAttr::get(
        context, StringAttr::get(context, name), 0, 0, 0));
  }
  SmallVector<ArrayAttr> dimensions;
  bool usesAxes = false;
  for (auto [i, size] : llvm::enumerate(shape)) {
    int64_t extent = bounds[3 * i + 2];
    SmallVector<Attribute> factors;
    int64_t whole;
    if (extent != size) {
      if (usesAxes || llvm::MulOverflow(extent, parts, whole) || whole != size)
        return {};
      usesAxes = true;
      factors = axes;
    }
    factors.push_back(tv::DimensionFactorAttr::get(
        context, StringAttr(), bounds[3 * i], bounds[3 * i + 1], extent));
    dimensions.push_back(ArrayAttr::get(context, factors));
  }
  return tv::LineageAttr::get(context, dimensions, {});
}

PlanBoundary::PlanBoundary(OpBuilder &builder,
                           const ReferenceBoundary &reference, tv::PlanOp plan,
                           RandomMode randomMode)
    : builder(builder), reference(reference), mesh(plan.getMesh()),
      randomMode(randomMode) {
  plan.walk([&](tv::RandomOp op) {
    if (auto segment = op->getParentOfType<tv::SegmentOp>())
      drawingDevices[getRandomName(op)].insert(segment.getDevice());
  });
}

Value PlanBoundary::distribute(Value source, tv::PieceAttr piece,
                               RankedTensorType type, Location location,
                               StringRef what) {
  auto reference =
      source ? cast<RankedTensorType>(source.getType()) : RankedTensorType();
  tv::LineageAttr lineage = source
                                ? getLineage(piece, reference.getShape(), mesh)
                                : tv::LineageAttr();
  if (!lineage || reference.getElementType() != type.getElementType() ||
      ArrayRef<int64_t>(lineage.getLocalShape()) != type.getShape()) {
    mismatch = true;
    InFlightDiagnostic error = emitError(location)
                               << "the reference program does not belong to "
                                  "this plan: "
                               << what;
    if (!source)
      error << " does not exist there";
    else
      error << " is " << reference << " there, which does not correspond to "
            << type << " here over " << mesh;
    return {};
  }
  Value &value = known[{source, lineage}];
  if (!value)
    value = tv::DistributeOp::create(
        builder, location, type, source, lineage,
        tv::DomainAttr::get(builder.getContext(), {}), IntegerAttr());
  return value;
}

Value PlanBoundary::load(tv::LoadDataOp op, unsigned number) {
  return distribute(
      reference.findInput(number), cast<tv::PieceAttr>(op.getPieces()[number]),
      cast<RankedTensorType>(op.getResult(number).getType()), op.getLoc(),
      ("input '" + cast<StringAttr>(op.getNames()[number]).getValue() + "'")
          .str());
}

Value PlanBoundary::random(tv::RandomOp op, int64_t device) {
  std::string name = getRandomName(op);
  int64_t executions =
      mesh.getAxisSize("dp").value_or(1) * mesh.getAxisSize("mb").value_or(1);
  if (randomMode == RandomMode::PerDevice &&
      (executions > 1 || drawingDevices[name].size() > 1))
    return drawOnDevice(op, device);
  return distribute(reference.findRandom(op), op.getPiece(),
                    cast<RankedTensorType>(op.getResult().getType()),
                    op.getLoc(), name);
}

Value PlanBoundary::drawOnDevice(tv::RandomOp op, int64_t device) {
  std::string name = getRandomName(op);
  Value &value = ownDraws[{name, device}];
  if (value)
    return value;
  // One tensor for each replica and micro-batch, and none of them the
  // reference's.
  MLIRContext *context = builder.getContext();
  auto type = cast<RankedTensorType>(op.getResult().getType());
  SmallVector<Attribute> axes;
  int64_t count = 1;
  for (StringRef axis : {"dp", "mb"}) {
    int64_t size = mesh.getAxisSize(axis).value_or(1);
    if (size == 1)
      continue;
    count *= size;
    axes.push_back(tv::DimensionFactorAttr::get(
        context, builder.getStringAttr(axis), 0, 0, 0));
  }
  axes.push_back(tv::DimensionFactorAttr::get(context, StringAttr(), 0, 1, 1));
  SmallVector<ArrayAttr> dimensions = {builder.getArrayAttr(axes)};
  SmallVector<int64_t> shape = {count}, local = {1};
  for (int64_t size : type.getShape()) {
    shape.push_back(size);
    local.push_back(size);
    dimensions.push_back(builder.getArrayAttr(
        tv::DimensionFactorAttr::get(context, StringAttr(), 0, size, size)));
  }
  Value input = tv::InputOp::create(
      builder, op.getLoc(), RankedTensorType::get(shape, type.getElementType()),
      tv::ContractAttr::get(
          context, tv::ContractRole::Random,
          builder.getStringAttr(name + " on device " + Twine(device))));
  Value part = tv::DistributeOp::create(
      builder, op.getLoc(), RankedTensorType::get(local, type.getElementType()),
      input, tv::LineageAttr::get(context, dimensions, {}),
      tv::DomainAttr::get(context, {}), IntegerAttr());
  value = tv::ReshapeOp::create(builder, op.getLoc(), type, part,
                                tv::DomainAttr::get(context, {}));
  return value;
}

Value PlanBoundary::parameter(tv::BufferOp op) {
  return distribute(reference.findParameter(op.getName()), op.getPiece(),
                    op.getType().getTensor(), op.getLoc(),
                    ("parameter '" + op.getName() + "'").str());
}

//===----------------------------------------------------------------------===//
// Linking
//===----------------------------------------------------------------------===//

namespace {
/// Collects expects, one for equal claims about one value.
class Linker {
public:
  Linker(tv::PlanOp planOp, OpBuilder &builder)
      : planOp(planOp), mesh(planOp.getMesh()), builder(builder) {}

  void addLemma(const StatedPiece &stated, Value reference);
  void findVarying();
  LogicalResult addGradients(const PlanExecution &reference,
                             const PlanExecution &plan);
  LogicalResult addOutputs(const PlanExecution &reference,
                           const PlanExecution &plan);
  LinkCounts write();

private:
  struct Claim {
    SmallVector<Value> values;
    Value reference;
    tv::LineageAttr lineage;
    tv::ContractAttr contract;
    SmallVector<int64_t> devices;
    Location location;
  };
  void add(SmallVector<Value> values, Value reference, tv::LineageAttr lineage,
           tv::ContractAttr contract, int64_t device, Location location);
  LogicalResult checkCoverage(StringRef name, ArrayRef<int64_t> shape,
                              ArrayRef<tv::PieceAttr> pieces);

  tv::PlanOp planOp;
  tv::MeshAttr mesh;
  OpBuilder &builder;
  std::vector<Claim> claims;
  /// Axes whose coordinate a value depends on.
  llvm::DenseMap<Value, SmallVector<StringAttr, 2>> varying;
  llvm::DenseMap<std::tuple<Value, Value, tv::LineageAttr>, size_t> known;
};
} // namespace

void Linker::add(SmallVector<Value> values, Value reference,
                 tv::LineageAttr lineage, tv::ContractAttr contract,
                 int64_t device, Location location) {
  auto [found, isNew] = known.try_emplace(
      std::tuple(values.front(), reference, lineage), claims.size());
  if (!isNew && claims[found->second].values == values &&
      claims[found->second].contract == contract) {
    SmallVector<int64_t> &devices = claims[found->second].devices;
    if (!llvm::is_contained(devices, device))
      devices.push_back(device);
    return;
  }
  found->second = claims.size();
  claims.push_back(
      {std::move(values), reference, lineage, contract, {device}, location});
}

void Linker::findVarying() {
  for (Operation &op : *builder.getInsertionBlock()) {
    if (op.getNumResults() != 1)
      continue;
    llvm::SetVector<StringAttr> axes;
    if (auto distribute = dyn_cast<tv::DistributeOp>(op)) {
      for (ArrayAttr dimension : distribute.getLineage().getDimensions())
        for (auto factor : dimension.getAsRange<tv::DimensionFactorAttr>())
          if (factor.getAxis())
            axes.insert(factor.getAxis());
    } else {
      for (Value operand : op.getOperands())
        axes.insert(varying[operand].begin(), varying[operand].end());
    }
    if (auto semantics = dyn_cast<tv::SemanticsOpInterface>(op)) {
      FailureOr<IndexRelation> relation = semantics.getIndexRelation();
      if (succeeded(relation)) {
        for (const auto &sum : relation->axisSums)
          axes.remove(builder.getStringAttr(sum.axis));
        for (const auto &read : relation->axisReads)
          axes.remove(builder.getStringAttr(read.axis));
      }
    }
    varying[op.getResult(0)] = axes.takeVector();
  }
}

void Linker::addLemma(const StatedPiece &stated, Value reference) {
  // A term of a sum is not a part of the reference tensor.
  if (stated.piece.getParts() != 1 || !stated.value.getDefiningOp() ||
      isa<tv::DistributeOp>(stated.value.getDefiningOp()))
    return;
  auto type = cast<RankedTensorType>(reference.getType());
  auto local = cast<RankedTensorType>(stated.value.getType());
  tv::LineageAttr lineage = getLineage(stated.piece, type.getShape(), mesh);
  if (!lineage ||
      ArrayRef<int64_t>(lineage.getLocalShape()) != local.getShape() ||
      isExtended(type) != isExtended(local))
    return;
  // Something that differs between replicas or micro-batches is a term of a sum
  // over them unless its lineage is indexed by them.
  for (StringAttr axis : varying.lookup(stated.value)) {
    bool isIndexed = false;
    for (ArrayAttr dimension : lineage.getDimensions())
      for (auto factor : dimension.getAsRange<tv::DimensionFactorAttr>())
        isIndexed |= factor.getAxis() == axis;
    if (!isIndexed && mesh.getAxisSize(axis.getValue()).value_or(1) > 1)
      return;
  }
  add({stated.value}, reference, lineage, {}, stated.device, stated.location);
}

LogicalResult Linker::checkCoverage(StringRef name, ArrayRef<int64_t> shape,
                                    ArrayRef<tv::PieceAttr> pieces) {
  // Interval arithmetic on the grid that all bounds make; every cell must lie
  // in some piece.
  SmallVector<SmallVector<int64_t>> cuts(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    cuts[i] = {0, shape[i]};
    for (tv::PieceAttr piece : pieces)
      cuts[i].append({piece.getBounds()[3 * i], piece.getBounds()[3 * i + 1]});
    llvm::sort(cuts[i]);
    cuts[i].erase(llvm::unique(cuts[i]), cuts[i].end());
  }
  SmallVector<size_t> cell(shape.size(), 0);
  while (true) {
    bool covered = llvm::any_of(pieces, [&](tv::PieceAttr piece) {
      for (size_t i = 0; i < shape.size(); ++i)
        if (cuts[i][cell[i]] < piece.getBounds()[3 * i] ||
            cuts[i][cell[i] + 1] > piece.getBounds()[3 * i + 1])
          return false;
      return true;
    });
    if (!covered) {
      InFlightDiagnostic error =
          planOp.emitOpError("no device holds element [");
      for (size_t i = 0; i < shape.size(); ++i)
        error << (i ? ", " : "") << cuts[i][cell[i]];
      return error << "] of parameter '" << name << "'";
    }
    size_t i = 0;
    while (i < shape.size() && ++cell[i] + 1 >= cuts[i].size())
      cell[i++] = 0;
    if (i == shape.size())
      return success();
  }
}

LogicalResult Linker::addGradients(const PlanExecution &reference,
                                   const PlanExecution &plan) {
  llvm::StringMap<SmallVector<const FinalGradient *>> held;
  for (const FinalGradient &gradient : plan.getGradients()) {
    tv::BufferOp parameter = gradient.parameter;
    held[parameter.getName()].push_back(&gradient);
  }
  for (const FinalGradient &expected : reference.getGradients()) {
    tv::BufferOp parameter = expected.parameter;
    auto shape = cast<RankedTensorType>(expected.value.getType()).getShape();
    SmallVector<tv::PieceAttr> pieces;
    for (const FinalGradient *gradient : held[parameter.getName()]) {
      tv::BufferOp copy = gradient->parameter;
      tv::PieceAttr piece = copy.getPiece();
      SmallVector<int64_t> whole;
      for (size_t i = 2; i < piece.getBounds().size(); i += 3)
        whole.push_back(piece.getBounds()[i]);
      // The slice of a parameter is never divided by replicas.
      tv::LineageAttr lineage = ArrayRef<int64_t>(whole) == shape
                                    ? getLineage(piece, shape, mesh)
                                    : tv::LineageAttr();
      if (!lineage)
        return copy.emitOpError("the reference program does not belong to this "
                                "plan: parameter '")
               << parameter.getName() << "' has another shape there";
      pieces.push_back(piece);
      add({gradient->value}, expected.value, lineage,
          tv::ContractAttr::get(builder.getContext(),
                                tv::ContractRole::Gradient,
                                parameter.getNameAttr()),
          copy.getDevice(), gradient->location);
    }
    if (pieces.empty())
      return planOp.emitOpError("no device trains parameter '")
             << parameter.getName() << "'";
    if (failed(checkCoverage(parameter.getName(), shape, pieces)))
      return failure();
  }
  return success();
}

LogicalResult Linker::addOutputs(const PlanExecution &reference,
                                 const PlanExecution &plan) {
  size_t count = reference.getOutputs().size();
  if (count == 0)
    return planOp.emitOpError("the reference program has no output");
  llvm::MapVector<std::pair<int64_t, size_t>, SmallVector<const PlanOutput *>>
      byDevice;
  for (const PlanOutput &output : plan.getOutputs())
    byDevice[{output.device, output.ordinal % count}].push_back(&output);
  llvm::SmallDenseSet<size_t> seen;
  SmallVector<StringAttr> axes;
  for (tv::AxisAttr axis : mesh.getAxes())
    if (axis.getName() != "device" && axis.getSize() > 1)
      axes.push_back(axis.getName());
  for (auto &[place, outputs] : byDevice) {
    const PlanOutput &expected = reference.getOutputs()[place.second];
    auto type = cast<RankedTensorType>(expected.bound.value.getType());
    seen.insert(place.second);
    // One value for all micro-batches, each of which gives it once; where they
    // are not uniform, several values with separate domains.
    SmallVector<Value> values;
    llvm::DenseSet<int64_t> microBatches;
    for (const PlanOutput *output : outputs) {
      if (output->bound.value.getType() != type)
        return emitError(output->location)
               << "output '" << output->name << "' is "
               << output->bound.value.getType() << ", in the reference "
               << type;
      if (output->bound.microBatch >= 0 &&
          !microBatches.insert(output->bound.microBatch).second)
        return emitError(output->location)
               << "output '" << output->name << "' gives micro-batch "
               << output->bound.microBatch << " twice";
      if (!llvm::is_contained(values, output->bound.value))
        values.push_back(output->bound.value);
    }
    if (static_cast<int64_t>(outputs.size()) !=
        mesh.getAxisSize("mb").value_or(1))
      return planOp.emitOpError("device ")
             << place.first << " gives output '" << outputs.front()->name
             << "' for " << outputs.size() << " of "
             << mesh.getAxisSize("mb").value_or(1) << " micro-batches";
    SmallVector<ArrayAttr> dimensions;
    for (int64_t size : type.getShape())
      dimensions.push_back(builder.getArrayAttr(tv::DimensionFactorAttr::get(
          builder.getContext(), StringAttr(), 0, size, size)));
    add(values, expected.bound.value,
        tv::LineageAttr::get(builder.getContext(), dimensions, axes),
        tv::ContractAttr::get(builder.getContext(), tv::ContractRole::Output,
                              builder.getStringAttr(expected.name)),
        place.first, outputs.front()->location);
  }
  for (size_t i = 0; i < count; ++i)
    if (!seen.contains(i))
      return planOp.emitOpError("no device gives output '")
             << reference.getOutputs()[i].name << "'";
  return success();
}

LinkCounts Linker::write() {
  LinkCounts counts;
  int64_t number = 0;
  for (Claim &claim : claims) {
    // Where the value exists, on the devices that claim it.
    llvm::sort(claim.devices);
    SmallVector<int64_t> bounds;
    for (int64_t device : claim.devices) {
      if (!bounds.empty() && bounds.back() == device)
        ++bounds.back();
      else
        bounds.append({device, device + 1});
    }
    SmallVector<tv::AxisSetAttr> sets = {tv::AxisSetAttr::get(
        builder.getContext(), builder.getStringAttr("device"), bounds)};
    auto produced =
        claim.values.front().getDefiningOp()->getAttrOfType<tv::DomainAttr>(
            "domain");
    bool sumsMicroBatches =
        llvm::any_of(claim.lineage.getSumAxes(),
                     [](StringAttr axis) { return axis.getValue() == "mb"; });
    if (!sumsMicroBatches && produced)
      if (tv::AxisSetAttr set = produced.getSet("mb"))
        sets.push_back(set);
    tv::ExpectOp::create(builder, claim.location, claim.values, claim.reference,
                         claim.lineage,
                         tv::DomainAttr::get(builder.getContext(), sets),
                         builder.getI64IntegerAttr(number++), claim.contract);
    ++(claim.contract ? counts.results : counts.lemmas);
  }
  return counts;
}

FailureOr<LinkCounts> verify::linkLineage(const PlanExecution &reference,
                                          const PlanExecution &plan,
                                          tv::PlanOp planOp,
                                          OpBuilder &builder) {
  // Of several values stated to hold one tensor the last one does: gradients
  // are added to.
  llvm::DenseMap<std::pair<int64_t, int64_t>, Value> byTensor;
  for (const StatedPiece &stated : reference.getPieces())
    byTensor[{stated.piece.getFull(), stated.piece.getGradient()}] =
        stated.value;
  Linker linker(planOp, builder);
  linker.findVarying();
  for (const StatedPiece &stated : plan.getPieces())
    if (Value value = byTensor.lookup(
            {stated.piece.getFull(), stated.piece.getGradient()}))
      linker.addLemma(stated, value);
  if (failed(linker.addOutputs(reference, plan)) ||
      failed(linker.addGradients(reference, plan)))
    return failure();
  return linker.write();
}
