# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the obligations of real plans, and gives them to another solver.

usage: shared_opinions.py FOLDER PATTERN WORK

For every pair of FOLDER/pairs.json whose parallel plan matches PATTERN. Ends as
second_opinion.py does; at least one obligation must have been proved. A proof
that only the normal form supports is an error, after the steps it rests on.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

from second_opinion import compare
from shared_plans import decompressed


def main() -> int:
    folder, pattern, work = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    pairs = [
        pair
        for pair in json.loads((folder / "pairs.json").read_text())
        if re.search(pattern, pair["parallel"])
    ]
    written, unconfirmed = [], 0
    for pair in pairs:
        plan = decompressed(folder, pair["parallel"], work)
        reference = decompressed(folder, pair["single"], work)
        written.append(work / f"{pair['parallel']}.obligations")
        run = subprocess.run(
            ["verify-plan", f"--emit-smtlib={written[-1]}", "--reference", reference, plan],
            capture_output=True,
            text=True,
            check=False,
        )
        plan.unlink()
        steps = [line for line in run.stderr.split("\n") if "by normalization only" in line]
        unconfirmed += len(steps)
        print("\n".join(steps), end="\n" if steps else "")
    print(f"{len(pairs)} pairs, {unconfirmed} steps that Z3 does not confirm")
    status = compare("cvc5", 2000, written, enough_proved=1, enough_wrong=0)
    return status or (1 if unconfirmed else 0)


if __name__ == "__main__":
    sys.exit(main())
