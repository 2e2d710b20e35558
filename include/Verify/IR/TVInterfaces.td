//===- TVInterfaces.td - what an op must say about itself --*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An op states its index relation, its scalar body and its derivative; shape
// checks, evaluation, shape reduction and gradients are derived from them.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_IR_TVINTERFACES
#define VERIFY_IR_TVINTERFACES

include "mlir/IR/OpBase.td"

def TV_SemanticsOpInterface : OpInterface<"SemanticsOpInterface"> {
  let cppNamespace = "::verify::tv";
  let description = [{
    The meaning of an op with one result: an index relation (its iteration
    space as factors, and one index map for each tensor) and a scalar body.
    Neither has a default.
  }];
  let methods = [
    InterfaceMethod<"The iteration space and the index maps; failure if the "
      "types admit none, after an error at the op.",
      "::mlir::FailureOr<::verify::IndexRelation>", "getIndexRelation">,
    InterfaceMethod<"The scalar body: from one scalar for each access of the "
      "relation whose factors are all bound, then one integer for each "
      "position the relation asks for, to the scalar that is reduced.",
      "::verify::Scalar", "combine",
      (ins "::verify::ScalarAlgebra &":$algebra,
           "::llvm::ArrayRef<::verify::Scalar>":$scalars)>
  ];
  let verify = [{ return ::verify::verifyShapes($_op); }];
  let verifyWithRegions = 0;
}

def TV_DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::verify::tv";
  let description = [{
    The vector-Jacobian product of an op, as a rewrite into other ops.
  }];
  let methods = [
    InterfaceMethod<"Builds the gradients of the operands from the gradient of "
      "the result; a null value where an operand has none.",
      "::llvm::LogicalResult", "buildGradients",
      (ins "::mlir::OpBuilder &":$builder, "::mlir::Value":$resultGradient,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$operandGradients)>
  ];
}

def TV_CompositionOpInterface : OpInterface<"CompositionOpInterface"> {
  let cppNamespace = "::verify::tv";
  let description = [{
    An op that is an abbreviation for others. `tv-canonicalize-ssa` replaces it;
    its derivative is that of its parts. The verifier refuses what does not
    decompose.
  }];
  let methods = [
    InterfaceMethod<"Builds the ops it stands for and returns its results.",
      "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "decompose",
      (ins "::mlir::OpBuilder &":$builder)>
  ];
  let verify = [{ return ::verify::verifyStaticShapes($_op); }];
}

#endif // VERIFY_IR_TVINTERFACES
