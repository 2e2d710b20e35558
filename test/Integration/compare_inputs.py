# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares a file of tensors as JSON with one of NumPy, and prints what they hold.

usage: compare_inputs.py JSON NPZ
"""

import json
import sys
from pathlib import Path

import numpy as np


def main() -> int:
    """Returns the exit code: 1 if something differs."""
    listed = json.loads(Path(sys.argv[1]).read_text())
    arrays = np.load(sys.argv[2])
    differing = set(listed) ^ set(arrays)
    for name in sorted(arrays):
        array = arrays[name]
        print(name, array.dtype, array.shape)
        if not np.array_equal(np.array(listed.get(name)), array):
            differing.add(name)
    print(f"{len(arrays)} tensors, {len(differing)} differ")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
