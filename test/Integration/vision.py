# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a plan of a vision model, on two replicas of two devices, and its reference.

usage: vision.py PLAN REFERENCE [stride | dilation | BUG]

Images are cut into patches, which meet their neighbours; then each channel is convolved
for itself. Patches are split by the channels of what they become, then of what comes in,
which leaves a sum; channels for themselves by groups. `stride` has patches of the plan
overlap, `dilation` has them meet others.
"""

from __future__ import annotations

import sys
from pathlib import Path

from plan_maker.bugs import Place, apply_bug
from plan_maker.emit import write_plan
from plan_maker.graph import FullTensor
from plan_maker.strategy.assemble import assemble
from plan_maker.strategy.configuration import Parallelism
from plan_maker.strategy.pipeline import stage_calls
from plan_maker.strategy.stage import Seeds, Stage
from plan_maker.trace import KeywordValue, Kind, LocalShape, LocalSize, Site, Trace, Tracer

CHANNELS, SAMPLES = 4, 8
PATCHES = "n i^ 8 12, o i^ 4 4, o -> n o 2 3"
NEIGHBOURS = "n i+ 2 3, o i+ 3 3 -> n o 2 3"
ROWS = "n c 2 3 -> n c 6"
EACH = "n (g 1) 6, (g 1) 1 3 -> n (g 1) 6"


def trace(local_batch: int, changed: str) -> Trace:
    """The model on `local_batch` images of 8 x 12 with 2 channels."""
    tracer = Tracer()
    loader = tracer.source()
    data = tracer.tensor("images", (local_batch, 2, 8, 12))

    def call(rule: str, function: str, *operands: FullTensor, **given: KeywordValue) -> FullTensor:
        name = function.rsplit(".", maxsplit=1)[-1]
        line = 11 + len(tracer.calls)
        site = Site(f'File "vision.py", line {line}, in forward,  x = {name}(x)', (), 0)
        kind = Kind(name, function, (rule,))
        is_loss = name == "sum"
        [result] = tracer.call(kind, operands, tuple(given.items()), site, is_loss=is_loss)
        return result

    network = "torch.nn.functional."
    weight = tracer.parameter("patches.weight", (CHANNELS, 2, 4, 4))
    bias = tracer.parameter("patches.bias", (CHANNELS,))
    step: KeywordValue = (3, 4) if changed == "stride" else 4
    x = call(PATCHES, f"{network}conv2d", data, weight, bias, stride=step, padding=0)
    x = call("* -> *", f"{network}gelu", x, approximate="none")
    weight = tracer.parameter("neighbours.weight", (CHANNELS, CHANNELS, 3, 3))
    reach = (2, 2) if changed == "dilation" else (1, 1)
    x = call(NEIGHBOURS, "torch.conv2d", x, weight, padding=reach, dilation=reach)
    x = call(ROWS, "torch.Tensor.view", x, size=LocalShape())
    weight = tracer.parameter("each.weight", (CHANNELS, 1, 3))
    x = call(EACH, f"{network}conv1d", x, weight, padding="same", groups=LocalSize("g", CHANNELS))
    loss = call("a+ b+ c+ -> 1", "torch.sum", x)
    return Trace(tuple(tracer.calls), loader, (data,), loss, tracer.next_identifier)


def leave_whole(_: Stage) -> Seeds:
    """For one device."""
    return Seeds({})


def split(stage: Stage) -> Seeds:
    """By channels: of the patches, and of what is convolved for itself."""
    by_channel = {"patches.weight": (1, 0), "each.weight": (0, 1)}
    return Seeds(
        {
            call: by_channel[operand.name]
            for call in stage.calls
            for operand in call.operands
            if isinstance(operand, FullTensor) and operand.name in by_channel
        }
    )


def main() -> None:
    """Writes both files."""
    plan, reference, changed = Path(sys.argv[1]), Path(sys.argv[2]), (*sys.argv[3:], "")[0]
    for path, parallelism in ((reference, Parallelism()), (plan, Parallelism(data=2, tensor=2))):
        is_plan = path == plan
        traced = trace(parallelism.local_batch(SAMPLES), changed if is_plan else "")
        parts = stage_calls(traced, parallelism.layers_of_stages(1))
        choose = split if is_plan else leave_whole
        made = assemble(traced, parts, choose, parallelism)
        if is_plan and changed not in ("", "stride", "dilation"):
            _, made = apply_bug(made, changed, Place())
        write_plan(made, path)


if __name__ == "__main__":
    main()
