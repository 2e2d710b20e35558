//===- ValueNumbering.h - values that are the same one ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which values of a graph are equal, element by element, because the same op is
// applied to equal operands: layers of a model whose inputs are equal, replicas
// of a computation, what is only copied, and sums with a value that is 0. Such
// values are executed once.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_ANALYSIS_VALUENUMBERING_H
#define VERIFY_LIB_ANALYSIS_VALUENUMBERING_H

#include "Verify/Analysis/ElementEvaluator.h"
#include "Verify/Analysis/Identities.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/Allocator.h"

#include <unordered_map>

namespace verify {

class ValueNumbering {
public:
  /// Numbers the values in `wanted`, which has a bit for each number of the
  /// analysis and with a value its operands, and asks `source` which inputs are
  /// equal and which are 0. The analysis has to outlive it.
  ValueNumbering(const llvm::BitVector &wanted, const FactorAnalysis &factors,
                 const ElementSource &source);

  /// The first value that is equal to this one wherever both are defined, with
  /// elements at the same positions and coordinates.
  mlir::Value getLeader(mlir::Value value) const {
    return leaders.empty()
               ? value
               : factors.getValue(getLeader(factors.getNumber(value)));
  }
  /// The same of numbers of the analysis.
  unsigned getLeader(unsigned value) const {
    return leaders.empty() ? value : leaders[value];
  }
  /// Whether a value is one of those that were wanted: others are equal to
  /// none.
  bool covers(unsigned value) const {
    return !covered.empty() && covered.test(value);
  }

  using Key = std::vector<uint64_t>;
  /// What decides whether both sides of an expect are equal, and nothing else.
  Key getKey(tv::ExpectOp expect) const;

private:
  /// Values are their numbers from here on.
  void add(unsigned value, const ElementSource &source);
  /// What holds of all computed ops of one name, with the same types and
  /// attributes.
  struct OpClass {
    /// Of all that, but for the domain.
    uint64_t number = 0;
    std::optional<TensorPart> part;
    std::optional<Concatenation> concatenation;
    /// What else holds where some operands are known to be 0.
    struct ZeroCase {
      llvm::SmallBitVector zeros;
      std::optional<unsigned> forwarded;
      bool isZero = false, isTotalZero = false;
    };
    llvm::SmallVector<ZeroCase, 1> cases;
  };
  OpClass &getClass(unsigned value, tv::SemanticsOpInterface op);
  const OpClass::ZeroCase &
  getZeroCase(unsigned value, tv::SemanticsOpInterface op, OpClass &opClass);
  /// The earlier value that an op only passes on, if it does.
  std::optional<unsigned> findSame(unsigned value, tv::SemanticsOpInterface op,
                                   const OpClass &opClass,
                                   std::optional<unsigned> forwarded);
  /// What is moved, if that is the same at all coordinates it may be read at;
  /// notes of what it is a part otherwise.
  std::optional<unsigned> findMoved(unsigned value, tv::MoveOp op);
  /// What parts were taken of, where an op puts them together again.
  std::optional<unsigned> findWhole(unsigned value,
                                    const Concatenation &concatenation);
  /// The same of the parts that each coordinate of an axis has.
  std::optional<unsigned> findWholeAlongAxis(unsigned value,
                                             tv::SemanticsOpInterface op);
  /// Notes that an op puts all parts of a value along another dimension, if it
  /// does.
  void noteStack(unsigned value, tv::SemanticsOpInterface op,
                 const Concatenation &concatenation);
  /// Sets `key` to what decides about the elements of an op's result, and
  /// nothing else.
  void makeKey(unsigned value, const OpClass &opClass);
  /// The same of an op that computes nothing; false if nothing does.
  bool makeKey(unsigned value, mlir::Operation *op,
               const ElementSource &source);
  void addToKey(unsigned value, tv::DistributeOp op,
                const ElementSource &source);
  void addToKey(const void *pointer) {
    key.push_back(reinterpret_cast<uintptr_t>(pointer));
  }
  /// A number for the positions and coordinates at which a value has elements,
  /// and the axes that it varies with.
  uint64_t getLayout(unsigned value);
  mlir::Type getType(unsigned value) const {
    return factors.getValue(value).getType();
  }
  /// The leader of an operand of the op that gives a value.
  unsigned getLeaderOfOperand(unsigned value, unsigned operand) const {
    return leaders[factors.getOperands(value)[operand]];
  }
  /// A number for a domain along some axes. The device is none: those are
  /// spelled out.
  uint64_t getNumber(tv::DomainAttr domain, uint64_t axes);
  void addDomain(tv::DomainAttr domain, uint64_t axes, Key &key) const;
  /// A number for what is looked at of a dimension.
  uint64_t getPositions(FactorAnalysis::Node node);

  /// Gives lists of numbers a number each, from 0 on.
  class Numbers {
  public:
    uint64_t get(llvm::ArrayRef<uint64_t> list);

  private:
    llvm::BumpPtrAllocator storage;
    llvm::DenseMap<llvm::ArrayRef<uint64_t>, uint64_t> known;
  };
  /// What is known while values are added.
  struct Progress {
    /// By the number of their key.
    std::vector<unsigned> leaderOfKey;
    Numbers keys, positions, layouts, domains, classes;
    /// By the relation, which ops of a class share.
    std::unordered_map<const IndexRelation *, OpClass> classOf;
    llvm::DenseMap<std::pair<mlir::Attribute, uint64_t>, uint64_t> domainOf;
    /// By the node, or `unknown`.
    std::vector<uint64_t> positionsOf;
    /// What is only a part of another value.
    struct Part {
      unsigned whole = 0;
      unsigned dimension = 0;
      int64_t start = 0;
    };
    llvm::DenseMap<unsigned, Part> parts;
    /// What coordinates of an axis have, each its own part.
    struct AxisPart {
      unsigned whole = 0;
      mlir::StringAttr axis;
      unsigned dimension = 0;
    };
    llvm::DenseMap<unsigned, AxisPart> axisParts;
    /// All parts of a value along one dimension, in order, each `size`
    /// positions of another one.
    struct Stack {
      unsigned whole = 0;
      unsigned dimension = 0, along = 0;
      int64_t size = 0;
    };
    llvm::DenseMap<unsigned, Stack> stacks;
  };
  Progress::AxisPart getAxisPart(unsigned value, tv::AllSliceOp slice);

  const FactorAnalysis &factors;
  /// By number; empty if nothing is known.
  std::vector<unsigned> leaders;
  llvm::BitVector covered, zeros;
  std::vector<uint64_t> layouts; ///< or `unknown`
  static constexpr uint64_t unknown = ~uint64_t(0);
  /// Null when all values were added.
  std::unique_ptr<Progress> progress;
  llvm::SmallVector<uint64_t, 32> key;
};

} // namespace verify

#endif // VERIFY_LIB_ANALYSIS_VALUENUMBERING_H
