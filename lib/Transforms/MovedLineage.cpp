//===- CommunicatedLineage.cpp - parts that devices exchange --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dimension of a lineage is a number of which axes and one interval are the
// digits. A gather over the axis before the interval makes an interval of both,
// a slice over an axis makes two of one, and what is read at one coordinate has
// that as a digit.
//
//===----------------------------------------------------------------------===//

#include "CommunicatedLineage.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace verify;

namespace {
/// Axes, major to minor, and the interval that ends a dimension.
struct Digits {
  SmallVector<StringAttr> axes;
  int64_t start = 0, end = 1, extent = 1;

  static std::optional<Digits> read(ArrayAttr dimension) {
    Digits digits;
    bool hasInterval = false;
    for (auto factor : dimension.getAsRange<tv::DimensionFactorAttr>()) {
      // An interval that is not the last digit.
      if (hasInterval)
        return std::nullopt;
      if (factor.getAxis()) {
        digits.axes.push_back(factor.getAxis());
        continue;
      }
      hasInterval = true;
      digits.start = factor.getStart();
      digits.end = factor.getEnd();
      digits.extent = factor.getExtent();
    }
    return digits;
  }

  ArrayAttr write(MLIRContext *context) const {
    SmallVector<Attribute> factors;
    for (StringAttr axis : axes)
      factors.push_back(tv::DimensionFactorAttr::get(context, axis, 0, 0, 0));
    factors.push_back(tv::DimensionFactorAttr::get(context, StringAttr(), start,
                                                   end, extent));
    return ArrayAttr::get(context, factors);
  }

  bool isWhole() const { return start == 0 && end == extent; }

  /// All coordinates of the last axis, which has so many.
  bool gather(StringAttr axis, int64_t size) {
    if (axes.empty() || axes.back() != axis || !isWhole() ||
        llvm::MulOverflow(extent, size, extent))
      return false;
    axes.pop_back();
    end = extent;
    return true;
  }
  /// One part for each of so many coordinates of an axis.
  bool slice(StringAttr axis, int64_t size) {
    if (!isWhole() || extent % size != 0)
      return false;
    axes.push_back(axis);
    end = extent /= size;
    return true;
  }
  /// At one of so many coordinates of an axis.
  bool fix(StringAttr axis, int64_t size, int64_t coordinate) {
    if (!llvm::is_contained(axes, axis))
      return true;
    int64_t offset, whole;
    if (axes.back() != axis || llvm::MulOverflow(extent, coordinate, offset) ||
        llvm::MulOverflow(extent, size, whole))
      return false;
    axes.pop_back();
    start += offset;
    end += offset;
    extent = whole;
    return !llvm::is_contained(axes, axis);
  }
  /// Some of the positions.
  bool cut(int64_t from, int64_t to) {
    if (from < 0 || from > to || to > end - start)
      return false;
    end = start + to;
    start += from;
    return true;
  }
  /// What comes next in the same tensor, after this.
  bool append(const Digits &next) {
    if (axes != next.axes || extent != next.extent || end != next.start)
      return false;
    end = next.end;
    return true;
  }
};
} // namespace

/// Applies `change` to one dimension, if there is such.
static tv::LineageAttr
changeDimension(tv::LineageAttr lineage, uint64_t number,
                llvm::function_ref<bool(Digits &)> change) {
  SmallVector<ArrayAttr> dimensions(lineage.getDimensions());
  if (number >= dimensions.size())
    return {};
  std::optional<Digits> digits = Digits::read(dimensions[number]);
  if (!digits || !change(*digits))
    return {};
  dimensions[number] = digits->write(lineage.getContext());
  return tv::LineageAttr::get(lineage.getContext(), dimensions, {});
}

/// Whether any dimension but one depends on an axis.
static bool dependsElsewhere(tv::LineageAttr lineage, uint64_t number,
                             StringAttr axis) {
  for (auto [other, dimension] : llvm::enumerate(lineage.getDimensions()))
    if (other != number)
      for (auto factor : dimension.getAsRange<tv::DimensionFactorAttr>())
        if (factor.getAxis() == axis)
          return true;
  return false;
}

static tv::LineageAttr followGather(tv::AllGatherOp op,
                                    ArrayRef<tv::LineageAttr> operands,
                                    tv::MeshAttr mesh) {
  tv::LineageAttr first = operands.front();
  uint64_t number = op.getDimension();
  if (StringAttr axis = op.getAxisAttr()) {
    std::optional<int64_t> size = mesh.getAxisSize(axis.getValue());
    if (!size || dependsElsewhere(first, number, axis))
      return {};
    return changeDimension(first, number, [&](Digits &digits) {
      return digits.gather(axis, *size);
    });
  }
  return changeDimension(first, number, [&](Digits &digits) {
    for (tv::LineageAttr next : operands.drop_front()) {
      if (next.getDimensions().size() != first.getDimensions().size())
        return false;
      for (auto [other, dimensions] : llvm::enumerate(
               llvm::zip_equal(first.getDimensions(), next.getDimensions())))
        if (other != number &&
            std::get<0>(dimensions) != std::get<1>(dimensions))
          return false;
      std::optional<Digits> read = Digits::read(next.getDimensions()[number]);
      if (!read || !digits.append(*read))
        return false;
    }
    return true;
  });
}

static tv::LineageAttr followMove(tv::MoveOp op, tv::LineageAttr lineage,
                                  tv::MeshAttr mesh) {
  for (tv::AxisSetAttr set : op.getSource().getSets()) {
    std::optional<int64_t> size = mesh.getAxisSize(set.getAxis().getValue());
    if (!size || set.getBounds().empty())
      return {};
    int64_t coordinate = set.getBounds().front();
    for (size_t number = 0; number < lineage.getDimensions().size(); ++number) {
      lineage = changeDimension(lineage, number, [&](Digits &digits) {
        return digits.fix(set.getAxis(), *size, coordinate);
      });
      if (!lineage)
        return {};
    }
  }
  return lineage;
}

tv::LineageAttr verify::followCommunication(Operation &op,
                                            ArrayRef<tv::LineageAttr> operands,
                                            tv::MeshAttr mesh) {
  if (operands.empty() || !llvm::all_of(operands, [](tv::LineageAttr lineage) {
        return lineage && lineage.getSumAxes().empty();
      }))
    return {};
  if (auto gather = dyn_cast<tv::AllGatherOp>(op))
    return followGather(gather, operands, mesh);
  if (auto move = dyn_cast<tv::MoveOp>(op))
    return followMove(move, operands.front(), mesh);
  if (auto cut = dyn_cast<tv::SliceOp>(op))
    return changeDimension(operands.front(), cut.getDimension(),
                           [&](Digits &digits) {
                             return digits.cut(cut.getStart(), cut.getEnd());
                           });
  if (auto slice = dyn_cast<tv::AllSliceOp>(op)) {
    StringAttr axis = slice.getAxisAttr();
    std::optional<int64_t> size = mesh.getAxisSize(axis.getValue());
    if (!size || dependsElsewhere(operands.front(), slice.getDimension(), axis))
      return {};
    return changeDimension(operands.front(), slice.getDimension(),
                           [&](Digits &digits) {
                             return !llvm::is_contained(digits.axes, axis) &&
                                    digits.slice(axis, *size);
                           });
  }
  return {};
}
