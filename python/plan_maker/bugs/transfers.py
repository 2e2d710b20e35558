# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bugs in the transfer of an activation between two stages.

A transfer's ranks keep parts of the tensor, send them, and gather what they
receive. Sending ranks are s0, s1, ..., receiving ranks r0, r1, ...
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from plan_maker.bugs.place import Direction, Place, first, nodes_at, same_position, transfers_at
from plan_maker.bugs.rewriting import replace_nodes, replace_transfers
from plan_maker.graph import Adapter, Keyword, Plan, Primitive, SegmentNode, SubTensor


def wrong_rank_in_move(plan: Plan, place: Place) -> Plan:
    """Crosses s0 -> r0 and s1 -> r1 to s0 -> r1 and s1 -> r0, on all four."""
    parts = dict(_activation_transfer(plan, place))
    return replace_transfers(plan, _crossed(parts))


def wrong_chunk_offset(plan: Plan, place: Place) -> Plan:
    """s0 declares to keep part 1 and sends it to r1, s1 declares part 0 and sends
    it to r0. What is declared fits together, but a rank keeps the part at its
    own position, so the receivers gather the parts in the wrong order.
    """
    parts = dict(_activation_transfer(plan, place))
    pieces = [adapter.primitives[-1].inputs[0] for adapter in _senders(parts).values()]
    other = {pieces[0].identifier: pieces[1], pieces[1].identifier: pieces[0]}
    crossed = _crossed(parts)
    redeclared = {
        device: _with_pieces(crossed[device], other)
        for device in _senders(parts)
        if device in crossed
    }
    return replace_transfers(plan, crossed | redeclared)


def all_gather_to_all_reduce(plan: Plan, place: Place) -> Plan:
    """The receiving ranks, or else the ranks of a stage, add the parts up instead
    of gathering them.
    """
    parts = next(islice(_transfers_in_parts(plan, place), place.number, None), None)
    if parts is None:
        return _gather_in_stage_to_all_reduce(plan, place)
    changed = {
        device: replace(adapter, primitives=tuple(map(_summing, adapter.primitives)))
        for device, adapter in parts
        if any(primitive.name == "AllGatherPrim" for primitive in adapter.primitives)
    }
    return replace_transfers(plan, changed)


def _activation_transfer(plan: Plan, place: Place) -> tuple[tuple[int, Adapter], ...]:
    """The first transfer in parts of something that has a gradient, or of its
    gradient if that is the direction.
    """
    what = "transfer between stages in parts (it takes --pp and --tp of 2 or more)"
    return first(_transfers_in_parts(plan, place), what, place)


def _transfers_in_parts(plan: Plan, place: Place) -> Iterator[tuple[tuple[int, Adapter], ...]]:
    is_forward = place.direction is not Direction.BACKWARD

    def accepts(adapter: Adapter) -> bool:
        return adapter.is_forward == is_forward and _is_in_parts(adapter)

    return transfers_at(plan, place, accepts)


def _is_in_parts(adapter: Adapter) -> bool:
    names = {primitive.name for primitive in adapter.primitives}
    is_in_parts = "MovePrim" in names and bool(names & {"ChunkPrim", "AllGatherPrim"})
    return adapter.mirror is not None and is_in_parts


def _gather_in_stage_to_all_reduce(plan: Plan, place: Place) -> Plan:
    """The first gather of an activation by the ranks of a stage, and nothing else:
    the gradient comes back in parts as before.
    """

    def accepts(node: SegmentNode) -> bool:
        return (
            isinstance(node, Adapter)
            and node.is_forward
            and node.primitives[0].name in ("AllGatherSplitPrim", "AllGatherPrim")
        )

    what = "gather of an activation (--pp and --tp of 2 or more have one between stages)"
    located = first(nodes_at(plan, place, accepts), what, place)
    changed: dict[tuple[int, int], tuple[SegmentNode, ...]] = {}
    for rank in same_position(plan, located):
        assert isinstance(rank.node, Adapter)
        primitives = tuple(map(_summing, rank.node.primitives))
        changed[rank.key] = (replace(rank.node, primitives=primitives),)
    return replace_nodes(plan, changed)


def _senders(parts: dict[int, Adapter]) -> dict[int, Adapter]:
    return {
        device: adapter
        for device, adapter in parts.items()
        if adapter.primitives[0].name == "ChunkPrim"
    }


def _crossed(parts: dict[int, Adapter]) -> dict[int, Adapter]:
    """The adapters of s0, s1, r0, r1 with the two moves crossed."""
    senders = list(_senders(parts))[:2]
    receivers = [parts[sender].primitives[-1].keyword("dst") for sender in senders]
    other = dict(zip(senders, reversed(senders), strict=True))
    other |= {
        int(str(here)): int(str(there))
        for here, there in zip(receivers, reversed(receivers), strict=True)
    }
    crossed: dict[int, Adapter] = {}
    for device in other:
        own = "src" if device in senders else "dst"
        peer = "dst" if device in senders else "src"
        primitives: list[Primitive] = []
        for primitive in parts[device].primitives:
            if primitive.name == "MovePrim":
                there = primitive.keyword(peer)
                assert isinstance(there, int)
                keywords = tuple(
                    Keyword(peer, other[there]) if keyword.name == peer else keyword
                    for keyword in primitive.keywords
                )
                assert primitive.keyword(own) == device
                primitive = replace(primitive, keywords=keywords)
            primitives.append(primitive)
        crossed[device] = replace(parts[device], primitives=tuple(primitives))
    return crossed


def _with_pieces(adapter: Adapter, other: dict[int, SubTensor]) -> Adapter:
    """The adapter with the two parts exchanged for each other."""

    def exchange(tensors: tuple[SubTensor, ...]) -> tuple[SubTensor, ...]:
        return tuple(other.get(tensor.identifier, tensor) for tensor in tensors)

    primitives = tuple(
        replace(primitive, inputs=exchange(primitive.inputs), outputs=exchange(primitive.outputs))
        for primitive in adapter.primitives
    )
    return replace(adapter, primitives=primitives)


def _summing(primitive: Primitive) -> Primitive:
    names = {"AllGatherPrim": "AllReducePrim", "AllGatherSplitPrim": "AllReduceIdentityPrim"}
    if primitive.name not in names:
        return primitive
    ranks = Keyword("ranks", primitive.keyword("ranks"))
    return replace(primitive, name=names[primitive.name], keywords=(ranks,))
