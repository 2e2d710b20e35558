# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bugs in which slice of a parameter a rank holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from plan_maker.bugs.place import Place, first, nodes_at, same_position, segments_of
from plan_maker.bugs.rewriting import program_of, rewrite_cells
from plan_maker.graph import (
    Adapter,
    BackwardOperation,
    BaseCell,
    ForwardOperation,
    Plan,
    Segment,
    SegmentNode,
    SubTensor,
    WeightReducer,
)


def wrong_parameter_slice(plan: Plan, place: Place) -> Plan:
    """A rank holds, and trains, the slice of its neighbour: one slice is there
    twice, one is not there.
    """
    device, own, _, neighbours = _two_slices(plan, place)
    return with_tensors(plan, {device: {own.identifier: neighbours}})


def swapped_parameter_slices(plan: Plan, place: Place) -> Plan:
    """Two ranks hold each other's slice."""
    device, own, other_device, neighbours = _two_slices(plan, place)
    return with_tensors(
        plan,
        {device: {own.identifier: neighbours}, other_device: {neighbours.identifier: own}},
    )


def _two_slices(plan: Plan, place: Place) -> tuple[int, SubTensor, int, SubTensor]:
    """A device with a slice of a parameter, and its neighbour with another."""
    found = nodes_at(plan, place, lambda node: _sliced_parameter(node) is not None)
    what = "slice of a parameter (--tp-style megatron with --tp of 2 or more has them)"
    located = first(found, what, place)
    ranks = same_position(plan, located)
    devices = [rank.device for rank in ranks]
    own = _sliced_parameter(located.node)
    neighbour = ranks[(devices.index(located.device) + 1) % len(ranks)]
    neighbours = _sliced_parameter(neighbour.node)
    assert own is not None and neighbours is not None
    return located.device, own, neighbour.device, neighbours


def _sliced_parameter(node: SegmentNode) -> SubTensor | None:
    if not isinstance(node, ForwardOperation):
        return None
    for value in node.inputs:
        if (
            isinstance(value, SubTensor)
            and value.full.is_parameter
            and value.slices != value.full.whole()
        ):
            return value
    return None


def with_tensors(plan: Plan, changes: Mapping[int, Mapping[int, SubTensor]]) -> Plan:
    """On each device, a parameter, by the number of what the device has of it, and
    its gradient become another's.
    """

    def rewrite(device: int, cell: BaseCell | WeightReducer) -> BaseCell | WeightReducer:
        mapping = dict(changes[device])
        for value in _parameters_of(plan, device):
            new = changes[device].get(value.identifier)
            if new is not None and new.gradient is not None and value.gradient is not None:
                mapping[value.gradient.identifier] = new.gradient
        if isinstance(cell, WeightReducer):
            return replace(cell, inputs=_mapped(cell.inputs, mapping))
        if isinstance(cell, Segment):
            return replace(cell, nodes=tuple(_mapped_node(node, mapping) for node in cell.nodes))
        return cell

    return rewrite_cells(plan, set(changes), rewrite)


def _parameters_of(plan: Plan, device: int) -> Iterator[SubTensor]:
    for segment in segments_of(program_of(plan, device)):
        for node in segment.nodes:
            if isinstance(node, ForwardOperation):
                for value in node.inputs:
                    if isinstance(value, SubTensor) and value.full.is_parameter:
                        yield value


def _mapped_node(node: SegmentNode, mapping: Mapping[int, SubTensor]) -> SegmentNode:
    match node:
        case Adapter():
            return node
        case BackwardOperation():
            return replace(node, outputs=_mapped(node.outputs, mapping))
        case ForwardOperation():
            inputs = tuple(
                mapping.get(value.identifier, value) if isinstance(value, SubTensor) else value
                for value in node.inputs
            )
            return replace(node, inputs=inputs)


def _mapped(
    tensors: tuple[SubTensor, ...], mapping: Mapping[int, SubTensor]
) -> tuple[SubTensor, ...]:
    return tuple(mapping.get(tensor.identifier, tensor) for tensor in tensors)
