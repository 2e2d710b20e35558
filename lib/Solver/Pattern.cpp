//===- Pattern.cpp - obligations whatever their unknowns are called -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pattern.h"

#include "llvm/ADT/DenseMap.h"

using namespace verify;

/// Most bytes of patterns that are kept; what comes later is proved again.
static constexpr size_t sizeLimit = size_t(1) << 28;

namespace {
/// Writes each term once, after its operands.
class PatternWriter {
public:
  explicit PatternWriter(const TermAlgebra &terms) : terms(terms) {}

  void writeNumber(uint64_t number) {
    bytes.append(reinterpret_cast<const char *>(&number), sizeof(number));
  }
  void writeTerm(Scalar root) {
    // Without recursion, because sums may be chains.
    llvm::SmallVector<std::pair<Scalar, bool>> stack{{root, false}};
    while (!stack.empty()) {
      auto [term, isReady] = stack.pop_back_val();
      if (numbers.contains(term.bits))
        continue;
      if (isReady) {
        writeNode(term);
        continue;
      }
      stack.push_back({term, true});
      for (Scalar operand : llvm::reverse(terms.getOperands(term)))
        stack.push_back({operand, false});
    }
    bytes += 'r';
    writeNumber(numbers.lookup(root.bits));
  }
  std::string take() { return std::move(bytes); }

private:
  void writeNode(Scalar term) {
    bytes += 'n';
    terms.writeOperation(term, bytes);
    writeNumber(terms.getOperands(term).size());
    for (Scalar operand : terms.getOperands(term))
      writeNumber(numbers.lookup(operand.bits));
    numbers.try_emplace(term.bits, numbers.size());
  }

  const TermAlgebra &terms;
  llvm::DenseMap<uint64_t, uint64_t> numbers;
  std::string bytes;
};
} // namespace

std::string verify::getPattern(const TermAlgebra &terms, Scalar left,
                               Scalar right,
                               llvm::ArrayRef<Condition> hypotheses,
                               SmallCase smallCase) {
  PatternWriter writer(terms);
  writer.writeNumber(static_cast<uint64_t>(smallCase));
  writer.writeTerm(left);
  writer.writeTerm(right);
  writer.writeNumber(hypotheses.size());
  for (const Condition &hypothesis : hypotheses) {
    writer.writeNumber(static_cast<uint64_t>(hypothesis.kind));
    writer.writeTerm(hypothesis.term);
  }
  return writer.take();
}

void ProvedPatterns::add(llvm::StringRef pattern) {
  if (size + pattern.size() > sizeLimit || !patterns.insert(pattern).second)
    return;
  size += pattern.size();
}
