# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bugs in the order of operands."""

from __future__ import annotations

from dataclasses import replace

from plan_maker.bugs.place import Place, first, nodes_at, same_position, segments_of
from plan_maker.bugs.rewriting import program_of, replace_nodes
from plan_maker.graph import (
    BackwardOperation,
    ForwardOperation,
    Plan,
    SegmentNode,
    SubTensor,
)

# Two operands that can have equal shapes and whose order matters.
ORDERED_OPERANDS = {
    "apply_rotary_emb": (0, 1),
    "layernorm": (1, 2),
    "linear": (0, 1),
    "matmul": (0, 1),
}


def swapped_operands(plan: Plan, place: Place) -> Plan:
    """The backward op of the rotary embedding takes the gradient of the queries
    for that of the keys, and the other way round.
    """
    found = nodes_at(plan, place, _is_rotary_backward)
    located = first(found, "backward op of a rotary embedding", place)
    operation = located.node
    assert isinstance(operation, BackwardOperation)
    swapped = replace(operation, inputs=tuple(reversed(operation.inputs)))
    return replace_nodes(plan, {located.key: (swapped,)})


def swapped_forward_operands(plan: Plan, place: Place) -> Plan:
    """An op takes each of two operands for the other, on all ranks; its backward
    op follows, so that forward and backward agree.
    """
    what = "op with two operands of equal shapes whose order matters"
    located = first(nodes_at(plan, place, _can_swap), what, place)
    changed: dict[tuple[int, int], tuple[SegmentNode, ...]] = {}
    for rank in same_position(plan, located):
        operation = rank.node
        assert isinstance(operation, ForwardOperation)
        changed[rank.key] = (_with_swapped_inputs(operation),)
        for segment in segments_of(program_of(plan, rank.device)):
            for node in segment.nodes:
                if isinstance(node, BackwardOperation) and node.mirror == operation.identifier:
                    changed[rank.device, node.identifier] = (
                        _with_swapped_outputs(node, operation),
                    )
    return replace_nodes(plan, changed)


def _is_rotary_backward(node: SegmentNode) -> bool:
    return isinstance(node, BackwardOperation) and len(node.inputs) == len(node.outputs) == 2


def _can_swap(node: SegmentNode) -> bool:
    if not isinstance(node, ForwardOperation) or node.name not in ORDERED_OPERANDS:
        return False
    x, y = (node.inputs[place] for place in ORDERED_OPERANDS[node.name])
    return (
        isinstance(x, SubTensor)
        and isinstance(y, SubTensor)
        and x.shape == y.shape
        and (x.gradient is None) == (y.gradient is None)
    )


def _with_swapped_inputs(operation: ForwardOperation) -> ForwardOperation:
    x, y = ORDERED_OPERANDS[operation.name]
    inputs = list(operation.inputs)
    inputs[x], inputs[y] = inputs[y], inputs[x]
    return replace(operation, inputs=tuple(inputs))


def _with_swapped_outputs(
    backward: BackwardOperation, operation: ForwardOperation
) -> BackwardOperation:
    outputs = list(backward.outputs)
    places = [
        outputs.index(value.gradient)
        for value in (operation.inputs[place] for place in ORDERED_OPERANDS[operation.name])
        if isinstance(value, SubTensor) and value.gradient is not None
    ]
    if len(places) == 2:
        x, y = places
        outputs[x], outputs[y] = outputs[y], outputs[x]
    return replace(backward, outputs=tuple(outputs))
