# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Damages a plan or its reference in many ways and runs verify-plan on the pair.

usage: damaged_plans.py [--truncations N] [--flips N] [--seed N] REFERENCE PLAN WORK

The pair has to be one that is proved. Whatever the damage, verify-plan ends with
exit code 0 to 3 within its limits of time and memory and without a report of a
sanitizer; exit code 3 comes with a message that names a file or an op; and
exit code 0 only where what is executed is what it was. Prints how often each exit
code came out and the largest time and memory. Files that did not behave stay in
WORK.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from plan_differences import find_differences

SANITIZER = re.compile(r"(Address|Leak|Thread|UndefinedBehavior)Sanitizer|runtime error:")
PLACE = re.compile(r"\.pkl|\.py:\d|\(cell \d|'tv\.")
"""What a message of exit code 3 has in its first line: a file or an op."""


@dataclass
class Limits:
    """What one run may use."""

    seconds: int
    mebibytes: int
    is_address_space_limited: bool


@dataclass
class Run:
    """How one run of verify-plan ended."""

    code: int
    seconds: float
    mebibytes: int
    errors: str


@dataclass
class Tally:
    """What came out of all runs."""

    codes: Counter[int] = field(default_factory=Counter)
    seconds: float = 0
    mebibytes: int = 0
    failures: int = 0


def run(reference: Path, plan: Path, report: Path, limits: Limits, *options: str) -> Run:
    """Runs verify-plan; a limit that is exceeded ends it by a signal."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (limits.seconds, limits.seconds))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if limits.is_address_space_limited:
            size = limits.mebibytes << 20
            resource.setrlimit(resource.RLIMIT_AS, (size, size))

    start = time.monotonic()
    with report.open("w") as errors:
        child = subprocess.Popen(
            ["verify-plan", *options, "--reference", reference, plan],
            stdout=subprocess.DEVNULL,
            stderr=errors,
            preexec_fn=limit,  # noqa: PLW1509
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - start
    text = report.read_text(errors="replace")
    return Run(child.returncode, seconds, usage.ru_maxrss // 1024, text)


def damage(data: bytes, numbers: random.Random, is_cut: bool) -> bytes:
    """Cuts the file short, or changes a byte, now and then several."""
    if is_cut:
        return data[: numbers.randrange(len(data))]
    damaged = bytearray(data)
    for _ in range(numbers.randint(2, 8) if numbers.randrange(8) == 0 else 1):
        position = numbers.randrange(len(data))
        damaged[position] ^= numbers.randint(1, 255)
    return bytes(damaged)


def find_fault(ended: Run, limits: Limits) -> str:
    """What a run did that it must not do, or nothing."""
    if ended.code < 0:
        return f"ended by signal {-ended.code}"
    if ended.code > 3:
        return f"exit code {ended.code}"
    if SANITIZER.search(ended.errors):
        return "a sanitizer reports"
    if ended.mebibytes > limits.mebibytes:
        return f"{ended.mebibytes} MiB"
    first = ended.errors.partition("\n")[0]
    if ended.code == 3 and not PLACE.search(first):
        return "a message without a place"
    return ""


def check(original: bytes, damaged: bytes, ended: Run, limits: Limits, tally: Tally) -> str:
    """Counts a run; what is wrong with it, or nothing."""
    tally.codes[ended.code] += 1
    tally.seconds = max(tally.seconds, ended.seconds)
    tally.mebibytes = max(tally.mebibytes, ended.mebibytes)
    fault = find_fault(ended, limits)
    if fault or ended.code != 0:
        return fault
    differences = find_differences(original, damaged)
    return "proved with " + "; ".join(differences[:4]) if differences else ""


def find_allowance() -> int:
    """What the time and the memory of verify-plan may be multiplied by: a sanitizer's part."""
    program = shutil.which("verify-plan")
    content = Path(program).read_bytes() if program else b""
    return 8 if b"__asan_init" in content or b"__tsan_init" in content else 1


def limit_runs(seconds: int, mebibytes: int) -> Limits:
    """Limits for verify-plan; sanitizers reserve terabytes of addresses."""
    allowance = find_allowance()
    return Limits(allowance * seconds, allowance * mebibytes, allowance == 1)


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("reference", type=Path)
    parser.add_argument("plan", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--truncations", type=int, default=1000)
    parser.add_argument("--flips", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=int, default=60, help="limit for one run")
    parser.add_argument("--mebibytes", type=int, default=2048, help="limit for one run")
    return parser.parse_args()


def main() -> int:
    """Exit code 1 if any run did what it must not do."""
    options = parse_arguments()
    limits = limit_runs(options.seconds, options.mebibytes)
    options.work.mkdir(parents=True, exist_ok=True)
    report = options.work / "report"
    if run(options.reference, options.plan, report, limits).code != 0:
        print(f"the pair is not proved:\n{report.read_text()}")
        return 1
    files = (options.reference, options.plan)
    contents = [path.read_bytes() for path in files]
    numbers = random.Random(options.seed)
    tally = Tally()
    for case in range(options.truncations + options.flips):
        which = numbers.randrange(2)
        damaged = damage(contents[which], numbers, case < options.truncations)
        pair = list(files)
        pair[which] = options.work / f"damaged{case}.pkl"
        pair[which].write_bytes(damaged)
        ended = run(pair[0], pair[1], report, limits)
        fault = check(contents[which], damaged, ended, limits, tally)
        if fault:
            tally.failures += 1
            role = "--reference " if which == 0 else ""
            print(f"{role}{pair[which]}: {fault}\n{ended.errors[:2000]}", flush=True)
        else:
            pair[which].unlink()
    codes = ", ".join(f"{count} exit code {code}" for code, count in sorted(tally.codes.items()))
    print(f"{codes}; at most {tally.seconds:.2f} s and {tally.mebibytes} MiB")
    print(f"{tally.failures} of {options.truncations + options.flips} runs failed")
    return 1 if tally.failures else 0


if __name__ == "__main__":
    sys.exit(main())
