//===- Congruence.cpp - same ops of the same tensors ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Analysis/Congruence.h"

#include "Verify/IR/TVInterfaces.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace verify;

/// Whether a plan tensor holds all of a dimension, in its order.
static bool isWhole(ArrayAttr dimension) {
  return llvm::all_of(dimension.getAsRange<tv::DimensionFactorAttr>(),
                      [](tv::DimensionFactorAttr factor) {
                        return !factor.getAxis() && factor.getStart() == 0 &&
                               factor.getEnd() == factor.getExtent();
                      });
}

bool verify::isSameOp(Operation &left, Operation &right) {
  if (left.getName() != right.getName() ||
      left.getNumOperands() != right.getNumOperands())
    return false;
  for (StringAttr name : left.getName().getAttributeNames())
    if (name != "domain" &&
        left.getInherentAttr(name) != right.getInherentAttr(name))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

namespace {
/// Which part of each factor of a relation is computed with. A factor of which
/// an access or the result is made in another way than one to one is whole.
class FactorParts {
public:
  explicit FactorParts(const IndexRelation &relation)
      : relation(relation), parts(relation.extents.size()),
        seen(relation.extents.size()) {}

  /// Notes the parts that operands are of; false if they do not agree.
  bool addOperands(ArrayRef<tv::LineageAttr> operands);
  /// Whether each part of a factor is the same part of the result.
  bool areResultParts() const;
  /// Null if the factor is whole.
  ArrayAttr get(unsigned factor) const { return parts[factor]; }

private:
  bool add(unsigned factor, ArrayAttr part);
  bool addDimension(const DimensionExpr &dimension, ArrayAttr part);

  const IndexRelation &relation;
  SmallVector<ArrayAttr> parts;
  llvm::BitVector seen;
};
} // namespace

bool FactorParts::add(unsigned factor, ArrayAttr part) {
  if (seen[factor])
    return parts[factor] == part;
  seen.set(factor);
  parts[factor] = part;
  return true;
}

bool FactorParts::addDimension(const DimensionExpr &dimension, ArrayAttr part) {
  if (dimension.getKind() == DimensionExpr::Kind::Factor)
    return add(dimension.getFactor(), part);
  llvm::BitVector used(parts.size());
  dimension.markFactors(used);
  return !part && llvm::all_of(used.set_bits(), [&](unsigned factor) {
    return add(factor, {});
  });
}

bool FactorParts::addOperands(ArrayRef<tv::LineageAttr> operands) {
  for (const auto &access : relation.accesses) {
    tv::LineageAttr lineage = operands[access.operand];
    if (lineage && (!lineage.getSumAxes().empty() ||
                    lineage.getDimensions().size() != access.dimensions.size()))
      return false;
    for (auto [number, dimension] : llvm::enumerate(access.dimensions)) {
      ArrayAttr part = lineage ? lineage.getDimensions()[number] : ArrayAttr();
      if (!addDimension(dimension, part && isWhole(part) ? ArrayAttr() : part))
        return false;
    }
  }
  // What the body gets of a position has to be what the whole op's gets.
  return llvm::all_of(relation.positions, [&](const auto &position) {
    return add(position.factor, {});
  });
}

bool FactorParts::areResultParts() const {
  llvm::BitVector inResult(parts.size()), mixed(parts.size());
  for (const DimensionExpr &dimension : relation.result)
    if (dimension.getKind() == DimensionExpr::Kind::Factor)
      inResult.set(dimension.getFactor());
    else
      dimension.markFactors(mixed);
  for (auto [factor, part] : llvm::enumerate(parts))
    if (part && (!inResult[factor] || mixed[factor]))
      return false;
  return true;
}

/// All of a dimension of `size` positions.
static ArrayAttr getWhole(MLIRContext *context, int64_t size) {
  return ArrayAttr::get(context, {tv::DimensionFactorAttr::get(
                                     context, StringAttr(), 0, size, size)});
}

static tv::LineageAttr getLineage(const IndexRelation &relation,
                                  const FactorParts &parts,
                                  RankedTensorType local,
                                  RankedTensorType whole) {
  SmallVector<ArrayAttr> dimensions;
  for (auto [dimension, size, wholeSize] :
       llvm::zip_equal(relation.result, local.getShape(), whole.getShape())) {
    bool isFactor = dimension.getKind() == DimensionExpr::Kind::Factor;
    if (ArrayAttr part =
            isFactor ? parts.get(dimension.getFactor()) : ArrayAttr()) {
      dimensions.push_back(part);
      continue;
    }
    if (size != wholeSize)
      return {};
    dimensions.push_back(getWhole(local.getContext(), size));
  }
  return tv::LineageAttr::get(local.getContext(), dimensions, {});
}

/// What follows for `local` from the parts that are known.
static tv::LineageAttr follow(const IndexRelation &relation,
                              const FactorParts &parts, RankedTensorType local,
                              RankedTensorType whole, tv::MeshAttr mesh) {
  if (local.getElementType() != whole.getElementType() ||
      local.getRank() != whole.getRank() || !parts.areResultParts())
    return {};
  tv::LineageAttr lineage = getLineage(relation, parts, local, whole);
  if (!lineage ||
      ArrayRef<int64_t>(lineage.getLocalShape()) != local.getShape() ||
      ArrayRef<int64_t>(lineage.getReferenceShape(mesh)) != whole.getShape())
    return {};
  return lineage;
}

tv::LineageAttr verify::followLineage(tv::SemanticsOpInterface reference,
                                      ArrayRef<tv::LineageAttr> operands,
                                      RankedTensorType local,
                                      tv::MeshAttr mesh) {
  // Of the larger one: a part may be of size 1, which is a dimension of none.
  FailureOr<IndexRelation> relation = reference.getIndexRelation();
  if (failed(relation) || relation->runsAlongAxes())
    return {};
  FactorParts parts(*relation);
  if (!parts.addOperands(operands))
    return {};
  return follow(*relation, parts, local,
                cast<RankedTensorType>(reference->getResult(0).getType()),
                mesh);
}
