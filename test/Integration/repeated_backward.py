# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a plan in which a device runs one backward a second time, and its reference.

usage: repeated_backward.py MICRO_BATCH OUTPUT REFERENCE
"""

import sys
from dataclasses import replace
from pathlib import Path

from plan_maker.emit import write_plan
from plan_maker.graph import Segment, base_cell
from plan_maker.strategy.configuration import LlamaSizes, Parallelism
from plan_maker.strategy.llama import make_llama


def main() -> None:
    """Writes both plans."""
    number, output, reference = sys.argv[1:]
    sizes = LlamaSizes(2, 8, 4, 2, 4, 4, 8)
    plan = make_llama(sizes, Parallelism(pipeline=2, micro_batches=4))
    first, *rest = plan.programs
    backward = [
        place
        for place, cell in enumerate(first.cells)
        if isinstance(base_cell(cell), Segment) and not base_cell(cell).is_forward
    ]
    place = backward[int(number)]
    cells = (*first.cells[: place + 1], *first.cells[place:])
    write_plan(replace(plan, programs=(replace(first, cells=cells), *rest)), Path(output))
    write_plan(make_llama(sizes, Parallelism()), Path(reference))


if __name__ == "__main__":
    main()
