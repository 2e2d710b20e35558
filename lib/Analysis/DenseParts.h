//===- DenseParts.h - parts of the elements of a value ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_ANALYSIS_DENSEPARTS_H
#define VERIFY_LIB_ANALYSIS_DENSEPARTS_H

#include "DenseRelation.h"

namespace verify {

/// How an axis or a dimension lies in a tensor: `count` parts of `stride`
/// elements each, again and again.
struct PartLayout {
  int64_t stride, count;
};

/// Whether `left` stands for the same as `right`, or more.
bool coversSame(NumericAlgebra &algebra, Scalar left, Scalar right);

/// Whether the elements from `left` on stand for `count` ones from `right` on.
bool coversSame(NumericAlgebra &algebra, const DenseTensor &tensor,
                int64_t left, int64_t right, int64_t count);

/// The tensor of the chosen parts, in order, which shares the scalars of
/// `tensor` and has its strides.
DenseTensor selectParts(const DenseTensor &tensor, PartLayout parts,
                        llvm::ArrayRef<int64_t> chosen);

/// Leaves the chosen parts only, and gives the scalars of others back.
void keepParts(DenseTensor &tensor, PartLayout parts,
               llvm::ArrayRef<int64_t> chosen, NumericAlgebra &algebra);

} // namespace verify

#endif // VERIFY_LIB_ANALYSIS_DENSEPARTS_H
