# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks schedules of many sizes, and how many activations each stage keeps."""

import re
import subprocess
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from schedule_maker.overlap import overlap
from schedule_maker.programs import make_program
from schedule_maker.schedules import (
    SCHEDULES,
    ImpossibleScheduleError,
    Schedule,
    peak_live_activations,
)
from schedule_maker.text import print_module

LIVE = re.compile(r"tv\.live_activations = array<i64: ([\d, ]+)>")


@dataclass(frozen=True)
class Case:
    """A schedule by its numbers."""

    kind: str
    stages: int
    micro_batches: int
    chunks: int

    def make(self) -> Schedule | None:
        """The schedule, if there is one."""
        try:
            return SCHEDULES[self.kind](self.stages, self.micro_batches, self.chunks)
        except ImpossibleScheduleError:
            return None


def cases(stages: Iterable[int], micro_batches: Iterable[int], chunks: Iterable[int]) -> list[Case]:
    """All kinds and numbers that go together; only one kind has several chunks a stage."""
    found = []
    for kind in SCHEDULES:
        for stage_count in stages:
            for micro_batch_count in micro_batches:
                sizes = chunks if kind == "interleaved" else [1]
                found += [Case(kind, stage_count, micro_batch_count, count) for count in sizes]
    return [case for case in found if _is_possible(case)]


def _is_possible(case: Case) -> bool:
    """Is there such a schedule? The conditions are those that are published."""
    if case.kind == "interleaved":
        return case.micro_batches % case.stages == 0
    if case.kind == "dualpipe":
        halves = case.stages % 2 == 0 and case.micro_batches % 2 == 0
        return halves and case.micro_batches >= 2 * case.stages
    return True


@dataclass(frozen=True)
class Form:
    """How a schedule is written."""

    overlaps: bool = False
    in_order: bool = False  # the communication of a device goes through one queue
    has_streams: bool = False  # which wait for each other
    has_slots: bool = False  # what is received is in scratch memory


def check(tool: str, case: Case, form: Form) -> str | None:
    """What is wrong with the verdict on a case, if something is."""
    schedule = case.make()
    if schedule is None:
        return "there is no such schedule"
    program = make_program(schedule)
    if form.overlaps:
        program = overlap(
            program, form.in_order, has_events=form.has_streams, has_slots=form.has_slots
        )
    text = print_module(program, with_reference=False)
    started = "in-order" if form.in_order else "independent"
    command = [tool, f"--tv-check-schedule=started-communication={started}"]
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        return f"refused: {run.stderr[:500]}"
    match = LIVE.search(run.stdout[:2000])
    if match is None:
        return "no number of live activations"
    live = [int(number) for number in match[1].split(",")]
    expected = [
        peak_live_activations(case.kind, case.stages, case.micro_batches, case.chunks, stage)
        for stage in range(case.stages)
    ]
    return None if live == expected else f"keeps {live}, published: {expected}"


def check_grid(
    tool: str, chosen: list[Case], form: Form, workers: int = 2
) -> Iterator[tuple[Case, str | None]]:
    """Each case with what is wrong with it."""
    with ThreadPoolExecutor(workers) as pool:
        found = pool.map(lambda case: check(tool, case, form), chosen)
        yield from zip(chosen, found, strict=True)
