# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a plan of the plan maker with a random mistake, and prints what it is:
`python3 -m hunt.mutated_plan SEED llama --tp 2 -o plan.pkl --reference single.pkl`.

The mistakes are those of `imports`; what comes after the seed is what the plan maker takes,
without a bug. Exit code 3 if there is no such plan, or for wrong usage.
"""

import sys
from random import Random

from hunt.cell_mutations import mutate
from plan_maker.command_line import make_plan, make_reference, read_options
from plan_maker.emit import write_plan
from plan_maker.errors import ImpossiblePlanError

# Some mutations follow the objects of a plan by recursion.
DEPTH = 100_000


def main() -> int:
    """Runs the command."""
    if len(sys.argv) < 3 or not sys.argv[1].isdecimal():
        print(f"usage: mutated_plan SEED MODEL [OPTION...]\n{__doc__}", file=sys.stderr)
        return 3
    seed, words = int(sys.argv[1]), sys.argv[2:]
    sys.setrecursionlimit(DEPTH)
    try:
        options = read_options(words)
        plan, kind = mutate(make_plan(options), Random(f"mutated {seed}"))
        write_plan(plan, options.output)
        write_plan(make_reference(options), options.reference)
    except (ImpossiblePlanError, KeyError, RecursionError, TypeError, ValueError) as error:
        # What a mutation leaves need not be a file.
        print(f"no plan: {type(error).__name__}: {error}", file=sys.stderr)
        return 3
    print(kind)
    return 0


if __name__ == "__main__":
    sys.exit(main())
