//===- ImportModelFunctions.cpp - functions of the models -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that the authors of the models wrote and registered as one op. They
// are known by name: that the code behind a name computes what is built here is
// an assumption (docs/Soundness.md).
//
//===----------------------------------------------------------------------===//

#include "ForwardOp.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

static void importCausalMask(ForwardOp &op, Results &results) {
  RankedTensorType type = op.resultType(0);
  if (!type || !op.requireOperands(2))
    return;
  int64_t rank = type.getRank();
  if (rank < 2 || type.getDimSize(rank - 1) != type.getDimSize(rank - 2)) {
    op.error() << "gives " << type << ", which is not square";
    return;
  }
  results.push_back(tv::CausalMaskOp::create(op.builder, op.location, type,
                                             tv::DomainAttr()));
}

static void importRotary(ForwardOp &op, Results &results) {
  if (!op.requireOperands(3))
    return;
  for (unsigned i = 0; i < 2; ++i)
    if (RankedTensorType type = op.resultType(i))
      results.push_back(tv::ComplexProductOp::create(
          op.builder, op.location, type, op.operands[i], op.operands[2],
          /*position_dimension=*/1, tv::DomainAttr()));
}

static void importApplyMask(ForwardOp &op, Results &results) {
  RankedTensorType type = op.resultType(0);
  if (type && op.requireOperands(2))
    results.push_back(tv::AddOp::create(op.builder, op.location, type,
                                        op.operands[0], op.operands[1],
                                        tv::DomainAttr()));
}

ForwardRule nnscaler::findModelFunction(StringRef name) {
  static const llvm::StringMap<ForwardRule> table = {
      {"create_mask", {importCausalMask, MinusInfinity::Made}},
      {"apply_mask", {importApplyMask, MinusInfinity::Kept}},
      {"apply_rotary_emb", {importRotary}},
  };
  return table.lookup(name);
}
