# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares verdicts on mutants of schedules with what the oracle says of them.

What does not run to its end has to be refused by the check of progress, and nothing
else: with communication that goes on side by side, and with one queue on each device. What
is out of order has to be refused by the check of order as well. What computes something
else must not be proved, and what computes the same has to be.
"""

import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

from schedule_maker.mutations import MUTATIONS
from schedule_maker.oracle import (
    InterleavingError,
    Judgement,
    TooManyStatesError,
    judge,
    runs_to_end,
)
from schedule_maker.overlap import overlap
from schedule_maker.overlap_mutations import OVERLAP_MUTATIONS
from schedule_maker.programs import Program, make_program
from schedule_maker.schedules import SCHEDULES
from schedule_maker.text import invalid_use, print_module

# Kinds, stages, micro-batches, chunks of a stage and devices of a stage.
SMALL = (
    ("gpipe", 2, 2, 1, 1),
    ("gpipe", 3, 2, 1, 1),
    ("gpipe", 2, 2, 1, 2),
    ("1f1b", 2, 2, 1, 1),
    ("1f1b", 2, 3, 1, 1),
    ("1f1b", 3, 3, 1, 1),
    ("1f1b", 2, 2, 1, 2),
    ("interleaved", 2, 2, 2, 1),
    ("zero-bubble-h1", 2, 2, 1, 1),
    ("zero-bubble-h1", 3, 3, 1, 1),
    ("zero-bubble-h2", 2, 3, 1, 1),
    ("dualpipe", 2, 4, 1, 1),
)
CHECKS = (
    "--tv-check-schedule=checks=progress",
    "--tv-check-schedule=checks=progress buffered-sends=1",
    "--tv-check-schedule=checks=progress started-communication=in-order",
    "--tv-check-schedule=checks=progress started-communication=in-order buffered-sends=1",
    "--tv-check-schedule",
    "--tv-verify-equiv",
)
SEPARATOR = "// -----\n"
BATCH = 40
ERROR = re.compile(r":(\d+):\d+: error: (.*)")


@dataclass(frozen=True)
class Mutant:
    """A program that was changed, and what is true of it."""

    seed: int
    title: str
    mutation: str
    program: Program
    judgement: Judgement
    runs_buffered: bool
    # With one queue on each device: where sends wait, and buffered.
    runs_in_order: tuple[bool, bool]

    def should_pass(self) -> tuple[bool, ...]:
        """For each of CHECKS, whether it has to pass."""
        truth = self.judgement
        return (
            truth.runs,
            self.runs_buffered,
            *self.runs_in_order,
            truth.runs and truth.is_in_order,
            truth.runs and truth.is_right,
        )


def make_mutant(seed: int) -> Mutant | str:
    """The mutant of a seed, or why there is none."""
    random = Random(f"schedule {seed}")
    kind, stages, micro_batches, chunks, ranks = random.choice(SMALL)
    overlaps = random.random() < 0.5
    # Four devices whose communication overlaps have many states.
    ranks = 1 if overlaps and random.random() < 0.85 else ranks
    original = make_program(SCHEDULES[kind](stages, micro_batches, chunks), ranks)
    of_overlap = overlaps and random.random() < 0.6
    names = sorted(MUTATIONS.keys() - OVERLAP_MUTATIONS.keys())
    mutation = random.choice(sorted(OVERLAP_MUTATIONS) if of_overlap else names)
    if overlaps:
        keeps_order, has_streams = random.random() < 0.5, random.random() < 0.3
        has_events = not has_streams and random.random() < 0.7
        kind = f"overlapping {kind}{' in order' * keeps_order}{' with streams' * has_streams}"
        has_slots = random.random() < 0.4
        kind += " with events" * has_events + " with slots" * has_slots
        original = overlap(original, keeps_order, has_streams, has_events, has_slots)
    program = MUTATIONS[mutation](original, random)
    if program is None:
        return "no place"
    if random.random() < 0.15:
        again = random.choice(sorted(MUTATIONS))
        program = MUTATIONS[again](program, random)
        mutation = "two mutations"
        if program is None:
            return "no place"
    if invalid_use(program) is not None:
        return "no program"
    title = f"{kind}, {stages} stages of {ranks}, {micro_batches} micro-batches, {mutation}"
    try:
        judgement = judge(program, original)
        # So have two replicas.
        has_few_states = len(program.steps) == 2 and (not overlaps or random.random() < 0.1)
        if has_few_states and judgement.runs != runs_to_end(program, replicas=2):
            return "replicas differ"
        buffered = runs_to_end(program, buffered_sends=1)
        in_order = runs_to_end(program, one_at_a_time=True)
        if has_few_states and in_order != runs_to_end(program, replicas=2, one_at_a_time=True):
            return "replicas differ"
        buffered_in_order = runs_to_end(program, buffered_sends=1, one_at_a_time=True)
        # Fewer orders, fewer runs that end.
        if (in_order and not judgement.runs) or (buffered_in_order and not buffered):
            return "an order helps"
        return Mutant(
            seed, title, mutation, program, judgement, buffered, (in_order, buffered_in_order)
        )
    except TooManyStatesError:
        return "too many states"
    except InterleavingError:
        return "interleavings differ"


def messages(tool: str, check: str, texts: list[str]) -> list[str | None]:
    """For each module the first error of a check, or None if it passes."""
    first_lines, line = [], 1
    for text in texts:
        first_lines.append(line)
        line += text.count("\n") + 1
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(SEPARATOR.join(texts))
        file.flush()
        command = [tool, check, "-split-input-file", "-o", "/dev/null", file.name]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
    found: list[str | None] = [None] * len(texts)
    for match in ERROR.finditer(run.stderr):
        number = sum(first <= int(match[1]) for first in first_lines) - 1
        found[number] = found[number] or match[2]
    if (run.returncode == 0) != (found.count(None) == len(found)):
        raise RuntimeError(f"exit code {run.returncode} of {check}: {run.stderr[:2000]}")
    return found


@dataclass(frozen=True)
class Finding:
    """A verdict that is wrong."""

    mutant: Mutant
    check: str
    what: str


def compare(tool: str, mutants: list[Mutant]) -> list[Finding]:
    """The verdicts on some mutants that are wrong."""
    texts = [print_module(mutant.program) for mutant in mutants]
    findings = []
    for number, check in enumerate(CHECKS):
        for mutant, message in zip(mutants, messages(tool, check, texts), strict=True):
            if mutant.should_pass()[number] and message is not None:
                findings.append(Finding(mutant, check, f"false alarm: {message}"))
            if not mutant.should_pass()[number] and message is None:
                findings.append(Finding(mutant, check, "escape"))
    return findings


@dataclass
class Results:
    """What judging some mutants gave."""

    mutants: list[Mutant]
    left_out: Counter[str]
    findings: list[Finding]


def judge_seeds(tool: str, seeds: Iterable[int], workers: int = 2) -> Results:
    """Makes and judges the mutants of some seeds."""
    made = [make_mutant(seed) for seed in seeds]
    mutants = [mutant for mutant in made if isinstance(mutant, Mutant)]
    left_out = Counter(mutant for mutant in made if isinstance(mutant, str))
    batches = [mutants[start : start + BATCH] for start in range(0, len(mutants), BATCH)]
    with ThreadPoolExecutor(workers) as pool:
        findings = [
            finding
            for found in pool.map(lambda batch: compare(tool, batch), batches)
            for finding in found
        ]
    return Results(mutants, left_out, findings)


def keep(finding: Finding, folder: Path) -> Path:
    """Writes the program of a finding to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"schedule-{finding.mutant.seed}.mlir"
    path.write_text(print_module(finding.mutant.program), "utf-8")
    return path
