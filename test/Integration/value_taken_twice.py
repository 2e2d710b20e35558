# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes plans of a model with products of a value with itself.

usage: value_taken_twice.py WAY OUTPUT REFERENCE [SIZE=NUMBER...]

After each linear layer comes a product, in the reference a power. In WAY `square` the
product takes two copies of the value, in `same` one tensor twice, and in `copy` the value
and the result of an identity. In `square-half`, `same-half` and `copy-half` one of its
two gradients goes nowhere; in `copy-lost` the identity has no gradient. The sizes are
those of the mesh.
"""

import sys
from dataclasses import replace
from pathlib import Path

from plan_maker.bugs.place import Place, nodes_at
from plan_maker.bugs.rewriting import replace_nodes
from plan_maker.emit import write_plan
from plan_maker.graph import BackwardOperation, ForwardOperation, Module, Plan, SegmentNode
from plan_maker.source import read_model
from plan_maker.strategy.assemble import assemble
from plan_maker.strategy.configuration import MlpSizes, Parallelism
from plan_maker.strategy.mlp import LINEAR, SUM, choose_seeds
from plan_maker.strategy.pipeline import stage_calls
from plan_maker.trace import Kind, Site, Trace, Tracer

MULTIPLY = Kind("mul", "torch.mul", ("*, * -> *",))
POWER = Kind("pow", "torch.pow", ("*, ? -> *",))
IDENTITY = Kind("identity", "nnscaler.runtime.function.identity", ("* -> *",))
SIZES = MlpSizes(layers=2, hidden=16, batch=16)


def trace(way: str, local_batch: int, is_reference: bool) -> Trace:
    """The calls of the model."""
    source = read_model("mlp")
    tracer = Tracer()
    loader = tracer.source()
    data = tracer.tensor("data", (local_batch, SIZES.hidden))
    x = data
    for layer in range(SIZES.layers):
        weight = tracer.parameter(f"layers.{layer}.weight", (SIZES.hidden, SIZES.hidden))
        modules = (Module(f"layers.{layer}", "torch.nn.modules.linear", "Linear"),)
        site = Site(source.comment("x = layer(x)"), modules, layer)
        (x,) = tracer.call(LINEAR, (x, weight), (("bias", None),), site)
        other = x
        if way.startswith("copy"):
            (other,) = tracer.call(IDENTITY, (x,), (), site)
        if is_reference:
            (x,) = tracer.call(POWER, (other, 2), (), site)
        else:
            (x,) = tracer.call(MULTIPLY, (other, x), (), site)
    site = Site(source.comment("loss = torch.sum(x)"))
    (loss,) = tracer.call(SUM, (x,), (), site, is_loss=True)
    return Trace(tuple(tracer.calls), loader, (data,), loss, tracer.next_identifier)


def make(way: str, parallelism: Parallelism, is_reference: bool = False) -> Plan:
    """The plan, as the plan maker divides it."""
    calls = trace(way, parallelism.local_batch(SIZES.batch), is_reference)
    parts = stage_calls(calls, parallelism.layers_of_stages(SIZES.layers))
    return assemble(calls, parts, lambda stage: choose_seeds(stage, parallelism), parallelism)


def change(plan: Plan, way: str) -> Plan:
    """The plan in which products take, or gradients go, as `way` says."""
    located = [(at.device, at.node) for at in nodes_at(plan, Place(), lambda _node: True)]
    backward = {
        (device, node.mirror): node
        for device, node in located
        if isinstance(node, BackwardOperation)
    }
    changed: dict[tuple[int, int], tuple[SegmentNode, ...]] = {}
    for device, node in located:
        if not isinstance(node, ForwardOperation):
            continue
        back = backward.get((device, node.identifier))
        key, back_key = (device, node.identifier), (device, back.identifier if back else -1)
        if node.name == "multiref" and back and way != "copy-lost":
            # Only the first copy has a gradient.
            first, *others = node.outputs
            without = tuple(replace(other, gradient=None) for other in others)
            changed[key] = (replace(node, outputs=(first, *without)),)
            changed[back_key] = (replace(back, inputs=back.inputs[:1]),)
        if node.name == "mul" and back and way.startswith("same"):
            first, last = back.outputs
            changed[key] = (replace(node, inputs=(node.inputs[0],) * 2),)
            outputs = (first, first if way == "same" else last)
            changed[back_key] = (replace(back, outputs=outputs),)
        if way == "copy-lost" and back and node.name in ("mul", "identity"):
            is_product = node.name == "mul"
            field = "inputs" if is_product else "outputs"
            own = getattr(node, field)
            without = (replace(own[0], gradient=None), *own[1:])
            new = replace(node, **{field: without})
            changed[key] = (new if is_product else replace(new, mirror=None),)
            changed[back_key] = (replace(back, outputs=back.outputs[1:]),) if is_product else ()
    return replace_nodes(plan, changed)


def main() -> None:
    """Writes the plan and its reference."""
    way, output, reference, *sizes = sys.argv[1:]
    numbers = {name: int(number) for name, _, number in (size.partition("=") for size in sizes)}
    plan = make(way, Parallelism(**numbers))
    if way not in ("square", "copy"):
        plan = change(plan, way)
    write_plan(plan, Path(output))
    write_plan(make(way, Parallelism(), is_reference=True), Path(reference))


if __name__ == "__main__":
    main()
