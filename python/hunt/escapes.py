# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hunts for wrong plans that are proved and right plans that are not.

Each seed is a family of plans and an edit of its plan: mistakes (`escapes`) or
changes that keep what is computed (`rewrites`). What it becomes is one line of JSON.
"""

import json
import os
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

from hunt.families import ORDER, PREPARED, import_plan
from hunt.finding import Reducer
from hunt.judge import judge
from hunt.plan_mutations import mutate
from hunt.plan_rewrites import apply_everywhere, rewrite
from hunt.plan_text import PlanText

Row = dict[str, Any]
FINDINGS = {
    "escapes": ("escaped", "false alarm", "crashed"),
    "rewrites": ("escaped", "false alarm", "refuted", "crashed"),
}


class Hunt:
    """A hunt over some families."""

    def __init__(
        self, name: str, tool: str, translate: str, families: list[str], count: int | None
    ) -> None:
        self.name = name
        self.tool = tool
        self.count = count
        self.order = [name for name in ORDER if not families or name in families]
        self.folder = tempfile.TemporaryDirectory(prefix="hunt-")
        self.plans = {name: self.make(name, translate) for name in dict.fromkeys(self.order)}

    def make(self, name: str, translate: str) -> PlanText:
        """The plan of a family."""
        family, kinds = PREPARED.get(name, (name, []))
        plan = PlanText(import_plan(family, Path(self.folder.name), translate))
        for kind in kinds:
            plan = apply_everywhere(plan, kind)
        return plan

    def edit(self, seed: int) -> tuple[str, list[str], PlanText]:
        """The family of a seed, the kinds of its edits and the edited plan."""
        random = Random(f"{self.name} {seed}")
        family = self.order[seed % len(self.order)]
        plan, kinds = self.plans[family], []
        change = mutate if self.name == "escapes" else rewrite
        for _ in range(self.count or (1 if random.random() < 0.7 else 2)):
            plan, kind = change(plan, random)
            kinds.append(kind)
        return family, kinds, plan

    def check(self, seed: int) -> tuple[Row, str]:
        """What becomes of a seed, and the edited plan."""
        start = time.monotonic()
        family, kinds, plan = self.edit(seed)
        module = Path(self.folder.name) / f"{seed}.mlir"
        module.write_text(plan.text)
        found = judge(self.tool, module)
        module.unlink()
        row = {"hunt": self.name, "seed": seed, "family": family, "kinds": kinds}
        row |= {"values": found.values, "answer": found.answer, "outcome": found.outcome}
        if found.outcome != "refuted" and found.reason:
            row["reason"] = found.reason
        return row | {"seconds": round(time.monotonic() - start, 2)}, plan.text

    def run(self, seeds: Iterator[int], jobs: int) -> Iterator[tuple[Row, str]]:
        """The rows of some seeds, in their order."""
        with ThreadPoolExecutor(jobs) as pool:
            step: list[int] = []
            for seed in seeds:
                step.append(seed)
                if len(step) == 8 * jobs:
                    yield from pool.map(self.check, step)
                    step = []
            yield from pool.map(self.check, step)


def read(path: Path | None) -> list[Row]:
    """The rows of a file, without a last one that is not complete."""
    if not path or not path.exists():
        return []
    text = path.read_text()
    if not text.endswith("\n"):
        # The hunt was stopped while it wrote.
        text = text[: text.rfind("\n") + 1]
        path.write_text(text)
    return [json.loads(line) for line in text.splitlines()]


def is_finding(row: Row) -> bool:
    """Whether the verdict is wrong."""
    return row["outcome"] in FINDINGS[row["hunt"]]


def hunt(hunting: Hunt, options: Any) -> int:
    """Goes on from the file of results; returns the number of findings."""
    rows = [row for row in read(options.resume) if row["hunt"] == hunting.name]
    first = max((row["seed"] + 1 for row in rows), default=options.seed)
    last = first + options.count - len(rows)
    start = time.monotonic()
    reducer = Reducer(options.reducer, hunting.tool)

    def seeds() -> Iterator[int]:
        for seed in range(first, last):
            if options.time and time.monotonic() - start > options.time:
                return
            yield seed

    with open(options.resume or os.devnull, "a") as file:
        for row, text in hunting.run(seeds(), options.jobs):
            rows.append(row)
            file.write(json.dumps(row) + "\n")
            file.flush()
            if is_finding(row):
                options.findings.mkdir(parents=True, exist_ok=True)
                path = options.findings / f"{hunting.name}-{row['seed']}.mlir"
                path.write_text(text)
                kinds = " and ".join(row["kinds"])
                print(f"FOUND: {row['outcome']}: {row['family']}, {kinds}: {path}", flush=True)
                reducer.reduce(path, f"{row['values']}, {row['answer']}")
    outcomes = [row["outcome"] for row in rows]
    for outcome in sorted(set(outcomes)):
        print(f"{outcomes.count(outcome):8} {outcome}")
    found = sum(is_finding(row) for row in rows)
    seconds = time.monotonic() - start
    done = [row["seed"] for row in rows]
    extent = f"seeds {min(done)} to {max(done)}, " if done else ""
    print(f"{hunting.name}: {extent}{len(rows)} plans, {found} findings, {seconds:.0f} s")
    return found
