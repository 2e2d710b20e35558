# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans of growing size, and plans of well-known models.

A ladder changes one number and leaves the rest as it is; the batch grows with what it
is divided into. Each plan is a list of words for the plan maker.
"""

from collections.abc import Callable
from dataclasses import dataclass


def words(model: str, **numbers: int) -> list[str]:
    """A command line of the plan maker."""
    options = [f"--{name.replace('_', '-')}={number}" for name, number in numbers.items()]
    return [model, *options]


# Counts of stages that were told apart, and of what was proved about them.
DISTINCT = ("distinct_stages", "distinct_stage_ops", "obligations_confirmed")
# What is the same for all replicas, micro-batches and ranks.
FOLDED = ("graph_ops", "lemmas", "stages", "stage_ops", *DISTINCT)


@dataclass(frozen=True)
class Ladder:
    """Sizes of one number, and the plan of each.

    From the size `since` on no count may grow more than linearly; those that are
    `constant` do not change, or none does, and those that are `bounded` do not grow.
    """

    sizes: tuple[int, ...]
    plan: Callable[[int], list[str]]
    is_constant: bool = False
    constant: tuple[str, ...] = ()
    bounded: tuple[str, ...] = ()
    since: int = 0


def powers(first: int, last: int) -> tuple[int, ...]:
    """Powers of two from the first to the last."""
    sizes = []
    while first <= last:
        sizes.append(first)
        first *= 2
    return tuple(sizes)


def llama(**numbers: int) -> list[str]:
    """A small Llama on eight devices: two replicas, stages and ranks."""
    plan = {"layers": 4, "hidden": 64, "ffn": 192, "heads": 8, "vocab": 96, "sequence": 24}
    plan |= {"dp": 2, "pp": 2, "tp": 2, "micro_batches": 4} | numbers
    plan.setdefault("batch", 2 * plan["dp"] * plan["micro_batches"])
    return words("llama", **plan)


def experts(number: int) -> list[str]:
    """A small mixture of experts."""
    return words(
        "llama-moe",
        layers=3,
        hidden=32,
        ffn=64,
        heads=4,
        vocab=32,
        sequence=8,
        batch=16,
        dp=2,
        pp=2,
        tp=2,
        micro_batches=2,
        experts=number,
        active_experts=2,
        expert_groups=1,
        active_groups=1,
    )


LADDERS = {
    "dp": Ladder(powers(2, 4096), lambda n: llama(dp=n), is_constant=True),
    "micro-batches": Ladder(
        powers(2, 512), lambda n: llama(micro_batches=n), constant=FOLDED, since=4
    ),
    "layers": Ladder(powers(2, 1024), lambda n: llama(layers=n), constant=DISTINCT, since=8),
    # A rank with a single head is proved otherwise, of reshapes to one.
    "tp": Ladder(
        powers(1, 32),
        lambda n: llama(tp=n, heads=64, hidden=128),
        bounded=(*FOLDED, "executed_ops"),
        since=2,
    ),
    # Of two stages, one sends the loss to the other; of more, it is broadcast.
    "pp": Ladder(powers(1, 32), lambda n: llama(pp=n, layers=32), since=4),
    "hidden": Ladder(powers(64, 16384), lambda n: llama(hidden=n, ffn=3 * n), is_constant=True),
    "sequence": Ladder(powers(24, 12288), lambda n: llama(sequence=n), is_constant=True),
    "experts": Ladder(powers(4, 256), experts),
}


def large(model: str, **numbers: int) -> list[str]:
    """A plan of 8,192 positions a sample, and four samples a replica and micro-batch."""
    batch = 4 * numbers["dp"] * numbers["micro_batches"]
    return words(model, **numbers, batch=batch, sequence=8192)


# Sizes of the models as published: Llama 3 (arXiv 2407.21783), DeepSeek-V2 and -V3
# (arXiv 2405.04434, 2412.19437). Attention is that of Llama throughout.
MODELS = {
    "llama-3-8b": large(
        "llama",
        layers=32,
        hidden=4096,
        ffn=14336,
        heads=32,
        vocab=128256,
        dp=512,
        pp=1,
        tp=1,
        micro_batches=1,
    ),
    "llama-3-70b": large(
        "llama",
        layers=80,
        hidden=8192,
        ffn=28672,
        heads=64,
        vocab=128256,
        dp=16,
        pp=4,
        tp=8,
        micro_batches=32,
    ),
    "llama-3-405b": large(
        "llama",
        layers=126,
        hidden=16384,
        ffn=53248,
        heads=128,
        vocab=128256,
        dp=64,
        pp=16,
        tp=8,
        micro_batches=16,
    ),
    "deepseek-v2-16b": large(
        "llama-moe",
        layers=27,
        hidden=2048,
        ffn=10944,
        heads=16,
        vocab=102400,
        experts=64,
        active_experts=6,
        expert_groups=1,
        active_groups=1,
        expert_ffn=1408,
        shared_experts=2,
        dense_layers=1,
        dp=16,
        pp=2,
        tp=4,
        micro_batches=16,
    ),
    "deepseek-v2-236b": large(
        "llama-moe",
        layers=60,
        hidden=5120,
        ffn=12288,
        heads=128,
        vocab=102400,
        experts=160,
        active_experts=6,
        expert_groups=8,
        active_groups=3,
        expert_ffn=1536,
        shared_experts=2,
        dense_layers=1,
        dp=16,
        pp=4,
        tp=8,
        micro_batches=16,
    ),
    "deepseek-v3-671b": large(
        "llama-moe",
        layers=61,
        hidden=7168,
        ffn=18432,
        heads=128,
        vocab=129280,
        experts=256,
        active_experts=8,
        expert_groups=8,
        active_groups=4,
        expert_ffn=2048,
        shared_experts=1,
        dense_layers=3,
        dp=32,
        pp=8,
        tp=8,
        micro_batches=16,
    ),
}
