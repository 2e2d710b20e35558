# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The objects of a plan before it is pickled: which there are, and the plan with others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from random import Random
from typing import Any, TypeVar

from plan_maker.bugs.place import Located, segments_of
from plan_maker.bugs.rewriting import replace_nodes
from plan_maker.graph import (
    Cell,
    DeviceProgram,
    Plan,
    SegmentNode,
    SubTensor,
)

Found = TypeVar("Found")
NodeChange = Callable[[Located, Random], tuple[SegmentNode, ...] | None]
"""What stands in the place of a node; None where the change does not fit."""


def objects(root: object, kind: type[Found]) -> list[Found]:
    """The objects of a class, each once, in the order in which they occur."""
    seen: set[int] = set()
    found: list[Found] = []
    pending: list[Any] = [root]
    while pending:
        value = pending.pop()
        if isinstance(value, tuple):
            pending += reversed(value)
        elif is_dataclass(value) and id(value) not in seen:
            seen.add(id(value))
            if isinstance(value, kind):
                found.append(value)
            pending += reversed([getattr(value, field.name) for field in fields(value)])
    return found


def substitute(root: Found, others: Mapping[int, object]) -> Found:
    """Other objects in the place of some, named by `id`; what is one object stays one."""
    made: dict[int, Any] = dict(others)

    def rebuild(value: Any) -> Any:
        if isinstance(value, tuple):
            elements = tuple(map(rebuild, value))
            same = all(new is old for new, old in zip(elements, value, strict=True))
            return value if same else elements
        if not is_dataclass(value) or isinstance(value, type):
            return value
        if id(value) not in made:
            changed = {}
            for field in fields(value):
                old = getattr(value, field.name)
                new = rebuild(old)
                if new is not old:
                    changed[field.name] = new
            made[id(value)] = replace(value, **changed) if changed else value
        return made[id(value)]

    result: Found = rebuild(root)
    return result


def nodes(plan: Plan) -> list[Located]:
    """The nodes of all segments of all devices."""
    return [
        Located(program.device, segment, position, node)
        for program in plan.programs
        for segment in segments_of(program)
        for position, node in enumerate(segment.nodes)
    ]


def counterparts(plan: Plan, located: Located) -> list[Located]:
    """The nodes at the same place of the segment on all ranks that are of one kind."""
    return [
        other
        for other in nodes(plan)
        if other.segment.identifier == located.segment.identifier
        and other.position == located.position
        and type(other.node) is type(located.node)
    ]


def change_nodes(
    plan: Plan, located: Located, change: NodeChange, random: Random, is_everywhere: bool
) -> Plan | None:
    """The plan with a change of a node, or of its counterparts on all ranks as well."""
    seed = random.random()
    places = [located]
    if is_everywhere:
        places = counterparts(plan, located)
    changed: dict[tuple[int, int], tuple[SegmentNode, ...]] = {}
    for place in places:
        new = change(place, Random(seed))
        if new is None:
            return None
        changed[place.key] = new
    return replace_nodes(plan, changed)


def tensors(node: SegmentNode) -> list[SubTensor]:
    """What a node reads."""
    return [value for value in node.inputs if isinstance(value, SubTensor)]


def readable(located: Located) -> list[SubTensor]:
    """What the segment takes and what its earlier nodes give, and the parameters it has."""
    found = list(located.segment.inputs)
    for node in located.segment.nodes[: located.position]:
        found += node.outputs
        found += [tensor for tensor in tensors(node) if tensor.full.is_parameter]
    return found


def are_alike(x: SubTensor, y: SubTensor) -> bool:
    """Do tensors have the same shape and type?"""
    return x.shape == y.shape and x.full.element_type == y.full.element_type


def others_like(tensor: SubTensor, among: list[SubTensor]) -> list[SubTensor]:
    """Tensors that can stand in the place of another one."""
    return [
        other
        for other in among
        if other.identifier != tensor.identifier and are_alike(tensor, other)
    ]


def with_cells_of(
    plan: Plan, devices: set[int], change: Callable[[DeviceProgram], tuple[Cell, ...] | None]
) -> Plan | None:
    """The plan in which some devices run other cells; the old ones stay known."""
    programs = []
    is_changed = False
    for program in plan.programs:
        cells = change(program) if program.device in devices else None
        if cells is None:
            programs.append(program)
            continue
        is_changed = True
        kept = {id(cell) for cell in cells}
        gone = tuple(cell for cell in program.cells if id(cell) not in kept)
        unscheduled = (*program.unscheduled, *gone)
        programs.append(replace(program, cells=cells, unscheduled=unscheduled))
    return replace(plan, programs=tuple(programs)) if is_changed else None
