//===- Run.h - runs programs and compares their results ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs the reference and the plan of a module, or a graph or stage, on the same
// inputs, and compares every result of the contract on every device that holds
// it.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_INTERPRETER_RUN_H
#define VERIFY_INTERPRETER_RUN_H

#include "Verify/Interpreter/InputValues.h"
#include "mlir/IR/BuiltinOps.h"

namespace verify {

/// What numbers a run computes with.
enum class Arithmetic {
  Automatic, ///< exact rationals where that is possible, else doubles, and
             ///< intervals where numbers are too large or too small for these
  Exact,     ///< rationals; a value that is not rational is an error
  Double,
  Interval ///< of 128 bits; what they do not decide is an error
};

struct RunOptions {
  unsigned seed = 0;
  Arithmetic arithmetic = Arithmetic::Automatic;
  RunLimits limits;
  /// Draws of random ops depend on device, replica and micro-batch as well.
  bool drawsPerDevice = false;
  /// Whether real numbers that are not given are drawn positive.
  bool drawsPositive = false;
};

/// A result at one place, beside the part of the reference it should be.
struct ResultPlace {
  std::string place; ///< `device 1 of replica 0`
  TensorRef plan;    ///< null for what only the reference has
  TensorRef reference;
  double largestDifference = 0;
  /// Relative to the largest element of the reference.
  double relativeDifference = 0;
  bool isEqual = true;
  llvm::SmallVector<int64_t> index; ///< of the largest difference
  std::string problem;              ///< where it cannot be compared
};

struct ResultRow {
  std::string role; ///< `output`, `gradient`, `lemma`, `value`
  std::string name;
  TensorRef reference; ///< whole
  std::vector<ResultPlace> places;
  bool isEqual() const;
};

/// One run and what it gave. Owns the numbers.
class Run {
public:
  /// `arithmetic` is not automatic, whatever the options say.
  Run(const RunOptions &options, GivenTensors &given, Arithmetic arithmetic);
  ~Run();

  bool isExact() const { return exact != nullptr; }
  /// `exact`, `double` or `interval`, and the same in words.
  llvm::StringRef getArithmetic() const;
  llvm::StringRef describeArithmetic() const;
  /// Whether any tensor was drawn, and not given.
  bool hasDrawn() const { return inputs.hasDrawn(); }
  llvm::ArrayRef<ResultRow> getRows() const { return rows; }
  bool areEqual() const;
  /// Whether all are equal, some of them within rounding alone.
  bool mayDiffer() const;
  /// Ops of the plan outside of their domain, and the like.
  llvm::ArrayRef<std::string> getRemarks() const { return remarks; }
  void addRemark(std::string remark) { remarks.push_back(std::move(remark)); }

  // Both fail after an error at the op that cannot be executed.

  /// `plan` may be null; then the results are those of `reference`. Neither
  /// holds compositions.
  llvm::LogicalResult runPlans(tv::PlanOp reference, tv::PlanOp plan);
  /// The block of a graph or stage without compositions.
  llvm::LogicalResult runGraph(mlir::Block &body, tv::MeshAttr mesh);

  /// An element, `1/3` or the shortest decimal that rounds to it.
  std::string print(Scalar element) const;

  /// Whether the run failed because the reference is undefined on what was
  /// drawn, and nothing was said about it, since positive numbers may do.
  bool needsPositive() const { return isPositiveNeeded; }
  /// From now on nothing is said where doubles are too small for a number.
  void deferRange() { defersRange = true; }
  /// Whether the run failed because of that, or may have.
  bool isOutOfRange() const { return wasOutOfRange; }

private:
  friend class PlanComparison;
  friend class GraphInterpreter;
  /// Compares all rows; what is equal in doubles depends on all results. Fails
  /// after an error at `program`, whose results are not what doubles can hold.
  llvm::LogicalResult compare(mlir::Operation *program);
  /// Whether the reference's element is none of the doubles, which says nothing
  /// about the plan's.
  bool isTooLarge(const ResultPlace &place) const;
  /// Whether an element is in an interval that is too wide for the size of the
  /// others, or of all results.
  bool isTooWide(const ResultPlace &place, double leastScale) const;
  void compare(ResultPlace &place, double wholeScale);
  double findLargest(const Tensor &tensor) const;
  /// The reference is undefined at `op`.
  llvm::LogicalResult failOutsideDomain(mlir::Operation *op);

  RunOptions options;
  std::unique_ptr<NumericAlgebra> algebra;
  RationalAlgebra *exact = nullptr;     ///< `algebra`, if it is exact
  IntervalAlgebra *intervals = nullptr; ///< the same
  Workspace workspace;
  InputValues inputs;
  std::vector<ResultRow> rows;
  std::vector<std::string> remarks;
  bool isPositiveNeeded = false, defersRange = false, wasOutOfRange = false;
};

/// Runs `@reference` and `@plan` of a module, or the only plan if it is one for
/// one device, or each graph and stage; `symbol`, if not empty, names the only
/// graph or stage to run. `visit` is called for each program after its run. The
/// module is changed: compositions are replaced by their parts.
llvm::LogicalResult runModule(
    mlir::ModuleOp module, const RunOptions &options, GivenTensors &given,
    llvm::StringRef symbol,
    llvm::function_ref<void(llvm::StringRef symbol, const Run &run)> visit);

/// The results as a table of places and differences.
void printTable(const Run &run, llvm::raw_ostream &stream);
/// All elements of all results.
void printElements(const Run &run, llvm::raw_ostream &stream);

/// Writes runs as one JSON object.
class RunWriter {
public:
  RunWriter(llvm::raw_ostream &stream, unsigned seed);
  ~RunWriter();
  void write(llvm::StringRef symbol, const Run &run);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace verify

#endif // VERIFY_INTERPRETER_RUN_H
