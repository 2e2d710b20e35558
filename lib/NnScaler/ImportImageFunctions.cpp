//===- ImportImageFunctions.cpp - images of other sizes -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of `torch.nn.functional` that combine neighbouring elements of
// images, or repeat them.
//
//===----------------------------------------------------------------------===//

#include "OpBody.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

/// A number for each of the last `rank` dimensions, of which one stands for
/// all; none after an error.
static std::optional<SmallVector<int64_t>>
getSizes(ForwardOp &op, StringRef name, unsigned rank) {
  auto sizes = op.integers(name);
  if (!sizes)
    return std::nullopt;
  if (sizes->size() == 1)
    sizes->resize(rank, sizes->front());
  if (sizes->size() != rank || llvm::any_of(*sizes, [](int64_t size) {
        return size < 1 || size > int64_t(1) << 20;
      })) {
    op.error() << "keyword '" << name << "' is no positive integer for each of "
               << rank << " dimensions";
    return std::nullopt;
  }
  return sizes;
}

/// Operand `input`, of which the last `rank` dimensions are those of an image;
/// null after an error.
static Value getImage(ForwardOp &op, unsigned rank) {
  Value input = op.floats("input");
  if (!input)
    return {};
  size_t given = OpBody::shape(input).size();
  if (given == rank + 1 || given == rank + 2)
    return input;
  op.error() << "is no image of " << rank << " dimensions: " << input.getType();
  return {};
}

/// The mean of each block of an image; elements at the end that make no block
/// are left out.
static Value averageBlocks(OpBody body, Value input,
                           ArrayRef<int64_t> blockSizes) {
  SmallVector<int64_t> shape(body.shape(input)), blocks, dimensions, result;
  size_t outer = shape.size() - blockSizes.size();
  blocks.assign(shape.begin(), shape.begin() + outer);
  result = blocks;
  for (auto [i, size] : llvm::enumerate(blockSizes)) {
    auto at = static_cast<int64_t>(outer + i);
    int64_t count = shape[at] / size;
    if (count * size != shape[at])
      input = body.slice(input, at, 0, count * size);
    blocks.append({count, size});
    dimensions.push_back(static_cast<int64_t>(blocks.size()) - 1);
    result.push_back(count);
  }
  Value apart = body.reshape(input, blocks);
  return tv::ReduceOp::create(body.op.builder, body.op.location,
                              OpBody::like(apart, result),
                              tv::ReductionKind::Average, apart, dimensions,
                              /*keep_dimensions=*/false, tv::DomainAttr());
}

/// `avg_pool2d(input, kernel_size, stride=kernel_size, ...)` of blocks.
template <unsigned rank>
static void importAveragePool(ForwardOp &op, Results &results) {
  Value input = getImage(op, rank);
  auto kernel = input ? getSizes(op, "kernel_size", rank) : std::nullopt;
  const Argument *stride = op.keyword("stride");
  bool isGiven =
      stride && (stride->isTensor || stride->kind != ConstantKind::None);
  auto strides = kernel && isGiven ? getSizes(op, "stride", rank) : kernel;
  op.requireFalse("ceil_mode");
  op.requireNone("divisor_override");
  if (op.keyword("count_include_pad"))
    op.boolean("count_include_pad");
  if (!strides || op.failedAlready)
    return;
  if (op.keyword("padding") && op.real("padding") != 0 && !op.failedAlready)
    op.error() << "keyword 'padding' other than 0 is not supported";
  if (*strides != *kernel && !op.failedAlready)
    op.error() << "takes windows that are no blocks, which is not supported";
  for (auto [size, window] :
       llvm::zip(OpBody::shape(input).take_back(rank), *kernel))
    if (size < window && !op.failedAlready)
      op.error() << "takes " << window << " of a dimension of " << size;
  if (!op.failedAlready)
    results.push_back(averageBlocks({op}, input, *kernel));
}

/// `adaptive_avg_pool2d(input, output_size)`, of blocks of one size.
template <unsigned rank>
static void importAdaptivePool(ForwardOp &op, Results &results) {
  Value input = getImage(op, rank);
  auto sizes = input ? getSizes(op, "output_size", rank) : std::nullopt;
  if (!sizes)
    return;
  for (auto [size, whole] :
       llvm::zip(*sizes, OpBody::shape(input).take_back(rank))) {
    if (whole % size != 0) {
      op.error() << "makes " << size << " of a dimension of " << whole;
      return;
    }
    size = whole / size;
  }
  results.push_back(averageBlocks({op}, input, *sizes));
}

/// How often each element of `shape`, without batch and channels, comes along
/// each dimension, as `size` or `scale_factor` says; none after an error.
static std::optional<SmallVector<int64_t>> readTimes(ForwardOp &op,
                                                     ArrayRef<int64_t> shape) {
  const Argument *size = op.keyword("size");
  SmallVector<int64_t> times;
  if (size && (size->isTensor || size->kind != ConstantKind::None)) {
    op.requireNone("scale_factor");
    auto sizes = getSizes(op, "size", shape.size());
    if (!sizes || op.failedAlready)
      return std::nullopt;
    for (auto [to, from] : llvm::zip(*sizes, shape))
      times.push_back(to % from == 0 ? to / from : 0);
  } else if (const Argument *factor = op.keyword("scale_factor");
             factor && !factor->isTensor &&
             factor->kind == ConstantKind::Float) {
    double number = op.real("scale_factor");
    bool isWhole = number == std::floor(number) && std::abs(number) < 0x1p20;
    times.assign(shape.size(), isWhole ? static_cast<int64_t>(number) : 0);
  } else if (auto factors = getSizes(op, "scale_factor", shape.size())) {
    times = *factors;
  }
  if (op.failedAlready)
    return std::nullopt;
  if (llvm::all_of(times, [](int64_t count) { return count >= 1; }))
    return times;
  op.error() << "makes no whole number of elements of each";
  return std::nullopt;
}

/// `interpolate(input, size, scale_factor, mode='nearest')`: each element of an
/// image so many times along each dimension.
static void importInterpolate(ForwardOp &op, Results &results) {
  Value input = op.floats("input");
  const Argument *mode = op.keyword("mode");
  if (mode &&
      (mode->isTensor || mode->kind != ConstantKind::String ||
       mode->getText() != "nearest") &&
      !op.failedAlready)
    op.error() << "keyword 'mode' other than 'nearest' is not supported";
  op.requireNone("align_corners");
  op.requireNone("recompute_scale_factor");
  op.requireFalse("antialias");
  if (op.failedAlready)
    return;
  ArrayRef<int64_t> shape = OpBody::shape(input);
  if (shape.size() < 3) {
    op.error() << "is no batch of channels: " << input.getType();
    return;
  }
  auto times = readTimes(op, shape.drop_front(2));
  if (!times)
    return;
  SmallVector<int64_t> repeated, dimensions, result;
  for (auto [i, length] : llvm::enumerate(shape)) {
    dimensions.push_back(static_cast<int64_t>(repeated.size()));
    repeated.push_back(length);
    result.push_back(length);
    if (i < 2)
      continue;
    repeated.push_back((*times)[i - 2]);
    // PyTorch divides positions as floats, which is exact up to here.
    constexpr int64_t mostPositions = int64_t(1) << 24;
    if (!llvm::isPowerOf2_64(repeated.back()) ||
        llvm::MulOverflow(length, repeated.back(), result.back()) ||
        result.back() > mostPositions) {
      op.error() << "repeats size " << length << " " << repeated.back()
                 << " times, which is only supported by powers of two, and up "
                    "to 2^24 elements";
      return;
    }
  }
  OpBody body{op};
  results.push_back(
      body.reshape(body.broadcast(input, repeated, dimensions), result));
}

/// `pixel_shuffle(input, upscale_factor)`: channels as positions of blocks, or
/// these as channels, of `pixel_unshuffle(input, downscale_factor)`.
template <bool isInverse>
static void importPixelShuffle(ForwardOp &op, Results &results) {
  Value input = op.floats("input");
  int64_t factor = op.failedAlready ? 1
                                    : op.count(isInverse ? "downscale_factor"
                                                         : "upscale_factor");
  if (op.failedAlready)
    return;
  SmallVector<int64_t> shape(OpBody::shape(input));
  int64_t square;
  if (shape.size() < 3 || llvm::MulOverflow(factor, factor, square) ||
      (isInverse ? shape[shape.size() - 1] % factor != 0 ||
                       shape[shape.size() - 2] % factor != 0
                 : shape[shape.size() - 3] % square != 0)) {
    op.error() << "does not divide " << input.getType() << " by " << factor;
    return;
  }
  int64_t width = shape.pop_back_val(), height = shape.pop_back_val(),
          channels = shape.pop_back_val();
  OpBody body{op};
  SmallVector<int64_t> apart(shape), result(shape),
      permutation = llvm::to_vector(
          llvm::seq<int64_t>(static_cast<int64_t>(shape.size())));
  auto first = static_cast<int64_t>(shape.size());
  auto add = [&](ArrayRef<int64_t> order) {
    for (int64_t i : order)
      permutation.push_back(first + i);
  };
  if (isInverse) {
    apart.append({channels, height / factor, factor, width / factor, factor});
    add({0, 2, 4, 1, 3});
    result.append({channels * square, height / factor, width / factor});
  } else {
    apart.append({channels / square, factor, factor, height, width});
    add({0, 3, 1, 4, 2});
    result.append({channels / square, height * factor, width * factor});
  }
  results.push_back(body.reshape(
      body.transpose(body.reshape(input, apart), permutation), result));
}

void nnscaler::addImageFunctions(ForwardRules &rules) {
  constexpr const char *pool = "input kernel_size stride padding ceil_mode "
                               "count_include_pad divisor_override";
  rules.insert({
      {"torch.nn.functional.avg_pool1d",
       {.import = importAveragePool<1>, .parameters = pool}},
      {"torch.avg_pool1d",
       {.import = importAveragePool<1>, .parameters = pool}},
      {"torch.nn.functional.avg_pool2d",
       {.import = importAveragePool<2>, .parameters = pool}},
      {"torch.nn.functional.adaptive_avg_pool1d",
       {.import = importAdaptivePool<1>, .parameters = "input output_size"}},
      {"torch.nn.functional.adaptive_avg_pool2d",
       {.import = importAdaptivePool<2>, .parameters = "input output_size"}},
      {"torch.nn.functional.interpolate",
       {.import = importInterpolate,
        .parameters = "input size scale_factor mode align_corners "
                      "recompute_scale_factor antialias"}},
      {"torch.nn.functional.pixel_shuffle",
       {.import = importPixelShuffle<false>,
        .parameters = "input upscale_factor"}},
      {"torch.pixel_shuffle",
       {.import = importPixelShuffle<false>,
        .parameters = "input upscale_factor"}},
      {"torch.nn.functional.pixel_unshuffle",
       {.import = importPixelShuffle<true>,
        .parameters = "input downscale_factor"}},
      {"torch.pixel_unshuffle",
       {.import = importPixelShuffle<true>,
        .parameters = "input downscale_factor"}},
  });
}
