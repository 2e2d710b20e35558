//===- IndexRelation.h - which elements an op relates -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The half of an op's meaning that is not scalar: its iteration space as
// factors and, for each tensor, how a dimension is made of factors. Shape
// checks, evaluation and the exact reduction of sizes are all derived from it
// (docs/Soundness.md), so it is plain data and knows no op.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_SEMANTICS_INDEXRELATION_H
#define VERIFY_SEMANTICS_INDEXRELATION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <string>
#include <vector>

namespace verify {

/// How one dimension of a tensor is made of the factors of an iteration space.
class DimensionExpr {
public:
  enum class Kind : uint8_t {
    Unit,    ///< size 1
    Factor,  ///< one factor
    Product, ///< children major to minor, row-major
    Concat,  ///< children one after the other
    Hole     ///< elements that the op does not touch through this tensor
  };

  static DimensionExpr unit() { return DimensionExpr(Kind::Unit); }
  static DimensionExpr factor(unsigned number);
  static DimensionExpr product(std::vector<DimensionExpr> children);
  static DimensionExpr concat(std::vector<DimensionExpr> children);
  static DimensionExpr hole(int64_t size);

  Kind getKind() const { return kind; }
  unsigned getFactor() const { return number; }
  int64_t getHoleSize() const { return holeSize; }
  llvm::ArrayRef<DimensionExpr> getChildren() const { return children; }

  /// Number of elements, given the factors' extents; saturates.
  int64_t getSize(llvm::ArrayRef<int64_t> extents) const;
  /// Whether the same factors are put together in the same way.
  bool operator==(const DimensionExpr &other) const;
  /// Sets the bits of the factors that occur in the expression.
  void markFactors(llvm::BitVector &factors) const;

private:
  explicit DimensionExpr(Kind kind) : kind(kind) {}
  Kind kind;
  unsigned number = 0;
  int64_t holeSize = 0;
  std::vector<DimensionExpr> children;
};

/// How the terms of a reduction are combined.
enum class Combination : uint8_t { Sum, Maximum, Minimum };

/// What the scalar body does with the position of a factor. Equality with
/// integer data commutes with permutations of the factor, if the body does
/// nothing else with these data; the rest does not.
enum class PositionUse : uint8_t { Equality, Order };

/// The iteration space of an op with one result, and its index maps.
struct IndexRelation {
  struct Access {
    unsigned operand = 0;
    llvm::SmallVector<DimensionExpr, 4> dimensions;
  };
  struct Position {
    unsigned factor = 0;
    PositionUse use = PositionUse::Order;
    /// The number of the first position: the body gets the position plus this.
    int64_t start = 0;
    /// The operand that holds the data, for equality.
    unsigned operand = 0;
    /// What the body gets at a position.
    int64_t getNumber(int64_t position) const { return start + position; }
  };
  struct AxisRange {
    std::string axis;
    llvm::SmallVector<int64_t, 2> bounds; ///< intervals; empty: all coordinates
  };
  struct AxisCoordinate {
    std::string axis;
    int64_t coordinate = 0;
  };

  /// A factor of which each position is a coordinate of a mesh axis.
  struct AxisFactor {
    std::string axis;
    unsigned factor = 0;
    /// The operands are read at this coordinate; else it is that of the result.
    bool isRead = false;
  };

  /// Extent of each factor. A factor that neither the result mentions nor the
  /// coordinates of the result give, and some access does, is reduced.
  llvm::SmallVector<int64_t, 6> extents;
  llvm::SmallVector<Access, 2> accesses;
  llvm::SmallVector<DimensionExpr, 4> result;
  Combination combination = Combination::Sum;
  /// What the reduced value is divided by: the count, for an average.
  int64_t divisor = 1;
  llvm::SmallVector<Position, 1> positions;
  /// Mesh axes over whose coordinates the operands are summed.
  llvm::SmallVector<AxisRange, 1> axisSums;
  /// Mesh axes at whose coordinate the operand is read.
  llvm::SmallVector<AxisCoordinate, 1> axisReads;
  llvm::SmallVector<AxisFactor, 1> axisFactors;

  /// Adds a factor and returns the expression that stands for it.
  DimensionExpr addFactor(int64_t extent);
  /// The factors that the result mentions.
  llvm::BitVector getResultFactors() const;
  /// Those, and the ones that are coordinates of the result.
  llvm::BitVector getBoundFactors() const;
  /// Whether it reads at other coordinates of a mesh than those of the result,
  /// or depends on these.
  bool runsAlongAxes() const {
    return !axisSums.empty() || !axisReads.empty() || !axisFactors.empty();
  }
};

} // namespace verify

#endif // VERIFY_SEMANTICS_INDEXRELATION_H
