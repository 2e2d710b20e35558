//===- ImportConvolutions.cpp - torch.nn.functional.conv1d, conv2d --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Along a dimension of which the kernel takes blocks, as where images are cut
// into patches, a convolution is a contraction over positions in the block.
// Along others it is a sum over the positions of the kernel, of which each
// takes every `stride`th element of the input.
//
//===----------------------------------------------------------------------===//

#include "OpBody.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

/// Positions of a kernel that is not cut into blocks: ops for each of them.
static constexpr int64_t mostPositions = 128;
/// Strides, distances and lengths of zeros, so that no product of them with a
/// size overflows.
static constexpr int64_t mostSteps = int64_t(1) << 20;
static constexpr int64_t mostElements = int64_t(1) << 40;

namespace {
/// One dimension along which the kernel moves.
struct Window {
  int64_t kernel, stride, dilation;
  int64_t low, high; ///< zeros before and after the input
  int64_t size;      ///< of the result

  bool takesBlocks() const { return dilation == 1 && kernel == stride; }
};

/// A convolution of batches of channels with a kernel for each pair of them.
class Convolution {
public:
  Convolution(ForwardOp &op, unsigned rank) : op(op), body{op}, rank(rank) {}

  void import(Results &results);

private:
  /// A number for each dimension, `otherwise` if there is no keyword; one
  /// stands for all, and none may be below `least`.
  SmallVector<int64_t> getNumbers(StringRef name, int64_t otherwise,
                                  int64_t least);
  /// Whether the operands fit together.
  bool readShapes();
  bool readWindows();
  /// Zeros before and after each dimension.
  bool readPadding();
  /// The input as the windows have it, blocks apart: (batch, groups, channels,
  /// a dimension or two for each window).
  Value arrange(Value input);
  /// What position `at` of the kernel takes along a window of `value`, whose
  /// dimension that is.
  Value stride(Value value, int64_t dimension, const Window &window,
               int64_t at);
  /// The sum over the positions of all kernels from `window` on, where `input`
  /// and `weight` are those of positions of the ones before.
  Value sum(Value input, Value weight, unsigned window);
  Value contract(Value input, Value weight);
  /// Where the dimension of a window is in what `arrange` gives.
  int64_t getDimension(unsigned window) const;

  ForwardOp &op;
  OpBody body;
  unsigned rank; ///< how many dimensions the kernel moves along
  int64_t batch = 1, groups = 1;
  int64_t channels = 0, outputs = 0; ///< of each group
  bool hasBatch = false;
  SmallVector<Window, 2> windows;
};
} // namespace

SmallVector<int64_t> Convolution::getNumbers(StringRef name, int64_t otherwise,
                                             int64_t least) {
  SmallVector<int64_t> numbers = {otherwise};
  if (op.keyword(name)) {
    auto given = op.integers(name);
    if (!given)
      return {};
    numbers = std::move(*given);
  }
  if (numbers.size() == 1)
    numbers.resize(rank, numbers.front());
  if (numbers.size() != rank) {
    op.error() << "keyword '" << name << "' has " << numbers.size()
               << " numbers for " << rank << " dimensions";
    return {};
  }
  for (int64_t number : numbers)
    if (number < least || number > mostSteps) {
      op.error() << "keyword '" << name << "' of " << number
                 << " is not supported";
      return {};
    }
  return numbers;
}

bool Convolution::readShapes() {
  if (op.operands.size() != 2 && !op.requireOperands(3))
    return false;
  ArrayRef<int64_t> input = OpBody::shape(op.operands[0]);
  ArrayRef<int64_t> weight = OpBody::shape(op.operands[1]);
  hasBatch = input.size() == rank + 2;
  if (weight.size() != rank + 2 || (!hasBatch && input.size() != rank + 1)) {
    op.error() << "convolves " << op.operandType(0) << " with "
               << op.operandType(1);
    return false;
  }
  if (op.keyword("groups"))
    groups = op.count("groups");
  if (op.failedAlready)
    return false;
  batch = hasBatch ? input.front() : 1;
  channels = weight[1];
  if (weight[0] % groups || input.drop_back(rank).back() % groups ||
      input.drop_back(rank).back() / groups != channels) {
    op.error() << "convolves " << op.operandType(0) << " with "
               << op.operandType(1) << " in " << groups << " groups";
    return false;
  }
  outputs = weight[0] / groups;
  return op.operands.size() == 2 || requireShape(op, 2, {weight[0]});
}

bool Convolution::readPadding() {
  const Argument *padding = op.keyword("padding");
  bool isText =
      padding && !padding->isTensor && padding->kind == ConstantKind::String;
  if (!isText) {
    SmallVector<int64_t> numbers = getNumbers("padding", 0, 0);
    for (auto [window, number] : llvm::zip(windows, numbers))
      window.low = window.high = number;
    return !op.failedAlready;
  }
  StringRef text = padding->getText();
  if (text != "valid" && text != "same") {
    op.error() << "keyword 'padding' is neither numbers nor 'valid' or 'same'";
    return false;
  }
  for (Window &window : windows) {
    if (text == "valid")
      continue;
    if (window.stride != 1) {
      op.error() << "has padding 'same' and a stride of " << window.stride;
      return false;
    }
    // An odd zero comes last.
    int64_t zeros = window.dilation * (window.kernel - 1);
    window.low = zeros / 2;
    window.high = zeros - window.low;
  }
  return true;
}

bool Convolution::readWindows() {
  ArrayRef<int64_t> input = OpBody::shape(op.operands[0]).take_back(rank);
  ArrayRef<int64_t> kernel = OpBody::shape(op.operands[1]).take_back(rank);
  SmallVector<int64_t> strides = getNumbers("stride", 1, 1);
  SmallVector<int64_t> dilations = getNumbers("dilation", 1, 1);
  if (op.failedAlready)
    return false;
  for (unsigned i = 0; i < rank; ++i) {
    if (input[i] > mostElements || kernel[i] > mostSteps) {
      op.error() << "is not supported on dimensions of this size";
      return false;
    }
    windows.push_back({kernel[i], strides[i], dilations[i], 0, 0, 0});
  }
  if (!readPadding())
    return false;
  int64_t positions = 1;
  for (auto [window, size] : llvm::zip(windows, input)) {
    int64_t reach = window.dilation * (window.kernel - 1) + 1;
    int64_t length = window.low + size + window.high;
    if (length < reach) {
      op.error() << "has a kernel that reaches over " << reach
                 << " elements of " << length;
      return false;
    }
    window.size = (length - reach) / window.stride + 1;
    if (!window.takesBlocks())
      positions *= window.kernel;
    if (positions > mostPositions) {
      op.error() << "has a kernel of more than " << mostPositions
                 << " positions that is not cut into blocks, which is not "
                    "supported";
      return false;
    }
  }
  return true;
}

int64_t Convolution::getDimension(unsigned window) const {
  int64_t dimension = 3 + window;
  for (const Window &before : ArrayRef(windows).take_front(window))
    dimension += before.takesBlocks();
  return dimension;
}

Value Convolution::arrange(Value input) {
  SmallVector<int64_t> shape = {batch, groups, channels};
  llvm::append_range(shape, OpBody::shape(input).take_back(rank));
  Value value = body.reshape(input, shape);
  for (unsigned i = 0; i < rank; ++i) {
    const Window &window = windows[i];
    int64_t at = getDimension(i);
    if (window.low || window.high)
      value = body.pad(value, at, window.low, window.high);
    if (!window.takesBlocks())
      continue;
    SmallVector<int64_t> blocks(OpBody::shape(value));
    int64_t used = window.size * window.kernel;
    if (used != blocks[at])
      value = body.slice(value, at, 0, used);
    blocks[at] = window.size;
    blocks.insert(blocks.begin() + at + 1, window.kernel);
    value = body.reshape(value, blocks);
  }
  return value;
}

Value Convolution::stride(Value value, int64_t dimension, const Window &window,
                          int64_t at) {
  int64_t start = at * window.dilation;
  int64_t end = start + window.size * window.stride;
  int64_t length = OpBody::shape(value)[dimension];
  // Of the last ones only the first is taken.
  if (end > length) {
    value = body.pad(value, dimension, 0, end - length);
    length = end;
  }
  if (start != 0 || end != length)
    value = body.slice(value, dimension, start, end);
  if (window.stride == 1)
    return value;
  SmallVector<int64_t> shape(OpBody::shape(value));
  SmallVector<int64_t> apart = shape;
  shape[dimension] = apart[dimension] = window.size;
  apart.insert(apart.begin() + dimension + 1, window.stride);
  return body.reshape(
      body.slice(body.reshape(value, apart), dimension + 1, 0, 1), shape);
}

Value Convolution::contract(Value input, Value weight) {
  std::string first = "ngc", second = "goc", result = "ngo";
  SmallVector<int64_t> shape = {batch, groups, outputs};
  StringRef places = "xy", inside = "kl";
  for (unsigned i = 0; i < rank; ++i) {
    first += places[i];
    result += places[i];
    shape.push_back(windows[i].size);
    if (windows[i].takesBlocks()) {
      first += inside[i];
      second += inside[i];
    }
  }
  return body.einsum({input, weight}, first + "," + second + "->" + result,
                     shape);
}

Value Convolution::sum(Value input, Value weight, unsigned window) {
  while (window < rank && windows[window].takesBlocks())
    ++window;
  if (window == rank)
    return contract(input, weight);
  // What came before of the weights is contracted or gone.
  int64_t own = 3;
  for (const Window &before : ArrayRef(windows).take_front(window))
    own += before.takesBlocks();
  Value total;
  for (int64_t at = 0; at < windows[window].kernel; ++at) {
    SmallVector<int64_t> rest(OpBody::shape(weight));
    Value part = weight;
    if (windows[window].kernel != 1)
      part = body.slice(part, own, at, at + 1);
    rest.erase(rest.begin() + own);
    Value term = sum(stride(input, getDimension(window), windows[window], at),
                     body.reshape(part, rest), window + 1);
    total = total ? body.binary<tv::AddOp>(total, term) : term;
  }
  return total;
}

void Convolution::import(Results &results) {
  const Argument *bias = op.keyword("bias");
  if (bias && (bias->isTensor || bias->kind != ConstantKind::None)) {
    op.error() << "keyword 'bias' with a value is not supported";
    return;
  }
  if (!readShapes() || !readWindows())
    return;
  SmallVector<int64_t> kernel = {groups, outputs, channels};
  SmallVector<int64_t> shape = {batch, groups * outputs};
  for (const Window &window : windows) {
    kernel.push_back(window.kernel);
    shape.push_back(window.size);
  }
  Value result =
      sum(arrange(op.operands[0]), body.reshape(op.operands[1], kernel), 0);
  result = body.reshape(result, shape);
  if (op.operands.size() == 3)
    result = body.binary<tv::AddOp>(result,
                                    body.broadcast(op.operands[2], shape, {1}));
  if (!hasBatch)
    shape.erase(shape.begin());
  giveReshaped(op, result, shape, results);
}

/// `conv1d(input, weight, bias=None; stride, padding, dilation, groups)`, or
/// `conv2d`: the cross-correlation of PyTorch, which turns no kernel around.
template <unsigned rank>
static void importConvolution(ForwardOp &op, Results &results) {
  Convolution(op, rank).import(results);
}

void nnscaler::addConvolutions(ForwardRules &rules) {
  rules.insert({
      {"torch.conv1d", {importConvolution<1>}},
      {"torch.conv2d", {importConvolution<2>}},
      {"torch.nn.functional.conv1d", {importConvolution<1>}},
      {"torch.nn.functional.conv2d", {importConvolution<2>}},
  });
}
