# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changing parts of a plan, everything else staying the same object."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from plan_maker.graph import (
    Adapter,
    BaseCell,
    Cell,
    DataOperation,
    DeviceProgram,
    Plan,
    ReuseCell,
    Segment,
    SegmentNode,
    SubTensor,
    WeightReducer,
    base_cell,
)


def replace_nodes(
    plan: Plan, replacements: Mapping[tuple[int, int], tuple[SegmentNode, ...]]
) -> Plan:
    """Puts other nodes in the place of some; keys are device and node number."""

    def rewrite(device: int, cell: BaseCell | WeightReducer) -> BaseCell | WeightReducer:
        if not isinstance(cell, Segment):
            return cell
        nodes: list[SegmentNode] = []
        for node in cell.nodes:
            nodes += replacements.get((device, node.identifier), (node,))
        return replace(cell, nodes=tuple(nodes))

    return rewrite_cells(plan, {device for device, _ in replacements}, rewrite)


def replace_transfers(plan: Plan, replacements: Mapping[int, Adapter]) -> Plan:
    """Replaces one adapter between stages; keys are devices."""

    def rewrite(device: int, cell: BaseCell | WeightReducer) -> BaseCell | WeightReducer:
        new = replacements[device]
        is_replaced = isinstance(cell, Adapter) and cell.identifier == new.identifier
        return new if is_replaced else cell

    return rewrite_cells(plan, set(replacements), rewrite)


def rewrite_cells(
    plan: Plan,
    devices: set[int],
    rewrite: Callable[[int, BaseCell | WeightReducer], BaseCell | WeightReducer],
) -> Plan:
    """Applies `rewrite` to every cell of `devices`; a cell that is executed
    several times stays one cell.
    """
    return replace(
        plan,
        programs=tuple(
            _rewrite_program(program, rewrite) if program.device in devices else program
            for program in plan.programs
        ),
    )


def remove_cells(plan: Plan, device: int, is_removed: Callable[[Cell], bool]) -> Plan:
    """Takes cells out of a device's list; others may still mirror them."""
    programs = tuple(
        replace(
            program,
            cells=tuple(cell for cell in program.cells if not is_removed(cell)),
            unscheduled=(*program.unscheduled, *filter(is_removed, program.cells)),
        )
        if program.device == device
        else program
        for program in plan.programs
    )
    return replace(plan, programs=programs)


def with_cells(plan: Plan, device: int, cells: tuple[Cell, ...]) -> Plan:
    """The plan in which `device` runs `cells`."""
    programs = tuple(
        replace(program, cells=cells) if program.device == device else program
        for program in plan.programs
    )
    return replace(plan, programs=programs)


def next_number(plan: Plan) -> int:
    """A number that no cell and no op has."""
    numbers = [0]
    for program in plan.programs:
        for cell in (*program.cells, *program.unscheduled):
            base = base_cell(cell)
            numbers += [cell.identifier, base.identifier]
            if isinstance(base, Segment):
                numbers += [node.identifier for node in base.nodes]
    return max(numbers) + 1


def next_tensor(plan: Plan) -> int:
    """A number from which on no tensor has one."""
    numbers = [0]
    for program in plan.programs:
        for cell in (*program.cells, *program.unscheduled):
            base = base_cell(cell)
            nodes = base.nodes if isinstance(base, Segment) else ()
            for node in (cell, base, *nodes):
                made = () if isinstance(node, WeightReducer) else node.outputs
                read = (node.source,) if isinstance(node, DataOperation) else node.inputs
                for value in (*read, *made):
                    if isinstance(value, SubTensor):
                        numbers += _numbers(value)
    return max(numbers) + 1


def _numbers(tensor: SubTensor) -> list[int]:
    numbers = [tensor.identifier, tensor.full.identifier]
    if tensor.gradient is not None:
        numbers += _numbers(tensor.gradient)
    if tensor.full.gradient is not None:
        numbers.append(tensor.full.gradient.identifier)
    return numbers


def program_of(plan: Plan, device: int) -> DeviceProgram:
    """What `device` runs."""
    return next(program for program in plan.programs if program.device == device)


def _rewrite_program(
    program: DeviceProgram,
    rewrite: Callable[[int, BaseCell | WeightReducer], BaseCell | WeightReducer],
) -> DeviceProgram:
    rewritten: dict[int, BaseCell | WeightReducer] = {}

    def once(cell: BaseCell | WeightReducer) -> BaseCell | WeightReducer:
        if id(cell) not in rewritten:
            rewritten[id(cell)] = rewrite(program.device, cell)
        return rewritten[id(cell)]

    def rewrite_one(cell: Cell) -> Cell:
        if not isinstance(cell, ReuseCell):
            return once(cell)
        executed = once(cell.cell)
        assert not isinstance(executed, WeightReducer)
        return replace(cell, cell=executed)

    return replace(
        program,
        cells=tuple(map(rewrite_one, program.cells)),
        unscheduled=tuple(map(rewrite_one, program.unscheduled)),
    )
