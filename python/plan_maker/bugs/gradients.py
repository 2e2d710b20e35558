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
    SegmentNode,
    WeightReducer,
    base_cell,
)


def doubled_gradient(plan: Plan, place: Place) -> Plan:
    """A backward op is listed twice. Gradients accumulate, so what it produces
    counts twice: the path through one copy of an activation, or in an MLP
    everything through one layer.
    """
    copies = list(nodes_at(plan, place, lambda node: _is_backward(node, 1, None)))
    candidates = [located for located in copies if _joins_copies(located)] or copies
    located = first(iter(candidates), "backward op", place)
    key = (located.device, located.node.identifier)
    return replace_nodes(plan, {key: (located.node, located.node)})


def swapped_operands(plan: Plan, place: Place) -> Plan:
    """The backward op of the rotary embedding takes the gradient of the queries
    for that of the keys, and the other way round.
    """
    candidates = nodes_at(plan, place, lambda node: _is_backward(node, 2, 2))
    what = "backward op of a rotary embedding"
    located = first(filter(lambda found: not _joins_copies(found), candidates), what, place)
    operation = located.node
    assert isinstance(operation, BackwardOperation)
    swapped = replace(operation, inputs=tuple(reversed(operation.inputs)))
    return replace_nodes(plan, {(located.device, operation.identifier): (swapped,)})


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
    reducer = first(iter(shared), "reducer of several devices (--tp-style batch has them)", place)

    def rewrite(device: int, cell: BaseCell | WeightReducer) -> BaseCell | WeightReducer:
        if cell.identifier != reducer.identifier:
            return cell
        return WeightReducer(reducer.identifier, reducer.inputs, (device,))

    return rewrite_cells(plan, set(reducer.devices), rewrite)


def _is_backward(node: SegmentNode, inputs: int, outputs: int | None) -> bool:
    """At least `inputs` inputs and, if given, exactly `outputs` outputs."""
    return (
        isinstance(node, BackwardOperation)
        and len(node.inputs) >= inputs
        and (outputs is None or len(node.outputs) == outputs)
    )


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
