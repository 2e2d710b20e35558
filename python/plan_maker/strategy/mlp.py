# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The MLP: its trace, and how its layers are split."""

from __future__ import annotations

from plan_maker.graph import Module, Plan
from plan_maker.source import read_model
from plan_maker.strategy.assemble import assemble
from plan_maker.strategy.configuration import MlpSizes, Parallelism, TensorStyle, check_mlp
from plan_maker.strategy.pipeline import stage_calls
from plan_maker.strategy.stage import Seeds, Stage
from plan_maker.trace import Kind, Site, Trace, Tracer

LINEAR = Kind("linear", "torch.nn.functional.linear", ("* k+, n k+ -> * n",))
SUM = Kind("sum", "torch.sum", ("a+ b+ -> 1",), result="sum_1")


def trace_mlp(sizes: MlpSizes, local_batch: int) -> Trace:
    """`layers` times x = x W^T, then the sum of all elements; x is
    `local_batch` x `hidden`.
    """
    source = read_model("mlp")
    tracer = Tracer()
    loader = tracer.source()
    data = tracer.tensor("data", (local_batch, sizes.hidden))
    x = data
    for layer in range(sizes.layers):
        weight = tracer.parameter(f"layers.{layer}.weight", (sizes.hidden, sizes.hidden))
        modules = (Module(f"layers.{layer}", "torch.nn.modules.linear", "Linear"),)
        site = Site(source.comment("x = layer(x)"), modules, layer)
        (x,) = tracer.call(LINEAR, (x, weight), (("bias", None),), site)
    site = Site(source.comment("loss = torch.sum(x)"))
    (loss,) = tracer.call(SUM, (x,), (), site, is_loss=True)
    return Trace(tuple(tracer.calls), loader, (data,), loss, tracer.next_identifier)


def choose_seeds(stage: Stage, parallelism: Parallelism) -> Seeds:
    """Which calls of `stage` start a split.

    `batch`: what comes into the stage is split along its first dimension, which
    counts samples; everything after it follows.

    `megatron`: every other linear layer of the stage, from the first, is split
    by columns (weight dimension 0). Its successor then follows by rows and
    leaves a sum; at the end of a stage the result is gathered, or summed up
    into a partial loss.
    """
    if parallelism.tensor == 1:
        return Seeds({})
    if parallelism.style is TensorStyle.BATCH:
        return Seeds({call: (0, 0) for call in stage.calls if call.operands[0] in stage.inputs})
    linears = [call for call in stage.calls if call.name == "linear"]
    return Seeds(dict.fromkeys(linears[::2], (1, 0)))


def make_mlp(sizes: MlpSizes, parallelism: Parallelism) -> Plan:
    """The plan of an MLP; raises ImpossiblePlanError if there is none."""
    check_mlp(sizes, parallelism)
    trace = trace_mlp(sizes, parallelism.local_batch(sizes.batch))
    parts = stage_calls(trace, parallelism.layers_of_stages(sizes.layers))
    return assemble(trace, parts, lambda stage: choose_seeds(stage, parallelism), parallelism)
