# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bugs by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from plan_maker.bugs import (
    collectives,
    constants,
    gradients,
    micro_batches,
    operands,
    parameters,
    reordering,
    transfers,
    waiting,
)
from plan_maker.bugs.place import Place
from plan_maker.errors import ImpossiblePlanError
from plan_maker.graph import Plan

DEVICE = frozenset({"device"})
DEVICE_AND_LAYER = DEVICE | {"layer"}
DEVICE_AND_MICRO_BATCH = DEVICE | {"micro_batch"}
DEVICE_AND_DIRECTION = DEVICE | {"direction"}
# Of a bug in an op: any place.
OP = DEVICE_AND_LAYER | {"micro_batch"}
CONSTANT = OP | {"operation"}


@dataclass(frozen=True)
class Bug:
    """A named mistake. `description` is what `--list-bugs` prints; `choices` are
    the fields of a place that the bug looks at.
    """

    name: str
    description: str
    apply: Callable[[Plan, Place], Plan]
    choices: frozenset[str] = OP


BUGS = (
    Bug(
        "removed-all-reduce",
        "the all-reduce after a row-split layer, and its mirror, are gone on all ranks; the "
        "next op reads the rank's own term of the sum, or of part of it",
        collectives.removed_all_reduce,
    ),
    Bug(
        "repeated-all-reduce",
        "the all-reduce after a row-split layer is done twice on all ranks",
        collectives.repeated_all_reduce,
    ),
    Bug(
        "transposed-all-reduce",
        "the all-reduce after a row-split layer does nothing on all ranks, and its mirror adds "
        "up gradients that are complete",
        collectives.transposed_all_reduce,
    ),
    Bug(
        "all-reduce-to-identity",
        "the all-reduce after a row-split layer does nothing on all ranks",
        collectives.all_reduce_to_identity,
    ),
    Bug(
        "dropped-primitive",
        "the all-reduce after a row-split layer is there without its primitive: nobody "
        "produces its output",
        collectives.dropped_primitive,
    ),
    Bug(
        "all-reduce-to-all-gather",
        "the all-reduce after a row-split layer is an all-gather along dimension 0",
        collectives.all_reduce_to_all_gather,
    ),
    Bug(
        "gradient-all-reduce-to-identity",
        "the all-reduce of the gradient before column-split layers does nothing on all ranks",
        collectives.gradient_all_reduce_to_identity,
    ),
    Bug(
        "router-gradient-not-reduced",
        "the all-reduce of the gradient of a router's weights does nothing on all ranks",
        collectives.router_gradient_not_reduced,
    ),
    Bug(
        "gather-backward-sums",
        "the backward of a gather adds up, on all ranks, gradients that are complete",
        collectives.gather_backward_sums,
    ),
    Bug(
        "gather-backward-splits",
        "the backward of a gather keeps, on all ranks, a part of the rank's own term",
        collectives.gather_backward_splits,
    ),
    Bug(
        "bias-before-all-reduce",
        "the bias after an all-reduce is added before it, on every rank",
        reordering.bias_before_all_reduce,
    ),
    Bug(
        "wrong-group",
        "the all-reduce after a row-split layer sums over half of its ranks, on all of them",
        collectives.wrong_group,
    ),
    Bug(
        "wrong-group-one-rank",
        "one rank takes half of its ranks for the group of the all-reduce after a row-split layer",
        collectives.wrong_group_one_rank,
    ),
    Bug(
        "rank-outside-group",
        "the all-reduce after a row-split layer leaves out, on one rank, that rank",
        collectives.rank_outside_group,
    ),
    Bug(
        "wrong-rank-in-move",
        "two senders between stages send to each other's receiver, and the receivers agree",
        transfers.wrong_rank_in_move,
        DEVICE_AND_DIRECTION,
    ),
    Bug(
        "wrong-chunk-offset",
        "two senders between stages declare to keep each other's part; declarations and "
        "ranks agree, but a rank keeps the part at its position in the group",
        transfers.wrong_chunk_offset,
        DEVICE,
    ),
    Bug(
        "all-gather-to-all-reduce",
        "the receivers between stages add up the parts that they should gather; without such "
        "receivers, the ranks of a stage do",
        transfers.all_gather_to_all_reduce,
        DEVICE_AND_DIRECTION,
    ),
    Bug(
        "constant-one-rank",
        "the number in an op (see --bug-operation) differs on one rank",
        constants.constant_one_rank,
        CONSTANT,
    ),
    Bug(
        "constant-all-ranks",
        "the number in an op (see --bug-operation) differs on all ranks of the stage",
        constants.constant_all_ranks,
        CONSTANT,
    ),
    Bug(
        "wrong-vocabulary-range",
        "a rank takes its rows of a split embedding for those of its neighbour",
        constants.wrong_vocabulary_range,
    ),
    Bug(
        "wrong-expert-range",
        "a rank takes its experts for those of its neighbour",
        constants.wrong_expert_range,
    ),
    Bug(
        "wrong-parameter-slice",
        "a rank holds and trains its neighbour's slice of a parameter",
        parameters.wrong_parameter_slice,
        DEVICE_AND_LAYER,
    ),
    Bug(
        "swapped-parameter-slices",
        "two ranks hold and train each other's slice of a parameter",
        parameters.swapped_parameter_slices,
        DEVICE_AND_LAYER,
    ),
    Bug(
        "wrong-layer-parameters",
        "two layers of a stage use and train each other's parameter, on all ranks",
        reordering.wrong_layer_parameters,
        DEVICE_AND_LAYER,
    ),
    Bug(
        "dropped-micro-batch",
        "one device leaves out its backward segment for the last micro-batch",
        gradients.dropped_micro_batch,
        DEVICE_AND_MICRO_BATCH,
    ),
    Bug(
        "dropped-micro-batch-all-ranks",
        "all ranks of a stage leave out the backward segment for the last micro-batch",
        gradients.dropped_micro_batch_all_ranks,
        DEVICE_AND_MICRO_BATCH,
    ),
    Bug(
        "exchanged-micro-batches",
        "one rank draws the last two micro-batches in the other order than its peers",
        micro_batches.exchanged_micro_batches,
        DEVICE,
    ),
    Bug(
        "late-receive",
        "all ranks of a stage send a gradient back before they receive the next activation",
        waiting.late_receive,
        DEVICE,
    ),
    Bug(
        "early-reducer",
        "a gradient reducer runs before the backward segment of the last micro-batch, on all "
        "devices of the replica that share it",
        gradients.early_reducer,
        DEVICE,
    ),
    Bug(
        "parameter-not-reduced",
        "a gradient reducer leaves out a parameter, on all devices of the replica that share it",
        gradients.parameter_not_reduced,
        DEVICE,
    ),
    Bug(
        "missing-reducer",
        "a gradient reducer is missing on all devices of the replica that share it",
        gradients.missing_reducer,
        DEVICE,
    ),
    Bug(
        "wrong-reducer-group",
        "a reducer leaves out the tensor-parallel ranks that hold the other terms",
        gradients.wrong_reducer_group,
        DEVICE,
    ),
    Bug(
        "too-wide-reducer-group",
        "a reducer adds up the complete gradients that the tensor-parallel ranks have of a "
        "parameter that each holds whole",
        gradients.too_wide_reducer_group,
        DEVICE,
    ),
    Bug(
        "mixed-slices-reduced",
        "a reducer adds up the gradients of the different slices of a parameter that the "
        "tensor-parallel ranks have",
        gradients.mixed_slices_reduced,
        DEVICE,
    ),
    Bug(
        "doubled-gradient",
        "a backward op runs twice, so that its gradient counts twice",
        gradients.doubled_gradient,
    ),
    Bug(
        "doubled-incoming-gradient",
        "the gradient of an activation with several consumers gets that from one of them twice, "
        "on one rank",
        gradients.doubled_incoming_gradient,
    ),
    Bug(
        "swapped-operands",
        "the backward op of a rotary embedding has its two inputs exchanged",
        operands.swapped_operands,
    ),
    Bug(
        "swapped-forward-operands",
        "an op whose operands' order matters, and its backward op, have two of them exchanged on "
        "all ranks: weight and bias of a layer norm, queries and keys of a rotary embedding, or "
        "matrices of equal shapes",
        operands.swapped_forward_operands,
    ),
)


def apply_bug(plan: Plan, name: str, place: Place) -> tuple[Plan, Plan]:
    """The plan without and with the bug; raises ImpossiblePlanError if it has no
    place for it. If the bug is in an op in one micro-batch only, that has segments
    of its own in both, where the bug is.
    """
    bug = next((bug for bug in BUGS if bug.name == name), None)
    if bug is None:
        raise ImpossiblePlanError(f"--bug {name}: no such bug, --list-bugs lists them")
    for choice in ("device", "layer", "operation", "micro_batch", "direction"):
        if getattr(place, choice) is not None and choice not in bug.choices:
            option = choice.replace("_", "-")
            raise ImpossiblePlanError(f"--bug {name} has no choice of --bug-{option}")
    if place.number < 0:
        raise ImpossiblePlanError(f"--bug-number {place.number}: must be at least 0")
    if place.device is not None and place.device not in plan.devices:
        raise ImpossiblePlanError(
            f"--bug-device {place.device}: the plan has devices 0 to {len(plan.devices) - 1}"
        )
    try:
        if place.micro_batch is None or not bug.choices >= OP:
            return plan, bug.apply(plan, place)
        separated = micro_batches.separate(plan, place.micro_batch)
        return micro_batches.share_unchanged(plan, separated, bug.apply(separated, place))
    except ImpossiblePlanError as error:
        raise ImpossiblePlanError(f"--bug {name}: {error}") from None
