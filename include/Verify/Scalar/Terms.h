//===- Terms.h - scalars as hash-consed terms -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algebra of the prover: a scalar is a node of a term graph that is exactly
// what the bodies wrote, before any simplification. Obligations are stated over
// these terms; the normal form (NormalForm.h) is computed from them.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_SCALAR_TERMS_H
#define VERIFY_SCALAR_TERMS_H

#include "Verify/Scalar/ScalarAlgebra.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Allocator.h"

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace verify {

/// The number of a node; `Scalar::bits` of a term.
using TermId = uint32_t;

/// What a node is. `Sum` has one weight per operand; `IsFinite` and
/// `FinitePart` split an extended scalar into a boolean and a real (0 where the
/// scalar is minus infinity).
enum class TermKind : uint8_t {
  Constant,
  Integer,
  Boolean,
  MinusInfinity,
  Atom,
  Sum,
  Product,
  Quotient,
  Power,
  Apply,
  Maximum,
  Compare,
  Select,
  Uninterpreted,
  ToReal,
  IsFinite,
  FinitePart
};

/// A property of a real term.
enum class ConditionKind : uint8_t { NonZero, NonNegative, Positive };

/// A condition under which an operation is defined.
struct Condition {
  ConditionKind kind;
  Scalar term;
  bool operator==(const Condition &other) const {
    return kind == other.kind && term == other.term;
  }
};

/// Scalars as terms. Nodes live as long as the algebra or until `clear`.
class TermAlgebra : public ScalarAlgebra {
public:
  TermAlgebra();
  ~TermAlgebra() override;

  /// The unknown element `index` of tensor number `tensor`.
  Scalar atom(uint32_t tensor, llvm::ArrayRef<int64_t> index, ScalarSort sort);
  /// The real constant `value`.
  Scalar constant(const Rational &value);
  /// The product of all `factors`; 1 if there are none.
  Scalar product(llvm::ArrayRef<Scalar> factors);
  /// Whether the extended scalar is not minus infinity, as a boolean.
  Scalar isFinite(Scalar extended);
  /// The extended scalar as a real one; 0 if it is minus infinity.
  Scalar finitePart(Scalar extended);

  Scalar rational(int64_t numerator, int64_t denominator = 1) override;
  Scalar literal(double value,
                 FloatFormat format = FloatFormat::Double) override;
  Scalar integer(int64_t value) override;
  Scalar boolean(bool value) override;
  Scalar minusInfinity() override;
  Scalar add(Scalar left, Scalar right) override;
  Scalar subtract(Scalar left, Scalar right) override;
  Scalar multiply(Scalar left, Scalar right) override;
  Scalar divide(Scalar left, Scalar right) override;
  Scalar negate(Scalar value) override;
  Scalar sum(llvm::ArrayRef<WeightedScalar> terms) override;
  Scalar power(Scalar base, int64_t numerator,
               int64_t denominator = 1) override;
  Scalar apply(Function function, Scalar argument) override;
  Scalar maximum(llvm::ArrayRef<Scalar> values) override;
  Scalar compare(Comparison comparison, Scalar left, Scalar right) override;
  Scalar select(Scalar condition, Scalar ifTrue, Scalar ifFalse) override;
  Scalar uninterpreted(llvm::StringRef name, llvm::ArrayRef<Scalar> arguments,
                       ScalarSort sort) override;
  Scalar toReal(Scalar value) override;

  /// The first wrong use of the algebra, if there was one, such as the product
  /// of an extended scalar. No verdict may rest on terms made after it.
  const std::optional<std::string> &error() const { return firstError; }

  /// The number of nodes; node numbers are below it, operands below users.
  TermId size() const { return static_cast<TermId>(nodes.size()); }
  TermKind getKind(Scalar term) const { return node(term).kind; }
  ScalarSort getSort(Scalar term) const { return node(term).sort; }
  bool isExtended(Scalar term) const {
    return getSort(term) == ScalarSort::Extended;
  }
  bool isRealOrExtended(Scalar term) const {
    return getSort(term) == ScalarSort::Real || isExtended(term);
  }
  /// The operands, valid as long as the term.
  llvm::ArrayRef<Scalar> getOperands(Scalar term) const {
    return node(term).operands;
  }
  /// The weights of a `Sum`, one for each operand.
  llvm::ArrayRef<int64_t> getWeights(Scalar term) const {
    return node(term).words;
  }
  /// The value of a `Constant`, or of an `Integer` as a rational.
  Rational getConstant(Scalar term) const;
  bool getBoolean(Scalar term) const { return node(term).payload != 0; }
  Function getFunction(Scalar term) const;
  Comparison getComparison(Scalar term) const;
  /// Numerator and denominator, in lowest terms, of the exponent of a `Power`.
  std::pair<int64_t, int64_t> getExponent(Scalar term) const;
  /// The name of an `Uninterpreted` term.
  llvm::StringRef getFunctionName(Scalar term) const;
  uint32_t getTensor(Scalar atom) const;
  llvm::ArrayRef<int64_t> getIndex(Scalar atom) const;
  /// Appends what `term` is, but for its operands and for the name of an atom:
  /// bytes that tell its end, and that every algebra writes alike.
  void writeOperation(Scalar term, std::string &bytes) const;

  /// The conditions under which every operation at or below `roots` is defined,
  /// without repetition, operands first. Of what a selection chooses from, only
  /// where that is chosen: a condition on `select(chosen, term, 1)`.
  llvm::SmallVector<Condition> collectConditions(llvm::ArrayRef<Scalar> roots);
  /// The condition of the operation `term` itself, if it has one.
  std::optional<Condition> getCondition(Scalar term) const;
  /// Every node at or below `roots`, as a set of their numbers, and operands
  /// before users.
  llvm::BitVector findNodes(llvm::ArrayRef<Scalar> roots) const;
  llvm::SmallVector<Scalar> collectNodes(llvm::ArrayRef<Scalar> roots) const;

  /// `term` with other operands, of the same sorts.
  Scalar withOperands(Scalar term, llvm::ArrayRef<Scalar> operands);

  /// The term as text, for diagnostics; parts deeper than `depth` are `...`.
  /// `nameAtom` names atoms; without it they are `t3[0, 1]`.
  std::string
  toString(Scalar term, unsigned depth = 12,
           llvm::function_ref<std::string(Scalar)> nameAtom = nullptr) const;

  /// Forgets all terms and the error, and keeps the memory.
  void clear();

private:
  struct RationalHash {
    size_t operator()(const Rational &value) const { return value.hash(); }
  };
  struct Node {
    TermKind kind;
    ScalarSort sort;
    uint64_t payload;
    llvm::ArrayRef<Scalar> operands;
    /// Weights, an exponent or an index.
    llvm::ArrayRef<int64_t> words;
  };

  const Node &node(Scalar term) const { return nodes[term.bits]; }
  /// Finds or creates a node.
  Scalar intern(TermKind kind, ScalarSort sort, uint64_t payload,
                llvm::ArrayRef<Scalar> operands,
                llvm::ArrayRef<int64_t> words = {});
  bool isSame(const Node &existing, TermKind kind, ScalarSort sort,
              uint64_t payload, llvm::ArrayRef<Scalar> operands,
              llvm::ArrayRef<int64_t> words) const;
  void growTable();
  /// Records the first error and gives a term of the wanted sort.
  Scalar fail(std::string message, ScalarSort sort);
  /// The weighted sum of integers that are known, or nothing.
  std::optional<int64_t> addIntegers(llvm::ArrayRef<Scalar> operands,
                                     llvm::ArrayRef<int64_t> weights) const;
  /// The sort of a value that is one of two operands, or nothing.
  static std::optional<ScalarSort> join(ScalarSort left, ScalarSort right);
  /// Whether the sort is one of numbers that multiply.
  bool isNumber(Scalar term) const;

  std::vector<Node> nodes;
  /// Holds operands and words, which never move.
  llvm::BumpPtrAllocator allocator;
  std::vector<Rational> constants;
  std::unordered_map<Rational, uint32_t, RationalHash> constantNumbers;
  std::vector<llvm::StringRef> names;
  llvm::StringMap<uint32_t> nameNumbers;
  /// Open addressing; node number plus one, 0 for a free place.
  std::vector<uint32_t> table;
  std::vector<uint32_t> hashes;
  std::optional<std::string> firstError;
};

} // namespace verify

#endif // VERIFY_SCALAR_TERMS_H
