//===- ElementwiseBase.td - bases of elementwise ops -------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_IR_ELEMENTWISEBASE
#define VERIFY_IR_ELEMENTWISEBASE

include "Verify/IR/TVAttributes.td"

class TV_ElementwiseOp<string mnemonic, dag operands, list<Trait> traits = []>
    : TV_ComputeOp<mnemonic, traits> {
  let arguments = !con(operands, (ins OptionalAttr<TV_DomainAttr>:$domain));
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = [{
    operands (`on` $domain^)? attr-dict `:` functional-type(operands, results)
  }];
  /// The scalar body, in terms of `algebra` and `scalars`.
  code body = "";
  let extraClassDefinition = !strconcat([{
    ::mlir::FailureOr<::verify::IndexRelation> $cppClass::getIndexRelation() {
      return ::verify::elementwiseRelation(*this);
    }
    ::verify::Scalar $cppClass::combine(
        ::verify::ScalarAlgebra &algebra,
        ::llvm::ArrayRef<::verify::Scalar> scalars) {
      return }], body, [{;
    }
  }]);
}

class TV_UnaryOp<string mnemonic, code scalarBody, list<Trait> traits = []>
    : TV_ElementwiseOp<mnemonic, (ins TV_Tensor:$operand), traits> {
  let body = scalarBody;
}

class TV_BinaryOp<string mnemonic, code scalarBody, list<Trait> traits = []>
    : TV_ElementwiseOp<mnemonic, (ins TV_Tensor:$left, TV_Tensor:$right),
                       traits> {
  let body = scalarBody;
}

#endif // VERIFY_IR_ELEMENTWISEBASE
