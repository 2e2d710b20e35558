# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Edits plans so that they are executed otherwise than they read.

usage: executed_otherwise.py WORK [NAME]

As read, each plan computes what its reference computes, and would be proved. The code
that nnScaler makes of it does something else, or the plan's backward is not that of
what it executes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hostile_plans import Edit, cells, check_edits, make
from tests.reading import class_name, executed, is_tensor

Change = Callable[[Any], None]


def _pairs(root: Any, name: str) -> Iterator[tuple[Any, Any]]:
    """Adapters that execute a primitive of this class forward, and their mirrors."""
    adapters = {adapter._id: adapter for adapter in cells(root, "IRAdapter")}
    for adapter in adapters.values():
        if adapter._forward and adapter._mirror and class_name(adapter._prims[0]) == name:
            yield adapter, adapter._mirror


def _remove(root: Any, adapter: Any) -> None:
    adapter._mirror._mirror = None
    adapter._mirror = None
    for segment in cells(root, "IRSegment"):
        segment._nodes = [node for node in segment._nodes if node is not adapter]


def _another_primitive(kind: str, ranks: bool = False) -> Change:
    """Executes another primitive than `IdentityAllreducePrim` forward."""

    def change(root: Any) -> None:
        for adapter, _ in _pairs(root, "IdentityAllreducePrim"):
            (call,) = adapter._prims
            other = make("nnscaler.ir.adapter.prim", kind)
            vars(other).update(vars(call))
            if ranks:
                other.kwargs = {**call.kwargs, "ranks": list(adapter._device)}
            adapter._prims = [other]

    return change


def _no_forward(root: Any) -> None:
    """Leaves out the identities whose backward sums gradients."""
    for adapter, _ in list(_pairs(root, "IdentityAllreducePrim")):
        _remove(root, adapter)


def _no_backward(root: Any) -> None:
    """Leaves out the identities that are the backward of sums."""
    for _, mirror in list(_pairs(root, "AllReduceIdentityPrim")):
        _remove(root, mirror)


def _not_differentiable(root: Any) -> None:
    """Executes sums that autograd does not know forward; the mirrors stay."""
    for adapter, _ in _pairs(root, "AllReduceIdentityPrim"):
        (call,) = adapter._prims
        other = make("nnscaler.ir.adapter.prim", "AllReducePrim")
        vars(other).update(vars(call))
        adapter._prims, adapter._differentiable = [other], False


def _custom_forward(root: Any) -> None:
    """Marks adapters as custom whose mirrors have the primitives of what is not."""
    for adapter, _ in _pairs(root, "AllReduceIdentityPrim"):
        adapter.custom = True


def _outside(root: Any) -> None:
    """Marks what is outside of segments as differentiable."""
    for sequence in root.execplan._seq.values():
        for adapter in map(executed, sequence):
            if class_name(adapter) == "IRAdapter" and adapter._forward:
                adapter._differentiable = True


def _is_backward(cell: Any) -> bool:
    cell = executed(cell)
    if class_name(cell) == "IRSegment":
        return class_name(cell._nodes[0]) != "IRDimops"
    return class_name(cell) == "IRAdapter" and not cell._forward


def _is_forward(cell: Any) -> bool:
    return class_name(executed(cell)) == "IRSegment" and not _is_backward(cell)


def _last_first(root: Any) -> None:
    """Runs the backward of the last micro-batch first."""
    for sequence in root.execplan._seq.values():
        places = [at for at, cell in enumerate(sequence) if _is_backward(cell)]
        half = len(places) // 2
        turned = [sequence[at] for at in places[half:] + places[:half]]
        for at, cell in zip(places, turned, strict=True):
            sequence[at] = cell


def _bound_again(root: Any) -> None:
    """Gives what two micro-batches send one name: it is sent before it is bound again."""
    sequence = root.execplan._seq[0]
    first, second = (cell._outputs[0] for cell in sequence if _is_forward(cell))
    old = second._id
    for cell in sequence:
        for tensor in (*cell._inputs, *cell._outputs):
            if is_tensor(tensor) and tensor._id == old:
                tensor._id, tensor._full_tensor = first._id, first._full_tensor


def _two_names(root: Any) -> None:
    """Names a parameter that two ops take otherwise in one of them."""
    users: dict[int, Any] = {}
    for op in cells(root, "IRDimops"):
        for at, tensor in enumerate(op._inputs):
            if not is_tensor(tensor) or not tensor._is_attr:
                continue
            if users.setdefault(tensor._id, op) is op:
                continue
            other = make("nnscaler.ir.tensor", class_name(tensor))
            vars(other).update(vars(tensor), name="another")
            op._inputs = [*op._inputs[:at], other, *op._inputs[at + 1 :]]
            return
    raise AssertionError("no parameter that two ops take")


def _another_segment(root: Any) -> None:
    """Executes a copy of the segment for the second micro-batch, which has no backward."""
    sequence = root.execplan._seq[0]
    _, second = (cell for cell in sequence if _is_forward(cell))
    copy = make("nnscaler.graph.segment", "IRSegment")
    vars(copy).update(vars(executed(second)), _id=second._id + 900_000, _mirror=None)
    second._cell = copy


def _not_sent(root: Any) -> None:
    """The first device gets no output."""
    outputs = {tensor._id for tensor in root.execplan._outputs}
    for device, sequence in root.execplan._seq.items():
        root.execplan._seq[device] = [
            cell
            for cell in sequence
            if class_name(executed(cell)) != "IRAdapter"
            or not {tensor._id for tensor in cell._outputs} & outputs
        ]


def _exchanged(root: Any) -> None:
    """Lists two backward ops that have nothing to do with each other the other way round."""
    for segment in cells(root, "IRSegment"):
        for at in range(len(segment._nodes) - 1):
            first, second = segment._nodes[at : at + 2]
            given = {tensor._id for tensor in first._outputs}
            if {class_name(first), class_name(second)} != {"IRBpOperation"} or given & {
                tensor._id for tensor in (*second._inputs, *second._outputs)
            }:
                continue
            segment._nodes[at : at + 2] = [second, first]
            return
    raise AssertionError("no two ops that are independent of each other")


def _another_start(root: Any) -> None:
    """Starts the last micro-batch's backward from a gradient with a number of its own."""
    sequence = root.execplan._seq[0]
    last = [cell for cell in sequence if _is_backward(cell) and cell._inputs][-1]
    (start,) = last._inputs
    old = start._id
    for cell in sequence:
        for tensor in (*cell._inputs, *cell._outputs):
            if is_tensor(tensor) and tensor._id == old:
                tensor._id += 900_000


EDITS = [
    Edit(name, change, (2,), "unknown whether .*" + message, model)
    for name, change, message, model in (
        ("an identity forward", _another_primitive("IdentityPrim"), "is not that of the primitives", "llama"),
        ("other ranks forward", _another_primitive("IdentityAllreducePrim", True), "is not that of the primitives", "llama"),
        ("no forward", _no_forward, "autograd does not run", "llama"),
        ("no backward", _no_backward, "autograd runs", "llama"),
        ("not differentiable", _not_differentiable, "is not marked", "llama"),
        ("custom forward", _custom_forward, "is not marked", "llama"),
        ("exchanged", _exchanged, "in reverse order", "llama"),
        ("outside", _outside, "outside of a segment", "mlp"),
        ("last first", _last_first, "saved first", "queue"),
        ("bound again", _bound_again, "bound", "queue"),
        ("two names", _two_names, "another name", "tied"),
        ("another start", _another_start, "gradient of nothing", "queue"),
        ("not sent", _not_sent, "every device returns", "queue"),
        ("another segment", _another_segment, "whose execution", "queue"),
    )
]  # fmt: skip

if __name__ == "__main__":
    sys.exit(check_edits(EDITS, Path(sys.argv[1]), sys.argv[2:]))
