# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bugs in one micro-batch, and in which micro-batch is which.

The micro-batches of a stage run the same segments. For a bug in one of them,
that one gets segments of its own, which are the same but for their numbers; those
that the bug does not change are shared again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from plan_maker.bugs.place import Place, first, segments_of
from plan_maker.bugs.rewriting import next_number, rewrite_cells
from plan_maker.errors import ImpossiblePlanError
from plan_maker.graph import (
    BackwardOperation,
    BaseCell,
    Cell,
    DataOperation,
    DeviceProgram,
    ForwardOperation,
    Plan,
    ReuseCell,
    Segment,
    SegmentNode,
    SubTensor,
    WeightReducer,
    base_cell,
)


def separate(plan: Plan, micro_batch: int) -> Plan:
    """The same plan, with segments of its own for `micro_batch`."""
    if micro_batch not in range(len(plan.outputs)):
        raise ImpossiblePlanError(
            f"--bug-micro-batch {micro_batch}: the plan has micro-batches 0 to "
            f"{len(plan.outputs) - 1}"
        )
    renumbered = _renumbering(plan)
    return replace(
        plan,
        programs=tuple(_separate(program, micro_batch, renumbered) for program in plan.programs),
    )


def share_unchanged(original: Plan, separated: Plan, broken: Plan) -> tuple[Plan, Plan]:
    """Both plans, of which `separated` has segments of its own for a micro-batch of
    `original`, with only those of its own that `broken` changes on some device, in
    either direction.
    """
    shared: dict[tuple[int, int], Segment] = {}
    for before, after in zip(original.programs, separated.programs, strict=True):
        for old, new in zip(before.cells, after.cells, strict=True):
            segment, copy = base_cell(old), base_cell(new)
            if isinstance(segment, Segment) and segment is not copy:
                shared[after.device, copy.identifier] = segment
    for before, after in zip(separated.programs, broken.programs, strict=True):
        segments = {segment.identifier: segment for segment in segments_of(after)}
        for segment in segments_of(before):
            if segments.get(segment.identifier) != segment:
                changed = {segment.identifier, segment.mirror}
                shared = {place: old for place, old in shared.items() if place[1] not in changed}
    return _with_shared(separated, shared), _with_shared(broken, shared)


def exchanged_micro_batches(plan: Plan, place: Place) -> Plan:
    """One rank draws the last two micro-batches before it uses either, and takes
    each for the other; its peers do not.
    """
    what = "rank that takes whole micro-batches, of two at least, as its peers do"
    found = (
        program
        for program in plan.programs
        if place.device in (None, program.device) and _shares_data(plan, program)
    )
    chosen = first(found, what, place)
    *_, before, after = _loads(chosen)
    cells = list(chosen.cells)
    cells[before : before + 1] = [cells.pop(after), cells[before]]
    exchanged = replace(chosen, cells=tuple(cells))
    programs = tuple(exchanged if program is chosen else program for program in plan.programs)
    return replace(plan, programs=programs)


def _renumbering(plan: Plan) -> Callable[[int], int]:
    """New numbers for segments and what is in them, the same on all devices."""
    offset = next_number(plan)
    return lambda number: number + offset


def _separate(
    program: DeviceProgram, micro_batch: int, renumbered: Callable[[int], int]
) -> DeviceProgram:
    copies = {
        segment.identifier: _renumbered_segment(segment, renumbered)
        for segment in segments_of(program)
    }

    def separated(cell: Cell) -> Cell:
        if isinstance(cell, Segment) and micro_batch == 0:
            return copies[cell.identifier]
        if not isinstance(cell, ReuseCell) or cell.micro_batch != micro_batch:
            return cell
        return replace(cell, cell=copies.get(cell.cell.identifier, cell.cell))

    return replace(program, cells=tuple(map(separated, program.cells)))


def _with_shared(plan: Plan, shared: Mapping[tuple[int, int], Segment]) -> Plan:
    """The plan with other segments; keys are device and number of the segment."""

    def rewrite(device: int, cell: BaseCell | WeightReducer) -> BaseCell | WeightReducer:
        return shared.get((device, cell.identifier), cell)

    return rewrite_cells(plan, {device for device, _ in shared}, rewrite)


def _renumbered_segment(segment: Segment, renumbered: Callable[[int], int]) -> Segment:
    def renumber(node: SegmentNode) -> SegmentNode:
        number = renumbered(node.identifier)
        match node:
            case BackwardOperation():
                return replace(node, identifier=number, mirror=renumbered(node.mirror))
            case _:
                mirror = None if node.mirror is None else renumbered(node.mirror)
                return replace(node, identifier=number, mirror=mirror)

    return replace(
        segment,
        identifier=renumbered(segment.identifier),
        mirror=renumbered(segment.mirror),
        nodes=tuple(map(renumber, segment.nodes)),
    )


def _loads(program: DeviceProgram) -> list[int]:
    """The positions of the cells that draw data."""
    return [
        position
        for position, cell in enumerate(program.cells)
        if isinstance(base_cell(cell), DataOperation)
    ]


def _shares_data(plan: Plan, program: DeviceProgram) -> bool:
    """Does an op use data whole, and is there a peer that does so, too?"""
    loads = _loads(program)
    if len(loads) < 2:
        return False
    load = base_cell(program.cells[loads[0]])
    assert isinstance(load, DataOperation)
    segment = segments_of(program)[0]
    used = {
        value.identifier
        for node in segment.nodes
        if isinstance(node, ForwardOperation)
        for value in node.inputs
        if isinstance(value, SubTensor)
    }
    peers = [
        other for other in plan.programs if segments_of(other)[0].identifier == segment.identifier
    ]
    return len(peers) > 1 and any(tensor.identifier in used for tensor in load.outputs)
