//===- DenseRuns.h - long values as runs of elements ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A value with a dimension of thousands of positions that all have to be looked
// at is kept as runs: neighbours with one enclosure. What is computed of them
// is computed once for each run, and a sum counts a term as often as the run is
// long. docs/Soundness.md says why the enclosures hold for every element.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_ANALYSIS_DENSERUNS_H
#define VERIFY_LIB_ANALYSIS_DENSERUNS_H

#include "DenseRelation.h"
#include "RunBuilder.h"

#include <atomic>

namespace verify {

/// Whether a dimension has so many positions that runs pay, and may have equal
/// ones: where something selects among them, nothing could be selected.
bool isLong(const FactorAnalysis &factors, FactorAnalysis::Node node);
bool isLong(const FactorAnalysis &factors, mlir::Value value);

/// The dimensions of a tensor by falling stride, but for those with the same
/// elements at all positions. Equal strides are those of
/// dimensions with one position.
llvm::SmallVector<unsigned, 4> getLayout(const DenseTensor &tensor);

/// The terms of many sums, each for a range of them. Most ranges are those of a
/// causal mask: they begin at the first sum or end at the last one.
class RangeTerms {
public:
  explicit RangeTerms(int64_t count) : count(count) {}

  void add(int64_t start, int64_t end, WeightedScalar term);
  /// Calls `visitor` with each number of a sum and its terms, which are those
  /// of `add` or made by `combine` of some of them; none if there are none.
  using Combine = llvm::function_ref<Scalar(std::vector<WeightedScalar> &)>;
  using Visitor =
      llvm::function_ref<void(int64_t number, std::optional<Scalar> sum)>;
  void visit(Combine combine, Visitor visitor);

private:
  using Sums = std::vector<std::optional<Scalar>>;
  /// Terms, each with how many sums come before the first that has it.
  using Ends = std::vector<std::pair<int64_t, WeightedScalar>>;

  /// Adds terms of ranges that go to the last sum, or to the first one if
  /// sums are counted from the last one on.
  void addEnds(Ends &ends, bool isFromLast, Combine combine, Sums &sums);
  /// Adds terms of all other ranges.
  void addInner(Combine combine, Sums &sums);

  int64_t count;
  Ends toFirst, toLast;
  /// A binary tree: node `i` has children `2 i` and `2 i + 1`, the leaves are
  /// the sums, and a term of a node is one of all leaves below it. Empty while
  /// there are no inner ranges.
  size_t leaves = 0;
  std::vector<std::vector<WeightedScalar>> nodes;
};

/// The same of terms that are doubles, which are added up as they come.
class RangeSums {
public:
  explicit RangeSums(int64_t count);

  void add(int64_t start, int64_t end, double term) {
    if (start >= end)
      return;
    if (start == 0)
      toFirst[count - end] += term;
    else if (end == count)
      toLast[start] += term;
    else
      addInner(start, end, term);
  }
  /// All sums, as scalars of a DoubleAlgebra.
  std::vector<Scalar> getSums();

private:
  void addInner(int64_t start, int64_t end, double term);

  int64_t count;
  /// As in RangeTerms.
  std::vector<double> toFirst, toLast;
  size_t leaves = 0;
  std::vector<double> nodes;
};

/// The sums of a body that asks of two elements of a row, its own and that of
/// the term, only whether its own one is less: `tv::ComparesOperands`. Of
/// elements in order all terms before some place are alike, and all after it.
class OrderedTerms {
public:
  explicit OrderedTerms(NumericAlgebra &algebra) : algebra(algebra) {}

  /// Puts the elements of a row in order; false if it is not known.
  bool order(llvm::ArrayRef<Scalar> elements);
  /// The sum for each element. `body` gives the term of an element for one that
  /// is less than it, or is not.
  using Body = llvm::function_ref<Scalar(size_t element, Scalar own)>;
  void sum(llvm::ArrayRef<Scalar> elements, llvm::ArrayRef<int64_t> weights,
           Body body, std::vector<Scalar> &results);

private:
  /// Whether a comparison is known to be true. One that is not need not be
  /// false: signs do not note what they do not know as undecided.
  bool holds(Comparison comparison, Scalar left, Scalar right);
  /// What a sum is with one more term; both are released.
  Scalar add(Scalar sum, WeightedScalar term);

  NumericAlgebra &algebra;
  std::vector<size_t> sorted;
  std::vector<size_t> groups; ///< where equal elements begin, and the end
};

/// All elements of an op of which an operand or the result is in runs.
class RunRelation : public DenseRelation {
public:
  /// `rows` are those of `algebra`, whose elements may be kept, or null.
  RunRelation(tv::SemanticsOpInterface op, uint64_t axes,
              const FactorAnalysis &factors, NumericAlgebra &algebra,
              RowAlgebra *rows, const DenseTensors &tensors, size_t runLimit);

  /// Computes only part `number` of `count`, which are about as large.
  void setShare(int64_t number, int64_t count) {
    share = number;
    shareCount = count;
  }
  /// Gives up soon after `flag` is set; null for never.
  void stopWhen(const std::atomic<bool> *flag) { stopped = flag; }
  /// As `DenseRelation::run`, and with failure also where the result has more
  /// runs than may be; but `finish` writes the result. Others may compute other
  /// shares of the same result at the same time.
  llvm::LogicalResult compute(DenseTensor &result, int64_t &steps,
                              int64_t stepLimit);
  /// Takes over what another one has computed, of a later share.
  llvm::LogicalResult take(RunRelation &later);
  llvm::LogicalResult finish(DenseTensor &result);
  /// Whether that failed because it takes too many steps or runs.
  bool wasTooCostly() const { return isTooCostly; }

protected:
  llvm::LogicalResult execute(llvm::ArrayRef<MeshPlace> places,
                              DenseTensor &result, int64_t &steps,
                              int64_t stepLimit) override;

private:
  /// Two accesses.
  struct Pair {
    size_t first, second;
    /// Whether they read one tensor, and the same positions of dimensions of
    /// which one position stands for all.
    bool haveOneTensor;
    /// Whether they read the same elements all along a run, once they do.
    bool moveAlikeInRow, moveAlikeInTerms, moveAlikeInRepeats;
  };
  /// Finds out how the loops of one choice of blocks are run.
  llvm::LogicalResult plan();
  /// The same where loops are known.
  void chooseWays();
  /// Whether the position of a loop's places is used.
  bool hasPosition(const Loop &loop) const;
  void findPairs();
  bool haveOneTensor(const Access &first, const Access &second) const;
  bool isOneElement(const Pair &pair) const;
  /// All elements along the innermost loop of the result.
  void computeRow(int64_t offset);
  void computeTransposedRow(int64_t offset);
  /// Calls `visit` with each run of what the body reads along the row, at all
  /// places of the reduced loops.
  void visitRowRuns(llvm::function_ref<void(int64_t start, int64_t end)> visit);
  /// Combines the terms of ranges; `visit` takes each over, `zero` if it has
  /// none.
  void sumRanges(RangeTerms &ranges, Scalar zero,
                 llvm::function_ref<void(int64_t number, Scalar sum)> visit);
  /// The same of sums of doubles.
  void computeTransposedSums(int64_t offset);
  /// The element at the current places of the result's loops.
  Scalar computeElement();
  /// The bodies at all places of `loop`, which is at its first, as a row.
  Scalar computeBodies(const Loop &loop);
  /// Finds the loop along which sums depend on an order (`OrderedTerms`).
  void findOrderedLoop();
  /// All elements along that loop and the row, of the runs of part `number` of
  /// `count`.
  void computeOrderedRows(int64_t offset, int64_t number, int64_t count);
  /// Where runs of any of the elements end that are put in order.
  void findOrderedEnds(const Loop &row);
  /// The elements along that loop at one run of the row; false if their order
  /// is not known.
  bool computeOrdered(std::vector<Scalar> &results);
  /// The same, one by one if that is so.
  void computeColumn(std::vector<Scalar> &results);
  /// The same as `computeRow` where most elements are a run each.
  void computeRowAtOnce(int64_t offset);
  /// The same where each element is a sum.
  void computeRowOfSums(int64_t offset);
  /// Divides by the divisor of the relation, and gives all elements of a row to
  /// the result.
  void storeRow(int64_t offset, Scalar row);
  /// Adds the bodies at all places of the term loop, each `weight` times as
  /// often as it stands for terms.
  void addTermsAtOnce(int64_t weight, size_t &mark);
  /// The scalar body at the current places of all loops.
  Scalar computeBody();
  /// Divides by the divisor of the relation and releases what is divided.
  Scalar divide(Scalar dividend);
  /// Sums of products of which one factor, the weights, is the same in many
  /// rows, and the other one is a few runs of terms. As weights are not
  /// negative, those of a run times what encloses the other factor in it
  /// enclose the sum: weights are added up once, run by run, and rows are made
  /// of those.
  struct SharedWeights {
    size_t weights, values; ///< the accesses
    /// The loops in whose rows the weights are the same, and the others.
    llvm::SmallVector<Loop *, 4> inside, outside;
    std::vector<int64_t> ends; ///< of runs of terms, in any row
    /// For each run the sum for each place of the row.
    std::vector<std::vector<Scalar>> sums;
  };
  /// Whether there are such.
  bool findSharedWeights(llvm::ArrayRef<MeshPlace> places);
  /// Finds the ends of runs; false if they are too many.
  bool findTermRuns(llvm::ArrayRef<MeshPlace> places);
  /// Computes all rows at one place of the mesh.
  void computeSharedRows(int64_t base);
  void computeSharedRow(int64_t offset);
  void sumWeights();
  /// The same where runs of weights lie along terms, and along the row.
  void sumWeightsAlongTerms(Scalar zero);
  void sumWeightsAlongRow(Scalar zero);
  /// Calls `visit` with each run of weights of the terms from `first` to `end`.
  void visitWeightsAlongRow(
      int64_t first, int64_t end,
      llvm::function_ref<void(int64_t start, int64_t end, WeightedScalar term)>
          visit);
  /// Takes `value` over, for all elements of a run.
  void store(int64_t offset, int64_t count, Scalar value);
  /// Where, among the places of `loop`, runs end of what the body reads; `over`
  /// are the loops that are run for each of them.
  void findEnds(const Loop &loop, llvm::ArrayRef<Loop *> over,
                std::vector<int64_t> &ends);
  /// Whether they end everywhere, whatever the places of the other loops.
  bool endsEverywhere(const Loop &loop) const;
  /// Whether runs are long along `loop`, of which no position is used, and what
  /// is read lies in order, so that their ends are found on the way.
  bool canWalk(const Loop &loop) const;
  /// Calls `visit` with the places of `loop` from `first` to `last`, from one
  /// end of a run that the body reads to the next one. The cursors are there
  /// then; the offsets where something asks for them.
  void walk(Loop &loop, int64_t first, int64_t last,
            llvm::function_ref<void(int64_t start, int64_t end)> visit);
  /// Finds the loop along which rows may be equal, of so many terms each.
  void findRepeatedLoop(int64_t termPlaces);
  /// The rows at the places of the repeated loop from `first` to `last`, as far
  /// as it has them; `offset` is that of its first.
  void computeRepeatedRows(int64_t offset, int64_t first, int64_t last);
  /// Makes loops that go on where the row ends a part of it, if it is walked.
  void extendRow();
  /// Part `number` of `count` of a row that is walked.
  void walkRow(int64_t offset, int64_t number, int64_t count);
  /// Notes what the body reads at the current places of all loops, and what the
  /// element does of which those of the result's loops are.
  void collectBody();
  void collectElement();
  /// The same of the run of elements from `start` to `end`.
  void collectRun(int64_t start, int64_t end);
  /// Computes all bodies that were collected.
  void flushBodies();
  static bool isLongLoop(const Loop &loop);
  /// Notes that so much was computed that it takes too long, or was stopped.
  void checkCost() {
    isTooCostly |=
        builder.isFull() || stepCount > maximumSteps || (stopped && *stopped);
  }
  void moveTo(Loop &loop, int64_t ordinal);
  /// How many terms the places of `loops` stand for.
  static int64_t getWeight(llvm::ArrayRef<Loop *> loops);
  /// Calls `visit` at all places of `loops`, which end where they started.
  void forEachPlace(llvm::ArrayRef<Loop *> loops,
                    llvm::function_ref<void()> visit);

  bool isResultLong;
  RunBuilder builder;
  /// Whether the body only compares positions with each other.
  bool comparesPositions;
  bool isTooCostly = false;
  const std::atomic<bool> *stopped = nullptr;
  int64_t stepCount = 0, maximumSteps = 0;
  int64_t share = 0, shareCount = 1;

  // For one choice of blocks.
  Loop *rowLoop = nullptr;  ///< with stride 1 in the result; null if none has
  Loop *termLoop = nullptr; ///< whose runs are terms; null without a reduction
  llvm::SmallVector<Loop *, 4> outerLoops, outerReduced, allReduced;
  /// Of how many terms the places of `termLoop` before each stand.
  std::vector<int64_t> termWeights;
  /// Whether runs along the row are terms, because what is reduced is long and
  /// an operand has its runs along the row.
  bool isTransposed = false;
  /// Whether the elements of a row, and the terms of an element, are found on
  /// the way.
  bool walksRows = false, walksTerms = false;
  int64_t rowLength = 0; ///< of one that is walked
  /// The innermost loop around the row, if rows may be equal along it; else
  /// null.
  Loop *repeatedLoop = nullptr;
  std::vector<int64_t> repeatedEnds;
  /// The loop of the result whose elements are put in order; null if none are.
  Loop *orderedLoop = nullptr;
  /// Whether bodies of many runs are computed at once.
  bool collectsBodies = false;
  /// Whether rows, and the terms of one element, may be computed at once, and
  /// whether it is known that all these terms differ.
  bool mayRowsBeDense = false, mayTermsBeDense = false, areTermsDense = false;
  llvm::SmallVector<Pair, 2> pairs;
  /// How many elements the runs have for which the body is computed.
  int64_t rowCount = 1, termCount = 1;
  /// How many rows the row that is computed stands for.
  int64_t repeatCount = 1;
  std::vector<int64_t> rowEnds, termEnds;
  /// Where the accesses were read of which `rowEnds` are the ends.
  llvm::SmallVector<int64_t, 4> lastRead;
  /// The run that each access read last, and whether it is the one to read.
  llvm::SmallVector<size_t, 4> cursors;
  bool areCursorsRight = false;
  /// Elements of rows that are kept in runs.
  std::vector<std::vector<Scalar>> spread;
  std::vector<Scalar> sums;

  /// What bodies read that are computed at once, and where the runs end that
  /// they give, of which the first begins at `start`.
  struct Bodies {
    llvm::SmallVector<std::vector<Scalar>, 4> operands;
    int64_t start = 0;
    std::vector<int64_t> ends;
    /// How often each is a term, and where the terms of each run end.
    std::vector<int64_t> weights;
    std::vector<size_t> lasts;
  };
  Bodies bodies;
  std::optional<SharedWeights> shared;
};

} // namespace verify

#endif // VERIFY_LIB_ANALYSIS_DENSERUNS_H
