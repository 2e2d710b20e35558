# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a plan of a GPT that multiplies what goes into each attention by some numbers.

usage: scaled_attention.py PLAN REFERENCE NUMBER...

The reference does not. The sizes are such that attention is too large to be multiplied
out.
"""

import sys
from pathlib import Path
from typing import Any

from plan_maker.command_line import make_plan, make_reference, read_options
from plan_maker.emit import write_plan
from plan_maker.strategy import gpt_trace
from plan_maker.strategy.model_tracer import Module

OPTIONS = "gpt --tp 2 --hidden 64 --heads 4 --ffn 32 --vocab 32 --sequence 16 --batch 2 --layers 1"
CODE = "attn = self_attention(x, *weights, self.heads, self.scale, self.dropout_p)"
tracer: Any = gpt_trace._GptTracer  # noqa: SLF001
attention = tracer._attention  # noqa: SLF001


def main() -> None:
    """Writes both files."""
    plan, reference = map(Path, sys.argv[1:3])
    options = read_options([*OPTIONS.split(), "-o", str(plan), "--reference", str(reference)])
    write_plan(make_reference(options), reference)
    multiply = gpt_trace.Kind("mul", "torch.mul", ("*, ? -> *",))

    def scaled(self: Any, path: str, x: Any) -> Any:
        module = Module(path, f"{gpt_trace.BLOCKS}.attention", "MultiHeadSelfAttention")
        for number in sys.argv[3:]:
            x = self.inside(module).call(multiply, (x, float(number)), CODE)
        return attention(self, path, x)

    tracer._attention = scaled  # noqa: SLF001
    write_plan(make_plan(options), plan)


if __name__ == "__main__":
    main()
