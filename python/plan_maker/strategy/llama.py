# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Llama: how its layers are split over the tensor-parallel ranks."""

from __future__ import annotations

from plan_maker.graph import FullTensor, Plan
from plan_maker.strategy.assemble import assemble
from plan_maker.strategy.configuration import (
    BY_POSITION,
    LlamaSizes,
    Parallelism,
    TensorStyle,
    check_llama,
)
from plan_maker.strategy.llama_trace import trace_llama
from plan_maker.strategy.pipeline import stage_calls
from plan_maker.strategy.positions import position_splits
from plan_maker.strategy.stage import Seeds, Stage
from plan_maker.trace import Call

COLUMN_SPLIT = {
    TensorStyle.MEGATRON: ("wq", "wk", "wv", "w1", "w3"),
    TensorStyle.MEGATRON_SEQUENCE: ("wq", "wk", "wv", "w1", "w3"),
    TensorStyle.FEED_FORWARD: ("w1", "w3"),
}


def choose_seeds(stage: Stage, parallelism: Parallelism) -> Seeds:
    """Which calls of `stage` start a split.

    `batch`: the activations that come into the stage are split along their first
    dimension, which counts samples, and so are the tokens; the mask, which all
    samples share, is not. Everything after follows.

    `megatron`: the query, key and value projections are split by columns (weight
    dimension 0). Columns are heads times head size, so this splits the heads, and
    everything up to the output projection follows; that one is split by rows and
    leaves a sum. The first and third feed-forward projections are split by
    columns, the second one follows by rows. Norms, embedding and output are
    computed whole on every rank.

    `feed-forward`: as `megatron`, with attention whole on every rank.

    `megatron-sequence`, `all-to-all`, `context`: see `positions`.

    With a split vocabulary, each rank has some rows of the token embedding and
    some columns of the output layer.
    """
    if parallelism.tensor == 1:
        return Seeds({})
    if parallelism.style is TensorStyle.BATCH:
        return Seeds({call: (0, 0) for call in stage.calls if takes_samples(call, stage)})
    by_position = parallelism.style in BY_POSITION
    at = position_splits(stage, parallelism.style) if by_position else {}
    names = COLUMN_SPLIT.get(parallelism.style, ())
    if parallelism.splits_vocabulary:
        names = (*names, "tok_embeddings", "output")
    at |= {call: (1, 0) for call in stage.calls if weight_name(call) in names}
    return Seeds(at, scatters=by_position)


def make_llama(sizes: LlamaSizes, parallelism: Parallelism) -> Plan:
    """The plan of a Llama; raises ImpossiblePlanError if there is none."""
    check_llama(sizes, parallelism)
    trace = trace_llama(sizes, parallelism.local_batch(sizes.batch))
    parts = stage_calls(trace, parallelism.layers_of_stages(sizes.layers))
    return assemble(trace, parts, lambda stage: choose_seeds(stage, parallelism), parallelism)


def takes_samples(call: Call, stage: Stage) -> bool:
    """Is `call` the embedding or the copy of a received activation?"""
    first = call.operands[0] if call.operands else None
    if not isinstance(first, FullTensor) or first not in stage.inputs:
        return False
    return call.name == "embedding" or first.gradient is not None


def weight_name(call: Call) -> str | None:
    """`w1` for an op with the weight `layers.0.feed_forward.w1.weight`."""
    if call.name not in ("linear", "embedding") or not isinstance(call.operands[1], FullTensor):
        return None
    return call.operands[1].name.split(".")[-2]
