//===- IndexRelation.cpp - which elements an op relates -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Semantics/IndexRelation.h"

#include "llvm/Support/MathExtras.h"

using namespace verify;

DimensionExpr DimensionExpr::factor(unsigned number) {
  DimensionExpr expr(Kind::Factor);
  expr.number = number;
  return expr;
}

DimensionExpr DimensionExpr::product(std::vector<DimensionExpr> children) {
  if (children.empty())
    return unit();
  if (children.size() == 1)
    return std::move(children.front());
  DimensionExpr expr(Kind::Product);
  expr.children = std::move(children);
  return expr;
}

DimensionExpr DimensionExpr::concat(std::vector<DimensionExpr> children) {
  DimensionExpr expr(Kind::Concat);
  for (DimensionExpr &child : children)
    if (child.kind != Kind::Hole || child.holeSize != 0)
      expr.children.push_back(std::move(child));
  if (expr.children.size() == 1)
    return std::move(expr.children.front());
  return expr;
}

DimensionExpr DimensionExpr::hole(int64_t size) {
  DimensionExpr expr(Kind::Hole);
  expr.holeSize = size;
  return expr;
}

int64_t DimensionExpr::getSize(llvm::ArrayRef<int64_t> extents) const {
  switch (kind) {
  case Kind::Unit:
    return 1;
  case Kind::Factor:
    return extents[number];
  case Kind::Hole:
    return holeSize;
  case Kind::Product: {
    int64_t size = 1;
    for (const DimensionExpr &child : children)
      if (llvm::MulOverflow(size, child.getSize(extents), size))
        return INT64_MAX;
    return size;
  }
  case Kind::Concat: {
    int64_t size = 0;
    for (const DimensionExpr &child : children)
      if (llvm::AddOverflow(size, child.getSize(extents), size))
        return INT64_MAX;
    return size;
  }
  }
  return INT64_MAX;
}

DimensionExpr IndexRelation::addFactor(int64_t extent) {
  extents.push_back(extent);
  return DimensionExpr::factor(extents.size() - 1);
}

bool DimensionExpr::operator==(const DimensionExpr &other) const {
  return kind == other.kind && number == other.number &&
         holeSize == other.holeSize && children == other.children;
}

void DimensionExpr::markFactors(llvm::BitVector &factors) const {
  if (kind == Kind::Factor)
    factors.set(number);
  for (const DimensionExpr &child : children)
    child.markFactors(factors);
}

llvm::BitVector IndexRelation::getResultFactors() const {
  llvm::BitVector factors(extents.size());
  for (const DimensionExpr &expr : result)
    expr.markFactors(factors);
  return factors;
}

llvm::BitVector IndexRelation::getBoundFactors() const {
  llvm::BitVector factors = getResultFactors();
  for (const AxisFactor &axis : axisFactors)
    if (!axis.isRead)
      factors.set(axis.factor);
  return factors;
}
