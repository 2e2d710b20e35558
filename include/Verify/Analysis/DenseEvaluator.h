//===- DenseEvaluator.h - whole values of a graph ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes both programs on one concrete input, op by op, at all positions a
// factor analysis keeps. The meaning is that of ElementEvaluator; this is the
// fast way to find which of many expects differ, and to confirm it.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_ANALYSIS_DENSEEVALUATOR_H
#define VERIFY_ANALYSIS_DENSEEVALUATOR_H

#include "Verify/Analysis/ElementEvaluator.h"
#include "Verify/IR/DenseValues.h"
#include "Verify/Scalar/NumericAlgebras.h"

#include "llvm/ADT/BitVector.h"

#include <atomic>
#include <deque>

namespace verify {

/// Coordinates of the mesh, and their places among the representatives of each
/// axis. An axis that does not matter is -1, at place 0.
struct MeshPlace {
  Coordinates coordinates;
  llvm::SmallVector<int64_t, 4> ordinals;
};

/// The elements of a value at the representatives of an analysis, row-major:
/// first the mesh axes it varies with, then its dimensions. Where long values
/// are kept in runs, long dimensions come last, the longest after the others.
struct DenseTensor {
  /// For each axis of the analysis; 0 if the value does not vary with it.
  llvm::SmallVector<int64_t, 4> axisStrides;
  /// 0 for a dimension at whose positions the elements are the same, of which
  /// one is there.
  llvm::SmallVector<int64_t, 4> dimensionStrides;
  /// For each axis, the classes of its coordinates with the same elements, of
  /// which one is there; empty where each coordinate is.
  llvm::SmallVector<std::vector<int64_t>, 4> axisClasses;
  int64_t size = 1;
  /// One for each element, or one for each run.
  std::vector<Scalar> elements;
  /// The offsets at which runs start, if there are any of several elements.
  std::vector<int64_t> starts;
  /// Whether the scalars belong to this tensor alone.
  bool isOwned = false;

  int64_t getOffset(const MeshPlace &place) const;
  /// Where the elements of a coordinate begin.
  int64_t getAxisOffset(unsigned axis, int64_t ordinal) const {
    const std::vector<int64_t> &classes = axisClasses[axis];
    return axisStrides[axis] * (classes.empty() ? ordinal : classes[ordinal]);
  }
  /// How many classes an axis has that is looked at `coordinates` times.
  int64_t countClasses(unsigned axis, int64_t coordinates) const;
  /// The number of the run that `offset` is in.
  size_t findRun(int64_t offset) const {
    return starts.empty()
               ? offset
               : llvm::upper_bound(starts, offset) - starts.begin() - 1;
  }
  /// The offset after a run.
  int64_t getEnd(size_t run) const {
    if (starts.empty())
      return static_cast<int64_t>(run) + 1;
    return run + 1 < starts.size() ? starts[run + 1] : size;
  }
  /// The same, faster in the run `cursor` and the one after it.
  size_t findRun(int64_t offset, size_t &cursor) const {
    if (!starts.empty() && starts[cursor] <= offset) {
      cursor += getEnd(cursor) <= offset;
      if (getEnd(cursor) > offset)
        return cursor;
    }
    return cursor = findRun(offset);
  }
  Scalar get(int64_t offset) const { return elements[findRun(offset)]; }
  Scalar get(int64_t offset, size_t &cursor) const {
    return elements[findRun(offset, cursor)];
  }
};

class DimensionMaps;
struct DimensionMap;
class ElementPairs;
class RunBuilder;
class ValueNumbering;

/// The values that are kept, each with all that are equal to it.
class DenseTensors {
public:
  DenseTensors();
  ~DenseTensors();

  /// Null if the value is not kept.
  const DenseTensor *find(mlir::Value value) const;
  void insert(mlir::Value value, DenseTensor tensor) {
    scalarCount += tensor.elements.size();
    tensors[value] = std::move(tensor);
  }
  /// Drops a value and gives the scalars that are its own back.
  void drop(mlir::Value value, NumericAlgebra &algebra);
  /// How many scalars all values have.
  size_t getScalarCount() const { return scalarCount; }
  /// Drops all, and goes on with other values that are equal.
  void reset(std::shared_ptr<const ValueNumbering> newNumbering,
             NumericAlgebra &algebra);
  const std::shared_ptr<const ValueNumbering> &getNumbering() const {
    return numbering;
  }
  /// How many values were dropped: those that are kept are what they were, and
  /// their scalars too, as long as this is the same.
  size_t getDropCount() const { return dropCount; }

private:
  std::shared_ptr<const ValueNumbering> numbering;
  DenseValueMap<DenseTensor> tensors; ///< of leaders
  size_t scalarCount = 0, dropCount = 0;
};

/// How far apart two numbers are, as a part of the larger one; 0 where one is
/// not a number, 2 for minus infinity and a number.
double getRelativeDifference(double left, double right);

class DenseEvaluator {
public:
  /// Two sides of an expect that are not the same.
  struct Difference {
    Coordinates coordinates;
    llvm::SmallVector<int64_t> index;
    llvm::SmallVector<int64_t> referenceIndex;
    Scalar reference, plan;
  };

  /// What may be asked of values: that `values`, each summed over the lineage's
  /// axes, add up to the part of `reference` that the lineage names.
  struct Claim {
    llvm::ArrayRef<mlir::Value> values;
    mlir::Value reference;
    tv::LineageAttr lineage;
    tv::DomainAttr domain;
  };
  /// How to go on after a pair of elements; `Keep` keeps the plan's scalar.
  enum class Visit { Continue, Keep, Stop };
  using Visitor = llvm::function_ref<Visit(
      const Coordinates &coordinates, llvm::ArrayRef<int64_t> index,
      Scalar reference, Scalar plan, int64_t count)>;

  /// The analysis has to outlive the evaluator. With `Positions::Exact` nothing
  /// is unknown but the inputs.
  DenseEvaluator(const FactorAnalysis &factors, NumericAlgebra &algebra,
                 ElementSource &source);
  ~DenseEvaluator();

  /// Runs that take more scalar operations, roughly, fail as too costly; there
  /// is a limit without this too.
  void limitSteps(int64_t most) { mostSteps = most; }
  /// Runs end with a failure soon after `flag`, which has to outlive them, is
  /// set.
  void stopWhen(const std::atomic<bool> &flag) { stopped = &flag; }
  /// For numbers alone: what nothing reads is not evaluated, so that nothing is
  /// known of where it is defined.
  void ignoreDomains() { checksDomains = false; }
  /// Ops that `evaluator` shows to be defined are not evaluated for that alone.
  /// It is one of the same graph, analysis and inputs, that knows the same
  /// equal values, in a SignAlgebra; it has to outlive this one.
  void showDomainsWith(DenseEvaluator &evaluator) { signs = &evaluator; }
  /// Those of the last run.
  int64_t getSteps() const { return steps; }

  /// Which values the last run knows to be equal.
  std::shared_ptr<const ValueNumbering> getEqualValues() const {
    return tensors.getNumbering();
  }
  /// The same of what `targets` depend on, for this evaluator's next runs and
  /// for others, before anything is run.
  std::shared_ptr<const ValueNumbering>
  findEqualValues(llvm::ArrayRef<tv::ExpectOp> targets);
  /// Takes over what another evaluator knows, of the same graph, analysis and
  /// inputs. A run that needs values that it did not look at finds out for
  /// itself which are equal.
  void setEqualValues(std::shared_ptr<const ValueNumbering> known) {
    knownEqual = std::move(known);
  }

  /// Whether few of the values that both need are the same, or equal to the
  /// same: after `setEqualValues` or `findEqualValues`.
  bool areApart(mlir::ValueRange left, mlir::ValueRange right) const;
  /// Takes over a value that another evaluator, of the same graph, analysis and
  /// inputs, has evaluated and kept; `copy` makes scalars of its scalars.
  void adopt(mlir::Value value, const DenseEvaluator &other,
             llvm::function_ref<Scalar(Scalar)> copy);
  /// Evaluates what `targets` depend on, in the order of the block. A value is
  /// dropped after its last use, unless a target has it as an operand or it is
  /// one of `kept`.
  llvm::LogicalResult run(llvm::ArrayRef<tv::ExpectOp> targets,
                          llvm::ArrayRef<mlir::Value> kept = {});
  /// The same, but calls `ready` for each target as soon as it can be compared
  /// and keeps nothing for it afterwards.
  llvm::LogicalResult
  runInPassing(llvm::ArrayRef<tv::ExpectOp> targets,
               llvm::function_ref<void(tv::ExpectOp)> ready);
  /// Why the last call failed; empty if it did not.
  const std::string &getFailure() const { return failureReason; }
  /// Whether it failed because the run would take too long or too much memory.
  bool wasTooCostly() const { return isTooCostly; }
  /// The first op after which the algebra's status was undefined, of those that
  /// give equal values the first; null if none.
  mlir::Operation *getUndefinedOp() const { return undefinedOp; }

  /// Among the elements at which both sides of a target differ, the one with
  /// the largest relative difference, and of these the first. None if there is
  /// no such element, or after a failure, which `getFailure` tells.
  std::optional<Difference>
  compare(tv::ExpectOp expect,
          llvm::function_ref<bool(Scalar reference, Scalar plan)> differs);
  /// Targets of the last run with one key have equal sides, at the same
  /// positions and coordinates.
  std::vector<uint64_t> getComparisonKey(tv::ExpectOp expect) const;

  /// Calls `visitor` for each pair of elements that a claim sets against each
  /// other; in runs for `count` equal pairs at once; all values have to be
  /// kept. A position of the reference that is not looked at is an error, or is
  /// left out with `skipsUnknown`. With `isLastOnly` only the last element at
  /// each place of the mesh is looked at.
  llvm::LogicalResult visit(const Claim &claim, bool skipsUnknown,
                            Visitor visitor, bool isLastOnly = false);
  /// How many pairs `visit` comes to with `skipsUnknown` if nothing stops it; 0
  /// if the claim does not fit. Values that are summed have to be kept at the
  /// same positions.
  int64_t countKnown(const Claim &claim);
  /// Calls `visitor` with the same pairs, many at a time at one place of the
  /// mesh, and of equal pairs in runs with the first. The scalars are valid
  /// until it returns, as is `getIndex`, which tells where a pair is.
  using RowVisitor = llvm::function_ref<void(
      const Coordinates &coordinates, llvm::ArrayRef<Scalar> references,
      llvm::ArrayRef<Scalar> plans,
      llvm::function_ref<llvm::SmallVector<int64_t>(size_t number)> getIndex)>;
  llvm::LogicalResult visitRows(const Claim &claim, RowVisitor visitor);
  /// The axes a value varies with, a bit for each.
  uint64_t getVaryingAxes(mlir::Value value) const {
    return factors.getVaryingAxes(value);
  }

  /// The first value that has the elements of this one, at the same positions
  /// and coordinates, as far as the last run knows.
  mlir::Value getLeader(mlir::Value value) const;

  /// An element of a value that was kept; nullopt at positions and coordinates
  /// that are not looked at.
  std::optional<Scalar> getElement(mlir::Value value,
                                   const Coordinates &coordinates,
                                   llvm::ArrayRef<int64_t> index) const;

  /// Whether two values that were kept vary along the same axes and all that is
  /// looked at of them `areEqual`. No where they are kept in different ways.
  bool haveEqualElements(
      mlir::Value left, mlir::Value right,
      llvm::function_ref<bool(Scalar left, Scalar right)> areEqual) const;
  /// Whether the elements along the last dimension of a value that was kept
  /// all differ, wherever the value exists.
  bool haveDistinctElements(
      mlir::Value value,
      llvm::function_ref<bool(Scalar left, Scalar right)> areDistinct) const;

private:
  llvm::LogicalResult runInOrder(llvm::ArrayRef<unsigned> stays,
                                 llvm::ArrayRef<tv::ExpectOp> compared,
                                 llvm::function_ref<void(tv::ExpectOp)> ready);
  /// Which values are evaluated, each by its number in the analysis, and what
  /// is done after each.
  struct Order {
    std::vector<unsigned> values; ///< in the order of the body
    /// Those that are read or stay, or are evaluated for their domain.
    llvm::BitVector needed;
    /// The expects that can be compared then.
    llvm::DenseMap<unsigned, llvm::SmallVector<tv::ExpectOp, 1>> readyAfter;
    /// The values that nothing reads any more; the last ones come first.
    std::vector<std::pair<unsigned, mlir::Value>> lastUses;
  };
  /// The numbers of values in the analysis; none after its failure.
  std::vector<unsigned> listNumbers(mlir::ValueRange values) const;
  /// All that these values and expects depend on, a bit for each number.
  llvm::BitVector findCone(std::vector<unsigned> worklist,
                           llvm::ArrayRef<tv::ExpectOp> compared) const;
  /// Whether it is known of all that these values and expects depend on which
  /// of them are equal.
  bool covers(const ValueNumbering &known, llvm::ArrayRef<unsigned> stays,
              llvm::ArrayRef<tv::ExpectOp> compared) const;
  /// These values and those that their operands are equal to, and so on, in the
  /// order of the body.
  std::vector<unsigned> listNeeded(std::vector<unsigned> worklist) const;
  /// What is evaluated for values that stay, those that are compared, and for
  /// what is known then of where ops are defined.
  Order planOrder(llvm::ArrayRef<unsigned> stays,
                  llvm::ArrayRef<tv::ExpectOp> compared,
                  llvm::ArrayRef<unsigned> checked);
  llvm::LogicalResult execute(const Order &order,
                              llvm::function_ref<void(tv::ExpectOp)> ready);
  /// The values of a cone of which it takes an evaluation to know that they are
  /// defined.
  std::vector<unsigned> listChecked(const llvm::BitVector &cone,
                                    llvm::ArrayRef<unsigned> stays,
                                    llvm::ArrayRef<tv::ExpectOp> compared);
  /// Those among `ops` that are certainly defined wherever all before them are;
  /// of an evaluator in signs.
  llvm::SmallVector<mlir::Operation *>
  findDefined(llvm::ArrayRef<tv::SemanticsOpInterface> ops);
  /// Fails if a run takes too much time or memory.
  llvm::LogicalResult checkCost(const Order &order);
  /// How many index tuples of `nodes` and of these axes are looked at.
  int64_t countPlaces(llvm::ArrayRef<FactorAnalysis::Node> nodes,
                      uint64_t axes) const;
  llvm::LogicalResult evaluate(mlir::Value value);
  llvm::LogicalResult compute(tv::SemanticsOpInterface op, DenseTensor &tensor);
  /// The same where an operand or the result is long.
  llvm::LogicalResult computeRuns(tv::SemanticsOpInterface op,
                                  DenseTensor &tensor);
  /// In how many shares an op is computed.
  size_t countShares(tv::SemanticsOpInterface op) const;
  llvm::LogicalResult fill(mlir::Value value, DenseTensor &tensor);
  /// The same for a long value, run by run.
  llvm::LogicalResult fillRuns(mlir::Value value, DenseTensor &tensor);
  /// An element of a value without operands.
  mlir::FailureOr<Scalar> getSourceElement(mlir::Value value,
                                           llvm::ArrayRef<int64_t> index);
  /// The position that inputs have the same elements at, of a dimension.
  int64_t getInputPosition(FactorAnalysis::Node node, int64_t position) const;
  llvm::LogicalResult distribute(tv::DistributeOp op, DenseTensor &tensor);
  /// The elements of one place from `start` on, as many as `count`, which are
  /// those of the reference that dimensions are mapped to, row by row.
  llvm::LogicalResult
  distributeRuns(const DenseTensor &reference,
                 llvm::ArrayRef<std::shared_ptr<const DimensionMap>> mapped,
                 llvm::ArrayRef<unsigned> layout, int64_t start, int64_t count,
                 RunBuilder &builder);
  /// Gives the elements outside the domain, which nobody reads, a value.
  void fillOutside(uint64_t axes, tv::DomainAttr domain, DenseTensor &tensor);
  /// Sets size and strides, without the dimensions that are `uniform`, if any
  /// are.
  void layOut(mlir::Value value, DenseTensor &tensor,
              const llvm::BitVector &uniform = {}) const;
  llvm::LogicalResult allocate(mlir::Value value, DenseTensor &tensor);
  /// Sets the classes of coordinates at which an op's result has the same
  /// elements because its operands have.
  void findClasses(tv::SemanticsOpInterface op, DenseTensor &tensor) const;
  /// Makes coordinates at which a tensor has the same elements one class.
  void mergeClasses(DenseTensor &tensor);
  /// The dimensions along which an op's result has the same elements because
  /// its operands have; empty if there are none.
  llvm::BitVector findUniform(mlir::Operation *op) const;
  /// Leaves one position of dimensions with the same elements at all.
  void mergeDimensions(mlir::Value value, DenseTensor &tensor);
  /// The tensor of a value that is kept, with all positions of its dimensions
  /// but those that are `uniform`, if any are; made in `storage` if need be.
  /// Null if it would have too many runs.
  const DenseTensor *getWhole(mlir::Value value,
                              std::deque<DenseTensor> &storage,
                              const llvm::BitVector &uniform = {}) const;
  /// The same, made in `wholes`, unless it is there from an earlier call.
  const DenseTensor *getWholeOnce(mlir::Value value,
                                  const llvm::BitVector &uniform);
  /// Forgets the oldest ones if there are many, and all that are out of date.
  void limitWholes();
  /// The dimensions along which all values of a claim, and its reference, have
  /// the same elements at all positions.
  llvm::BitVector findUniform(const Claim &claim) const;
  /// The short dimensions along which the only value of a claim has the same
  /// elements, and the reference others.
  llvm::SmallVector<unsigned> findSpread(const Claim &claim) const;
  /// The tensors of a claim's values, which are terms of one sum, with all
  /// positions of dimensions that are not `uniform`.
  mlir::FailureOr<llvm::SmallVector<const DenseTensor *>>
  getWholeTerms(const Claim &claim, const llvm::BitVector &uniform);
  /// Calls `visit` with the pairs of a claim at each place of the mesh, and how
  /// many each of them stands for besides, until it returns false. Positions of
  /// `spread` dimensions come one after the other.
  llvm::LogicalResult forEachPlace(
      const Claim &claim, bool skipsUnknown, llvm::ArrayRef<unsigned> spread,
      llvm::function_ref<bool(ElementPairs &pairs,
                              const Coordinates &coordinates, int64_t repeats)>
          visit);
  /// For each dimension of `local`, where its places are in `reference`. A
  /// position that is not looked at is an error, unless `skipsUnknown`.
  mlir::FailureOr<llvm::SmallVector<std::shared_ptr<const DimensionMap>>>
  mapDimensions(tv::LineageAttr lineage, const Coordinates &coordinates,
                mlir::Value reference, mlir::Value local,
                bool skipsUnknown = false);
  llvm::LogicalResult fail(const llvm::Twine &reason);
  llvm::LogicalResult failTooCostly();

  const FactorAnalysis &factors;
  NumericAlgebra &algebra;
  ElementSource &source;
  /// Answers what does not depend on elements.
  ElementEvaluator elements;
  /// Whether long values are kept in runs.
  bool usesRuns;
  /// To compute many terms of a sum at once; null if there is no way.
  std::unique_ptr<RowAlgebra> rows;
  /// What a share of a long value is computed with.
  struct Worker {
    std::unique_ptr<NumericAlgebra> twin; ///< null: the algebra itself
    /// To compute elements that all differ at once; null if there is no way.
    std::unique_ptr<RowAlgebra> rows;
  };
  /// At least one.
  std::vector<Worker> workers;
  DenseTensors tensors;
  /// Tensors with all positions that were made for the last claims: one value
  /// is compared with many others, and in many ways.
  struct Whole {
    mlir::Value value;
    llvm::BitVector uniform;
    std::deque<DenseTensor> made; ///< one
  };
  std::deque<Whole> wholes;
  size_t wholesDropCount = 0; ///< that of `tensors` when they were made
  std::shared_ptr<const ValueNumbering> knownEqual;
  std::unique_ptr<DimensionMaps> maps;
  std::string failureReason;
  int64_t steps = 0, mostSteps = std::numeric_limits<int64_t>::max();
  bool isTooCostly = false, checksDomains = true;
  const std::atomic<bool> *stopped = nullptr; ///< null: never
  DenseEvaluator *signs = nullptr;
  mlir::Operation *undefinedOp = nullptr;
};

} // namespace verify

#endif // VERIFY_ANALYSIS_DENSEEVALUATOR_H
