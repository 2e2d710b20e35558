# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Numbers for tensors and cells, unique within a plan.

Equal parts of one full tensor have equal numbers, on whatever device they are;
`_id` is how a plan says that two devices hold the same thing.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from plan_maker.graph import FullTensor, Range, SubTensor


@dataclass
class Numbering:
    """Hands out numbers; tensors continue after those of the trace."""

    next_tensor: int
    next_cell: int = 1
    parts: dict[tuple[int, tuple[Range, ...], tuple[int, int]], int] = field(default_factory=dict)
    interned: dict[tuple[int, int | None], SubTensor] = field(default_factory=dict)

    def tensor(self) -> int:
        """A new tensor number."""
        self.next_tensor += 1
        return self.next_tensor - 1

    def cell(self) -> int:
        """A new cell number."""
        self.next_cell += 1
        return self.next_cell - 1

    def full_like(self, full: FullTensor, shape: tuple[int, ...] | None = None) -> FullTensor:
        """A new full tensor that differs from `full` in its number only (and that
        of its gradient), or also in its shape.
        """
        shape = full.shape if shape is None else shape
        identifier = self.tensor()
        gradient = None
        if full.gradient is not None:
            old = full.gradient
            gradient = FullTensor(
                self.tensor(),
                old.name,
                shape,
                old.element_type,
                is_gradient=True,
                is_loss=old.is_loss,
            )
        return FullTensor(
            identifier,
            full.name,
            shape,
            full.element_type,
            is_gradient=full.is_gradient,
            is_loss=full.is_loss,
            gradient=gradient,
        )

    def sub(
        self,
        full: FullTensor,
        slices: tuple[Range, ...],
        part: tuple[int, int] = (0, 1),
        gradient: SubTensor | None = None,
    ) -> SubTensor:
        """The sub-tensor for a slice, or for a term of the sum that gives it."""
        key = (full.identifier, slices, part)
        if key not in self.parts:
            self.parts[key] = self.tensor()
        identifier = self.parts[key]
        object_key = (identifier, None if gradient is None else gradient.identifier)
        if object_key not in self.interned:
            self.interned[object_key] = SubTensor(identifier, full, slices, part, gradient)
        return self.interned[object_key]
