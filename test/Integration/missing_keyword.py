# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a plan in which ops of a kind lack a keyword that they cannot do without, and its
reference.

usage: missing_keyword.py OP KEYWORD RANKS OUTPUT REFERENCE
"""

import sys
from dataclasses import replace
from pathlib import Path

from plan_maker.bugs.place import Place, nodes_at
from plan_maker.bugs.rewriting import replace_nodes
from plan_maker.emit import write_plan
from plan_maker.graph import ForwardOperation, Plan
from plan_maker.strategy.configuration import LlamaMoeSizes, LlamaSizes, Parallelism, Score
from plan_maker.strategy.llama import make_llama
from plan_maker.strategy.llama_moe import make_llama_moe


def without(plan: Plan, op: str, keyword: str) -> Plan:
    """The plan whose ops lack the keyword."""
    changed = {}
    for place in nodes_at(plan, Place(), lambda _node: True):
        node = place.node
        if isinstance(node, ForwardOperation) and node.name == op:
            kept = tuple(one for one in node.keywords if one.name != keyword)
            changed[place.key] = (replace(node, keywords=kept),)
    assert changed, op
    return replace_nodes(plan, changed)


def make(op: str, parallelism: Parallelism) -> Plan:
    """A plan that has the op."""
    sizes = (1, 8, 4, 2, 4, 4, 2)
    if op != "gate_fw":
        return make_llama(LlamaSizes(*sizes), parallelism)
    experts = (0, 4, 2, 2, 1, 2, 1, Score.SOFTMAX, 1.0)
    return make_llama_moe(LlamaMoeSizes(*sizes, *experts), parallelism)


def main() -> None:
    """Writes both plans."""
    op, keyword, ranks, output, reference = sys.argv[1:]
    plan = make(op, Parallelism(tensor=int(ranks)))
    write_plan(without(plan, op, keyword), Path(output))
    write_plan(make(op, Parallelism()), Path(reference))


if __name__ == "__main__":
    main()
