# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bugs in when a device communicates: the values are right, if it gets that far."""

from __future__ import annotations

from collections.abc import Iterator

from plan_maker.bugs.place import Place, first
from plan_maker.bugs.rewriting import program_of, with_cells
from plan_maker.graph import Adapter, Cell, DeviceProgram, Plan, base_cell


def late_receive(plan: Plan, place: Place) -> Plan:
    """All ranks of a stage send a gradient back before they receive the activation
    that the stage before them sends at that time. Both sides then send first, which
    goes well only as long as something buffers what is sent.
    """
    what = "stage that receives an activation right before it sends a gradient"
    found = (
        (program.device, exchange)
        for program in plan.programs
        if place.device in (None, program.device)
        for exchange in _exchanges(program)
    )
    _, (numbers, later) = first(found, what, place)
    for device in plan.devices:
        cells = list(program_of(plan, device).cells)
        positions = [at for at, cell in enumerate(cells) if cell.identifier in numbers]
        if not positions or not _receives(cells[positions[0]], device):
            continue
        after = [at for at, cell in enumerate(cells) if cell.identifier in later]
        moved = [cells[at] for at in positions]
        cells[max(after) + 1 : max(after) + 1] = moved
        del cells[positions[0] : positions[-1] + 1]
        plan = with_cells(plan, device, tuple(cells))
    return plan


def _exchanges(program: DeviceProgram) -> Iterator[tuple[set[int], set[int]]]:
    """The numbers of adjacent adapters of which the first receive activations and the
    later ones send gradients.
    """
    cells = program.cells
    for start in range(len(cells)):
        if start and _receives(cells[start - 1], program.device):
            continue
        middle = start
        while middle < len(cells) and _receives(cells[middle], program.device):
            middle += 1
        end = middle
        while end < len(cells) and _sends(cells[end], program.device):
            end += 1
        if start < middle < end:
            yield (
                {cell.identifier for cell in cells[start:middle]},
                {cell.identifier for cell in cells[middle:end]},
            )


def _receives(cell: Cell, device: int) -> bool:
    """Is it an adapter that brings activations to the device?"""
    adapter = base_cell(cell)
    return isinstance(adapter, Adapter) and adapter.is_forward and _moves(adapter, "dst", device)


def _sends(cell: Cell, device: int) -> bool:
    """Is it an adapter that takes gradients from the device?"""
    adapter = base_cell(cell)
    return (
        isinstance(adapter, Adapter) and not adapter.is_forward and _moves(adapter, "src", device)
    )


def _moves(adapter: Adapter, end: str, device: int) -> bool:
    return any(
        primitive.name == "MovePrim" and primitive.keyword(end) == device
        for primitive in adapter.primitives
    )
