# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The mistake that a step has, if any."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Bug:
    """A mistake that a strategy can have."""

    name: str
    # The op at which a diagnosis has to point.
    op: str
    what: str
    # Public bugs of the same kind, by tracker and row.
    rows: str
    # Options of the command line with which it has a place, where the defaults have none.
    options: tuple[str, ...] = ()


class Mistake:
    """The bug that was asked for, and whether it had a place."""

    def __init__(self, chosen: str | None) -> None:
        self.chosen = chosen
        self._is_made = False

    def is_here(self, name: str, *, where: bool = True) -> bool:
        """Whether to make this mistake now, in a place that has to be as `where` says."""
        is_here = where and self.chosen == name
        self._is_made |= is_here
        return is_here

    @property
    def is_made(self) -> bool:
        """Whether the bug that was asked for, if any, had a place."""
        return self.chosen is None or self._is_made
