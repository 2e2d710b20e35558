# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Edits plans so that the code that is made of them is other code than they read, or none.

usage: generated_code.py WORK [NAME]

Taken by what their objects are called and connected, the plans would be proved. Each is
an error at what is written otherwise.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hostile_plans import (
    Edit,
    cells,
    check_edits,
    everything,
    linear,
    make,
    parameter,
    primitive,
    primitives,
)
from tests.reading import StandIn, class_name, executed, is_tensor

ADAPTER = "nnscaler.runtime.adapter."


def _with(tensor: Any, **fields: Any) -> Any:
    """Another object of the same tensor."""
    other = make("nnscaler.ir.tensor", "IRSubTensor")
    vars(other).update(vars(tensor), **fields)
    return other


def _another_variable(root: Any) -> None:
    """What is summed in place in the backward gets another name."""
    for adapter in cells(root, "IRAdapter"):
        call = adapter._prims[0]
        if adapter._forward and class_name(call) == "IdentityAllreducePrim":
            adapter._outputs = call._outputs = [_with(call._outputs[0], name="another")]


def _names(root: Any, name: str) -> None:
    for op in cells(root, "IRDimops"):
        for tensor in filter(is_tensor, [*op._inputs, *op._outputs]):
            if tensor._id == linear(root)._outputs[0]._id:
                tensor.name = name


def _methods(root: Any) -> None:
    """`segment1` and 23, `segment` and 123."""
    found = [executed(cell) for cell in root.execplan._seq[0] if _is_forward(cell)]
    first, second = {id(segment): segment for segment in found}.values()
    first.name, first._id = "segment1", 23
    second.name, second._id = "segment", 123


def _is_forward(cell: Any) -> bool:
    segment = executed(cell)
    return class_name(segment) == "IRSegment" and class_name(segment._nodes[0]) == "IRDimops"


def _calls(name: str, function: str) -> Callable[[Any], None]:
    """The first primitive of a class calls another function."""

    def change(root: Any) -> None:
        primitive(root, name).signature = ADAPTER + function

    return change


def _keyword(name: str, **keywords: Any) -> Callable[[Any], None]:
    """Changes keywords of the first primitive of a class; leaves out what is None."""

    def change(root: Any) -> None:
        call = primitive(root, name)
        changed = {**call.kwargs, **keywords}
        call.kwargs = {key: value for key, value in changed.items() if value is not None}

    return change


def _loader(root: Any, **fields: Any) -> None:
    for sequence in root.execplan._seq.values():
        for cell in sequence:
            if class_name(executed(cell)) == "IRDataOperation":
                vars(executed(cell)).update(fields)
                cell._inputs = executed(cell)._inputs


def _flag(name: str, value: object) -> Callable[[Any], None]:
    """The whole of the first parameter says something else than its parts: it counts."""

    def change(root: Any) -> None:
        setattr(parameter(root)._full_tensor, name, value)

    return change


def _flag_all(name: str, value: bool) -> Callable[[Any], None]:
    """The whole of the first parameter and all of its parts say something else."""

    def change(root: Any) -> None:
        full = parameter(root)._full_tensor
        setattr(full, name, value)
        for kind in ("IRDimops", "IRWeightReducer"):
            for op in cells(root, kind):
                for tensor in filter(is_tensor, op._inputs):
                    if tensor._full_tensor is full:
                        setattr(tensor, name, value)

    return change


def _reduced_gradients(root: Any) -> None:
    """Reducers take gradients in place of the parameters that have them."""
    for reducer in cells(root, "IRWeightReducer"):
        reducer._inputs = [tensor._grad for tensor in reducer._inputs]


def _alone(kind: str, function: str, **keywords: Any) -> Callable[[Any], None]:
    """What joins several tensors gets one by itself."""

    def change(root: Any) -> None:
        for adapter in cells(root, "IRAdapter"):
            call = adapter._prims[0]
            if not adapter._forward or class_name(call) != "IdentityAllreducePrim":
                continue
            other = make("nnscaler.ir.adapter.prim", kind)
            vars(other).update(vars(call), kwargs=keywords, signature=ADAPTER + function)
            adapter._prims, adapter._differentiable = [other], False

    return change


def _twice(root: Any) -> None:
    """Two primitives of one adapter in a backward segment give one gradient."""
    for adapter in cells(root, "IRAdapter"):
        call = adapter._prims[0]
        if class_name(call) != "AllReduceIdentityPrim" or adapter._forward:
            continue
        adapter.custom = adapter._mirror.custom = True
        (before,), (after,) = adapter._inputs, adapter._outputs
        calls = []
        for _ in range(2):
            copy = make("nnscaler.ir.adapter.prim", "IdentityPrim")
            vars(copy).update(vars(call), kwargs={}, signature=ADAPTER + "identity")
            copy._inputs, copy._outputs = [before], [_with(after, _id=900_000)]
            calls.append(copy)
        adapter._prims = calls
        return


def _call(
    kind: str, function: str, operands: list[Any], results: list[Any], **keywords: Any
) -> Any:
    """A primitive."""
    call = make("nnscaler.ir.adapter.prim", kind)
    vars(call).update(_inputs=operands, _outputs=results, kwargs=keywords)
    call.signature = ADAPTER + function
    return call


def _half(tensor: Any, of: Any) -> Any:
    """Divides a tensor by two."""
    ranges = tuple(slice(0, size, None) for size in tensor._shape)
    return _call("SelectPrim", "select", [tensor], [of], indmap=ranges, valmap=2)


def _adapter(like: Any, operand: Any, result: Any, calls: list[Any]) -> Any:
    """An adapter on the device of a cell."""
    made = make("nnscaler.ir.adapter.adapter", "IRAdapter")
    vars(made).update({name: value for name, value in vars(like).items() if name != "_nodes"})
    vars(made).update(_id=900_000, name="adapter", _inputs=[operand], _outputs=[result])
    vars(made).update(_prims=calls, _forward=True, _differentiable=False, custom=False)
    made._mirror = None
    return made


def _two_halves(root: Any) -> None:
    """Sends a half of a gradient twice: what is received last is there, not the sum."""
    for sequence in root.execplan._seq.values():
        for adapter in {id(cell): cell for cell in map(executed, sequence)}.values():
            if class_name(adapter) != "IRAdapter" or adapter._forward:
                continue
            (move,) = adapter._prims
            if not adapter._inputs:
                adapter._prims = [move, move]
                continue
            half = _with(adapter._inputs[0], _id=900_000 + adapter._inputs[0]._id)
            adapter._prims = [_half(adapter._inputs[0], half)]
            for _ in range(2):
                adapter._prims.append(_call("MovePrim", "move", [half], [], **move.kwargs))


def _detach(root: Any, full: Any) -> None:
    """Takes the gradient from a tensor."""
    gradient = full._grad
    full._grad, full._requires_grad = None, False
    for each in everything(root):
        for tensor in filter(is_tensor, [*each._inputs, *each._outputs]):
            if tensor._full_tensor is full:
                tensor._grad, tensor._requires_grad = None, False
        if gradient:
            kept = [one for one in each._outputs if one._full_tensor is not gradient]
            each._outputs = kept


def _local(root: Any) -> None:
    """What a custom adapter does to its operand stays in the function that it becomes."""
    segment = next(cell for cell in map(executed, root.execplan._seq[0]) if _is_forward(cell))
    op = segment._nodes[0]
    data = op._inputs[0]
    _detach(root, data._full_tensor)
    # The data twice, halved by an adapter that gives something else.
    full = make("nnscaler.ir.tensor", "IRFullTensor")
    vars(full).update(vars(data._full_tensor), _id=900_001, _grad=None, _requires_grad=False)
    twice = _with(data, _id=900_002, _full_tensor=full, _grad=None, _requires_grad=False)
    add = make("nnscaler.graph.function.dimops", "IRDimops")
    vars(add).update(vars(op), _id=900_003, name="add", signature="torch.add", _kwargs={})
    vars(add).update(_inputs=[data, data], _outputs=[twice], _mirror=None)
    other = _with(twice, _id=900_004)
    calls = [_half(twice, twice), _call("IdentityPrim", "identity", [twice], [other])]
    adapter = _adapter(op, twice, other, calls)
    mirror = _adapter(op, twice, other, [])
    for one in (adapter, mirror):
        one._differentiable = one.custom = True
    vars(mirror).update(_id=900_005, _forward=False, _inputs=[], _outputs=[], _mirror=adapter)
    adapter._mirror = mirror
    segment._nodes = [add, adapter, *segment._nodes]
    segment._mirror._nodes = [*segment._mirror._nodes, mirror]
    op._inputs = [twice, *op._inputs[1:]]


def _a_value(root: Any) -> None:
    """The gradient of the loss has a value: that of the loss."""
    sequence = root.execplan._seq[0]
    at = _first_backward(sequence)
    (gradient,), (loss,) = sequence[at]._inputs, root.execplan._outputs
    copy = _call("IdentityPrim", "identity", [loss], [gradient])
    sequence.insert(at, _adapter(sequence[at], loss, gradient, [copy]))


def _first_backward(sequence: list[Any]) -> int:
    for at, cell in enumerate(sequence):
        nodes = getattr(executed(cell), "_nodes", [])
        if nodes and class_name(nodes[0]) == "IRBpOperation":
            return at
    raise AssertionError("no backward")


def _positional(root: Any) -> None:
    linear(root)._inputs = [None, *linear(root)._inputs]


def _sum(root: Any, dimensions: object) -> None:
    for op in cells(root, "IRDimops"):
        if op.signature == "torch.sum":
            op._kwargs = {**op._kwargs, "dim": dimensions}


def _ranks(kind: Callable[[list[int]], object]) -> Callable[[Any], None]:
    """Groups that are something else than a list."""

    def change(root: Any) -> None:
        for call in primitives(root, "IdentityAllreducePrim"):
            ranks = kind(call.kwargs["ranks"])
            call.kwargs = {**call.kwargs, "ranks": ranks}

    return change


EDITS = [
    Edit("another variable", _another_variable, (3,), "has two names, '.*' and 'another'", "llama"),
    Edit("a variable's name", lambda r: _names(r, "x; y"), (3,), "cannot have the name 'x; y'"),
    Edit("a method's name", lambda r: setattr(cells(r, "IRSegment")[0], "name", "1x"), (3,), "cannot have the name '1x'"),
    Edit("one method", _methods, (3,), "becomes a method 'segment123', too", "interleaved"),
    Edit("two lines", lambda r: setattr(linear(r), "_comment", "one\nx = 2"), (3,), "more than one line"),
    Edit("another function", _calls("IdentityAllreducePrim", "nn.allreduce_identity"), (3,), "calls '.*identity', not '.*identity_allreduce'", "llama"),
    Edit("no function", lambda r: delattr(primitive(r, "MovePrim"), "signature"), (3,), "calls '', not '.*move'"),
    Edit("another loader", lambda r: _loader(r, signature="iter"), (3,), "calls 'iter' with 1 arguments"),
    Edit("no loader", lambda r: _loader(r, _inputs=[]), (3,), "calls 'next' with 0 arguments"),
    Edit("one more keyword", _keyword("MovePrim", dim=0), (3,), "unknown keyword 'dim'"),
    Edit("no shape", _keyword("MovePrim", shape=None), (3,), "needs keyword 'shape'"),
    Edit("a type by itself", _keyword("MovePrim", dtype="float32"), (3,), "keyword 'dtype'"),
    Edit("to itself", _keyword("MovePrim", dst=0), (1,), "from device 0 to itself"),
    Edit("a flag of the whole", _flag("_requires_grad", False), (3,), "takes 1 and gives 2 gradients"),
    Edit("a type of the whole", _flag("_dtype", type("int64", (StandIn,), {"__module__": "torch"})), (3,), "not defined on integers"),
    Edit("a parameter that is a gradient", _flag_all("_is_grad", True), (3,), "is said to be a parameter and a gradient"),
    Edit("reduced gradients", _reduced_gradients, (3,), "reduces something that is no parameter"),
    Edit("a frozen parameter", _flag_all("_requires_grad", False), (3,), "takes 1 and gives 2 gradients"),
    Edit("a sum of one", _alone("SumPrim", "vmerge"), (3,), "takes 1 tensors", "llama"),
    Edit("rows of one", _alone("MergeDimPrim", "smerge", dim=0), (3,), "takes 1 tensors", "llama"),
    Edit("one gradient twice", _twice, (3,), "two primitives of one adapter give tensor", "llama"),
    Edit("two halves", _two_halves, (1,), "differs from the reference", "queue"),
    Edit("a local variable", _local, (1,), "differs from the reference"),
    Edit("a loss with a value", _a_value, (3,), "starts from one, .* which has a value", "tied"),
    Edit("nothing first", _positional, (3,), "unknown positional argument"),
    Edit("dimensions of a set", lambda r: _sum(r, {0, 1}), (3,), "'dim' is not a list"),
    Edit("ranks of a set", _ranks(set), (3,), "needs a list of ranks", "llama"),
    Edit("ranks of a dictionary", _ranks(lambda ranks: {0: 1}), (3,), "needs a list of ranks", "llama"),
]  # fmt: skip

if __name__ == "__main__":
    sys.exit(check_edits(EDITS, Path(sys.argv[1]), sys.argv[2:]))
