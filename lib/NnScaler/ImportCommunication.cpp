//===- ImportCommunication.cpp - communication primitives -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What one device does in a primitive, in both part orders. A primitive inside
// a differentiable adapter of a backward segment stands for its transpose.
//
//===----------------------------------------------------------------------===//

#include "Importer.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

namespace {
/// What a primitive does, forward or transposed.
enum class Action {
  Move,
  Broadcast,
  Chunk,
  AllGather,
  AllReduce,
  Identity,
  AllToAll,
  ReduceScatter
};

struct Entry {
  StringLiteral name;
  Action forward;
  std::optional<Action> transposed;
};
} // namespace

static const Entry *findEntry(StringRef name) {
  static constexpr Entry table[] = {
      {"MovePrim", Action::Move, std::nullopt},
      {"BroadcastPrim", Action::Broadcast, std::nullopt},
      {"ChunkPrim", Action::Chunk, std::nullopt},
      {"AllGatherPrim", Action::AllGather, std::nullopt},
      {"AllReducePrim", Action::AllReduce, std::nullopt},
      {"ReduceScatterPrim", Action::ReduceScatter, std::nullopt},
      {"AllToAllPrim", Action::AllToAll, std::nullopt},
      {"IdentityPrim", Action::Identity, Action::Identity},
      {"AllReduceIdentityPrim", Action::AllReduce, Action::Identity},
      {"IdentityAllreducePrim", Action::Identity, Action::AllReduce},
      {"AllReduceAllReducePrim", Action::AllReduce, Action::AllReduce},
      {"AllGatherSplitPrim", Action::AllGather, Action::Chunk},
      {"SplitAllGatherPrim", Action::Chunk, Action::AllGather},
      {"AllGatherReduceScatterPrim", Action::AllGather, Action::ReduceScatter},
      {"ReduceScatterAllGatherPrim", Action::ReduceScatter, Action::AllGather},
      {"AllToAllAllToAllPrim", Action::AllToAll, Action::AllToAll},
  };
  for (const Entry &entry : table)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

bool nnscaler::isInPlace(const Primitive &primitive) {
  return primitive.inputs.size() == 1 && primitive.outputs.size() == 1 &&
         primitive.inputs[0].isTensor && primitive.outputs[0].isTensor &&
         primitive.inputs[0].tensor == primitive.outputs[0].tensor;
}

namespace {
/// Imports one primitive on one device.
class PrimitiveImporter {
public:
  PrimitiveImporter(PrimitiveContext &context, const Primitive &primitive,
                    Value input, const SubTensor *result, bool transposed)
      : context(context), primitive(primitive), input(input), result(result),
        transposed(transposed) {}

  FailureOr<Value> import();

private:
  InFlightDiagnostic error() {
    return emitError(context.location) << "'" << primitive.name << "': ";
  }
  const Argument *find(StringRef name) {
    for (const KeywordArgument &keyword : primitive.keywords)
      if (keyword.name == name)
        return &keyword.value;
    return nullptr;
  }
  FailureOr<int64_t> integer(StringRef name);
  FailureOr<SmallVector<int64_t>> group();
  FailureOr<RankedTensorType> resultType();
  FailureOr<Value> communicate(tv::CollectiveKind kind,
                               std::optional<int64_t> dimension,
                               std::optional<int64_t> split = std::nullopt,
                               std::optional<int64_t> root = std::nullopt);
  FailureOr<Value> move();
  FailureOr<Value> broadcast();
  FailureOr<Value> chunk();
  FailureOr<Value> allGather();
  FailureOr<Value> allToAll();
  LogicalResult checkKeywords();
  LogicalResult checkTransfer(const SubTensor &tensor);

  PrimitiveContext &context;
  const Primitive &primitive;
  Value input;
  const SubTensor *result;
  bool transposed;
};
} // namespace

FailureOr<int64_t> PrimitiveImporter::integer(StringRef name) {
  const Argument *value = find(name);
  if (!value || value->isTensor || value->kind != ConstantKind::Integer)
    return error() << "needs an integer keyword '" << name << "'";
  return value->integer;
}

FailureOr<SmallVector<int64_t>> PrimitiveImporter::group() {
  const Argument *ranks = find("ranks");
  if (!ranks || ranks->isTensor || ranks->elements.empty())
    return error() << "needs a list of ranks";
  SmallVector<int64_t> group;
  for (const Argument &rank : ranks->elements) {
    if (rank.isTensor || rank.kind != ConstantKind::Integer)
      return error() << "ranks are not integers";
    if (!llvm::is_contained(context.plan.plan.devices, rank.integer))
      return error() << "names device " << rank.integer
                     << ", which the plan does not have";
    group.push_back(rank.integer);
  }
  llvm::sort(group);
  if (std::adjacent_find(group.begin(), group.end()) != group.end())
    return error() << "names a rank twice";
  return group;
}

FailureOr<RankedTensorType> PrimitiveImporter::resultType() {
  if (!result)
    return error() << "gives a tensor that the plan does not name";
  RankedTensorType type = context.plan.getType(*result, context.location);
  if (!type)
    return failure();
  return type;
}

FailureOr<Value> PrimitiveImporter::communicate(
    tv::CollectiveKind kind, std::optional<int64_t> dimension,
    std::optional<int64_t> split, std::optional<int64_t> root) {
  FailureOr<SmallVector<int64_t>> ranks = group();
  FailureOr<RankedTensorType> type = resultType();
  if (failed(ranks) || failed(type))
    return failure();
  if (!input)
    return error() << "has no input on device " << context.device;
  if (!llvm::is_contained(*ranks, context.device))
    return error() << "runs on device " << context.device
                   << ", which is not in its group";
  // In index-map order the members follow the parts they declare.
  if (kind == tv::CollectiveKind::AllGather &&
      context.plan.options.partOrder == PartOrder::IndexMap && !transposed) {
    SmallVector<std::pair<int64_t, int64_t>> order;
    for (int64_t rank : *ranks) {
      std::optional<int64_t> start = context.plan.getDeclaredStart(
          context.adapter.id, context.number, rank, *dimension);
      if (!start)
        return error() << "member " << rank << " declares no part";
      order.push_back({*start, rank});
    }
    llvm::sort(order);
    for (auto [at, entry] : llvm::enumerate(order))
      (*ranks)[at] = entry.second;
  }
  OpBuilder &builder = context.builder;
  auto attribute = [&](std::optional<int64_t> value) {
    return value ? builder.getI64IntegerAttr(*value) : IntegerAttr();
  };
  return Value(tv::CommunicateOp::create(
      builder, context.location, *type, kind, input, ArrayRef<int64_t>(*ranks),
      /*replicas=*/false, attribute(dimension), attribute(split),
      attribute(root)));
}

FailureOr<Value> PrimitiveImporter::move() {
  FailureOr<int64_t> source = integer("src"), target = integer("dst");
  if (failed(source) || failed(target))
    return failure();
  bool sends = *source == context.device, receives = *target == context.device;
  if (!sends && !receives)
    return error() << "runs on device " << context.device
                   << ", which neither sends nor receives";
  if (sends && !input)
    return error() << "sends nothing";
  if (sends && !receives) {
    tv::SendOp::create(context.builder, context.location, input, *target);
    return Value();
  }
  FailureOr<RankedTensorType> type = resultType();
  if (failed(type))
    return failure();
  if (sends)
    return Value(tv::CopyOp::create(context.builder, context.location, *type,
                                    input, tv::DomainAttr()));
  return Value(
      tv::ReceiveOp::create(context.builder, context.location, *type, *source));
}

FailureOr<Value> PrimitiveImporter::broadcast() {
  FailureOr<int64_t> source = integer("src");
  FailureOr<SmallVector<int64_t>> ranks = group();
  if (failed(source) || failed(ranks))
    return failure();
  if (!llvm::is_contained(*ranks, context.device) ||
      !llvm::is_contained(*ranks, *source))
    return error() << "source " << *source << " or device " << context.device
                   << " is not in the group";
  if (*source == context.device) {
    if (!input)
      return error() << "sends nothing";
    for (int64_t rank : *ranks)
      if (rank != *source)
        tv::SendOp::create(context.builder, context.location, input, rank);
    return input;
  }
  FailureOr<RankedTensorType> type = resultType();
  if (failed(type))
    return failure();
  return Value(
      tv::ReceiveOp::create(context.builder, context.location, *type, *source));
}

FailureOr<Value> PrimitiveImporter::chunk() {
  FailureOr<int64_t> dimension = integer("dim");
  FailureOr<SmallVector<int64_t>> ranks = group();
  FailureOr<RankedTensorType> type = resultType();
  if (failed(dimension) || failed(ranks) || failed(type))
    return failure();
  if (!input)
    return error() << "has no input on device " << context.device;
  auto whole = cast<RankedTensorType>(input.getType());
  const int64_t *member = llvm::find(*ranks, context.device);
  if (member == ranks->end())
    return error() << "runs on device " << context.device
                   << ", which is not in its group";
  int64_t count = ranks->size();
  if (*dimension < 0 || *dimension >= whole.getRank() ||
      whole.getDimSize(*dimension) % count)
    return error() << "cannot cut dimension " << *dimension << " of " << whole
                   << " into " << count << " parts";
  int64_t size = whole.getDimSize(*dimension) / count;
  int64_t start = (member - ranks->begin()) * size;
  int64_t declared = start;
  if (!transposed && primitive.inputs.size() == 1 &&
      primitive.inputs[0].isTensor) {
    const SubTensor &source = context.plan.get(primitive.inputs[0]);
    if (*dimension < static_cast<int64_t>(source.slice.size()))
      declared =
          result->slice[*dimension].start - source.slice[*dimension].start;
  }
  if (context.plan.options.partOrder == PartOrder::IndexMap)
    start = declared;
  auto part =
      tv::SliceOp::create(context.builder, context.location, *type, input,
                          *dimension, start, start + size, tv::DomainAttr());
  if (start != declared)
    part->setAttr(declaredStartName,
                  context.builder.getI64IntegerAttr(declared));
  return Value(part);
}

FailureOr<Value> PrimitiveImporter::allToAll() {
  FailureOr<int64_t> gathered = integer("idim"), split = integer("odim");
  if (failed(gathered) || failed(split))
    return failure();
  return transposed
             ? communicate(tv::CollectiveKind::AllToAll, *split, *gathered)
             : communicate(tv::CollectiveKind::AllToAll, *gathered, *split);
}

LogicalResult PrimitiveImporter::checkTransfer(const SubTensor &tensor) {
  // The receiver makes room for what the keywords say.
  if (const Argument *shape = find("shape")) {
    bool fits = !shape->isTensor &&
                shape->elements.size() == tensor.shape.size() &&
                llvm::all_of(llvm::zip(shape->elements, tensor.shape),
                             [](const auto &pair) {
                               const auto &[size, expected] = pair;
                               return !size.isTensor &&
                                      size.kind == ConstantKind::Integer &&
                                      size.integer == expected;
                             });
    if (!fits)
      return error() << "keyword 'shape' is not the shape of tensor "
                     << tensor.id;
  }
  if (const Argument *type = find("dtype")) {
    StringRef name = type->text;
    name.consume_front("torch.");
    if (type->isTensor || name != tensor.elementType)
      return error() << "keyword 'dtype' is not the dtype of tensor "
                     << tensor.id;
  }
  return success();
}

LogicalResult PrimitiveImporter::checkKeywords() {
  for (const KeywordArgument &keyword : primitive.keywords)
    if (!llvm::is_contained(
            {"src", "dst", "shape", "dtype", "dim", "ranks", "idim", "odim"},
            keyword.name))
      return error() << "unknown keyword '" << keyword.name << "'";
  for (ArrayRef<Argument> list : {primitive.inputs, primitive.outputs})
    for (const Argument &argument : list)
      if (argument.isTensor &&
          failed(checkTransfer(context.plan.get(argument))))
        return failure();
  return success();
}

FailureOr<Value> PrimitiveImporter::import() {
  const Entry *entry = findEntry(primitive.name);
  if (!entry)
    return emitError(context.location)
           << "unknown communication primitive '" << primitive.name
           << "' (cell " << context.adapter.id << ")";
  if (transposed && !entry->transposed)
    return error() << "has no transpose";
  Action action = transposed ? *entry->transposed : entry->forward;
  if (failed(checkKeywords()))
    return failure();
  switch (action) {
  case Action::Move:
    return move();
  case Action::Broadcast:
    return broadcast();
  case Action::Chunk:
    return chunk();
  case Action::AllReduce:
    return communicate(tv::CollectiveKind::AllReduce, std::nullopt);
  case Action::AllToAll:
    return allToAll();
  case Action::Identity: {
    FailureOr<RankedTensorType> type = resultType();
    if (failed(type))
      return failure();
    if (!input)
      return error() << "has no input on device " << context.device;
    return Value(tv::CopyOp::create(context.builder, context.location, *type,
                                    input, tv::DomainAttr()));
  }
  case Action::AllGather:
  case Action::ReduceScatter: {
    FailureOr<int64_t> dimension = integer("dim");
    if (failed(dimension))
      return failure();
    return communicate(action == Action::AllGather
                           ? tv::CollectiveKind::AllGather
                           : tv::CollectiveKind::ReduceScatter,
                       *dimension);
  }
  }
  return error() << "is not supported";
}

FailureOr<Value> nnscaler::importPrimitive(PrimitiveContext &context,
                                           const Primitive &primitive,
                                           Value input, const SubTensor *result,
                                           bool transposed) {
  return PrimitiveImporter(context, primitive, input, result, transposed)
      .import();
}
