//===- NormalizerState.h - what a normalizer knows --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state that the parts of normalization share: generators and what they
// mean, normal forms of terms, facts about signs, and the records. Each group
// of functions has a source file of its own.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_SCALAR_NORMALIZERSTATE_H
#define VERIFY_LIB_SCALAR_NORMALIZERSTATE_H

#include "Polynomials.h"
#include "Verify/Scalar/NormalForm.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

namespace verify {

/// What a generator is, as far as laws know it.
enum class GeneratorKind : uint8_t {
  Opaque,
  /// A boolean as 0 or 1; with a comparison if `isComparison`.
  Indicator,
  /// The value of the sum `argument`, which only occurs inverted.
  Factor,
  /// `argument^(1/degree)` of an argument that is not negative.
  Root,
  /// The logarithm of an argument that is positive.
  Logarithm,
  Absolute,
  Sign,
  /// The greatest of `arguments`.
  Maximum
};

/// An indivisible real in monomials.
struct Generator {
  GeneratorKind kind = GeneratorKind::Opaque;
  bool isInteger = false;
  /// Of an indicator: `argument = bound` or `argument > bound`.
  bool isComparison = false;
  bool isEquality = false;
  int64_t degree = 0;
  Scalar term = {};
  PolynomialId argument = 0;
  Rational bound = {};
  llvm::SmallVector<PolynomialId, 0> arguments = {};
};

/// The normal form of a term. `mask` is the indicator that an extended term is
/// finite, and 1 for all others.
struct Form {
  PolynomialId value = PolynomialStore::zero;
  PolynomialId mask = PolynomialStore::one;
};

/// Factors of a product before they are merged to a monomial.
struct FactorList {
  struct Power {
    GeneratorId generator;
    int32_t positive;
    int32_t negative;
  };
  llvm::SmallVector<Power, 8> powers;
  llvm::SmallVector<PolynomialId, 2> exponents;
};

/// A polynomial as a constant times a monomial times a polynomial whose
/// coefficients are coprime integers and whose terms have no common factor.
struct Factorization {
  Rational constant;
  MonomialId monomial = PolynomialStore::unit;
  PolynomialId rest = PolynomialStore::one;
};

/// A normal form and the record of how it was reached.
struct Recorded {
  PolynomialId result;
  RecordId record;
};

/// The state of a normalizer.
class NormalizerState {
public:
  NormalizerState(TermAlgebra &terms, llvm::ArrayRef<Condition> hypotheses,
                  NormalizerLimits limits);

  //===--- Records (NormalForm.cpp) ---------------------------------------===//

  /// Opens a record for its lifetime.
  class Scope {
  public:
    explicit Scope(NormalizerState &state);
    ~Scope();
    RecordId id;

  private:
    NormalizerState &state;
    bool wasRecording;
  };
  /// Computes without recording laws, for results that are claimed otherwise.
  class Scratch {
  public:
    explicit Scratch(NormalizerState &state)
        : state(state), wasRecording(state.isRecording) {
      state.isRecording = false;
    }
    ~Scratch() { state.isRecording = wasRecording; }

  private:
    NormalizerState &state;
    bool wasRecording;
  };
  Record &current() { return records[open.back()]; }
  void emit(InstanceId instance) { current().instances.push_back(instance); }
  void need(RecordId record) { current().needs.push_back(record); }
  void use(RecordId record) { current().uses.push_back(record); }
  /// Claims an equation, unless both sides are the same term.
  void claimEqual(Scalar left, Scalar right);
  void fail(std::string reason);
  bool hasFailed() const { return failure.has_value(); }

  //===--- Terms of normal forms (CanonicalTerms.cpp) ---------------------===//

  /// The term of a polynomial; the same for the same polynomial.
  Scalar termOf(PolynomialId polynomial);
  void appendFactors(MonomialId monomial,
                     llvm::SmallVectorImpl<Scalar> &result);
  llvm::SmallVector<Scalar> factorTerms(const FactorList &factors);
  Scalar inverseTerm(Scalar term);
  /// Creates a generator or finds the one with the same term.
  GeneratorId getGenerator(Generator generator);
  /// The polynomial of a generator without laws.
  PolynomialId opaque(Scalar term, bool isInteger = false);
  /// The polynomial of a boolean term without structure, as 0 or 1.
  PolynomialId indicator(Scalar booleanTerm);
  bool isInteger(PolynomialId polynomial);

  //===--- Products (MonomialProducts.cpp, Products.cpp) ------------------===//

  PolynomialId multiplyMonomials(MonomialId left, MonomialId right);
  /// Asks or gives up where there were many.
  void countSteps(size_t count);
  /// The product; the laws it uses go to the open record.
  PolynomialId multiply(PolynomialId left, PolynomialId right);
  /// The product, with a claim if it used a law or `isForced`.
  PolynomialId multiplyClaimed(PolynomialId left, PolynomialId right,
                               bool isForced = false);
  /// A product of several polynomials, claimed step by step.
  PolynomialId multiplyAll(llvm::ArrayRef<PolynomialId> factors,
                           bool isForced = false);
  PolynomialId raise(PolynomialId base, int64_t exponent, bool isForced);
  MonomialId divideMonomials(MonomialId left, MonomialId right);

  //===--- Rational functions (RationalFunctions.cpp) ---------------------===//

  Factorization factor(PolynomialId polynomial);
  /// The quotient, if `divisor` divides `dividend`.
  std::optional<PolynomialId> divideExactly(PolynomialId dividend,
                                            PolynomialId divisor);
  /// Cancels sums against inverted sums, with claims.
  PolynomialId cancelFactors(PolynomialId polynomial);
  /// A record of `left = right` that brings both to a common denominator.
  std::optional<RecordId> proveEqualByClearing(PolynomialId left,
                                               PolynomialId right);
  /// Claims `left * right = result`. Returns whether that was found true.
  bool claimProduct(PolynomialId left, PolynomialId right, PolynomialId result);
  /// The first polynomial seen with the value of `polynomial`; needed records
  /// go to the open record.
  PolynomialId representative(PolynomialId polynomial);
  uint64_t fingerprint(PolynomialId polynomial);

  //===--- Inverses, exponentials, roots ----------------------------------===//

  Recorded inverse(PolynomialId polynomial);
  Recorded exponential(PolynomialId argument);
  Recorded logarithm(PolynomialId argument);
  Recorded root(PolynomialId argument, int64_t degree);
  Recorded inverseRoot(PolynomialId argument);
  Recorded absolute(PolynomialId argument, Function function);
  Recorded applyTotal(Function function, PolynomialId argument);
  Recorded power(PolynomialId base, int64_t numerator, int64_t denominator);

  //===--- Maxima and indicators (Maxima.cpp, Indicators.cpp) -------------===//

  Recorded maximum(llvm::ArrayRef<PolynomialId> arguments);
  /// Both sides are numbers; the result is 0 or 1.
  Recorded compare(Comparison comparison, PolynomialId left,
                   PolynomialId right);
  /// What a pair of indicators multiplies to, if anything is known.
  enum class IndicatorRelation { None, FirstImplies, SecondImplies, Excludes };
  IndicatorRelation relate(GeneratorId first, GeneratorId second);

  //===--- Signs (Signs.cpp) ----------------------------------------------===//

  /// A record that claims `kind` of the term of `polynomial`.
  std::optional<RecordId> findSign(ClaimKind kind, PolynomialId polynomial);
  /// Needs the sign, which a caller knows to be found.
  void needSign(ClaimKind kind, PolynomialId polynomial);
  std::optional<RecordId> findMonomialSign(ClaimKind kind, MonomialId monomial);
  std::optional<RecordId> findPowerSign(ClaimKind kind, GeneratorPower power);
  void addSign(ClaimKind kind, PolynomialId polynomial, RecordId record);
  void addHypothesis(const Condition &condition);

  //===--- Nodes (Nodes.cpp, ExtendedNodes.cpp) ---------------------------===//

  /// Normalizes all nodes at or below a term. Returns false on failure.
  bool normalize(Scalar term);
  const Form &getForm(Scalar term) const { return forms[term.bits]; }
  std::optional<RecordId> proveEqual(Scalar left, Scalar right);
  std::optional<RecordId> proveCondition(const Condition &condition);

  TermAlgebra &terms;
  PolynomialStore polynomials;
  LawBook laws;
  NormalizerLimits limits;
  /// Products of monomials so far, and what takes as long.
  size_t steps = 0;
  /// Whether there were too many.
  bool isExhausted = false;
  std::optional<std::string> failure;
  std::deque<Record> records;
  std::deque<Generator> generators;

private:
  friend class Normalizer;

  //===--- Products -------------------------------------------------------===//

  struct CachedProduct {
    PolynomialId result;
    llvm::SmallVector<InstanceId, 0> instances;
    llvm::SmallVector<RecordId, 0> needs;
  };
  uint8_t traits(MonomialId monomial);
  FactorList listFactors(MonomialId left, MonomialId right);
  PolynomialId mergeFactors(FactorList factors);
  PolynomialId expand(const FactorList &factors,
                      llvm::ArrayRef<PolynomialId> sums);
  bool mergeExponents(FactorList &factors);
  void cancelInverses(FactorList &factors);
  std::optional<PolynomialId> applyRelation(FactorList &factors);
  std::optional<PolynomialId> applyIndicators(FactorList &factors);

  //===--- Rational functions ---------------------------------------------===//

  PolynomialId shareExponent(PolynomialId polynomial);
  PolynomialId clear(PolynomialId difference, GeneratorId sum);
  std::optional<GeneratorId> findInvertedSum(PolynomialId polynomial);
  PolynomialId cancelFactor(PolynomialId polynomial, GeneratorId sum);
  uint64_t fingerprintOfGenerator(GeneratorId generator);
  uint64_t fingerprintOfExp(PolynomialId exponent);
  uint64_t fingerprintOfMonomial(MonomialId monomial);

  //===--- Inverses, exponentials, roots, maxima, indicators --------------===//

  PolynomialId invertFactored(const Factorization &parts,
                              llvm::ArrayRef<PolynomialId> sums);
  void deduceNonZero(RecordId isProduct, llvm::ArrayRef<PolynomialId> parts);
  void deduceFactors(PolynomialId polynomial, const Factorization &parts,
                     llvm::ArrayRef<PolynomialId> sums, RecordId isNonZero);
  void deducePositive(PolynomialId polynomial, const Factorization &parts);
  PolynomialId invertPower(GeneratorPower power);
  void splitRest(PolynomialId rest, llvm::SmallVectorImpl<PolynomialId> &parts);
  PolynomialId splitLogarithms(PolynomialId argument,
                               llvm::SmallVectorImpl<WeightedScalar> &powers,
                               llvm::SmallVectorImpl<PolynomialId> &parts);
  PolynomialId addLogarithms(const Factorization &split,
                             llvm::SmallVectorImpl<Scalar> &parts);
  bool isPositiveByFactors(const Factorization &split);
  PolynomialId takeOutPowers(PolynomialId argument, int64_t degree,
                             PolynomialId &rest);
  PolynomialId opaqueRoot(PolynomialId argument, int64_t degree);
  void deduceRestOfRoot(PolynomialId argument, PolynomialId outside,
                        int64_t degree, PolynomialId rest);
  PolynomialId shareSummands(llvm::ArrayRef<PolynomialId> arguments);
  bool flattenMaxima(llvm::SmallVectorImpl<PolynomialId> &arguments);
  void dropSmaller(llvm::SmallVectorImpl<PolynomialId> &arguments);
  void defineMaximum(Scalar greatest);
  PolynomialId scaleMaximum(llvm::SmallVectorImpl<PolynomialId> &arguments);
  PolynomialId maximumOfExps(llvm::ArrayRef<PolynomialId> arguments);
  std::optional<PolynomialId>
  applyByCases(PolynomialId argument,
               llvm::function_ref<PolynomialId(PolynomialId)> applyTo);
  PolynomialId compareWithZero(bool isEquality, PolynomialId difference);
  PolynomialId compareWithoutCases(bool isEquality, PolynomialId difference);
  void emitCases(PolynomialId polynomial);

  //===--- Signs ----------------------------------------------------------===//

  std::optional<RecordId> deriveSign(ClaimKind kind, PolynomialId polynomial);
  std::optional<RecordId> deriveFromStronger(ClaimKind kind,
                                             PolynomialId polynomial);
  std::optional<RecordId> deriveFromScale(ClaimKind kind,
                                          PolynomialId polynomial);
  std::optional<RecordId> deriveFromMonomials(ClaimKind kind,
                                              PolynomialId polynomial);
  std::optional<RecordId> deriveFromFactors(ClaimKind kind,
                                            PolynomialId polynomial);
  std::optional<RecordId> deriveFromNode(ClaimKind kind,
                                         PolynomialId polynomial, Scalar node);
  std::optional<RecordId> lookUpSign(ClaimKind kind,
                                     PolynomialId polynomial) const;
  std::optional<RecordId> findGeneratorSign(ClaimKind kind, GeneratorId number);
  bool addSignsOfSum(ClaimKind kind, Scalar node);
  bool addSignsOfProduct(ClaimKind kind, Scalar node);
  void noteSign(Scalar node);

  //===--- Nodes ----------------------------------------------------------===//

  void normalizeNode(Scalar node);
  Form normalizeLeaf(Scalar node);
  Form normalizeSum(Scalar node);
  Form normalizeProduct(Scalar node);
  Form normalizeQuotient(Scalar node);
  Form normalizePower(Scalar node);
  Form normalizeApply(Scalar node);
  Form normalizeMaximum(Scalar node);
  Form normalizeCompare(Scalar node);
  Form normalizeSelect(Scalar node);
  Form normalizeUninterpreted(Scalar node);
  Form normalizeExtendedSum(Scalar node);
  Form normalizeExtendedMaximum(Scalar node);
  void listExtendedValues(Scalar node, llvm::SmallVectorImpl<Form> &values);
  PolynomialId selectByIndicator(PolynomialId condition, PolynomialId ifTrue,
                                 PolynomialId ifFalse, bool isForced);
  PolynomialId compareBooleans(Comparison comparison, PolynomialId left,
                               PolynomialId right);
  PolynomialId compareExtended(Comparison comparison, const Form &left,
                               const Form &right);
  Scalar extendedTerm(const Form &form);
  /// The weighted sum, and 1 minus a polynomial, with claims.
  PolynomialId
  addClaimed(llvm::ArrayRef<std::pair<PolynomialId, int64_t>> summands);
  PolynomialId complementClaimed(PolynomialId polynomial);
  PolynomialId complement(PolynomialId polynomial);
  bool isExtended(Scalar node) const {
    return terms.getSort(node) == ScalarSort::Extended;
  }
  /// A term and its mask in which every node with a record below is replaced
  /// by its normal form.
  struct Literal {
    Scalar value, mask;
  };
  /// A node without a record over the literals of its operands.
  Literal literalOfPureNode(Scalar node);
  Literal literalOfSelect(Scalar node);
  Scalar sumOf(Scalar node, llvm::function_ref<Scalar(Scalar)> valueOf);
  void collectUnnormalized(Scalar root, llvm::SmallVectorImpl<Scalar> &nodes);
  void connectOperands(Scalar node);

  llvm::SmallVector<RecordId> open;

  std::vector<Form> forms;
  std::vector<bool> isNormalized;
  std::vector<Literal> literals;
  std::vector<int64_t> recordOfNode;

  std::vector<Scalar> termOfPolynomial;
  std::vector<bool> hasTerm;
  llvm::DenseMap<uint64_t, GeneratorId> generatorOfTerm;
  std::vector<uint8_t> monomialTraits;
  llvm::DenseMap<uint64_t, CachedProduct> products;
  llvm::DenseMap<uint64_t, PolynomialId> unrecordedProducts;
  bool isRecording = true;

  std::vector<GeneratorId> factors;
  llvm::DenseMap<PolynomialId, GeneratorId> factorOfPolynomial;
  std::vector<PolynomialId> unregistered;
  llvm::DenseMap<uint64_t, llvm::SmallVector<PolynomialId, 1>> registered;
  llvm::DenseMap<PolynomialId, Recorded> representatives;
  std::vector<uint64_t> generatorFingerprints;
  llvm::DenseMap<PolynomialId, uint64_t> expFingerprints;

  llvm::DenseMap<PolynomialId, Recorded> inverses;
  llvm::DenseMap<PolynomialId, Recorded> exponentials;
  llvm::DenseMap<PolynomialId, Recorded> logarithms;
  llvm::DenseMap<std::pair<PolynomialId, int64_t>, Recorded> roots;

  llvm::DenseMap<std::pair<PolynomialId, unsigned>, RecordId> signs;
  /// The number of facts when a sign was last not found.
  llvm::DenseMap<std::pair<PolynomialId, unsigned>, size_t> missingSigns;
  size_t signVersion = 0;
  unsigned signDepth = 0;
  llvm::DenseMap<PolynomialId, llvm::SmallVector<Scalar, 2>> nodesWithSign;
  std::vector<bool> hasHiddenSign;
};

} // namespace verify

#endif // VERIFY_LIB_SCALAR_NORMALIZERSTATE_H
