//===- LineageOps.td - what relates plan and reference -----*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_IR_LINEAGEOPS
#define VERIFY_IR_LINEAGEOPS

include "mlir/IR/RegionKindInterface.td"
include "Verify/IR/TVAttributes.td"

def TV_GraphOp : TV_Op<"graph",
    [IsolatedFromAbove, NoTerminator, SingleBlock, Symbol]> {
  let summary = "both programs in SSA form, linked by lineage";
  let description = [{
    Ops without a domain belong to the reference program, ops with one to the
    plan. `tv.distribute` and `tv.expect` lead from one to the other.

    Example:

    ```mlir
    tv.graph @pair <dp = 2> {
      %0 = tv.input <parameter "w"> : tensor<8xf32>
      %1 = tv.distribute %0 <[dp, 0:4 of 4]> on <> : (tensor<8xf32>) -> tensor<4xf32>
      %2 = tv.negate %0 : (tensor<8xf32>) -> tensor<8xf32>
      %3 = tv.negate %1 on <> : (tensor<4xf32>) -> tensor<4xf32>
      tv.expect %3 is %2 <[dp, 0:4 of 4]> on <> : tensor<4xf32> is tensor<8xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TV_MeshAttr:$mesh);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name $mesh attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// Verifies that some ops of the body belong into a graph and read values
    /// where those exist.
    llvm::LogicalResult
    verifyOps(llvm::iterator_range<mlir::Block::iterator> ops);
  }];
}

def TV_StageOp : TV_Op<"stage",
    [IsolatedFromAbove, NoTerminator, SingleBlock, Symbol]> {
  let summary = "the unit of proof";
  let description = [{
    A function of reference tensors, with a list of `tv.expect` to prove for
    every value of them. It stands for the obligations in `expects`, by number.

    Example:

    ```mlir
    tv.stage @stage <dp = 2> expects array<i64: 3>(%0: tensor<8xf32>) {
      %1 = tv.negate %0 : (tensor<8xf32>) -> tensor<8xf32>
      %2 = tv.distribute %0 <[dp, 0:4 of 4]> on <> : (tensor<8xf32>) -> tensor<4xf32>
      %3 = tv.negate %2 on <> : (tensor<4xf32>) -> tensor<4xf32>
      tv.expect %3 is %1 <[dp, 0:4 of 4]> on <> : tensor<4xf32> is tensor<8xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TV_MeshAttr:$mesh,
    DenseI64ArrayAttr:$expects, OptionalAttr<ArrayAttr>:$factors);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasRegionVerifier = 1;
}

def TV_InputOp : TV_Op<"input", [Pure]> {
  let summary = "a tensor of the reference program nobody computes";
  let description = [{
    An input or a parameter of the model: universally quantified.

    Example: `%0 = tv.input <parameter "w"> : tensor<4x8xf32>`
  }];
  let arguments = (ins TV_ContractAttr:$contract);
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = "$contract attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def TV_DistributeOp : TV_Op<"distribute", [Pure]> {
  let summary = "the plan value that holds part of a reference tensor";
  let description = [{
    At each coordinate of its domain the part of `reference` that the lineage
    names. `assumes` is the number of the obligation that justifies it, or is
    absent where the contract does: in a graph the tensor has to be an input.

    Example: `%1 = tv.distribute %0 <[dp, 0:4 of 4]> on <device = 1> : (tensor<8xf32>) -> tensor<4xf32>`
  }];
  let arguments = (ins TV_Tensor:$reference, TV_LineageAttr:$lineage,
    TV_DomainAttr:$domain, OptionalProp<I64Prop>:$assumes);
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = [{
    $reference $lineage `on` $domain (`assumes` $assumes^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def TV_ExpectOp : TV_Op<"expect"> {
  let summary = "plan values put together give part of a reference tensor";
  let description = [{
    At each coordinate of the domain, the sum of `values`, each summed over the
    lineage's `sum` axes, is the part of `reference` that the lineage names. An
    expect with a contract is a result of the run; the others are stated by the
    frontend and used as lemmas once proved.

    Example: `tv.expect %1 is %0 <[dp, 0:4 of 4]> on <device = 1> : tensor<4xf32> is tensor<8xf32>`
  }];
  let arguments = (ins Variadic<TV_Tensor>:$values, TV_Tensor:$reference,
    TV_LineageAttr:$lineage, TV_DomainAttr:$domain,
    OptionalProp<I64Prop>:$number, OptionalAttr<TV_ContractAttr>:$contract);
  let assemblyFormat = [{
    $values `is` $reference $lineage `on` $domain (`number` $number^)?
    (`contract` $contract^)? attr-dict `:` type($values) `is` type($reference)
  }];
  let extraClassDeclaration = [{
    /// The number of devices, of those of one replica, that it is about; 1 where
    /// its domain names none.
    int64_t getNumDevices();
  }];
  let hasVerifier = 1;
}

def TV_UndefinedOp : TV_Op<"undefined", [Pure]> {
  let summary = "a value that nobody produces";
  let description = [{
    The plan reads a tensor that no op of the device has produced, or has memory
    that a broadcast writes to. Nothing that depends on it can be proved.

    Example: `%0 = tv.undefined "t45" : tensor<4xf32>`
  }];
  let arguments = (ins StrAttr:$name, OptionalAttr<TV_DomainAttr>:$domain);
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = "$name (`on` $domain^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif // VERIFY_IR_LINEAGEOPS
