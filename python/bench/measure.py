# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes plans, verifies them and reads them with CPython, each in a process of its own."""

import itertools
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.ladders import Ladder

Row = dict[str, Any]
TOLERANCE = 1.005


class MeasurementError(Exception):
    """A run did not end as it should; the message says how."""


# Of the tool; others are those of crashes.
LAST_EXIT_CODE = 3


class TimeLimitError(MeasurementError):
    """A run did not end in time."""


def run(command: list[str], limit: float) -> subprocess.CompletedProcess[str]:
    """Runs a command and takes what it prints."""
    package = str(Path(__file__).parent.parent)
    try:
        return subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=limit,
            errors="replace",
            env=os.environ | {"PYTHONPATH": package},
        )
    except subprocess.TimeoutExpired:
        raise TimeLimitError(f"no end after {limit:.0f} s") from None
    except OSError as error:
        raise MeasurementError(f"{command[0]}: {error.strerror}") from None


def verify(tool: str, plan: Path, reference: Path, options: list[str], limit: float) -> Row:
    """The statistics of a verification, its errors and seconds; fails unless it has a
    verdict.
    """
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [tool, f"--statistics={file.name}", *options]
        start = time.perf_counter()
        done = run([*command, "--reference", str(reference), str(plan)], limit)
        seconds = time.perf_counter() - start
        text = Path(file.name).read_text()
    errors = [line for line in done.stderr.splitlines() if "error: " in line]
    if not 0 <= done.returncode <= LAST_EXIT_CODE:
        raise MeasurementError(f"exit code {done.returncode}")
    if not text:
        raise MeasurementError((errors or done.stderr.splitlines() or ["no statistics"])[0])
    row: Row = json.loads(text)
    return row | {"total_seconds": seconds, "errors": errors}


def unpickle(files: list[Path], limit: float) -> Row:
    """Seconds and memory that CPython takes for files."""
    words = [sys.executable, "-m", "bench.unpickle", *map(str, files)]
    done = run(words, limit)
    if done.returncode:
        raise MeasurementError((done.stderr.splitlines() or ["no output"])[-1])
    row: Row = json.loads(done.stdout)
    return row


def make(
    words: list[str], folder: Path, limit: float, maker: Sequence[str] = ("plan_maker",)
) -> tuple[Path, Path, float]:
    """A plan and its reference from the plan maker, and the seconds that took. `maker` is
    the module that makes them and what it takes first.
    """
    plan, reference = folder / "plan.pkl", folder / "single.pkl"
    files = ["-o", str(plan), "--reference", str(reference)]
    start = time.perf_counter()
    done = run([sys.executable, "-m", *maker, *words, *files], limit)
    if done.returncode:
        raise MeasurementError((done.stderr.splitlines() or ["no plan"])[-1])
    return plan, reference, time.perf_counter() - start


def measure(
    tool: str, files: tuple[Path, Path], options: list[str], repeat: int, limit: float
) -> Row:
    """A plan and its reference, verified and unpickled in turn; the fastest of each."""
    plan, reference = files
    verified, read = [], []
    for _ in range(repeat):
        verified.append(verify(tool, plan, reference, options, limit))
        read.append(unpickle([reference, plan], limit))
    row = min(verified, key=lambda one: one["total_seconds"])
    fastest = min(read, key=lambda one: one["seconds"])
    row["file_bytes"] = plan.stat().st_size + reference.stat().st_size
    row["unpickle"] = fastest
    row["time_ratio"] = row["total_seconds"] / fastest["seconds"]
    row["memory_ratio"] = row["peak_memory_bytes"] / fastest["peak_memory_bytes"]
    return row


def get_exponent(sizes: list[int], values: list[float]) -> float | None:
    """The slope of the straight line through the logarithms, by least squares; none of
    fewer than two points, or where something is not positive.
    """
    if len(sizes) < 2 or min(values) <= 0:
        return None
    x = [math.log(size) for size in sizes]
    y = [math.log(value) for value in values]
    middle_x, middle_y = sum(x) / len(x), sum(y) / len(y)
    above = sum((a - middle_x) * (b - middle_y) for a, b in zip(x, y, strict=True))
    return above / sum((a - middle_x) ** 2 for a in x)


def get_numbers(row: Row) -> dict[str, float]:
    """What grows: times, memory, the size of the files and counts."""
    numbers: dict[str, float] = {"total": row["total_seconds"]}
    numbers |= row["seconds"]
    numbers["memory"] = row["peak_memory_bytes"]
    numbers["files"] = row["file_bytes"]
    numbers |= row["statistics"]
    return numbers


def find_growth(ladder: Ladder, rows: list[Row]) -> list[str]:
    """Counts that grow more than the ladder allows: constant ones that change, bounded ones
    that grow, and others of which a further unit of size costs more than ever before.
    """
    found = []
    rows = [row for row in rows if row["size"] >= ladder.since]
    for name in rows[-1]["statistics"] if rows else ():
        counts = [(row["size"], row["statistics"].get(name, 0)) for row in rows]
        text = f"{name}: {', '.join(f'{count} at {size}' for size, count in counts)}"
        if ladder.is_constant or name in ladder.constant:
            if len({count for _, count in counts}) > 1:
                found.append(text)
            continue
        if name in ladder.bounded:
            if any(after[1] > before[1] for before, after in itertools.pairwise(counts)):
                found.append(text)
            continue
        slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in itertools.pairwise(counts)]
        steepest = itertools.accumulate([max(slope, 0) for slope in slopes], max)
        pairs = zip(steepest, slopes[1:], strict=False)
        if any(after > TOLERANCE * before for before, after in pairs):
            found.append(text)
    return found


def get_exponents(rows: list[Row]) -> dict[str, float | None]:
    """The exponent of everything that the rows of a ladder have."""
    sizes = [row["size"] for row in rows]
    numbers = [get_numbers(row) for row in rows]
    names = [name for name in numbers[0] if all(name in one for one in numbers)]
    return {name: get_exponent(sizes, [one[name] for one in numbers]) for name in names}
