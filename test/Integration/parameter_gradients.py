# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a plan that says of its parameters that they are gradients.

usage: parameter_gradients.py OUTPUT
"""

import sys
from pathlib import Path

from plan_maker.bugs.place import Place, nodes_at
from plan_maker.emit import write_plan
from plan_maker.graph import ForwardOperation, Plan, SubTensor
from plan_maker.strategy.configuration import MlpSizes, Parallelism
from plan_maker.strategy.mlp import make_mlp


def with_gradients(plan: Plan) -> Plan:
    """The plan with parameters that are gradients as well."""
    for located in nodes_at(plan, Place(), lambda node: isinstance(node, ForwardOperation)):
        for value in located.node.inputs:
            if isinstance(value, SubTensor) and value.full.is_parameter:
                # Full tensors are compared by identity: this one is changed.
                object.__setattr__(value.full, "is_gradient", True)
    return plan


def main() -> None:
    """Writes the plan."""
    sizes = MlpSizes(layers=2, hidden=8, batch=4)
    write_plan(with_gradients(make_mlp(sizes, Parallelism(data=2))), Path(sys.argv[1]))


if __name__ == "__main__":
    main()
