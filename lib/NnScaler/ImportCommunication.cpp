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

#include "PrimitiveImporter.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

namespace {
/// What autograd has of the result of a primitive without a backward.
enum class Result {
  Attached,
  Detached, ///< nothing leads back to the operands
  Operand   ///< who sends has the very tensor that is sent
};

struct Entry {
  StringLiteral name;
  StringLiteral function; ///< of `nnscaler.runtime.adapter`
  StringLiteral keywords; ///< that the function takes
  Action forward;
  std::optional<Action> transposed;
  Result result = Result::Attached;
};
} // namespace

/// A class of nnscaler/ir/adapter/prim.py names its function, and the code that
/// is made of a plan calls the one that an object names.
static const Entry *findEntry(StringRef name) {
  static constexpr Entry table[] = {
      {"MovePrim", "move", "src dst shape dtype", Action::Move, std::nullopt,
       Result::Operand},
      {"BroadcastPrim", "broadcast", "src ranks shape dtype", Action::Broadcast,
       std::nullopt, Result::Operand},
      {"ChunkPrim", "chunk", "dim ranks", Action::Chunk, std::nullopt,
       Result::Detached},
      {"AllGatherPrim", "all_gather", "dim ranks", Action::AllGather,
       std::nullopt, Result::Detached},
      {"AllReducePrim", "all_reduce", "ranks", Action::AllReduce, std::nullopt,
       Result::Detached},
      {"ReduceScatterPrim", "reduce_scatter", "dim ranks",
       Action::ReduceScatter, std::nullopt, Result::Detached},
      {"AllToAllPrim", "all_to_all", "idim odim ranks", Action::AllToAll,
       std::nullopt, Result::Detached},
      {"ReducePrim", "reduce", "dst ranks", Action::Reduce, std::nullopt},
      {"RDScatterPrim", "rdscatter", "dim src dsts shape dtype",
       Action::Scatter, std::nullopt, Result::Operand},
      {"RDGatherPrim", "rdgather", "dim srcs dst shape dtype", Action::Gather,
       std::nullopt},
      {"SelectPrim", "select", "indmap valmap", Action::Select, std::nullopt},
      {"MergeDimPrim", "smerge", "dim", Action::MergeDimension, std::nullopt},
      {"SumPrim", "vmerge", "", Action::Sum, std::nullopt},
      {"IdentityPrim", "identity", "", Action::Identity, Action::Identity},
      {"AllReduceIdentityPrim", "nn.allreduce_identity", "ranks",
       Action::AllReduce, Action::Identity},
      {"IdentityAllreducePrim", "nn.identity_allreduce", "ranks",
       Action::Identity, Action::AllReduce},
      {"AllReduceAllReducePrim", "nn.allreduce_allreduce", "ranks",
       Action::AllReduce, Action::AllReduce},
      {"AllGatherSplitPrim", "nn.allgather_split", "dim ranks",
       Action::AllGather, Action::Chunk},
      {"SplitAllGatherPrim", "nn.split_allgather", "dim ranks", Action::Chunk,
       Action::AllGather},
      {"AllGatherReduceScatterPrim", "nn.allgather_reducescatter", "dim ranks",
       Action::AllGather, Action::ReduceScatter},
      {"ReduceScatterAllGatherPrim", "nn.reducescatter_allgather", "dim ranks",
       Action::ReduceScatter, Action::AllGather},
      {"AllToAllAllToAllPrim", "nn.alltoall_alltoall", "idim odim ranks",
       Action::AllToAll, Action::AllToAll},
  };
  for (const Entry &entry : table)
    if (entry.name == name)
      return &entry;
  return nullptr;
}

/// Whether two arguments are the same constant, or both tensors.
static bool areEqual(const Argument &left, const Argument &right) {
  if (left.isTensor || right.isTensor)
    return left.isTensor && right.isTensor;
  return left.kind == right.kind && left.getInteger() == right.getInteger() &&
         left.getReal() == right.getReal() &&
         left.getText() == right.getText() &&
         llvm::equal(left.getElements(), right.getElements(),
                     [](const Argument &a, const Argument &b) {
                       return areEqual(a, b);
                     });
}

bool nnscaler::haveEqualTransposes(const Primitive &left,
                                   const Primitive &right) {
  const Entry *a = findEntry(left.name), *b = findEntry(right.name);
  if (!a || !b || a->transposed != b->transposed)
    return false;
  if (a->transposed == Action::Identity)
    return true;
  return (a == b || a->transposed) &&
         llvm::equal(left.keywords, right.keywords,
                     [](const KeywordArgument &x, const KeywordArgument &y) {
                       return x.name == y.name && areEqual(x.value, y.value);
                     });
}

bool nnscaler::isIdentityTransposed(const Primitive &primitive) {
  const Entry *entry = findEntry(primitive.name);
  return entry && entry->transposed == Action::Identity;
}

bool nnscaler::isIdentity(const Primitive &primitive) {
  const Entry *entry = findEntry(primitive.name);
  return entry && entry->forward == Action::Identity &&
         entry->transposed == Action::Identity;
}

bool nnscaler::detaches(const Primitive &primitive) {
  const Entry *entry = findEntry(primitive.name);
  return entry && entry->result == Result::Detached;
}

bool nnscaler::passesOperand(const Primitive &primitive) {
  const Entry *entry = findEntry(primitive.name);
  return entry && primitive.inputs.size() == 1 &&
         primitive.outputs.size() == 1 &&
         (entry->result == Result::Operand || isIdentity(primitive));
}

bool nnscaler::returnsOperand(const Primitive &primitive) {
  const Entry *entry = findEntry(primitive.name);
  return entry && entry->result == Result::Operand && isInPlace(primitive);
}

/// Why a primitive of the format has no meaning here, if so.
static StringRef getObstacle(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Cases({"RVScatterPrim", "RVGatherPrim"},
             "the runtime's function does not take the keywords it has")
      .Cases({"ReduceBroadcastPrim", "BroadcastRedducePrim"},
             "it names no function of the runtime")
      .Default("");
}

bool nnscaler::isInPlace(const Primitive &primitive) {
  return primitive.inputs.size() == 1 && primitive.outputs.size() == 1 &&
         primitive.inputs[0].isTensor && primitive.outputs[0].isTensor &&
         primitive.inputs[0].tensor == primitive.outputs[0].tensor;
}

FailureOr<int64_t> PrimitiveImporter::integer(StringRef name) {
  const Argument *value = find(name);
  if (!value || value->isTensor || value->kind != ConstantKind::Integer)
    return error() << "needs an integer keyword '" << name << "'";
  return value->getInteger();
}

FailureOr<int64_t> PrimitiveImporter::findDimension(StringRef name) {
  FailureOr<int64_t> number = integer(name);
  if (failed(number) || !input)
    return number;
  auto type = cast<RankedTensorType>(input.getType());
  if (*number < -type.getRank() || *number >= type.getRank())
    return error() << type << " has no dimension " << *number;
  return *number < 0 ? *number + type.getRank() : *number;
}

LogicalResult PrimitiveImporter::checkDevice(int64_t device) {
  if (!llvm::is_contained(context.plan.plan.devices, device))
    return error(namesNobody)
           << "names device " << device << ", which the plan does not have";
  return success();
}

FailureOr<int64_t> PrimitiveImporter::rank(StringRef name) {
  FailureOr<int64_t> device = integer(name);
  if (failed(device) || failed(checkDevice(*device)))
    return failure();
  return device;
}

FailureOr<SmallVector<int64_t>> PrimitiveImporter::list(StringRef name) {
  const Argument *ranks = find(name);
  if (!ranks || !ranks->isSequence() || ranks->getElements().empty())
    return error() << "needs a list of ranks '" << name << "'";
  SmallVector<int64_t> list;
  for (const Argument &rank : ranks->getElements()) {
    if (rank.isTensor || rank.kind != ConstantKind::Integer)
      return error() << name << " are not integers";
    if (failed(checkDevice(rank.getInteger())))
      return failure();
    if (llvm::is_contained(list, rank.getInteger()))
      return error() << "names a rank twice";
    list.push_back(rank.getInteger());
  }
  return list;
}

FailureOr<SmallVector<int64_t>> PrimitiveImporter::group() {
  FailureOr<SmallVector<int64_t>> group = list("ranks");
  if (succeeded(group))
    llvm::sort(*group);
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

std::optional<SmallVector<int64_t>>
PrimitiveImporter::getDeclaredOrder(ArrayRef<int64_t> members, bool isGiven,
                                    int64_t dimension) const {
  SmallVector<std::pair<int64_t, int64_t>> order;
  for (int64_t member : members) {
    std::optional<int64_t> start = context.plan.getDeclaredStart(
        {context.adapter.id, context.number, transposed}, member, isGiven,
        dimension);
    if (!start)
      return std::nullopt;
    order.push_back({*start, member});
  }
  llvm::sort(order);
  return llvm::map_to_vector(order, [](auto entry) { return entry.second; });
}

std::optional<SmallVector<int64_t>>
PrimitiveImporter::getDeclaredOrder(ArrayRef<int64_t> members,
                                    tv::CollectiveKind kind, int64_t dimension,
                                    std::optional<int64_t> split) const {
  if (kind == tv::CollectiveKind::ReduceScatter)
    return getDeclaredOrder(members, /*isGiven=*/false, dimension);
  auto given = getDeclaredOrder(members, /*isGiven=*/true, dimension);
  // One order is that of both.
  if (kind == tv::CollectiveKind::AllToAll && given &&
      given != getDeclaredOrder(members, /*isGiven=*/false, *split))
    return std::nullopt;
  return given;
}

FailureOr<Value>
PrimitiveImporter::communicate(tv::CollectiveKind kind,
                               std::optional<int64_t> dimension,
                               std::optional<int64_t> split) {
  FailureOr<SmallVector<int64_t>> ranks = group();
  FailureOr<RankedTensorType> type = resultType();
  if (failed(ranks) || failed(type))
    return failure();
  if (!input)
    return error() << "has no input on device " << context.device;
  if (!llvm::is_contained(*ranks, context.device))
    return error(isOutside) << "runs on device " << context.device
                            << ", which is not in its group";
  OpBuilder &builder = context.builder;
  Attribute declared;
  if (kind != tv::CollectiveKind::AllReduce) {
    std::optional<SmallVector<int64_t>> order =
        getDeclaredOrder(*ranks, kind, *dimension, split);
    bool isDeclared = context.plan.options.partOrder == PartOrder::IndexMap;
    if (isDeclared && !order && kind == tv::CollectiveKind::AllToAll)
      return error() << "the parts that are given and those that are kept are "
                        "not declared in one order";
    // Where a member declares nothing, as it may not take part, it is by rank,
    // and nothing is proved if that is not what was asked for.
    if (!order)
      declared = builder.getUnitAttr();
    else if (isDeclared)
      ranks = *order;
    else if (*order != *ranks)
      declared = builder.getDenseI64ArrayAttr(*order);
  }
  auto attribute = [&](std::optional<int64_t> value) {
    return value ? builder.getI64IntegerAttr(*value) : IntegerAttr();
  };
  auto communicate = tv::CommunicateOp::create(
      builder, context.location, *type, kind, input, ArrayRef<int64_t>(*ranks),
      /*replicas=*/false, attribute(dimension), attribute(split),
      /*root=*/IntegerAttr());
  if (declared)
    communicate->setAttr(declaredName, declared);
  return Value(communicate);
}

FailureOr<Value> PrimitiveImporter::chunk() {
  FailureOr<int64_t> dimension = findDimension("dim");
  FailureOr<SmallVector<int64_t>> ranks = group();
  FailureOr<RankedTensorType> type = resultType();
  if (failed(dimension) || failed(ranks) || failed(type))
    return failure();
  if (!input)
    return error() << "has no input on device " << context.device;
  auto whole = cast<RankedTensorType>(input.getType());
  const int64_t *member = llvm::find(*ranks, context.device);
  if (member == ranks->end())
    return error(isOutside) << "runs on device " << context.device
                            << ", which is not in its group";
  // As `torch.Tensor.chunk` does: the last parts may be smaller, or not there.
  int64_t count = ranks->size(), extent = whole.getDimSize(*dimension);
  int64_t size = llvm::divideCeil(extent, count);
  int64_t start = (member - ranks->begin()) * size;
  if (start >= extent)
    return error(hasNoChunk)
           << "cuts dimension " << *dimension << " of " << whole << " into "
           << count << " parts, of which device " << context.device
           << " has none";
  int64_t declared = start;
  ArrayRef<Argument> given =
      transposed ? context.adapter.inputs : primitive.inputs;
  if (given.size() == 1 && given[0].isTensor) {
    const SubTensor &source = context.plan.get(given[0]);
    if (*dimension < static_cast<int64_t>(source.slice.size()) &&
        *dimension < static_cast<int64_t>(result->slice.size()))
      declared =
          result->slice[*dimension].start - source.slice[*dimension].start;
  }
  if (extent % count && start != declared)
    return error() << "cuts dimension " << *dimension << " of " << whole
                   << " into parts of two sizes, which are not declared in the "
                      "order of ranks";
  if (context.plan.options.partOrder == PartOrder::IndexMap)
    start = declared;
  auto part = tv::SliceOp::create(
      context.builder, context.location, *type, input, *dimension, start,
      std::min(start + size, extent), tv::DomainAttr());
  if (start != declared)
    part->setAttr(declaredName, context.builder.getI64IntegerAttr(declared));
  return Value(part);
}

FailureOr<Value> PrimitiveImporter::allToAll() {
  FailureOr<int64_t> gathered = findDimension("idim"),
                     split = findDimension("odim");
  if (failed(gathered) || failed(split))
    return failure();
  return transposed
             ? communicate(tv::CollectiveKind::AllToAll, *split, *gathered)
             : communicate(tv::CollectiveKind::AllToAll, *gathered, *split);
}

LogicalResult PrimitiveImporter::checkCall(StringRef function,
                                           StringRef keywords) {
  StringRef called = primitive.signature;
  if (!called.consume_front("nnscaler.runtime.adapter.") || called != function)
    return error() << "calls '" << primitive.signature
                   << "', not 'nnscaler.runtime.adapter." << function << "'";
  SmallVector<StringRef> known;
  keywords.split(known, ' ');
  for (const KeywordArgument &keyword : primitive.keywords)
    if (!llvm::is_contained(known, keyword.name))
      return error() << "unknown keyword '" << keyword.name << "'";
  for (StringRef keyword : known)
    if (!keyword.empty() && !find(keyword))
      return error() << "needs keyword '" << keyword << "'";
  for (const Argument &argument : primitive.inputs)
    if (argument.isTensor &&
        failed(checkTransfer(context.plan.get(argument), /*given=*/true)))
      return failure();
  for (const Argument &argument : primitive.outputs)
    if (argument.isTensor &&
        failed(checkTransfer(context.plan.get(argument), /*given=*/false)))
      return failure();
  bool merges = action == Action::MergeDimension || action == Action::Sum;
  // One tensor by itself is taken for a list of them.
  if (merges ? inputs.size() < 2 : inputs.size() > 1)
    return error() << "takes " << inputs.size() << " tensors";
  return success();
}

FailureOr<Value> PrimitiveImporter::import() {
  const Entry *entry = findEntry(primitive.name);
  if (StringRef obstacle = getObstacle(primitive.name); !obstacle.empty())
    return error() << "is not supported: " << obstacle;
  if (!entry)
    return emitError(context.location)
           << "unknown communication primitive '" << primitive.name
           << "' (cell " << context.adapter.id << ")";
  if (transposed && !entry->transposed)
    return error() << "has no transpose";
  action = transposed ? *entry->transposed : entry->forward;
  if (failed(checkCall(entry->function, entry->keywords)))
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
  case Action::Reduce:
    return reduce();
  case Action::Scatter:
    return scatter();
  case Action::Gather:
    return gather();
  case Action::Select:
    return select();
  case Action::MergeDimension:
    return mergeDimension();
  case Action::Sum:
    return sum();
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
    FailureOr<int64_t> dimension = findDimension("dim");
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
                                           ArrayRef<Value> inputs,
                                           const SubTensor *result,
                                           bool transposed) {
  return PrimitiveImporter(context, primitive, inputs, result, transposed)
      .import();
}
