//===- SmtLib.cpp - queries as SMT-LIB 2 text -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The same encoding as in Z3Terms.cpp, written down independently: every node
// is a definition, functions are declared, 1/b is an unknown function of b.
//
//===----------------------------------------------------------------------===//

#include "SmtLib.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <set>

using namespace verify;

namespace {
/// Prints one script.
class ScriptPrinter {
public:
  ScriptPrinter(const TermAlgebra &terms, llvm::raw_ostream &stream)
      : terms(terms), stream(stream) {}

  void define(Scalar root);
  /// Whether a term and all below it can be written as they are, which is not
  /// so for what may be infinite.
  bool canDefine(Scalar root) const;
  void printAssertion(const LawInstance &instance);
  void printFact(const Claim &claim);
  void printGoal(llvm::ArrayRef<Claim> claims);
  /// Asks for the claims, and for the goal from the claims.
  void printGoal(llvm::ArrayRef<Claim> claims, const Claim &goal);

private:
  void defineNode(Scalar node);
  void printNode(Scalar node);
  void printPower(Scalar node);
  void printQuotient(Scalar node);
  void printSum(Scalar node);
  void printApply(Scalar node);
  void printOperands(llvm::StringRef head, Scalar node);
  void printCall(const std::string &function, Scalar node);
  void printClaim(const Claim &claim);
  void printNumber(const Rational &value);
  void printWhole(const Rational &value);
  std::string name(Scalar node) const;
  llvm::StringRef sortName(Scalar node) const;
  bool isSymbol(Scalar node) const;
  /// Declares the function that a node applies, if it does.
  void declareFunction(Scalar node);
  std::string functionName(Scalar node) const;

  const TermAlgebra &terms;
  llvm::raw_ostream &stream;
  /// Nodes by the order in which they are visited.
  llvm::DenseMap<uint64_t, size_t> defined;
  std::set<std::string> declared;
};
} // namespace

//===--- Names ------------------------------------------------------------===//

std::string ScriptPrinter::name(Scalar node) const {
  if (terms.getKind(node) != TermKind::Atom)
    return "n" + std::to_string(defined.lookup(node.bits));
  std::string result = "t" + std::to_string(terms.getTensor(node));
  for (int64_t index : terms.getIndex(node))
    result += "_" + std::to_string(index);
  return result;
}

llvm::StringRef ScriptPrinter::sortName(Scalar node) const {
  switch (terms.getSort(node)) {
  case ScalarSort::Integer:
    return "Int";
  case ScalarSort::Boolean:
    return "Bool";
  default:
    return "Real";
  }
}

/// Whether the node is known by its laws only.
bool ScriptPrinter::isSymbol(Scalar node) const {
  switch (terms.getKind(node)) {
  case TermKind::Atom:
  case TermKind::Maximum:
    return true;
  case TermKind::FinitePart:
  case TermKind::IsFinite:
    return terms.getKind(terms.getOperands(node)[0]) != TermKind::Uninterpreted;
  default:
    return false;
  }
}

/// The function a node applies to real arguments, or nothing.
std::string ScriptPrinter::functionName(Scalar node) const {
  Scalar target = node;
  std::string prefix;
  switch (terms.getKind(node)) {
  case TermKind::Quotient:
    return "inverse";
  case TermKind::Power: {
    auto [numerator, denominator] = terms.getExponent(node);
    if (denominator == 1 && numerator >= 0)
      return "";
    return "|power " + Rational(numerator, denominator).toString() + "|";
  }
  case TermKind::Apply:
    if (terms.getFunction(node) == Function::Abs ||
        terms.getFunction(node) == Function::Sign)
      return "";
    // Some solvers know functions of the plain names.
    return "real_" + getName(terms.getFunction(node)).str();
  case TermKind::FinitePart:
  case TermKind::IsFinite:
    prefix = terms.getKind(node) == TermKind::IsFinite ? "finite " : "value ";
    target = terms.getOperands(node)[0];
    break;
  default:
    break;
  }
  if (terms.getKind(target) != TermKind::Uninterpreted)
    return "";
  return "|" + prefix + terms.getFunctionName(target).str() + " " +
         std::to_string(terms.getOperands(target).size()) + "|";
}

void ScriptPrinter::declareFunction(Scalar node) {
  std::string function = functionName(node);
  if (function.empty() || !declared.insert(function).second)
    return;
  Scalar target = node;
  if (terms.getKind(node) == TermKind::FinitePart ||
      terms.getKind(node) == TermKind::IsFinite)
    target = terms.getOperands(node)[0];
  size_t arity = function == "inverse" ? 1 : terms.getOperands(target).size();
  stream << "(declare-fun " << function << " (";
  for (size_t i = 0; i < arity; ++i)
    stream << (i == 0 ? "Real" : " Real");
  stream << ") " << sortName(node) << ")\n";
}

//===--- Nodes ------------------------------------------------------------===//

void ScriptPrinter::printNumber(const Rational &value) {
  if (value.sign() < 0) {
    stream << "(- ";
    printNumber(-value);
    stream << ')';
  } else if (value.isInteger()) {
    stream << value.toString() << ".0";
  } else {
    stream << "(/ " << value.getNumerator().toString() << ".0 "
           << value.getDenominator().toString() << ".0)";
  }
}

void ScriptPrinter::printWhole(const Rational &value) {
  if (value.sign() < 0)
    stream << "(- " << (-value).toString() << ')';
  else
    stream << value.toString();
}

void ScriptPrinter::printOperands(llvm::StringRef head, Scalar node) {
  stream << '(' << head;
  for (Scalar operand : terms.getOperands(node))
    stream << ' ' << name(operand);
  stream << ')';
}

void ScriptPrinter::printCall(const std::string &function, Scalar node) {
  if (terms.getOperands(node).empty())
    stream << function;
  else
    printOperands(function, node);
}

void ScriptPrinter::printPower(Scalar node) {
  auto [numerator, denominator] = terms.getExponent(node);
  if (denominator != 1 || numerator < 0)
    return printOperands(functionName(node), node);
  stream << "(* 1.0";
  for (int64_t count = 0; count < numerator; ++count)
    stream << ' ' << name(terms.getOperands(node)[0]);
  stream << ')';
}

void ScriptPrinter::printApply(Scalar node) {
  std::string argument = name(terms.getOperands(node)[0]);
  if (terms.getFunction(node) == Function::Abs)
    stream << "(ite (>= " << argument << " 0.0) " << argument << " (- "
           << argument << "))";
  else if (terms.getFunction(node) == Function::Sign)
    stream << "(ite (> " << argument << " 0.0) 1.0 (ite (< " << argument
           << " 0.0) (- 1.0) 0.0))";
  else
    printOperands(functionName(node), node);
}

void ScriptPrinter::printSum(Scalar node) {
  bool isWhole = terms.getSort(node) == ScalarSort::Integer;
  stream << (isWhole ? "(+ 0" : "(+ 0.0");
  for (auto [operand, weight] :
       llvm::zip(terms.getOperands(node), terms.getWeights(node))) {
    stream << " (* ";
    isWhole ? printWhole(weight) : printNumber(weight);
    stream << ' ' << name(operand) << ')';
  }
  stream << ')';
}

void ScriptPrinter::printQuotient(Scalar node) {
  llvm::ArrayRef<Scalar> operands = terms.getOperands(node);
  stream << "(* " << name(operands[0]) << ' ';
  if (terms.getKind(operands[1]) == TermKind::Constant &&
      !terms.getConstant(operands[1]).isZero())
    printNumber(terms.getConstant(operands[1]).inverse());
  else
    stream << "(inverse " << name(operands[1]) << ')';
  stream << ')';
}

void ScriptPrinter::printNode(Scalar node) {
  llvm::ArrayRef<Scalar> operands = terms.getOperands(node);
  switch (terms.getKind(node)) {
  case TermKind::Constant:
    return printNumber(terms.getConstant(node));
  case TermKind::Integer:
    return printWhole(terms.getConstant(node));
  case TermKind::Boolean:
    stream << (terms.getBoolean(node) ? "true" : "false");
    return;
  case TermKind::Sum:
    return printSum(node);
  case TermKind::Select:
    return printOperands("ite", node);
  case TermKind::Product:
    return printOperands("*", node);
  case TermKind::Quotient:
    return printQuotient(node);
  case TermKind::Power:
    return printPower(node);
  case TermKind::Apply:
    return printApply(node);
  case TermKind::Compare: {
    bool isNegated = terms.getComparison(node) == Comparison::NotEqual;
    stream << (isNegated ? "(not " : "");
    printOperands(isNegated ? "=" : getName(terms.getComparison(node)), node);
    stream << (isNegated ? ")" : "");
    return;
  }
  case TermKind::ToReal:
    if (terms.getSort(operands[0]) == ScalarSort::Boolean)
      stream << "(ite " << name(operands[0]) << " 1.0 0.0)";
    else
      printOperands("to_real", node);
    return;
  case TermKind::Uninterpreted:
    return printCall(functionName(node), node);
  case TermKind::FinitePart:
  case TermKind::IsFinite:
    return printCall(functionName(node), operands[0]);
  default:
    // No claim contains other nodes; a script with one must not be accepted.
    stream << "unsupported";
    return;
  }
}

void ScriptPrinter::defineNode(Scalar node) {
  // An extended scalar only occurs as the pair of its parts.
  if (terms.getSort(node) == ScalarSort::Extended)
    return;
  if (isSymbol(node)) {
    stream << "(declare-const " << name(node) << ' ' << sortName(node) << ")\n";
    return;
  }
  declareFunction(node);
  stream << "(define-fun " << name(node) << " () " << sortName(node) << ' ';
  printNode(node);
  stream << ")\n";
}

void ScriptPrinter::define(Scalar root) {
  llvm::SmallVector<std::pair<Scalar, bool>> stack{{root, false}};
  while (!stack.empty()) {
    auto [node, isReady] = stack.pop_back_val();
    if (isReady) {
      defineNode(node);
      continue;
    }
    if (!defined.try_emplace(node.bits, defined.size()).second)
      continue;
    stack.push_back({node, true});
    for (Scalar operand : llvm::reverse(terms.getOperands(node)))
      stack.push_back({operand, false});
  }
}

bool ScriptPrinter::canDefine(Scalar root) const {
  llvm::SmallVector<Scalar> stack{root};
  llvm::DenseSet<uint64_t> seen;
  while (!stack.empty()) {
    Scalar node = stack.pop_back_val();
    if (!seen.insert(node.bits).second)
      continue;
    TermKind kind = terms.getKind(node);
    bool isWhole = terms.getSort(node) == ScalarSort::Integer;
    if (terms.getSort(node) == ScalarSort::Extended ||
        (isWhole && kind != TermKind::Integer && kind != TermKind::Atom &&
         kind != TermKind::Sum && kind != TermKind::Product &&
         kind != TermKind::Select))
      return false;
    llvm::append_range(stack, terms.getOperands(node));
  }
  return true;
}

//===--- Formulas ---------------------------------------------------------===//

void ScriptPrinter::printClaim(const Claim &claim) {
  switch (claim.kind) {
  case ClaimKind::Equal:
    stream << "(= " << name(claim.left) << ' ' << name(claim.right) << ')';
    return;
  case ClaimKind::NonZero:
    stream << "(not (= " << name(claim.left) << " 0.0))";
    return;
  case ClaimKind::NonNegative:
    stream << "(>= " << name(claim.left) << " 0.0)";
    return;
  case ClaimKind::Positive:
    stream << "(> " << name(claim.left) << " 0.0)";
    return;
  }
}

void ScriptPrinter::printFact(const Claim &claim) {
  stream << "(assert ";
  printClaim(claim);
  stream << ")\n";
}

void ScriptPrinter::printAssertion(const LawInstance &instance) {
  stream << "; " << getName(instance.law) << "\n(assert (=> (and true";
  for (const Claim &premise : instance.premises) {
    stream << ' ';
    printClaim(premise);
  }
  stream << ") (or false";
  for (const Claim &conclusion : instance.conclusions) {
    stream << ' ';
    printClaim(conclusion);
  }
  stream << ")))\n";
}

void ScriptPrinter::printGoal(llvm::ArrayRef<Claim> claims) {
  stream << "; the negation of all steps\n(assert (not (and true";
  for (const Claim &claim : claims) {
    stream << "\n  ";
    printClaim(claim);
  }
  stream << ")))\n(check-sat)\n";
}

void ScriptPrinter::printGoal(llvm::ArrayRef<Claim> claims, const Claim &goal) {
  stream << "(push 1)\n";
  printGoal(claims);
  stream << "(pop 1)\n; the negation of what the steps make up\n";
  for (const Claim &claim : claims)
    printFact(claim);
  stream << "(assert (not ";
  printClaim(goal);
  stream << "))\n(check-sat)\n";
}

std::string verify::printSmtLib(const TermAlgebra &terms, const Query &query,
                                std::optional<Claim> goal, bool isProved,
                                llvm::ArrayRef<std::string> comments) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (llvm::StringRef comment : comments)
    stream << "; " << comment << '\n';
  stream << "(set-logic ALL)\n(set-info :status "
         << (isProved ? "unsat" : "unknown") << ")\n";
  ScriptPrinter printer(terms, stream);
  bool hasRight = goal && goal->kind == ClaimKind::Equal;
  if (goal && (!printer.canDefine(goal->left) ||
               (hasRight && !printer.canDefine(goal->right)))) {
    stream << "; the steps only: what they make up may be infinite in part\n";
    goal.reset();
  }
  auto defineClaims = [&](llvm::ArrayRef<Claim> claims) {
    for (const Claim &claim : claims) {
      printer.define(claim.left);
      if (claim.kind == ClaimKind::Equal)
        printer.define(claim.right);
    }
  };
  for (const LawInstance &instance : query.instances) {
    defineClaims(instance.premises);
    defineClaims(instance.conclusions);
  }
  defineClaims(query.facts);
  defineClaims(query.claims);
  if (goal)
    defineClaims(*goal);
  for (const LawInstance &instance : query.instances)
    printer.printAssertion(instance);
  for (const Claim &fact : query.facts)
    printer.printFact(fact);
  if (goal)
    printer.printGoal(query.claims, *goal);
  else
    printer.printGoal(query.claims);
  return text;
}
