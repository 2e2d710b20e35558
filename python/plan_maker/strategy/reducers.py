# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which devices of a replica sum which gradients.

A parameter that every rank of a stage holds whole while it differentiates only
its share of the work has one term of the gradient on each rank: the reducer
sums over all of them. Any other gradient is complete on its device; its reducer
only sums over the replicas, and without replicas there is none.
"""

from __future__ import annotations

from plan_maker.graph import ForwardOperation, Segment, SubTensor, WeightReducer
from plan_maker.strategy.numbering import Numbering
from plan_maker.strategy.ranks import RankSegments


def weight_reducers(
    segments: tuple[RankSegments, ...], replicas: int, numbering: Numbering
) -> dict[int, tuple[WeightReducer, ...]]:
    """The reducers of one stage: device -> its reducers, last cells of its list."""
    devices = tuple(rank.device for rank in segments)
    held = {rank.device: trained_parameters(rank.forward) for rank in segments}
    shared = {
        device: tuple(weight for weight in weights if _is_pending(weight))
        for device, weights in held.items()
    }
    own = {
        device: tuple(weight for weight in weights if not _is_pending(weight))
        for device, weights in held.items()
    }
    result: dict[int, tuple[WeightReducer, ...]] = dict.fromkeys(devices, ())
    if shared[devices[0]]:
        # One cell for all its devices: as in nnScaler's plans, its weights are
        # those of the first device, with that device's terms as gradients.
        reducer = WeightReducer(numbering.cell(), shared[devices[0]], devices)
        result = dict.fromkeys(devices, (reducer,))
    if replicas > 1:
        for device in devices:
            if own[device]:
                single = WeightReducer(numbering.cell(), own[device], (device,))
                result[device] = (*result[device], single)
    return result


def trained_parameters(segment: Segment) -> tuple[SubTensor, ...]:
    """The parameters with a gradient that a forward segment uses, in order."""
    return tuple(
        tensor
        for node in segment.nodes
        if isinstance(node, ForwardOperation)
        for tensor in node.inputs
        if isinstance(tensor, SubTensor)
        and tensor.full.is_parameter
        and tensor.gradient is not None
    )


def _is_pending(weight: SubTensor) -> bool:
    return weight.gradient is not None and weight.gradient.part[1] > 1
