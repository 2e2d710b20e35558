# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hunts for wrong plans that are proved and right plans that are not.

Each seed is a family of plans and an edit of its plan: mistakes (`escapes`) or
changes that keep what is computed (`rewrites`).
"""

import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

from hunt.families import ORDER, PREPARED, import_plan
from hunt.judge import judge
from hunt.plan_mutations import mutate
from hunt.plan_rewrites import apply_everywhere, rewrite
from hunt.plan_text import PlanText
from hunt.rows import Row, in_steps


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

    def check(self, seed: int) -> Row:
        """What becomes of a seed."""
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
        return row | {"seconds": round(time.monotonic() - start, 2)}

    def keep(self, seed: int, folder: Path) -> Path:
        """Writes the edited plan of a seed into a folder."""
        path = folder / f"{self.name}-{seed}.mlir"
        path.write_text(self.edit(seed)[2].text)
        return path

    def run(self, seeds: Iterator[int], jobs: int) -> Iterator[Row]:
        """The rows of some seeds, in their order."""
        with ThreadPoolExecutor(jobs) as pool:
            yield from in_steps(pool, self.check, seeds, jobs)
