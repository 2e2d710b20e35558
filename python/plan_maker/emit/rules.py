# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Partition rules as nnScaler keeps them with an op: parsed, dimension by dimension."""

from __future__ import annotations

import contextlib

from plan_maker import annotation
from plan_maker.annotation import Dimension, Rule
from plan_maker.emit.tensors import State
from plan_maker.graph import ForwardOperation, SubTensor
from plan_maker.pickle_writer import Global, Instance, Member, PickleValue

DIMOPS = "nnscaler.graph.function.dimops"
OP_RULE = Global(DIMOPS, "OpAnno")
SHAPE_RULE = Global(DIMOPS, "ShapeAnno")
DIMENSION_RULE = Global(DIMOPS, "DimAnno")
REDUCE_KIND = Global(DIMOPS, "DimAnno.ReduceType")


class Rules:
    """The rules of a plan. The ranks of a stage share those of their ops."""

    def __init__(self) -> None:
        self._fields: dict[tuple[int, tuple[str, ...]], State] = {}

    def fields_of(self, node: ForwardOperation) -> State:
        """The fields of an op that say how it may be divided."""
        # Ranks make parts of one full tensor.
        key = (id(node.outputs[0].full) if node.outputs else id(node), node.annotations)
        found = self._fields.get(key)
        if found is None:
            found = self._fields[key] = _describe(node, key)
        return found


def _describe(node: ForwardOperation, key: object) -> State:
    """An op that a bug has changed may not fit its rule any more, and has none."""
    module, _, function = node.signature.rpartition(".")
    fields: State = {"_trans_rules": (), "_create_fn": (Global(module, function),)}
    tensors = [value if isinstance(value, SubTensor) else None for value in node.inputs]
    rule = _find_rule(
        node.annotations,
        [None if tensor is None else len(tensor.full.shape) for tensor in tensors],
    )
    if rule is None:
        nothing: State = {"_anno": None, "_iannos": (), "_oannos": ()}
        return nothing | fields
    operands = tuple(
        _shape_rule((key, place), dimensions or ())
        for place, dimensions in enumerate(rule.operands)
    )
    results = tuple(
        _shape_rule((key, -1 - place), dimensions) for place, dimensions in enumerate(rule.results)
    )

    def state() -> State:
        sizes = _sizes(rule, tensors)
        kinds: dict[PickleValue, PickleValue] = {
            factor.name: Member(REDUCE_KIND, factor.kind) for factor in rule.factors()
        }
        return {"_inputs": operands, "_outputs": results, "_identifiers": sizes, "_reduces": kinds}

    of_op = Instance(("rule", key), OP_RULE, state)
    own: State = {"_anno": of_op, "_iannos": operands, "_oannos": results}
    return own | fields


def _find_rule(texts: tuple[str, ...], ranks: list[int | None]) -> Rule | None:
    """The first of several rules that fits operands of these ranks."""
    for text in texts:
        with contextlib.suppress(ValueError):
            return annotation.parse(text, ranks)
    return None


def _sizes(rule: Rule, tensors: list[SubTensor | None]) -> dict[PickleValue, PickleValue]:
    """The sizes of factors that are dimensions of their own."""
    sizes: dict[PickleValue, PickleValue] = {}
    for dimensions, tensor in zip(rule.operands, tensors, strict=True):
        if dimensions is None or tensor is None:
            continue
        for dimension, size in zip(dimensions, tensor.full.shape, strict=True):
            if len(dimension) == 1:
                sizes[dimension[0].name] = size
    return sizes


def _shape_rule(key: object, dimensions: tuple[Dimension, ...]) -> Instance:
    return Instance(
        ("rule of a shape", key),
        SHAPE_RULE,
        lambda: {
            "_dims": tuple(
                _dimension_rule((key, number), dimension)
                for number, dimension in enumerate(dimensions)
            )
        },
    )


def _dimension_rule(key: object, dimension: Dimension) -> Instance:
    return Instance(
        ("rule of a dimension", key),
        DIMENSION_RULE,
        lambda: {
            "_identifiers": tuple(factor.name for factor in dimension),
            "_reduces": tuple(Member(REDUCE_KIND, factor.kind) for factor in dimension),
        },
    )
