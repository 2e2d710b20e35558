//===- StageProver.cpp - decides one stage --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Analysis/StageProver.h"

#include "Draws.h"
#include "Verify/Analysis/Congruence.h"
#include "Verify/Analysis/ElementEvaluator.h"
#include "Verify/Analysis/FactorAnalysis.h"
#include "Verify/Output/OutputFile.h"
#include "Verify/Scalar/Evaluation.h"
#include "Verify/Scalar/NumericAlgebras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace verify;

/// Most index patterns that are compared for one expect.
static constexpr size_t patternLimit = 4096;
/// Terms, some tenths of a second, before it is asked whether to go on.
static constexpr TermId freeTerms = 1 << 18;
/// Terms that take no time at some samples.
static constexpr TermId fewTerms = 1 << 14;

namespace {
/// Elements as atoms: arguments first, then unknown tensors, then values that
/// nobody produces.
class AtomSource : public ElementSource {
public:
  explicit AtomSource(TermAlgebra &terms) : terms(terms) {}

  Scalar input(Value value, ArrayRef<int64_t> index) override {
    uint32_t number = numbers.try_emplace(value, numbers.size()).first->second;
    return terms.atom(number, index, getSort(value.getType()));
  }
  Scalar opaque(unsigned number, Type type, ArrayRef<int64_t> index) override {
    opaqueCount = std::max(opaqueCount, number + 1);
    return terms.atom(firstOpaque + number, index, getSort(type));
  }
  Scalar undefined(Operation *op, ArrayRef<int64_t> place) override {
    Value value = op->getResult(0);
    uint32_t number =
        undefinedNumbers.try_emplace(value, undefinedNumbers.size())
            .first->second;
    // Coordinates that do not matter are -1; indices are not negative.
    SmallVector<int64_t> index;
    for (int64_t at : place)
      index.push_back(at + 1);
    return terms.atom(firstUndefined + number, index, getSort(value.getType()));
  }
  bool isUndefinedUsed() const { return !undefinedNumbers.empty(); }
  unsigned opaqueCount = 0;

private:
  static constexpr uint32_t firstOpaque = 1u << 30;
  static constexpr uint32_t firstUndefined = 1u << 31;
  TermAlgebra &terms;
  DenseValueMap<uint32_t> numbers;
  DenseValueMap<uint32_t> undefinedNumbers;
};

/// One element of an expect, on both sides.
struct Element {
  tv::ExpectOp expect;
  Coordinates coordinates;
  SmallVector<int64_t> index;
  Scalar reference, plan;
};

/// An obligation that was decided, for another solver: one of the elements, or
/// a condition.
struct Decided {
  tv::ExpectOp expect;
  const Element *element;
  Condition condition;
  Verdict verdict;
};

class StageDecision {
public:
  StageDecision(tv::StageOp stage, FactorAnalysis::Options options,
                TermAlgebra &terms, size_t termLimit,
                DoubleIntervalAlgebra &intervals, Prover &prover,
                const std::function<bool(Effort)> &ask)
      : stage(stage), body(stage.getBody().front()),
        factors(body, stage.getMesh(), options), terms(terms),
        termLimit(termLimit), intervals(intervals), prover(prover), ask(ask),
        source(terms) {}

  StageVerdict decide();
  /// Whether both sides are the same ops, and defined somewhere; then it is
  /// decided. It says nothing otherwise.
  bool isCongruent();
  /// What was found.
  const StageVerdict &getVerdict() const { return result; }
  /// Writes what `decide` decided to `directory`, but for what is in `written`.
  /// False after an error.
  bool writeSmtLib(StringRef directory, llvm::StringSet<> &written);

private:
  StageVerdict unknown(const Twine &reason) {
    result.verdict = Verdict::Unknown;
    result.reason = reason.str();
    return result;
  }
  LogicalResult collect(tv::ExpectOp expect, ElementEvaluator &evaluator);
  /// The elements to compare, as coordinates and index of the plan's tensor.
  using Place = std::pair<Coordinates, SmallVector<int64_t>>;
  FailureOr<std::vector<Place>> getPlaces(tv::ExpectOp expect);
  bool isDefinedAt(unsigned draw, NumericAlgebra &algebra);
  bool isSatisfiable();
  /// Whether the reference's side of all expects is defined at a draw.
  bool isReferenceDefinedAt(unsigned draw);
  bool add(ProofResult proof, Decided what);
  void printOrigin(const Decided &what, raw_ostream &out);

  tv::StageOp stage;
  Block &body;
  FactorAnalysis factors;
  TermAlgebra &terms;
  size_t termLimit;
  DoubleIntervalAlgebra &intervals;
  Prover &prover;
  const std::function<bool(Effort)> &ask;
  AtomSource source;
  std::vector<Element> elements;
  SmallVector<Condition> hypotheses;
  std::vector<Decided> decided;
  StageVerdict result;
};
} // namespace

FailureOr<std::vector<StageDecision::Place>>
StageDecision::getPlaces(tv::ExpectOp expect) {
  // Each coordinate of the axes that matter and are not summed, and each index
  // of the plan's tensor, up to symmetry.
  uint64_t matters = 0;
  for (Value value : expect.getValues())
    matters |= factors.getVaryingAxes(value);
  auto bit = [&](StringAttr axis) {
    return uint64_t(1) << *factors.findAxis(axis.getValue());
  };
  for (ArrayAttr dimension : expect.getLineage().getDimensions())
    for (auto factor : dimension.getAsRange<tv::DimensionFactorAttr>())
      if (factor.getAxis())
        matters |= bit(factor.getAxis());
  for (StringAttr axis : expect.getLineage().getSumAxes())
    matters &= ~bit(axis);
  SmallVector<FactorAnalysis::Node> nodes;
  SmallVector<unsigned> axes;
  for (unsigned axis = 0; axis < factors.getAxisCount(); ++axis)
    if (matters >> axis & 1) {
      axes.push_back(axis);
      nodes.push_back(factors.getAxis(axis));
    }
  llvm::append_range(nodes, factors.getDimensions(expect.getValues().front()));
  auto patterns = factors.getPatterns(nodes, patternLimit);
  if (!patterns) {
    unknown("more than " + Twine(patternLimit) +
            " patterns of indices would have to be compared");
    return failure();
  }
  std::vector<Place> places;
  for (const SmallVector<int64_t> &pattern : *patterns) {
    Coordinates coordinates(factors.getAxisCount(), -1);
    bool isInside = true;
    for (auto [i, axis] : llvm::enumerate(axes)) {
      coordinates[axis] = pattern[i];
      tv::AxisSetAttr set =
          expect.getDomain().getSet(factors.getAxisName(axis));
      isInside &= !set || set.contains(pattern[i]);
    }
    if (isInside)
      places.emplace_back(
          coordinates,
          SmallVector<int64_t>(ArrayRef(pattern).drop_front(axes.size())));
  }
  if (places.empty()) {
    unknown("the expect compares nothing");
    return failure();
  }
  return places;
}

LogicalResult StageDecision::collect(tv::ExpectOp expect,
                                     ElementEvaluator &evaluator) {
  auto places = getPlaces(expect);
  if (failed(places))
    return failure();
  for (auto &[coordinates, index] : *places) {
    auto sides = evaluator.evaluate(expect, coordinates, index);
    if (failed(sides)) {
      unknown(evaluator.getFailure());
      return failure();
    }
    if (terms.error()) {
      unknown(*terms.error());
      return failure();
    }
    elements.push_back(
        {expect, coordinates, index, sides->first, sides->second});
  }
  return success();
}

/// Whether all of `elements` are defined at the point of a draw.
bool StageDecision::isDefinedAt(unsigned draw, NumericAlgebra &algebra) {
  RandomDraws draws(algebra, draw);
  TermEvaluator evaluator(terms, algebra, [&](Scalar atom) {
    return draws.draw(terms.getSort(atom));
  });
  for (const Element &element : elements) {
    evaluator.evaluate(element.reference);
    if (algebra.status().isUndefined || algebra.status().isUndecided)
      return false;
  }
  return true;
}

bool StageDecision::isSatisfiable() {
  // A concrete point at which the reference is defined, in intervals: doubles
  // could round an undefined point into a defined one. They are fast, though,
  // and as ends of intervals they mostly suffice.
  SmallVector<unsigned> order = getDraws();
  for (unsigned draw : order) {
    intervals.reset();
    if (isDefinedAt(draw, intervals))
      return true;
  }
  for (unsigned draw : order) {
    DoubleAlgebra doubles;
    if (!isDefinedAt(draw, doubles))
      continue;
    IntervalAlgebra wider(64u << (draw % 3));
    if (isDefinedAt(draw, wider))
      return true;
  }
  return false;
}

bool StageDecision::isReferenceDefinedAt(unsigned draw) {
  intervals.reset();
  DrawnSource drawn(intervals, draw);
  ElementEvaluator evaluator(factors, intervals, drawn);
  TermId count = 0;
  evaluator.setCheck([&]() -> std::optional<std::string> {
    const NumericStatus &status = intervals.status();
    if (status.isUndefined || status.isUndecided || drawn.isRefused() ||
        ++count > freeTerms)
      return "not defined";
    return std::nullopt;
  });
  Coordinates nowhere(factors.getAxisCount(), -1);
  for (auto expect : body.getOps<tv::ExpectOp>()) {
    auto places = getPlaces(expect);
    if (failed(places))
      return false;
    for (auto &[coordinates, index] : *places)
      if (failed(
              evaluator.evaluate(expect.getReference(), nowhere,
                                 evaluator.getReferenceIndex(
                                     expect.getLineage(), coordinates, index))))
        return false;
  }
  return true;
}

bool StageDecision::isCongruent() {
  Congruence congruence(stage.getMesh());
  unsigned count = 0;
  for (auto expect : body.getOps<tv::ExpectOp>()) {
    if (!congruence.proves(expect))
      return false;
    ++count;
  }
  if (count == 0 || factors.getFailure() ||
      llvm::none_of(getDraws(),
                    [&](unsigned draw) { return isReferenceDefinedAt(draw); }))
    return false;
  result = StageVerdict();
  result.verdict = Verdict::Proved;
  result.byCongruence = count;
  return true;
}

/// `[0, 3, 7]`.
static std::string toString(ArrayRef<int64_t> numbers) {
  std::string text = "[";
  for (int64_t number : numbers)
    text += (text.size() > 1 ? ", " : "") + std::to_string(number);
  return text + "]";
}

void StageDecision::printOrigin(const Decided &what, raw_ostream &out) {
  tv::ExpectOp expect = what.expect;
  out << "; stage: " << stage.getSymName() << "\n; expect: ";
  if (auto contract = expect.getContract())
    out << "result '" << contract->getName().getValue() << "'";
  else
    out << "lemma";
  if (expect.getNumber())
    out << ", number " << *expect.getNumber();
  std::string location;
  llvm::raw_string_ostream(location) << expect.getLoc();
  llvm::replace(location, '\n', ' ');
  out << "\n; location: " << location << "\n; ";
  if (what.element)
    out << "element " << toString(what.element->index) << " at coordinates "
        << toString(what.element->coordinates);
  else
    out << "where the reference is defined, so is the plan";
  out << "\n; verdict: " << verify::getName(what.verdict) << "\n";
}

bool StageDecision::writeSmtLib(StringRef directory,
                                llvm::StringSet<> &written) {
  for (const Decided &what : decided) {
    std::string text = what.element
                           ? prover.toSmtLib(what.element->reference,
                                             what.element->plan, hypotheses)
                           : prover.toSmtLib(what.condition, hypotheses);
    // Equal but for comments is equal.
    size_t start = StringRef(text).find("(set-logic");
    StringRef content =
        start == StringRef::npos ? text : StringRef(text).drop_front(start);
    if (!written.insert(content).second)
      continue;
    std::string name = (directory + "/" + Twine(written.size()) + "-" +
                        stage.getSymName() + ".smt2")
                           .str();
    auto write = [&]() -> llvm::Error {
      if (std::error_code code = llvm::sys::fs::create_directories(directory))
        return llvm::createFileError(directory, code);
      return writeFile(name, [&](raw_ostream &out) {
        printOrigin(what, out);
        out << text;
      });
    };
    if (llvm::Error error = write()) {
      emitError(stage.getLoc(), "cannot write ") << toString(std::move(error));
      return false;
    }
  }
  return true;
}

bool StageDecision::add(ProofResult proof, Decided what) {
  decided.push_back(what);
  decided.back().verdict = proof.verdict;
  switch (proof.verdict) {
  case Verdict::Proved:
    ++result.confirmed;
    return true;
  case Verdict::ProvedByNormalization:
    ++result.byNormalization;
    result.verdict = Verdict::ProvedByNormalization;
    for (UnconfirmedStep &step : proof.unconfirmed)
      result.unconfirmed.push_back(
          {what.expect.getLoc(),
           what.element ? "element " + toString(what.element->index)
                        : "definedness",
           std::move(step)});
    return true;
  case Verdict::NotProved:
  case Verdict::Unknown:
    break;
  }
  result.verdict = proof.verdict;
  result.isTooLong = proof.isTooLong;
  result.reason =
      (what.element
           ? ""
           : "the plan may be undefined where the reference is not: ") +
      proof.reason;
  return false;
}

StageVerdict StageDecision::decide() {
  if (factors.getFailure())
    return unknown(*factors.getFailure());
  prover.setSmallCase(factors.getSmallCase());
  ElementEvaluator evaluator(factors, terms, source);
  bool wasAsked = false;
  evaluator.setCheck([&]() -> std::optional<std::string> {
    result.isTooLarge = terms.size() > termLimit;
    if (result.isTooLarge)
      return ("a stage takes more than " + Twine(termLimit) + " terms").str();
    bool isLarge = terms.size() > freeTerms && !wasAsked;
    wasAsked |= isLarge;
    if (isLarge && ask && !ask(Effort::Long))
      return "the stage is large";
    return std::nullopt;
  });
  for (auto expect : body.getOps<tv::ExpectOp>())
    if (failed(collect(expect, evaluator)))
      return result;
  if (elements.empty())
    return unknown("the stage expects nothing");

  SmallVector<Scalar> references, plans;
  for (const Element &element : elements) {
    references.push_back(element.reference);
    plans.push_back(element.plan);
  }
  hypotheses = terms.collectConditions(references);
  result.conditions = hypotheses.size();
  result.opaqueTensors = source.opaqueCount;
  if (!hypotheses.empty() && !isSatisfiable())
    return unknown("no input was found at which the reference is defined");
  result.verdict = Verdict::Proved;
  // What holds of one element may take long, where another one differs.
  if (elements.size() > 1 && terms.size() <= fewTerms)
    for (const Element &element : elements)
      if (auto different = prover.compareAtSamples(element.reference,
                                                   element.plan, hypotheses)) {
        add(*different, {element.expect, &element, {}, Verdict::Unknown});
        return result;
      }
  for (const Element &element : elements)
    if (!add(prover.prove(element.reference, element.plan, hypotheses),
             {element.expect, &element, {}, Verdict::Unknown}))
      return result;
  for (const Condition &condition : terms.collectConditions(plans)) {
    if (llvm::is_contained(hypotheses, condition))
      continue;
    if (!add(prover.proveCondition(condition, hypotheses),
             {elements.front().expect, nullptr, condition, Verdict::Unknown}))
      return result;
  }
  if (source.isUndefinedUsed())
    return unknown("the plan reads a value that nobody produces");
  if (terms.error())
    return unknown(*terms.error());
  return result;
}

StageVerdict StageProver::prove(tv::StageOp stage) {
  prover.clear();
  terms.clear();
  FactorAnalysis::Options factors;
  factors.isFullSize = kinds == StageProofs::FullSize;
  if (factors.isFullSize)
    factors.positions = FactorAnalysis::Positions::Exact;
  StageDecision decision(stage, factors, terms, termLimit, intervals, prover,
                         ask);
  // What is written is for another solver.
  if (kinds == StageProofs::Any && smtLibDirectory.empty() &&
      decision.isCongruent())
    return decision.getVerdict();
  StageVerdict verdict = decision.decide();
  // One error is enough.
  if (!smtLibDirectory.empty() && !hasWriteFailed)
    hasWriteFailed = !decision.writeSmtLib(smtLibDirectory, written);
  return verdict;
}
