# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes of the text of a plan that keep what it computes, by name."""

from random import Random

from hunt.arithmetic_rewrites import commuted, split_contraction, split_sum
from hunt.group_rewrites import resharded, scattered, split_group
from hunt.op_mutations import Mutation
from hunt.order_rewrites import call_order, micro_batches, recomputed, replicated
from hunt.plan_text import PlanText
from hunt.value_rewrites import copies, divided, neutral, reshaped, transposed

# All members of a group change what they do together.
TOGETHER = {"reduce-scatter and all-gather", "resharding", "split group", "micro-batch order"}
REWRITES: dict[str, Mutation] = {
    "identity copy": copies,
    "transposed layout": transposed,
    "reshaping": reshaped,
    "neutral arithmetic": neutral,
    "cut and joined": divided,
    "reduce-scatter and all-gather": scattered,
    "resharding": resharded,
    "split group": split_group,
    "commuted operands": commuted,
    "split contraction": split_contraction,
    "split sum": split_sum,
    "recomputation": recomputed,
    "replicated computation": replicated,
    "micro-batch order": micro_batches,
    "order of ops": call_order,
}


def rewrite(plan: PlanText, random: Random) -> tuple[PlanText, str]:
    """One rewrite of a kind and at a place that are drawn, and its kind."""
    kinds = list(REWRITES)
    while kinds:
        kind = kinds.pop(random.randrange(len(kinds)))
        for op in random.sample(plan.ops, len(plan.ops)):
            seed = random.random()
            change = REWRITES[kind](plan, op, Random(seed))
            if not change:
                continue
            if kind in TOGETHER or random.random() < 0.4:
                for sibling in plan.siblings(op):
                    if sibling.line not in change:
                        change |= REWRITES[kind](plan, sibling, Random(seed)) or {}
            return plan.apply(change), kind
    raise ValueError("no rewrite applies")
