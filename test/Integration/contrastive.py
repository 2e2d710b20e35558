# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a data-parallel plan that compares all samples of a replica, and its reference.

usage: contrastive.py PLAN REFERENCE exp | softmax

Each sample is compared with itself alone: of the products of all of them the diagonal is
kept. With a softmax of each row before that, how many samples a replica has matters.
"""

from __future__ import annotations

import sys
from pathlib import Path

from plan_maker.emit import write_plan
from plan_maker.graph import FullTensor
from plan_maker.strategy.assemble import assemble
from plan_maker.strategy.configuration import Parallelism
from plan_maker.strategy.pipeline import stage_calls
from plan_maker.strategy.stage import Seeds
from plan_maker.trace import KeywordValue, Kind, Site, Trace, Tracer

WIDTH, SAMPLES = 4, 8


def trace(samples: int, function: str) -> Trace:
    """The model on so many samples."""
    tracer = Tracer()
    loader = tracer.source()
    data = tracer.tensor("data", (samples, WIDTH))

    def call(rule: str, signature: str, *operands: FullTensor, **given: KeywordValue) -> FullTensor:
        name = signature.rsplit(".", maxsplit=1)[-1]
        line = 11 + len(tracer.calls)
        site = Site(f'File "contrastive.py", line {line}, in forward,  x = {name}(x)', (), 0)
        kind = Kind(name, signature, (rule,))
        [result] = tracer.call(kind, operands, tuple(given.items()), site, is_loss=name == "sum")
        return result

    one, other = (
        call(
            "a k+, n k+ -> a n",
            "torch.nn.functional.linear",
            data,
            tracer.parameter(f"{name}.weight", (WIDTH, WIDTH)),
            bias=None,
        )
        for name in ("one", "other")
    )
    other = call("a b -> b a", "torch.transpose", other, dim0=0, dim1=1)
    x = call("a k+, k+ b -> a b", "torch.matmul", one, other)
    of_rows: dict[str, KeywordValue] = {"dim": 1} if function == "softmax" else {}
    x = call("a b^ -> a b^", f"torch.{function}", x, **of_rows)
    for name in ("tril", "triu"):
        x = call("a^ b^ -> a^ b^", f"torch.{name}", x, diagonal=0)
    loss = call("a+ b+ -> 1", "torch.sum", x)
    return Trace(tuple(tracer.calls), loader, (data,), loss, tracer.next_identifier)


def main() -> None:
    """Writes both files."""
    for path, parallelism in zip(sys.argv[1:3], (Parallelism(data=2), Parallelism()), strict=True):
        traced = trace(parallelism.local_batch(SAMPLES), sys.argv[3])
        parts = stage_calls(traced, parallelism.layers_of_stages(1))
        write_plan(assemble(traced, parts, lambda _: Seeds({}), parallelism), Path(path))


if __name__ == "__main__":
    main()
