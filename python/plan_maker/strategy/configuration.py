# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The sizes of a plan, and which combinations of them exist.

Messages name command line options, because that is where the numbers come from.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from plan_maker.errors import ImpossiblePlanError
from plan_maker.strategy.schedule import ScheduleKind


class TensorStyle(StrEnum):
    """What the tensor-parallel ranks of a stage divide among them.

    * `batch`: samples; parameters are whole on every rank;
    * `megatron`: heads and feed-forward columns, by slices of the parameters;
    * `feed-forward`: feed-forward columns only, attention is replicated;
    * `sequence`: positions; parameters and GPT's two kinds of block are whole;
    * `mixed`: each op of a GPT something else;
    * `megatron-sequence`: as `megatron`, and positions between the blocks;
    * `all-to-all`: positions, and heads within attention;
    * `context`: positions; each rank has the keys and values of all of them.
    """

    BATCH = "batch"
    MEGATRON = "megatron"
    FEED_FORWARD = "feed-forward"
    SEQUENCE = "sequence"
    MIXED = "mixed"
    MEGATRON_SEQUENCE = "megatron-sequence"
    ALL_TO_ALL = "all-to-all"
    CONTEXT = "context"


BY_POSITION = (TensorStyle.MEGATRON_SEQUENCE, TensorStyle.ALL_TO_ALL, TensorStyle.CONTEXT)
"""Styles in which a rank has some positions of every sample."""
COLUMN_SPLIT = (
    TensorStyle.MEGATRON,
    TensorStyle.FEED_FORWARD,
    TensorStyle.MEGATRON_SEQUENCE,
)
"""Styles in which a rank has some columns of feed-forward blocks."""
BY_HEADS = (
    TensorStyle.MEGATRON,
    TensorStyle.MIXED,
    TensorStyle.MEGATRON_SEQUENCE,
    TensorStyle.ALL_TO_ALL,
)
"""Styles in which a rank has some heads."""


class PartOrder(StrEnum):
    """Which part of a tensor a rank has when two stages exchange it in parts.

    * `rank`: the part at its own position;
    * `scattered`: another one, as far as the plan declares it; what runs keeps
      parts and joins them by rank.
    """

    RANK = "rank"
    SCATTERED = "scattered"


class ExpertSplit(StrEnum):
    """What the tensor-parallel ranks of a stage divide among them in a mixture of
    experts.

    * `experts`: each has some experts and sees all tokens;
    * `inner`: each has a part of the inner dimension of every expert;
    * `tokens`: each has all experts and sees some tokens;
    * `none`: nothing.
    """

    EXPERTS = "experts"
    INNER = "inner"
    TOKENS = "tokens"
    NONE = "none"


class Score(StrEnum):
    """The function that turns a router's logits into scores."""

    SIGMOID = "sigmoid"
    SOFTMAX = "softmax"


@dataclass(frozen=True)
class Parallelism:
    """Sizes of the mesh, micro-batches and how layers are put on stages.

    `layers_per_stage` is None for an even distribution, the first stages having
    one layer more where it does not come out.
    """

    data: int = 1
    pipeline: int = 1
    tensor: int = 1
    micro_batches: int = 1
    style: TensorStyle = TensorStyle.MEGATRON
    schedule: ScheduleKind = ScheduleKind.ONE_FORWARD_ONE_BACKWARD
    layers_per_stage: tuple[int, ...] | None = None
    splits_vocabulary: bool = False
    part_order: PartOrder = PartOrder.RANK
    experts: ExpertSplit = ExpertSplit.EXPERTS
    virtual: int = 1

    @property
    def stages(self) -> int:
        """Stages in all: `virtual` on each group of devices."""
        return self.pipeline * self.virtual

    @property
    def devices_per_replica(self) -> int:
        """Devices of one replica."""
        return self.pipeline * self.tensor

    def local_batch(self, batch: int) -> int:
        """Samples in one micro-batch of one replica."""
        return batch // (self.data * self.micro_batches)

    def layers_of_stages(self, layers: int) -> tuple[int, ...]:
        """How many layers each stage has."""
        if self.layers_per_stage is not None:
            return self.layers_per_stage
        each, more = divmod(layers, self.stages)
        return tuple(each + (stage < more) for stage in range(self.stages))


@dataclass(frozen=True)
class MlpSizes:
    """`layers` linear layers of `hidden` x `hidden`, `batch` samples in all."""

    layers: int
    hidden: int
    batch: int


@dataclass(frozen=True)
class TransformerSizes:
    """`batch` sequences of `sequence` tokens in all; `ffn` is the inner size of
    the feed-forward block.
    """

    layers: int
    hidden: int
    ffn: int
    heads: int
    vocab: int
    sequence: int
    batch: int

    @property
    def head_size(self) -> int:
        """Elements per head."""
        return self.hidden // self.heads


class LlamaSizes(TransformerSizes):
    """Sizes of a Llama."""


class GptSizes(TransformerSizes):
    """Sizes of a GPT."""


@dataclass(frozen=True)
class LlamaMoeSizes(TransformerSizes):
    """A Llama with `experts` experts of inner size `expert_ffn` in every layer from
    `dense_layers` on. A token goes to `active_experts` of them, which are in at
    most `active_groups` of `expert_groups` groups; `shared_experts` see all tokens.
    """

    dense_layers: int
    experts: int
    active_experts: int
    expert_groups: int
    active_groups: int
    expert_ffn: int
    shared_experts: int
    score: Score
    route_scale: float


def check_mlp(sizes: MlpSizes, parallelism: Parallelism) -> None:
    """Raises ImpossiblePlanError if there is no such plan."""
    _check_positive(layers=sizes.layers, hidden=sizes.hidden, batch=sizes.batch)
    _check_parallelism(parallelism, sizes.batch)
    stages = _checked_stages(parallelism, sizes.layers)
    if stages[0] == 0:
        raise ImpossiblePlanError("--layers-per-stage: the first stage of an mlp has a layer")
    if parallelism.style is TensorStyle.FEED_FORWARD:
        raise ImpossiblePlanError("--tp-style feed-forward: an mlp has no attention to leave whole")
    if parallelism.style in BY_POSITION:
        raise ImpossiblePlanError(f"--tp-style {parallelism.style}: an mlp has no positions")
    _check_style(parallelism, "an mlp")
    if parallelism.style is TensorStyle.MEGATRON:
        _check_divisible("--hidden", sizes.hidden, "--tp", parallelism.tensor)


def check_llama(sizes: LlamaSizes, parallelism: Parallelism) -> None:
    """Raises ImpossiblePlanError if there is no such plan."""
    _check_transformer(sizes, parallelism)
    _check_style(parallelism, "a llama")
    _check_rotary(sizes)


def _check_rotary(sizes: TransformerSizes) -> None:
    if sizes.head_size % 2:
        raise ImpossiblePlanError(
            f"--hidden {sizes.hidden} over --heads {sizes.heads} gives a head size of "
            f"{sizes.head_size}; rotary embedding needs an even one"
        )


def check_llama_moe(sizes: LlamaMoeSizes, parallelism: Parallelism) -> None:
    """Raises ImpossiblePlanError if there is no such plan."""
    _check_transformer(sizes, parallelism)
    _check_style(parallelism, "a llama-moe")
    _check_rotary(sizes)
    _check_positive(
        **{
            "experts": sizes.experts,
            "active-experts": sizes.active_experts,
            "expert-groups": sizes.expert_groups,
            "active-groups": sizes.active_groups,
            "expert-ffn": sizes.expert_ffn,
            "shared-experts": sizes.shared_experts,
        }
    )
    if sizes.dense_layers < 0 or sizes.dense_layers >= sizes.layers:
        raise ImpossiblePlanError(
            f"--dense-layers {sizes.dense_layers}: of --layers {sizes.layers} at least one has "
            "experts"
        )
    _check_divisible("--experts", sizes.experts, "--expert-groups", sizes.expert_groups)
    if sizes.active_groups > sizes.expert_groups:
        raise ImpossiblePlanError(
            f"--active-groups {sizes.active_groups} is more than --expert-groups "
            f"{sizes.expert_groups}"
        )
    choice = sizes.experts // sizes.expert_groups * sizes.active_groups
    if sizes.active_experts > choice:
        raise ImpossiblePlanError(
            f"--active-experts {sizes.active_experts}: --active-groups {sizes.active_groups} have "
            f"{choice} experts"
        )
    _check_expert_split(sizes, parallelism)


def _check_expert_split(sizes: LlamaMoeSizes, parallelism: Parallelism) -> None:
    ranks = parallelism.tensor
    match parallelism.experts:
        case ExpertSplit.EXPERTS:
            _check_divisible("--experts", sizes.experts, "--tp", ranks)
        case ExpertSplit.INNER:
            _check_divisible("--expert-ffn", sizes.expert_ffn, "--tp", ranks)
        case ExpertSplit.TOKENS:
            tokens = parallelism.local_batch(sizes.batch) * sizes.sequence
            _check_divisible("tokens of a micro-batch", tokens, "--tp", ranks)
        case ExpertSplit.NONE:
            pass
    inner = sizes.shared_experts * sizes.expert_ffn
    if parallelism.style in COLUMN_SPLIT:
        _check_divisible("--shared-experts x --expert-ffn", inner, "--tp", ranks)


def check_llama_hf(sizes: LlamaSizes, parallelism: Parallelism) -> None:
    """Raises ImpossiblePlanError if there is no such plan."""
    if parallelism.style not in (
        TensorStyle.BATCH,
        TensorStyle.MEGATRON,
        TensorStyle.FEED_FORWARD,
    ):
        raise ImpossiblePlanError(f"--tp-style {parallelism.style}: not for a llama-hf")
    if parallelism.splits_vocabulary:
        raise ImpossiblePlanError("--split-vocabulary: the loss of a llama-hf takes whole rows")
    check_llama(sizes, parallelism)


def check_gpt(sizes: GptSizes, parallelism: Parallelism) -> None:
    """Raises ImpossiblePlanError if there is no such plan."""
    _check_transformer(sizes, parallelism)
    ranks = parallelism.tensor
    if parallelism.style in (TensorStyle.ALL_TO_ALL, TensorStyle.CONTEXT):
        raise ImpossiblePlanError(
            f"--tp-style {parallelism.style}: the attention of a gpt is one op, which takes whole "
            "positions"
        )
    if parallelism.style in (TensorStyle.SEQUENCE, TensorStyle.MIXED):
        _check_divisible("--sequence", sizes.sequence, "--tp", ranks)
        _check_local_batch(parallelism, sizes.batch)
    if parallelism.style is TensorStyle.MIXED:
        _check_divisible("--hidden", sizes.hidden, "--tp", ranks)


def _check_transformer(sizes: TransformerSizes, parallelism: Parallelism) -> None:
    _check_positive(
        layers=sizes.layers,
        hidden=sizes.hidden,
        ffn=sizes.ffn,
        heads=sizes.heads,
        vocab=sizes.vocab,
        sequence=sizes.sequence,
        batch=sizes.batch,
    )
    _check_divisible("--hidden", sizes.hidden, "--heads", sizes.heads)
    _check_parallelism(parallelism, sizes.batch)
    _checked_stages(parallelism, sizes.layers)
    style, ranks = parallelism.style, parallelism.tensor
    splits_columns = style in COLUMN_SPLIT
    if splits_columns or style is TensorStyle.MIXED:
        _check_divisible("--ffn", sizes.ffn, "--tp", ranks)
    if style in BY_POSITION:
        _check_divisible("--sequence", sizes.sequence, "--tp", ranks)
    if style in BY_HEADS:
        _check_divisible("--heads", sizes.heads, "--tp", ranks)
    if parallelism.splits_vocabulary:
        if not splits_columns:
            raise ImpossiblePlanError(
                f"--split-vocabulary: --tp-style {style} splits no embedding by rows"
            )
        _check_divisible("--vocab", sizes.vocab, "--tp", ranks)


def _check_style(parallelism: Parallelism, model: str) -> None:
    if parallelism.style in (TensorStyle.SEQUENCE, TensorStyle.MIXED):
        raise ImpossiblePlanError(f"--tp-style {parallelism.style}: not for {model}, only for gpt")


def _check_positive(**sizes: int) -> None:
    for name, size in sizes.items():
        if size < 1:
            raise ImpossiblePlanError(f"--{name} {size}: must be at least 1")


def _check_divisible(dividend: str, size: int, divisor: str, parts: int) -> None:
    if size % parts:
        raise ImpossiblePlanError(f"{dividend} {size} is not divisible by {divisor} {parts}")


def _check_parallelism(parallelism: Parallelism, batch: int) -> None:
    options = {
        "dp": parallelism.data,
        "pp": parallelism.pipeline,
        "tp": parallelism.tensor,
        "micro-batches": parallelism.micro_batches,
    }
    _check_positive(**options, **{"virtual-stages": parallelism.virtual})
    if parallelism.virtual > 1 and parallelism.pipeline < 2:
        raise ImpossiblePlanError(f"--virtual-stages {parallelism.virtual} takes --pp of 2 or more")
    product = f"--dp {parallelism.data} x --micro-batches {parallelism.micro_batches}"
    local = parallelism.data * parallelism.micro_batches
    if batch % local:
        raise ImpossiblePlanError(f"--batch {batch} is not divisible by {product}")
    if parallelism.style is TensorStyle.BATCH:
        _check_local_batch(parallelism, batch)
    if parallelism.part_order is PartOrder.SCATTERED and (
        parallelism.pipeline < 2 or parallelism.tensor < 4 or parallelism.tensor % 2
    ):
        raise ImpossiblePlanError(
            "--part-order scattered takes --pp of 2 or more and an even --tp of 4 or more"
        )


def _check_local_batch(parallelism: Parallelism, batch: int) -> None:
    """Can the samples of a micro-batch be split over the ranks?"""
    parts = parallelism.data * parallelism.micro_batches * parallelism.tensor
    if batch % parts:
        raise ImpossiblePlanError(
            f"--tp-style {parallelism.style}: --batch {batch} is not divisible by "
            f"--dp {parallelism.data} x --micro-batches {parallelism.micro_batches} x --tp "
            f"{parallelism.tensor}"
        )


def _checked_stages(parallelism: Parallelism, layers: int) -> tuple[int, ...]:
    stages = parallelism.layers_of_stages(layers)
    count = f"--pp {parallelism.pipeline}"
    if parallelism.virtual > 1:
        count += f" x --virtual-stages {parallelism.virtual}"
    if parallelism.layers_per_stage is None and layers < parallelism.stages:
        raise ImpossiblePlanError(
            f"--layers {layers} is fewer than {count}: "
            "say with --layers-per-stage which stage has none"
        )
    listed = ",".join(map(str, stages))
    if len(stages) != parallelism.stages:
        raise ImpossiblePlanError(
            f"--layers-per-stage {listed} lists {len(stages)} stages, "
            + count.replace(f"--pp {parallelism.pipeline}", f"--pp is {parallelism.pipeline}")
        )
    if any(count < 0 for count in stages) or sum(stages) != layers:
        raise ImpossiblePlanError(
            f"--layers-per-stage {listed} does not add up to --layers {layers}"
        )
    if any(count == 0 for count in stages[1:-1]):
        raise ImpossiblePlanError(
            f"--layers-per-stage {listed}: only the first and the last stage can be without layers"
        )
    return stages
