# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks that every bug is refuted, and where.

usage: bug_places.py WORK MODEL [OPTION...]

Makes the plan of the model with each bug that it has a place for, in the folder
WORK, and runs verify-plan. The first diagnostic must be at an op that the bug
changed, that reads what it made or that it took away with others, at the line of
the model that a changed op is from, or must name its parameter or result. Prints
a line for each bug; exit code 1 if one was not refuted, or elsewhere.
"""

import contextlib
import io
import json
import re
import subprocess
import sys
from pathlib import Path

from plan_maker.bugs import BUGS
from plan_maker.command_line import WRONG_USAGE, main

PROVED, REFUTED, UNKNOWN = 0, 1, 2
TIMEOUT = 60
# What the wrong order of a loader does shows where the ranks meet, and is named there. Of
# devices that wait for each other, any may be the one to mend.
CAUSES = {
    "exchanged-micro-batches": "mixed micro-batches",
    "late-receive": "devices wait for each other",
}
# A model without activations adds up the same over all micro-batches, whatever was in
# which of them.
SAME_RESULTS = {("mlp", "exchanged-micro-batches")}


def place(diagnostic: str, edits: list[dict]) -> str | None:
    """What ties the diagnostic to one of the edits."""
    location = diagnostic.partition(": error:")[0]
    numbers = {int(number) for number in re.findall(r"\(cell (\d+)\)", diagnostic)}
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


def check(name: str, model: list[str], work: Path) -> bool:
    """Plants the bug, if the model has a place for it, and judges the diagnostic."""
    plan, reference, edits = (work / file for file in ("plan.pkl", "single.pkl", "bug.json"))
    files = ["-o", plan, "--reference", reference, "--describe-bug", edits]
    with contextlib.redirect_stderr(io.StringIO()):
        code = main([*model, "--bug", name, *map(str, files)])
    if code == WRONG_USAGE:
        return True
    command = ["verify-plan", "--reference", reference, plan]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        print(f"{name}: no verdict in {TIMEOUT} seconds", flush=True)
        return False
    report = run.stdout + run.stderr
    diagnostic = next((line for line in report.splitlines() if ": error:" in line), "")
    found = CAUSES.get(name) if CAUSES.get(name, "?") in report else None
    found = found or place(diagnostic, json.loads(edits.read_text("utf-8"))["edits"])
    print(f"{name}: {found}: {diagnostic}", flush=True)
    if (model[0], name) in SAME_RESULTS:
        return run.returncode in (PROVED, UNKNOWN)
    return run.returncode == REFUTED and found is not None


def check_all() -> int:
    """All bugs; returns the exit code."""
    work, model = Path(sys.argv[1]), sys.argv[2:]
    results = [check(bug.name, model, work) for bug in BUGS]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(check_all())
