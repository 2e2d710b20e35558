# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How a tensor lies on the tensor-parallel ranks of a stage, and what splitting
an op does to its operands and results.

An op is split by one factor of its partition rule. Operands and results that
have the factor are split along the dimension it leads. A result that lacks it
is whole on every rank, or, if the factor is summed over, one term of a sum. An
operand that lacks it is whole on every rank, and its gradient is one term of a
sum, because each rank differentiates only its share of the op.
"""

from __future__ import annotations

from dataclasses import dataclass

from plan_maker.annotation import SUM, WHOLE, Dimension, Factor
from plan_maker.errors import ImpossiblePlanError
from plan_maker.graph import FullTensor, Range, SubTensor
from plan_maker.strategy.numbering import Numbering
from plan_maker.trace import Call


@dataclass(frozen=True)
class Layout:
    """Whole on every rank; or split evenly along `dimension`, rank r holding
    part r; or `is_partial`: whole in shape, rank r holding term r of a sum.
    """

    dimension: int | None = None
    is_partial: bool = False


WHOLE_ON_EACH = Layout()
TERM_ON_EACH = Layout(is_partial=True)


def split(dimension: int) -> Layout:
    """Split evenly along `dimension`."""
    return Layout(dimension)


@dataclass(frozen=True)
class Value:
    """A tensor in a layout, and the layout of its gradient at that point of the
    program (None: it has no gradient).
    """

    tensor: FullTensor
    layout: Layout
    gradient: Layout | None

    @staticmethod
    def produced(tensor: FullTensor, layout: Layout) -> Value:
        """A result: its gradient arrives complete, split as the result is."""
        gradient = WHOLE_ON_EACH if layout.is_partial else layout
        return Value(tensor, layout, gradient if tensor.gradient else None)


@dataclass(frozen=True)
class Partition:
    """The operands (None: not a tensor) and results of a call, as values."""

    operands: tuple[Value | None, ...]
    results: tuple[Value, ...]
    factor: Factor | None


def partition(call: Call, at: tuple[int, int] | None) -> Partition:
    """Splits `call` so that operand `at[0]` is split along dimension `at[1]`; not
    at all if `at` is None.
    """
    if at is None:
        operands = tuple(
            Value.produced(op, WHOLE_ON_EACH) if isinstance(op, FullTensor) else None
            for op in call.operands
        )
        results = tuple(Value.produced(tensor, WHOLE_ON_EACH) for tensor in call.results)
        return Partition(operands, results, None)

    factor = call.rule.factor_at(*at)
    _check_splittable(call, factor)
    is_sum = any(other.name == factor.name and other.kind == SUM for other in call.rule.factors())
    values: list[Value | None] = []
    for operand, dimensions in zip(call.operands, call.rule.operands, strict=True):
        if not isinstance(operand, FullTensor) or dimensions is None:
            values.append(None)
            continue
        place = _dimension_of(dimensions, factor)
        layout = WHOLE_ON_EACH if place is None else split(place)
        gradient = TERM_ON_EACH if place is None else layout
        values.append(Value(operand, layout, gradient if operand.gradient else None))
    results = tuple(
        Value.produced(tensor, _result_layout(dimensions, factor, is_sum))
        for tensor, dimensions in zip(call.results, call.rule.results, strict=True)
    )
    return Partition(tuple(values), results, factor)


def hold(value: Value, rank: int, ranks: int, numbering: Numbering) -> SubTensor:
    """What `rank` of `ranks` holds of `value`."""
    tensor = value.tensor
    gradient = None
    if value.gradient is not None and tensor.gradient is not None:
        gradient = numbering.sub(tensor.gradient, *_piece(tensor, value.gradient, rank, ranks))
    return numbering.sub(tensor, *_piece(tensor, value.layout, rank, ranks), gradient)


def slice_of(shape: tuple[int, ...], dimension: int, rank: int, ranks: int) -> tuple[Range, ...]:
    """Part `rank` of `ranks` equal parts of a tensor along `dimension`."""
    size = shape[dimension] // ranks
    return tuple(
        (rank * size, (rank + 1) * size) if place == dimension else (0, whole)
        for place, whole in enumerate(shape)
    )


def _piece(
    tensor: FullTensor, layout: Layout, rank: int, ranks: int
) -> tuple[tuple[Range, ...], tuple[int, int]]:
    if layout.dimension is None:
        return tensor.whole(), (rank, ranks) if layout.is_partial and ranks > 1 else (0, 1)
    size = tensor.shape[layout.dimension]
    if size % ranks:
        raise ImpossiblePlanError(
            f"'{tensor.name}': dimension {layout.dimension} of size {size} cannot be split "
            f"over {ranks} tensor-parallel ranks"
        )
    return slice_of(tensor.shape, layout.dimension, rank, ranks), (0, 1)


def _result_layout(dimensions: tuple[Dimension, ...], factor: Factor, is_sum: bool) -> Layout:
    place = _dimension_of(dimensions, factor)
    if place is not None:
        return split(place)
    return TERM_ON_EACH if is_sum else WHOLE_ON_EACH


def _dimension_of(dimensions: tuple[Dimension, ...], factor: Factor) -> int | None:
    for place, dimension in enumerate(dimensions):
        if dimension[0].name == factor.name:
            return place
    return None


def _check_splittable(call: Call, factor: Factor) -> None:
    shapes = [shape for shape in (*call.rule.operands, *call.rule.results) if shape is not None]
    minor = any(other.name == factor.name for shape in shapes for dim in shape for other in dim[1:])
    whole = any(other.name == factor.name and other.kind == WHOLE for other in call.rule.factors())
    if factor.size is not None or minor or whole:
        raise ImpossiblePlanError(
            f"'{call.name}' cannot be split by '{factor.name}': its rule is '{call.rule.text}'"
        )
