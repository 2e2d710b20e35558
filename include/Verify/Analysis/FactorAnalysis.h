//===- FactorAnalysis.h - sorts of dimensions and their small case --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides which positions of each dimension have to be looked at. Dimensions
// and mesh axes are cut into blocks and factors until everything that an op or
// a lineage relates is made of the same atoms (a *sort*). An atom that nothing
// tells its values apart in keeps `width` of them and one that stands for the
// rest; docs/Soundness.md has the argument. Positions are always those of the
// full-size program, so the small case is the full-size program evaluated at
// inputs that are equal across the rest.
//
// Several threads may ask one analysis at the same time; none may while
// `setFixedWidth` or `group` changes it.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_ANALYSIS_FACTORANALYSIS_H
#define VERIFY_ANALYSIS_FACTORANALYSIS_H

#include "Verify/IR/DenseValues.h"
#include "Verify/IR/EqualOps.h"
#include "Verify/IR/TVOps.h"
#include "Verify/Solver/Solver.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace verify {

/// The number of all elements of a tensor of integers that is made of one
/// literal.
std::optional<int64_t> getIntegerLiteral(mlir::Value value);

/// A position that is looked at, and how many positions it stands for.
struct Representative {
  int64_t position = 0;
  int64_t weight = 1;
};

/// A sort of which the analysis decided something, for reports.
struct SortInfo {
  int64_t size = 0;
  int64_t width = 0;
  int64_t kept = 0; ///< positions that stand for themselves
  int64_t bulk = 0; ///< positions that one more stands for; 0 without one
  bool isRigid = false;
  /// Whether a function is applied to a sum of steps over the sort.
  bool countsSteps = false;
};

class FactorAnalysis {
public:
  /// How ops on positions are treated: as unknown tensors, the same on both
  /// sides, or exactly, with all positions kept.
  enum class Positions { Opaque, Exact };
  /// A dimension, or a mesh axis.
  using Node = unsigned;
  /// In proofs positions that stand for others have numbers from here down,
  /// which no literal has that data are compared with.
  static constexpr int64_t greatestBulkNumber =
      std::numeric_limits<int64_t>::min() / 2;

  struct Options {
    Positions positions = Positions::Opaque;
    /// Keeps this many values of each sort instead of its width: enough to
    /// execute, not to prove.
    std::optional<int64_t> fixedWidth;
    /// Most positions a rigid sort may have.
    int64_t rigidLimit = 8192;
    /// Keeps all positions and every pattern of them: the program itself, to
    /// compare the small case with.
    bool isFullSize = false;
  };

  /// Analyzes the ops of `body`, which is that of a stage or a graph.
  FactorAnalysis(mlir::Block &body, tv::MeshAttr mesh, Options options);

  const Options &getOptions() const { return options; }
  /// Keeps another number of values of each sort, as `Options::fixedWidth`
  /// does. The ops have to be there still.
  void setFixedWidth(int64_t width);

  /// Whether long dimensions are there of which positions are only compared
  /// with each other, so that neighbours may be looked at together.
  bool canGroup() const { return grouped.any(); }
  /// Looks at neighbours of such dimensions together from now on, as if they
  /// were one that comes as often: what is computed is near to the numbers and
  /// no more. The last position of each such sort stays alone; a group has at
  /// most a fraction of the positions before it.
  void group();
  bool isGrouped() const { return isGrouping; }

  /// Why no small case was found, if none was.
  const std::optional<std::string> &getFailure() const { return failure; }

  llvm::ArrayRef<Node> getDimensions(mlir::Value value) const {
    return getDimensions(getNumber(value));
  }
  /// The number of a value in the order of the body. What is asked by number is
  /// found without a search.
  unsigned getNumber(mlir::Value value) const {
    return values->numbers.find(value)->second;
  }
  size_t getValueCount() const { return values->data.size(); }
  mlir::Value getValue(unsigned number) const {
    return values->data[number].value;
  }
  /// The numbers of the operands of the op that gives a value.
  llvm::ArrayRef<unsigned> getOperands(unsigned number) const {
    return values->data[number].operands.of(values->operands);
  }
  /// These values and all that lead to them, a bit for each number. Where an
  /// operand is met, what `follow` gives for it is gone on with, if anything.
  llvm::BitVector
  findCone(std::vector<unsigned> worklist,
           llvm::function_ref<std::optional<unsigned>(unsigned operand)> follow)
      const;
  llvm::ArrayRef<Node> getDimensions(unsigned number) const {
    return values->data[number].dimensions.of(values->nodes);
  }
  /// The ops that have data, integers, as operands or results.
  llvm::ArrayRef<mlir::Operation *> getDataOps() const { return onData; }
  /// Whether an op assumes that no elements of its operand are equal.
  bool hasSelections() const { return !selecting.empty(); }
  /// The node of mesh axis number `axis`; axes are those of the mesh but for
  /// `device`, whose coordinates are spelled out.
  Node getAxis(unsigned axis) const { return axes[axis]; }
  unsigned getAxisCount() const { return axes.size(); }
  llvm::StringRef getAxisName(unsigned axis) const { return axisNames[axis]; }
  int64_t getAxisSize(unsigned axis) const {
    return nodes[find(axes[axis])].size;
  }
  std::optional<unsigned> findAxis(llvm::StringRef name) const;
  /// The mesh axes that a value's elements depend on, as a bit for each.
  uint64_t getVaryingAxes(mlir::Value value) const {
    const ValueData *data = values->find(value);
    return data ? data->varyingAxes : 0;
  }
  uint64_t getVaryingAxes(unsigned number) const {
    return values->data[number].varyingAxes;
  }
  /// The nodes of the factors of an op's index relation.
  llvm::ArrayRef<Node> getFactors(mlir::Operation *op) const {
    return getFactors(getNumber(op->getResult(0)));
  }
  llvm::ArrayRef<Node> getFactors(unsigned number) const {
    return values->data[number].factors.of(values->nodes);
  }
  const IndexRelation &getRelation(mlir::Operation *op) const {
    return getRelation(getNumber(op->getResult(0)));
  }
  const IndexRelation &getRelation(unsigned number) const {
    return *values->data[number].relation;
  }
  /// Whether the op is one unknown tensor for both sides.
  bool isOpaque(mlir::Operation *op) const { return opaque.contains(op); }
  /// The number of that unknown tensor.
  std::optional<unsigned> getOpaque(mlir::Operation *op) const {
    auto found = opaque.find(op);
    return found == opaque.end() ? std::nullopt
                                 : std::optional<unsigned>(found->second);
  }

  /// The same for nodes that are known to be one.
  Node getRoot(Node node) const { return find(node); }
  /// The positions of a node that are looked at, in order.
  llvm::ArrayRef<Representative> getRepresentatives(Node node) const;
  /// The first of the positions that are in one block with `position`, among
  /// those that are looked at in full, and the end of the block: slices cut a
  /// dimension into blocks. With `mergesBlocks` these are one block where
  /// nothing else is between them.
  std::pair<int64_t, int64_t> getBlock(Node node, int64_t position,
                                       bool mergesBlocks) const;
  /// Whether an op selects among these positions, or some of them, and assumes
  /// that no two of them are equal.
  bool isSelected(Node node) const { return selected.contains(find(node)); }
  /// The position that is looked at for `position`, one of the dimension.
  int64_t getRepresentative(Node node, int64_t position) const;
  /// How many positions `position` stands for; 0 if it is not looked at.
  int64_t getWeight(Node node, int64_t position) const;

  /// Indices, one position for each node, such that equality there is equality
  /// everywhere: one for each pattern of equal and different values. None if
  /// there are more than `limit`.
  std::optional<std::vector<llvm::SmallVector<int64_t>>>
  getPatterns(llvm::ArrayRef<Node> list, size_t limit) const;

  llvm::SmallVector<SortInfo> getSorts() const;

  /// What may be said of terms at the positions that are looked at.
  SmallCase getSmallCase() const;

private:
  enum class Kind : uint8_t { Atom, Concat, Product, Forward };
  /// Whether all positions have to be looked at: no, because they are compared
  /// with each other and nothing else, or for another reason.
  enum class Rigidity : uint8_t { None, Ordered, Full };
  struct NodeData {
    Kind kind = Kind::Atom;
    Rigidity rigidity = Rigidity::None;
    bool isRigid() const { return rigidity != Rigidity::None; }
    int64_t size = 1;
    llvm::SmallVector<Node, 2> children;
    int64_t width = 0;
    /// Whether a function is applied to a sum of steps over the sort.
    bool countsSteps = false;
  };
  /// A part of a list.
  struct Range {
    unsigned first = 0, count = 0;
    /// That of what is appended to a list.
    template <typename T>
    static Range append(std::vector<T> &list, llvm::ArrayRef<T> more) {
      Range range = {static_cast<unsigned>(list.size()),
                     static_cast<unsigned>(more.size())};
      list.insert(list.end(), more.begin(), more.end());
      return range;
    }
    /// Only until something is added.
    template <typename T>
    llvm::ArrayRef<T> of(const std::vector<T> &list) const {
      return llvm::ArrayRef(list).slice(first, count);
    }
  };
  /// What is known of a value and the op that gives it.
  struct ValueData {
    mlir::Value value;
    Range operands, dimensions, factors;
    const IndexRelation *relation = nullptr; ///< null if it has none
    uint64_t varyingAxes = 0;
    bool isData = false; ///< of integers
  };
  /// The same of all values, next to each other in the order of the body, as
  /// graphs have tens of thousands.
  struct Values {
    const ValueData *find(mlir::Value value) const {
      auto found = numbers.find(value);
      return found == numbers.end() ? nullptr : &data[found->second];
    }

    DenseValueMap<unsigned> numbers;
    std::vector<ValueData> data;
    std::vector<Node> nodes;
    std::vector<unsigned> operands; ///< their numbers
    /// Equal ops share them.
    std::vector<std::unique_ptr<const IndexRelation>> relations;
  };
  using Counts = llvm::SmallDenseMap<Node, int64_t, 8>;
  /// Of a factor that is not known yet.
  static constexpr Node noNode = ~0u;

  // FactorUnification.cpp
  Node newAtom(int64_t size);
  Node newNode(Kind kind, llvm::ArrayRef<Node> children);
  Node find(Node node) const;
  void forward(Node from, Node to);
  void makeRigid(Node node, Rigidity rigidity = Rigidity::Full);
  void unify(Node left, Node right);
  bool tryUnify(Node left, Node right);
  bool unifyBlocks(Node left, Node right);
  bool unifyFactors(Node left, Node right);
  llvm::SmallVector<Node> getBlocks(Node node);
  llvm::SmallVector<Node> getFactorList(Node node);
  std::optional<std::pair<Node, Node>> split(Node node, int64_t offset);
  std::optional<std::pair<Node, Node>> divide(Node node, int64_t minor);
  void cut(Node node, int64_t offset);

  // FactorAnalysis.cpp
  void relate(mlir::Operation &op);
  /// Sets `operands`; fails if one is not of this body.
  void numberOperands(mlir::Operation &op);
  /// The dimensions of an operand of the op that is being related.
  llvm::ArrayRef<Node> getOperandDimensions(unsigned operand) const {
    return getDimensions(operands[operand]);
  }
  /// Its dimensions are those of its relation's factors.
  void relateFactors(mlir::Operation &op, const IndexRelation &relation);
  /// Notes the dimensions of a value, and what else is known of it.
  void add(mlir::Value value, llvm::ArrayRef<Node> dimensions,
           llvm::ArrayRef<Node> factors = {},
           const IndexRelation *relation = nullptr);
  /// Null, after a failure, if it has none.
  const IndexRelation *findRelation(tv::SemanticsOpInterface op);
  /// Tells the coordinates apart that are inside from those outside.
  void cutAxis(tv::AxisSetAttr set);
  void cutAxes(tv::DomainAttr domain);
  void cutAxes(mlir::Operation &op);
  /// The part of a reference's dimension that a lineage, of which `factors` is
  /// that dimension, keeps.
  Node relateLineage(mlir::ArrayAttr factors, Node reference);
  void relateDistribute(tv::DistributeOp op);
  void relateExpect(tv::ExpectOp op);
  /// What the body of an op does with positions.
  void relatePositions(mlir::Operation &op, const IndexRelation &relation);
  /// The node of an expression of an index relation; factors without one yet
  /// get one.
  Node build(const DimensionExpr &expr, llvm::ArrayRef<int64_t> extents,
             llvm::MutableArrayRef<Node> factorNodes);
  /// Fails if it is of another size.
  void checkSize(Node node, int64_t size);
  void addValue(mlir::Value value);
  void findSelected();
  /// The nodes below these, and themselves.
  llvm::DenseSet<Node> findBelow(llvm::SmallVector<Node> worklist) const;
  /// Finds the sorts of which neighbours may be looked at together.
  void findGrouped();
  /// The mesh axes that the result of an op varies with, `relation` being its
  /// relation or null.
  uint64_t findVaryingAxes(mlir::Operation &op,
                           const IndexRelation *relation) const;
  /// Has each forward end in one step: `find` changes nothing from then on.
  void settle();
  void fail(const llvm::Twine &reason);

  // FactorPositions.cpp
  /// Choices are made leaf by leaf. `used` says how many values of each sort
  /// occur so far: the next leaf takes one of them or one more.
  struct PatternState {
    llvm::SmallVector<int64_t> index;
    llvm::SmallDenseMap<Node, int64_t, 8> used;
  };
  /// Goes on with a position that was chosen; false to stop.
  using GoOn = llvm::function_ref<bool(PatternState &, int64_t position)>;
  bool chooseOfAtom(Node node, PatternState &state, GoOn next) const;
  bool choose(Node node, PatternState &state, GoOn next) const;

  std::vector<Representative> represent(Node node) const;
  /// What was asked for before, by the root. It is found without a lock.
  class KnownRepresentatives {
  public:
    KnownRepresentatives() = default;
    /// Copies of an analysis ask again.
    KnownRepresentatives(const KnownRepresentatives &other) : size(other.size) {
      clear(size);
    }
    /// Forgets all; nodes are less than `count` from now on.
    void clear(size_t count);
    /// What `represent` gives for a node, the first time.
    llvm::ArrayRef<Representative>
    get(Node root,
        llvm::function_ref<std::vector<Representative>(Node)> represent);

  private:
    using List = std::vector<Representative>;

    std::mutex lock;
    std::deque<List> lists;
    std::unique_ptr<std::atomic<const List *>[]> ofRoot;
    size_t size = 0;
  };

  // DataPositions.cpp
  /// Adds it to those on data if it is.
  void noteData(mlir::Operation &op);
  void relateData();

  // FactorWidths.cpp
  class WidthComputation;
  void computeWidths(mlir::Block &body);
  void count(Node node, Counts &counts) const;
  void raise(const Counts &width);

  tv::MeshAttr mesh;
  Options options;
  std::optional<std::string> failure;
  mutable std::vector<NodeData> nodes;
  Node unit;
  llvm::SmallVector<Node> axes;
  llvm::SmallVector<std::string> axisNames;
  /// The numbers of the operands of the op that is being related.
  llvm::SmallVector<unsigned, 8> operands;
  /// Copies of an analysis share them: they stay as they are.
  std::shared_ptr<Values> values = std::make_shared<Values>();
  EqualOps equalOps; ///< those with a relation
  /// Ops that compare positions with data, have data as operands or results,
  /// and assume that no elements of their operand are equal.
  llvm::SmallVector<mlir::Operation *> comparing, onData, selecting;
  /// What lineages keep, by the root of what they keep it of.
  llvm::DenseMap<std::pair<Node, mlir::Attribute>, Node> keptParts;
  llvm::DenseMap<mlir::Operation *, unsigned> opaque;
  llvm::DenseMap<mlir::Attribute, mlir::Value> opaqueTensors;
  llvm::DenseSet<Node> selected;
  llvm::BitVector grouped; ///< atoms of which neighbours may be
  bool isGrouping = false;
  mutable KnownRepresentatives representatives;
  unsigned opaqueCount = 0;
  /// How many unifications led to the one that is under way.
  unsigned unificationDepth = 0;
};

} // namespace verify

#endif // VERIFY_ANALYSIS_FACTORANALYSIS_H
