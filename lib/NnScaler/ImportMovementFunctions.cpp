//===- ImportMovementFunctions.cpp - other shapes and orders --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of PyTorch that give elements of their operands in other places.
//
//===----------------------------------------------------------------------===//

#include "ForwardOp.h"

using namespace mlir;
using namespace verify;
using namespace verify::nnscaler;

static void importView(ForwardOp &op, Results &results) {
  const Argument *size = op.keyword("size");
  if (!size)
    size = op.keyword("shape");
  if (!op.requireOperands(1))
    return;
  RankedTensorType type = op.resultType(0);
  if (!type)
    return;
  // The runtime uses the sizes, so they must be those of the output.
  if (!size || !size->isSequence()) {
    op.error() << "needs keyword 'size'";
    return;
  }
  if (size->getElements().size() != static_cast<size_t>(type.getRank())) {
    op.error() << "has " << size->getElements().size() << " sizes for rank "
               << type.getRank();
    return;
  }
  int64_t inferred = 0;
  for (auto [argument, expected] :
       llvm::zip(size->getElements(), type.getShape())) {
    if (argument.isTensor || argument.kind != ConstantKind::Integer) {
      op.error() << "sizes are not integers";
      return;
    }
    inferred += argument.getInteger() == -1;
    if (argument.getInteger() != -1 && argument.getInteger() != expected) {
      op.error() << "makes size " << argument.getInteger() << " where the plan "
                 << "declares " << expected;
      return;
    }
  }
  if (inferred > 1) {
    op.error() << "has more than one size of -1";
    return;
  }
  results.push_back(tv::ReshapeOp::create(op.builder, op.location, type,
                                          op.operands[0], tv::DomainAttr()));
}

static void importTranspose(ForwardOp &op, Results &results) {
  std::optional<int64_t> first = op.integer("dim0"),
                         second = op.integer("dim1");
  if (!op.requireOperands(1))
    return;
  if (!first || !second) {
    op.error() << "needs keywords 'dim0' and 'dim1'";
    return;
  }
  int64_t rank = op.operandType(0).getRank();
  SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(rank));
  int64_t one = op.dimension(*first, rank), other = op.dimension(*second, rank);
  RankedTensorType type = op.resultType(0);
  if (!type || op.failedAlready)
    return;
  std::swap(permutation[one], permutation[other]);
  results.push_back(tv::TransposeOp::create(op.builder, op.location, type,
                                            op.operands[0], permutation,
                                            tv::DomainAttr()));
}

void nnscaler::addMovementFunctions(ForwardRules &rules) {
  constexpr MinusInfinity kept = MinusInfinity::Kept;
  rules.insert({
      {"torch.Tensor.view", {importView, kept}},
      {"torch.Tensor.reshape", {importView, kept}},
      {"torch.transpose", {importTranspose, kept}},
  });
}
