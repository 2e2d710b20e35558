# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a plan of a GPT whose tensors have other numbers than those of its reference, and
in which the first dropout is the average of two.

usage: two_draws.py PLAN REFERENCE

The second one has the number that the first one has in the reference, and a line at which
that has none.
"""

import sys
from pathlib import Path
from typing import Any

from plan_maker.command_line import make_plan, make_reference, read_options
from plan_maker.emit import write_plan
from plan_maker.strategy import gpt_trace
from plan_maker.trace import Tracer

OPTIONS = "gpt --layers 1 --hidden 8 --heads 2 --ffn 8 --vocab 8 --sequence 4 --batch 2"
FIRST = 1001
tracer: Any = gpt_trace._GptTracer  # noqa: SLF001
drop, take = tracer._drop, Tracer._take_identifier  # noqa: SLF001


def main() -> None:
    """Writes both files."""
    plan, reference = map(Path, sys.argv[1:])
    options = read_options([*OPTIONS.split(), "-o", str(plan), "--reference", str(reference)])
    numbers: list[int] = []

    def noted(self: Any, *arguments: Any) -> Any:
        result = drop(self, *arguments)
        numbers.append(result.identifier)
        return result

    tracer._drop = noted  # noqa: SLF001
    write_plan(make_reference(options), reference)
    forced: list[int] = []

    def other(self: Any) -> int:
        return forced.pop() if forced else take(self) + FIRST

    def twice(self: Any, path: str, x: Any, rate: float, code: str) -> Any:
        one = drop(self, path, x, rate, code)
        if path != "embed_dropout":
            return one
        forced.append(numbers[0])
        two = drop(self, path, x, rate, "enc = embed.transpose(0, 1)")
        both = self.call(gpt_trace.ADD, (one, two), code, (("alpha", 1),))
        half = gpt_trace.Kind("mul", "torch.mul", ("*, ? -> *",))
        return self.call(half, (both, 0.5), code)

    tracer._drop = twice  # noqa: SLF001
    vars_of_tracer: Any = Tracer
    vars_of_tracer._take_identifier = other  # noqa: SLF001
    write_plan(make_plan(options), plan)


if __name__ == "__main__":
    main()
