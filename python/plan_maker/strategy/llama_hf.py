# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Llama of the transformers library: how its layers are split over the ranks."""

from __future__ import annotations

from plan_maker.graph import Plan
from plan_maker.strategy.assemble import assemble
from plan_maker.strategy.configuration import (
    LlamaSizes,
    Parallelism,
    TensorStyle,
    check_llama_hf,
)
from plan_maker.strategy.llama import takes_samples, weight_name
from plan_maker.strategy.llama_hf_trace import trace_llama_hf
from plan_maker.strategy.pipeline import stage_calls
from plan_maker.strategy.stage import Seeds, Stage

COLUMN_SPLIT = {
    TensorStyle.MEGATRON: ("q_proj", "k_proj", "v_proj", "gate_proj", "up_proj"),
    TensorStyle.FEED_FORWARD: ("gate_proj", "up_proj"),
}


def choose_seeds(stage: Stage, parallelism: Parallelism) -> Seeds:
    """Which calls of `stage` start a split: as of a Llama (`llama.choose_seeds`)."""
    if parallelism.tensor == 1:
        return Seeds({})
    if parallelism.style is TensorStyle.BATCH:
        return Seeds({call: (0, 0) for call in stage.calls if takes_samples(call, stage)})
    names = COLUMN_SPLIT[parallelism.style]
    return Seeds({call: (1, 0) for call in stage.calls if weight_name(call) in names})


def make_llama_hf(sizes: LlamaSizes, parallelism: Parallelism) -> Plan:
    """The plan of such a Llama; raises ImpossiblePlanError if there is none."""
    check_llama_hf(sizes, parallelism)
    trace = trace_llama_hf(sizes, parallelism.local_batch(sizes.batch))
    parts = stage_calls(trace, parallelism.layers_of_stages(sizes.layers))
    return assemble(trace, parts, lambda stage: choose_seeds(stage, parallelism), parallelism)
