//===- TVDialect.cpp - the tv dialect -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/TVDialect.h"

#include "Verify/IR/TVOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace verify::tv;

#include "Verify/IR/TVDialect.cpp.inc"
#include "Verify/IR/TVEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "Verify/IR/TVTypes.cpp.inc"

LogicalResult
ExtendedType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                     Type real) {
  if (!isa<FloatType>(real))
    return emitError() << "elements of type " << real << " are no real numbers";
  return success();
}

void TVDialect::initialize() {
  registerAttributes();
  addTypes<
#define GET_TYPEDEF_LIST
#include "Verify/IR/TVTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "Verify/IR/TVOps.cpp.inc"
      >();
}
