//===- MovedLineage.cpp - parts of a tensor in other places ---------------===//
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

#include "MovedLineage.h"

#include "Verify/IR/TVInterfaces.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

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

/// Whether any dimension but one depends on an axis.
static bool dependsElsewhere(tv::LineageAttr lineage, size_t number,
                             StringAttr axis) {
  for (auto [other, dimension] : llvm::enumerate(lineage.getDimensions()))
    if (other != number)
      for (auto factor : dimension.getAsRange<tv::DimensionFactorAttr>())
        if (factor.getAxis() == axis)
          return true;
  return false;
}

namespace {
/// Follows the index relation of an op that moves elements, dimension by
/// dimension.
class MovedLineage {
public:
  MovedLineage(const IndexRelation &relation,
               ArrayRef<tv::LineageAttr> operands, tv::MeshAttr mesh)
      : relation(relation), operands(operands), mesh(mesh),
        context(mesh.getContext()) {}

  tv::LineageAttr follow() const;

private:
  using Kind = DimensionExpr::Kind;
  using Access = IndexRelation::Access;
  /// The axis of which a factor is the coordinate, if it is one; at which the
  /// operands are read, or the result is.
  StringAttr findAxis(const DimensionExpr &expr, bool isRead) const;
  /// If `whole` is the coordinate of an axis and a part, that axis.
  StringAttr findAxis(const DimensionExpr &whole, const DimensionExpr &part,
                      bool isRead) const;
  /// What a dimension of the result is if that of an access is `digits`.
  bool follow(Digits &digits, const Access &access, size_t number) const;
  /// Adds the digits of a dimension of all other accesses.
  bool append(Digits &digits, size_t number) const;
  bool readAtCoordinates(Digits &digits) const;

  const IndexRelation &relation;
  ArrayRef<tv::LineageAttr> operands;
  tv::MeshAttr mesh;
  MLIRContext *context;
};
} // namespace

StringAttr MovedLineage::findAxis(const DimensionExpr &expr,
                                  bool isRead) const {
  if (expr.getKind() == Kind::Factor)
    for (const auto &axisFactor : relation.axisFactors)
      if (axisFactor.factor == expr.getFactor() && axisFactor.isRead == isRead)
        return StringAttr::get(context, axisFactor.axis);
  return {};
}

StringAttr MovedLineage::findAxis(const DimensionExpr &whole,
                                  const DimensionExpr &part,
                                  bool isRead) const {
  if (whole.getKind() != Kind::Product || whole.getChildren().size() != 2 ||
      whole.getChildren()[1] != part)
    return {};
  return findAxis(whole.getChildren()[0], isRead);
}

bool MovedLineage::follow(Digits &digits, const Access &access,
                          size_t number) const {
  const DimensionExpr &from = access.dimensions[number];
  const DimensionExpr &to = relation.result[number];
  if (from == to)
    return true;
  tv::LineageAttr lineage = operands[access.operand];
  auto isAlone = [&](StringAttr axis) {
    return axis && mesh.getAxisSize(axis.getValue()) &&
           !dependsElsewhere(lineage, number, axis);
  };
  if (StringAttr axis = findAxis(to, from, /*isRead=*/true))
    return isAlone(axis) &&
           digits.gather(axis, *mesh.getAxisSize(axis.getValue()));
  if (StringAttr axis = findAxis(from, to, /*isRead=*/false))
    return isAlone(axis) && !llvm::is_contained(digits.axes, axis) &&
           digits.slice(axis, *mesh.getAxisSize(axis.getValue()));
  if (to.getKind() == Kind::Concat)
    return to.getChildren().size() == relation.accesses.size() &&
           to.getChildren().front() == from && append(digits, number);
  // One range of it.
  int64_t start = 0;
  if (from.getKind() == Kind::Concat)
    for (const DimensionExpr &part : from.getChildren()) {
      int64_t size = part.getSize(relation.extents);
      if (part == to)
        return digits.cut(start, start + size);
      start += size;
    }
  return false;
}

bool MovedLineage::append(Digits &digits, size_t number) const {
  const Access &first = relation.accesses.front();
  for (auto [access, part] : llvm::drop_begin(llvm::zip_equal(
           relation.accesses, relation.result[number].getChildren()))) {
    tv::LineageAttr lineage = operands[access.operand];
    for (size_t other = 0; other < relation.result.size(); ++other)
      if (other != number &&
          (access.dimensions[other] != first.dimensions[other] ||
           lineage.getDimensions()[other] !=
               operands[first.operand].getDimensions()[other]))
        return false;
    std::optional<Digits> next = Digits::read(lineage.getDimensions()[number]);
    if (access.dimensions[number] != part || !next || !digits.append(*next))
      return false;
  }
  return true;
}

bool MovedLineage::readAtCoordinates(Digits &digits) const {
  return llvm::all_of(relation.axisReads, [&](const auto &read) {
    std::optional<int64_t> size = mesh.getAxisSize(read.axis);
    return size && digits.fix(StringAttr::get(context, read.axis), *size,
                              read.coordinate);
  });
}

tv::LineageAttr MovedLineage::follow() const {
  // Of several operands each would be read elsewhere.
  if (relation.accesses.empty() || !relation.axisSums.empty() ||
      (!relation.axisReads.empty() && relation.accesses.size() > 1))
    return {};
  const Access &first = relation.accesses.front();
  for (const Access &access : relation.accesses)
    if (access.dimensions.size() != relation.result.size() ||
        operands[access.operand].getDimensions().size() !=
            relation.result.size())
      return {};
  SmallVector<ArrayAttr> dimensions;
  for (size_t number = 0; number < relation.result.size(); ++number) {
    std::optional<Digits> digits =
        Digits::read(operands[first.operand].getDimensions()[number]);
    if (!digits || !readAtCoordinates(*digits) ||
        !follow(*digits, first, number))
      return {};
    dimensions.push_back(digits->write(context));
  }
  return tv::LineageAttr::get(context, dimensions, {});
}

tv::LineageAttr verify::followMovement(tv::SemanticsOpInterface op,
                                       ArrayRef<tv::LineageAttr> operands,
                                       tv::MeshAttr mesh) {
  if (!op->hasTrait<tv::MovesElements>() ||
      !llvm::all_of(operands, [](tv::LineageAttr lineage) {
        return lineage && lineage.getSumAxes().empty();
      }))
    return {};
  FailureOr<IndexRelation> relation = op.getIndexRelation();
  if (failed(relation))
    return {};
  return MovedLineage(*relation, operands, mesh).follow();
}
