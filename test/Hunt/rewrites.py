# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Does each rewrite of the hunt on a plan that has a place for it, and prints the outcome.

Then prints where the same rewrites would change what is computed, and whether one was made.
"""

import re
from pathlib import Path
from random import Random

from hunt.escapes import Hunt
from hunt.judge import judge
from hunt.plan_rewrites import OF_REFERENCE, REWRITES, apply
from hunt.plan_text import PlanText

GATHERS, TWICE, SUMS = "mlp-batch-four-ranks", "mlp-batch-two-by-two", "mlp-two-by-two"
FAMILIES = {
    "reduce-scatter and all-gather": "mlp-four-ranks",
    "resharding": "mlp-four-ranks",
    "split group": "mlp-four-ranks",
    "split gather, scatter or exchange": GATHERS,
    "other collective": GATHERS,
    "order of a group": GATHERS,
    "merged groups": TWICE,
    "micro-batch order": "mlp-megatron",
    "unfused softmax": "llama-megatron",
    "fused softmax": "llama-megatron",
    "other contraction of the reference": "llama-megatron",
}
OTHERS = "gpt-megatron"


def changed(plan: PlanText, old: str, new: str) -> PlanText:
    """A plan with other words."""
    text, count = re.subn(old, new, plan.text)
    assert count, old
    return PlanText(text)


# With these a softmax of the reference is a quotient; as a product with the inverse of the
# sum it takes longer than the hunt waits.
SEEDS = (3, 7)

hunt = Hunt("rewrites", "verify-opt", "verify-translate", sorted({*FAMILIES.values(), OTHERS}), 1)
hunt.plans |= {name: hunt.make(name, "verify-translate") for name in (TWICE, SUMS)}
for kind in [*REWRITES, *OF_REFERENCE]:
    for seed in SEEDS:
        plan = apply(hunt.plans[FAMILIES.get(kind, OTHERS)], kind, Random(seed))
        assert plan, f"{kind} applies nowhere"
        path = Path(hunt.folder.name) / "plan.mlir"
        path.write_text(plan.text)
        found = judge("verify-opt", path)
        print(f"{kind}: {found.outcome}, values {found.values} {found.reason}".rstrip())

pairs = hunt.plans[SUMS]
for title, kind, plan in (
    (
        "sums over the same pairs",
        "merged groups",
        changed(pairs, r"group \[\d, \d\]", "group [0, 1]"),
    ),
    (
        "a norm whose root may be of 0",
        "unfused norm",
        changed(hunt.plans[OTHERS], "epsilon = 1.000000e-05", "epsilon = 0.000000e+00"),
    ),
    (
        "a gather of two ranks",
        "split gather, scatter or exchange",
        changed(hunt.plans[GATHERS], r"group \[0, 1, 2, 3\]", "group [0, 1]"),
    ),
):
    print(f"{title}: {'made' if apply(plan, kind, Random(0)) else 'refused'}")
