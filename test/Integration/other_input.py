# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a plan in which one execution of a segment takes a tensor of another shape than the
segment does, and its reference.

usage: other_input.py OUTPUT REFERENCE
"""

import sys
from dataclasses import replace
from pathlib import Path

from plan_maker.emit import write_plan
from plan_maker.graph import DeviceProgram, Plan, ReuseCell, SubTensor
from plan_maker.strategy.configuration import LlamaSizes, Parallelism
from plan_maker.strategy.llama import make_llama


def with_other_input(program: DeviceProgram) -> DeviceProgram:
    """The program whose last fitting execution takes the first tensor of another shape."""
    for place in reversed(range(len(program.cells))):
        cell = program.cells[place]
        if not isinstance(cell, ReuseCell):
            continue
        before = [one for earlier in program.cells[:place] for one in earlier.outputs]
        for number, taken in enumerate(cell.inputs):
            if not isinstance(taken, SubTensor) or taken not in before:
                continue
            others = [one for one in before if one.shape != taken.shape]
            if others:
                inputs = (*cell.inputs[:number], others[0], *cell.inputs[number + 1 :])
                changed = replace(cell, inputs=inputs)
                cells = (*program.cells[:place], changed, *program.cells[place + 1 :])
                return replace(program, cells=cells)
    raise AssertionError("no execution to change")


def main() -> None:
    """Writes both plans."""
    output, reference = sys.argv[1:]
    sizes = LlamaSizes(2, 8, 4, 2, 4, 4, 2)
    plan: Plan = make_llama(sizes, Parallelism(pipeline=2, micro_batches=2))
    first, *rest = plan.programs
    write_plan(replace(plan, programs=(with_other_input(first), *rest)), Path(output))
    write_plan(make_llama(sizes, Parallelism()), Path(reference))


if __name__ == "__main__":
    main()
