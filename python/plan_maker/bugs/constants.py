# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bugs in the numbers that ops take: the epsilon of a norm (`add`), its exponent
(`pow`), the divisor of the attention scores (`div`).
"""

from __future__ import annotations

from dataclasses import replace

from plan_maker.bugs.place import Located, Place, first, nodes_at, same_position
from plan_maker.bugs.rewriting import replace_nodes
from plan_maker.errors import ImpossiblePlanError
from plan_maker.graph import Argument, ForwardOperation, Plan, SegmentNode

DEFAULT_OPERATION = "add"
OPERATIONS = ("add", "pow", "div")


def constant_one_rank(plan: Plan, place: Place) -> Plan:
    """Changes the number on one rank: its results differ from its peers'."""
    return _with_other_constant(plan, (_operation(plan, place),))


def constant_all_ranks(plan: Plan, place: Place) -> Plan:
    """Changes the number on all ranks of the stage: they agree, and are wrong."""
    return _with_other_constant(plan, same_position(plan, _operation(plan, place)))


def _operation(plan: Plan, place: Place) -> Located:
    name = place.operation or DEFAULT_OPERATION
    if name not in OPERATIONS:
        raise ImpossiblePlanError(
            f"--bug-operation {name}: ops with a number are {', '.join(OPERATIONS)}"
        )

    def accepts(node: SegmentNode) -> bool:
        return (
            isinstance(node, ForwardOperation)
            and node.name == name
            and any(map(_is_number, node.inputs))
        )

    return first(nodes_at(plan, place, accepts), f"'{name}' with a number", place)


def _is_number(value: Argument) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _with_other_constant(plan: Plan, operations: tuple[Located, ...]) -> Plan:
    changed: dict[tuple[int, int], tuple[SegmentNode, ...]] = {}
    for located in operations:
        operation = located.node
        assert isinstance(operation, ForwardOperation)
        inputs = tuple(_other(operation.name, value) for value in operation.inputs)
        new = replace(operation, inputs=inputs)
        changed[located.device, operation.identifier] = (new,)
    return replace_nodes(plan, changed)


def _other(name: str, value: Argument) -> Argument:
    """Ten times the epsilon, the next exponent, twice the divisor."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return {"add": value * 10, "pow": value + 1, "div": value * 2}[name]
