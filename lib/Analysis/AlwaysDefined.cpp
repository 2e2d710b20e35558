//===- AlwaysDefined.cpp - what is defined whatever it is made of ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Analysis/DefinedTensors.h"
#include "Verify/Analysis/DenseEvaluator.h"
#include "Verify/Scalar/SignAlgebra.h"

using namespace mlir;
using namespace verify;

/// Scalar operations that are worth it; more would take seconds.
static constexpr int64_t stepLimit = int64_t(1) << 24;

namespace {
/// Tensors of which nothing is known.
class AnyElements final : public ElementSource {
public:
  Scalar input(Value value, ArrayRef<int64_t>) override {
    return getAny(value.getType());
  }
  Scalar opaque(unsigned, Type type, ArrayRef<int64_t>) override {
    return getAny(type);
  }
  Scalar undefined(Operation *op, ArrayRef<int64_t>) override {
    readsUndefined = true;
    return getAny(op->getResult(0).getType());
  }
  /// Sequences are long, and elements are alike.
  LongPositions getLongPositions() const override {
    return LongPositions::Last;
  }

  bool readsUndefined = false;

private:
  static Scalar getAny(Type type) {
    uint8_t infinite = isExtended(type) ? SignAlgebra::MinusInfinity : 0;
    return SignAlgebra::fromSigns(SignAlgebra::anyReal | infinite);
  }
};
} // namespace

bool verify::isAlwaysDefined(tv::StageOp definition) {
  Block &body = definition.getBody().front();
  // One position of each sort stands for all: whatever an element is made of,
  // its signs are those of the same at other positions, and a sum of several
  // has the signs that sums of different ones can have. Numbers of positions,
  // which are exact, are those of single positions where anything but inputs is
  // compared with them (`FactorAnalysis::relateData`).
  FactorAnalysis factors(body, definition.getMesh(),
                         {FactorAnalysis::Positions::Exact, /*fixedWidth=*/0});
  if (factors.getFailure())
    return false;
  SignAlgebra signs;
  AnyElements source;
  DenseEvaluator evaluator(factors, signs, source);
  evaluator.limitSteps(stepLimit);
  SmallVector<Value> tensors;
  for (auto expect : body.getOps<tv::ExpectOp>())
    tensors.push_back(expect.getReference());
  return !tensors.empty() && succeeded(evaluator.run({}, tensors)) &&
         !evaluator.getUndefinedOp() && !source.readsUndefined &&
         !signs.status().isUndefined && !signs.status().isUndecided;
}
