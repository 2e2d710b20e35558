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
import subprocess
import sys
from pathlib import Path

from plan_maker.bugs import BUGS
from plan_maker.bugs.diagnostics import find_report_tie, first_diagnostic
from plan_maker.command_line import WRONG_USAGE, main

PROVED, REFUTED, UNKNOWN = 0, 1, 2
TIMEOUT = 60
# A model without activations adds up the same over all micro-batches, whatever was in
# which of them.
SAME_RESULTS = {("mlp", "exchanged-micro-batches")}


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
    found = find_report_tie(report, name, json.loads(edits.read_text("utf-8"))["edits"])
    print(f"{name}: {found}: {first_diagnostic(report)}", flush=True)
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
