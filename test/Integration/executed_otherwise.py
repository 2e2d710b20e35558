# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Edits plans so that they are executed otherwise than they read.

usage: executed_otherwise.py WORK [NAME]

As read, each plan computes what its reference computes, and would be proved. The code
that nnScaler makes of it does something else, or the plan's backward is not that of
what it executes.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hostile_plans import Edit, cells, check_edits, make
from plan_maker.emit.cells import PRIMITIVE_FUNCTIONS
from tests.reading import class_name, executed, is_tensor

Change = Callable[[Any], None]


def _pairs(root: Any, name: str) -> Iterator[tuple[Any, Any]]:
    """Adapters that execute a primitive of this class forward, and their mirrors."""
    adapters = {adapter._id: adapter for adapter in cells(root, "IRAdapter")}
    for adapter in adapters.values():
        if adapter._forward and adapter._mirror and class_name(adapter._prims[0]) == name:
            yield adapter, adapter._mirror


def _signature(primitive: str) -> str:
    return "nnscaler.runtime.adapter." + PRIMITIVE_FUNCTIONS[primitive]


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
            vars(other).update(vars(call), signature=_signature(kind))
            if kind == "IdentityPrim":
                other.kwargs = {}
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
        vars(other).update(vars(call), signature=_signature("AllReducePrim"))
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


def _another_mirror(root: Any) -> None:
    """Backward executions refer to copies of what was executed, without its tensors."""
    for cell in root.execplan._seq[0]:
        if _is_backward(cell) and cell._mirror and cell._inputs:
            copy = make("nnscaler.execplan.execplan", class_name(cell._mirror))
            vars(copy).update(vars(cell._mirror), _inputs=[], _outputs=[])
            cell._mirror = copy


def _exchanged_mirrors(root: Any) -> None:
    """Backward executions refer to copies with the tensors of another micro-batch."""
    sequence = root.execplan._seq[0]
    first, second = (cell for cell in sequence if _is_forward(cell))
    for cell in sequence:
        if not _is_backward(cell) or cell._mirror not in (first, second):
            continue
        other = second if cell._mirror is first else first
        copy = make("nnscaler.execplan.execplan", class_name(other))
        vars(copy).update(vars(cell._mirror), _inputs=other._inputs, _outputs=other._outputs)
        cell._mirror = copy


def _another_order(root: Any) -> None:
    """One device uses two weights of one shape first in another order."""
    for segment in map(executed, root.execplan._seq[1]):
        if class_name(segment) != "IRSegment":
            continue
        ops = segment._nodes
        weights = {at: op._inputs[1] for at, op in enumerate(ops) if op.name == "linear"}
        for first, second in itertools.pairwise(weights):
            given = {tensor._id for op in ops[first:second] for tensor in op._outputs}
            if weights[first]._shape == weights[second]._shape and not given & {
                tensor._id for tensor in ops[second]._inputs
            }:
                ops[first], ops[second] = ops[second], ops[first]
                at = [segment._mirror._nodes.index(ops[one]._mirror) for one in (first, second)]
                backward = segment._mirror._nodes
                backward[at[0]], backward[at[1]] = backward[at[1]], backward[at[0]]
                return
    raise AssertionError("no two weights")


def _reduced_early(root: Any) -> None:
    """A reducer of one device runs before the last backward: there is nothing to sum, but
    the gradient is in a buffer then.
    """
    sequence = root.execplan._seq[0]
    last = max(at for at, cell in enumerate(sequence) if _is_backward(cell))
    reducer = make("nnscaler.ir.adapter.adapter", "IRWeightReducer")
    weight = cells(root, "IRDimops")[0]._inputs[1]
    vars(reducer).update(vars(executed(sequence[last])))
    vars(reducer).update(_id=900_000, _inputs=[weight], _outputs=[], _mirror=None, _device=(0,))
    sequence.insert(last, reducer)


def _recomputed(root: Any) -> None:
    """One device executes a segment again in its backward, with its collectives."""
    for segment in map(executed, root.execplan._seq[0]):
        if class_name(segment) == "IRSegment" and segment._mirror and _is_forward(segment):
            for op in segment._nodes:
                op._recompute = 1


EDITS = [
    Edit(name, change, (2,), "unknown whether .*" + message, model)
    for name, change, message, model in (
        ("an identity forward", _another_primitive("IdentityPrim"), "is not that of the primitives", "llama"),
        ("other ranks forward", _another_primitive("IdentityAllreducePrim", True), "is not that of the primitives", "llama"),
        ("no forward", _no_forward, "autograd does not run", "llama"),
        ("no backward", _no_backward, "autograd runs", "llama"),
        ("not differentiable", _not_differentiable, "are not marked", "llama"),
        ("custom forward", _custom_forward, "are not marked", "llama"),
        ("exchanged", _exchanged, "in reverse order", "llama"),
        ("outside", _outside, "outside of a segment", "mlp"),
        ("last first", _last_first, "saved first", "queue"),
        ("bound again", _bound_again, "bound", "queue"),
        ("another start", _another_start, "gradient of nothing", "queue"),
        ("not sent", _not_sent, "every device returns", "queue"),
        ("another mirror", _another_mirror, "said to follow", "queue"),
        ("a mirror of another micro-batch", _exchanged_mirrors, "said to follow", "queue"),
        ("another order", _another_order, "sums buffers of gradients", "replicated"),
        ("reduced early", _reduced_early, "adds to a gradient", "queue"),
        ("recomputed on one device", _recomputed, "or not all of them", "ranks"),
        ("another segment", _another_segment, "whose execution", "queue"),
    )
]  # fmt: skip

if __name__ == "__main__":
    sys.exit(check_edits(EDITS, Path(sys.argv[1]), sys.argv[2:]))
