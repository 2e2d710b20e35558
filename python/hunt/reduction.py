# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares verdicts of the small case with verdicts at full size, and with values.

A program that is proved by the small case, or because both sides are the same ops, has
to be proved at full size, and what is proved has to have equal values at random inputs.
*Unknown* contradicts nothing but is counted, and so is what only full size proves: there
the reference is known to be defined at every position, in the small case at those that
are looked at.
"""

import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from hunt.edits import apply
from hunt.identities import random_identity
from hunt.mistakes import WRONG
from hunt.programs import Program, print_stage, values_differ
from hunt.random_programs import random_program
from hunt.rewrites import BENIGN

SIZES = (5, 7, 12)
SMALL = (2, 3, 4, 5, 6, 7)
STEP = 20
OPTIONS = "resource-limit=5000000"
# An edit can make a stage that no plan has: two parts of other sizes.
ERROR = re.compile(r"error: stage 's(\d+)' is ([a-z ]+): (.*)")


@dataclass(frozen=True)
class Outcome:
    """What was found about a program at one size."""

    seed: int
    size: int
    kind: str
    small: str
    full: str
    # The verdict where proofs without the small case are looked for as well.
    any: str
    # Whether values differ; None where the program has none.
    differs: bool | None
    text: str

    def finding(self) -> str | None:
        """What is wrong, if something is."""
        if "proved" in (self.small, self.full) and self.differs:
            wrong = "small case" if self.small == "proved" else "full size"
            return f"proved by the {wrong}, and the values differ"
        if self.small == "proved" and self.full == "not proved":
            return "proved by the small case, not proved at full size"
        if self.any == "proved" and (self.differs or self.full == "not proved"):
            return "proved as the same ops, and it is not so"
        return None

    def label(self) -> str:
        """A row of the table of outcomes."""
        if self.small == "invalid":
            return "invalid"
        values = {None: "undefined", True: "different", False: "equal"}[self.differs]
        return f"{self.small}, {self.full} at full size, {values} values"


def make(seed: int, size: int) -> Program:
    """The program of a seed: an identity, or a random one with some edits."""
    random = Random(f"edits {seed}")
    if random.random() < 0.2:
        return random_identity(seed, random.choice(SMALL) if random.random() < 0.5 else size)
    program = random_program(seed, size)
    kinds = []
    for _ in range(random.choice([0, 1, 1, 2])):
        program, _name = apply(program, BENIGN, random)
    for _ in range(random.choice([0, 1, 1, 1, 1, 2])):
        program, name = apply(program, WRONG, random)
        kinds.append(name)
    return replace(program, kind=" and ".join(kinds) or "none", table={})


def verify(tool: str, stages: dict[int, str], options: str, limit: int) -> dict[int, str]:
    """The verdict on each stage; `invalid` if it is none, `timeout` if it takes too long."""
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write("\n".join(stages.values()))
        file.flush()
        command = [tool, file.name, f"--tv-check-equiv={options}", "-o", "/dev/null"]
        try:
            run = subprocess.run(
                command, capture_output=True, text=True, check=False, timeout=limit * len(stages)
            )
        except subprocess.TimeoutExpired:
            return alone(tool, stages, options, limit, "timeout")
    errors = [line for line in run.stderr.split("\n") if "error: " in line]
    found = [match for line in errors if (match := ERROR.search(line))]
    # Every error is a verdict, and there are errors if the tool says so.
    if len(found) != len(errors) or (run.returncode == 0) != (not errors) or run.returncode > 1:
        crashed = run.returncode < 0 or run.returncode > 1
        return alone(tool, stages, options, limit, "crashed" if crashed else "invalid")
    verdicts = dict.fromkeys(stages, "proved")
    verdicts.update({int(match.group(1)): match.group(2) for match in found})
    return verdicts


def alone(
    tool: str, stages: dict[int, str], options: str, limit: int, failure: str
) -> dict[int, str]:
    """The verdicts, one by one, after a failure of one that is not known."""
    if len(stages) == 1:
        return dict.fromkeys(stages, failure)
    result: dict[int, str] = {}
    for number, text in stages.items():
        result |= verify(tool, {number: text}, options, limit)
    return result


def check(tool: str, seeds: range, size: int) -> Iterator[Outcome]:
    """Outcomes of the programs of some seeds at one size."""
    programs = {seed: make(seed, size) for seed in seeds}
    stages = {seed: print_stage(program, f"s{seed}") for seed, program in programs.items()}
    small = verify(tool, stages, f"{OPTIONS} small-case=true", limit=10)
    valid = {seed: text for seed, text in stages.items() if small[seed] != "invalid"}
    full = verify(tool, valid, f"{OPTIONS} full-size=true", limit=10) if valid else {}
    either = verify(tool, valid, OPTIONS, limit=10) if valid else {}
    for seed, program in programs.items():
        differs = values_differ(program, seed) if seed in valid else None
        kind = re.sub(r"\d+", "n", program.kind) if seed not in valid else program.kind
        verdicts = (small[seed], full.get(seed, "invalid"), either.get(seed, "invalid"))
        yield Outcome(seed, size, kind, *verdicts, differs, stages[seed])


def hunt(
    tool: str, first: int, count: int, jobs: int, sizes: tuple[int, ...] = SIZES
) -> Iterator[list[Outcome]]:
    """Outcomes of `count` programs from a seed on, some at a time."""
    with ThreadPoolExecutor(jobs) as pool:
        for start in range(first, first + count, STEP * jobs):
            stop = min(first + count, start + STEP * jobs)
            batches = [
                (range(at, min(at + STEP, stop)), size)
                for at in range(start, stop, STEP)
                for size in sizes
            ]
            results = pool.map(lambda batch: list(check(tool, *batch)), batches)
            yield [outcome for batch in results for outcome in batch]


def keep(outcome: Outcome, folder: Path) -> Path:
    """Writes a program that is a finding to a file of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"reduction-{outcome.seed}-{outcome.size}.mlir"
    path.write_text(f"// {outcome.kind}: {outcome.finding()}\n{outcome.text}")
    return path


def tabulate(outcomes: list[Outcome]) -> tuple[Counter[str], dict[str, Counter[str]]]:
    """Outcomes in all, and by what was done to the plan."""
    total: Counter[str] = Counter()
    by_kind: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        total[outcome.label()] += 1
        for kind in outcome.kind.split(" and "):
            by_kind.setdefault(kind, Counter())[outcome.label()] += 1
    return total, by_kind
