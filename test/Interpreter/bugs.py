# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs and verifies a plan with each bug of the plan maker.

usage: bugs.py WORK

A bug that shows on numbers has to be refuted, and so has a plan that cannot be run.
Exit code 1 if a bug does not show, or if the two disagree. Bugs whose plans are not
imported are an error, and stay one.
"""

import subprocess
import sys
from collections import Counter
from pathlib import Path

MAKER = [sys.executable, "-m", "plan_maker"]
ON_EIGHT = "--batch 8 --dp 2 --pp 2 --tp 2 --micro-batches 2"
SMALL = f"--layers 2 --ffn 8 --vocab 8 --sequence 2 --hidden 8 --heads 2 {ON_EIGHT}"
#: A family, its options, and the bugs that no family before it has; none is all.
PLANS: list[tuple[str, str, list[str]]] = [
    ("mlp", f"--layers 4 --hidden 8 {ON_EIGHT}", []),
    ("llama", SMALL, []),
    (
        "gpt",
        f"--split-vocabulary {SMALL}",
        ["wrong-vocabulary-range", "wrong-reducer-group", "all-reduce-to-all-gather"],
    ),
]
RUNS = {0: "equal", 1: "differs", 2: "not run"}
VERDICTS = {0: "proved", 1: "refuted", 2: "unknown"}
#: A rank that is in another micro-batch than its peers: all that a linear model gives
#: adds up to the same.
SAME_RESULTS = {("mlp", "exchanged-micro-batches")}
#: Plans of right values that may hang: execution lets what is sent go on.
HANGING = {"late-receive"}


def list_bugs(family: str) -> list[str]:
    """The names of the bugs that a plan may be given."""
    listed = subprocess.run(
        [*MAKER, family, "--list-bugs"], check=True, capture_output=True, text=True
    )
    return [line for line in listed.stdout.splitlines() if line and line[0] != " "]


def main() -> int:
    """Prints a line for each plan and returns the exit code."""
    work = Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    single, parallel = work / "single.pkl", work / "parallel.pkl"
    counts: Counter[str] = Counter()
    compared = 0
    for family, options, bugs in PLANS:
        for bug in bugs or list_bugs(family):
            files = ["-o", str(parallel), "--reference", str(single)]
            command = [*MAKER, family, *options.split(), "--bug", bug, *files]
            made = subprocess.run(command, capture_output=True)
            if made.returncode:
                # This plan has no place for the bug.
                print(f"{family} --bug {bug}: no plan")
                continue
            pair = ["--quiet", "--reference", str(single), str(parallel)]
            codes = [
                subprocess.run(["verify-plan", *option, *pair], capture_output=True).returncode
                for option in (["--run"], [])
            ]
            run = RUNS.get(codes[0], "bad")
            verdict = VERDICTS.get(codes[1], "bad")
            if (family, bug) in SAME_RESULTS:
                is_same = run == "equal" and verdict in ("proved", "unknown")
                counts["equal" if is_same else "not equal"] += 1
                print(f"{family} --bug {bug}: {run}, not refuted")
                continue
            compared += 1
            if bug in HANGING and run == "equal":
                run = "hangs"
            counts[run] += 1
            counts[verdict] += 1
            print(f"{family} --bug {bug}: {run}, {verdict}")
    total = counts["differs"] + counts["not run"] + counts["hangs"]
    is_right = total == counts["refuted"] == compared > 0 and not counts["not equal"]
    print(
        f"{total} plans with a bug, {'each' if is_right else counts['refuted']} refuted; "
        f"{counts['differs']} differ, {counts['not run']} cannot be run, "
        f"{counts['hangs']} hang, "
        f"{counts['equal']} more gives the same"
    )
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
