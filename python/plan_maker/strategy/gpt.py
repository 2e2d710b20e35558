# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPT: how its layers are split over the tensor-parallel ranks."""

from __future__ import annotations

from plan_maker.graph import FullTensor, Plan
from plan_maker.strategy.assemble import assemble
from plan_maker.strategy.configuration import GptSizes, Parallelism, TensorStyle, check_gpt
from plan_maker.strategy.gpt_trace import trace_gpt
from plan_maker.strategy.pipeline import stage_calls
from plan_maker.strategy.stage import Seeds, Split, Stage
from plan_maker.trace import Call

BY_SAMPLES, BY_POSITION = (0, 0), (0, 1)  # before the transpose
BY_SEQUENCE, BY_BATCH, BY_HIDDEN = (0, 0), (0, 1), (0, 2)
BY_HEADS = BY_INNER = BY_ROWS = (1, 0)

SEQUENCE: dict[str, Split] = {
    "embedding": BY_SAMPLES,
    "identity": BY_SEQUENCE,
    "layernorm": BY_SEQUENCE,
    "self_attention": None,
    "feedforward": None,
    "add": BY_SEQUENCE,
}

# Outside of layers by name, inside by position: norm, block, bias, dropout and
# residual, of attention and of the feed-forward block; first layer and others.
MIXED: dict[str, Split] = {
    "embedding": BY_SAMPLES,
    "add": (0, 1),
    "transpose": (0, 2),
    "layernorm": BY_SEQUENCE,
    "linear": BY_BATCH,
    "sum": BY_SEQUENCE,
}
MIXED_LAYERS = (
    (
        *(BY_SEQUENCE, BY_BATCH, BY_SEQUENCE, BY_HIDDEN, BY_SEQUENCE),
        *(BY_SEQUENCE, BY_BATCH, BY_HIDDEN, BY_BATCH, BY_HIDDEN),
    ),
    (
        *(BY_BATCH, BY_HEADS, BY_HIDDEN, BY_BATCH, BY_HIDDEN),
        *(BY_SEQUENCE, BY_INNER, BY_HIDDEN, BY_BATCH, BY_HIDDEN),
    ),
)


def choose_seeds(stage: Stage, parallelism: Parallelism) -> Seeds:
    """Which calls of `stage` start a split.

    `batch`: what comes into the stage is split by samples; everything follows.

    `megatron`: attention is split by heads and the feed-forward block by its
    inner dimension; either leaves a sum. `feed-forward`: only the latter.
    `megatron-sequence`: as `megatron`, with everything else split by position.

    `sequence`: as published for pipelines. Embeddings are split by samples,
    attention and feed-forward blocks are whole, the rest is split by position.

    `mixed`: as published for one stage. Nearly every op is split in its own way,
    attention and feed-forward block of the first layer by samples, of the others
    as in `megatron`, and activations are copied before they are communicated.

    With a split vocabulary, each rank has some rows of the token embedding, and
    the output layer, which shares them, some columns.
    """
    if parallelism.tensor == 1:
        return Seeds({})
    if parallelism.style is TensorStyle.BATCH:
        samples = BY_SAMPLES if stage.index == 0 else BY_BATCH
        return Seeds({call: samples for call in stage.calls if call.operands[0] in stage.inputs})
    if parallelism.style is TensorStyle.SEQUENCE:
        return Seeds({call: SEQUENCE[call.name] for call in stage.calls if call.name in SEQUENCE})
    if parallelism.style is TensorStyle.MIXED:
        return Seeds(_mixed(stage), copies_first=True)
    splits_positions = parallelism.style is TensorStyle.MEGATRON_SEQUENCE
    at = _positions(stage) if splits_positions else {}
    for call in stage.calls:
        if call.name == "feedforward":
            at[call] = BY_INNER
        elif call.name == "self_attention" and parallelism.style is not TensorStyle.FEED_FORWARD:
            at[call] = BY_HEADS
        elif parallelism.splits_vocabulary and _uses_table(call):
            at[call] = BY_ROWS
    return Seeds(at, scatters=splits_positions)


def make_gpt(sizes: GptSizes, parallelism: Parallelism) -> Plan:
    """The plan of a GPT; raises ImpossiblePlanError if there is none."""
    check_gpt(sizes, parallelism)
    trace = trace_gpt(sizes, parallelism.local_batch(sizes.batch))
    parts = stage_calls(trace, parallelism.layers_of_stages(sizes.layers))
    return assemble(trace, parts, lambda stage: choose_seeds(stage, parallelism), parallelism)


def _mixed(stage: Stage) -> dict[Call, Split]:
    at = {call: MIXED[call.name] for call in stage.calls if call.name in MIXED}
    layers = {call.layer for call in stage.calls if call.layer is not None}
    for layer in layers:
        calls = [call for call in stage.calls if call.layer == layer]
        at |= dict(zip(calls, MIXED_LAYERS[min(layer, 1)], strict=True))
    return at


def _positions(stage: Stage) -> dict[Call, Split]:
    at: dict[Call, Split] = {}
    for call in stage.calls:
        if call.name in ("layernorm", "identity") or (
            call.name == "add" and call.layer is not None
        ):
            at[call] = BY_SEQUENCE
        elif call.name in ("embedding", "add"):
            at[call] = BY_POSITION
    return at


def _uses_table(call: Call) -> bool:
    table = call.operands[1] if len(call.operands) > 1 else None
    return isinstance(table, FullTensor) and table.name == "embedw"
