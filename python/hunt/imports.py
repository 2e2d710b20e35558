# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hunts for wrong verdicts on plan files: what goes wrong before there is a module.

Each seed is a model, a strategy and perhaps a named bug or a mutation of the plan's
objects. The tool verifies the files and executes them; an executor in Python, which
shares nothing with the importer, is a third opinion.
"""

from __future__ import annotations

import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from hunt.cell_mutations import mutate
from hunt.drawn_plans import Drawn, draw
from hunt.judge import run_bounded
from hunt.rows import Row, in_steps
from plan_maker.bugs import BUGS, OPERATIONS, Direction, Place, apply_bug
from plan_maker.emit import write_plan
from plan_maker.errors import ImpossiblePlanError
from plan_maker.graph import Plan
from tests.comparison import compare

SEEDS, MORE_SEEDS = 3, 8
TRIES = 20


@dataclass(frozen=True)
class Opinions:
    """What was found about one plan: the verdict, what the tool's execution says and what
    Python's does.
    """

    answer: str
    executed: str
    python: str
    reason: str = ""

    @property
    def values(self) -> str:
        """What executions say together."""
        both = {self.executed, self.python} - {"not run"}
        if len(both) == 2:
            return "disputed"
        return both.pop() if both else "not run"

    @property
    def outcome(self) -> str:
        """The column of the table."""
        values = self.values
        if self.answer == "crashed":
            return "crashed"
        if self.answer == "rejected":
            return "invalid" if values == "not run" else "rejected"
        if self.answer == "proved" and values != "equal":
            return "escaped"
        # Execution compares what is there; a part that no device holds is missing.
        if values == "not run" or (self.answer == "malformed" and self.python != "different"):
            return "invalid"
        if self.answer == "unknown":
            return "unknown"
        if values == "disputed":
            return "disputed"
        if values == "different":
            return "refuted"
        if self.answer == "proved" and self.python == "not run":
            return "disputed"
        return "false alarm" if self.answer == "refuted" else "proved"


def verdict(tool: str, files: list[str]) -> tuple[str, str]:
    """What the tool says about a plan file, and why."""
    try:
        code, output, errors = run_bounded([tool, *files])
    except subprocess.TimeoutExpired:
        return "unknown", "timeout"
    reason = next((line for line in errors.split("\n") if "error: " in line), "")
    reason = reason.partition("error: ")[2]
    if code == 1 and "refuted: the plan cannot be executed" in output:
        return "malformed", reason
    words = {0: "proved", 1: "refuted", 2: "unknown", 3: "rejected"}
    return words.get(code, "crashed"), reason if 0 < code < 4 else errors[:2000]


def executed(tool: str, files: list[str], seed: int) -> str:
    """What the tool's execution says."""
    try:
        code, _, _ = run_bounded([tool, *files, "--run", "--seed", str(seed)])
    except subprocess.TimeoutExpired:
        return "not run"
    return {0: "equal", 1: "different"}.get(code, "not run")


def computed(folder: Path, bound: int, by_index_map: bool, seed: int) -> tuple[str, str]:
    """What the executor in Python says, and what differs or why it cannot tell."""
    plan, reference = (folder / name for name in ("plan.pkl", "single.pkl"))
    try:
        found = compare(
            plan.read_bytes(),
            reference.read_bytes(),
            bound,
            by_index_map=by_index_map,
            seed=seed,
        )
    except Exception as error:
        return "not run", f"{type(error).__name__}: {error}"
    return ("different", found[0]) if found else ("equal", "")


def judge(tool: str, folder: Path, drawn: Drawn, by_index_map: bool) -> tuple[Opinions, str]:
    """All opinions on the plan in a folder, and what Python's says in words."""
    files = ["--reference", str(folder / "single.pkl"), str(folder / "plan.pkl")]
    if by_index_map:
        files.append("--nnscaler-part-order=index-map")
    answer, reason = verdict(tool, files)
    values = executed(tool, files, 0) if answer != "rejected" else "not run"
    python, words = computed(folder, drawn.bound, by_index_map, 0)
    # Inputs that show a mistake are looked for where one opinion says that there is one.
    is_doubted = answer != "proved" or "different" in (values, python)
    for seed in range(1, MORE_SEEDS if is_doubted else SEEDS):
        if values == "equal":
            values = executed(tool, files, seed)
        if python == "equal" and is_doubted:
            python, words = computed(folder, drawn.bound, by_index_map, seed)
        if values != "equal" and python != "equal":
            break
    return Opinions(answer, values, python, reason), words


def with_bug(plan: Plan, random: Random) -> tuple[Plan, str] | None:
    """The plan with a named bug that has a place in it."""
    for _ in range(TRIES):
        bug = random.choice(BUGS)

        def maybe(choice: str, value: object, bug: Any = bug) -> Any:
            return value if choice in bug.choices and random.random() < 0.4 else None

        place = Place(
            maybe("device", random.choice(plan.devices)),
            maybe("layer", random.randrange(3)),
            maybe("operation", random.choice(OPERATIONS)),
            maybe("micro_batch", random.randrange(len(plan.outputs))),
            maybe("direction", random.choice(list(Direction))),
            random.choice([0, 0, 1, 2]),
        )
        try:
            return apply_bug(plan, bug.name, place)[1], bug.name
        except (ImpossiblePlanError, StopIteration, IndexError, ValueError):
            continue
    return None


def edited(plan: Plan, random: Random) -> tuple[Plan, list[str]]:
    """The plan with no, one or two mistakes, and what they are."""
    kinds: list[str] = []
    choice = random.random()
    if choice < 0.2:
        return plan, kinds
    for _ in range(1 if random.random() < 0.75 else 2):
        changed = with_bug(plan, random) if choice < 0.4 else mutate(plan, random)
        if changed:
            plan, kind = changed
            kinds.append(kind)
    return plan, kinds


@dataclass(frozen=True)
class Hunt:
    """A hunt over some models."""

    tool: str
    translate: str = ""
    models: tuple[str, ...] = ()
    name: str = "imports"

    def write(self, seed: int, folder: Path) -> tuple[Drawn, list[str], bool]:
        """Writes the plan of a seed and its reference."""
        random = Random(f"{self.name} {seed}")
        while True:
            drawn = draw(random, self.models)
            plan, kinds = edited(drawn.plan, random)
            by_index_map = random.random() < 0.1
            try:
                write_plan(plan, folder / "plan.pkl")
            except (KeyError, TypeError, ValueError, RecursionError):
                # What a mutation leaves need not be a file.
                continue
            write_plan(drawn.reference, folder / "single.pkl")
            return drawn, kinds, by_index_map

    def check(self, seed: int) -> Row:
        """What becomes of a seed."""
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="hunt-") as name:
            folder = Path(name)
            drawn, kinds, by_index_map = self.write(seed, folder)
            found, words = judge(self.tool, folder, drawn, by_index_map)
        row: Row = {"hunt": self.name, "seed": seed, "family": drawn.model, "kinds": kinds}
        row |= {"strategy": drawn.strategy + (", index-map order" if by_index_map else "")}
        row |= {"values": found.values, "answer": found.answer, "outcome": found.outcome}
        row |= {"executed": found.executed, "python": found.python}
        # What runs goes by rank: scattered parts are wrong, or right as sums have no order.
        is_right = not kinds and (by_index_map or "scattered" not in drawn.strategy)
        if is_right and drawn.is_usual and found.outcome == "refuted":
            row["outcome"] = "wrong plan"
        if is_right and found.outcome == "unknown" and found.values == "equal":
            row["outcome"] = "not proved"
        if found.outcome not in ("refuted", "proved"):
            row |= {"reason": found.reason, "words": words}
        return row | {"seconds": round(time.monotonic() - start, 2)}

    def keep(self, seed: int, folder: Path) -> Path:
        """Writes the files of a seed into a folder, and the module that they are."""
        own = folder / f"{self.name}-{seed}"
        own.mkdir(parents=True, exist_ok=True)
        self.write(seed, own)
        module = own / "plan.mlir"
        command = [self.translate, "--import-nnscaler", "--reference", str(own / "single.pkl")]
        run_bounded([*command, str(own / "plan.pkl"), "-o", str(module)])
        return module

    def run(self, seeds: Iterator[int], jobs: int) -> Iterator[Row]:
        """The rows of some seeds, in their order."""
        with ProcessPoolExecutor(jobs, initializer=_ignore_interrupts) as pool:
            yield from in_steps(pool, partial(Hunt.check, self), seeds, jobs)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
