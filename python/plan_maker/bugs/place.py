# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where in a plan a bug goes, and the search for such places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import TypeVar

from plan_maker.errors import ImpossiblePlanError
from plan_maker.graph import (
    Adapter,
    DeviceProgram,
    Plan,
    ReuseCell,
    Segment,
    SegmentNode,
    base_cell,
)


class Direction(StrEnum):
    """From the data to the loss, or of gradients, the other way."""

    FORWARD = "forward"
    BACKWARD = "backward"


@dataclass(frozen=True)
class Place:
    """The user's choice; None leaves it to the bug, which takes the first place
    there is, or number `number` of those that remain. `operation` is the name of a
    forward op.
    """

    device: int | None = None
    layer: int | None = None
    operation: str | None = None
    micro_batch: int | None = None
    direction: Direction | None = None
    number: int = 0

    def __str__(self) -> str:
        words = [
            f"number {self.number}" if self.number else "",
            f"on device {self.device}" if self.device is not None else "",
            f"in layer {self.layer}" if self.layer is not None else "",
            f"in micro-batch {self.micro_batch}" if self.micro_batch is not None else "",
            f"in the {self.direction} direction" if self.direction is not None else "",
        ]
        return " ".join(word for word in words if word) or "in this plan"


@dataclass(frozen=True)
class Located:
    """A node of a segment, and where it is. `position` counts the segment's nodes."""

    device: int
    segment: Segment
    position: int
    node: SegmentNode

    @property
    def key(self) -> tuple[int, int]:
        """How `replace_nodes` names the node."""
        return self.device, self.node.identifier


Found = TypeVar("Found")


def first(found: Iterator[Found], what: str, place: Place) -> Found:
    """The first of `found`, or the one with the place's number; without one the bug
    cannot be placed.
    """
    for candidate in islice(found, place.number, None):
        return candidate
    raise ImpossiblePlanError(f"there is no {what} {place}")


def segments_of(program: DeviceProgram) -> tuple[Segment, ...]:
    """The segments that a device runs, each once."""
    segments = {
        cell.identifier: cell for cell in map(base_cell, program.cells) if isinstance(cell, Segment)
    }
    return tuple(segments.values())


def nodes_at(plan: Plan, place: Place, accepts: Callable[[SegmentNode], bool]) -> Iterator[Located]:
    """The nodes of segments at `place` that `accepts` accepts."""
    for program in plan.programs:
        if place.device not in (None, program.device):
            continue
        for segment in segments_of(program):
            if not _is_run_in(program, segment, place.micro_batch):
                continue
            for position, node in enumerate(segment.nodes):
                if place.layer in (None, node.layer) and accepts(node):
                    yield Located(program.device, segment, position, node)


def _is_run_in(program: DeviceProgram, segment: Segment, micro_batch: int | None) -> bool:
    """Is the segment run in this micro-batch only? In any, if it is None."""
    return micro_batch is None or all(
        isinstance(cell, ReuseCell) and cell.micro_batch == micro_batch
        for cell in program.cells
        if base_cell(cell).identifier == segment.identifier
    )


def same_position(plan: Plan, located: Located) -> tuple[Located, ...]:
    """The nodes that stand for `located` on all ranks of its stage."""
    return tuple(
        Located(program.device, segment, located.position, segment.nodes[located.position])
        for program in plan.programs
        for segment in segments_of(program)
        if segment.identifier == located.segment.identifier
    )


def transfers_at(
    plan: Plan, place: Place, accepts: Callable[[Adapter], bool]
) -> Iterator[tuple[tuple[int, Adapter], ...]]:
    """The adapters between stages that `accepts` accepts on some device at
    `place`: with each, its parts on all devices.
    """
    parts: dict[int, dict[int, Adapter]] = {}
    for program in plan.programs:
        for cell in map(base_cell, program.cells):
            if isinstance(cell, Adapter):
                parts.setdefault(cell.identifier, {})[program.device] = cell
    for devices in parts.values():
        if any(
            place.device in (None, device) and accepts(adapter)
            for device, adapter in devices.items()
        ):
            yield tuple(devices.items())
