# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether a diagnostic names what a bug changed."""

from __future__ import annotations

import re
from typing import Any

# What the wrong order of a loader does is named there, or where the ranks meet. Of devices
# that wait for each other, any may be the one to mend.
CAUSES = {
    "exchanged-micro-batches": "mixed micro-batches",
    "late-receive": "devices wait for each other",
}


def find_tie(diagnostic: str, edits: list[dict[str, Any]]) -> str | None:
    """What ties a diagnostic to one of the edits that `--describe-bug` writes: an op that
    was changed, one that reads what it made or was taken away with others, the line of the
    model that it is from, or the name of a parameter or result.
    """
    location = diagnostic.partition(": error:")[0]
    cells = re.findall(r"\(cell (\d+)\)|\binstance (\d+)", diagnostic)
    numbers = {int(number) for pair in cells for number in pair if number}
    if numbers & {edit["cell"] for edit in edits}:
        return "op"
    if numbers & {number for edit in edits for number in edit["others"]}:
        return "other op"
    if location in {f"{edit['file']}:{edit['line']}" for edit in edits}:
        return "line"
    names = re.findall(r"'([^']*)'|\breducer of (\S+)", diagnostic)
    own = {name for edit in edits for name in edit["parameters"] + edit["results"]}
    if own & {name for found in names for name in found}:
        return "name"
    return None


def find_report_tie(report: str, bug: str, edits: list[dict[str, Any]]) -> str | None:
    """The same for what the tool prints; its first diagnostic counts."""
    if CAUSES.get(bug, "?") in report:
        return CAUSES[bug]
    return find_tie(first_diagnostic(report), edits)


def first_diagnostic(report: str) -> str:
    """The first error of a report; empty if there is none."""
    return next((line for line in report.splitlines() if ": error:" in line), "")
