# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a plan whose first stage sends to a device that is not one of the plan, and its
reference.

usage: unknown_peer.py OUTPUT REFERENCE
"""

import sys
from dataclasses import replace
from pathlib import Path

from plan_maker.bugs.rewriting import rewrite_cells
from plan_maker.emit import write_plan
from plan_maker.graph import Adapter, BaseCell, Plan, Primitive, WeightReducer
from plan_maker.strategy.configuration import MlpSizes, Parallelism
from plan_maker.strategy.mlp import make_mlp


def with_unknown_peer(plan: Plan) -> Plan:
    """The plan with all of the moves between its stages to device 9."""

    def rewrite(_: int, cell: BaseCell | WeightReducer) -> BaseCell | WeightReducer:
        if not isinstance(cell, Adapter):
            return cell
        return replace(cell, primitives=tuple(map(_sent_away, cell.primitives)))

    return rewrite_cells(plan, {program.device for program in plan.programs}, rewrite)


def _sent_away(primitive: Primitive) -> Primitive:
    keywords = tuple(
        replace(keyword, value=9) if keyword.name == "dst" else keyword
        for keyword in primitive.keywords
    )
    return replace(primitive, keywords=keywords)


def main() -> None:
    """Writes both plans."""
    sizes = MlpSizes(layers=2, hidden=8, batch=4)
    plan = with_unknown_peer(make_mlp(sizes, Parallelism(pipeline=2)))
    write_plan(plan, Path(sys.argv[1]))
    write_plan(make_mlp(sizes, Parallelism()), Path(sys.argv[2]))


if __name__ == "__main__":
    main()
