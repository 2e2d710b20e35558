# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks pairs of real plans against what is known about them.

usage: shared_plans.py FOLDER PATTERN WORK

For every pair of FOLDER/pairs.json whose parallel plan matches PATTERN, runs
verify-plan and prints a line of a table. Exit code 1 if an exit code is not the
expected one, or if nothing matches.
"""

import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

EXIT_CODES = {"proved": 0, "refuted": 1}
COUNTS = (r"(\d+) ops imported", r"(\d+) stages", r"(\d+) distinct", r"(\d+) obligations by Z3")
HEADER = ("code", "ops", "stages", "distinct", "obligations", "seconds", "MiB")


def decompressed(folder: Path, name: str, work: Path) -> Path:
    """The plan `name` of `folder`, without its compression, in `work`."""
    path = work / name
    if not path.exists():
        with lzma.open(folder / f"{name}.xz") as packed, path.open("wb") as plain:
            shutil.copyfileobj(packed, plain)
    return path


def check(pair: dict[str, str], folder: Path, work: Path) -> bool:
    """Prints a line about the pair; is its exit code the expected one?"""
    plan = decompressed(folder, pair["parallel"], work)
    reference = decompressed(folder, pair["single"], work)
    report_path = work / "report"
    start = time.monotonic()
    with report_path.open("w") as report:
        child = subprocess.Popen(
            ["verify-plan", "--reference", reference, plan], stdout=report, stderr=report
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - start
    text = report_path.read_text()
    found = [re.search(pattern, text) for pattern in COUNTS]
    counts = [match.group(1) if match else "-" for match in found]
    cells = [child.returncode, *counts, f"{seconds:.1f}", usage.ru_maxrss // 1024]
    print(*(f"{cell:>11}" for cell in cells), pair["parallel"], flush=True)
    if child.returncode == EXIT_CODES[pair["expect"]]:
        return True
    print(f"expected: {pair['expect']}\n{text}")
    return False


def main() -> int:
    folder, pattern, work = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    pairs = [
        pair
        for pair in json.loads((folder / "pairs.json").read_text())
        if re.search(pattern, pair["parallel"])
    ]
    print(*(f"{title:>11}" for title in HEADER), "pair")
    as_expected = [check(pair, folder, work) for pair in pairs]
    print(f"{sum(as_expected)} of {len(pairs)} pairs as expected")
    return 0 if pairs and all(as_expected) else 1


if __name__ == "__main__":
    sys.exit(main())
