//===- TermPrinter.cpp - terms as text ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Infix text for diagnostics and tests: `exp(t0[0] - t0[1]) * 1/2`.
//
//===----------------------------------------------------------------------===//

#include "Verify/Scalar/Terms.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

using namespace verify;

namespace {
/// Prints terms of one algebra to one stream.
class TermPrinter {
public:
  TermPrinter(const TermAlgebra &terms, llvm::raw_ostream &stream,
              llvm::function_ref<std::string(Scalar)> nameAtom)
      : terms(terms), stream(stream), nameAtom(nameAtom) {}

  void print(Scalar term, unsigned depth);

private:
  void printAtom(Scalar term);
  void printSum(Scalar term, unsigned depth);
  void printPower(Scalar term, unsigned depth);
  void printCall(llvm::StringRef name, Scalar term, unsigned depth);
  void printJoined(llvm::StringRef separator, Scalar term, unsigned depth);

  const TermAlgebra &terms;
  llvm::raw_ostream &stream;
  llvm::function_ref<std::string(Scalar)> nameAtom;
};
} // namespace

void TermPrinter::printAtom(Scalar term) {
  if (nameAtom) {
    stream << nameAtom(term);
    return;
  }
  stream << 't' << terms.getTensor(term) << '[';
  llvm::interleaveComma(terms.getIndex(term), stream);
  stream << ']';
}

void TermPrinter::printSum(Scalar term, unsigned depth) {
  stream << '(';
  bool isFirst = true;
  for (auto [operand, weight] :
       llvm::zip(terms.getOperands(term), terms.getWeights(term))) {
    bool isNegative = weight < 0;
    stream << (isFirst ? (isNegative ? "-" : "") : isNegative ? " - " : " + ");
    isFirst = false;
    if (weight != 1 && weight != -1)
      stream
          << (isNegative ? Rational(weight).abs() : Rational(weight)).toString()
          << " * ";
    print(operand, depth);
  }
  stream << ')';
}

void TermPrinter::printPower(Scalar term, unsigned depth) {
  auto [numerator, denominator] = terms.getExponent(term);
  print(terms.getOperands(term)[0], depth);
  if (denominator == 1 && numerator >= 0)
    stream << '^' << numerator;
  else
    stream << "^(" << Rational(numerator, denominator).toString() << ')';
}

void TermPrinter::printCall(llvm::StringRef name, Scalar term, unsigned depth) {
  stream << name << '(';
  llvm::interleaveComma(terms.getOperands(term), stream,
                        [&](Scalar operand) { print(operand, depth); });
  stream << ')';
}

void TermPrinter::printJoined(llvm::StringRef separator, Scalar term,
                              unsigned depth) {
  stream << '(';
  llvm::interleave(
      terms.getOperands(term), stream,
      [&](Scalar operand) { print(operand, depth); }, separator);
  stream << ')';
}

void TermPrinter::print(Scalar term, unsigned depth) {
  if (depth == 0 && !terms.getOperands(term).empty()) {
    stream << "...";
    return;
  }
  unsigned below = depth == 0 ? 0 : depth - 1;
  switch (terms.getKind(term)) {
  case TermKind::Constant:
  case TermKind::Integer:
    stream << terms.getConstant(term).toString();
    return;
  case TermKind::Boolean:
    stream << (terms.getBoolean(term) ? "true" : "false");
    return;
  case TermKind::MinusInfinity:
    stream << "-inf";
    return;
  case TermKind::Atom:
    return printAtom(term);
  case TermKind::Sum:
    return printSum(term, below);
  case TermKind::Product:
    return printJoined(" * ", term, below);
  case TermKind::Quotient:
    return printJoined(" / ", term, below);
  case TermKind::Power:
    return printPower(term, below);
  case TermKind::Apply:
    return printCall(getName(terms.getFunction(term)), term, below);
  case TermKind::Maximum:
    return printCall("max", term, below);
  case TermKind::Compare:
    return printJoined(
        (llvm::Twine(" ") + getName(terms.getComparison(term)) + " ").str(),
        term, below);
  case TermKind::Select:
    return printCall("select", term, below);
  case TermKind::Uninterpreted:
    return printCall(terms.getFunctionName(term), term, below);
  case TermKind::ToReal:
    return printCall("real", term, below);
  case TermKind::IsFinite:
    return printCall("finite", term, below);
  case TermKind::FinitePart:
    return printCall("finite_part", term, below);
  }
}

std::string
TermAlgebra::toString(Scalar term, unsigned depth,
                      llvm::function_ref<std::string(Scalar)> nameAtom) const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  TermPrinter(*this, stream, nameAtom).print(term, depth);
  return text;
}
