# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Execution plans as frozen data.

The classes follow nnScaler's: what is executed is a *cell*, and a device runs a
list of cells. Objects that point at each other in nnScaler (an op and its
backward op, a cell and the cell it mirrors) name each other by `identifier`
here, which keeps the data acyclic; the emitter resolves the names.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

Range: TypeAlias = tuple[int, int]
"""A half-open range [start, end) of one dimension of a full tensor."""


@dataclass(frozen=True)
class ElementType:
    """An element type, written as a global of the module `torch`."""

    name: str

    def __str__(self) -> str:
        return f"torch.{self.name}"


FLOAT32 = ElementType("float32")
INT64 = ElementType("int64")
BOOL = ElementType("bool")
COMPLEX64 = ElementType("complex64")

Constant: TypeAlias = "bool | int | float | str | slice | ElementType | tuple[Constant, ...] | None"
"""A Python constant among the arguments of an op."""


@dataclass(frozen=True, eq=False)
class FullTensor:
    """A tensor of the model, whole: `shape` counts elements of one micro-batch
    of one replica. `gradient` is None if nothing is differentiated by it.

    Compared by identity: two full tensors are never the same by accident.
    """

    identifier: int
    name: str
    shape: tuple[int, ...]
    element_type: ElementType = FLOAT32
    is_parameter: bool = False
    is_gradient: bool = False
    is_loss: bool = False
    gradient: FullTensor | None = None

    def whole(self) -> tuple[Range, ...]:
        """The slice that is the whole tensor."""
        return tuple((0, size) for size in self.shape)


@dataclass(frozen=True)
class SubTensor:
    """What one device holds of a full tensor: the slice `slices`, and of that
    slice term `part[0]` of a sum of `part[1]` terms.
    """

    identifier: int
    full: FullTensor
    slices: tuple[Range, ...]
    part: tuple[int, int] = (0, 1)
    gradient: SubTensor | None = None

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Local sizes, in elements."""
        return tuple(end - start for start, end in self.slices)


@dataclass(frozen=True)
class DataSource:
    """The loader object that a data operation draws from."""

    identifier: int
    name: str = "dataloader"


Argument: TypeAlias = "SubTensor | DataSource | Constant"


@dataclass(frozen=True)
class Keyword:
    """One keyword argument."""

    name: str
    value: Constant


@dataclass(frozen=True)
class Module:
    """A module of the model's tree: where it hangs and its class."""

    path: str
    class_module: str
    class_name: str


@dataclass(frozen=True)
class ForwardOperation:
    """A forward op. `mirror` is its backward op, None if it has none.

    `layer` counts the model's layers from 0; it is None outside of them. It is
    not written to the file: bugs use it to find their place.
    """

    identifier: int
    name: str
    signature: str
    inputs: tuple[Argument, ...]
    outputs: tuple[SubTensor, ...]
    keywords: tuple[Keyword, ...]
    annotations: tuple[str, ...]
    comment: str | None
    modules: tuple[Module, ...]
    device: int
    mirror: int | None
    layer: int | None


@dataclass(frozen=True)
class BackwardOperation:
    """The backward op of forward op `mirror`: from the gradients of its results
    to the gradients of its differentiable operands.
    """

    identifier: int
    inputs: tuple[SubTensor, ...]
    outputs: tuple[SubTensor, ...]
    device: int
    mirror: int
    layer: int | None


@dataclass(frozen=True)
class Primitive:
    """A communication primitive as one device sees it. Keyword values that name
    devices are lists in the file; they are tuples here.
    """

    name: str
    inputs: tuple[SubTensor, ...]
    outputs: tuple[SubTensor, ...]
    keywords: tuple[Keyword, ...]

    def keyword(self, name: str) -> Constant:
        """The value of keyword argument `name`."""
        return next(keyword.value for keyword in self.keywords if keyword.name == name)


@dataclass(frozen=True)
class Adapter:
    """A communication op as one device sees it.

    A differentiable one that is not `is_custom` holds forward primitives on
    forward tensors in both directions; in a backward segment the transpose of
    the primitive is meant. `mirror` is the adapter of the other direction.
    """

    identifier: int
    inputs: tuple[SubTensor, ...]
    outputs: tuple[SubTensor, ...]
    primitives: tuple[Primitive, ...]
    is_forward: bool
    is_differentiable: bool
    is_custom: bool
    device: int
    mirror: int | None
    layer: int | None


SegmentNode: TypeAlias = ForwardOperation | BackwardOperation | Adapter


@dataclass(frozen=True)
class Segment:
    """Straight-line code of one stage on one device, forward or backward."""

    identifier: int
    inputs: tuple[SubTensor, ...]
    outputs: tuple[SubTensor, ...]
    nodes: tuple[SegmentNode, ...]
    is_forward: bool
    mirror: int


@dataclass(frozen=True)
class DataOperation:
    """Draws the next micro-batch on one device."""

    identifier: int
    source: DataSource
    outputs: tuple[SubTensor, ...]
    device: int


@dataclass(frozen=True)
class WeightReducer:
    """Sums the gradients of `inputs` (the weights) over `devices` of one replica
    and over all replicas.
    """

    identifier: int
    inputs: tuple[SubTensor, ...]
    devices: tuple[int, ...]


BaseCell: TypeAlias = Segment | Adapter | DataOperation


@dataclass(frozen=True)
class ReuseCell:
    """One execution of `cell` on the tensors of one micro-batch. `mirror` is the
    reuse cell of the other direction of the same micro-batch.
    """

    identifier: int
    cell: BaseCell
    inputs: tuple[SubTensor | DataSource, ...]
    outputs: tuple[SubTensor, ...]
    mirror: int | None
    micro_batch: int


Cell: TypeAlias = BaseCell | WeightReducer | ReuseCell


@dataclass(frozen=True)
class DeviceProgram:
    """What `device` runs, in order. `unscheduled` cells are never run; the
    `mirror` of another cell refers to them.
    """

    device: int
    cells: tuple[Cell, ...]
    unscheduled: tuple[Cell, ...] = ()


@dataclass(frozen=True)
class Plan:
    """The plan of one replica. `runtime_devices` counts the devices of all of
    them; `groups` are the process groups that the runtime creates.
    """

    programs: tuple[DeviceProgram, ...]
    runtime_devices: int
    outputs: tuple[SubTensor, ...]
    source: DataSource
    groups: tuple[tuple[int, ...], ...]

    @property
    def devices(self) -> tuple[int, ...]:
        """The devices of one replica."""
        return tuple(program.device for program in self.programs)


def base_cell(cell: Cell) -> BaseCell | WeightReducer:
    """The cell that is executed: `cell`, or what it executes again."""
    return cell.cell if isinstance(cell, ReuseCell) else cell
