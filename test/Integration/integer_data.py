# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a plan, and its reference, whose linear layers read integers.

usage: integer_data.py OUTPUT REFERENCE
"""

import sys
from pathlib import Path

from plan_maker.bugs.place import Place, nodes_at
from plan_maker.emit import write_plan
from plan_maker.graph import INT64, ForwardOperation, Plan, SubTensor
from plan_maker.strategy.configuration import MlpSizes, Parallelism
from plan_maker.strategy.mlp import make_mlp


def with_integers(plan: Plan) -> Plan:
    """The plan with integers as data."""
    for located in nodes_at(plan, Place(), lambda node: isinstance(node, ForwardOperation)):
        for value in located.node.inputs:
            if isinstance(value, SubTensor) and value.full.name == "data":
                # Full tensors are compared by identity: this one is changed.
                object.__setattr__(value.full, "element_type", INT64)
    return plan


def main() -> None:
    """Writes both plans."""
    sizes = MlpSizes(layers=2, hidden=8, batch=4)
    for path, parallelism in zip(sys.argv[1:], (Parallelism(data=2), Parallelism()), strict=True):
        write_plan(with_integers(make_mlp(sizes, parallelism)), Path(path))


if __name__ == "__main__":
    main()
