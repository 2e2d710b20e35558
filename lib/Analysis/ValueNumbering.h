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
#include "Verify/IR/DenseValues.h"

#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/Allocator.h"

#include <unordered_map>

namespace verify {

class ValueNumbering {
public:
  /// Numbers the values in `wanted`, which has the operands of each, and asks
  /// `source` which inputs are equal and which are 0.
  ValueNumbering(mlir::Block &body, const DenseValueSet &wanted,
                 const FactorAnalysis &factors, const ElementSource &source);

  /// The first value that is equal to this one wherever both are defined, with
  /// elements at the same positions and coordinates.
  mlir::Value getLeader(mlir::Value value) const {
    auto found = leaders.find(value);
    return found == leaders.end() ? value : found->second;
  }

  using Key = std::vector<uint64_t>;
  /// What decides whether both sides of an expect are equal, and nothing else.
  Key getKey(tv::ExpectOp expect) const;

private:
  void add(mlir::Value value, const ElementSource &source);
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
  OpClass &getClass(tv::SemanticsOpInterface op);
  const OpClass::ZeroCase &getZeroCase(tv::SemanticsOpInterface op,
                                       OpClass &opClass);
  /// The earlier value that an op only passes on, if it does.
  mlir::Value findSame(tv::SemanticsOpInterface op, const OpClass &opClass,
                       std::optional<unsigned> forwarded);
  /// What is moved, if that is the same at all coordinates it may be read at;
  /// notes of what it is a part otherwise.
  mlir::Value findMoved(tv::MoveOp op);
  /// What parts were taken of, where an op puts them together again.
  mlir::Value findWhole(tv::SemanticsOpInterface op,
                        const Concatenation &concatenation);
  /// The same of the parts that each coordinate of an axis has.
  mlir::Value findWholeAlongAxis(tv::SemanticsOpInterface op);
  /// Notes that an op puts all parts of a value along another dimension, if it
  /// does.
  void noteStack(tv::SemanticsOpInterface op,
                 const Concatenation &concatenation);
  /// Sets `key` to what decides about the elements of an op's result, and
  /// nothing else.
  void makeKey(tv::SemanticsOpInterface op, const OpClass &opClass);
  /// The same of an op that computes nothing; false if nothing does.
  bool makeKey(mlir::Operation *op, const ElementSource &source);
  void addToKey(tv::DistributeOp op, const ElementSource &source);
  void addToKey(const void *pointer) {
    key.push_back(reinterpret_cast<uintptr_t>(pointer));
  }
  /// A number for the positions and coordinates at which a value has elements,
  /// and the axes that it varies with.
  uint64_t getLayout(mlir::Value value);
  /// A number for a domain along some axes. The device is none: those are
  /// spelled out.
  uint64_t getNumber(tv::DomainAttr domain, uint64_t axes);
  void addDomain(tv::DomainAttr domain, uint64_t axes, Key &key) const;
  /// A number for what is looked at of a dimension.
  uint64_t getPositions(FactorAnalysis::Node node);
  bool isZero(mlir::Value value) const { return zeros.contains(value); }

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
    /// The leaders, by their number.
    std::vector<mlir::Value> leaders;
    Numbers keys, positions, layouts, domains, classes;
    /// By the relation, which ops of a class share.
    std::unordered_map<const IndexRelation *, OpClass> classOf;
    llvm::DenseMap<std::pair<mlir::Attribute, uint64_t>, uint64_t> domainOf;
    /// By the node, or `unknown`.
    std::vector<uint64_t> positionsOf;
    static constexpr uint64_t unknown = ~uint64_t(0);
    /// What is only a part of another value.
    struct Part {
      mlir::Value whole;
      unsigned dimension = 0;
      int64_t start = 0;
    };
    DenseValueMap<Part> parts;
    /// What coordinates of an axis have, each its own part.
    struct AxisPart {
      mlir::Value whole;
      mlir::StringAttr axis;
      unsigned dimension = 0;
    };
    DenseValueMap<AxisPart> axisParts;
    /// All parts of a value along one dimension, in order, each `size`
    /// positions of another one.
    struct Stack {
      mlir::Value whole;
      unsigned dimension = 0, along = 0;
      int64_t size = 0;
    };
    DenseValueMap<Stack> stacks;
  };
  Progress::AxisPart getAxisPart(tv::AllSliceOp slice);

  const FactorAnalysis &factors;
  DenseValueMap<mlir::Value> leaders;
  DenseValueSet zeros;
  DenseValueMap<uint64_t> layouts;
  /// Null when all values were added.
  std::unique_ptr<Progress> progress;
  llvm::SmallVector<uint64_t, 32> key;
};

} // namespace verify

#endif // VERIFY_LIB_ANALYSIS_VALUENUMBERING_H
