# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs step_maker with arguments that it refuses, and the last ones that it takes.

Prints for each the arguments, the exit code, and the last line of the errors.
"""

import subprocess
import sys

LINES = (
    "train --tp 3",
    "cross-entropy --tp 4 --vocabulary 5",
    "ring-attention --cp 5",
    "all-to-all-attention --heads 3",
    "experts --ep 3",
    "train --bug norm-over-replicas",
    "train --dp 1 --bug averaged-again",
    "train --bug nothing",
    "train --clip 0",
    "train --dp -1",
    "train --zero 4",
    "nothing",
    "",
    "train",
)

for line in LINES:
    command = [sys.executable, "-m", "step_maker", *line.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and done.stdout:
        print("something was printed")
    print(f"{line}: {done.returncode}: {(done.stderr.splitlines() or [''])[-1]}")
