# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Looks for changes of plan files that crash the tool, take long or are not decided.

The plans are those that users bring (`--pair SINGLE PLAN`), or some of the plan maker. What
a change of an object does is not known, so that *proved* and *refuted* are both fine.
"""

import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from bench.measure import MeasurementError, TimeLimitError, verify
from hunt.costs import ORDER, UNDECIDED
from hunt.families import FAMILIES
from hunt.object_mutations import Objects, mutate
from hunt.pickled_objects import change
from hunt.pickles import ORDER as OWN
from hunt.rows import Row, in_steps
from tests.reading import make_files

# Seconds, of plans that are verified in less than one.
SLOW, LIMIT = 5.0, 60.0


def judge(tool: str, plan: Path, reference: Path) -> Row:
    """What becomes of a plan file: its answer and the outcome."""
    try:
        found = verify(tool, plan, reference, [ORDER], LIMIT)
    except TimeLimitError as error:
        return {"answer": "slow", "outcome": "slow", "reason": str(error)}
    except MeasurementError as error:
        outcome = "invalid" if "error: " in str(error) else "no verdict"
        return {"answer": outcome, "outcome": outcome, "reason": str(error)[:300]}
    answer, seconds = found["answer"], round(found["total_seconds"], 2)
    outcome = "slow" if seconds > SLOW else answer
    if answer == "unknown" and any(UNDECIDED in line for line in found["errors"]):
        outcome = "undecided"
    return {"answer": answer, "outcome": outcome, "seconds": seconds}


def _look_through(root: Any) -> None:
    Objects(root)


def find_unusable(pairs: list[list[str]]) -> str:
    """What is wrong with the first pair that cannot be changed; empty if all can be."""
    for single, plan in pairs:
        try:
            Path(single).read_bytes()
            change(Path(plan).read_bytes(), _look_through)
        except OSError as error:
            return str(error)
        except Exception as error:
            return f"'{plan}' is no plan: {type(error).__name__}: {error}"
    return ""


class Hunt:
    """A hunt over changes of some files."""

    name = "files"

    def __init__(self, tool: str, pairs: list[list[str]], families: list[str]) -> None:
        self.tool = tool
        self.pairs = pairs
        self.families = [name for name in families if name in FAMILIES] or OWN

    def write(self, seed: int, folder: Path) -> tuple[str, str]:
        """Writes the files of a seed: what they are made of, and the change."""
        random = Random(f"{self.name} {seed}")
        if self.pairs:
            single, parallel = map(Path, random.choice(self.pairs))
            family, plan, reference = parallel.name, parallel.read_bytes(), single.read_bytes()
        else:
            family = random.choice(self.families)
            plan, reference = make_files(*FAMILIES[family].split())
        kinds: list[str] = []
        (folder / "plan.pkl").write_bytes(
            change(plan, lambda root: kinds.append(mutate(root, random)))
        )
        (folder / "single.pkl").write_bytes(reference)
        return family, kinds[0]

    def check(self, seed: int) -> Row:
        """What becomes of a seed."""
        with tempfile.TemporaryDirectory(prefix="hunt-") as name:
            folder = Path(name)
            family, kind = self.write(seed, folder)
            row = judge(self.tool, folder / "plan.pkl", folder / "single.pkl")
        return {"seconds": 0.0, **row} | {
            "hunt": self.name,
            "seed": seed,
            "family": family,
            "kinds": [kind],
            # Nothing was executed, and there is no module to reduce.
            "values": "disputed",
        }

    def keep(self, seed: int, folder: Path) -> Path:
        """Writes the files of a seed into a folder."""
        own = folder / f"{self.name}-{seed}"
        own.mkdir(parents=True, exist_ok=True)
        self.write(seed, own)
        return own / "plan.pkl"

    def run(self, seeds: Iterator[int], jobs: int) -> Iterator[Row]:
        """The rows of some seeds, in their order."""
        with ProcessPoolExecutor(jobs) as pool:
            yield from in_steps(pool, partial(Hunt.check, self), seeds, jobs)
