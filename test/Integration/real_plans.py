# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Verifies real plans and compares the verdicts with those stated for them.

usage: real_plans.py FOLDER UNDECIDED SCRATCH

FOLDER holds `pairs.json`, a list of parallel plan, single-device plan and
expected verdict, and the plans, each compressed with xz. UNDECIDED lists parallel
plans that are not decided yet and so not run. Prints one line for each pair whose
verdict differs, and fails if there is one.
"""

import json
import lzma
import pathlib
import subprocess
import sys

VERDICTS = {0: "proved", 1: "refuted", 2: "unknown", 3: "bad input"}
TIMEOUT_SECONDS = 120


def unpack(folder: pathlib.Path, scratch: pathlib.Path, name: str) -> pathlib.Path:
    """The plan `name`, decompressed into `scratch`."""
    target = scratch / name
    if not target.exists():
        target.write_bytes(lzma.decompress((folder / f"{name}.xz").read_bytes()))
    return target


def verdict(single: pathlib.Path, parallel: pathlib.Path) -> str:
    """What verify-plan says, by its exit code."""
    command = ["verify-plan", "--reference", single, parallel]
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, timeout=TIMEOUT_SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"nothing after {TIMEOUT_SECONDS} s"
    return VERDICTS.get(done.returncode, f"exit code {done.returncode}")


def main() -> int:
    """Verifies all pairs; 1 if a verdict differs."""
    folder, undecided, scratch = map(pathlib.Path, sys.argv[1:])
    left_out = set(undecided.read_text(encoding="utf-8").split())
    scratch.mkdir(parents=True, exist_ok=True)
    failed = 0
    pairs = json.loads((folder / "pairs.json").read_text(encoding="utf-8"))
    pairs = [pair for pair in pairs if pair["parallel"] not in left_out]
    for pair in pairs:
        plans = (unpack(folder, scratch, pair[key]) for key in ("single", "parallel"))
        found = verdict(*plans)
        if found != pair["expect"]:
            print(f"{pair['parallel']}: {found}, expected {pair['expect']}")
            failed += 1
    print(f"{len(pairs) - failed} of {len(pairs)} verdicts as expected")
    print(f"{len(left_out)} plans left out: not decided yet")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
