# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Llama with mixtures of experts: how its layers are split over the tensor-parallel
ranks.
"""

from __future__ import annotations

from plan_maker.graph import Plan
from plan_maker.strategy import llama
from plan_maker.strategy.assemble import assemble
from plan_maker.strategy.configuration import (
    BY_POSITION,
    ExpertSplit,
    LlamaMoeSizes,
    Parallelism,
    TensorStyle,
    check_llama_moe,
)
from plan_maker.strategy.llama_moe_trace import trace_llama_moe
from plan_maker.strategy.pipeline import stage_calls
from plan_maker.strategy.stage import Seeds, Split, Stage
from plan_maker.trace import Call

BY_TOKENS, BY_EXPERT, BY_INNER = (0, 0), (3, 0), (3, 1)
EXPERTS: dict[ExpertSplit, Split] = {
    ExpertSplit.EXPERTS: BY_EXPERT,
    ExpertSplit.INNER: BY_INNER,
    ExpertSplit.TOKENS: BY_TOKENS,
    ExpertSplit.NONE: None,
}


def choose_seeds(stage: Stage, parallelism: Parallelism) -> Seeds:
    """Which calls of `stage` start a split.

    As in a Llama, and the experts by their number, their inner dimension or the
    tokens, or not at all. The router is whole on every rank: its choice of the
    best experts of a token looks at all of them, and its rule lets no tokens be
    split.

    `feed-forward`: as published for mixtures of experts. The first and the third
    projection are split by columns and gathered at once, the second is split by
    rows, and activations are copied before they are communicated.

    Where activations are split by positions, they are gathered before a mixture of
    experts: samples and positions become one dimension there, of which only the
    samples can be split.
    """
    if parallelism.tensor == 1:
        return Seeds({})
    seeds = llama.choose_seeds(stage, parallelism)
    at = dict(seeds.at)
    is_by_position = parallelism.style in BY_POSITION
    for call in stage.calls:
        if call.name == "gate_fw" or (call.name == "view" and is_by_position and _is_flat(call)):
            at[call] = None
        elif call.name == "nnscaler_moe_gmm":
            at[call] = EXPERTS[parallelism.experts]
        elif parallelism.style is TensorStyle.FEED_FORWARD:
            at |= _feed_forward_split(call)
    is_published = parallelism.style is TensorStyle.FEED_FORWARD
    return Seeds(at, copies_first=is_published, scatters=seeds.scatters)


def make_llama_moe(sizes: LlamaMoeSizes, parallelism: Parallelism) -> Plan:
    """The plan of a Llama with experts; raises ImpossiblePlanError if there is none."""
    check_llama_moe(sizes, parallelism)
    trace = trace_llama_moe(sizes, parallelism.local_batch(sizes.batch))
    parts = stage_calls(trace, parallelism.layers_of_stages(sizes.layers))
    return assemble(trace, parts, lambda stage: choose_seeds(stage, parallelism), parallelism)


def _is_flat(call: Call) -> bool:
    """Does it make samples and positions one dimension?"""
    return len(call.results[0].shape) == 2


def _feed_forward_split(call: Call) -> dict[Call, Split]:
    """How `call` is split, if it is in a feed-forward block."""
    if not any(module.class_name == "FeedForward" for module in call.modules):
        return {}
    match call.name, llama.weight_name(call):
        case "silu" | "mul", _:
            return {call: None}
        case "linear", "w2":
            return {call: (1, 1)}
        case _:
            return {}
