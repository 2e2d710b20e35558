//===- Boxes.h - parts of tensors in all dimensions -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_SEMANTICS_BOXES_H
#define VERIFY_SEMANTICS_BOXES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <utility>

namespace verify {

/// Of each dimension the first position and the one after the last.
using Box = llvm::SmallVector<std::pair<int64_t, int64_t>, 4>;

/// The cells of the grid that the ends of `boxes` make of a tensor; saturates.
uint64_t countCells(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Box> boxes);
/// The first of these cells that lies in no box, the first dimension running
/// fastest; none if the boxes together are all of the tensor.
std::optional<Box> findUncovered(llvm::ArrayRef<int64_t> shape,
                                 llvm::ArrayRef<Box> boxes);

} // namespace verify

#endif // VERIFY_SEMANTICS_BOXES_H
