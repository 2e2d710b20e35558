# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bugs in what an op is applied to: a term instead of the sum, the parameters of
another layer.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from plan_maker.bugs.parameters import with_tensors
from plan_maker.bugs.place import Located, Place, first, nodes_at, same_position
from plan_maker.bugs.rewriting import next_tensor, rewrite_cells
from plan_maker.graph import (
    Adapter,
    BackwardOperation,
    BaseCell,
    ForwardOperation,
    Plan,
    Segment,
    SegmentNode,
    SubTensor,
    WeightReducer,
)


def bias_before_all_reduce(plan: Plan, place: Place) -> Plan:
    """Every rank adds the bias to its own term, so that the sum has it once for
    each rank.
    """
    what = "bias after an all-reduce (gpt with --tp of 2 or more has them)"
    located = first(_sums_before_bias(plan, place), what, place)
    number = next_tensor(plan)
    ranks = same_position(plan, located)
    exchanged = {
        rank.device: _Exchange.of(rank, number + index) for index, rank in enumerate(ranks)
    }

    def rewrite(device: int, cell: BaseCell | WeightReducer) -> BaseCell | WeightReducer:
        if not isinstance(cell, Segment):
            return cell
        return replace(cell, nodes=tuple(exchanged[device].nodes(cell)))

    return rewrite_cells(plan, set(exchanged), rewrite)


def wrong_layer_parameters(plan: Plan, place: Place) -> Plan:
    """On all ranks of a stage, an op uses, and trains, the parameter of the next
    layer of the stage, and the op there that of this one.
    """
    what = "parameter that two layers of a stage have"
    located, other = first(_pairs_of_layers(plan, place), what, place)
    changes: dict[int, dict[int, SubTensor]] = {}
    for here, there in zip(same_position(plan, located), same_position(plan, other), strict=True):
        own, next_layers = _parameter(here.node), _parameter(there.node)
        assert own is not None and next_layers is not None
        changes[here.device] = {own.identifier: next_layers, next_layers.identifier: own}
    return with_tensors(plan, changes)


@dataclass(frozen=True)
class _Exchange:
    """An all-reduce and the addition after it, and how they are the other way round:
    `term` is what the addition then gives.
    """

    adapter: Adapter
    addition: ForwardOperation
    term: SubTensor

    @staticmethod
    def of(located: Located, number: int) -> _Exchange:
        """At an all-reduce."""
        adapter, addition = located.segment.nodes[located.position : located.position + 2]
        assert isinstance(adapter, Adapter) and isinstance(addition, ForwardOperation)
        result = addition.outputs[0]
        term = replace(result, identifier=number, part=adapter.inputs[0].part)
        return _Exchange(adapter, addition, term)

    def nodes(self, segment: Segment) -> Iterator[SegmentNode]:
        """The nodes of a segment, these two or their backward ones exchanged."""
        result = self.addition.outputs[0]
        later: SegmentNode | None = None
        for node in segment.nodes:
            match node:
                case Adapter() if node.identifier == self.adapter.identifier:
                    later = self._summing((self.term,), (result,), node)
                case ForwardOperation() if node.identifier == self.addition.identifier:
                    operands = (self.adapter.inputs[0], *node.inputs[1:])
                    yield replace(node, inputs=operands, outputs=(self.term,))
                    assert later is not None
                    yield later
                case BackwardOperation() if node.mirror == self.addition.identifier:
                    later = node
                case Adapter() if node.mirror == self.adapter.identifier:
                    assert isinstance(later, BackwardOperation)
                    yield self._summing(later.inputs, later.inputs, node)
                    yield replace(later, outputs=(*node.outputs, *later.outputs[1:]))
                case _:
                    yield node

    def _summing(
        self, inputs: tuple[SubTensor, ...], outputs: tuple[SubTensor, ...], node: Adapter
    ) -> Adapter:
        (primitive,) = node.primitives
        summing = replace(primitive, inputs=(self.term,), outputs=self.addition.outputs)
        return replace(node, inputs=inputs, outputs=outputs, primitives=(summing,))


def _sums_before_bias(plan: Plan, place: Place) -> Iterator[Located]:
    def accepts(node: SegmentNode) -> bool:
        return (
            isinstance(node, Adapter)
            and node.is_forward
            and [primitive.name for primitive in node.primitives] == ["AllReduceIdentityPrim"]
        )

    for located in nodes_at(plan, place, accepts):
        after = located.segment.nodes[located.position + 1 : located.position + 2]
        for node in after:
            if (
                isinstance(node, ForwardOperation)
                and node.name == "add"
                and node.inputs[0] == located.node.outputs[0]
                and isinstance(node.inputs[1], SubTensor)
                and node.inputs[1].full.is_parameter
            ):
                yield located


def _pairs_of_layers(plan: Plan, place: Place) -> Iterator[tuple[Located, Located]]:
    """Ops with the same parameter of two layers of a segment."""
    for located in nodes_at(plan, place, lambda node: _parameter(node) is not None):
        own = _parameter(located.node)
        assert own is not None
        for position, node in enumerate(located.segment.nodes):
            other = _parameter(node)
            if (
                other is not None
                and position > located.position
                and _role(other) == _role(own)
                and other.slices == own.slices
                and other.full.shape == own.full.shape
            ):
                yield located, Located(located.device, located.segment, position, node)


def _parameter(node: SegmentNode) -> SubTensor | None:
    """The parameter of a layer that a forward op uses and trains."""
    if not isinstance(node, ForwardOperation) or node.layer is None:
        return None
    for value in node.inputs:
        if isinstance(value, SubTensor) and value.full.is_parameter and value.gradient:
            return value
    return None


def _role(parameter: SubTensor) -> str:
    """`layers.*.attention.wq.weight`."""
    return re.sub(r"\.\d+\.", ".*.", parameter.full.name)
