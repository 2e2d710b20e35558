# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes of the text of a plan that keep what it computes, by name."""

from random import Random

from hunt.arithmetic_rewrites import commuted, split_contraction, split_sum
from hunt.collective_rewrites import as_whole, joint, reordered, two_by_two
from hunt.derivative_rewrites import joint_derivative, split_derivative
from hunt.elementary_rewrites import (
    other_arithmetic,
    other_contraction,
    unfused_activation,
    unfused_norm,
    unfused_softmax,
)
from hunt.group_rewrites import resharded, scattered, split_group
from hunt.op_mutations import Mutation
from hunt.order_rewrites import call_order, micro_batches, recomputed, replicated
from hunt.plan_text import Change, PlanText
from hunt.value_rewrites import copies, divided, neutral, reshaped, transposed

# All members of a group change what they do together.
TOGETHER: dict[str, Mutation] = {
    "reduce-scatter and all-gather": scattered,
    "resharding": resharded,
    "split group": split_group,
    "split gather, scatter or exchange": two_by_two,
    "other collective": as_whole,
    "order of a group": reordered,
    "merged groups": joint,
    "micro-batch order": micro_batches,
}
REWRITES: dict[str, Mutation] = TOGETHER | {
    "identity copy": copies,
    "transposed layout": transposed,
    "reshaping": reshaped,
    "neutral arithmetic": neutral,
    "cut and joined": divided,
    "commuted operands": commuted,
    "split contraction": split_contraction,
    "split sum": split_sum,
    "unfused norm": unfused_norm,
    "unfused softmax": unfused_softmax,
    "unfused activation": unfused_activation,
    "other arithmetic": other_arithmetic,
    "other contraction": other_contraction,
    "merged derivatives": joint_derivative,
    "split derivative": split_derivative,
    "recomputation": recomputed,
    "replicated computation": replicated,
    "order of ops": call_order,
}
# What the plan does at once is done in steps by the reference.
OF_REFERENCE: dict[str, Mutation] = {
    "fused norm": unfused_norm,
    "fused softmax": unfused_softmax,
    "fused activation": unfused_activation,
    "other arithmetic of the reference": other_arithmetic,
    "other contraction of the reference": other_contraction,
}


def apply(plan: PlanText, kind: str, random: Random) -> PlanText | None:
    """A rewrite of a kind at a place that is drawn; None if it applies nowhere."""
    function = REWRITES.get(kind) or OF_REFERENCE[kind]
    text = plan.of_reference() if kind in OF_REFERENCE else plan
    for op in random.sample(text.ops, len(text.ops)):
        seed = random.random()
        change = function(text, op, Random(seed))
        if not change:
            continue
        if kind in TOGETHER or random.random() < 0.4:
            for sibling in text.siblings(op):
                if sibling.line not in change:
                    change |= function(text, sibling, Random(seed)) or {}
        return text.apply(change)
    return None


def apply_everywhere(plan: PlanText, kind: str) -> PlanText:
    """Rewrites of a kind at all places."""
    change: Change = {}
    for op in plan.ops:
        if op.line not in change:
            change |= REWRITES[kind](plan, op, Random(0)) or {}
    return plan.apply(change)


def rewrite(plan: PlanText, random: Random) -> tuple[PlanText, str]:
    """One rewrite of a kind and at a place that are drawn, and its kind."""
    kinds = [*REWRITES, *OF_REFERENCE]
    while kinds:
        kind = kinds.pop(random.randrange(len(kinds)))
        if new := apply(plan, kind, random):
            return new, kind
    raise ValueError("no rewrite applies")
