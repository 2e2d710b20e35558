# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bugs in the communication among the tensor-parallel ranks of a stage.

They change the first all-reduce of partial sums in the forward direction (after
an op that is split by what it sums over; one that nothing reads only where there
is no other), or the first all-reduce of gradients in the backward direction
(before an op that is split by columns). Either may be followed by keeping a part
of the sum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from plan_maker.bugs.place import Located, Place, first, nodes_at, same_position, segments_of
from plan_maker.bugs.rewriting import next_number, program_of, replace_nodes, rewrite_cells
from plan_maker.errors import ImpossiblePlanError
from plan_maker.graph import (
    Adapter,
    Argument,
    BackwardOperation,
    BaseCell,
    ForwardOperation,
    Keyword,
    Plan,
    Primitive,
    ReuseCell,
    Segment,
    SegmentNode,
    SubTensor,
    WeightReducer,
)

FORWARD_SUMS = frozenset({"AllReduceIdentityPrim", "AllReducePrim"})
BACKWARD_SUMS = frozenset({"IdentityAllreducePrim", "AllReducePrim"})


def all_reduce_to_identity(plan: Plan, place: Place) -> Plan:
    """Every rank keeps its own term."""
    adapters = _forward_all_reduce(plan, place)
    return _with_primitives(plan, adapters, lambda old: (_identity(old),))


def transposed_all_reduce(plan: Plan, place: Place) -> Plan:
    """The sum and its gradient's identity change places: every rank keeps its own
    term, and gradients, complete before, are added up.
    """

    def accepts(node: SegmentNode) -> bool:
        return _is_sum(node, frozenset({"AllReduceIdentityPrim"}), True)

    candidates = nodes_at(plan, place, accepts)
    what = "forward all-reduce whose backward is identity"
    adapters = same_position(plan, first(candidates, what, place))

    def transposed(old: Primitive, device: int) -> Primitive:
        return replace(old, name="IdentityAllreducePrim")

    return _with_mirrors(plan, adapters, transposed)


def repeated_all_reduce(plan: Plan, place: Place) -> Plan:
    """The complete sum is added up over the ranks once more."""
    adapters = _forward_all_reduce(plan, place)
    number = next_number(plan)
    changed: dict[tuple[int, int], tuple[SegmentNode, ...]] = {}
    for located in adapters:
        adapter = _adapter(located)
        ranks = Keyword("ranks", adapter.primitives[0].keyword("ranks"))
        again = replace(
            adapter,
            identifier=number,
            inputs=adapter.outputs,
            primitives=(Primitive("AllReducePrim", adapter.outputs, adapter.outputs, (ranks,)),),
            is_differentiable=False,
            is_custom=True,
            mirror=None,
        )
        changed[located.key] = (adapter, again)
    return replace_nodes(plan, changed)


def removed_all_reduce(plan: Plan, place: Place) -> Plan:
    """Without the adapter (and its mirror), consumers read the rank's own term;
    one that keeps a part of the sum keeps a part of the term.
    """
    adapters = _forward_all_reduce(plan, place)
    if len(_adapter(adapters[0]).primitives) > 1:
        return replace_nodes(plan, {located.key: (_without_sum(located),) for located in adapters})
    terms: dict[int, tuple[int, SubTensor]] = {}
    removed: dict[tuple[int, int], tuple[SegmentNode, ...]] = {}
    for located in adapters:
        adapter = _adapter(located)
        terms[located.device] = (adapter.outputs[0].identifier, adapter.inputs[0])
        removed[located.device, adapter.identifier] = ()
        if adapter.mirror is not None:
            removed[located.device, adapter.mirror] = ()
    plan = replace_nodes(plan, removed)

    def rewire(device: int, cell: BaseCell | WeightReducer) -> BaseCell | WeightReducer:
        summed, term = terms[device]
        if not isinstance(cell, Segment) or cell.identifier != adapters[0].segment.identifier:
            return cell
        return replace(
            cell,
            nodes=tuple(_reading(node, summed, term) for node in cell.nodes),
            outputs=_exchanged(cell.outputs, summed, term),
        )

    plan = rewrite_cells(plan, set(terms), rewire)
    if any(isinstance(cell, ReuseCell) for cell in plan.programs[0].cells):
        # Reuse cells bind the segment's outputs by position.
        return plan
    summed, term = next(iter(terms.values()))
    return replace(plan, outputs=_exchanged(plan.outputs, summed, term))


def dropped_primitive(plan: Plan, place: Place) -> Plan:
    """The sum is not done: nobody produces it."""
    return _with_primitives(plan, _forward_all_reduce(plan, place), lambda _: ())


def all_reduce_to_all_gather(plan: Plan, place: Place) -> Plan:
    """Terms are put one after the other along dimension 0 instead of added."""

    def gather(old: Primitive) -> tuple[Primitive, ...]:
        name = "AllGatherPrim" if old.name == "AllReducePrim" else "AllGatherSplitPrim"
        return (replace(old, name=name, keywords=(Keyword("dim", 0), *old.keywords)),)

    return _with_primitives(plan, _forward_all_reduce(plan, place), gather)


def gradient_all_reduce_to_identity(plan: Plan, place: Place) -> Plan:
    """Every rank goes on with its own term of an activation's gradient."""
    return _without_gradient_sum(plan, _backward_all_reduce(plan, place))


def _without_gradient_sum(plan: Plan, adapters: tuple[Located, ...]) -> Plan:
    if _adapter(adapters[0]).is_custom:
        return _with_primitives(plan, adapters, lambda old: (_identity(old),))
    changed: dict[tuple[int, int], tuple[SegmentNode, ...]] = {}
    for located in adapters:
        adapter = _adapter(located)
        # Custom: the primitive is on the gradients themselves, not the transpose
        # of one on the forward tensors.
        identity = Primitive("IdentityPrim", adapter.inputs, adapter.outputs, ())
        new = replace(adapter, primitives=(identity,), is_custom=True)
        changed[located.device, adapter.identifier] = (new,)
    return replace_nodes(plan, changed)


def wrong_group(plan: Plan, place: Place) -> Plan:
    """The group falls into two halves, each of which sums by itself; also in the
    mirror, which shares the group.
    """

    def halved(old: Primitive, device: int) -> Primitive:
        return _halved(old, device) if old.name in FORWARD_SUMS else old

    return _with_mirrors(plan, _forward_all_reduce(plan, place), halved)


def wrong_group_one_rank(plan: Plan, place: Place) -> Plan:
    """One rank of the group takes its half for it; also in the mirror."""
    own = _on_device(_forward_all_reduce(plan, place), place)

    def halved(old: Primitive, device: int) -> Primitive:
        return _halved(old, device) if old.name in FORWARD_SUMS else old

    return _with_mirrors(plan, (own,), halved)


def rank_outside_group(plan: Plan, place: Place) -> Plan:
    """The group of one rank is that of the others alone; also in the mirror."""
    own = _on_device(_forward_all_reduce(plan, place), place)

    def without(old: Primitive, device: int) -> Primitive:
        if old.name not in FORWARD_SUMS:
            return old
        ranks = old.keyword("ranks")
        assert isinstance(ranks, tuple)
        others = tuple(rank for rank in ranks if rank != device)
        return _with_keyword(old, Keyword("ranks", others))

    return _with_mirrors(plan, (own,), without)


def _on_device(adapters: tuple[Located, ...], place: Place) -> Located:
    return next(each for each in adapters if place.device in (None, each.device))


def gather_backward_sums(plan: Plan, place: Place) -> Plan:
    """The gradient of a gathered activation, which each rank has complete, is added
    up over the ranks before each keeps its part.
    """
    return _with_other_gather(plan, place, "AllGatherSplitPrim", "AllGatherReduceScatterPrim")


def gather_backward_splits(plan: Plan, place: Place) -> Plan:
    """Of the gradient of a gathered activation, each rank keeps a part of its own
    term, and not of the sum.
    """
    return _with_other_gather(plan, place, "AllGatherReduceScatterPrim", "AllGatherSplitPrim")


def _with_other_gather(plan: Plan, place: Place, old_name: str, new_name: str) -> Plan:
    def accepts(node: SegmentNode) -> bool:
        return _is_sum(node, frozenset({old_name}), True)

    located = first(nodes_at(plan, place, accepts), f"'{old_name}' in a stage", place)

    def changed(old: Primitive, device: int) -> Primitive:
        return replace(old, name=new_name)

    return _with_mirrors(plan, same_position(plan, located), changed)


def router_gradient_not_reduced(plan: Plan, place: Place) -> Plan:
    """Every rank's gradient of the experts' weights is that by its own experts."""

    def accepts(node: SegmentNode) -> bool:
        return (
            _is_sum(node, BACKWARD_SUMS, False)
            and isinstance(node, Adapter)
            and node.outputs[0].full.name.startswith("ggate_fw")
        )

    what = "all-reduce of the gradient of a router's weights (llama-moe with --tp has them)"
    located = first(nodes_at(plan, place, accepts), what, place)
    return _without_gradient_sum(plan, same_position(plan, located))


def _forward_all_reduce(plan: Plan, place: Place) -> tuple[Located, ...]:
    sums = list(nodes_at(plan, place, lambda node: _is_sum(node, FORWARD_SUMS, True)))
    candidates = iter(sorted(sums, key=_has_readers, reverse=True))
    return same_position(plan, first(candidates, "forward all-reduce", place))


def _has_readers(located: Located) -> bool:
    """Whether anything reads the sum. Ops without a mirror, as masks, read only its type."""
    number = _adapter(located).outputs[0].identifier
    read: list[Argument] = list(located.segment.outputs)
    for node in located.segment.nodes:
        if isinstance(node, Adapter):
            read += [part for primitive in node.primitives for part in primitive.inputs]
        elif isinstance(node, ForwardOperation) and node.mirror is not None:
            read += node.inputs
    return any(isinstance(value, SubTensor) and value.identifier == number for value in read)


def _backward_all_reduce(plan: Plan, place: Place) -> tuple[Located, ...]:
    candidates = nodes_at(plan, place, lambda node: _is_sum(node, BACKWARD_SUMS, False))
    return same_position(plan, first(candidates, "backward all-reduce of an activation", place))


def _is_sum(node: SegmentNode, names: frozenset[str], is_forward: bool) -> bool:
    return (
        isinstance(node, Adapter)
        and node.is_forward == is_forward
        and node.primitives[0].name in names
    )


def _with_primitives(
    plan: Plan,
    adapters: tuple[Located, ...],
    change: Callable[[Primitive], tuple[Primitive, ...]],
) -> Plan:
    """The plan with the first primitive of each of `adapters` changed."""
    changed: dict[tuple[int, int], tuple[SegmentNode, ...]] = {}
    for located in adapters:
        adapter = _adapter(located)
        first_primitive, *others = adapter.primitives
        new = replace(adapter, primitives=(*change(first_primitive), *others))
        changed[located.device, adapter.identifier] = (new,)
    return replace_nodes(plan, changed)


def _with_mirrors(
    plan: Plan, adapters: tuple[Located, ...], change: Callable[[Primitive, int], Primitive]
) -> Plan:
    """The plan with the primitives of `adapters` and of their mirrors changed."""
    numbers = {_adapter(located).mirror for located in adapters}
    numbers |= {located.node.identifier for located in adapters}
    changed: dict[tuple[int, int], tuple[SegmentNode, ...]] = {}
    for located in adapters:
        for segment in segments_of(program_of(plan, located.device)):
            for node in segment.nodes:
                if isinstance(node, Adapter) and node.identifier in numbers:
                    new = tuple(change(old, located.device) for old in node.primitives)
                    changed[located.device, node.identifier] = (replace(node, primitives=new),)
    return replace_nodes(plan, changed)


def _adapter(located: Located) -> Adapter:
    if not isinstance(located.node, Adapter):
        raise ImpossiblePlanError(
            f"device {located.device} does not communicate where the others do"
        )
    return located.node


def _without_sum(located: Located) -> Adapter:
    """The adapter whose second primitive takes the term instead of the sum."""
    adapter = _adapter(located)
    _, second, *others = adapter.primitives
    return replace(adapter, primitives=(replace(second, inputs=adapter.inputs), *others))


def _identity(old: Primitive) -> Primitive:
    return Primitive("IdentityPrim", old.inputs, old.outputs, ())


def _halved(primitive: Primitive, device: int) -> Primitive:
    ranks = primitive.keyword("ranks")
    assert isinstance(ranks, tuple)
    if len(ranks) < 2:
        raise ImpossiblePlanError("the group of the all-reduce has one rank only")
    lower, upper = ranks[: len(ranks) // 2], ranks[len(ranks) // 2 :]
    return _with_keyword(primitive, Keyword("ranks", lower if device in lower else upper))


def _with_keyword(primitive: Primitive, new: Keyword) -> Primitive:
    return replace(
        primitive,
        keywords=tuple(new if old.name == new.name else old for old in primitive.keywords),
    )


def _reading(node: SegmentNode, old: int, new: SubTensor) -> SegmentNode:
    """The same node, reading `new` where it read tensor number `old`."""
    if isinstance(node, ForwardOperation):
        arguments: tuple[Argument, ...] = tuple(
            new if isinstance(value, SubTensor) and value.identifier == old else value
            for value in node.inputs
        )
        return replace(node, inputs=arguments)
    if isinstance(node, BackwardOperation):
        return node
    primitives = tuple(
        replace(primitive, inputs=_exchanged(primitive.inputs, old, new))
        for primitive in node.primitives
    )
    return replace(node, inputs=_exchanged(node.inputs, old, new), primitives=primitives)


def _exchanged(tensors: tuple[SubTensor, ...], old: int, new: SubTensor) -> tuple[SubTensor, ...]:
    return tuple(new if tensor.identifier == old else tensor for tensor in tensors)
