# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bugs at random places of a large plan: `python3 -m bench.places`.

Each seed is a bug, and perhaps a layer, a device and a micro-batch to put it in. The
tool has to refute the plan, and its first diagnostic has to name what was changed.
Prints a line for each; exit code 0 if all were found, 1 if not.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from bench.ladders import MODELS
from bench.measure import MeasurementError, run
from plan_maker.bugs import BUGS, OPERATIONS
from plan_maker.bugs.diagnostics import find_report_tie, first_diagnostic

WRONG_USAGE = 3
TRIES = 20


def get_number(words: list[str], name: str) -> int:
    """An option of the plan maker, one word with its value."""
    found = next(word for word in words if word.startswith(f"{name}="))
    return int(found.partition("=")[2])


def draw(words: list[str], random: Random) -> tuple[str, list[str]]:
    """A bug and where to put it, which may be a place that there is not."""
    bug = random.choice(BUGS)
    devices = get_number(words, "--pp") * get_number(words, "--tp")
    values = {
        "layer": random.randrange(get_number(words, "--layers")),
        "device": random.randrange(devices),
        "micro_batch": random.randrange(get_number(words, "--micro-batches")),
        "operation": random.choice(OPERATIONS),
    }
    options = ["--bug", bug.name]
    for choice, value in values.items():
        # A layer and a device rarely go together.
        is_wanted = random.random() < (0.8 if choice == "layer" else 0.25)
        if choice in bug.choices and is_wanted:
            options += [f"--bug-{choice.replace('_', '-')}", str(value)]
    return bug.name, options


def plant(words: list[str], random: Random, files: dict[str, Path]) -> tuple[str, list[str]]:
    """Writes a plan with a bug; its name and the options."""
    for _ in range(TRIES):
        bug, options = draw(words, random)
        names = [word for name, path in files.items() for word in (f"--{name}", str(path))]
        done = run([sys.executable, "-m", "plan_maker", *words, *options, *names], 900)
        if done.returncode == 0:
            return bug, options
        if done.returncode != WRONG_USAGE:
            raise MeasurementError(done.stderr)
    raise MeasurementError("no place for a bug")


def check(options: argparse.Namespace, seed: int, folder: Path) -> bool:
    """Makes, verifies and judges one plan."""
    names = {"output": "plan.pkl", "reference": "single.pkl", "describe-bug": "bug.json"}
    files = {name: folder / file for name, file in names.items()}
    bug, place = plant(MODELS[options.model], Random(f"place {seed}"), files)
    # The order of parts that the runtime has: some bugs are none in the other one.
    command = [options.tool, "--reference", str(files["reference"]), str(files["output"])]
    start = time.perf_counter()
    try:
        done = run(command, options.limit)
    except MeasurementError as error:
        print(f"{seed} {' '.join(place)}: {error}", flush=True)
        return False
    seconds = time.perf_counter() - start
    report = done.stdout + done.stderr
    edits = json.loads(files["describe-bug"].read_text("utf-8"))["edits"]
    tie = find_report_tie(report, bug, edits) if done.returncode == 1 else None
    answer = {0: "PROVED", 1: "refuted", 2: "unknown"}.get(done.returncode, "rejected")
    print(f"{seed} {' '.join(place)}: {answer} in {seconds:.1f} s, named by {tie}", flush=True)
    if tie is None:
        print(f"  {first_diagnostic(report)}", flush=True)
    return tie is not None


def main() -> int:
    """Checks all seeds."""
    parser = argparse.ArgumentParser(prog="bench.places", description=__doc__)
    parser.add_argument("--model", choices=MODELS, default="llama-3-405b")
    parser.add_argument("--seed", type=int, default=0, help="the first of the seeds")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--limit", type=float, default=900, help="seconds for one process")
    parser.add_argument("--tool", default="verify-plan", help="what is measured")
    options = parser.parse_args()
    found = 0
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        for seed in range(options.seed, options.seed + options.count):
            found += check(options, seed, Path(folder))
    print(f"{found} of {options.count} found where they are")
    return 0 if found == options.count else 1


if __name__ == "__main__":
    sys.exit(main())
