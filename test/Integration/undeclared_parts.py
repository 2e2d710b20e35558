# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gives the last adapter of which parts are gathered another number than that of its group.

Which part its device has there is not said then.

usage: undeclared_parts.py PLAN
"""

import sys
from pathlib import Path

from hostile_plans import cells, convert
from plan_maker.pickle_writer import PickleWriter
from tests.reading import class_name, read_plan


def main() -> None:
    """Rewrites the plan."""
    path = Path(sys.argv[1])
    root = read_plan(path.read_bytes())
    gathers = [
        adapter
        for adapter in cells(root, "IRAdapter")
        if any(class_name(primitive) == "AllGatherPrim" for primitive in adapter._prims)
    ]
    gathers[-1]._id += 10**6
    with path.open("wb") as stream:
        PickleWriter(stream).write(convert(root))


if __name__ == "__main__":
    main()
