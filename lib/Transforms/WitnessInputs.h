//===- WitnessInputs.h - concrete inputs of both programs -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_WITNESSINPUTS_H
#define VERIFY_LIB_TRANSFORMS_WITNESSINPUTS_H

#include "Verify/Analysis/DenseEvaluator.h"

#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <cmath>
#include <memory>

namespace verify {

/// By name, dimensions of parameters along which their elements are equal.
using ConstantDimensions = llvm::StringMap<llvm::SmallBitVector>;

/// Which inputs are drawn.
struct WitnessSeed {
  unsigned number = 0;
  /// Positive numbers alone, for what is undefined at others.
  bool isPositive = false;
  /// Real numbers are multiplied with that power of 2: what is computed of them
  /// comes to either side of other numbers then.
  int exponent = 0;
  /// Parameters as well as other inputs.
  bool scalesParameters = true;
  /// Names of parameters that are 0; null if none is. The others are equal for
  /// all layers of a model, as far as their names tell them.
  std::shared_ptr<const llvm::StringSet<>> zeros = nullptr;
  /// Those among these that have numbers of their own; null if none has.
  std::shared_ptr<const llvm::StringSet<>> apart = nullptr;
  /// Null if there are none.
  std::shared_ptr<const ConstantDimensions> constant = nullptr;
  /// Whether each integer of an input is one of two neighbouring numbers, of
  /// another pair at the next position, if it may take two pairs. Parts of a
  /// vocabulary mostly have both numbers of a pair or none.
  bool hasNeighbours = false;
  /// The positions of long sequences that are told apart.
  LongPositions positions = LongPositions::All;

  /// What is left of sums that cancel is dropped on the simplest inputs, where
  /// it is what rows differ by, and kept on those that come after them.
  DoubleAlgebra::Remainders getRemainders() const {
    return zeros && positions == LongPositions::Last
               ? DoubleAlgebra::Remainders::Drop
               : DoubleAlgebra::Remainders::Keep;
  }
};

/// What numbers inputs take.
struct WitnessRange {
  /// That integers take, by name of the input: positions that are kept wherever
  /// the input selects one.
  llvm::StringMap<llvm::SmallVector<int64_t>> data;
  /// Integers that select no position.
  struct Numbers {
    llvm::SmallVector<int64_t> literals; ///< that they are compared with
    /// Whether anything is computed of how large they are.
    bool areComputedWith = false;
  };
  /// By name of the input; none where nothing is asked of them.
  llvm::StringMap<Numbers> numbers;
  /// What `data` is, of integers that nothing produces, by op; none of what
  /// selects no such position.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int64_t>> missing;
  /// How many real numbers there are between -1 and 1.
  int64_t resolution = 8;
  /// The positions that are looked at.
  const FactorAnalysis *factors = nullptr;
};

/// Elements of inputs and parameters as small rationals, a function of the
/// tensor, the position and the seed alone, so that runs in different algebras
/// see the same numbers.
class WitnessInputs : public ElementSource {
public:
  WitnessInputs(NumericAlgebra &algebra, WitnessSeed seed, WitnessRange range)
      : algebra(algebra), seed(std::move(seed)), range(std::move(range)) {}

  Scalar input(mlir::Value value, llvm::ArrayRef<int64_t> index) override;
  Scalar opaque(unsigned number, mlir::Type type,
                llvm::ArrayRef<int64_t> index) override;
  Scalar undefined(mlir::Operation *op, llvm::ArrayRef<int64_t> place) override;
  std::optional<uint64_t> getInputNumber(mlir::Value value) const override;
  bool isZero(mlir::Value value) const override;
  bool isConstantAlong(mlir::Value value, unsigned dimension) const override {
    const llvm::SmallBitVector *constant = findConstant(value);
    return constant && constant->test(dimension);
  }
  LongPositions getLongPositions() const override { return seed.positions; }

private:
  /// Null for what has none.
  const llvm::SmallBitVector *findConstant(mlir::Value value) const;
  /// What an integer of a long sequence is drawn from: equal along it, but for
  /// the last position, and different for samples that follow each other.
  uint64_t getSequenceState(mlir::Value value, uint64_t name,
                            llvm::ArrayRef<int64_t> index) const;
  /// What an element of tensor `name` is drawn from.
  uint64_t getState(uint64_t name, llvm::ArrayRef<int64_t> index) const;
  /// What an input is multiplied with, as a power of 2.
  int getExponent(tv::InputOp op) const;
  /// The position along the last dimension, as far as positions are told apart.
  int64_t getPosition(llvm::ArrayRef<int64_t> index,
                      llvm::ArrayRef<int64_t> shape) const;
  /// One of the integers that `input` may take, at a position of `getPosition`.
  Scalar drawInteger(llvm::StringRef input, uint64_t state, int64_t position);
  /// The same of one that selects no position.
  int64_t drawNumber(llvm::StringRef input, uint64_t state) const;
  Scalar draw(uint64_t state, ScalarSort sort, int64_t scale = 1,
              int exponent = 0);

  NumericAlgebra &algebra;
  WitnessSeed seed;
  WitnessRange range;
};

/// The dimensions of parameters of which a device has a part. Where all
/// positions of these are equal, parts of one shape are, and what devices
/// compute of them. Without those among which something selects.
ConstantDimensions findDividedDimensions(tv::GraphOp graph,
                                         const FactorAnalysis &factors);

/// The integers that select positions which are looked at, and so many real
/// numbers that what a graph selects from has no ties. Failure if an input
/// selects positions of which none is looked at everywhere.
mlir::FailureOr<WitnessRange> getWitnessRange(const FactorAnalysis &factors);

/// Why there are none.
inline constexpr llvm::StringLiteral noDataReason =
    "no integers were found that select positions which are looked at";

/// Whether doubles differ by more than rounding explains where what they are
/// computed from is about as large as `scale`. Only intervals decide; this
/// chooses what they look at.
bool isFarApart(double left, double right, double scale = 1);

/// The same of all pairs of a set, for every scale.
class FarthestPair {
public:
  /// Whether the two differ by more than a few roundings for their size.
  bool add(double left, double right) {
    double larger = std::max(std::abs(left), std::abs(right));
    magnitude = std::max(magnitude, larger);
    double between = std::abs(left - right);
    if (left == right || (between <= closeness * larger && !std::isinf(larger)))
      return false;
    return addDifference(left, right);
  }
  /// The same of pairs none of which differ by more; false, and nothing is
  /// added, where some do.
  bool addClose(llvm::ArrayRef<Scalar> lefts, llvm::ArrayRef<Scalar> rights);
  /// Whether two of a pair are far apart.
  bool isFarApart(double scale) const;
  /// The largest of all numbers.
  double getMagnitude() const { return magnitude; }
  /// The largest of the differences that are large for their numbers; infinity
  /// where there is none, and one of two is no number.
  double getDifference() const {
    return isUnordered() ? std::numeric_limits<double>::infinity() : difference;
  }
  /// Whether all that differ by more than faintly do so as one of the two is no
  /// number.
  bool isUnordered() const { return hasNaN && difference <= faint; }

private:
  bool addDifference(double left, double right);

  /// What differs by less does so faintly.
  static constexpr double faint = 1e-13;
  /// A few roundings, as a part of a number.
  static constexpr double closeness = 1e-7;
  double magnitude = 0;
  double difference = 0;
  bool hasNaN = false; ///< as one of a pair
};

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_WITNESSINPUTS_H
