# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a plan of a model that predicts noise, and its reference.

usage: noise.py PLAN REFERENCE [BUG]

The noise is drawn like the data. Two replicas of two ranks divide samples, and the inner
elements of the model; both ranks draw the noise of a sample.
"""

from __future__ import annotations

import sys
from pathlib import Path

from labels import NETWORK, SAMPLES, Model, leave_whole, split
from plan_maker.bugs import Place, apply_bug
from plan_maker.emit import write_plan
from plan_maker.strategy.assemble import assemble
from plan_maker.strategy.configuration import Parallelism
from plan_maker.strategy.pipeline import stage_calls
from plan_maker.trace import Kind, Site, Trace

WIDTH = 8


def trace(samples: int) -> Trace:
    """The model on so many samples."""
    model = Model()
    data = model.tracer.tensor("data", (samples, WIDTH), has_gradient=False)
    draw = "torch.randn_like"
    noise = model.call("a b -> a b", draw, data, of_data=True, requires_grad=False)
    x = model.call("a b, ? -> a b", "torch.mul", data, 0.75, of_data=True)
    y = model.call("a b, ? -> a b", "torch.mul", noise, 0.5, of_data=True)
    x = model.call("a b, a b -> a b", "torch.add", x, y, of_data=True, alpha=1)
    x = model.linear(model.linear(x, "inner", 4 * WIDTH), "outer", WIDTH)
    line = 11 + len(model.tracer.calls)
    site = Site(f'File "noise.py", line {line}, in forward,  loss = mse_loss(x, noise)')
    [loss] = model.tracer.call(
        Kind("mse_loss", NETWORK + "mse_loss", ("a+ b+, a+ b+ -> 1",)),
        (x, noise),
        (("size_average", None), ("reduce", None), ("reduction", "sum")),
        site,
        is_loss=True,
    )
    calls = tuple(model.tracer.calls)
    return Trace(calls, model.loader, (data,), loss, model.tracer.next_identifier)


def main() -> None:
    """Writes both files."""
    plan, reference, *bugs = sys.argv[1:]
    for path, parallelism in (
        (reference, Parallelism()),
        (plan, Parallelism(tensor=2, data=2)),
    ):
        traced = trace(parallelism.local_batch(SAMPLES))
        parts = stage_calls(traced, parallelism.layers_of_stages(1))
        made = assemble(traced, parts, split if path == plan else leave_whole, parallelism)
        for bug in bugs if path == plan else ():
            _, made = apply_bug(made, bug, Place())
        write_plan(made, Path(path))


if __name__ == "__main__":
    main()
