# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bugs in the backward direction and in what is accumulated."""

from __future__ import annotations

from dataclasses import replace

from plan_maker.bugs.place import Place, first, nodes_at, segments_of
from plan_maker.bugs.rewriting import (
    next_number,
    program_of,
    remove_cells,
    replace_nodes,
    rewrite_cells,
    with_cells,
)
from plan_maker.errors import ImpossiblePlanError
from plan_maker.graph import (
    Adapter,
    BackwardOperation,
    BaseCell,
    Cell,
    Plan,
    Primitive,
    ReuseCell,
    Segment,
    SegmentNode,
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
    candidates = [located for located in copies if _joins_copies(located.node)] or copies
    located = first(iter(candidates), "backward op", place)
    key = (located.device, located.node.identifier)
    return replace_nodes(plan, {key: (located.node, located.node)})


def doubled_incoming_gradient(plan: Plan, place: Place) -> Plan:
    """The gradient of an activation with several consumers gets the gradient from
    the first of them twice.
    """

    def accepts(node: SegmentNode) -> bool:
        return isinstance(node, BackwardOperation) and _joins_copies(node)

    what = "activation with several consumers"
    located = first(nodes_at(plan, place, accepts), what, place)
    node = located.node
    incoming, result = node.inputs[0], node.outputs[0]
    assert isinstance(incoming, SubTensor)
    again = Adapter(
        next_number(plan),
        (incoming,),
        (result,),
        (Primitive("IdentityPrim", (incoming,), (result,), ()),),
        is_forward=False,
        is_differentiable=False,
        is_custom=True,
        device=located.device,
        mirror=None,
        layer=node.layer,
    )
    return replace_nodes(plan, {located.key: (node, again)})


def dropped_micro_batch(plan: Plan, place: Place) -> Plan:
    """One device does not run its backward segment for the last micro-batch, or the
    chosen one. Its peers do: if they communicate in it, a run would hang.
    """
    device = place.device if place.device is not None else plan.devices[0]
    return _without_backward(plan, (device,), place)


def dropped_micro_batch_all_ranks(plan: Plan, place: Place) -> Plan:
    """All ranks of a stage leave out the backward segment for the last micro-batch,
    or the chosen one.
    """
    device = place.device if place.device is not None else plan.devices[0]
    number = base_cell(_backward(plan, device, place)).identifier
    devices = tuple(
        program.device
        for program in plan.programs
        if any(base_cell(cell).identifier == number for cell in program.cells)
    )
    return _without_backward(plan, devices, place)


def early_reducer(plan: Plan, place: Place) -> Plan:
    """A reducer runs before the backward segment of the last micro-batch, on all
    devices of the replica that share it: what comes after stays on its device.
    """
    # Stages that wait for each other's reducer would not get to the micro-batch.
    within_stage = [
        reducer
        for reducer in _reducers(plan, place)
        if len({segments_of(program_of(plan, device))[0].identifier for device in reducer.devices})
        == 1
    ]
    what = "gradient reducer within a stage (it takes --dp of 2 or more, or --tp-style batch)"
    reducer = first(iter(within_stage), what, place)
    for device in reducer.devices:
        last = _backward(plan, device, Place(device)).identifier
        cells = list(program_of(plan, device).cells)
        numbers = [cell.identifier for cell in cells]
        cells.insert(numbers.index(last), cells.pop(numbers.index(reducer.identifier)))
        plan = with_cells(plan, device, tuple(cells))
    return plan


def parameter_not_reduced(plan: Plan, place: Place) -> Plan:
    """A reducer leaves its first parameter out, on all devices that share it."""
    several = [reducer for reducer in _reducers(plan, place) if len(reducer.inputs) > 1]
    reducer = first(iter(several), "reducer of several parameters", place)

    def rewrite(device: int, cell: BaseCell | WeightReducer) -> BaseCell | WeightReducer:
        if isinstance(cell, WeightReducer) and cell.identifier == reducer.identifier:
            return replace(cell, inputs=cell.inputs[1:])
        return cell

    return rewrite_cells(plan, set(reducer.devices), rewrite)


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


def mixed_slices_reduced(plan: Plan, place: Place) -> Plan:
    """Ranks that hold different slices of a parameter add up their gradients."""
    groups = (
        group
        for device in plan.devices
        for reducer in _reducers(plan, Place(device))
        if reducer.devices == (device,)
        for weight in reducer.inputs
        for group in [_slices(plan, weight)]
        if device == next(iter(group)) and place.device in (None, *group) and len(group) > 1
    )
    what = "parameter of which ranks hold slices and reduce them (it takes --dp and --tp 2)"
    group = first(groups, what, place)
    number = next_number(plan)
    for device, weight in group.items():
        wide = WeightReducer(number, (weight,), tuple(group))
        plan = _with_own_reducer(plan, device, weight, wide)
    return plan


def _slices(plan: Plan, weight: SubTensor) -> dict[int, SubTensor]:
    """The devices that reduce another slice of the same parameter, and `weight`."""
    found: dict[int, SubTensor] = {}
    for device in plan.devices:
        for reducer in _reducers(plan, Place(device)):
            for other in reducer.inputs:
                is_slice = other.full is weight.full and other.shape != other.full.shape
                if is_slice and reducer.devices == (device,):
                    found[device] = other
    return found or {-1: weight}


def _joins_copies(node: SegmentNode) -> bool:
    """Is it the backward op of a `multiref`: several inputs, one output?"""
    return len(node.inputs) > 1 and len(node.outputs) == 1


def _backward(plan: Plan, device: int, place: Place) -> ReuseCell:
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
    last = runs[-1].micro_batch
    chosen = last if place.micro_batch is None else place.micro_batch
    found = (run for run in runs if run.micro_batch == chosen)
    return first(found, f"micro-batch {chosen}", place)


def _without_backward(plan: Plan, devices: tuple[int, ...], place: Place) -> Plan:
    for device in devices:
        number = _backward(plan, device, place).identifier

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
    wide = WeightReducer(next_number(plan), (weight,), group)
    for device in group:
        plan = _with_own_reducer(plan, device, weight, wide)
    return plan


def _with_own_reducer(plan: Plan, device: int, weight: SubTensor, wide: WeightReducer) -> Plan:
    """The device reduces `weight` by `wide`, the rest as before."""

    def rewritten(cell: Cell) -> tuple[Cell, ...]:
        if not isinstance(cell, WeightReducer) or weight not in cell.inputs:
            return (cell,)
        rest = replace(cell, inputs=tuple(other for other in cell.inputs if other != weight))
        return (wide, rest) if rest.inputs else (wide,)

    cells = program_of(plan, device).cells
    return with_cells(plan, device, tuple(new for cell in cells for new in rewritten(cell)))
