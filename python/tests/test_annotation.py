# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Partition rules and what splitting by one of their factors does."""

from __future__ import annotations

import unittest

from plan_maker import annotation
from plan_maker.errors import ImpossiblePlanError
from plan_maker.strategy.layout import TERM_ON_EACH, WHOLE_ON_EACH, Layout, partition, split
from plan_maker.trace import Kind, Site, Tracer, fitting_rule

LINEAR = Kind("linear", "linear", ("* k+, n k+ -> * n",))
SOFTMAX = Kind("softmax", "softmax", ("a b^ -> a b^",))


class Rules(unittest.TestCase):
    def test_leading_dimensions(self) -> None:
        rule = annotation.parse("* m k+, * k+ n -> * m n", [4, 4])
        shapes = annotation.result_shapes(rule, [(2, 3, 5, 7), (2, 3, 7, 9)])
        self.assertEqual(shapes, ((2, 3, 5, 9),))

    def test_composite_dimension(self) -> None:
        rule = annotation.parse("a b (c 4) -> a b c 4", [3])
        self.assertEqual(annotation.result_shapes(rule, [(2, 3, 20)]), ((2, 3, 5, 4),))

    def test_disagreement(self) -> None:
        rule = annotation.parse("a b, a b -> a b", [2, 2])
        with self.assertRaisesRegex(ValueError, "a dimension of size 4 does not fit"):
            annotation.result_shapes(rule, [(2, 3), (2, 4)])

    def test_first_rule_that_fits(self) -> None:
        texts = ("k+, k+ -> 1", "m k+, k+ n -> m n", "* m k+, * k+ n -> * m n")
        self.assertEqual(fitting_rule(texts, [(3, 4), (4, 5)]).text, texts[1])
        self.assertEqual(fitting_rule(texts, [(2, 3, 4), (2, 4, 5)]).text, texts[2])


class Partitions(unittest.TestCase):
    def linear(
        self, at: tuple[int, int]
    ) -> tuple[list[Layout | None], list[Layout | None], Layout]:
        """Layouts of a linear's operands, of their gradients, and of its result."""
        tracer = Tracer()
        x, weight = tracer.tensor("x", (8, 4)), tracer.parameter("w", (6, 4))
        tracer.call(LINEAR, (x, weight), (), Site(None))
        result = partition(tracer.calls[0], at)
        operands = [value for value in result.operands if value is not None]
        layouts = [value.layout for value in operands]
        return list(layouts), [value.gradient for value in operands], result.results[0].layout

    def test_by_columns(self) -> None:
        operands, gradients, result = self.linear((1, 0))
        self.assertEqual(operands, [WHOLE_ON_EACH, split(0)])
        self.assertEqual(gradients, [TERM_ON_EACH, split(0)])
        self.assertEqual(result, split(1))

    def test_by_rows(self) -> None:
        operands, gradients, result = self.linear((0, 1))
        self.assertEqual(operands, [split(1), split(1)])
        self.assertEqual(gradients, [split(1), split(1)])
        self.assertEqual(result, TERM_ON_EACH)

    def test_by_samples(self) -> None:
        operands, gradients, result = self.linear((0, 0))
        self.assertEqual(operands, [split(0), WHOLE_ON_EACH])
        self.assertEqual(gradients, [split(0), TERM_ON_EACH])
        self.assertEqual(result, split(0))

    def test_whole_factor(self) -> None:
        tracer = Tracer()
        tracer.call(SOFTMAX, (tracer.tensor("x", (8, 4)),), (), Site(None))
        with self.assertRaisesRegex(ImpossiblePlanError, "'softmax' cannot be split by 'b'"):
            partition(tracer.calls[0], (0, 1))


if __name__ == "__main__":
    unittest.main()
