# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws a model, its sizes and a strategy: a plan of the plan maker and its reference."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from random import Random

from hunt.random_models import random_model
from plan_maker.errors import ImpossiblePlanError
from plan_maker.graph import Plan
from plan_maker.strategy import gpt, llama, llama_moe, mlp
from plan_maker.strategy.assemble import assemble
from plan_maker.strategy.configuration import (
    ExpertSplit,
    GptSizes,
    LlamaMoeSizes,
    LlamaSizes,
    MlpSizes,
    Parallelism,
    PartOrder,
    Score,
    TensorStyle,
    check_gpt,
    check_llama,
    check_llama_moe,
    check_mlp,
)
from plan_maker.strategy.gpt_trace import trace_gpt
from plan_maker.strategy.llama_moe_trace import trace_llama_moe
from plan_maker.strategy.llama_trace import trace_llama
from plan_maker.strategy.pipeline import stage_calls
from plan_maker.strategy.schedule import ScheduleKind
from plan_maker.strategy.stage import Seeds, Stage
from plan_maker.trace import Trace

MODELS = ("mlp", "random", "llama", "llama-moe", "gpt")
WEIGHTS = (3, 6, 4, 2, 3)
TRIES = 1000


@dataclass(frozen=True)
class Model:
    """A model: its calls for a number of samples, and how a strategy divides them."""

    name: str
    text: str
    trace: Callable[[int], Trace]
    choose: Callable[[Stage, Parallelism], Seeds]
    check: Callable[[Parallelism], None]
    layers: int
    batch: int


@dataclass(frozen=True)
class Drawn:
    """A plan and its reference; `strategy` says how it is divided, `bound` is more than any
    token. `is_usual` is whether the plan maker's own rules divide the ops.
    """

    model: str
    strategy: str
    plan: Plan
    reference: Plan
    bound: int
    is_usual: bool


def draw(random: Random, models: tuple[str, ...] = ()) -> Drawn:
    """A plan that exists."""
    names = [name for name in MODELS if not models or name in models]
    weights = [WEIGHTS[MODELS.index(name)] for name in names]
    name = random.choices(names, weights)[0]
    for _ in range(TRIES):
        try:
            return _draw(name, random)
        except (ImpossiblePlanError, ValueError, StopIteration):
            continue
    raise ValueError(f"no plan of {name}")


def _draw(name: str, random: Random) -> Drawn:
    model = _model(name, random)
    parallelism = _parallelism(name, model, random)
    model.check(parallelism)
    is_usual = parallelism.tensor == 1 or random.random() < (0.2 if name == "random" else 0.7)
    seed = random.random()

    def choose(stage: Stage) -> Seeds:
        usual = model.choose(stage, parallelism)
        return usual if is_usual else _other(usual, stage, Random(f"{seed} {stage.index}"))

    trace = model.trace(parallelism.local_batch(model.batch))
    parts = stage_calls(trace, parallelism.layers_of_stages(model.layers))
    plan = assemble(trace, parts, choose, parallelism)
    single = model.trace(model.batch)
    one = Parallelism()
    whole = stage_calls(single, one.layers_of_stages(model.layers))
    reference = assemble(single, whole, lambda stage: model.choose(stage, one), one)
    bound = 1 << 30
    if name not in ("mlp", "random"):
        bound = min(
            call.operands[1].shape[0]  # type: ignore[union-attr]
            for call in single.calls
            if call.name == "embedding"
        )
    strategy = _describe(parallelism) + ("" if is_usual else ", other splits")
    return Drawn(name, f"{model.text}, {strategy}", plan, reference, bound, is_usual)


def _other(usual: Seeds, stage: Stage, random: Random) -> Seeds:
    """Other splits of some calls."""
    at = dict(usual.at)
    share = random.choice([0.1, 0.3, 0.6])
    for call in stage.calls:
        if random.random() > share:
            continue
        places = [
            (position, dimension)
            for position, tensor in call.tensor_operands()
            for dimension in range(len(tensor.shape))
        ]
        at[call] = random.choice([None, *places])
    scatters = usual.scatters if random.random() < 0.6 else not usual.scatters
    copies_first = usual.copies_first if random.random() < 0.7 else not usual.copies_first
    return Seeds(at, copies_first, scatters)


def _describe(parallelism: Parallelism) -> str:
    """What is not as usual."""
    usual = Parallelism()
    return ", ".join(
        f"{name} {value}"
        for name, value in vars(parallelism).items()
        if value != getattr(usual, name)
    )


def _parallelism(name: str, model: Model, random: Random) -> Parallelism:
    data, tensor = random.choice([1, 1, 1, 2, 2, 3]), random.choice([1, 2, 2, 2, 3, 4])
    pipeline = random.choice([1, 1, 2, 2, 3])
    virtual = 2 if pipeline == 2 and random.random() < 0.25 else 1
    if data * tensor * pipeline > (8 if name in ("mlp", "random") or tensor == 4 else 4):
        raise ImpossiblePlanError("too many devices")
    stages = pipeline * virtual
    layers = None
    if stages > 1 and (random.random() < 0.3 or model.layers < stages):
        cuts = sorted(random.choices(range(model.layers + 1), k=stages - 1))
        layers = tuple(
            end - start for start, end in zip([0, *cuts], [*cuts, model.layers], strict=True)
        )
    scattered = tensor == 4 and pipeline > 1 and random.random() < 0.2
    return Parallelism(
        data,
        pipeline,
        tensor,
        random.choice([1, 1, 2, 2, 3, 4]),
        random.choice(list(TensorStyle)),
        random.choice(list(ScheduleKind)),
        layers,
        name not in ("mlp", "random") and random.random() < 0.3,
        PartOrder.SCATTERED if scattered else PartOrder.RANK,
        random.choice(list(ExpertSplit)),
        virtual,
    )


def _model(name: str, random: Random) -> Model:
    trace: Callable[[int], Trace]
    check: Callable[[Parallelism], None]
    layers, batch = random.choice([1, 2, 2, 3, 4]), random.choice([2, 4, 4, 6, 8, 12])
    if name in ("mlp", "random"):
        sizes = MlpSizes(layers, random.choice([2, 3, 4, 4, 6]), batch)
        check = partial(check_mlp, sizes)
        text = f"{layers} layers of {sizes.hidden}, batch {batch}"
        if name == "random":
            seed = random.random()

            def trace_random(local: int) -> Trace:
                return random_model(Random(seed), layers, sizes.hidden, local)

            return Model(name, text, trace_random, mlp.choose_seeds, check, layers, batch)
        trace = partial(mlp.trace_mlp, sizes)
        return Model(name, text, trace, mlp.choose_seeds, check, layers, batch)
    layers, batch = min(layers, random.choice([1, 2, 3])), min(batch, 4)
    heads = random.choice([1, 2, 2, 3, 4])
    # A norm of two elements hides what is wrong with them.
    head_size = max(random.choice([1, 2, 4]) if name == "gpt" else 2, 4 // heads)
    hidden, sequence = heads * head_size, random.choice([2, 3, 4])
    ffn, vocab = random.choice([2, 4, 6]), random.choice([2, 4, 4, 6])
    text = (
        f"{layers} layers of {hidden}, {heads} heads, ffn {ffn}, vocabulary {vocab}, "
        f"sequence {sequence}, batch {batch}"
    )
    numbers = (layers, hidden, ffn, heads, vocab, sequence, batch)
    if name == "gpt":
        gpt_sizes = GptSizes(*numbers)
        trace, check = partial(trace_gpt, gpt_sizes), partial(check_gpt, gpt_sizes)
        return Model(name, text, trace, gpt.choose_seeds, check, layers, batch)
    if name == "llama":
        llama_sizes = LlamaSizes(*numbers)
        trace, check = partial(trace_llama, llama_sizes), partial(check_llama, llama_sizes)
        return Model(name, text, trace, llama.choose_seeds, check, layers, batch)
    groups = random.choice([1, 2, 2])
    in_group = random.choice([2, 2, 3]) if groups == 2 else 4
    active_groups = random.randint(1, groups)
    active = random.randint(1, in_group * active_groups)
    experts = (random.randint(0, layers - 1), in_group * groups, active, groups, active_groups)
    score, scale = random.choice(list(Score)), random.choice([1.0, 2.5])
    moe_sizes = LlamaMoeSizes(*numbers, *experts, 2, random.choice([1, 2]), score, scale)
    trace, check = partial(trace_llama_moe, moe_sizes), partial(check_llama_moe, moe_sizes)
    text += f", experts {experts}"
    return Model(name, text, trace, llama_moe.choose_seeds, check, layers, batch)
