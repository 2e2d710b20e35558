# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executed with numbers, a correct plan agrees with the single-device plan, and one
with a bug does not.
"""

from __future__ import annotations

import itertools
import unittest

from plan_maker.bugs import BUGS
from plan_maker.command_line import WRONG_USAGE
from tests.comparison import differences
from tests.reading import make_file, make_files

SMALL = ("--hidden", "8", "--ffn", "8", "--heads", "4", "--vocab", "6", "--sequence", "4")
EXPERTS = ("--experts", "4", "--expert-groups", "2", "--active-groups", "1", "--expert-ffn", "4")
LLAMA: tuple[str, ...] = ("llama", *SMALL)
MOE: tuple[str, ...] = ("llama-moe", *SMALL, *EXPERTS)
MESH = ("--dp", "2", "--pp", "2", "--tp", "2", "--micro-batches", "2", "--batch", "8")


def configurations() -> list[tuple[str, ...]]:
    """Command lines: each model in each of its styles."""
    result: list[tuple[str, ...]] = []
    styles: dict[tuple[str, ...], tuple[str, ...]] = {
        ("mlp", "--layers", "4", "--hidden", "8"): ("batch", "megatron"),
        LLAMA: ("batch", "megatron", "feed-forward"),
        MOE: ("batch", "megatron", "feed-forward"),
        ("gpt", *SMALL): ("batch", "megatron", "feed-forward", "sequence", "mixed"),
    }
    for command, choices in styles.items():
        result += [(*command, *MESH, "--tp-style", style) for style in choices]
    by_position = ("megatron-sequence", "all-to-all", "context")
    for command, style in itertools.product((LLAMA, MOE), by_position):
        result.append((*command, *MESH, "--tp-style", style))
    sequence = ("--tp-style", "megatron-sequence")
    result.append(("gpt", *SMALL, *MESH, *sequence))
    for command in (LLAMA, MOE, ("gpt", *SMALL)):
        result.append((*command, *MESH, *sequence, "--split-vocabulary"))
    for split in ("inner", "tokens", "none"):
        result.append((*MOE, "--tp", "4", "--batch", "4", *sequence, "--expert-split", split))
    interleaved = ("--layers", "4", *MESH, "--virtual-stages", "2")
    result += [(*command, *interleaved) for command in (LLAMA, MOE, ("gpt", *SMALL))]
    result.append(("mlp", "--hidden", "8", *interleaved, "--layers-per-stage", "1,1,2,0"))
    for model in ("llama", "gpt"):
        result.append((model, *SMALL, *MESH, "--split-vocabulary"))
    for style, split in itertools.product(styles[MOE], ("inner", "tokens", "none")):
        result.append((*MOE, *MESH, "--tp-style", style, "--expert-split", split))
    result.append((*MOE, "--score", "softmax", "--tp", "2", "--batch", "2"))
    one_stage = ("--dp", "2", "--tp", "2", "--batch", "4")
    result.append(("gpt", *SMALL, *one_stage, "--tp-style", "mixed"))
    result.append(("gpt", *SMALL, *one_stage, "--split-vocabulary"))
    result.append(("gpt", *SMALL, "--pp", "2", "--batch", "2", "--micro-batches", "2"))
    return result


def small_models() -> list[tuple[str, ...]]:
    """Command lines that together have a place for every bug."""
    tiny = ("--hidden", "4", "--ffn", "4", "--heads", "2", "--vocab", "4", "--sequence", "2")
    return [
        ("mlp", "--layers", "4", "--hidden", "4", *MESH, "--batch", "16"),
        ("llama", *tiny, *MESH),
        ("llama-moe", *tiny, *MESH, *EXPERTS),
        ("gpt", *tiny, *MESH, "--split-vocabulary"),
        ("gpt", *tiny, *MESH, "--tp-style", "mixed"),
        ("gpt", *tiny, *MESH, "--tp-style", "megatron-sequence", "--layers", "4"),
    ]


# The sums over micro-batches of a linear model do not tell which is which.
UNSEEN = {("mlp", "exchanged-micro-batches")}


class Values(unittest.TestCase):
    def test_correct_plans_agree(self) -> None:
        for arguments in configurations():
            with self.subTest(" ".join(arguments)):
                self.assertEqual(differences(*make_files(*arguments)), [])

    def test_every_bug_differs(self) -> None:
        planted: set[str] = set()
        for model in small_models():
            reference = make_files(*model)[1]
            for bug in BUGS:
                code, plan = make_file(*model, "--bug", bug.name)
                if code == WRONG_USAGE:
                    continue
                planted.add(bug.name)
                with self.subTest(f"{model[0]} {bug.name}"):
                    found = differences(plan, reference)
                    self.assertEqual(found == [], (model[0], bug.name) in UNSEEN)
        self.assertEqual(planted, {bug.name for bug in BUGS})

    def test_scattered_parts(self) -> None:
        mesh = ("--pp", "2", "--tp", "4", "--batch", "8", "--part-order", "scattered")
        for model in (("mlp", "--hidden", "8"), ("llama", *SMALL), ("gpt", *SMALL)):
            with self.subTest(model[0]):
                files = make_files(*model, *mesh)
                self.assertNotEqual(differences(*files), [])
                self.assertEqual(differences(*files, by_index_map=True), [])

    def test_free_batch(self) -> None:
        for model in (("mlp", "--layers", "4", "--hidden", "8"), ("gpt", *SMALL)):
            with self.subTest(model[0]):
                files = make_files(*model, *MESH, "--reference-batch", "16")
                self.assertEqual(differences(*files), [])


if __name__ == "__main__":
    unittest.main()
