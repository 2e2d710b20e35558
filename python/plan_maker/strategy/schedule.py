# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which stage runs which micro-batch when.

A schedule is a list of time steps; in each, a stage runs at most one block. The
transfers of a step come after its blocks, in one order for all devices, so that
blocking sends and receives cannot wait for each other in a circle.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum


class ScheduleKind(StrEnum):
    """`1f1b` alternates forward and backward blocks as soon as it can; `gpipe`
    runs all forward blocks first.
    """

    ONE_FORWARD_ONE_BACKWARD = "1f1b"
    GPIPE = "gpipe"


@dataclass(frozen=True)
class Block:
    """One execution of a stage's forward or backward segment."""

    stage: int
    micro_batch: int
    is_forward: bool


def schedule(kind: ScheduleKind, stages: int, micro_batches: int) -> list[list[Block]]:
    """The blocks of each time step, lower stages first."""
    steps: defaultdict[int, list[Block]] = defaultdict(list)
    for micro_batch in range(micro_batches):
        for stage in range(stages):
            if kind is ScheduleKind.GPIPE:
                forward = micro_batch + stage
                backward = (micro_batches + stages - 1) + micro_batch + (stages - 1 - stage)
            else:
                # Two steps per micro-batch: a stage has the next forward block
                # while the backward block of an earlier micro-batch is due one
                # step later, so the two never fall on the same step.
                forward = 2 * micro_batch + stage
                backward = 2 * micro_batch + (2 * stages - 1 - stage)
            steps[forward].append(Block(stage, micro_batch, True))
            steps[backward].append(Block(stage, micro_batch, False))
    return [sorted(steps[step], key=lambda block: block.stage) for step in sorted(steps)]
