# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes plans of a model that reads one of two results of an op, and its reference.

usage: unread_result.py WAY PLAN REFERENCE [SIZE=NUMBER...]

Both have a gradient. In WAY `right` nothing produces that of the result that nothing
reads, in `other` the plan reads the other one. In `lost` the gradient of what is read
goes nowhere; in `ungiven` the backward of the first stage, which ends with that op, is not
given it. In `metric` something else is computed of the other result, which no loss reads.
The sizes are those of the mesh.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from plan_maker.bugs.place import Place, nodes_at
from plan_maker.bugs.rewriting import replace_nodes, rewrite_cells, with_cells
from plan_maker.emit import write_plan
from plan_maker.graph import (
    BackwardOperation,
    BaseCell,
    ForwardOperation,
    FullTensor,
    Plan,
    ReuseCell,
    Segment,
    WeightReducer,
    base_cell,
)
from plan_maker.strategy.assemble import assemble
from plan_maker.strategy.configuration import Parallelism
from plan_maker.strategy.mlp import LINEAR, SUM
from plan_maker.strategy.pipeline import stage_calls
from plan_maker.strategy.stage import Seeds, Stage
from plan_maker.trace import KeywordValue, Kind, Operand, Site, Trace, Tracer

WIDTH, SAMPLES = 8, 8
CHUNK = Kind("chunk", "torch.chunk", (f"a {WIDTH} -> a {WIDTH // 2}, a {WIDTH // 2}",))
SQUARE = Kind("square", "torch.square", ("* -> *",))


def trace(samples: int, way: str) -> Trace:
    """The model on so many samples: two layers and a loss."""
    tracer = Tracer()
    source = tracer.source()
    data = tracer.tensor("data", (samples, WIDTH))

    def call(
        kind: Kind,
        operands: tuple[Operand, ...],
        *,
        layer: int | None = None,
        is_loss: bool = False,
        **given: KeywordValue,
    ) -> tuple[FullTensor, ...]:
        text = f"x = {kind.name}(x)"
        site = Site(f'File "halves.py", line {1 + len(tracer.calls)}, in forward,  {text}')
        return tracer.call(
            kind, operands, tuple(given.items()), replace(site, layer=layer), is_loss=is_loss
        )

    weights = [tracer.parameter(f"weights.{i}", (WIDTH, WIDTH)) for i in range(2)]
    [x] = call(LINEAR, (data, weights[0]), layer=0, bias=None)
    [x] = call(LINEAR, (x, weights[1]), layer=0, bias=None)
    halves = call(CHUNK, (x,), layer=0, chunks=2, dim=1)
    if way == "metric":
        call(SQUARE, (halves[0],), layer=0)
    [x] = call(SQUARE, (halves[way != "other"],), layer=1)
    [loss] = call(SUM, (x,), is_loss=True)
    return Trace(tuple(tracer.calls), source, (data,), loss, tracer.next_identifier)


def make(way: str, parallelism: Parallelism) -> Plan:
    """The plan, the first layer split by columns and the second one by rows."""
    traced = trace(parallelism.local_batch(SAMPLES), way)
    parts = stage_calls(traced, parallelism.layers_of_stages(2))

    def choose(stage: Stage) -> Seeds:
        linears = [each for each in stage.calls if each.name == "linear"]
        return Seeds(dict.fromkeys(linears[:1], (1, 0)) if parallelism.tensor > 1 else {})

    return assemble(traced, parts, choose, parallelism)


def lose(plan: Plan) -> Plan:
    """The backward of the square gives its gradient another number."""
    located = [(at.device, at.node) for at in nodes_at(plan, Place(), lambda _node: True)]
    squares = {node.identifier for _, node in located if getattr(node, "name", "") == "square"}
    changed = {}
    for device, node in located:
        if isinstance(node, BackwardOperation) and node.mirror in squares:
            [gradient] = node.outputs
            nowhere = replace(gradient, identifier=gradient.identifier + 10**6)
            changed[device, node.identifier] = (replace(node, outputs=(nowhere,)),)
    return replace_nodes(plan, changed)


def withhold(plan: Plan) -> Plan:
    """The backward of the segment with the chunk takes no gradient."""
    backward = {
        base.mirror
        for program in plan.programs
        for base in map(base_cell, program.cells)
        if isinstance(base, Segment)
        and any(isinstance(node, ForwardOperation) and node.name == "chunk" for node in base.nodes)
    }

    def rewrite(_device: int, cell: BaseCell | WeightReducer) -> BaseCell | WeightReducer:
        is_it = isinstance(cell, Segment) and cell.identifier in backward
        return replace(cell, inputs=()) if is_it else cell

    plan = rewrite_cells(plan, {program.device for program in plan.programs}, rewrite)
    for program in plan.programs:
        cells = tuple(
            replace(cell, inputs=())
            if isinstance(cell, ReuseCell) and base_cell(cell).identifier in backward
            else cell
            for cell in program.cells
        )
        plan = with_cells(plan, program.device, cells)
    return plan


def main() -> None:
    """Writes both files."""
    way, output, reference, *sizes = sys.argv[1:]
    numbers = {name: int(number) for name, _, number in (size.partition("=") for size in sizes)}
    plan = make(way, Parallelism(**numbers))
    changes = {"lost": lose, "ungiven": withhold}
    write_plan(changes[way](plan) if way in changes else plan, Path(output))
    write_plan(make("metric" if way == "metric" else "right", Parallelism()), Path(reference))


if __name__ == "__main__":
    main()
