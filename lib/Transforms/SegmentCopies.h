//===- SegmentCopies.h - segments of a device that do the same --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A micro-batch may have segments of its own, of the same ops of the model as
// those of the others. Where all of such a segment is as in another one of its
// device, which of two ops a value is of says nothing.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_SEGMENTCOPIES_H
#define VERIFY_LIB_TRANSFORMS_SEGMENTCOPIES_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

#include <map>
#include <memory>
#include <vector>

namespace verify {

class SegmentCopies {
public:
  /// The first op with the same properties, types and attributes as another.
  using FirstLike = llvm::function_ref<mlir::Operation *(mlir::Operation *)>;

  /// Whether two ops have the same place in two segments of which each op is of
  /// one place and name of the model, alike, and of the same operands, but for
  /// the numbers of ops that are differentiated.
  bool areCopies(mlir::Operation *left, mlir::Operation *right,
                 FirstLike getFirstLike);

private:
  struct Segment {
    unsigned content; ///< the same for those that are copies
    llvm::DenseMap<mlir::Operation *, unsigned> places;
  };
  const Segment &read(mlir::Block &segment, FirstLike getFirstLike);

  llvm::DenseMap<mlir::Block *, std::unique_ptr<Segment>> segments;
  std::map<std::vector<uintptr_t>, unsigned> contents;
};

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_SEGMENTCOPIES_H
