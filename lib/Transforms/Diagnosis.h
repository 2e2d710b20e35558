//===- Diagnosis.h - why a plan is wrong ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows wrong results back to the first value that differs, and tells from
// numbers in what way. The verdict stands before this begins and does not rest
// on it.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_DIAGNOSIS_H
#define VERIFY_LIB_TRANSFORMS_DIAGNOSIS_H

#include "ValueMatching.h"
#include "Verify/IR/DenseValues.h"
#include "WitnessInputs.h"
#include "llvm/ADT/SetVector.h"

namespace verify {

/// In what way a value differs.
enum class DifferenceKind {
  Other,
  Undefined,
  MissingSum,
  ExtraSum,
  WrongGroup,
  WrongSlice,
  ScaleFactor,
  MissingMicroBatch,
  EarlyReduction,
  MixedMicroBatches,
  OutsideDomain,
  WrongConstant,
  ExchangedOperands,
  WrongOperand
};

/// An element at which plan and reference differ.
struct DifferentElement {
  llvm::SmallVector<int64_t> index;
  std::string planValue, referenceValue;
  /// Of the mesh axes, where they matter.
  llvm::SmallVector<std::pair<std::string, int64_t>> coordinates;
};

/// What was found.
struct Finding {
  /// The first stated value that differs, and the same one on other devices.
  tv::ExpectOp expect;
  llvm::SmallVector<tv::ExpectOp> alike;
  /// All values that differ with nothing wrong before them.
  llvm::SmallVector<tv::ExpectOp> roots;
  DifferentElement element;
  /// The micro-batches in which it differs; empty for all.
  llvm::SmallVector<int64_t> microBatches;
  DifferenceKind kind = DifferenceKind::Other;
  /// The op of the plan that makes the difference, if it was found; `expect`
  /// speaks of its result or of a later value.
  mlir::Operation *op = nullptr;
  /// What is wrong, for people.
  std::string explanation;
  /// Further places and what they have to do with it.
  llvm::SmallVector<std::pair<mlir::Location, std::string>> related;
  /// Stated values that differ because of it or besides.
  unsigned laterValues = 0, otherValues = 0;
  /// The first of the others.
  tv::ExpectOp other;
};

class Diagnosis {
public:
  /// As much may be left of usual numbers that cancel.
  static constexpr double mostOfRemainders = 1e-9;

  Diagnosis(tv::GraphOp graph, const FactorAnalysis &factors, WitnessSeed seed);

  /// Executes both programs and compares everything that is stated about what
  /// `results` depend on. Fails, with a reason, if that is not possible.
  llvm::LogicalResult compare(llvm::ArrayRef<tv::ExpectOp> results);
  /// What is told of a comparison while it goes on.
  struct Observer {
    virtual ~Observer() = default;
    /// Nothing was executed yet, and this is known to be equal.
    virtual void begin(std::shared_ptr<const ValueNumbering> equalValues) = 0;
    /// A result of the contract was compared.
    virtual void compared(tv::ExpectOp result, bool differs) = 0;
  };
  /// The same with what `listCompared` gives for `results`.
  llvm::LogicalResult compare(llvm::ArrayRef<tv::ExpectOp> results,
                              llvm::ArrayRef<tv::ExpectOp> candidates,
                              Observer *observer = nullptr);
  const std::string &getFailure() const { return failureReason; }
  /// Whether something was not executed because it takes too long.
  bool wasTooCostly() const { return isTooCostly; }
  /// How many scalar operations an execution may take from now on.
  void limitSteps(int64_t most) { mostSteps = most; }
  bool isDifferent(tv::ExpectOp expect) const {
    return differences.contains(expect);
  }
  /// Whether the difference is between numbers as small as rounding errors.
  bool isFaint(tv::ExpectOp expect) const {
    return differences.lookup(expect).isFaint;
  }
  /// By how much the elements of an expect differ at most; infinity where one
  /// of two overflows, or where they differ only as one of two is no number.
  double getDistance(tv::ExpectOp expect) const {
    auto found = differences.find(expect);
    return found == differences.end() ? 0 : found->second.distance;
  }
  /// Says nothing any more of results that differ by so much at most, nor of
  /// what leads there and does so, if that is little.
  void setAside(double most);
  /// Says nothing any more of a result.
  void setAside(tv::ExpectOp result) { setsAside |= differences.erase(result); }
  /// A result of which nothing was said as one side is no number in doubles;
  /// null if there is none.
  tv::ExpectOp findUnordered() const;
  /// Speaks of all such, and of nothing else.
  void lookAtUnordered();
  /// Whether something that may be wrong is not counted.
  bool isIncomplete() const { return setsAside || !unordered.empty(); }
  /// Which values `compare` knows to be equal on the inputs; null if it failed.
  std::shared_ptr<const ValueNumbering> getEqualValues() const {
    return equalValues;
  }
  /// How many scalar operations it took to find the difference.
  int64_t getSteps(tv::ExpectOp expect) const {
    return differences.lookup(expect).steps;
  }
  /// Of these, which differ, the one that was compared first.
  tv::ExpectOp findFirst(llvm::ArrayRef<tv::ExpectOp> different) const;
  /// The ranks of a folded group on which it differs; empty for all of them.
  llvm::ArrayRef<int64_t> getRanks(tv::ExpectOp expect) const {
    auto found = differences.find(expect);
    return found == differences.end() ? llvm::ArrayRef<int64_t>()
                                      : found->second.ranks;
  }
  /// The values that differ with nothing wrong before them, among those that
  /// `wrong` rest on, in the order of the graph; after `compare`.
  llvm::SmallVector<tv::ExpectOp> findRoots(llvm::ArrayRef<tv::ExpectOp> wrong);
  /// The root of the difference that shows at the results `wrong`, after
  /// `compare`.
  std::optional<Finding> find(llvm::ArrayRef<tv::ExpectOp> wrong);

private:
  struct Difference {
    DifferentElement element;
    llvm::SmallVector<int64_t> microBatches, ranks; ///< empty for all
    double distance = 0;      ///< of the elements that are the farthest apart
    bool isFaint = false;     ///< between numbers as small as rounding errors
    bool isUnordered = false; ///< as one of two is no number in doubles
    /// How many scalar operations had been executed when it was found, and how
    /// many expects had been compared.
    int64_t steps = 0;
    size_t earlier = 0;
  };
  /// In what both sides of an expect differ; none if they do not, or after a
  /// failure.
  std::optional<Difference> findDifference(tv::ExpectOp expect,
                                           DenseEvaluator &evaluator,
                                           DoubleAlgebra &algebra);
  /// Where one of `results` differs by more, what differs faintly is rounding,
  /// and nothing is said of what is no number on one side.
  void acceptRounding(llvm::ArrayRef<tv::ExpectOp> results,
                      llvm::ArrayRef<tv::ExpectOp> candidates);
  /// The values that lead to a wrong result without one that holds in between,
  /// a bit for each number of the analysis.
  llvm::BitVector findSuspicious(llvm::ArrayRef<tv::ExpectOp> wrong) const;
  void collectRegion(tv::ExpectOp expect);
  void addSimilarOps(mlir::Operation *expected);
  using OpCopies = llvm::DenseMap<mlir::Operation *, mlir::Operation *>;
  using Repair = llvm::function_ref<void(const OpCopies &copies)>;
  /// Whether an expect holds in a copy of what it depends on, which `repair`
  /// changes.
  bool isRepaired(tv::ExpectOp expect, Repair repair);
  /// Whether one holds if the sum that reads `use` is what else it reads; none
  /// where what was executed does not tell.
  std::optional<bool> isRightWithout(tv::ExpectOp expect, mlir::OpOperand &use,
                                     DenseEvaluator &evaluator);
  void explain(Finding &finding);
  /// Values to compare with those of the region, as far as executing them does
  /// not take much longer than what comes before the finding.
  llvm::SetVector<mlir::Value> chooseWhatHelps(Finding &finding);
  bool findUndefined(Finding &finding);
  /// Whether the value is computed of another parameter.
  bool findWrongParameter(Finding &finding);
  /// Whether an op reads one parameter where the reference reads the other.
  bool readsInstead(llvm::StringRef read, llvm::StringRef expected);
  bool findMissingMicroBatch(Finding &finding);
  /// Whether what is accumulated has a micro-batch in it twice, and is right
  /// with it once.
  bool findRepeatedMicroBatch(Finding &finding);
  /// Whether a reduction adds up what is accumulated of some micro-batches, and
  /// others of the same are added to its result.
  bool findEarlyReduction(Finding &finding);
  /// Whether an op of a wrong region reads values of several micro-batches.
  bool findMixedMicroBatches(Finding &finding);
  /// Whether the value is right if devices load in the order of their group.
  bool findOtherLoads(Finding &finding);
  /// Whether the value is right without one of the terms of a sum that has
  /// this term twice.
  bool findRepeatedTerm(Finding &finding, DenseEvaluator &evaluator);
  void describeRepetition(Finding &finding, mlir::OpOperand &use);
  bool classifyStated(Finding &finding);
  bool classifyOtherTensor(Finding &finding);
  /// Whether a sum of the reference has this term, and the plan only that.
  bool classifyLackingTerms(Finding &finding, mlir::Value term);
  /// Whether all terms of a sum are one part of a reference value.
  bool addsCopies(tv::AllReduceOp reduction, mlir::Value reference,
                  tv::LineageAttr lineage);
  bool classifyReduction(Finding &finding, tv::AllReduceOp reduction,
                         mlir::Value reference, tv::LineageAttr expected);
  void classifyRegion(Finding &finding);
  /// Whether an op gives a value of the reference, or has a number or positions
  /// that are wrong; a multiple is none.
  bool matchOp(Finding &finding, mlir::Operation *op);
  /// Of an output the reference has the sum of all micro-batches only. Where
  /// one of them computes its term otherwise, it is that which may be wrong.
  static bool noteOddMicroBatch(Finding &finding);
  /// Matches ones at the positions that an op names, or says that the reference
  /// has no such; false if the reference has no such op.
  bool matchPositions(Finding &finding, tv::OneHotOp op);
  void classifyOp(Finding &finding, mlir::Operation *op);
  /// The constant of the same place among those of the op of the reference that
  /// corresponds to the one that this belongs to; null if there is none.
  tv::ConstantOp findSimilarConstant(tv::ConstantOp constant);
  std::string findWrongConstant(tv::ConstantOp constant);
  bool classifyDoubling(Finding &finding);
  bool classifySlices(Finding &finding, mlir::Operation *op);
  bool classifyOperands(Finding &finding, mlir::Operation *op);
  /// Whether one operand is another value of the reference than the op there
  /// reads, or what is received another one than is expected.
  bool classifyOtherOperand(Finding &finding, mlir::Operation *op);
  /// The only one of several ops, or the one that has most operands in common
  /// with another op; null if none has.
  mlir::Operation *chooseByOperands(llvm::ArrayRef<mlir::Operation *> ops,
                                    mlir::Operation *like);
  /// The op of the reference that corresponds to one of the plan, before what
  /// is expected; null if that is not known.
  mlir::Operation *findCounterpart(const Finding &finding, mlir::Operation *op);
  /// The value of the reference that one of the plan is, all or a part of it;
  /// null if that is not known.
  mlir::Value getReferenceOf(mlir::Value value) const;
  std::optional<Match> matchAny(mlir::Value value);
  /// The op of the reference that corresponds to one of the plan, if it is in
  /// the region.
  mlir::Operation *findSimilar(mlir::Operation *op);
  void noteHolders(Finding &finding);
  void noteParameters(Finding &finding, mlir::Operation *op);
  void noteOrigin(Finding &finding, mlir::Value term);

  tv::GraphOp graph;
  const FactorAnalysis &factors;
  WitnessSeed seed;
  ValueMatcher matcher;
  std::string failureReason;
  bool isTooCostly = false, setsAside = false;
  int64_t mostSteps = std::numeric_limits<int64_t>::max();
  llvm::DenseMap<mlir::Operation *, Difference> differences; ///< by expect
  llvm::DenseSet<mlir::Operation *> agreeing;                ///< expects
  /// Those of which nothing is said.
  std::vector<std::pair<tv::ExpectOp, Difference>> unordered;
  std::shared_ptr<const ValueNumbering> equalValues;
  /// Values with an expect that holds and none that differs.
  DenseValueMap<tv::ExpectOp> holding;
  DenseValueSet differing;
  llvm::SetVector<mlir::Operation *> region, referenceRegion;
  DenseValueMap<Match> matches;
};

/// Whether an op computes something that the op of the model which it belongs
/// to goes on with.
bool isInner(mlir::Operation *op);
/// The values that an addition has in it: its operands, and what these are sums
/// of.
llvm::SmallVector<mlir::Value> listTerms(tv::AddOp add);
/// Names of parameters of which the plan reads one, and the reference another.
struct OtherParameter {
  llvm::StringRef read, expected;
};
/// Those that the ops read which give both sides of an expect, if these are
/// alike but for that.
std::optional<OtherParameter> findOtherParameter(tv::ExpectOp expect);
/// Whether two expects speak of the same result, or of values that the same op
/// of the model gives.
bool areAlike(tv::ExpectOp left, tv::ExpectOp right);
/// Results, and all that is stated about what their plan values depend on.
llvm::SmallVector<tv::ExpectOp>
listCompared(tv::GraphOp graph, llvm::ArrayRef<tv::ExpectOp> results);
/// The ops that values depend on.
llvm::SetVector<mlir::Operation *>
collectCone(llvm::SmallVector<mlir::Value> values);
/// The ops that both sides of some expects depend on.
llvm::SetVector<mlir::Operation *>
getCone(llvm::ArrayRef<tv::ExpectOp> expects);
/// `gradient of 'w'`, or what op a lemma speaks of.
std::string describe(tv::ExpectOp expect);
/// `'linear (cell 412)'`, or the op's own name.
std::string describe(mlir::Operation *op);
/// `devices 0-3, 5`.
std::string describeDevices(llvm::ArrayRef<int64_t> devices);
/// `devices 0-1 of each of 2 replicas, all micro-batches`: where the values of
/// some expects are, on `devices`, or on all if there are none.
std::string describePlace(llvm::SmallVector<int64_t> devices,
                          llvm::ArrayRef<tv::ExpectOp> expects,
                          llvm::ArrayRef<int64_t> microBatches,
                          tv::MeshAttr mesh);
/// The devices of an expect, of folded ones those of some ranks, or of all if
/// there are none; none if it speaks of all devices.
llvm::SmallVector<int64_t> listDevices(tv::ExpectOp expect,
                                       llvm::ArrayRef<int64_t> ranks);
/// `0-3, 5`.
std::string describeRanges(llvm::ArrayRef<int64_t> numbers);
/// The axes with several coordinates, each with the one of these, unless that
/// is any.
llvm::SmallVector<std::pair<std::string, int64_t>>
nameCoordinates(const FactorAnalysis &factors, const Coordinates &coordinates);
/// The first digits of a number, or that doubles have none for it.
std::string printNumber(double value, int digits = 6);
/// The same of two numbers that differ, with so many digits that they do.
std::pair<std::string, std::string> printDifferent(double left, double right);
/// `[:, 32:64]`, the part of the reference tensor.
std::string describePart(tv::LineageAttr lineage);
/// `devices 0-1 and the 2 replicas`, what a sum goes over.
/// The contract itself sums over the axes of `implied`.
std::string describeSum(const Match &match, tv::LineageAttr implied,
                        tv::MeshAttr mesh);
/// `missing sum`.
llvm::StringRef getName(DifferenceKind kind);

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_DIAGNOSIS_H
