# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Mistakes in what surrounds the nodes of a plan: cells, micro-batches, reducers, tensors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

from hunt.node_mutations import CHANGES, mutate_node, other_primitive
from hunt.plan_objects import (
    are_alike,
    counterparts,
    nodes,
    objects,
    substitute,
    tensors,
    with_cells_of,
)
from hunt.tensor_mutations import full_tensor, sub_tensor, swapped_parameters
from plan_maker.bugs.rewriting import replace_nodes, rewrite_cells
from plan_maker.graph import (
    Adapter,
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

Mutation = Callable[[Plan, Random], Plan | None]


def _devices(plan: Plan, cell: Cell, device: int, random: Random) -> set[int]:
    """A device, or all that run the cell."""
    if random.random() < 0.4:
        return {device}
    return {
        program.device
        for program in plan.programs
        if any(other.identifier == cell.identifier for other in program.cells)
    }


def _drawn(plan: Plan, random: Random, *kinds: type) -> tuple[int, Cell] | None:
    """A device and one of its cells of some kinds."""
    found = [
        (program.device, cell)
        for program in plan.programs
        for cell in program.cells
        if not kinds or isinstance(base_cell(cell), kinds)
    ]
    return random.choice(found) if found else None


def _place(program: DeviceProgram, cell: Cell) -> int | None:
    numbers = [other.identifier for other in program.cells]
    return numbers.index(cell.identifier) if cell.identifier in numbers else None


def cell_dropped(plan: Plan, random: Random) -> Plan | None:
    """A cell is not run."""
    drawn = _drawn(plan, random)
    assert drawn
    device, cell = drawn

    def change(program: DeviceProgram) -> tuple[Cell, ...]:
        return tuple(one for one in program.cells if one.identifier != cell.identifier)

    return with_cells_of(plan, _devices(plan, cell, device, random), change)


def cell_doubled(plan: Plan, random: Random) -> Plan | None:
    """A cell is run once more, at once or later."""
    drawn = _drawn(plan, random)
    assert drawn
    device, cell = drawn
    later = random.choice([0, 0, 1, 2, 5])

    def change(program: DeviceProgram) -> tuple[Cell, ...] | None:
        at = _place(program, cell)
        if at is None:
            return None
        cells = list(program.cells)
        cells.insert(at + 1 + later, cells[at])
        return tuple(cells)

    return with_cells_of(plan, _devices(plan, cell, device, random), change)


def cell_moved(plan: Plan, random: Random) -> Plan | None:
    """A cell is run earlier or later."""
    drawn = _drawn(plan, random)
    assert drawn
    device, cell = drawn
    by = random.choice([-6, -3, -2, -1, 1, 2, 3, 6])

    def change(program: DeviceProgram) -> tuple[Cell, ...] | None:
        at = _place(program, cell)
        if at is None:
            return None
        cells = list(program.cells)
        moved = cells.pop(at)
        cells.insert(max(at + by, 0), moved)
        return tuple(cells)

    return with_cells_of(plan, _devices(plan, cell, device, random), change)


def node_moved(plan: Plan, random: Random) -> Plan | None:
    """A node of a segment is run earlier or later."""
    drawn = _drawn(plan, random, Segment)
    if not drawn:
        return None
    device, cell = drawn
    segment = base_cell(cell)
    assert isinstance(segment, Segment)
    if len(segment.nodes) < 2:
        return None
    at, by = random.randrange(len(segment.nodes)), random.choice([-4, -2, -1, -1, 1, 1, 2, 4])
    devices = _devices(plan, cell, device, random)

    def rewrite(_: int, other: BaseCell | WeightReducer) -> BaseCell | WeightReducer:
        if not isinstance(other, Segment) or other.identifier != segment.identifier:
            return other
        own = list(other.nodes)
        moved = own.pop(min(at, len(own) - 1))
        own.insert(max(at + by, 0), moved)
        return replace(other, nodes=tuple(own))

    return rewrite_cells(plan, devices, rewrite)


def micro_batch(plan: Plan, random: Random) -> Plan | None:
    """A cell works on tensors of another micro-batch, or two exchange theirs."""
    drawn = _drawn(plan, random, Segment, Adapter)
    if not drawn or not isinstance(cell := drawn[1], ReuseCell):
        return None
    device = drawn[0]
    others = [
        one.micro_batch
        for program in plan.programs
        if program.device == device
        for one in program.cells
        if isinstance(one, ReuseCell)
        and one.cell.identifier == cell.cell.identifier
        and one.micro_batch != cell.micro_batch
    ]
    if not others:
        return None
    wanted = random.choice(others)
    field = random.choice(["inputs", "outputs", "mirror", "one input", "both"])
    is_exchange = random.random() < 0.4

    def taken(mine: ReuseCell, theirs: ReuseCell) -> ReuseCell | None:
        if field == "both":
            return replace(mine, inputs=theirs.inputs, outputs=theirs.outputs)
        if field == "one input":
            if not mine.inputs:
                return None
            inputs = list(mine.inputs)
            at = Random(wanted).randrange(len(inputs))
            inputs[at] = theirs.inputs[at]
            return replace(mine, inputs=tuple(inputs))
        return replace(mine, **{field: getattr(theirs, field)})

    def change(program: DeviceProgram) -> tuple[Cell, ...] | None:
        runs = {
            one.micro_batch: one
            for one in program.cells
            if isinstance(one, ReuseCell) and one.cell.identifier == cell.cell.identifier
        }
        mine, theirs = runs.get(cell.micro_batch), runs.get(wanted)
        if mine is None or theirs is None or not (first := taken(mine, theirs)):
            return None
        changed = {mine.identifier: first}
        if is_exchange and (second := taken(theirs, mine)):
            changed[theirs.identifier] = second
        return tuple(changed.get(one.identifier, one) for one in program.cells)

    return with_cells_of(plan, _devices(plan, cell, device, random), change)


def micro_batch_order(plan: Plan, random: Random) -> Plan | None:
    """Two micro-batches change places in the order of a device's cells of one kind."""
    drawn = _drawn(plan, random, Segment, Adapter, DataOperation)
    if not drawn or not isinstance(cell := drawn[1], ReuseCell):
        return None
    number = cell.cell.identifier

    def change(program: DeviceProgram) -> tuple[Cell, ...] | None:
        cells = list(program.cells)
        at = [
            place
            for place, one in enumerate(cells)
            if isinstance(one, ReuseCell) and one.cell.identifier == number
        ]
        if len(at) < 2:
            return None
        first = Random(number).randrange(len(at) - 1)
        a, b = at[first], at[first + 1]
        cells[a], cells[b] = cells[b], cells[a]
        return tuple(cells)

    devices = {drawn[0]} if random.random() < 0.5 else set(plan.devices)
    return with_cells_of(plan, devices, change)


def cell_tensor(plan: Plan, random: Random) -> Plan | None:
    """A cell is bound to another tensor, or a segment takes or gives another one."""
    drawn = _drawn(plan, random, Segment, Adapter)
    if not drawn:
        return None
    device, cell = drawn
    field = random.choice(["inputs", "outputs"])
    own: list[Any] = list(getattr(cell, field))
    if not own:
        return None
    program = next(one for one in plan.programs if one.device == device)
    known = objects(program, SubTensor)
    at = random.randrange(len(own))
    others = [one for one in known if one != own[at] and are_alike(one, own[at])]
    if not others:
        return None
    own[at] = random.choice(others)
    changes: dict[str, Any] = {field: tuple(own)}
    new = replace(cell, **changes)

    def change(program: DeviceProgram) -> tuple[Cell, ...]:
        return tuple(new if one is cell else one for one in program.cells)

    return with_cells_of(plan, {device}, change)


def loaded(plan: Plan, random: Random) -> Plan | None:
    """A device's loader gives its tensors in another order."""
    loaders = [one for one in objects(plan.programs, DataOperation) if len(one.outputs) > 1]
    if not loaders:
        return None
    old = random.choice(loaders)
    new = replace(old, outputs=tuple(reversed(old.outputs)))
    cells = [
        one for one in objects(plan.programs, ReuseCell) if one.cell is old and len(one.outputs) > 1
    ]
    changed: dict[int, object] = {id(old): new}
    if cells and random.random() < 0.5:
        changed = {}
        for one in cells if random.random() < 0.5 else [random.choice(cells)]:
            changed[id(one)] = replace(one, outputs=tuple(reversed(one.outputs)))
    return substitute(plan, changed)


def transfer(plan: Plan, random: Random) -> Plan | None:
    """An adapter between stages has other primitives."""
    adapters = [
        adapter
        for adapter in objects(tuple(program.cells for program in plan.programs), Adapter)
        if any(base_cell(cell) is adapter for program in plan.programs for cell in program.cells)
    ]
    if not adapters:
        return None
    adapter = random.choice(adapters)
    if random.random() < 0.3:
        name = random.choice(["is_forward", "is_differentiable", "is_custom"])
        flags: dict[str, Any] = {name: not getattr(adapter, name)}
        return substitute(plan, {id(adapter): replace(adapter, **flags)})
    seed = random.random()
    group = [adapter]
    if random.random() < 0.5:
        group = [one for one in adapters if one.identifier == adapter.identifier]
    changed: dict[int, object] = {}
    for one in group:
        if new := other_primitive(one, Random(seed)):
            changed[id(one)] = new
    return substitute(plan, changed) if changed else None


def reducer(plan: Plan, random: Random) -> Plan | None:
    """A reducer has other devices or other weights, or fewer, or runs twice."""
    drawn = _drawn(plan, random, WeightReducer)
    if not drawn:
        return None
    device, old = drawn
    assert isinstance(old, WeightReducer)
    inputs, devices = list(old.inputs), list(old.devices)
    match random.randrange(5):
        case 0:
            inputs.pop(random.randrange(len(inputs)))
        case 1:
            inputs.append(random.choice(inputs))
        case 2:
            program = next(one for one in plan.programs if one.device == device)
            weights = [one for one in objects(program, SubTensor) if one.full.is_parameter]
            weights = [one for one in weights if not one.full.is_gradient and one not in inputs]
            if not weights:
                return None
            inputs[random.randrange(len(inputs))] = random.choice(weights)
        case 3:
            if len(devices) > 1:
                devices.pop(random.randrange(len(devices)))
            else:
                devices.append(random.choice(plan.devices))
                devices = sorted(set(devices))
        case _:
            random.shuffle(inputs)
    if not inputs:
        return None
    new = replace(old, inputs=tuple(inputs), devices=tuple(devices))

    def change(program: DeviceProgram) -> tuple[Cell, ...]:
        return tuple(
            new if isinstance(one, WeightReducer) and one.identifier == old.identifier else one
            for one in program.cells
        )

    return with_cells_of(plan, _devices(plan, old, device, random), change)


def no_derivative(plan: Plan, random: Random) -> Plan | None:
    """An op is not differentiated: it has no backward op."""
    found = [one for one in nodes(plan) if isinstance(one.node, ForwardOperation)]
    found = [one for one in found if one.node.mirror is not None]
    if not found:
        return None
    drawn = random.choice(found)
    places = [drawn] if random.random() < 0.5 else counterparts(plan, drawn)
    changed: dict[tuple[int, int], tuple[SegmentNode, ...]] = {}
    for place in places:
        node = place.node
        assert isinstance(node, ForwardOperation)
        if node.mirror is None:
            return None
        results = (replace(one, gradient=None) for one in node.outputs)
        forward = replace(node, mirror=None)
        if random.random() < 0.5:
            forward = replace(forward, outputs=tuple(results))
        changed |= {place.key: (forward,), (place.device, node.mirror): ()}
    return replace_nodes(plan, changed)


def other_derivative(plan: Plan, random: Random) -> Plan | None:
    """Two ops have each other's backward ops."""
    drawn = random.choice(plan.programs)
    forward = [
        one
        for one in nodes(plan)
        if one.device == drawn.device
        and isinstance(one.node, ForwardOperation)
        and one.node.mirror is not None
    ]
    by_way: dict[object, list[ForwardOperation]] = {}
    for one in forward:
        assert isinstance(one.node, ForwardOperation)
        shapes = [value.shape for value in tensors(one.node)]
        by_way.setdefault((one.segment.identifier, str(shapes)), []).append(one.node)
    groups = [group for group in by_way.values() if len(group) > 1]
    if not groups:
        return None
    first, second = random.sample(random.choice(groups), 2)
    back = {
        one.node.identifier: one.node
        for one in nodes(plan)
        if one.device == drawn.device and isinstance(one.node, BackwardOperation)
    }
    changed: dict[tuple[int, int], tuple[SegmentNode, ...]] = {}
    for mine, theirs in ((first, second), (second, first)):
        assert mine.mirror is not None
        assert theirs.mirror is not None
        if mine.mirror not in back or theirs.mirror not in back:
            return None
        changed[drawn.device, mine.identifier] = (replace(mine, mirror=theirs.mirror),)
        other = replace(back[theirs.mirror], mirror=mine.identifier)
        changed[drawn.device, theirs.mirror] = (other,)
    return replace_nodes(plan, changed)


def outputs(plan: Plan, random: Random) -> Plan | None:
    """The plan's results are others, or in another order."""
    own = list(plan.outputs)
    choice = random.random()
    if choice < 0.5 and len(own) > 1:
        random.shuffle(own)
    elif choice < 0.8 and len(own) > 1:
        own[random.randrange(len(own))] = random.choice(own)
    else:
        others = [one for one in objects(plan, SubTensor) if one.shape == own[0].shape]
        own[random.randrange(len(own))] = random.choice(others)
    return None if tuple(own) == plan.outputs else replace(plan, outputs=tuple(own))


MUTATIONS: dict[str, Mutation] = {
    "cell dropped": cell_dropped,
    "cell doubled": cell_doubled,
    "cell moved": cell_moved,
    "node moved": node_moved,
    "micro-batch": micro_batch,
    "micro-batch order": micro_batch_order,
    "cell's tensor": cell_tensor,
    "loader": loaded,
    "transfer": transfer,
    "reducer": reducer,
    "no derivative": no_derivative,
    "other derivative": other_derivative,
    "outputs": outputs,
    "tensor": sub_tensor,
    "whole tensor": full_tensor,
    "exchanged parameters": swapped_parameters,
}


def mutate(plan: Plan, random: Random) -> tuple[Plan, str]:
    """The plan after one mutation, and its kind."""
    kinds = [*CHANGES, *MUTATIONS]
    while kinds:
        kind = kinds.pop(random.randrange(len(kinds)))
        for _ in range(5):
            if kind in CHANGES:
                new = mutate_node(plan, kind, random)
            else:
                new = MUTATIONS[kind](plan, random)
            if new is not None and new is not plan:
                return new, kind
    raise ValueError("no mutation applies")
