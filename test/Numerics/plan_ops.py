# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops that are put into a plan, beside what NumPy makes of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from plan_maker.graph import (
    BOOL,
    COMPLEX64,
    FLOAT32,
    INT64,
    Constant,
    ElementType,
    ForwardOperation,
    FullTensor,
    Keyword,
    SubTensor,
)

KINDS = {np.dtype(np.int64): INT64, np.dtype(bool): BOOL, np.dtype(complex): COMPLEX64}
Array = Any  # What the operators of NumPy take and return.


@dataclass
class Value:
    """A tensor of the plan and its elements."""

    tensor: SubTensor
    array: Array


@dataclass
class Ops:
    """The ops so far; the one whose number is `changed` gives what it should not."""

    number: int
    template: ForwardOperation
    changed: int = -1
    nodes: list[ForwardOperation] = field(default_factory=list)

    def tensor(self, shape: tuple[int, ...], kind: ElementType) -> SubTensor:
        """A tensor that is new."""
        self.number += 2
        full = FullTensor(self.number, f"t{self.number}", shape, kind)
        return SubTensor(self.number + 1, full, full.whole())

    def add(
        self,
        signature: str,
        meaning: Callable[..., Array],
        *inputs: Value | Constant,
        **keywords: Constant,
    ) -> Value:
        """The op on tensors and constants."""
        [value] = self.add_all(signature, lambda *given: [meaning(*given)], *inputs, **keywords)
        return value

    def add_all(
        self,
        signature: str,
        meaning: Callable[..., list[Array]],
        *inputs: Value | Constant,
        **keywords: Constant,
    ) -> list[Value]:
        """An op with several results."""
        given = [value.array if isinstance(value, Value) else value for value in inputs]
        factor = 3 if len(self.nodes) == self.changed else 1
        results = []
        for result in meaning(*given):
            array = np.asarray(result)
            array = array.reshape(array.shape or (1,))
            kind = KINDS.get(array.dtype, FLOAT32)
            tensor = self.tensor(array.shape, kind)
            changed = array if factor == 1 else array * factor
            # The other truth value, another integer, or three times as much.
            if kind in (BOOL, INT64) and factor != 1:
                changed = ~array if kind is BOOL else (array + factor - 1) % 7
            results.append(Value(tensor, changed))
        self.number += 1
        node = replace(
            self.template,
            identifier=self.number,
            name=signature.split(".")[-1],
            signature=signature,
            inputs=tuple(x.tensor if isinstance(x, Value) else x for x in inputs),
            outputs=tuple(value.tensor for value in results),
            keywords=tuple(Keyword(name, value) for name, value in keywords.items()),
            mirror=None,
        )
        self.nodes.append(node)
        return results
