# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what plans of equal ranks give when they are executed with what the graphs give
that they are linked to, with ranks as one and without.
"""

import json
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hunt.judge import run_bounded
from hunt.ranked_plans import RankedPlan
from hunt.ranked_text import print_plan
from hunt.rows import Row, in_steps

FOLD = "--tv-canonicalize-ssa=fold-ranks=true"
Results = dict[tuple[str, str], set[tuple[str, ...]]]


def list_results(program: dict[str, Any]) -> Results:
    """The values of each result, on whatever devices they are."""
    found: Results = {}
    for row in program["results"]:
        if row["role"] != "lemma":
            values = {tuple(map(str, place["plan"]["values"])) for place in row["places"]}
            found.setdefault((row["role"], row["name"]), set()).update(values)
    return found


def execute(tool: str, module: Path, *passes: str) -> list[dict[str, Any]]:
    """What is left of the module after some passes, executed; empty if that fails."""
    output = module.with_suffix(".json")
    output.unlink(missing_ok=True)
    run_bounded([tool, str(module), *passes, f"--tv-interpret=output={output}", "-o", "/dev/null"])
    programs: list[dict[str, Any]] = (
        json.loads(output.read_text())["programs"] if output.exists() else []
    )
    return programs


def judge(tool: str, module: Path) -> str:
    """`folded` or `apart` where all agree, else what is wrong."""
    plans = execute(tool, module)
    if not plans:
        return "invalid"
    graphs = execute(tool, module, FOLD)
    if not graphs:
        return "crashed"
    expected = list_results(plans[0])
    if any(list_results(graph) != expected for graph in graphs):
        return "different"
    return "folded" if len(graphs) > 1 else "apart"


@dataclass(frozen=True)
class Hunt:
    """A hunt for ranks that are wrongly taken as one."""

    tool: str
    name: str = "ranks"

    def check(self, seed: int) -> Row:
        """What becomes of a seed."""
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="hunt-") as folder:
            outcome = judge(self.tool, self.keep(seed, Path(folder)))
        row: Row = {"hunt": self.name, "seed": seed, "family": "ranks", "kinds": []}
        row |= {"values": "disputed", "answer": outcome, "outcome": outcome}
        return row | {"seconds": round(time.monotonic() - start, 2)}

    def keep(self, seed: int, folder: Path) -> Path:
        """Writes the module of a seed into a folder."""
        path = folder / f"{self.name}-{seed}.mlir"
        path.write_text(print_plan(RankedPlan(seed)))
        return path

    def run(self, seeds: Iterator[int], jobs: int) -> Iterator[Row]:
        """The rows of some seeds, in their order."""
        with ThreadPoolExecutor(jobs) as pool:
            yield from in_steps(pool, self.check, seeds, jobs)
