# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a plan whose first stage sends to a device that is not one of the plan.

usage: unknown_peer.py OUTPUT
"""

import sys
from dataclasses import replace
from pathlib import Path

from plan_maker.bugs.place import Place, nodes_at
from plan_maker.bugs.rewriting import replace_nodes
from plan_maker.emit import write_plan
from plan_maker.graph import Adapter, Plan, Primitive
from plan_maker.strategy.configuration import MlpSizes, Parallelism
from plan_maker.strategy.mlp import make_mlp


def with_unknown_peer(plan: Plan) -> Plan:
    """The plan with all of its moves to device 9."""
    changed = {}
    for located in nodes_at(plan, Place(), lambda node: isinstance(node, Adapter)):
        adapter = located.node
        assert isinstance(adapter, Adapter)
        primitives = tuple(map(_sent_away, adapter.primitives))
        changed[located.device, adapter.identifier] = (replace(adapter, primitives=primitives),)
    return replace_nodes(plan, changed)


def _sent_away(primitive: Primitive) -> Primitive:
    keywords = tuple(
        replace(keyword, value=9) if keyword.name == "dst" else keyword
        for keyword in primitive.keywords
    )
    return replace(primitive, keywords=keywords)


def main() -> None:
    """Writes the plan."""
    sizes = MlpSizes(layers=2, hidden=8, batch=4)
    plan = with_unknown_peer(make_mlp(sizes, Parallelism(pipeline=2)))
    write_plan(plan, Path(sys.argv[1]))


if __name__ == "__main__":
    main()
