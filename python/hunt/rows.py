# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a hunt seed by seed. What becomes of each is one line of JSON in a file, where the
hunt goes on the next time.
"""

import json
import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

from hunt.finding import Reducer

Row = dict[str, Any]
FINDINGS = {
    "escapes": ("escaped", "false alarm", "crashed"),
    "rewrites": ("escaped", "false alarm", "refuted", "crashed"),
    "ranks": ("different", "invalid", "crashed"),
    "calls": ("escaped", "false alarm", "rejected", "crashed"),
    "pickles": ("different", "timeout", "crashed"),
    "files": ("no verdict", "slow", "undecided"),
    "costs": ("slow", "false alarm", "not refuted", "undecided", "no verdict"),
    "imports": ("escaped", "disputed", "false alarm", "wrong plan", "not proved", "crashed"),
}


class Hunt(Protocol):
    """What makes and judges the plans of seeds."""

    @property
    def name(self) -> str:
        """What it is called on the command line."""

    def run(self, seeds: Iterator[int], jobs: int) -> Iterator[Row]:
        """A row for each seed, as they end."""

    def keep(self, seed: int, folder: Path) -> Path:
        """Writes a finding; the module that can be made smaller comes back."""


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


def in_steps(
    pool: Executor, check: Callable[[int], Row], seeds: Iterator[int], jobs: int
) -> Iterator[Row]:
    """What becomes of some seeds, in their order: some at a time, as `seeds` may end."""
    while step := list(islice(seeds, 8 * jobs)):
        yield from pool.map(check, step)


def is_finding(row: Row) -> bool:
    """Whether the verdict is wrong."""
    return row["outcome"] in FINDINGS[row["hunt"]]


def hunt(hunting: Hunt, options: Any) -> int:
    """Goes on from the file of results; returns the number of findings."""
    rows = [row for row in read(options.resume) if row["hunt"] == hunting.name]
    first = max((row["seed"] + 1 for row in rows), default=options.seed)
    last = first + options.count - len(rows)
    start = time.monotonic()
    reducer = Reducer(options.reducer, options.tool)

    def seeds() -> Iterator[int]:
        for seed in range(first, last):
            if options.time and time.monotonic() - start > options.time:
                return
            yield seed

    with open(options.resume or os.devnull, "a") as file:
        for row in hunting.run(seeds(), options.jobs):
            rows.append(row)
            file.write(json.dumps(row) + "\n")
            file.flush()
            if is_finding(row):
                options.findings.mkdir(parents=True, exist_ok=True)
                path = hunting.keep(row["seed"], options.findings)
                kinds = " and ".join(row["kinds"]) or "no change"
                print(f"FOUND: {row['outcome']}: {row['family']}, {kinds}: {path}", flush=True)
                if row["values"] != "disputed":
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
