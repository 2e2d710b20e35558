//===- BatchSize.cpp - reference plans at another batch size --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Transforms/BatchSize.h"

#include "Boundaries.h"
#include "Verify/IR/SilencedThread.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace verify;

using Shape = SmallVector<int64_t>;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Changing sizes
//===----------------------------------------------------------------------===//

namespace {
/// Lets the types of a plan follow from new types of its data.
class Resizer {
public:
  explicit Resizer(tv::PlanOp plan) : plan(plan), symbols(plan) {}

  LogicalResult run(const llvm::MapVector<unsigned, Shape> &inputs);
  /// The op that may count samples, if that is why it failed.
  Operation *getCounting() const { return counting; }
  /// The first op that it could not take with more.
  Operation *getFailing() const { return failing; }

private:
  LogicalResult decomposeAll();
  LogicalResult visit(Operation *op);
  LogicalResult change(Operation *op);
  LogicalResult visitCall(tv::CallOp call);
  LogicalResult visitLoad(tv::LoadDataOp load);
  /// Notes the sizes that dimensions with samples have so far.
  void noteSizes(ArrayRef<int64_t> before, ArrayRef<int64_t> after);
  /// Whether an op may create a tensor with a dimension of samples, of which
  /// nothing says that it has one.
  bool mayCountSamples(Operation *op) const;
  /// The result's type from the operands', by the op's index relation.
  LogicalResult follow(Operation *op);
  static void setShape(Value value, ArrayRef<int64_t> shape) {
    value.setType(RankedTensorType::get(shape, typeOf(value).getElementType()));
  }
  /// `piece`, which is the whole of a tensor, for its new shape.
  static tv::PieceAttr resize(tv::PieceAttr piece, ArrayRef<int64_t> shape);

  tv::PlanOp plan;
  SymbolTable symbols;
  llvm::DenseMap<unsigned, Shape> wanted;
  llvm::DenseSet<int64_t> sampleSizes;
  Operation *counting = nullptr;
  Operation *failing = nullptr;
  /// What ops meant at the old sizes.
  llvm::DenseMap<Operation *, IndexRelation> relations;
  llvm::DenseMap<int64_t, tv::SaveOp> saves;
};
} // namespace

LogicalResult Resizer::decomposeAll() {
  SmallVector<tv::CompositionOpInterface> compositions;
  plan.walk([&](tv::CompositionOpInterface op) { compositions.push_back(op); });
  for (tv::CompositionOpInterface op : compositions) {
    OpBuilder builder(op);
    FailureOr<SmallVector<Value>> parts = op.decompose(builder);
    if (failed(parts))
      return failure();
    if (Attribute piece = op->getAttr(pieceName))
      parts->front().getDefiningOp()->setAttr(pieceName, piece);
    op->replaceAllUsesWith(*parts);
    op->erase();
  }
  return success();
}

LogicalResult Resizer::run(const llvm::MapVector<unsigned, Shape> &inputs) {
  if (failed(decomposeAll()))
    return failure();
  for (const auto &[number, shape] : inputs)
    wanted[number] = shape;
  WalkResult known = plan.walk([&](Operation *op) {
    if (auto save = dyn_cast<tv::SaveOp>(op))
      saves[save.getOp()] = save;
    auto semantics = dyn_cast<tv::SemanticsOpInterface>(op);
    if (!semantics)
      return WalkResult::advance();
    FailureOr<IndexRelation> relation = semantics.getIndexRelation();
    if (failed(relation))
      return WalkResult::interrupt();
    relations.try_emplace(op, std::move(*relation));
    return WalkResult::advance();
  });
  if (known.wasInterrupted())
    return failure();
  for (auto program : plan.getBody().getOps<tv::ProgramOp>())
    for (Operation &op : program.getBody().front())
      if (failed(visit(&op)))
        return failure();
  return mlir::verify(plan);
}

tv::PieceAttr Resizer::resize(tv::PieceAttr piece, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> bounds(piece.getBounds());
  if (bounds.size() != 3 * shape.size())
    return {};
  for (auto [i, size] : llvm::enumerate(shape)) {
    if (bounds[3 * i + 2] == size)
      continue;
    if (bounds[3 * i] != 0 || bounds[3 * i + 1] != bounds[3 * i + 2])
      return {};
    bounds[3 * i + 1] = bounds[3 * i + 2] = size;
  }
  return tv::PieceAttr::get(piece.getContext(), piece.getFull(),
                            piece.getGradient(), bounds, piece.getPart(),
                            piece.getParts());
}

void Resizer::noteSizes(ArrayRef<int64_t> before, ArrayRef<int64_t> after) {
  for (auto [i, size] : llvm::enumerate(before)) {
    if (size == after[i])
      continue;
    // Alone, and with the dimensions after it as one. They are sizes of other
    // things where there is one sample.
    int64_t joined = size;
    sampleSizes.insert(joined);
    for (int64_t next : before.drop_front(size == 1 ? before.size() : i + 1))
      if (!llvm::MulOverflow(joined, next, joined))
        sampleSizes.insert(joined);
  }
}

bool Resizer::mayCountSamples(Operation *op) const {
  auto constant = dyn_cast<tv::ConstantOp>(op);
  bool isFilled = constant && constant.getValue().isSplat();
  if (!isFilled && !isa<tv::IotaOp, tv::BroadcastOp>(op))
    return false;
  const IndexRelation &relation = relations.find(op)->second;
  // Other dimensions are those of the operand.
  llvm::BitVector isRead(relation.extents.size());
  for (const IndexRelation::Access &access : relation.accesses)
    for (const DimensionExpr &dimension : access.dimensions)
      if (dimension.getKind() == DimensionExpr::Kind::Factor)
        isRead.set(dimension.getFactor());
  return llvm::any_of(relation.result, [&](const DimensionExpr &dimension) {
    bool isKept = dimension.getKind() == DimensionExpr::Kind::Factor &&
                  isRead.test(dimension.getFactor());
    return !isKept && sampleSizes.contains(dimension.getSize(relation.extents));
  });
}

LogicalResult Resizer::follow(Operation *op) {
  if (mayCountSamples(op)) {
    counting = op;
    return failure();
  }
  IndexRelation &relation = relations.find(op)->second;
  llvm::DenseSet<unsigned> changed;
  for (const IndexRelation::Access &access : relation.accesses) {
    ArrayRef<int64_t> shape = typeOf(op->getOperand(access.operand)).getShape();
    for (auto [dimension, size] : llvm::zip_equal(access.dimensions, shape)) {
      if (dimension.getSize(relation.extents) == size)
        continue;
      if (dimension.getKind() != DimensionExpr::Kind::Factor)
        return failure();
      relation.extents[dimension.getFactor()] = size;
      changed.insert(dimension.getFactor());
    }
  }
  for (const IndexRelation::Position &position : relation.positions)
    if (changed.contains(position.factor))
      return failure();
  Shape shape;
  for (const DimensionExpr &dimension : relation.result)
    shape.push_back(dimension.getSize(relation.extents));
  setShape(op->getResult(0), shape);
  return success();
}

LogicalResult Resizer::visitCall(tv::CallOp call) {
  auto segment = symbols.lookup<tv::SegmentOp>(call.getCallee());
  if (!segment)
    return failure();
  Block &body = segment.getBody().front();
  if (body.getNumArguments() != call.getNumOperands())
    return failure();
  for (auto [argument, operand] :
       llvm::zip(body.getArguments(), call.getOperands()))
    argument.setType(operand.getType());
  for (Operation &op : body)
    if (failed(visit(&op)))
      return failure();
  Operation *end = body.getTerminator();
  if (end->getNumOperands() != call.getNumResults())
    return failure();
  for (auto [result, value] : llvm::zip(call.getResults(), end->getOperands()))
    result.setType(value.getType());
  return success();
}

LogicalResult Resizer::visitLoad(tv::LoadDataOp load) {
  SmallVector<Attribute> pieces(load.getPieces().getValue());
  for (auto [number, result] : llvm::enumerate(load.getResults())) {
    auto shape = wanted.find(number);
    if (shape == wanted.end())
      continue;
    noteSizes(typeOf(result).getShape(), shape->second);
    tv::PieceAttr piece =
        resize(cast<tv::PieceAttr>(pieces[number]), shape->second);
    if (!piece)
      return failure();
    pieces[number] = piece;
    setShape(result, shape->second);
  }
  load.setPiecesAttr(ArrayAttr::get(load.getContext(), pieces));
  return success();
}

LogicalResult Resizer::visit(Operation *op) {
  LogicalResult result = change(op);
  if (failed(result) && !failing)
    failing = op;
  return result;
}

LogicalResult Resizer::change(Operation *op) {
  if (relations.contains(op))
    return follow(op);
  if (auto call = dyn_cast<tv::CallOp>(op))
    return visitCall(call);
  if (auto load = dyn_cast<tv::LoadDataOp>(op))
    return visitLoad(load);
  if (auto random = dyn_cast<tv::RandomOp>(op)) {
    tv::PieceAttr piece =
        resize(random.getPiece(), typeOf(random.getLike()).getShape());
    if (!piece)
      return failure();
    random.setPieceAttr(piece);
    setShape(random.getResult(), typeOf(random.getLike()).getShape());
    return success();
  }
  if (auto backward = dyn_cast<tv::BackwardOp>(op)) {
    tv::SaveOp save = saves.lookup(backward.getForward());
    if (!save || backward.getWrt().size() != backward.getNumResults())
      return failure();
    for (auto [result, number] :
         llvm::zip(backward.getResults(), backward.getWrt())) {
      if (number < 0 || number >= static_cast<int64_t>(save.getInputs().size()))
        return failure();
      setShape(result, typeOf(save.getInputs()[number]).getShape());
    }
    return success();
  }
  if (auto output = dyn_cast<tv::OutputOp>(op)) {
    tv::PieceAttr piece =
        resize(output.getPiece(), typeOf(output.getValue()).getShape());
    if (!piece)
      return failure();
    output.setPieceAttr(piece);
    return success();
  }
  // Buffers keep their types: no parameter has a batch.
  if (isa<tv::WriteOp, tv::AddToOp>(op)) {
    auto name = op->getAttrOfType<FlatSymbolRefAttr>("buffer");
    auto buffer = symbols.lookup<tv::BufferOp>(name.getAttr());
    return success(buffer &&
                   buffer.getType().getTensor() == op->getOperand(0).getType());
  }
  if (auto read = dyn_cast<tv::ReadOp>(op))
    return success(symbols.lookup<tv::BufferOp>(read.getBuffer()) != nullptr);
  return success(isa<tv::SeedOp, tv::SaveOp, tv::ReturnOp>(op));
}

//===----------------------------------------------------------------------===//
// What to change
//===----------------------------------------------------------------------===//

/// The first loader's op of a plan, or null.
static tv::LoadDataOp findLoader(tv::PlanOp plan) {
  for (auto program : plan.getBody().getOps<tv::ProgramOp>())
    for (auto load : program.getBody().getOps<tv::LoadDataOp>())
      return load;
  return {};
}

/// The shapes the inputs would need; empty if they have them, or if they differ
/// in more than one dimension. `isWhole`: a replica or micro-batch reads as
/// much as the whole reference.
static llvm::MapVector<unsigned, Shape>
getWantedShapes(tv::LoadDataOp reference, tv::LoadDataOp plan,
                tv::MeshAttr mesh, int64_t parts, bool &isWhole) {
  llvm::MapVector<unsigned, Shape> wanted;
  isWhole = false;
  bool isDivided = false;
  unsigned count = std::min(reference.getNumResults(), plan.getNumResults());
  for (unsigned number = 0; number < count; ++number) {
    ArrayRef<int64_t> shape = typeOf(reference.getResult(number)).getShape();
    auto piece = cast<tv::PieceAttr>(plan.getPieces()[number]);
    ArrayRef<int64_t> bounds = piece.getBounds();
    if (bounds.size() != 3 * shape.size())
      return {};
    if (tv::LineageAttr lineage = getLineage(piece, shape, mesh)) {
      for (size_t i = 0; i < shape.size(); ++i)
        isDivided |= bounds[3 * i + 2] != shape[i];
      continue;
    }
    Shape whole(shape);
    unsigned differing = 0;
    for (size_t i = 0; i < shape.size(); ++i)
      if (bounds[3 * i + 2] != shape[i]) {
        ++differing;
        if (llvm::MulOverflow(bounds[3 * i + 2], parts, whole[i]))
          return {};
      }
    if (differing != 1)
      return {};
    wanted[number] = whole;
  }
  if (!wanted.empty() || isDivided || parts == 1)
    return wanted;
  // Replicas that read as much as the whole reference does read more together:
  // along the first dimension, as loaders batch.
  isWhole = true;
  int64_t batch = 0;
  for (unsigned number = 0; number < count; ++number) {
    Shape whole(typeOf(reference.getResult(number)).getShape());
    if (whole.empty() || (batch && whole[0] != batch))
      continue;
    batch = whole[0];
    if (llvm::MulOverflow(batch, parts, whole[0]))
      return {};
    wanted[number] = whole;
  }
  return wanted;
}

FailureOr<std::optional<std::string>>
verify::adaptBatchSize(tv::PlanOp &reference, tv::PlanOp plan) {
  using Done = std::optional<std::string>;
  tv::LoadDataOp own = findLoader(reference), other = findLoader(plan);
  tv::MeshAttr mesh = plan.getMesh();
  int64_t parts;
  if (!own || !other ||
      llvm::MulOverflow(mesh.getAxisSize("dp").value_or(1),
                        mesh.getAxisSize("mb").value_or(1), parts))
    return Done();
  bool isWhole;
  llvm::MapVector<unsigned, Shape> wanted =
      getWantedShapes(own, other, mesh, parts, isWhole);
  if (wanted.empty())
    return Done();
  auto resized = cast<tv::PlanOp>(reference->clone());
  reference->getBlock()->getOperations().insert(
      std::next(reference->getIterator()), resized);
  bool isFree;
  std::optional<Location> counting, failing;
  {
    // What does not follow is no error here: the sizes are reported as they
    // are.
    SilencedThread silence(reference.getContext());
    Resizer resizer(resized);
    isFree = succeeded(resizer.run(wanted));
    if (Operation *op = resizer.getCounting())
      counting = op->getLoc();
    if (Operation *op = resizer.getFailing())
      failing = op->getLoc();
  }
  if (!isFree)
    resized.erase();
  if (counting)
    return emitError(*counting)
           << "the reference has another number of samples than the plan, and "
              "cannot be taken with as many: this may be one number for each "
              "of "
              "them";
  // As it is it would be what each of them computes, and never their sum.
  if (!isFree && isWhole)
    return emitError(failing.value_or(reference.getLoc()))
           << "the reference has as many samples as one of the " << parts
           << " replicas and micro-batches of the plan, and cannot be taken "
              "with those of all: what this op makes of more is not known";
  if (!isFree)
    return Done();
  auto [number, shape] = wanted.front();
  Type before = own.getResult(number).getType();
  Type after = findLoader(resized).getResult(number).getType();
  std::string text;
  llvm::raw_string_ostream(text)
      << "the reference holds for any batch size: input "
      << own.getNames()[number] << " is taken as " << after << " instead of "
      << before;
  reference.erase();
  reference = resized;
  return Done(std::move(text));
}
