# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bugs at random places of a large plan: `python3 -m bench.places`.

Each seed is a bug, and perhaps a layer, a device and a micro-batch to put it in. The
tool has to refute the plan, and its first diagnostic has to name what was changed. The
plan without a bug is verified in turn with it. Prints a line for each, with the time of
the fastest and its ratio to the fastest of the right plan; exit code 0 if all were found,
1 if not.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from statistics import median

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


def verify(options: argparse.Namespace, files: dict[str, Path]) -> tuple[str, int, float]:
    """What the tool says of a plan, its exit code and seconds."""
    # The order of parts that the runtime has: some bugs are none in the other one.
    command = [options.tool, "--reference", str(files["reference"]), str(files["output"])]
    start = time.perf_counter()
    done = run(command, options.limit)
    seconds = time.perf_counter() - start
    return done.stdout + done.stderr, done.returncode, seconds


def name_files(folder: Path) -> dict[str, Path]:
    """What the plan maker calls its files, and where they are."""
    folder.mkdir(exist_ok=True)
    names = {"output": "plan.pkl", "reference": "single.pkl", "describe-bug": "bug.json"}
    return {name: folder / file for name, file in names.items()}


def check(options: argparse.Namespace, seed: int, folder: Path, ratios: list[float]) -> bool:
    """Makes, verifies and judges one plan; `ratios` gets that of its time."""
    right, files = name_files(folder / "right"), name_files(folder / "wrong")
    bug, place = plant(MODELS[options.model], Random(f"place {seed}"), files)
    rights, wrongs = [], []
    try:
        for _ in range(options.repeat):
            _, code, seconds = verify(options, right)
            if code:
                raise MeasurementError(f"exit code {code} for the plan without a bug")
            rights.append(seconds)
            report, code, seconds = verify(options, files)
            wrongs.append(seconds)
    except MeasurementError as error:
        print(f"{seed} {' '.join(place)}: {error}", flush=True)
        return False
    edits = json.loads(files["describe-bug"].read_text("utf-8"))["edits"]
    tie = find_report_tie(report, bug, edits) if code == 1 else None
    answer = {0: "PROVED", 1: "refuted", 2: "unknown"}.get(code, "rejected")
    ratios.append(min(wrongs) / min(rights))
    time_taken = f"{min(wrongs):.2f} s, {ratios[-1]:.2f} of the right plan's"
    print(f"{seed} {' '.join(place)}: {answer} in {time_taken}, named by {tie}", flush=True)
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
    parser.add_argument("--repeat", type=int, default=3, help="runs of each, in turn")
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            return check_all(options, Path(folder))
    except MeasurementError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def check_all(options: argparse.Namespace, folder: Path) -> int:
    """Checks all seeds; the exit code."""
    right = name_files(folder / "right")
    words = ["-o", str(right["output"]), "--reference", str(right["reference"])]
    done = run([sys.executable, "-m", "plan_maker", *MODELS[options.model], *words], 900)
    if done.returncode:
        raise MeasurementError(done.stderr)
    found = 0
    ratios: list[float] = []
    for seed in range(options.seed, options.seed + options.count):
        found += check(options, seed, folder, ratios)
    print(f"{found} of {options.count} found where they are")
    if ratios:
        shown = f"{median(ratios):.2f} at the median, {max(ratios):.2f} at most"
        print(f"ratio to the right plan: {shown}")
    return 0 if found == options.count else 1


if __name__ == "__main__":
    sys.exit(main())
