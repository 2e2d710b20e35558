//===- WitnessFile.cpp - inputs of a counterexample as a file -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WitnessFile.h"

#include "Boundaries.h"
#include "Verify/Output/TensorFile.h"

using namespace mlir;
using namespace verify;

static TensorFile::Kind getKind(Type type) {
  switch (getElementKind(type)) {
  case ElementKind::Integer:
    return TensorFile::Kind::Integer;
  case ElementKind::Boolean:
    return TensorFile::Kind::Boolean;
  case ElementKind::Real:
  case ElementKind::Extended:
  case ElementKind::Other:
    break;
  }
  return TensorFile::Kind::Real;
}

/// All elements of an input, in row-major order.
static std::vector<double> listElements(Value input,
                                        const FactorAnalysis &factors,
                                        DoubleAlgebra &algebra,
                                        WitnessInputs &inputs) {
  auto type = cast<RankedTensorType>(input.getType());
  // By dimension and position.
  SmallVector<std::vector<int64_t>> standFor;
  for (auto [size, node] :
       llvm::zip_equal(type.getShape(), factors.getDimensions(input))) {
    std::vector<int64_t> &positions = standFor.emplace_back(size);
    for (int64_t i = 0; i < size; ++i)
      positions[i] = factors.getRepresentative(node, i);
  }
  std::vector<double> elements;
  elements.reserve(type.getNumElements());
  SmallVector<int64_t> index(type.getRank()), at(type.getRank());
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    for (auto [d, positions] : llvm::enumerate(standFor))
      at[d] = positions[index[d]];
    // Small parts of powers of two are doubles.
    elements.push_back(algebra.toDouble(inputs.input(input, at)));
    for (int64_t d = type.getRank() - 1; d >= 0; --d) {
      if (++index[d] < type.getDimSize(d))
        break;
      index[d] = 0;
    }
  }
  return elements;
}

llvm::Expected<bool> verify::writeWitness(StringRef path, tv::GraphOp graph,
                                          const FactorAnalysis &factors,
                                          const WitnessSeed &seed) {
  FailureOr<WitnessRange> range = getWitnessRange(factors);
  if (failed(range))
    return llvm::createStringError(noDataReason);
  // Two of one name and shape are the same numbers.
  llvm::StringMap<tv::InputOp> byName;
  SmallVector<tv::InputOp> listed;
  int64_t count = 0;
  bool isComplete = true;
  for (auto input : graph.getBody().getOps<tv::InputOp>()) {
    StringRef name = input.getContract().getName().getValue();
    bool isOfDevice =
        input.getContract().getRole() == tv::ContractRole::Random &&
        name.contains(onDevice);
    isComplete &= !isOfDevice;
    if (isOfDevice || !byName.try_emplace(name, input).second)
      continue;
    listed.push_back(input);
    int64_t own =
        cast<RankedTensorType>(input.getResult().getType()).getNumElements();
    if (llvm::AddOverflow(count, own, count))
      count = std::numeric_limits<int64_t>::max();
  }
  if (count > TensorFile::elementLimit)
    return llvm::createStringError("inputs and parameters have " +
                                   Twine(count) + " elements, and at most " +
                                   Twine(TensorFile::elementLimit) +
                                   " are written");
  auto file = TensorFile::open(path);
  if (!file)
    return file.takeError();
  DoubleAlgebra algebra;
  WitnessInputs inputs(algebra, seed, std::move(*range));
  for (tv::InputOp input : listed) {
    Value value = input.getResult();
    (*file)->add(input.getContract().getName().getValue(),
                 cast<RankedTensorType>(value.getType()).getShape(),
                 getKind(value.getType()),
                 listElements(value, factors, algebra, inputs));
  }
  if (llvm::Error error = (*file)->keep())
    return error;
  return isComplete;
}
