# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The primitives that bring a tensor from one layout to another.

Most are differentiable: one primitive whose transpose acts on the gradients. A sum
of which each rank keeps a part, and its mirror image, are either one such
primitive, or two that are not differentiable, with primitives of their own for the
gradients.
"""

from __future__ import annotations

from dataclasses import dataclass

from plan_maker.strategy.layout import TERM_ON_EACH, WHOLE_ON_EACH, Layout, Value


@dataclass(frozen=True)
class Hop:
    """One primitive, and its keywords that name dimensions."""

    name: str
    dimensions: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Communication:
    """What is done to the tensor, and to its gradient on the way back (None: the
    transpose, or nothing if there is no gradient). Between hops the tensor is
    whole on every rank.
    """

    forward: tuple[Hop, ...]
    backward: tuple[Hop, ...] | None = None


def communication(source: Value, target: Value, *, scatters: bool) -> Communication:
    """How `source` becomes `target`; with reduce-scatter if `scatters`."""
    before, after = source.layout, target.layout
    if source.gradient is None or target.gradient is None:
        return Communication((_plain_communication(before, after),))
    if scatters and before.is_partial and after.dimension is not None:
        return Communication((_along("ReduceScatterAllGatherPrim", after.dimension),))
    if before.is_partial and after.dimension is not None:
        gather = _along("AllGatherPrim", after.dimension)
        return Communication(_sum_and_keep_part(after.dimension), (gather,))
    if before.is_partial and after == WHOLE_ON_EACH:
        return Communication((Hop("AllReduceIdentityPrim"),))
    if before == WHOLE_ON_EACH and after == WHOLE_ON_EACH:
        return Communication((Hop("IdentityAllreducePrim"),))
    if before == WHOLE_ON_EACH and after.dimension is not None:
        return Communication((_along("SplitAllGatherPrim", after.dimension),))
    if before.dimension is not None and after == WHOLE_ON_EACH:
        if target.gradient == TERM_ON_EACH and scatters:
            return Communication((_along("AllGatherReduceScatterPrim", before.dimension),))
        if target.gradient == TERM_ON_EACH:
            gather = _along("AllGatherPrim", before.dimension)
            return Communication((gather,), _sum_and_keep_part(before.dimension))
        return Communication((_along("AllGatherSplitPrim", before.dimension),))
    if before.dimension is not None and after.dimension is not None:
        dimensions = (("idim", before.dimension), ("odim", after.dimension))
        return Communication((Hop("AllToAllAllToAllPrim", dimensions),))
    raise ValueError(f"no primitive brings {before} to {after} for '{source.tensor.name}'")


def _plain_communication(before: Layout, after: Layout) -> Hop:
    """Primitives where there is no gradient: for tokens and masks, and for ops
    without backward.
    """
    if before == WHOLE_ON_EACH and after.dimension is not None:
        return _along("ChunkPrim", after.dimension)
    if before.dimension is not None and after == WHOLE_ON_EACH:
        return _along("AllGatherPrim", before.dimension)
    if before.is_partial and after == WHOLE_ON_EACH:
        return Hop("AllReducePrim")
    raise ValueError(f"no primitive brings {before} to {after}")


def _sum_and_keep_part(dimension: int) -> tuple[Hop, ...]:
    return Hop("AllReducePrim"), _along("ChunkPrim", dimension)


def _along(name: str, dimension: int) -> Hop:
    return Hop(name, (("dim", dimension),))
