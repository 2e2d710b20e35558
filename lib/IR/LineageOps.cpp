//===- LineageOps.cpp - graphs, stages and lineage ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/TVOps.h"

using namespace mlir;
using namespace verify;
using namespace verify::tv;

/// The mesh of the graph or stage around `op`; null elsewhere.
static MeshAttr getMesh(Operation *op) {
  if (auto graph = op->getParentOfType<GraphOp>())
    return graph.getMesh();
  if (auto stage = op->getParentOfType<StageOp>())
    return stage.getMesh();
  return {};
}

//===----------------------------------------------------------------------===//
// Domains
//===----------------------------------------------------------------------===//

/// Checks that the axes of a domain are those of the mesh, and its sets inside.
static LogicalResult verifyDomain(Operation *op, DomainAttr domain,
                                  MeshAttr mesh) {
  for (AxisSetAttr set : domain.getSets()) {
    std::optional<int64_t> size = mesh.getAxisSize(set.getAxis().getValue());
    if (!size)
      return op->emitOpError("names axis '")
             << set.getAxis().getValue() << "', which the mesh lacks";
    if (set.getBounds().back() > *size)
      return op->emitOpError("names coordinate ")
             << set.getBounds().back() - 1 << " of axis '"
             << set.getAxis().getValue() << "' of size " << *size;
  }
  return success();
}

/// What a device computes is a value of its own, so no op runs along devices.
static LogicalResult verifyNotDevices(Operation *op, StringRef axis) {
  if (axis != "device")
    return success();
  return op->emitOpError("runs along axis 'device': what each device has is an "
                         "operand of its own");
}

/// Checks the axis of a mesh whose coordinates have the parts of `whole`.
static LogicalResult verifyParts(Operation *op, StringRef axis,
                                 int64_t dimension, Value part, Value whole,
                                 MeshAttr mesh) {
  std::optional<int64_t> size = mesh.getAxisSize(axis);
  if (!size)
    return op->emitOpError("names axis '") << axis << "', which the mesh lacks";
  auto sizeOf = [&](Value value) {
    return cast<RankedTensorType>(value.getType()).getDimSize(dimension);
  };
  // The number of parts was found to be one.
  if (sizeOf(whole) / sizeOf(part) != *size)
    return op->emitOpError("has ")
           << sizeOf(whole) / sizeOf(part) << " parts, axis '" << axis
           << "' has size " << *size;
  return verifyNotDevices(op, axis);
}

/// Checks the axes that `op` sums over or reads at another coordinate.
static LogicalResult verifyAxes(Operation *op, MeshAttr mesh) {
  if (auto gather = dyn_cast<AllGatherOp>(op); gather && gather.getAxis())
    return verifyParts(op, *gather.getAxis(), gather.getDimension(),
                       gather.getOperands().front(), gather.getResult(), mesh);
  if (auto slice = dyn_cast<AllSliceOp>(op)) {
    if (!slice.getDomain())
      return op->emitOpError("is of the reference, which has no coordinates");
    return verifyParts(op, slice.getAxis(), slice.getDimension(),
                       slice.getResult(), slice.getOperand(), mesh);
  }
  if (auto move = dyn_cast<MoveOp>(op))
    return verifyDomain(op, move.getSource(), mesh);
  if (auto accumulate = dyn_cast<AccumulateOp>(op)) {
    AxisSetAttr over = accumulate.getOver();
    if (failed(verifyNotDevices(op, over.getAxis().getValue())))
      return failure();
    return verifyDomain(op, DomainAttr::get(op->getContext(), over), mesh);
  }
  if (auto reduce = dyn_cast<AllReduceOp>(op))
    for (StringRef axis : reduce.getAxes().getAsValueRange<StringAttr>()) {
      if (!mesh.getAxisSize(axis))
        return op->emitOpError("names axis '")
               << axis << "', which the mesh lacks";
      if (failed(verifyNotDevices(op, axis)))
        return failure();
    }
  return success();
}

/// The domain in which `op` reads its operands: its own, except that axes it
/// sums over or reads at another coordinate are replaced.
static DomainAttr getReadDomain(Operation *op, DomainAttr domain) {
  if (!op->hasTrait<RunsAlongAxes>())
    return domain;
  SmallVector<AxisSetAttr> sets(domain.getSets());
  auto replace = [&](StringAttr axis, AxisSetAttr with) {
    llvm::erase_if(sets,
                   [&](AxisSetAttr set) { return set.getAxis() == axis; });
    if (with)
      sets.push_back(with);
  };
  if (auto move = dyn_cast<MoveOp>(op))
    for (AxisSetAttr set : move.getSource().getSets())
      replace(set.getAxis(), set);
  if (auto accumulate = dyn_cast<AccumulateOp>(op))
    replace(accumulate.getOver().getAxis(), accumulate.getOver());
  if (auto reduce = dyn_cast<AllReduceOp>(op))
    for (auto axis : reduce.getAxes().getAsRange<StringAttr>())
      replace(axis, {});
  if (auto gather = dyn_cast<AllGatherOp>(op); gather && gather.getAxis())
    replace(gather.getAxisAttr(), {});
  llvm::sort(sets, [](AxisSetAttr left, AxisSetAttr right) {
    return left.getAxis().getValue() < right.getAxis().getValue();
  });
  return DomainAttr::get(op->getContext(), sets);
}

/// A domain without the axis along which devices are spelled out: the operands
/// of a collective come from one device each, and its result is the same on
/// all.
static DomainAttr withoutAxis(DomainAttr domain, StringRef axis) {
  SmallVector<AxisSetAttr> sets;
  for (AxisSetAttr set : domain.getSets())
    if (set.getAxis().getValue() != axis)
      sets.push_back(set);
  return DomainAttr::get(domain.getContext(), sets);
}

/// Whether `op` reads `operand` as a value of the plan: as it is one itself,
/// except for the ops that lead from one program to the other.
static bool readsPlanValue(Operation *op, DomainAttr domain,
                           OpOperand &operand) {
  if (isa<DistributeOp>(op))
    return false;
  if (auto expect = dyn_cast<ExpectOp>(op))
    return operand.getOperandNumber() < expect.getValues().size();
  return static_cast<bool>(domain);
}

/// The axis along which the values of a sum share out the coordinates, each
/// coordinate to one value; null if there is none.
static StringAttr findSharedAxis(ExpectOp expect, MeshAttr mesh) {
  for (StringAttr axis : expect.getLineage().getSumAxes()) {
    SmallVector<std::pair<int64_t, int64_t>> intervals;
    bool arePartial = expect.getValues().size() > 1;
    for (Value value : expect.getValues()) {
      Operation *producer = value.getDefiningOp();
      auto domain = producer ? producer->getAttrOfType<DomainAttr>("domain")
                             : DomainAttr();
      AxisSetAttr set = domain ? domain.getSet(axis.getValue()) : AxisSetAttr();
      arePartial &= static_cast<bool>(set);
      if (set)
        for (size_t i = 0; i + 1 < set.getBounds().size(); i += 2)
          intervals.push_back({set.getBounds()[i], set.getBounds()[i + 1]});
    }
    llvm::sort(intervals);
    int64_t next = 0;
    for (auto [start, end] : intervals) {
      arePartial &= start == next;
      next = end;
    }
    if (arePartial && next == mesh.getAxisSize(axis.getValue()))
      return axis;
  }
  return {};
}

using OpRange = llvm::iterator_range<Block::iterator>;

/// Checks that each value the plan reads exists where it is read, and that
/// reference ops do not read plan values or the other way round.
static LogicalResult verifyReads(OpRange body, MeshAttr mesh) {
  auto name = StringAttr::get(mesh.getContext(), "domain");
  DomainAttr verified;
  for (Operation &op : body) {
    auto domain = op.getAttrOfType<DomainAttr>(name);
    if (domain && domain != verified && failed(verifyDomain(&op, domain, mesh)))
      return failure();
    verified = domain;
    if (failed(verifyAxes(&op, mesh)))
      return failure();
    DomainAttr whole = domain ? getReadDomain(&op, domain) : DomainAttr();
    for (OpOperand &operand : op.getOpOperands()) {
      Operation *producer = operand.get().getDefiningOp();
      DomainAttr produced =
          producer ? producer->getAttrOfType<DomainAttr>(name) : DomainAttr();
      bool isRead = readsPlanValue(&op, domain, operand);
      if (static_cast<bool>(produced) != isRead)
        return op.emitOpError("mixes values of the reference and of the plan");
      if (!isRead || whole == produced)
        continue;
      DomainAttr read = whole;
      auto expect = dyn_cast<ExpectOp>(op);
      StringAttr shared = expect ? findSharedAxis(expect, mesh) : StringAttr();
      // Several values come from one device each, or from one part of the
      // micro-batches each.
      bool isJoint = expect && expect.getValues().size() > 1;
      if (shared) {
        read = withoutAxis(read, shared.getValue());
        produced = withoutAxis(produced, shared.getValue());
      } else if (isJoint || isa<AllReduceOp, AllGatherOp>(op)) {
        read = withoutAxis(read, "device");
        produced = withoutAxis(produced, "device");
      }
      if (!read.isSubsetOf(produced, mesh))
        return op.emitOpError("reads a value on ")
               << read << " that exists on " << produced << " only";
    }
  }
  return success();
}

/// Checks that a graph or stage holds no ops of the plan level.
static LogicalResult verifyLevel(OpRange body, StringRef where) {
  for (Operation &op : body)
    if (!isa<SemanticsOpInterface, CompositionOpInterface, InputOp,
             DistributeOp, ExpectOp, UndefinedOp>(op))
      return op.emitOpError("does not belong into a ") << where;
  return success();
}

LogicalResult GraphOp::verifyOps(OpRange ops) {
  if (failed(verifyLevel(ops, "graph")))
    return failure();
  for (Operation &op : ops)
    if (auto given = dyn_cast<DistributeOp>(op); given && given.getAssumes())
      return given.emitOpError("assumes something outside of a stage");
  return verifyReads(ops, getMesh());
}

LogicalResult GraphOp::verifyRegions() { return verifyOps(getBody().front()); }

//===----------------------------------------------------------------------===//
// StageOp
//===----------------------------------------------------------------------===//

LogicalResult StageOp::verifyRegions() {
  OpRange ops = getBody().front();
  if (failed(verifyLevel(ops, "stage")))
    return failure();
  for (auto expect : getBody().getOps<ExpectOp>())
    if (std::optional<int64_t> number = expect.getNumber();
        number && !llvm::is_contained(getExpects(), *number))
      return expect.emitOpError("has number ")
             << *number << ", which its stage does not list";
  return verifyReads(ops, getMesh());
}

ParseResult StageOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  MeshAttr mesh;
  Attribute expects;
  SmallVector<OpAsmParser::Argument> arguments;
  Region *body = result.addRegion();
  if (parser.parseSymbolName(name, "sym_name", result.attributes) ||
      parser.parseCustomAttributeWithFallback(mesh, Type(), "mesh",
                                              result.attributes) ||
      parser.parseKeyword("expects") ||
      parser.parseAttribute(expects, "expects", result.attributes) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren,
                               /*allowType=*/true) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      parser.parseRegion(*body, arguments))
    return failure();
  if (body->empty())
    body->emplaceBlock();
  return success();
}

void StageOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << ' ';
  printer.printStrippedAttrOrType(getMesh());
  printer << " expects ";
  printer.printAttribute(getExpectsAttr());
  printer << '(';
  llvm::interleaveComma(
      getBody().getArguments(), printer,
      [&](BlockArgument argument) { printer.printRegionArgument(argument); });
  printer << ')';
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {"sym_name", "mesh", "expects"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// DistributeOp, ExpectOp
//===----------------------------------------------------------------------===//

/// Checks a lineage against the tensors it relates. Outside a graph or stage
/// there is no mesh to check sizes against.
static LogicalResult verifyLineage(Operation *op, LineageAttr lineage,
                                   RankedTensorType reference,
                                   RankedTensorType local) {
  MeshAttr mesh = getMesh(op);
  if (!mesh)
    return op->emitOpError("stands outside a graph or stage");
  llvm::SmallDenseSet<StringAttr> used;
  auto useAxis = [&](StringAttr axis) -> LogicalResult {
    if (!mesh.getAxisSize(axis.getValue()))
      return op->emitOpError("lineage names axis '")
             << axis.getValue() << "', which the mesh lacks";
    if (failed(verifyNotDevices(op, axis.getValue())))
      return failure();
    if (!used.insert(axis).second)
      return op->emitOpError("lineage names axis '")
             << axis.getValue() << "' twice";
    return success();
  };
  for (ArrayAttr dimension : lineage.getDimensions())
    for (auto factor : dimension.getAsRange<DimensionFactorAttr>())
      if (factor.getAxis() && failed(useAxis(factor.getAxis())))
        return failure();
  for (StringAttr axis : lineage.getSumAxes())
    if (failed(useAxis(axis)))
      return failure();
  if (ArrayRef<int64_t>(lineage.getReferenceShape(mesh)) !=
      reference.getShape())
    return op->emitOpError("lineage does not have the shape of the reference "
                           "tensor ")
           << reference;
  if (ArrayRef<int64_t>(lineage.getLocalShape()) != local.getShape())
    return op->emitOpError("lineage does not have the shape of the plan "
                           "tensor ")
           << local;
  return success();
}

/// Checks a tensor that no op of the graph computes.
static LogicalResult verifyGiven(Operation *op) {
  if (failed(verifyStaticShapes(op)))
    return failure();
  if (getElementKind(op->getResult(0).getType()) == ElementKind::Other)
    return op->emitOpError("is not defined on elements that are no numbers");
  return success();
}

LogicalResult InputOp::verify() { return verifyGiven(*this); }

LogicalResult UndefinedOp::verify() { return verifyGiven(*this); }

LogicalResult DistributeOp::verify() {
  if (!getLineage().getSumAxes().empty())
    return emitOpError("cannot make terms of a sum: they are not a function of "
                       "the reference tensor");
  auto reference = cast<RankedTensorType>(getReference().getType());
  auto local = cast<RankedTensorType>(getResult().getType());
  if (reference.getElementType() != local.getElementType())
    return emitOpError("changes the element type");
  return verifyLineage(*this, getLineage(), reference, local);
}

int64_t ExpectOp::getNumDevices() {
  AxisSetAttr devices = getDomain().getSet("device");
  if (!devices)
    return 1;
  // The first rank of a group may stand for all of it.
  if (AxisSetAttr ranks = getDomain().getSet("rank"))
    return devices.size() * ranks.size();
  MeshAttr mesh = getMesh(*this);
  return devices.size() * (mesh ? mesh.getAxisSize("rank").value_or(1) : 1);
}

bool tv::areComparable(RankedTensorType value, RankedTensorType reference) {
  ElementKind kind = getElementKind(reference);
  return getElementKind(value) == kind && kind != ElementKind::Other &&
         (kind != ElementKind::Integer ||
          value.getElementType() == reference.getElementType());
}

LogicalResult ExpectOp::verify() {
  if (ContractAttr contract = getContractAttr();
      contract && contract.getRole() != ContractRole::Output &&
      contract.getRole() != ContractRole::Gradient)
    return emitOpError("has the contract of something that is given");
  if (getValues().empty())
    return emitOpError("has no plan value");
  auto reference = cast<RankedTensorType>(getReference().getType());
  for (Type type : getValues().getTypes())
    if (!areComparable(cast<RankedTensorType>(type), reference))
      return emitOpError("compares elements of different kinds: ")
             << type << " and " << reference;
  for (Value value : getValues())
    if (failed(verifyLineage(*this, getLineage(), reference,
                             cast<RankedTensorType>(value.getType()))))
      return failure();
  return success();
}
