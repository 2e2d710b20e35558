# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Looks for plans that take long: large ones of the plan maker, right or with a named bug
or a random mistake.

The other hunts have plans that can be executed, which are small. Here the sizes are those
of real models and the strategy is random; the yardstick is CPython, which unpickles the
same files.
"""

import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

from bench.measure import MeasurementError, TimeLimitError, make, unpickle, verify
from hunt.rows import Row, in_steps
from plan_maker.bugs import BUGS
from plan_maker.strategy.configuration import (
    BY_POSITION,
    COLUMN_SPLIT,
    ExpertSplit,
    TensorStyle,
)

NOT_FOR_GPT = (TensorStyle.ALL_TO_ALL, TensorStyle.CONTEXT)
MODELS = ("llama", "llama-moe", "gpt", "mlp")
MODEL_WEIGHTS = (3, 3, 2, 1)
STYLES = {
    "llama": (TensorStyle.BATCH, *COLUMN_SPLIT, *BY_POSITION),
    "llama-moe": (TensorStyle.BATCH, *COLUMN_SPLIT, *BY_POSITION),
    "gpt": tuple(style for style in TensorStyle if style not in NOT_FOR_GPT),
    "mlp": (TensorStyle.BATCH, TensorStyle.MEGATRON),
}
# Of the time that CPython takes. What takes less than some seconds is not looked at: another
# process may have had the processor.
SLOW_RATIO, SLOW_SECONDS = 5, 2.0
LIMIT = 120.0
# A linear model, summed up over micro-batches, does not tell these apart.
HARMLESS = {("mlp", "exchanged-micro-batches")}
# What stands for a bug that is a random change of the plan's objects.
MUTATION = "mutation"
# What is said of a value that is neither proved nor refuted. Of a plan that says two things
# about how it runs something else is.
UNDECIDED = "unknown whether the value of"
# Scattered parts are right in this order alone.
ORDER = "--nnscaler-part-order=index-map"


def draw(random: Random) -> tuple[str, str, list[str]]:
    """A model, a bug, `MUTATION` or none, and the words that make the plan maker write a plan.
    Not every plan that is drawn exists.
    """
    choose = random.choice
    model = random.choices(MODELS, MODEL_WEIGHTS)[0]
    tensor, pipeline = choose([1, 2, 3, 4, 6, 8]), choose([1, 2, 3, 4, 8])
    data, batches = choose([1, 2, 3, 16, 64]), choose([1, 2, 4, 7, 16])
    layers = pipeline * choose([1, 2, 3]) + choose([0, 1])
    style = choose(STYLES[model])
    heads = tensor * choose([1, 2, 3]) * choose([1, 2, 4])
    sizes: dict[str, object] = {
        "layers": layers,
        "dp": data,
        "pp": pipeline,
        "tp": tensor,
        "micro-batches": batches,
        "batch": data * batches * tensor * choose([1, 2, 4]),
        "hidden": heads * choose([2, 16, 128]),
        "tp-style": style.value,
        "schedule": choose(["1f1b", "gpipe"]),
    }
    words = [model]
    if tensor in (4, 6, 8) and pipeline > 1 and random.random() < 0.3:
        sizes["part-order"] = "scattered"
    if model != "mlp":
        sizes |= {
            "heads": heads,
            "ffn": tensor * choose([8, 96, 1792]),
            "vocab": tensor * choose([32, 501, 16032]),
            "sequence": tensor * choose([4, 33, 512, 1024]),
        }
        words += ["--split-vocabulary"] if style in COLUMN_SPLIT and choose([0, 1]) else []
    if model == "llama-moe":
        sizes |= _draw_experts(random, tensor)
    if random.random() < 0.2 and pipeline > 1 and layers >= 2 * pipeline:
        sizes["virtual-stages"] = 2
    bugs = [bug.name for bug in BUGS if (model, bug.name) not in HARMLESS]
    bug = choose(["", choose(bugs), MUTATION])
    if bug not in ("", MUTATION):
        sizes["bug"] = bug
    for name, value in sizes.items():
        words += [f"--{name}", str(value)]
    return model, bug, words


def options(words: list[str]) -> list[str]:
    """What the tool is told about such a plan."""
    return [ORDER] if "scattered" in words and "wrong-chunk-offset" not in words else []


def _draw_experts(random: Random, tensor: int) -> dict[str, object]:
    choose = random.choice
    groups = choose([1, 2, 4])
    experts = tensor * groups * choose([1, 2, 4, 16])
    active_groups = choose([count for count in (1, 2, 4) if count <= groups])
    return {
        "experts": experts,
        "expert-groups": groups,
        "active-groups": active_groups,
        "active-experts": min(choose([1, 2, 6]), experts // groups * active_groups),
        "expert-ffn": tensor * choose([4, 64]),
        "shared-experts": choose([1, 2]),
        "score": choose(["sigmoid", "softmax"]),
        "expert-split": choose(list(ExpertSplit)).value,
        "dense-layers": choose([0, 1]),
    }


def get_maker(seed: int, bug: str) -> list[str]:
    """The module that makes a plan, and what it takes first."""
    return ["hunt.mutated_plan", str(seed)] if bug == MUTATION else ["plan_maker"]


def find_mistake(answer: str, bug: str, errors: list[str]) -> str:
    """What is wrong with an answer; empty if nothing is. What a mutation does is not known."""
    if bug == MUTATION:
        is_undecided = answer == "unknown" and any(UNDECIDED in line for line in errors)
        return "undecided" if is_undecided else ""
    if answer == ("refuted" if bug else "proved"):
        return ""
    return "not refuted" if bug else "false alarm"


def judge(tool: str, seed: int, folder: Path) -> Row:
    """What becomes of the plan of a seed: its answer, the outcome, and how often CPython could
    have unpickled it.
    """
    _, bug, words = draw(Random(seed))
    try:
        plan, reference, _ = make(words, folder, LIMIT, get_maker(seed, bug))
    except MeasurementError as error:
        return {"answer": "invalid", "outcome": "invalid", "reason": str(error)}
    try:
        found = verify(tool, plan, reference, options(words), LIMIT)
        python = unpickle([reference, plan], LIMIT)
    except TimeLimitError as error:
        return {"answer": "slow", "outcome": "slow", "reason": str(error)}
    except MeasurementError as error:
        # What a mutation leaves may be no plan.
        is_plan = bug != MUTATION or "error: " not in str(error)
        outcome = "no verdict" if is_plan else "invalid"
        return {"answer": "no verdict", "outcome": outcome, "reason": str(error)}
    answer = found["answer"]
    if mistake := find_mistake(answer, bug, found["errors"]):
        return {"answer": answer, "outcome": mistake}
    ratio = found["total_seconds"] / python["seconds"]
    is_slow = ratio > SLOW_RATIO and found["total_seconds"] > SLOW_SECONDS
    return {
        "answer": answer,
        "outcome": "slow" if is_slow else answer,
        "ratio": round(ratio, 2),
        "seconds": round(found["total_seconds"], 2),
        "peak_memory_bytes": found["peak_memory_bytes"],
    }


@dataclass(frozen=True)
class Hunt:
    """A hunt for plans that take long."""

    tool: str
    name: str = "costs"

    def check(self, seed: int) -> Row:
        """What becomes of a seed."""
        model, bug, _ = draw(Random(seed))
        with tempfile.TemporaryDirectory(prefix="hunt-") as folder:
            row = judge(self.tool, seed, Path(folder))
        kinds = [bug] if bug else []
        return {"seconds": 0.0, **row} | {
            "hunt": self.name,
            "seed": seed,
            "family": model,
            "kinds": kinds,
            # Nothing was executed, and there is no module to reduce.
            "values": "disputed",
        }

    def keep(self, seed: int, folder: Path) -> Path:
        """Writes how the plan of a seed is made: it may be large."""
        path = folder / f"{self.name}-{seed}.txt"
        _, bug, words = draw(Random(seed))
        maker = ["python3 -m", *get_maker(seed, bug)]
        made = [*maker, *words, "-o plan.pkl --reference single.pkl\n"]
        verified = ["verify-plan", *options(words), "--reference single.pkl plan.pkl\n"]
        path.write_text(" ".join(made) + " ".join(verified))
        return path

    def run(self, seeds: Iterator[int], jobs: int) -> Iterator[Row]:
        """The rows of some seeds, in their order."""
        with ThreadPoolExecutor(jobs) as pool:
            yield from in_steps(pool, self.check, seeds, jobs)
