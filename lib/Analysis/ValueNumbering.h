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

#include <unordered_map>

namespace verify {

class ValueNumbering {
public:
  /// Numbers the values in `wanted`, which has the operands of each, and asks
  /// `source` which inputs are equal and which are 0.
  ValueNumbering(mlir::Block &body, const llvm::DenseSet<mlir::Value> &wanted,
                 const FactorAnalysis &factors, const ElementSource &source);

  /// The first value that is equal to this one wherever both are defined, with
  /// elements at the same positions and coordinates.
  mlir::Value getLeader(mlir::Value value) const {
    auto found = leaders.find(value);
    return found == leaders.end() ? value : found->second;
  }

  using Key = std::vector<uint64_t>;
  struct KeyHash {
    size_t operator()(const Key &key) const {
      return llvm::hash_combine_range(key);
    }
  };
  /// What decides whether both sides of an expect are equal, and nothing else.
  Key getKey(tv::ExpectOp expect) const;

private:
  void add(mlir::Value value, const ElementSource &source);
  /// The earlier value that an op only passes on, if it does.
  mlir::Value findSame(tv::SemanticsOpInterface op);
  /// What the parts that each coordinate of an axis has were taken of, where an
  /// op puts them together again.
  mlir::Value findWholeAlongAxis(tv::SemanticsOpInterface op);
  /// What decides about the elements of an op's result, and nothing else.
  Key getKey(mlir::Operation *op, const ElementSource &source);
  /// A number for the positions and coordinates at which a value has elements,
  /// and the axes that it varies with.
  uint64_t getLayout(mlir::Value value);
  /// Appends a domain, but for the device: those are spelled out.
  void addDomain(tv::DomainAttr domain, Key &key) const;
  /// A number for what is looked at of a dimension.
  uint64_t getPositions(FactorAnalysis::Node node);
  bool isZero(mlir::Value value) const { return zeros.contains(value); }

  const FactorAnalysis &factors;
  llvm::DenseMap<mlir::Value, mlir::Value> leaders;
  llvm::DenseSet<mlir::Value> zeros;
  llvm::DenseMap<mlir::Value, TensorPart> parts;
  /// What coordinates of an axis have, each its own part.
  struct AxisPart {
    mlir::Value whole;
    mlir::StringAttr axis;
  };
  llvm::DenseMap<mlir::Value, AxisPart> axisParts;
  std::unordered_map<Key, mlir::Value, KeyHash> known;
  std::unordered_map<Key, uint64_t, KeyHash> knownPositions, knownLayouts;
  llvm::DenseMap<mlir::Value, uint64_t> layouts;
  /// By the root of a node.
  llvm::DenseMap<FactorAnalysis::Node, uint64_t> positions;
};

} // namespace verify

#endif // VERIFY_LIB_ANALYSIS_VALUENUMBERING_H
