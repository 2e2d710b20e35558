# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bugs in the numbers that ops take: operands (the epsilon of a norm, its
exponent, the divisor of the attention scores) and keywords (epsilon, scale and
dropout rates of a GPT, the scale of a router, the rows of an embedding, the
experts of a rank).
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
    "gate_fw": ("route_scale", lambda value: value * 2),
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
    return replace_nodes(plan, {located.key: (_shifted(located, "start", "stop"),)})


def wrong_expert_range(plan: Plan, place: Place) -> Plan:
    """A rank takes its experts for those of its neighbour."""

    def accepts(node: SegmentNode) -> bool:
        if not isinstance(node, ForwardOperation) or node.name != "nnscaler_moe_gmm":
            return False
        start, end = (_number(node, f"local_expert_{bound}") for bound in ("start", "end"))
        return end - start < _number(node, "n_routed_experts")

    what = "op with some of the experts (llama-moe with --tp of 2 or more has them)"
    located = first(nodes_at(plan, place, accepts), what, place)
    return replace_nodes(
        plan, {located.key: (_shifted(located, "local_expert_start", "local_expert_end"),)}
    )


def _operation(plan: Plan, place: Place) -> Located:
    if place.operation is not None and place.operation not in OPERATIONS:
        raise ImpossiblePlanError(
            f"--bug-operation {place.operation}: ops with a number are {', '.join(OPERATIONS)}"
        )
    found = (
        located
        for name in (OPERATIONS if place.operation is None else (place.operation,))
        for located in nodes_at(plan, place, _has_number)
        if isinstance(located.node, ForwardOperation) and located.node.name == name
    )
    what = "op" if place.operation is None else f"'{place.operation}'"
    return first(found, f"{what} with a number", place)


def _has_number(node: SegmentNode) -> bool:
    if not isinstance(node, ForwardOperation):
        return False
    return node.name in OTHER_KEYWORD or any(map(_is_number, node.inputs))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _with_other_constant(plan: Plan, operations: tuple[Located, ...]) -> Plan:
    return replace_nodes(plan, {located.key: (_changed(located.node),) for located in operations})


def _changed(operation: SegmentNode) -> ForwardOperation:
    """Ten times the epsilon, the next exponent, twice the divisor or the scales,
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


def _shifted(located: Located, first_name: str, last_name: str) -> ForwardOperation:
    """The op with a range of the same length next to its own."""
    operation = located.node
    assert isinstance(operation, ForwardOperation)
    start, stop = (int(_number(operation, name)) for name in (first_name, last_name))
    shift = stop - start if start == 0 else -start
    moved = {first_name: start + shift, last_name: stop + shift}
    return replace(operation, keywords=tuple(_moved(old, moved) for old in operation.keywords))


def _number(operation: ForwardOperation, name: str) -> float:
    value = next(keyword.value for keyword in operation.keywords if keyword.name == name)
    assert isinstance(value, (int, float))
    return value


def _moved(old: Keyword, new: Mapping[str, float]) -> Keyword:
    return Keyword(old.name, new[old.name]) if old.name in new else old
