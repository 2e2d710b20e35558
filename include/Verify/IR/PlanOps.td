//===- PlanOps.td - what each device runs, in order --------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_IR_PLANOPS
#define VERIFY_IR_PLANOPS

include "Verify/IR/TVAttributes.td"

def TV_PlanOp : TV_Op<"plan",
    [IsolatedFromAbove, NoTerminator, SingleBlock, Symbol, SymbolTable]> {
  let summary = "what every device of a replica executes";
  let description = [{
    Holds the buffers, segments and device programs of one data-parallel
    replica. Replica `r` runs the same with every device number shifted, so the
    replicas are the free axis `dp` of the mesh.

    Example:

    ```mlir
    tv.plan @plan <dp = 2, device = 1, mb = 1> {
      tv.segment @negate on 0 cell 2 {
      ^bb0(%0: tensor<4xf32>):
        %1 = tv.negate %0 : (tensor<4xf32>) -> tensor<4xf32>
        tv.return %1 : tensor<4xf32>
      }
      tv.program 0 {
        %0 = tv.load_data cell 1 ["x"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xf32>
        %1 = tv.call @negate(%0) instance 0 : (tensor<4xf32>) -> tensor<4xf32>
        tv.output %1 "y" <3, [0:4 of 4]> : tensor<4xf32>
      }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TV_MeshAttr:$mesh);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name $mesh attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def TV_BufferOp : TV_Op<"buffer",
    [Symbol, HasParent<"PlanOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "memory of one device that outlives a segment";
  let description = [{
    A parameter, or the gradient of the one that `gradient_of` names.

    Example: `tv.buffer @w1 on 1 "layers.0.weight" holds <3, [0:8 of 8]> : !tv.buffer<tensor<8xf32>>`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$device,
    StrAttr:$name, TV_PieceAttr:$piece, TypeAttrOf<TV_BufferType>:$type,
    OptionalAttr<FlatSymbolRefAttr>:$gradient_of);
  let assemblyFormat = [{
    $sym_name `on` $device $name `holds` $piece (`gradient_of` $gradient_of^)?
    attr-dict `:` $type
  }];
  let hasVerifier = 1;
}

def TV_ScratchOp : TV_Op<"scratch", [Symbol, HasParent<"PlanOp">]> {
  let summary = "memory of one device that is used again and again";
  let description = [{
    What it holds is no parameter and no gradient: an activation, or what is
    received. `tv.read`, `tv.write` and `into` name it as they name buffers;
    nothing is added to it. It holds nothing before the first write and after
    `tv.free`.

    Example: `tv.scratch @slot on 1 "slot 0" : !tv.buffer<tensor<8xf32>>`
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$device,
    StrAttr:$name, TypeAttrOf<TV_BufferType>:$type);
  let assemblyFormat = [{
    $sym_name `on` $device $name attr-dict `:` $type
  }];
  let hasVerifier = 1;
}

def TV_SegmentOp : TV_Op<"segment", [IsolatedFromAbove, Symbol,
    HasParent<"PlanOp">, SingleBlockImplicitTerminator<"ReturnOp">]> {
  let summary = "straight-line code of one device";
  let description = [{
    Runs once for each `tv.call`. `cell` is the frontend's number.

    Example:

    ```mlir
    tv.segment @negate on 0 cell 2 {
    ^bb0(%0: tensor<4xf32>):
      %1 = tv.negate %0 : (tensor<4xf32>) -> tensor<4xf32>
      tv.return %1 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$device,
    I64Attr:$cell, UnitAttr:$backward);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `on` $device `cell` $cell (`backward` $backward^)?
    attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
}

def TV_ReturnOp : TV_Op<"return",
    [Terminator, ParentOneOf<["SegmentOp"]>]> {
  let summary = "the results of a segment";
  let description = [{
    Example: `tv.return %0 : tensor<4xf32>`
  }];
  let arguments = (ins Variadic<TV_Tensor>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
  let builders = [OpBuilder<(ins), [{ }]>];
}

def TV_ProgramOp : TV_Op<"program",
    [HasParent<"PlanOp">, NoTerminator, SingleBlock]> {
  let summary = "what one device of the replica runs, in order";
  let description = [{
    Ops run in the order of the text; nothing else orders them.

    Example:

    ```mlir
    tv.program 0 {
      %0 = tv.receive from 1 : tensor<4xf32>
      tv.send %0 to 2 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins I64Attr:$device);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$device attr-dict-with-keyword $body";
  let hasRegionVerifier = 1;
}

def TV_LoadDataOp : TV_Op<"load_data", [HasParent<"ProgramOp">]> {
  let summary = "the next batch of the data loader";
  let description = [{
    The `k`-th execution of a loader on a device gives micro-batch `k`. `cell`
    is the frontend's number of the loader.

    Example: `%0 = tv.load_data cell 1 ["tokens"] holds [#tv.piece<2, [0:4 of 4]>] : tensor<4xi64>`
  }];
  let arguments = (ins I64Attr:$cell, StrArrayAttr:$names,
    TypedArrayAttrBase<TV_PieceAttr, "what each result holds">:$pieces);
  let results = (outs Variadic<TV_Tensor>:$results);
  let assemblyFormat = [{
    `cell` $cell $names `holds` $pieces attr-dict `:` type($results)
  }];
  let hasVerifier = 1;
}

def TV_RandomOp : TV_Op<"random", [ParentOneOf<["SegmentOp"]>]> {
  let summary = "the draws of a random op";
  let description = [{
    1 where an element is kept and 0 where it is dropped, or any number, as
    noise is. Draws depend on the random op, which `name` and the tensor of the
    piece identify, the element of the whole tensor and the micro-batch of
    `like`, or that of the execution where `like` is of none; under
    `random=per-device` of `tv-canonicalize-ssa` also on the device.

    Example: `%1 = tv.random "dropout" <14, [0:8 of 8]> like %0 : tensor<8xf32> -> tensor<8xf32>`
  }];
  let arguments = (ins StrAttr:$name, TV_PieceAttr:$piece, TV_Tensor:$like);
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = [{
    $name $piece `like` $like attr-dict `:` type($like) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TV_SeedOp : TV_Op<"seed", [ParentOneOf<["SegmentOp", "ProgramOp"]>]> {
  let summary = "the gradient of the loss with respect to itself: 1";
  let description = [{
    Example: `%0 = tv.seed : tensor<1xf32>`
  }];
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def TV_CallOp : TV_Op<"call",
    [HasParent<"ProgramOp">, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one execution of a segment";
  let description = [{
    `instance` numbers this execution; a backward one names the instance of the
    forward execution whose saved values it uses in `mirror`.

    Example: `%1 = tv.call @backward(%0) instance 3 mirror 2 : (tensor<4xf32>) -> tensor<4xf32>`
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<TV_Tensor>:$operands,
    I64Prop:$instance, OptionalProp<I64Prop>:$mirror);
  let results = (outs Variadic<TV_Tensor>:$results);
  let assemblyFormat = [{
    $callee `(` $operands `)` `instance` $instance (`mirror` $mirror^)?
    attr-dict `:` functional-type($operands, $results)
  }];
}

def TV_OutputOp : TV_Op<"output", [HasParent<"ProgramOp">]> {
  let summary = "a result of the run on this device";
  let description = [{
    Example: `tv.output %0 "loss" <9, [0:1 of 1]> : tensor<1xf32>`
  }];
  let arguments = (ins TV_Tensor:$value, StrAttr:$name, TV_PieceAttr:$piece);
  let assemblyFormat = "$value $name $piece attr-dict `:` type($value)";
}

def TV_ReadOp : TV_Op<"read",
    [ParentOneOf<["SegmentOp", "ProgramOp", "StartOp"]>,
     DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "what a buffer holds now";
  let description = [{
    In a `tv.start` it reads when what is started begins.

    Example: `%0 = tv.read @w : tensor<4xf32>`
  }];
  let arguments = (ins FlatSymbolRefAttr:$buffer);
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = "$buffer attr-dict `:` type($result)";
}

def TV_WriteOp : TV_Op<"write",
    [ParentOneOf<["SegmentOp", "ProgramOp"]>,
     DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "overwrites a buffer";
  let description = [{
    Example: `tv.write %0, @gradient_of_w : tensor<4xf32>`
  }];
  let arguments = (ins TV_Tensor:$value, FlatSymbolRefAttr:$buffer);
  let assemblyFormat = "$value `,` $buffer attr-dict `:` type($value)";
}

def TV_AddToOp : TV_Op<"add_to",
    [ParentOneOf<["SegmentOp", "ProgramOp"]>,
     DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "adds to what a buffer holds";
  let description = [{
    Example: `tv.add_to %0, @gradient_of_w : tensor<4xf32>`
  }];
  let arguments = (ins TV_Tensor:$value, FlatSymbolRefAttr:$buffer);
  let assemblyFormat = "$value `,` $buffer attr-dict `:` type($value)";
}

def TV_FreeOp : TV_Op<"free",
    [ParentOneOf<["SegmentOp", "ProgramOp"]>,
     DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "gives up what scratch memory holds";
  let description = [{
    No tensor that was read from it is used any more.

    Example: `tv.free @slot`
  }];
  let arguments = (ins FlatSymbolRefAttr:$buffer);
  let assemblyFormat = "$buffer attr-dict";
}

def TV_SendOp : TV_Op<"send",
    [ParentOneOf<["SegmentOp", "ProgramOp", "StartOp"]>]> {
  let summary = "sends a tensor to another device of the replica";
  let description = [{
    The tensors sent from one device to another arrive in the order of sending.

    Example: `tv.send %0 to 1 : tensor<4xf32>`
  }];
  let arguments = (ins TV_Tensor:$value, I64Attr:$peer);
  let assemblyFormat = "$value `to` $peer attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def TV_ReceiveOp : TV_Op<"receive",
    [ParentOneOf<["SegmentOp", "ProgramOp", "StartOp"]>]> {
  let summary = "receives a tensor from another device of the replica";
  let description = [{
    The next tensor that device `peer` has sent to this one.

    Example: `%0 = tv.receive from 1 : tensor<4xf32>`
  }];
  let arguments = (ins I64Attr:$peer);
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = "`from` $peer attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def TV_CommunicateOp : TV_Op<"communicate",
    [ParentOneOf<["SegmentOp", "ProgramOp", "StartOp"]>]> {
  let summary = "this device's part in a collective";
  let description = [{
    The device takes part with `value`; `group` lists the members of the
    replica in group order, and with `replicas` the group holds those of every
    replica. What reduces adds up, unless `by` names another combination. The
    root of a broadcast is the member that is read; that of an all-reduce the
    only one that gets the result.

    Example: `%1 = tv.communicate all_gather %0 group [0, 1] {dimension = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x8xf32>`
  }];
  let arguments = (ins TV_CollectiveKindAttr:$kind, TV_Tensor:$value,
    DenseI64ArrayAttr:$group, UnitAttr:$replicas,
    OptionalAttr<I64Attr>:$dimension, OptionalAttr<I64Attr>:$split_dimension,
    OptionalAttr<I64Attr>:$root,
    DefaultValuedAttr<TV_ReductionKindAttr,
                      "::verify::tv::ReductionKind::Sum">:$reduction);
  let results = (outs TV_Tensor:$result);
  let assemblyFormat = [{
    `` $kind $value `group` $group (`replicas` $replicas^)?
    (`by` `` $reduction^)? attr-dict
    `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def TV_StartOp : TV_Op<"start",
    [ParentOneOf<["SegmentOp", "ProgramOp"]>, NoTerminator, SingleBlock,
     DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "starts communication or a computation, and does not wait for it";
  let description = [{
    The region holds one `tv.send`, `tv.receive` or `tv.communicate`, which takes
    its place among those of its channel or group here; it is over at the
    `tv.wait` for the handle, and not before. Communication that was started
    goes on by itself. With `into` the result is put into a gradient buffer
    or scratch memory, which holds it from the wait on; otherwise the wait gives it.

    In a `tv.program` the region may also hold one op that computes one tensor.
    What a program starts runs on a stream of its own, beside the program and
    all that was started, or on the one that `stream` names: there each begins
    when what was started there before is over. It begins after all that the
    handles of `after` stand for, too: the stream waits for their events while
    the program goes on. The program waits for each handle once nevertheless.
    Ops `tv.read` before the op that is started read when that begins.

    A tensor that is read from a buffer is a view of it, and so are the slices,
    reshapes and copies of it: while what was started may run, nothing may write
    to a buffer that it reads, nor read or write that of `into`. It may run from
    its start to its wait, or to that of something that comes after it.

    Example:

    ```mlir
    %handle = tv.start into @gradient_of_w {
      %0 = tv.receive from 1 : tensor<4xf32>
    }
    %reduced = tv.start stream "reductions" after %handle into @gradient_of_w {
      %0 = tv.read @gradient_of_w : tensor<4xf32>
      %1 = tv.communicate all_reduce %0 group [0] replicas : (tensor<4xf32>) -> tensor<4xf32>
    }
    tv.wait %handle
    tv.wait %reduced
    ```
  }];
  let arguments = (ins OptionalAttr<StrAttr>:$stream,
    Variadic<TV_HandleType>:$after, OptionalAttr<FlatSymbolRefAttr>:$into);
  let results = (outs TV_HandleType:$handle);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`stream` $stream^)? (`after` $after^)? (`into` $into^)?
    attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    /// The op that is started, the last one; null if the region does not hold
    /// one op and reads of buffers before it.
    ::mlir::Operation *getStarted();
    /// Whether that is communication.
    bool startsCommunication();
    /// Whether that is a computation which may be started here.
    bool startsComputation();
    /// Whether it begins at once and reads no buffer by itself, as what a
    /// segment starts.
    bool isPlain();
    /// The first op that waits for the handle, or null.
    ::verify::tv::WaitOp getWait();
  }];
}

def TV_WaitOp : TV_Op<"wait", [ParentOneOf<["SegmentOp", "ProgramOp"]>]> {
  let summary = "waits until what was started is over";
  let description = [{
    Gives the result of what was started, unless there is none or it goes into a
    buffer. Each handle is waited for once; `tv-check-schedule` says where it is
    not.

    Example:

    ```mlir
    %handle = tv.start {
      %0 = tv.receive from 1 : tensor<4xf32>
    }
    %1 = tv.wait %handle : tensor<4xf32>
    ```
  }];
  let arguments = (ins TV_HandleType:$handle);
  let results = (outs Optional<TV_Tensor>:$result);
  let assemblyFormat = "$handle attr-dict (`:` type($result)^)?";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// What gave the handle, if that is an op of the same block.
    ::verify::tv::StartOp getStart();
  }];
}

def TV_BackwardOp : TV_Op<"backward", [HasParent<"SegmentOp">]> {
  let summary = "the gradients of an op of the forward segment";
  let description = [{
    From the gradients of the forward op's results, in order, to those of the
    operands in `wrt`. `forward` is the frontend's number of the forward op; its
    operands are those saved by the mirrored call.

    Example: `%1, %2 = tv.backward %0 of 17 {outputs = array<i64: 0>, wrt = array<i64: 0, 1>} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)`
  }];
  let arguments = (ins Variadic<TV_Tensor>:$gradients, I64Prop:$forward,
    DenseI64ArrayAttr:$wrt, DenseI64ArrayAttr:$outputs);
  let results = (outs Variadic<TV_Tensor>:$results);
  let assemblyFormat = [{
    $gradients `of` $forward attr-dict `:` functional-type($gradients, $results)
  }];
  let hasVerifier = 1;
}

def TV_SaveOp : TV_Op<"save",
    [AttrSizedOperandSegments, HasParent<"SegmentOp">]> {
  let summary = "keeps an op's operands and results for its backward";
  let description = [{
    The forward op numbered `op` maps `inputs` to `outputs`; whatever lies
    between is differentiated by the `tv.backward` that names the number.

    Example: `tv.save 187 from %0 to %1 : tensor<4xf32> to tensor<8xf32>`
  }];
  let arguments = (ins I64Prop:$op, Variadic<TV_Tensor>:$inputs,
                       Variadic<TV_Tensor>:$outputs);
  let assemblyFormat = [{
    $op `from` $inputs `to` $outputs attr-dict
    `:` type($inputs) `to` type($outputs)
  }];
}

#endif // VERIFY_IR_PLANOPS
