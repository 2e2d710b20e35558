# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The model as one device runs it: a list of calls on full tensors.

A trace does not depend on how the model is parallelized, except that sizes are
those of one micro-batch of one replica. Full tensors are numbered in program
order, so a parallel plan and its single-device counterpart, which are traced
separately, number them alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from plan_maker import annotation
from plan_maker.graph import (
    BOOL,
    FLOAT32,
    INT64,
    Constant,
    DataSource,
    ElementType,
    FullTensor,
    Keyword,
    Module,
)


@dataclass(frozen=True)
class LocalShape:
    """A keyword value: the shape that the op's first result has on the device,
    with -1 for dimension `inferred`.
    """

    inferred: int | None = None


@dataclass(frozen=True)
class LocalSize:
    """A keyword value that is the size of `factor` on the device; `size` in all."""

    factor: str
    size: int


@dataclass(frozen=True)
class LocalBound:
    """A keyword value that is where the device's part of `factor` starts, or, if
    `is_end`, ends; `size` counts all of it.
    """

    factor: str
    size: int
    is_end: bool = False


Operand: TypeAlias = "FullTensor | Constant"
KeywordValue: TypeAlias = "Constant | LocalShape | LocalSize | LocalBound"
Keywords: TypeAlias = tuple[tuple[str, KeywordValue], ...]


@dataclass(frozen=True, eq=False)
class Call:
    """One op of the model. `rule` is the one of `annotations` that fits."""

    name: str
    signature: str
    operands: tuple[Operand, ...]
    results: tuple[FullTensor, ...]
    keywords: Keywords
    annotations: tuple[str, ...]
    rule: annotation.Rule
    comment: str | None
    modules: tuple[Module, ...] = ()
    layer: int | None = None

    def tensor_operands(self) -> tuple[tuple[int, FullTensor], ...]:
        """Positions and tensors of the operands that are tensors."""
        return tuple(
            (position, operand)
            for position, operand in enumerate(self.operands)
            if isinstance(operand, FullTensor)
        )


@dataclass(frozen=True)
class Trace:
    """The calls of the model in program order. `data` are what the loader gives;
    `next_identifier` is the first tensor number that is free.
    """

    calls: tuple[Call, ...]
    source: DataSource
    data: tuple[FullTensor, ...]
    loss: FullTensor
    next_identifier: int


@dataclass(frozen=True)
class Site:
    """Where in the model a call is: source line, modules and layer."""

    comment: str | None
    modules: tuple[Module, ...] = ()
    layer: int | None = None


@dataclass(frozen=True)
class Kind:
    """A kind of op: its Python name and the partition rules it is known with.

    `result` is the stem of the results' names where it is not `name`; `sizes` are
    those of factors that no operand has; `index_results` are the results that are
    integers, `truth_results` those that are truth values.
    """

    name: str
    signature: str
    annotations: tuple[str, ...]
    result: str | None = None
    sizes: tuple[tuple[str, int], ...] = ()
    index_results: tuple[int, ...] = ()
    truth_results: tuple[int, ...] = ()

    def element_type(self, result: int) -> ElementType:
        """What result `result` consists of."""
        if result in self.truth_results:
            return BOOL
        return INT64 if result in self.index_results else FLOAT32


@dataclass
class Tracer:
    """Collects the calls of a model."""

    calls: list[Call] = field(default_factory=list)
    names: Counter[str] = field(default_factory=Counter)
    next_identifier: int = 1

    def source(self) -> DataSource:
        """The loader that the model's input comes from."""
        return DataSource(self._take_identifier())

    def tensor(
        self,
        name: str,
        shape: tuple[int, ...],
        *,
        element_type: ElementType = FLOAT32,
        is_parameter: bool = False,
        is_loss: bool = False,
        has_gradient: bool = True,
    ) -> FullTensor:
        """A new full tensor, numbered n, and its gradient, numbered n + 1."""
        identifier = self._take_identifier()
        gradient = None
        if has_gradient:
            gradient = FullTensor(
                self._take_identifier(),
                "g" + name.replace(".", "_"),
                shape,
                element_type,
                is_parameter=is_parameter,
                is_gradient=True,
                is_loss=is_loss,
            )
        return FullTensor(
            identifier,
            name,
            shape,
            element_type,
            is_parameter=is_parameter,
            is_loss=is_loss,
            gradient=gradient,
        )

    def parameter(self, name: str, shape: tuple[int, ...]) -> FullTensor:
        """A trained parameter."""
        return self.tensor(name, shape, is_parameter=True)

    def call(
        self,
        kind: Kind,
        operands: tuple[Operand, ...],
        keywords: Keywords,
        site: Site,
        *,
        has_gradient: bool = True,
        is_loss: bool = False,
    ) -> tuple[FullTensor, ...]:
        """Appends a call; the shapes of the results follow from its rule."""
        shapes = [op.shape if isinstance(op, FullTensor) else None for op in operands]
        known = dict(kind.sizes)
        known |= {value.factor: value.size for _, value in keywords if isinstance(value, LocalSize)}
        rule = fitting_rule(kind.annotations, shapes, known)
        stem = kind.result or kind.name
        results = tuple(
            self.tensor(
                self._name(stem),
                shape,
                element_type=kind.element_type(place),
                has_gradient=has_gradient and kind.element_type(place) == FLOAT32,
                is_loss=is_loss,
            )
            for place, shape in enumerate(annotation.result_shapes(rule, shapes, known))
        )
        self.calls.append(
            Call(
                kind.name,
                kind.signature,
                operands,
                results,
                keywords,
                kind.annotations,
                rule,
                site.comment,
                site.modules,
                site.layer,
            )
        )
        return results

    def _name(self, stem: str) -> str:
        """The first `stem` keeps its name, the next ones are numbered."""
        count = self.names[stem]
        self.names[stem] += 1
        return f"{stem}_{count}" if count else stem

    def _take_identifier(self) -> int:
        self.next_identifier += 1
        return self.next_identifier - 1


def fitting_rule(
    annotations: tuple[str, ...],
    shapes: list[tuple[int, ...] | None],
    known: Mapping[str, int] | None = None,
) -> annotation.Rule:
    """The first of `annotations` that operands of these shapes satisfy."""
    ranks = [None if shape is None else len(shape) for shape in shapes]
    for text in annotations:
        try:
            rule = annotation.parse(text, ranks)
            annotation.result_shapes(rule, shapes, known)
        except ValueError:
            continue
        return rule
    raise ValueError(f"none of {annotations} fits operands of shapes {shapes}")


@dataclass(frozen=True)
class Share:
    """One device's share of a call: the shape that its first result has there,
    and which of how many parts of which factor it has (None: it has all).
    """

    result_shape: tuple[int, ...]
    factor: str | None = None
    rank: int = 0
    ranks: int = 1

    def part_of(self, factor: str, size: int) -> tuple[int, int]:
        """The range of `factor`, which has `size` in all."""
        if factor != self.factor:
            return 0, size
        local = size // self.ranks
        return self.rank * local, (self.rank + 1) * local


def keyword_values(keywords: Keywords, share: Share) -> tuple[Keyword, ...]:
    """The keywords for a device with `share` of the call."""
    return tuple(Keyword(name, _local(value, share)) for name, value in keywords)


def _local(value: KeywordValue, share: Share) -> Constant:
    match value:
        case LocalShape():
            return tuple(
                -1 if place == value.inferred else size
                for place, size in enumerate(share.result_shape)
            )
        case LocalSize():
            start, end = share.part_of(value.factor, value.size)
            return end - start
        case LocalBound():
            return share.part_of(value.factor, value.size)[value.is_end]
        case _:
            return value
