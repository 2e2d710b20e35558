//===- ImportTransfers.cpp - primitives with a root, or on one device -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sends and receives between named devices, collectives of which one device is
// the root, and what a device does with its own tensors. The order of parts is
// that in which the primitive names devices.
//
//===----------------------------------------------------------------------===//

#include "PrimitiveImporter.h"
#include "Verify/IR/Gradients.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

LogicalResult PrimitiveImporter::checkTransfer(const SubTensor &tensor,
                                               bool given) {
  // The receiver makes room for what the keywords say: the whole that is
  // scattered, or a part of what is gathered.
  if (const Argument *shape = find("shape")) {
    SmallVector<int64_t> expected = tensor.getShape();
    bool scatters = action == Action::Scatter,
         gathers = action == Action::Gather;
    if (!given && (scatters || gathers)) {
      FailureOr<int64_t> dimension = integer("dim");
      FailureOr<SmallVector<int64_t>> parts = list(scatters ? "dsts" : "srcs");
      if (failed(dimension) || failed(parts))
        return failure();
      int64_t count = parts->size();
      if (*dimension < 0 || *dimension >= static_cast<int64_t>(expected.size()))
        return error() << "has no dimension " << *dimension;
      int64_t &size = expected[*dimension];
      if (scatters ? llvm::MulOverflow(size, count, size) : size % count != 0)
        return error() << "tensor " << tensor.id << " does not fit " << count
                       << " parts";
      if (gathers)
        size /= count;
    }
    bool fits = shape->isSequence() &&
                shape->getElements().size() == expected.size() &&
                llvm::all_of(llvm::zip(shape->getElements(), expected),
                             [](const auto &pair) {
                               const auto &[size, wanted] = pair;
                               return !size.isTensor &&
                                      size.kind == ConstantKind::Integer &&
                                      size.getInteger() == wanted;
                             });
    if (!fits)
      return error() << "keyword 'shape' is not the shape of tensor "
                     << tensor.id;
  }
  if (const Argument *type = find("dtype")) {
    // As it stands in the code.
    StringRef name = type->getText();
    bool isType = !type->isTensor && (type->kind == ConstantKind::ElementType ||
                                      name.consume_front("torch."));
    if (!isType || name != tensor.elementType)
      return error() << "keyword 'dtype' is not the dtype of tensor "
                     << tensor.id;
  }
  return success();
}

LogicalResult PrimitiveImporter::checkSender() {
  if (!input)
    return error() << "has no input on device " << context.device;
  if (result)
    return error() << "gives a tensor on device " << context.device
                   << ", which only sends";
  return success();
}

FailureOr<Value> PrimitiveImporter::cut(Value whole, int64_t dimension,
                                        int64_t start, int64_t end) {
  auto type = cast<RankedTensorType>(whole.getType());
  if (dimension < 0 || dimension >= type.getRank() || start < 0 ||
      start >= end || end > type.getDimSize(dimension))
    return error() << "has no part " << start << ':' << end << " of dimension "
                   << dimension << " of " << type;
  SmallVector<int64_t> shape(type.getShape());
  shape[dimension] = end - start;
  return Value(
      tv::SliceOp::create(context.builder, context.location,
                          RankedTensorType::get(shape, type.getElementType()),
                          whole, dimension, start, end, tv::DomainAttr()));
}

FailureOr<Value> PrimitiveImporter::move() {
  FailureOr<int64_t> source = rank("src"), target = rank("dst");
  if (failed(source) || failed(target))
    return failure();
  if (*source == *target)
    return error(toItself) << "sends from device " << *source << " to itself";
  bool sends = *source == context.device, receives = *target == context.device;
  if (!sends && !receives)
    return error(hasNoPart) << "runs on device " << context.device
                            << ", which neither sends nor receives";
  if (sends && !input)
    return error() << "sends nothing";
  if (sends) {
    tv::SendOp::create(context.builder, context.location, input, *target);
    return Value();
  }
  FailureOr<RankedTensorType> type = resultType();
  if (failed(type))
    return failure();
  return Value(
      tv::ReceiveOp::create(context.builder, context.location, *type, *source));
}

FailureOr<Value> PrimitiveImporter::communicateWith(int64_t root,
                                                    tv::CollectiveKind kind,
                                                    Value value) {
  FailureOr<SmallVector<int64_t>> ranks = group();
  if (failed(ranks))
    return failure();
  for (int64_t device : {root, context.device})
    if (!llvm::is_contained(*ranks, device))
      return error(isOutside) << "root " << root << " or device "
                              << context.device << " is not in the group";
  OpBuilder &builder = context.builder;
  return Value(tv::CommunicateOp::create(
      builder, context.location, value.getType(), kind, value,
      ArrayRef<int64_t>(*ranks), /*replicas=*/false,
      /*dimension=*/IntegerAttr(),
      /*split_dimension=*/IntegerAttr(), builder.getI64IntegerAttr(root)));
}

FailureOr<Value> PrimitiveImporter::broadcast() {
  FailureOr<int64_t> source = rank("src");
  if (failed(source))
    return failure();
  if (*source == context.device) {
    if (!input)
      return error() << "sends nothing";
    if (failed(communicateWith(*source, tv::CollectiveKind::Broadcast, input)))
      return failure();
    return input;
  }
  FailureOr<RankedTensorType> type = resultType();
  if (failed(type))
    return failure();
  // The runtime takes memory here that nothing was written to.
  Value unwritten = tv::UndefinedOp::create(
      context.builder, context.location, *type,
      context.builder.getStringAttr("what is not the source's in a broadcast"),
      tv::DomainAttr());
  return communicateWith(*source, tv::CollectiveKind::Broadcast, unwritten);
}

FailureOr<Value> PrimitiveImporter::reduce() {
  FailureOr<int64_t> root = rank("dst");
  if (failed(root))
    return failure();
  if (!input)
    return error() << "has no input on device " << context.device;
  bool isRoot = *root == context.device;
  FailureOr<RankedTensorType> type = cast<RankedTensorType>(input.getType());
  if (isRoot ? failed(type = resultType()) : failed(checkSender()))
    return failure();
  if (input.getType() != *type)
    return error() << "adds " << input.getType() << ", gives " << *type;
  // All take part in the sum, and one keeps it.
  FailureOr<Value> sum =
      communicateWith(*root, tv::CollectiveKind::AllReduce, input);
  return isRoot ? sum : FailureOr<Value>(Value());
}

FailureOr<Value> PrimitiveImporter::scatter() {
  FailureOr<int64_t> source = rank("src"), dimension = integer("dim");
  FailureOr<SmallVector<int64_t>> targets = list("dsts");
  if (failed(source) || failed(dimension) || failed(targets))
    return failure();
  if (llvm::is_contained(*targets, *source))
    return error(toItself) << "device " << *source << " sends to itself";
  if (*source != context.device) {
    if (!llvm::is_contained(*targets, context.device))
      return error(hasNoPart) << "runs on device " << context.device
                              << ", which neither sends nor receives";
    FailureOr<RankedTensorType> type = resultType();
    if (failed(type))
      return failure();
    return Value(tv::ReceiveOp::create(context.builder, context.location, *type,
                                       *source));
  }
  if (failed(checkSender()))
    return failure();
  auto whole = cast<RankedTensorType>(input.getType());
  int64_t count = targets->size();
  if (*dimension < 0 || *dimension >= whole.getRank() ||
      whole.getDimSize(*dimension) % count)
    return error() << "cannot cut dimension " << *dimension << " of " << whole
                   << " into " << count << " parts";
  int64_t size = whole.getDimSize(*dimension) / count;
  for (auto [number, target] : llvm::enumerate(*targets)) {
    int64_t start = static_cast<int64_t>(number) * size;
    FailureOr<Value> part = cut(input, *dimension, start, start + size);
    if (failed(part))
      return failure();
    tv::SendOp::create(context.builder, context.location, *part, target);
  }
  return Value();
}

FailureOr<Value> PrimitiveImporter::gather() {
  FailureOr<int64_t> target = rank("dst"), dimension = integer("dim");
  FailureOr<SmallVector<int64_t>> sources = list("srcs");
  if (failed(target) || failed(dimension) || failed(sources))
    return failure();
  if (llvm::is_contained(*sources, *target))
    return error(toItself) << "device " << *target << " receives from itself";
  if (*target != context.device) {
    if (!llvm::is_contained(*sources, context.device))
      return error(hasNoPart) << "runs on device " << context.device
                              << ", which neither sends nor receives";
    if (failed(checkSender()))
      return failure();
    tv::SendOp::create(context.builder, context.location, input, *target);
    return Value();
  }
  FailureOr<RankedTensorType> type = resultType();
  if (failed(type))
    return failure();
  SmallVector<int64_t> shape(type->getShape());
  int64_t count = sources->size();
  if (*dimension < 0 || *dimension >= type->getRank() ||
      shape[*dimension] % count)
    return error() << "cannot put " << *type << " together from " << count
                   << " parts along dimension " << *dimension;
  shape[*dimension] /= count;
  auto part = RankedTensorType::get(shape, type->getElementType());
  SmallVector<Value> parts;
  for (int64_t source : *sources)
    parts.push_back(
        tv::ReceiveOp::create(context.builder, context.location, part, source));
  return Value(tv::ConcatOp::create(context.builder, context.location, *type,
                                    parts, *dimension, tv::DomainAttr()));
}

FailureOr<Value> PrimitiveImporter::select() {
  FailureOr<RankedTensorType> type = resultType();
  FailureOr<int64_t> divisor = integer("valmap");
  const Argument *ranges = find("indmap");
  if (failed(type) || failed(divisor))
    return failure();
  if (!input)
    return error() << "has no input on device " << context.device;
  auto whole = cast<RankedTensorType>(input.getType());
  // A tensor takes a list for one index.
  if (!ranges || ranges->isTensor || ranges->kind != ConstantKind::Tuple ||
      static_cast<int64_t>(ranges->getElements().size()) != whole.getRank())
    return error() << "needs a slice 'indmap' of each dimension of " << whole;
  if (*divisor < 1)
    return error() << "divides by " << *divisor;
  Value value = input;
  for (auto [number, range] : llvm::enumerate(ranges->getElements())) {
    ArrayRef<Argument> bounds = range.getElements();
    auto isInteger = [](const Argument &bound) {
      return !bound.isTensor && bound.kind == ConstantKind::Integer;
    };
    if (range.isTensor || range.getText() != "slice" || bounds.size() != 3 ||
        !isInteger(bounds[0]) || !isInteger(bounds[1]) || bounds[2].isTensor ||
        bounds[2].kind != ConstantKind::None)
      return error() << "keyword 'indmap' is not made of slices of integers";
    auto dimension = static_cast<int64_t>(number);
    FailureOr<Value> part =
        cut(value, dimension, bounds[0].getInteger(), bounds[1].getInteger());
    if (failed(part))
      return failure();
    value = *part;
  }
  if (value.getType() != *type)
    return error() << "gives " << value.getType() << ", not " << *type;
  if (*divisor == 1)
    return value;
  if (!isa<FloatType>(type->getElementType()))
    return error() << "divides elements of " << type->getElementType();
  // Doubles have all integers up to there.
  if (*divisor > int64_t(1) << 53)
    return error() << "divides by " << *divisor;
  return Value(tv::DivideOp::create(
      context.builder, context.location, *type, value,
      buildScalar(context.builder, context.location, *divisor),
      tv::DomainAttr()));
}

FailureOr<Value> PrimitiveImporter::mergeDimension() {
  FailureOr<RankedTensorType> type = resultType();
  FailureOr<int64_t> dimension = findDimension("dim");
  if (failed(type) || failed(dimension))
    return failure();
  return Value(tv::ConcatOp::create(context.builder, context.location, *type,
                                    inputs, *dimension, tv::DomainAttr()));
}

FailureOr<Value> PrimitiveImporter::addUp(ArrayRef<Value> terms,
                                          RankedTensorType type) {
  for (Value term : terms)
    if (term.getType() != type)
      return error() << "adds " << term.getType() << ", gives " << type;
  if (terms.size() == 1)
    return Value(tv::CopyOp::create(context.builder, context.location, type,
                                    terms[0], tv::DomainAttr()));
  Value total = terms[0];
  for (Value term : terms.drop_front())
    total = tv::AddOp::create(context.builder, context.location, type, total,
                              term, tv::DomainAttr());
  return total;
}

FailureOr<Value> PrimitiveImporter::sum() {
  FailureOr<RankedTensorType> type = resultType();
  if (failed(type))
    return failure();
  return addUp(inputs, *type);
}
