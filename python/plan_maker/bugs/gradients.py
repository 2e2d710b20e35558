# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bugs in the backward direction and in what is accumulated."""

from __future__ import annotations

from dataclasses import replace

from plan_maker.bugs.place import Located, Place, first, nodes_at
from plan_maker.bugs.rewriting import program_of, remove_cells, replace_nodes, rewrite_cells
from plan_maker.errors import ImpossiblePlanError
from plan_maker.graph import (
    BackwardOperation,
    BaseCell,
    Cell,
    Plan,
    ReuseCell,
    Segment,
    SubTensor,
    WeightReducer,
    base_cell,
)


def doubled_gradient(plan: Plan, place: Place) -> Plan:
    """A backward op is listed twice. Gradients accumulate, so what it produces
    counts twice: the path through one copy of an activation, or in an MLP
    everything through one layer.
    """
    copies = list(nodes_at(plan, place, lambda node: isinstance(node, BackwardOperation)))
    candidates = [located for located in copies if _joins_copies(located)] or copies
    located = first(iter(candidates), "backward op", place)
    key = (located.device, located.node.identifier)
    return replace_nodes(plan, {key: (located.node, located.node)})


def dropped_micro_batch(plan: Plan, place: Place) -> Plan:
    """One device does not run its backward segment for the last micro-batch. Its
    peers do: if they communicate in it, a run would hang.
    """
    device = place.device if place.device is not None else plan.devices[0]
    return _without_last_backward(plan, (device,))


def dropped_micro_batch_all_ranks(plan: Plan, place: Place) -> Plan:
    """All ranks of a stage leave the last micro-batch's backward segment out."""
    device = place.device if place.device is not None else plan.devices[0]
    number = base_cell(_last_backward(plan, device)).identifier
    devices = tuple(
        program.device
        for program in plan.programs
        if any(base_cell(cell).identifier == number for cell in program.cells)
    )
    return _without_last_backward(plan, devices)


def missing_reducer(plan: Plan, place: Place) -> Plan:
    """A gradient reducer is missing, on all devices of the replica that share it."""
    reducer = _reducer(plan, place)
    for device in reducer.devices:
        plan = remove_cells(plan, device, lambda cell: cell.identifier == reducer.identifier)
    return plan


def wrong_reducer_group(plan: Plan, place: Place) -> Plan:
    """Devices that hold terms of one gradient reduce it each with its own
    counterparts in other replicas only.
    """
    shared = [reducer for reducer in _reducers(plan, place) if len(reducer.devices) > 1]
    what = "reducer of several devices (--tp-style batch, or gpt with --pp of 2 or more, has them)"
    reducer = first(iter(shared), what, place)

    def rewrite(device: int, cell: BaseCell | WeightReducer) -> BaseCell | WeightReducer:
        if cell.identifier != reducer.identifier:
            return cell
        return WeightReducer(reducer.identifier, reducer.inputs, (device,))

    return rewrite_cells(plan, set(reducer.devices), rewrite)


def too_wide_reducer_group(plan: Plan, place: Place) -> Plan:
    """Ranks that each have the complete gradient of a parameter add them up."""
    singles = {
        device: reducer
        for device in plan.devices
        for reducer in _reducers(plan, Place(device))
        if reducer.devices == (device,)
    }
    for device, reducer in singles.items():
        for weight in reducer.inputs:
            group = tuple(peer for peer, other in singles.items() if weight in other.inputs)
            if place.device in (None, device) and len(group) > 1:
                return _with_wide_reducer(plan, weight, group)
    what = "parameter that ranks hold whole and reduce each by itself (it takes --dp of 2 or more)"
    raise ImpossiblePlanError(f"there is no {what} {place}")


def _joins_copies(located: Located) -> bool:
    """Is it the backward op of a `multiref`: several inputs, one output?"""
    node = located.node
    return len(node.inputs) > 1 and len(node.outputs) == 1


def _last_backward(plan: Plan, device: int) -> ReuseCell:
    if device not in plan.devices:
        raise ImpossiblePlanError(f"there is no device {device}")
    runs = [
        cell
        for cell in program_of(plan, device).cells
        if isinstance(cell, ReuseCell)
        and isinstance(cell.cell, Segment)
        and not cell.cell.is_forward
    ]
    if len(runs) < 2:
        raise ImpossiblePlanError("there is one micro-batch only: it takes --micro-batches 2")
    return runs[-1]


def _without_last_backward(plan: Plan, devices: tuple[int, ...]) -> Plan:
    for device in devices:
        number = _last_backward(plan, device).identifier

        def is_removed(cell: Cell, number: int = number) -> bool:
            return cell.identifier == number

        plan = remove_cells(plan, device, is_removed)
    return plan


def _reducers(plan: Plan, place: Place) -> list[WeightReducer]:
    return [
        cell
        for program in plan.programs
        if place.device in (None, program.device)
        for cell in program.cells
        if isinstance(cell, WeightReducer)
    ]


def _reducer(plan: Plan, place: Place) -> WeightReducer:
    what = "gradient reducer (it takes --dp of 2 or more, or --tp-style batch)"
    return first(iter(_reducers(plan, place)), what, place)


def _with_wide_reducer(plan: Plan, weight: SubTensor, group: tuple[int, ...]) -> Plan:
    """Each of `group` reduces `weight` over all of them, the rest as before."""
    number = 1 + max(cell.identifier for program in plan.programs for cell in program.cells)
    wide = WeightReducer(number, (weight,), group)

    def rewritten(cell: Cell) -> tuple[Cell, ...]:
        if not isinstance(cell, WeightReducer) or weight not in cell.inputs:
            return (cell,)
        rest = replace(cell, inputs=tuple(other for other in cell.inputs if other != weight))
        return (wide, rest) if rest.inputs else (wide,)

    programs = tuple(
        replace(program, cells=tuple(new for cell in program.cells for new in rewritten(cell)))
        if program.device in group
        else program
        for program in plan.programs
    )
    return replace(plan, programs=programs)
