# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a hunt: `python3 -m hunt reduction --count 1000`.

`reduction` compares verdicts on random programs, `escapes` those on imported plans with
mistakes, `rewrites` those on plans that compute the same in another way, and `imports`
those on plan files of many strategies, with and without mistakes; `ranks` compares what
plans of equal ranks give with what their graphs give, `calls` has plans of segments that are
called on each other's results, `pickles` what is imported of changed
files with what is imported of what CPython reads in them; `files` changes the objects of plan
files, also of those that users bring; `costs` compares how long large plans take. Exit code 0
if nothing was found, 1 if something was, 3 for wrong usage. Results are written as JSON after
every step; `--resume FILE` goes on where a file ends. `table` writes the rates of such files.
Findings are written to files, and reduced.
"""

import argparse
import json
import os
import shutil
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from hunt import calls, costs, escapes, files, imports, pickles, ranks, reduction, rows, table
from hunt.drawn_plans import MODELS
from hunt.families import NAMES
from hunt.finding import SMALL_ONLY, Reducer

NAMES_OF_HUNTS = [
    "reduction",
    "escapes",
    "rewrites",
    "imports",
    "ranks",
    "calls",
    "pickles",
    "files",
    "costs",
    "table",
]


def new_results(name: str, seed: int) -> dict[str, Any]:
    """Results of a hunt that has not begun."""
    return {
        "hunt": name,
        "first_seed": seed,
        "next_seed": seed,
        "programs": 0,
        "seconds": 0.0,
        "sizes": list(reduction.SIZES),
        "outcomes": {},
        "by_kind": {},
        "findings": [],
    }


def add(
    results: dict[str, Any], outcomes: list[reduction.Outcome], folder: Path, reducer: Reducer
) -> None:
    """Adds what a step found to the results."""
    total, by_kind = reduction.tabulate(outcomes)
    results["outcomes"] = dict(Counter(results["outcomes"]) + total)
    for kind, counts in by_kind.items():
        results["by_kind"][kind] = dict(Counter(results["by_kind"].get(kind, {})) + counts)
    for outcome in outcomes:
        finding = outcome.finding()
        if finding or outcome.small == "crashed" or outcome.full == "crashed":
            path = reduction.keep(outcome, folder)
            entry = {"seed": outcome.seed, "size": outcome.size, "kind": outcome.kind}
            results["findings"].append(entry | {"what": finding or "crashed", "file": str(path)})
            print(f"FOUND: seed {outcome.seed}, size {outcome.size}: {finding}: {path}")
            if (outcome.small, outcome.full) == ("proved", "not proved"):
                reducer.reduce(path, SMALL_ONLY)
    results["programs"] += len({outcome.seed for outcome in outcomes})
    results["next_seed"] = 1 + max(outcome.seed for outcome in outcomes)


def summarize(results: dict[str, Any], by_kind: bool) -> None:
    """Prints the table of outcomes."""
    for label, number in sorted(results["outcomes"].items(), key=lambda item: -item[1]):
        print(f"{number:8} {label}")
    if by_kind:
        for kind, counts in sorted(results["by_kind"].items()):
            print(f"{sum(counts.values()):8} {kind}")
    print(
        f"reduction: seeds {results['first_seed']} to {results['next_seed'] - 1}, "
        f"{results['programs']} programs at sizes {results['sizes']}, "
        f"{len(results['findings'])} findings, {results['seconds']:.0f} s"
    )


def main() -> int:
    """Runs the hunt that the command line asks for."""
    parser = argparse.ArgumentParser(prog="hunt")
    parser.exit_on_error = False
    parser.add_argument("name", choices=NAMES_OF_HUNTS)
    parser.add_argument("results", nargs="*", type=Path, help="files that `table` reads")
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    parser.add_argument("--count", type=int, default=1000, help="programs")
    parser.add_argument("--time", type=float, help="stop after so many seconds")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--resume", type=Path, help="go on from this file, and write it")
    parser.add_argument("--tool", default="verify-opt")
    parser.add_argument("--translate", default="verify-translate")
    parser.add_argument(
        "--plan-tool", default="verify-plan", help="what `imports`, `files` and `costs` judge"
    )
    parser.add_argument(
        "--pair",
        action="append",
        nargs=2,
        default=[],
        metavar=("SINGLE", "PLAN"),
        help="a reference and its plan, of which `files` changes the plan",
    )
    parser.add_argument("--model", action="append", default=[], choices=MODELS)
    parser.add_argument("--reducer", default="verify-reduce", help="'' to leave findings large")
    parser.add_argument("--family", action="append", default=[], choices=NAMES)
    parser.add_argument("--mutations", type=int, choices=[1, 2], help="edits of each plan")
    parser.add_argument("--write", type=Path, help="file whose table `table` replaces")
    parser.add_argument("--findings", type=Path, default=Path("findings"))
    parser.add_argument("--by-kind", action="store_true", help="also print counts by kind")
    try:
        options = parser.parse_args()
    except argparse.ArgumentError as error:
        print(f"hunt: error: {error}", file=sys.stderr)
        return 3
    if options.name == "table":
        return table.write(options.results, options.write)
    needed = [options.tool] if options.name not in ("files", "costs") else []
    only_modules = ("reduction", "ranks", "calls", "files", "costs")
    needed += [options.translate] if options.name not in only_modules else []
    needed += [options.plan_tool] if options.name in ("imports", "files", "costs") else []
    for tool in needed:
        if not shutil.which(tool):
            print(f"hunt: error: no program '{tool}'", file=sys.stderr)
            return 3
    if options.reducer and not shutil.which(options.reducer):
        print(f"hunt: error: no program '{options.reducer}'", file=sys.stderr)
        return 3
    if options.name == "ranks":
        return 1 if rows.hunt(ranks.Hunt(options.tool), options) else 0
    if options.name == "calls":
        return 1 if rows.hunt(calls.Hunt(options.tool), options) else 0
    if options.name == "pickles":
        return 1 if rows.hunt(pickles.Hunt(options.translate, options.family), options) else 0
    if options.name == "files":
        if unusable := files.find_unusable(options.pair):
            print(f"hunt: error: {unusable}", file=sys.stderr)
            return 3
        hunt_files = files.Hunt(options.plan_tool, options.pair, options.family)
        return 1 if rows.hunt(hunt_files, options) else 0
    if options.name == "costs":
        return 1 if rows.hunt(costs.Hunt(options.plan_tool), options) else 0
    if options.name == "imports":
        hunting = imports.Hunt(options.plan_tool, options.translate, tuple(options.model))
        return 1 if rows.hunt(hunting, options) else 0
    if options.name != "reduction":
        arguments = (options.tool, options.translate, options.family, options.mutations)
        return 1 if rows.hunt(escapes.Hunt(options.name, *arguments), options) else 0
    results = new_results(options.name, options.seed)
    if options.resume and options.resume.exists():
        results = json.loads(options.resume.read_text())
    start = time.monotonic()
    before = results["seconds"]
    left = options.count - results["programs"]
    steps = reduction.hunt(options.tool, results["next_seed"], max(left, 0), options.jobs)
    reducer = Reducer(options.reducer, options.tool)
    for outcomes in steps:
        add(results, outcomes, options.findings, reducer)
        results["seconds"] = before + time.monotonic() - start
        if options.resume:
            options.resume.write_text(json.dumps(results, indent=1) + "\n")
        if options.time and time.monotonic() - start > options.time:
            break
    summarize(results, options.by_kind)
    return 1 if results["findings"] else 0


if __name__ == "__main__":
    sys.exit(main())
