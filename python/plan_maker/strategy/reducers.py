# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which devices of a replica sum which gradients.

A parameter that every rank of a stage holds whole while it differentiates only
its share of the work has one term of the gradient on each rank: the reducer
sums over all of them. Any other gradient is complete on its device. Stages that
share a parameter have one term each, of whichever rank. Without other terms the
reducer only sums over the replicas, and without replicas there is none.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TypeAlias

from plan_maker.errors import ImpossiblePlanError
from plan_maker.graph import (
    ForwardOperation,
    FullTensor,
    Range,
    Segment,
    SubTensor,
    WeightReducer,
)
from plan_maker.strategy.numbering import Numbering
from plan_maker.strategy.ranks import RankSegments

Group: TypeAlias = tuple[int, ...]
Held: TypeAlias = dict[int, dict[FullTensor, SubTensor]]


def weight_reducers(
    stages: list[tuple[RankSegments, ...]], replicas: int, numbering: Numbering
) -> dict[int, tuple[WeightReducer, ...]]:
    """The reducers: device -> its reducers, last cells of its list. Those of one
    stage come first, then those of several, then those of one device.
    """
    held: Held = defaultdict(dict)
    for stage in stages:
        for rank in stage:
            held[rank.device] |= trained_parameters(rank.forward)
    rank_groups = list(dict.fromkeys(tuple(rank.device for rank in stage) for stage in stages))
    weights: dict[Group, list[SubTensor]] = {}
    for device, tensors in held.items():
        groups: defaultdict[Group, list[SubTensor]] = defaultdict(list)
        for full, tensor in tensors.items():
            groups[_group(device, full, held, rank_groups)].append(tensor)
        # One cell for all its devices: as in nnScaler's plans, its weights are
        # those of the first device, with that device's terms as gradients.
        for group, tensors_of_group in groups.items():
            weights.setdefault(group, tensors_of_group)
    group_of = {device: ranks for ranks in rank_groups for device in ranks}

    def order(group: Group) -> tuple[bool, bool]:
        return len(group) == 1, len({group_of[device] for device in group}) > 1

    reducers = {
        group: WeightReducer(numbering.cell(), tuple(weights[group]), group)
        for group in sorted(weights, key=order)
        if len(group) > 1 or replicas > 1
    }
    return {
        device: tuple(reducer for group, reducer in reducers.items() if device in group)
        for device in held
    }


def trained_parameters(segment: Segment) -> dict[FullTensor, SubTensor]:
    """The parameters with a gradient that a forward segment uses, in order."""
    found: dict[FullTensor, SubTensor] = {}
    for node in segment.nodes:
        if not isinstance(node, ForwardOperation):
            continue
        for tensor in node.inputs:
            if isinstance(tensor, SubTensor) and tensor.full.is_parameter and tensor.gradient:
                found.setdefault(tensor.full, tensor)
    return found


def _group(device: int, full: FullTensor, held: Held, rank_groups: list[Group]) -> Group:
    """The devices that hold the terms of the gradient of what `device` holds."""
    users = [ranks for ranks in rank_groups if full in held[ranks[0]]]
    own = next(ranks for ranks in users if device in ranks)
    rank = own.index(device)
    ways = {_way(held[ranks[rank]][full], len(ranks)) for ranks in users}
    if len(ways) > 1:
        raise ImpossiblePlanError(f"the stages that share '{full.name}' split it differently")
    if any(is_term for _, is_term in ways):
        return tuple(device for ranks in users for device in ranks)
    return tuple(ranks[rank] for ranks in users)


def _way(weight: SubTensor, ranks: int) -> tuple[tuple[Range, ...], bool]:
    """Which slice, and is its gradient one of several ranks' terms?"""
    is_term = ranks > 1 and weight.gradient is not None and weight.gradient.part[1] > 1
    return weight.slices, is_term
