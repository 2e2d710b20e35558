# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the benchmarks say about growth, and the plans they make."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from bench.ladders import LADDERS, MODELS, Ladder
from bench.measure import find_growth, get_exponent
from plan_maker.command_line import main

ANY = Ladder((), lambda size: [str(size)])
CONSTANT = Ladder((), lambda size: [str(size)], is_constant=True)
CONSTANT_FROM_FOUR = Ladder((), lambda size: [str(size)], constant=("ops",), since=4)


def find(ladder: Ladder, *counts: tuple[int, int]) -> list[str]:
    """What is found of one count at some sizes."""
    return find_growth(ladder, [{"size": size, "statistics": {"ops": n}} for size, n in counts])


class Growth(unittest.TestCase):
    def test_exponents(self) -> None:
        sizes = [2, 4, 8, 16]
        square = get_exponent(sizes, [5.0 * size**2 for size in sizes])
        constant = get_exponent(sizes, [3.0] * 4)
        assert square is not None
        assert constant is not None
        self.assertAlmostEqual(square, 2)
        self.assertAlmostEqual(constant, 0)
        self.assertIsNone(get_exponent(sizes, [0.0, 1, 2, 3]))
        self.assertIsNone(get_exponent([2], [1.0]))

    def test_linear_growth_is_allowed(self) -> None:
        self.assertFalse(find(ANY, (2, 30), (4, 50), (8, 90)))
        self.assertFalse(find(ANY, (2, 30), (4, 50), (8, 50)))

    def test_quadratic_growth_is_found(self) -> None:
        self.assertTrue(find(ANY, (2, 4), (4, 16), (8, 64)))
        # Also beside something linear that is larger.
        self.assertTrue(find(ANY, (2, 2004), (4, 4016), (8, 8064), (16, 16256)))

    def test_constants_do_not_change(self) -> None:
        self.assertTrue(find(CONSTANT, (2, 30), (4, 31)))
        self.assertTrue(find(CONSTANT_FROM_FOUR, (4, 30), (8, 29)))
        self.assertFalse(find(CONSTANT_FROM_FOUR, (2, 30), (4, 31), (8, 31)))


class Plans(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.files = ["-o", f"{self.folder}/plan", "--reference", f"{self.folder}/single"]

    def test_ladders(self) -> None:
        for name, ladder in LADDERS.items():
            with self.subTest(name):
                self.assertEqual(main([*ladder.plan(ladder.sizes[1]), *self.files]), 0)

    def test_models(self) -> None:
        for name, words in MODELS.items():
            with self.subTest(name):
                self.assertIn(words[0], ("llama", "llama-moe"))
                self.assertIn("--sequence=8192", words)

    def test_reading_with_python_calls_nothing(self) -> None:
        self.assertEqual(main(["mlp", *self.files]), 0)
        self.assertIn('"seconds"', self.unpickle(self.folder / "plan"))
        bad, made = self.folder / "bad", self.folder / "made"
        bad.write_bytes(f"cos\nsystem\n(S'touch {made}'\ntR.".encode())
        self.unpickle(bad)
        self.assertFalse(made.exists())

    def unpickle(self, path: Path) -> str:
        """What reading a file prints."""
        words = [sys.executable, "-m", "bench.unpickle", str(path)]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    unittest.main()
