# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls the tensors of a plan by other numbers.

usage: renumber_tensors.py PLAN FACTOR OFFSET [FIRST]

From number FIRST on: factors above 0 keep the order that they have, and -1 with an offset
turns it round.
"""

import sys
from pathlib import Path

from hostile_plans import convert
from plan_maker.pickle_writer import PickleWriter
from plan_objects import objects
from tests.reading import class_name, read_plan


def main() -> None:
    """Rewrites the plan."""
    path, factor, offset = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    start = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    root = read_plan(path.read_bytes())
    for value in objects(root):
        if class_name(value) == "IRFullTensor" and value._id >= start:
            value._id = factor * value._id + offset
    with path.open("wb") as stream:
        PickleWriter(stream).write(convert(root))


if __name__ == "__main__":
    main()
