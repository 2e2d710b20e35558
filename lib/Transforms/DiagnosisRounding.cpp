//===- DiagnosisRounding.cpp - differences that may be none ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diagnosis.h"

using namespace mlir;
using namespace verify;

void Diagnosis::acceptRounding(ArrayRef<tv::ExpectOp> results,
                               ArrayRef<tv::ExpectOp> candidates) {
  bool hasMore = false, isOrdered = false;
  for (tv::ExpectOp result : results)
    if (auto found = differences.find(result); found != differences.end()) {
      hasMore |= !found->second.isFaint;
      isOrdered |= !found->second.isFaint && !found->second.isUnordered;
    }
  for (tv::ExpectOp expect : candidates) {
    auto found = differences.find(expect);
    if (found == differences.end())
      continue;
    bool isFaint = found->second.isFaint && hasMore;
    bool isUnordered = found->second.isUnordered && isOrdered;
    if (isFaint)
      agreeing.insert(expect);
    else if (isUnordered)
      unordered.emplace_back(expect, found->second);
    if (isFaint || isUnordered)
      differences.erase(found);
  }
}

tv::ExpectOp Diagnosis::findUnordered() const {
  for (const auto &[expect, difference] : unordered)
    if (tv::ExpectOp(expect).getContract())
      return expect;
  return nullptr;
}

void Diagnosis::lookAtUnordered() {
  setsAside |= !differences.empty();
  differences.clear();
  for (auto &[expect, difference] : std::exchange(unordered, {}))
    differences[expect] = std::move(difference);
}

void Diagnosis::setAside(double most) {
  double mostInside = std::min(most, mostOfRemainders);
  SmallVector<Operation *> found;
  for (const auto &[op, difference] : differences) {
    bool isResult = static_cast<bool>(cast<tv::ExpectOp>(op).getContract());
    if (difference.distance <= (isResult ? most : mostInside))
      found.push_back(op);
  }
  for (Operation *op : found)
    differences.erase(op);
  setsAside |= !found.empty();
}
