# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks pairs of real plans against what is known about them.

usage: shared_plans.py FOLDER PATTERN WORK [ORDER]

For every pair of FOLDER/pairs.json whose parallel plan matches PATTERN, runs
verify-plan with parts in ORDER (rank or index-map) and prints a line of a table.
Exit code 1 if an exit code is not the expected one, if a run takes more than
1 GiB (more with a sanitizer), if a plan that is right only as declared is
refuted without saying so, or if nothing matches.
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

from damaged_plans import find_allowance

EXIT_CODES = {"proved": 0, "refuted": 1}
COUNTS = (r"(\d+) ops imported", r"(\d+) stages", r"(\d+) distinct", r"(\d+) obligations by")
MEMORY_LIMIT = 1 << 20  # KiB
DECLARED_ORDER = "the order that the plan declares, the same plan is proved"
HEADER = ("code", "ops", "stages", "distinct", "obligations", "seconds", "MiB")


def decompressed(folder: Path, name: str, work: Path) -> Path:
    """The plan `name` of `folder`, without its compression, in `work`."""
    path = work / name
    if not path.exists():
        with lzma.open(folder / f"{name}.xz") as packed, path.open("wb") as plain:
            shutil.copyfileobj(packed, plain)
    return path


def check(pair: dict[str, str], folder: Path, work: Path, order: str) -> bool:
    """Prints a line about the pair; did it end as expected?"""
    expected = pair["expect"]
    is_declared_right = pair.get("expect_index_map", expected) != expected
    if order == "index-map":
        expected = pair.get("expect_index_map", expected)
    plan = decompressed(folder, pair["parallel"], work)
    reference = decompressed(folder, pair["single"], work)
    report_path = work / "report"
    start = time.monotonic()
    options = [f"--nnscaler-part-order={order}", "--check-declared-order"]
    with report_path.open("w") as report:
        child = subprocess.Popen(
            ["verify-plan", *options, "--reference", reference, plan],
            stdout=report,
            stderr=report,
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - start
    text = report_path.read_text()
    found = [re.search(pattern, text) for pattern in COUNTS]
    counts = [match.group(1) if match else "-" for match in found]
    cells = [child.returncode, *counts, f"{seconds:.1f}", usage.ru_maxrss // 1024]
    print(*(f"{cell:>11}" for cell in cells), pair["parallel"], flush=True)
    is_explained = order == "index-map" or not is_declared_right or DECLARED_ORDER in text
    if (
        child.returncode == EXIT_CODES[expected]
        and usage.ru_maxrss <= MEMORY_LIMIT * find_allowance()
        and is_explained
    ):
        return True
    print(f"expected: {expected}\n{text}")
    return False


def main() -> int:
    folder, pattern, work = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    order = sys.argv[4] if len(sys.argv) > 4 else "rank"
    pairs = [
        pair
        for pair in json.loads((folder / "pairs.json").read_text())
        if re.search(pattern, pair["parallel"])
    ]
    print(*(f"{title:>11}" for title in HEADER), "pair")
    as_expected = [check(pair, folder, work, order) for pair in pairs]
    print(f"{sum(as_expected)} of {len(pairs)} pairs as expected")
    return 0 if pairs and all(as_expected) else 1


if __name__ == "__main__":
    sys.exit(main())
