# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bugs in the numbers that ops take: operands (the epsilon of a norm, its
exponent, the divisor of the attention scores) and keywords (epsilon, scale and
dropout rates of a GPT, the rows of an embedding).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from plan_maker.bugs.place import Located, Place, first, nodes_at, same_position
from plan_maker.bugs.rewriting import replace_nodes
from plan_maker.errors import ImpossiblePlanError
from plan_maker.graph import ForwardOperation, Keyword, Plan, SegmentNode, SubTensor

OTHER_OPERAND: dict[str, Callable[[float], float]] = {
    "add": lambda value: value * 10,
    "pow": lambda value: value + 1,
    "div": lambda value: value * 2,
}
OTHER_KEYWORD: dict[str, tuple[str, Callable[[float], float]]] = {
    "layernorm": ("eps", lambda value: value * 10),
    "self_attention": ("scale", lambda value: value * 2),
    "dropout": ("p", lambda value: value / 2),
    "feedforward": ("dropout", lambda value: value / 2),
}
OPERATIONS = (*OTHER_OPERAND, *OTHER_KEYWORD)


def constant_one_rank(plan: Plan, place: Place) -> Plan:
    """Changes the number on one rank: its results differ from its peers'."""
    return _with_other_constant(plan, (_operation(plan, place),))


def constant_all_ranks(plan: Plan, place: Place) -> Plan:
    """Changes the number on all ranks of the stage: they agree, and are wrong."""
    return _with_other_constant(plan, same_position(plan, _operation(plan, place)))


def wrong_vocabulary_range(plan: Plan, place: Place) -> Plan:
    """A rank takes its rows of an embedding for those of its neighbour."""

    def accepts(node: SegmentNode) -> bool:
        if not isinstance(node, ForwardOperation) or node.name != "embedding":
            return False
        table = node.inputs[1]
        return isinstance(table, SubTensor) and table.shape[0] < table.full.shape[0]

    what = "embedding split by rows (--split-vocabulary with --tp of 2 or more has them)"
    located = first(nodes_at(plan, place, accepts), what, place)
    operation = located.node
    assert isinstance(operation, ForwardOperation)
    start, stop = (_number(operation, name) for name in ("start", "stop"))
    shift = int(stop - start) if start == 0 else -int(start)
    moved = {"start": int(start) + shift, "stop": int(stop) + shift}
    new = replace(operation, keywords=tuple(_moved(old, moved) for old in operation.keywords))
    return replace_nodes(plan, {located.key: (new,)})


def _operation(plan: Plan, place: Place) -> Located:
    if place.operation is not None and place.operation not in OPERATIONS:
        raise ImpossiblePlanError(
            f"--bug-operation {place.operation}: ops with a number are {', '.join(OPERATIONS)}"
        )
    for name in OPERATIONS if place.operation is None else (place.operation,):
        for located in nodes_at(plan, place, _has_number):
            if isinstance(located.node, ForwardOperation) and located.node.name == name:
                return located
    what = "op" if place.operation is None else f"'{place.operation}'"
    raise ImpossiblePlanError(f"there is no {what} with a number {place}")


def _has_number(node: SegmentNode) -> bool:
    if not isinstance(node, ForwardOperation):
        return False
    return node.name in OTHER_KEYWORD or any(map(_is_number, node.inputs))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _with_other_constant(plan: Plan, operations: tuple[Located, ...]) -> Plan:
    return replace_nodes(plan, {located.key: (_changed(located.node),) for located in operations})


def _changed(operation: SegmentNode) -> ForwardOperation:
    """Ten times the epsilon, the next exponent, twice the divisor or the scale,
    half the dropout rate.
    """
    assert isinstance(operation, ForwardOperation)
    if operation.name in OTHER_KEYWORD:
        name, change = OTHER_KEYWORD[operation.name]
        new = {name: change(_number(operation, name))}
        return replace(operation, keywords=tuple(_moved(old, new) for old in operation.keywords))
    change = OTHER_OPERAND[operation.name]
    inputs = tuple(
        change(value) if isinstance(value, (int, float)) and _is_number(value) else value
        for value in operation.inputs
    )
    return replace(operation, inputs=inputs)


def _number(operation: ForwardOperation, name: str) -> float:
    value = next(keyword.value for keyword in operation.keywords if keyword.name == name)
    assert isinstance(value, (int, float))
    return value


def _moved(old: Keyword, new: Mapping[str, float]) -> Keyword:
    return Keyword(old.name, new[old.name]) if old.name in new else old
