# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Executed with numbers, a correct plan agrees with the single-device plan."""

from __future__ import annotations

import unittest

from tests.comparison import differences
from tests.reading import make_files

SMALL = ("--hidden", "8", "--ffn", "8", "--heads", "4", "--vocab", "6", "--sequence", "4")
MESH = ("--dp", "2", "--pp", "2", "--tp", "2", "--micro-batches", "2", "--batch", "8")


def configurations() -> list[tuple[str, ...]]:
    """Command lines: each model in each of its styles."""
    result: list[tuple[str, ...]] = []
    styles: dict[tuple[str, ...], tuple[str, ...]] = {
        ("mlp", "--layers", "4", "--hidden", "8"): ("batch", "megatron"),
        ("llama", *SMALL): ("batch", "megatron", "feed-forward"),
        ("gpt", *SMALL): ("batch", "megatron", "feed-forward", "sequence", "mixed"),
    }
    for command, choices in styles.items():
        result += [(*command, *MESH, "--tp-style", style) for style in choices]
    for model in ("llama", "gpt"):
        result.append((model, *SMALL, *MESH, "--split-vocabulary"))
    one_stage = ("--dp", "2", "--tp", "2", "--batch", "4")
    result.append(("gpt", *SMALL, *one_stage, "--tp-style", "mixed"))
    result.append(("gpt", *SMALL, *one_stage, "--split-vocabulary"))
    result.append(("gpt", *SMALL, "--pp", "2", "--batch", "2", "--micro-batches", "2"))
    return result


class Values(unittest.TestCase):
    def test_correct_plans_agree(self) -> None:
        for arguments in configurations():
            with self.subTest(" ".join(arguments)):
                self.assertEqual(differences(*make_files(*arguments)), [])


if __name__ == "__main__":
    unittest.main()
