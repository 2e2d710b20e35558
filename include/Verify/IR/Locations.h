//===- Locations.h - what ops are called, and where they are ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_IR_LOCATIONS_H
#define VERIFY_IR_LOCATIONS_H

#include "mlir/IR/Location.h"

#include <string>

namespace verify {

/// What the location calls the op that is there: `linear (cell 412)`. Empty
/// where it has no name.
std::string getOpName(mlir::Location location);
/// The same without the number, which other ops of the same line of the model
/// do not have: `linear`.
llvm::StringRef getOpKind(mlir::Location location);
/// The place in a file, of the first of several; null if there is none.
mlir::FileLineColLoc getFilePlace(mlir::Location location);

} // namespace verify

#endif // VERIFY_IR_LOCATIONS_H
