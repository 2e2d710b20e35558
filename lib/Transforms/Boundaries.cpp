//===- Boundaries.cpp - the tensors nobody computes -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Boundaries.h"

using namespace mlir;
using namespace verify;

/// Whether the reference holds all of a tensor; an error if not.
static bool isWhole(tv::PieceAttr piece, Location location, const Twine &what) {
  ArrayRef<int64_t> bounds = piece.getBounds();
  bool isWhole = piece.getParts() == 1;
  for (size_t i = 0; i + 2 < bounds.size(); i += 3)
    isWhole &= bounds[i] == 0 && bounds[i + 1] == bounds[i + 2];
  if (!isWhole)
    emitError(location) << "the reference holds only a part of " << what;
  return isWhole;
}

LogicalResult OneLoader::check(tv::LoadDataOp op) {
  // A plan is verified beside its execution, if it was not before.
  if (failed(op.verify()))
    return failure();
  if (cell && *cell != op.getCell())
    return op.emitOpError("is a second data loader beside cell ")
           << *cell << ", which is not supported";
  cell = op.getCell();
  return success();
}

Value ReferenceBoundary::load(tv::LoadDataOp op, unsigned number) {
  if (failed(loader.check(op)))
    return {};
  if (number < inputs.size() && inputs[number])
    return inputs[number];
  inputs.resize(std::max<size_t>(inputs.size(), number + 1));
  if (!isWhole(cast<tv::PieceAttr>(op.getPieces()[number]), op.getLoc(),
               "input '" + cast<StringAttr>(op.getNames()[number]).getValue() +
                   "'"))
    return {};
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
  if (!isWhole(op.getPiece(), op.getLoc(), "parameter '" + op.getName() + "'"))
    return {};
  auto contract = tv::ContractAttr::get(
      builder.getContext(), tv::ContractRole::Parameter, op.getNameAttr());
  value = tv::InputOp::create(builder, op.getLoc(), op.getType().getTensor(),
                              contract);
  return value;
}

/// Names a random op: what it is and the tensor it makes.
static std::string getRandomName(tv::RandomOp op) {
  // What nothing of the reference corresponds to has the complement of its
  // number, and is no other tensor that has this number there.
  int64_t number = op.getPiece().getFull();
  return (op.getName() + " of tensor " + Twine(std::max(number, ~number)) +
          (number < 0 ? " of the plan" : ""))
      .str();
}

Value ReferenceBoundary::random(tv::RandomOp op, int64_t device) {
  std::string name = getRandomName(op);
  if (!isWhole(op.getPiece(), op.getLoc(), name))
    return {};
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
                                   tv::MeshAttr mesh, RankFold::Spread spread) {
  if (spread.kind == RankFold::Spread::Other)
    return {};
  MLIRContext *context = piece.getContext();
  ArrayRef<int64_t> bounds = piece.getBounds();
  if (bounds.size() != 3 * shape.size())
    return {};
  int64_t parts = 1;
  SmallVector<Attribute> axes;
  for (StringRef name : {"dp", "mb"}) {
    int64_t size = mesh.getAxisSize(name).value_or(1);
    if (size == 1)
      continue;
    if (llvm::MulOverflow(parts, size, parts))
      return {};
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
    int64_t start = bounds[3 * i], end = bounds[3 * i + 1];
    if (spread.kind == RankFold::Spread::Divided && spread.dimension == i) {
      // What the first rank has, once for each of them.
      int64_t ranks = mesh.getAxisSize(RankFold::axis).value_or(0);
      if (start != 0 || llvm::MulOverflow(end, ranks, whole) || whole != extent)
        return {};
      factors.push_back(tv::DimensionFactorAttr::get(
          context, StringAttr::get(context, RankFold::axis), 0, 0, 0));
      extent = end;
    }
    factors.push_back(tv::DimensionFactorAttr::get(context, StringAttr(), start,
                                                   end, extent));
    dimensions.push_back(ArrayAttr::get(context, factors));
  }
  return tv::LineageAttr::get(context, dimensions, {});
}

PlanBoundary::PlanBoundary(OpBuilder &builder,
                           const ReferenceBoundary &reference, tv::PlanOp plan,
                           RandomMode randomMode, const RankFold *fold)
    : builder(builder), reference(reference),
      mesh(fold ? fold->getMesh() : plan.getMesh()), randomMode(randomMode),
      fold(fold) {
  if (randomMode != RandomMode::PerDevice)
    return;
  plan.walk([&](tv::RandomOp op) {
    if (auto segment = op->getParentOfType<tv::SegmentOp>())
      drawingDevices[getRandomName(op)].insert(segment.getDevice());
  });
}

Value PlanBoundary::distribute(Value source, tv::PieceAttr piece,
                               RankedTensorType type, Location location,
                               StringRef what, RankFold::Spread spread) {
  auto reference =
      source ? cast<RankedTensorType>(source.getType()) : RankedTensorType();
  // A term of a sum is no part of an input or a parameter.
  tv::LineageAttr lineage =
      source && piece.getParts() == 1
          ? getLineage(piece, reference.getShape(), mesh, spread)
          : tv::LineageAttr();
  if (!lineage || reference.getElementType() != type.getElementType() ||
      ArrayRef<int64_t>(lineage.getLocalShape()) != type.getShape()) {
    InFlightDiagnostic error = emitError(location)
                               << "the reference program does not belong to "
                                  "this plan: "
                               << what;
    if (!source) {
      error << " does not exist there";
      return {};
    }
    error << " is " << reference << " there, and " << type << " here";
    for (auto [axis, noun] :
         {std::pair("dp", "replicas"), std::pair("mb", "micro-batches")})
      if (int64_t size = mesh.getAxisSize(axis).value_or(1); size > 1)
        error << " in each of " << size << " " << noun;
    if (reference == type)
      error << ", as part " << piece << " of a whole";
    return {};
  }
  Value &value = known[{source, lineage}];
  if (!value)
    value = tv::DistributeOp::create(
        builder, location, type, source, lineage,
        tv::DomainAttr::get(builder.getContext(), {}), std::nullopt);
  return value;
}

/// The name of a tensor that the reference loads.
static StringAttr getInputName(Value input) {
  auto op = input ? input.getDefiningOp<tv::InputOp>() : tv::InputOp();
  return op ? op.getContract().getName() : StringAttr();
}

LogicalResult PlanBoundary::checkName(tv::LoadDataOp op,
                                      unsigned number) const {
  auto own = cast<StringAttr>(op.getNames()[number]);
  StringAttr expected = getInputName(reference.findInput(number));
  if (!expected || own == expected)
    return success();
  // Names may be others, but not the same ones in another order.
  SmallVector<StringAttr> names(op.getNames().getAsRange<StringAttr>()), known;
  for (unsigned other = 0; other < names.size(); ++other)
    known.push_back(getInputName(reference.findInput(other)));
  if (!std::is_permutation(names.begin(), names.end(), known.begin()))
    return success();
  return op.emitOpError("gives '")
         << own.getValue() << "' where the reference loads '"
         << expected.getValue() << "'";
}

Value PlanBoundary::load(tv::LoadDataOp op, unsigned number) {
  if (failed(loader.check(op)))
    return {};
  RankFold::Spread spread =
      fold ? fold->getGiven(op, number) : RankFold::Spread();
  auto type = cast<RankedTensorType>(op.getResult(number).getType());
  Value &value = loads[{op.getNames(),
                        op.getPieces(),
                        type,
                        number,
                        {spread.kind, spread.dimension}}];
  if (!value && succeeded(checkName(op, number)))
    value = distribute(
        reference.findInput(number),
        cast<tv::PieceAttr>(op.getPieces()[number]), type, op.getLoc(),
        ("input '" + cast<StringAttr>(op.getNames()[number]).getValue() + "'")
            .str(),
        spread);
  return value;
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
                    op.getLoc(), name,
                    fold ? fold->getGiven(op) : RankFold::Spread());
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
          builder.getStringAttr(name + onDevice + Twine(device))));
  Value part = tv::DistributeOp::create(
      builder, op.getLoc(), RankedTensorType::get(local, type.getElementType()),
      input, tv::LineageAttr::get(context, dimensions, {}),
      tv::DomainAttr::get(context, {}), std::nullopt);
  value = tv::ReshapeOp::create(builder, op.getLoc(), type, part,
                                tv::DomainAttr::get(context, {}));
  return value;
}

Value PlanBoundary::parameter(tv::BufferOp op) {
  return distribute(reference.findParameter(op.getName()), op.getPiece(),
                    op.getType().getTensor(), op.getLoc(),
                    ("parameter '" + op.getName() + "'").str(),
                    fold ? fold->getGiven(op) : RankFold::Spread());
}
