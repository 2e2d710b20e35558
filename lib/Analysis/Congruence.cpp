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

/// Longest chain of ops that is followed.
static constexpr unsigned depthLimit = 256;
/// Most pairs of values of a stage.
static constexpr size_t pairLimit = 4096;

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
/// The factor that a dimension is of: the only one, or the major one of a
/// product.
struct MajorFactor {
  unsigned factor;
  int64_t minorSize = 1; ///< positions of the dimension for one of the factor
};
} // namespace

static std::optional<MajorFactor> getMajor(const DimensionExpr &dimension,
                                           ArrayRef<int64_t> extents) {
  if (dimension.getKind() == DimensionExpr::Kind::Factor)
    return MajorFactor{dimension.getFactor()};
  if (dimension.getKind() != DimensionExpr::Kind::Product)
    return std::nullopt;
  const DimensionExpr &first = dimension.getChildren().front();
  if (first.getKind() != DimensionExpr::Kind::Factor)
    return std::nullopt;
  MajorFactor major = {first.getFactor()};
  for (const DimensionExpr &minor : dimension.getChildren().drop_front())
    if (minor.getKind() != DimensionExpr::Kind::Factor ||
        minor.getFactor() == major.factor ||
        llvm::MulOverflow(major.minorSize, minor.getSize(extents),
                          major.minorSize))
      return std::nullopt;
  if (major.minorSize <= 0)
    return std::nullopt;
  return major;
}

static tv::DimensionFactorAttr getInterval(MLIRContext *context, int64_t start,
                                           int64_t end, int64_t extent) {
  return tv::DimensionFactorAttr::get(context, StringAttr(), start, end,
                                      extent);
}

/// Which part it is of the major factor of a product, whose minor ones are
/// whole; null if it is none.
static ArrayAttr divide(ArrayAttr part, int64_t minorSize) {
  SmallVector<Attribute> factors(part.begin(), part.end());
  while (minorSize != 1) {
    auto last = factors.empty()
                    ? tv::DimensionFactorAttr()
                    : cast<tv::DimensionFactorAttr>(factors.pop_back_val());
    if (!last || last.getAxis())
      return {};
    int64_t start = last.getStart(), end = last.getEnd(),
            extent = last.getExtent();
    if (start == 0 && end == extent && extent > 0 && minorSize % extent == 0) {
      minorSize /= extent;
      continue;
    }
    if (start % minorSize || end % minorSize || extent % minorSize)
      return {};
    factors.push_back(getInterval(part.getContext(), start / minorSize,
                                  end / minorSize, extent / minorSize));
    minorSize = 1;
  }
  return factors.empty() ? ArrayAttr()
                         : ArrayAttr::get(part.getContext(), factors);
}

/// The part of a product whose major factor has this part, its minor ones being
/// whole; null if its positions cannot be numbered.
static ArrayAttr multiply(ArrayAttr part, int64_t minorSize) {
  if (minorSize == 1)
    return part;
  MLIRContext *context = part.getContext();
  SmallVector<Attribute> factors(part.begin(), part.end());
  auto last = cast<tv::DimensionFactorAttr>(factors.back());
  if (last.getAxis()) {
    factors.push_back(getInterval(context, 0, minorSize, minorSize));
    return ArrayAttr::get(context, factors);
  }
  int64_t start, end, extent;
  if (llvm::MulOverflow<int64_t>(last.getStart(), minorSize, start) ||
      llvm::MulOverflow<int64_t>(last.getEnd(), minorSize, end) ||
      llvm::MulOverflow<int64_t>(last.getExtent(), minorSize, extent))
    return {};
  factors.back() = getInterval(context, start, end, extent);
  return ArrayAttr::get(context, factors);
}

namespace {
/// Which part of each factor of a relation is computed with. A factor of which
/// an access or the result is made in another way than one to one, or as the
/// major one of a product, is whole.
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
  llvm::BitVector whole(parts.size());
  dimension.markFactors(whole);
  if (part) {
    std::optional<MajorFactor> major = getMajor(dimension, relation.extents);
    ArrayAttr divided = major ? divide(part, major->minorSize) : ArrayAttr();
    if (!divided || !add(major->factor, divided))
      return false;
    whole.reset(major->factor);
  }
  return llvm::all_of(whole.set_bits(),
                      [&](unsigned factor) { return add(factor, {}); });
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
  for (const DimensionExpr &dimension : relation.result) {
    llvm::BitVector others(parts.size());
    dimension.markFactors(others);
    if (auto major = getMajor(dimension, relation.extents)) {
      inResult.set(major->factor);
      others.reset(major->factor);
    }
    mixed |= others;
  }
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
    std::optional<MajorFactor> major = getMajor(dimension, relation.extents);
    if (ArrayAttr part = major ? parts.get(major->factor) : ArrayAttr()) {
      dimensions.push_back(multiply(part, major->minorSize));
      if (!dimensions.back())
        return {};
      continue;
    }
    if (size != wholeSize)
      return {};
    dimensions.push_back(getWhole(local.getContext(), size));
  }
  return tv::LineageAttr::get(local.getContext(), dimensions, {});
}

bool verify::namesAxisTwice(tv::LineageAttr lineage) {
  llvm::SmallDenseSet<StringAttr> named(lineage.getSumAxes().begin(),
                                        lineage.getSumAxes().end());
  bool isTwice = named.size() != lineage.getSumAxes().size();
  for (ArrayAttr dimension : lineage.getDimensions())
    for (auto factor : dimension.getAsRange<tv::DimensionFactorAttr>())
      isTwice |= factor.getAxis() && !named.insert(factor.getAxis()).second;
  return isTwice;
}

/// What follows for `local` from the parts that are known.
static tv::LineageAttr follow(const IndexRelation &relation,
                              const FactorParts &parts, RankedTensorType local,
                              RankedTensorType whole, tv::MeshAttr mesh) {
  if (local.getElementType() != whole.getElementType() ||
      local.getRank() != whole.getRank() || !parts.areResultParts())
    return {};
  tv::LineageAttr lineage = getLineage(relation, parts, local, whole);
  if (!lineage || namesAxisTwice(lineage) ||
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

//===----------------------------------------------------------------------===//
// Proofs
//===----------------------------------------------------------------------===//

/// How many positions of a dimension a plan tensor holds.
static int64_t getSize(ArrayAttr part) {
  int64_t size = 1;
  for (auto factor : part.getAsRange<tv::DimensionFactorAttr>())
    if (!factor.getAxis())
      size *= factor.getEnd() - factor.getStart();
  return size;
}

/// Whether `local` is `whole` but for factors of which it has parts.
static bool isPart(const IndexRelation &local, const IndexRelation &whole,
                   const FactorParts &parts) {
  if (local.runsAlongAxes() || local.extents.size() != whole.extents.size() ||
      local.combination != whole.combination ||
      local.divisor != whole.divisor || local.result != whole.result)
    return false;
  for (unsigned factor = 0; factor < whole.extents.size(); ++factor) {
    ArrayAttr part = parts.get(factor);
    if (local.extents[factor] != (part ? getSize(part) : whole.extents[factor]))
      return false;
  }
  auto isSameAccess = [](const auto &one, const auto &other) {
    return one.operand == other.operand && one.dimensions == other.dimensions;
  };
  auto isSamePosition = [](const auto &one, const auto &other) {
    return one.factor == other.factor && one.use == other.use &&
           one.start == other.start && one.operand == other.operand;
  };
  return llvm::equal(local.accesses, whole.accesses, isSameAccess) &&
         llvm::equal(local.positions, whole.positions, isSamePosition);
}

/// Whether the bodies are one function. The properties hold all that ops state,
/// attributes and what is no attribute.
static bool haveSameBody(Operation &left, Operation &right) {
  auto list = [](Operation &op) {
    mlir::NamedAttrList properties(
        dyn_cast_or_null<DictionaryAttr>(op.getPropertiesAsAttribute()));
    properties.erase("domain");
    return properties.getDictionary(op.getContext());
  };
  auto getElement = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getElementType();
  };
  return isSameOp(left, right) && list(left) == list(right) &&
         llvm::equal(left.getOperands(), right.getOperands(),
                     [&](Value one, Value other) {
                       return getElement(one) == getElement(other);
                     });
}

tv::LineageAttr Congruence::relateOps(Operation &op, Operation &reference,
                                      unsigned depth) {
  auto semantics = dyn_cast<tv::SemanticsOpInterface>(op);
  auto whole = dyn_cast<tv::SemanticsOpInterface>(reference);
  // What runs somewhere is not the reference's.
  if (!semantics || !whole || op.getNumResults() != 1 ||
      reference.getNumResults() != 1 || op.getNumRegions() != 0 ||
      reference.hasAttr("domain") || !haveSameBody(op, reference))
    return {};
  SmallVector<tv::LineageAttr> operands;
  for (auto [own, other] :
       llvm::zip_equal(op.getOperands(), reference.getOperands())) {
    operands.push_back(relate(own, other, depth + 1));
    if (!operands.back())
      return {};
  }
  FailureOr<IndexRelation> own = semantics.getIndexRelation();
  FailureOr<IndexRelation> relation = whole.getIndexRelation();
  if (failed(own) || failed(relation) || relation->runsAlongAxes())
    return {};
  FactorParts parts(*relation);
  if (!parts.addOperands(operands) || !isPart(*own, *relation, parts))
    return {};
  return follow(*relation, parts,
                cast<RankedTensorType>(op.getResult(0).getType()),
                cast<RankedTensorType>(reference.getResult(0).getType()), mesh);
}

tv::LineageAttr Congruence::relate(Value value, Value reference,
                                   unsigned depth) {
  if (auto distribute = value.getDefiningOp<tv::DistributeOp>())
    return distribute.getReference() == reference &&
                   distribute.getLineage().getSumAxes().empty()
               ? distribute.getLineage()
               : tv::LineageAttr();
  Operation *op = value.getDefiningOp(), *other = reference.getDefiningOp();
  if (!op || !other || depth > depthLimit || known.size() > pairLimit)
    return {};
  auto found = known.find({value, reference});
  if (found != known.end())
    return found->second;
  tv::LineageAttr lineage = relateOps(*op, *other, depth);
  known[{value, reference}] = lineage;
  return lineage;
}

bool Congruence::proves(tv::ExpectOp expect) {
  tv::LineageAttr wanted = expect.getLineage();
  if (expect.getValues().size() != 1 || !wanted.getSumAxes().empty())
    return false;
  tv::LineageAttr found =
      relate(expect.getValues().front(), expect.getReference(), 0);
  return found && llvm::equal(found.getDimensions(), wanted.getDimensions(),
                              [](ArrayAttr one, ArrayAttr other) {
                                return one == other ||
                                       (isWhole(one) && isWhole(other) &&
                                        getSize(one) == getSize(other));
                              });
}
