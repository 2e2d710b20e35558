# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hunts for wrong derivatives in plans of segments that are called on each other's results.

Each seed is a plan (`called_plans`), as it is, with one or two mistakes, or changed so that it
computes the same in another way. What is verified has to be what execution says.
"""

import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

from hunt.called_plans import CalledPlan
from hunt.called_text import print_plan
from hunt.judge import judge
from hunt.plan_mutations import mutate
from hunt.plan_rewrites import rewrite
from hunt.plan_text import PlanText
from hunt.rows import Row, in_steps


def edit(seed: int) -> tuple[list[str], str]:
    """The kinds of the edits of a seed, and the edited plan."""
    text = print_plan(CalledPlan(seed))
    random = Random(f"edits of calls {seed}")
    change = random.choice([None, mutate, mutate, rewrite])
    if not change:
        return [], text
    plan, kinds = PlanText(text), []
    for _ in range(random.choice([1, 1, 2])):
        plan, kind = change(plan, random)
        kinds.append(kind)
    return kinds, plan.text


@dataclass(frozen=True)
class Hunt:
    """A hunt for derivatives of what is not what was saved."""

    tool: str
    name: str = "calls"

    def check(self, seed: int) -> Row:
        """What becomes of a seed."""
        start = time.monotonic()
        kinds, _ = edit(seed)
        with tempfile.TemporaryDirectory(prefix="hunt-") as folder:
            found = judge(self.tool, self.keep(seed, Path(folder)))
        row: Row = {"hunt": self.name, "seed": seed, "family": "calls", "kinds": kinds}
        # What the tool says it does not understand it rightly does not judge.
        outcome = "unknown" if "is not understood" in found.reason else found.outcome
        row |= {"values": found.values, "answer": found.answer, "outcome": outcome}
        if found.outcome != "refuted" and found.reason:
            row["reason"] = found.reason
        return row | {"seconds": round(time.monotonic() - start, 2)}

    def keep(self, seed: int, folder: Path) -> Path:
        """Writes the module of a seed into a folder."""
        path = folder / f"{self.name}-{seed}.mlir"
        path.write_text(edit(seed)[1])
        return path

    def run(self, seeds: Iterator[int], jobs: int) -> Iterator[Row]:
        """The rows of some seeds, in their order."""
        with ThreadPoolExecutor(jobs) as pool:
            yield from in_steps(pool, self.check, seeds, jobs)
