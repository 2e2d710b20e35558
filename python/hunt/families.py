# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Correct plans of the plan maker, small enough to be executed in no time."""

import subprocess
import sys
from pathlib import Path

SMALL = "--hidden 8 --ffn 8 --heads 2 --vocab 8 --sequence 4 --batch 4"
ONE = f"--layers 1 {SMALL}"
TWO = f"--layers 2 {SMALL}"
MOE = f"{TWO} --experts 4 --expert-groups 2 --active-groups 1 --expert-ffn 4"
MLP = "--hidden 4 --batch 8"
FOUR = "--layers 1 --hidden 8 --ffn 8 --heads 4 --vocab 8 --sequence 4 --batch 4 --tp 4"

FAMILIES = {
    "mlp-megatron": f"mlp {MLP} --layers 2 --dp 2 --tp 2 --micro-batches 2",
    "mlp-four-ranks": f"mlp {MLP} --layers 2 --tp 4",
    "mlp-batch": f"mlp {MLP} --layers 2 --tp 2 --pp 2 --tp-style batch --micro-batches 2",
    "mlp-pipeline": f"mlp {MLP} --layers 4 --dp 2 --pp 2 --tp 2 --micro-batches 2",
    "mlp-interleaved": f"mlp {MLP} --layers 4 --pp 2 --virtual-stages 2 --micro-batches 4",
    "gpt-megatron": f"gpt {ONE} --tp 2 --dp 2 --tp-style megatron",
    "gpt-sequence": f"gpt {ONE} --tp 2 --tp-style sequence --micro-batches 2",
    "gpt-mixed": f"gpt {ONE} --tp 2 --tp-style mixed",
    "gpt-megatron-sequence": f"gpt {ONE} --tp 2 --tp-style megatron-sequence",
    "gpt-vocabulary": f"gpt {TWO} --tp 2 --pp 2 --split-vocabulary",
    "llama-megatron": f"llama {ONE} --tp 2 --dp 2 --micro-batches 2",
    "llama-megatron-sequence": f"llama {ONE} --tp 2 --tp-style megatron-sequence",
    "llama-feed-forward": f"llama {ONE} --tp 2 --tp-style feed-forward",
    "llama-all-to-all": f"llama {ONE} --tp 2 --tp-style all-to-all",
    "llama-context": f"llama {ONE} --tp 2 --tp-style context",
    "llama-pipeline": f"llama {TWO} --pp 2 --micro-batches 2",
    "llama-moe-experts": f"llama-moe {MOE} --tp 2 --expert-split experts",
    "llama-moe-inner": f"llama-moe {MOE} --tp 2 --expert-split inner",
    "llama-moe-tokens": f"llama-moe {MOE} --tp 2 --tp-style batch --expert-split tokens",
    "mlp-batch-four-ranks": f"mlp {MLP} --layers 2 --tp 4 --tp-style batch",
    "llama-four-ranks": f"llama {FOUR} --tp-style megatron-sequence",
    "llama-four-ranks-all-to-all": f"llama {FOUR} --tp-style all-to-all",
}
# Plans of a family after rewrites at all places: what is done twice there can be merged.
PREPARED = {
    "mlp-two-by-two": ("mlp-four-ranks", ["split group"]),
    "mlp-batch-two-by-two": (
        "mlp-batch-four-ranks",
        ["split group", "split gather, scatter or exchange"],
    ),
    "llama-two-by-two": (
        "llama-four-ranks",
        ["split group", "split gather, scatter or exchange"],
    ),
    "llama-scattered": ("llama-megatron", ["reduce-scatter and all-gather"]),
}
NAMES = [*FAMILIES, *PREPARED]
# Families that take long, less often.
WEIGHTS = {"mlp": 6, "gpt": 3, "llama": 3}
ORDER = [
    name for name in NAMES for _ in range(1 if "moe" in name else WEIGHTS[name.partition("-")[0]])
]


def import_plan(name: str, folder: Path, translate: str) -> str:
    """The imported pair of a family as text."""
    plan, single, module = (folder / f"{name}.{end}" for end in ("pkl", "single.pkl", "mlir"))
    maker = [sys.executable, "-m", "plan_maker", *FAMILIES[name].split()]
    subprocess.run([*maker, "-o", str(plan), "--reference", str(single)], check=True)
    command = [translate, "--import-nnscaler", "--reference", str(single), str(plan)]
    subprocess.run([*command, "-o", str(module)], check=True)
    return module.read_text()
