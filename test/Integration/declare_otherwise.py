# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Has two ranks of the last stage declare to keep each other's part of the gradient that they send.

usage: declare_otherwise.py PLAN
"""

import sys
from pathlib import Path

from hostile_plans import convert
from plan_maker.pickle_writer import PickleWriter
from tests.reading import class_name, executed, read_plan


def main() -> None:
    """Rewrites the plan."""
    path = Path(sys.argv[1])
    root = read_plan(path.read_bytes())
    sequences = root.execplan._seq
    kept = []
    for device in sorted(sequences)[-2:]:
        adapters = [
            cell for cell in map(executed, sequences[device]) if class_name(cell) == "IRAdapter"
        ]
        chunks = [
            call for each in adapters for call in each._prims if class_name(call) == "ChunkPrim"
        ]
        kept.append(chunks[0]._outputs[0])
    first, second = kept
    first._indmap, second._indmap = second._indmap, first._indmap
    with path.open("wb") as stream:
        PickleWriter(stream).write(convert(root))


if __name__ == "__main__":
    main()
