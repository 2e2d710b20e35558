//===- Refutation.h - makes a failed proof concrete -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Executes reference and plan on the same full-size inputs. Only a result of
// the contract that comes out different, in intervals, is refuted; everything
// else that was not proved is unknown.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_REFUTATION_H
#define VERIFY_LIB_TRANSFORMS_REFUTATION_H

#include "Confirmation.h"
#include "Diagnosis.h"
#include "EquivalenceChecker.h"
#include "ResidualBranches.h"
#include "llvm/Support/Error.h"

namespace verify {

/// Looks for inputs on which results of a graph come out wrong.
class Refutation {
public:
  /// Scalar operations that take about a second, on values in runs.
  static constexpr int64_t quickSteps = int64_t(1) << 24;
  /// That take seconds.
  static constexpr int64_t someSteps = 4 * quickSteps;
  /// With more, positions of long dimensions are equal but for the last one.
  static constexpr int64_t mostForAllPositions = quickSteps / 2;

  /// With `confirmsEarly` a result is confirmed on another thread, if there is
  /// one, before it is known which are wrong; the outcome is the same.
  Refutation(tv::GraphOp graph, unsigned seed, bool confirmsEarly);

  /// Whether inputs were found on which a result of the contract differs. The
  /// difference is confirmed in intervals of rising precision. Those that show
  /// what goes wrong near `place` are tried first.
  bool find(tv::ExpectOp place, Search search);
  /// Reports what was found: an error at the first op of the plan whose stated
  /// or required value is wrong, and notes with the witness.
  void report();
  /// Adds the devices that stand for others where it goes wrong, if more can be
  /// said of each of them; returns whether there are any.
  bool addFolded(llvm::DenseSet<int64_t> &devices);
  /// Writes the inputs on which it was found; whether they are all there are.
  llvm::Expected<bool> writeInputs(llvm::StringRef path) const;
  /// Why nothing was found.
  const std::string &getFailure() const { return failureReason; }

private:
  /// Analyzes the graph, and chooses what is looked at first for `wanted`,
  /// which was not proved.
  void setUp(tv::ExpectOp wanted);
  bool canUseOtherThread() const;
  /// Whether the graph is executed in no time, whatever the inputs.
  bool isSmall();
  /// Whether the graph takes seconds where all positions are told apart.
  bool isSlow();
  /// The same as `find` with the positions of long dimensions that the seed
  /// tells apart.
  bool findAmong(tv::ExpectOp place, bool isQuick);
  /// The same with the last one alone on the inputs that are fastest to run.
  /// Results are compared with neighbours of long dimensions looked at
  /// together, and what is found is confirmed without.
  bool findInGroups(tv::ExpectOp place);
  bool usesGroups() const { return grouped.has_value(); }
  /// The analysis to compare with where results are confirmed with this one.
  const FactorAnalysis &getLooked(const FactorAnalysis &analysis) const;
  /// The same with the last one alone: without attention, for several inputs
  /// and for some that are not equal along every dimension, then with it.
  bool findWithLastPosition(tv::ExpectOp place, bool isQuick);
  /// Goes back to the first inputs, which tell these positions apart.
  void restart(LongPositions positions);
  /// Inputs, and the positions they were looked at.
  struct Attempt {
    const FactorAnalysis *analysis;
    WitnessSeed seed;
  };
  /// Inputs on which what is not near `place` passes its operand on, in deep
  /// models; whether there are such inputs, and with `onlyIfShown` whether what
  /// happens at `place` may show on them.
  bool simplify(tv::ExpectOp place, QuadraticBranches quadratic,
                bool onlyIfShown = false);
  /// Made of `coarse` or a copy, the first time.
  const FactorAnalysis &getFine(const FactorAnalysis &from);
  bool findWrongResults(const FactorAnalysis &analysis);
  /// The same among these results, comparing `candidates`; begins to confirm
  /// one on another thread, if there is one.
  bool findWrongResults(const FactorAnalysis &analysis,
                        llvm::ArrayRef<tv::ExpectOp> among,
                        llvm::ArrayRef<tv::ExpectOp> candidates);
  /// What is compared for all results.
  llvm::ArrayRef<tv::ExpectOp> getAllCompared();
  class EarlyStart;
  /// Of those that rest on what is said at the place the one that is likely to
  /// be wrong: the nearest, and of what is looked at first the one that is
  /// executed soonest. Null if there is none.
  tv::ExpectOp chooseLikely(llvm::ArrayRef<tv::ExpectOp> among);
  /// Which of the wrong results is confirmed: the likely one if it is one of
  /// them, else the one that was compared first.
  tv::ExpectOp chooseConfirmed();
  /// The results that rest on what some expects speak of.
  llvm::SmallVector<tv::ExpectOp>
  findDependent(llvm::ArrayRef<tv::ExpectOp> expects);
  /// Of those that rest on `place` the one that is executed soonest, and those
  /// that are alike; none in a small graph, or if they rest on most of it.
  llvm::SmallVector<tv::ExpectOp> chooseFirst(tv::ExpectOp place);
  /// Whether all results that are wrong are so faintly.
  bool areFaint() const;
  /// Shows in interval arithmetic that one of the results is wrong.
  bool confirm(const FactorAnalysis &analysis);
  /// The same, and looks for the root of the difference meanwhile, if there is
  /// another thread.
  bool confirmAndLook(const FactorAnalysis &analysis);
  /// Takes what was shown of `result`, or else of the one that was compared
  /// first, unless only the plan is undefined, which is put off.
  bool accept(const FactorAnalysis &analysis, tv::ExpectOp result,
              Confirmation::Outcome outcome);
  /// Where no precision told a result from rounding and others differ by far
  /// more, confirms the one that does most. Nothing is said then of others.
  bool confirmAnother(const FactorAnalysis &analysis);
  /// Where one was not told from rounding, confirms one that is no number in
  /// doubles.
  bool confirmUnordered(const FactorAnalysis &analysis);
  /// Where that one differs by little, confirms another one that does, if there
  /// are few and doubles are enough; remembers those for which they are not.
  /// Nothing is said then of others.
  bool confirmSmall(const FactorAnalysis &analysis);
  /// Says nothing of results that nothing rests on and that differ by next to
  /// nothing beside the one that is confirmed.
  void dropFarSmaller();
  /// Whether it shows a result to be wrong; that only the plan is undefined
  /// does so where nothing else was found.
  bool isAccepted(const Confirmation::Outcome &outcome) const;
  /// Takes what does so; where only the plan is undefined, that is put off.
  bool take(const FactorAnalysis &analysis, Confirmation::Outcome outcome);
  /// The same of a result that was not chosen.
  bool takeOther(const FactorAnalysis &analysis, Confirmation::Outcome outcome);
  /// Says nothing any more of some wrong results.
  void dropFromWrong(llvm::function_ref<bool(tv::ExpectOp)> isDropped);
  /// Drops the results that did so on other inputs. Whether none is left.
  bool isKnownRounding();
  /// A confirmation on the inputs that are looked at.
  Confirmation makeConfirmation(const FactorAnalysis &analysis) const;
  /// Evaluates `result` in intervals, on this thread.
  Confirmation::Outcome confirm(const FactorAnalysis &analysis,
                                tv::ExpectOp result);
  /// Looks for wrong results and confirms one. What differs faintly or is
  /// undefined is put off.
  bool attempt(const FactorAnalysis &analysis);
  /// The same. Where what a device computes for itself is wrong at `place`,
  /// first with parameters of which all devices have equal parts: what they
  /// compute is executed once, and most mistakes show.
  bool attemptWithEqualParts(tv::ExpectOp place);
  /// The same with inputs of so many seeds.
  bool attemptSome(unsigned draws);
  /// The same with inputs that are larger or smaller by powers of 2.
  bool attemptFarther();
  bool attemptAgain(const Attempt &earlier);
  /// Takes inputs on which results differed faintly, if that is confirmed.
  bool acceptFaint();
  /// Takes the first inputs on which only the plan was undefined, if there are
  /// any.
  bool acceptUndefined();
  /// The root of the difference, with `inputs`, looked at more closely than
  /// inputs were that are alike; none if it does not show there.
  std::optional<Finding> lookCloser(const FactorAnalysis &analysis,
                                    const WitnessSeed &inputs);
  /// What `finding` speaks of, on inputs that tell the parts of devices apart.
  std::optional<Finding> diagnoseWithOtherParts(const FactorAnalysis &analysis,
                                                const Finding &finding);
  /// The root of the difference. `analysis` is that of the inputs, or a copy
  /// where another thread uses it meanwhile.
  std::optional<Finding> diagnose(const FactorAnalysis &analysis);

  /// Whether others may be wrong: inputs that are simple show less than others
  /// may, and so do some of the results.
  bool showsLess() const;
  /// What to report: the root of the difference, or the result that is
  /// confirmed where none was found.
  Finding getFinding();
  /// How many these are, counted on each device of a replica.
  int64_t count(llvm::ArrayRef<tv::ExpectOp> expects) const;
  /// Where the values of some expects differ, of folded groups on those ranks.
  std::string describeWhere(llvm::ArrayRef<tv::ExpectOp> expects,
                            llvm::ArrayRef<int64_t> microBatches);
  /// The note with the results that come out wrong, at `place`.
  void addConsequences(mlir::InFlightDiagnostic &error, mlir::Location place,
                       const Finding &finding);
  /// The note with the inputs on which the difference is confirmed.
  void addCounterexample(mlir::InFlightDiagnostic &error);

  tv::GraphOp graph;
  unsigned firstNumber;
  bool confirmsEarly;
  tv::ExpectOp place; ///< what was not proved
  WitnessSeed seed;
  /// One value of each sort, which stands for all: inputs that are equal along
  /// every dimension show most differences, fast. There since `setUp`.
  std::optional<FactorAnalysis> coarse;
  /// One value more, so that parts and terms can be told apart.
  std::optional<FactorAnalysis> fine;
  /// The coarse one with groups, while these are used.
  std::optional<FactorAnalysis> grouped;
  std::optional<ResidualBranches> branches; ///< there once they are needed
  std::shared_ptr<const ConstantDimensions> divided; ///< null: not asked for
  /// The parameters that both sides of a place take for each other; null if
  /// they do not.
  std::shared_ptr<const llvm::StringSet<>> mistaken;
  llvm::SmallVector<tv::ExpectOp> results, wrong;
  /// What is looked at first, and whether nothing else was.
  llvm::SmallVector<tv::ExpectOp> first;
  bool isPartial = false;
  /// On the last inputs; null if none was begun.
  std::unique_ptr<EarlyConfirmation> early;
  /// What is compared for these, or for all results if there are none.
  llvm::SmallVector<tv::ExpectOp> compared;
  /// The same for all results; empty if it was not asked for.
  llvm::SmallVector<tv::ExpectOp> allCompared;
  /// Of the last inputs.
  std::optional<Diagnosis> diagnosis;
  /// Of its results the one that intervals told nothing of; null if there is
  /// none.
  tv::ExpectOp undecided;
  /// Nothing is said of what differs by at most so much.
  double remainder = 0;
  /// Results that no precision told from rounding, or doubles beside such a
  /// one, and a thousand times what that differed by. Where they differ by no
  /// more on other inputs they are not looked at again.
  llvm::DenseMap<mlir::Operation *, double> roundingOf;
  /// The most of these. Of what differs by no more, no more precision is asked.
  double roundingLevel = 0;
  bool isCoarse = false;
  bool isTooCostly = false;
  /// Of a comparison; none: as many as there may be at all.
  std::optional<int64_t> mostSteps;
  /// What was put off.
  llvm::SmallVector<Attempt> faintAt, undefinedAt;
  bool acceptsFaint = false, acceptsUndefined = false;
  Witness confirmed;
  const FactorAnalysis *confirmedAt = nullptr; ///< the positions of its inputs
  /// What `diagnose` found of the last inputs, once that was asked.
  std::optional<std::optional<Finding>> diagnosed;
  std::string failureReason;
};

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_REFUTATION_H
