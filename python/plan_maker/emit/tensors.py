# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors and other arguments as nnScaler's objects.

Python objects of the plan are the keys: one object in the plan is one object in
the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from plan_maker.graph import (
    Argument,
    DataSource,
    ElementType,
    FullTensor,
    Keyword,
    SubTensor,
)
from plan_maker.pickle_writer import Global, Instance, PickleValue

State: TypeAlias = dict[str, PickleValue]
"""The fields of an object."""

OBJECT = Global("nnscaler.ir.cten", "IRObject")
FULL_TENSOR = Global("nnscaler.ir.tensor", "IRFullTensor")
SUB_TENSOR = Global("nnscaler.ir.tensor", "IRSubTensor")
INDEX_MAP = Global("nnscaler.ir.tensor", "IndexMap")
VALUE_MAP = Global("nnscaler.ir.tensor", "ValueMap")


def instance(key: object, of: Global, state: Callable[[], State]) -> Instance:
    """The one object that stands for `key`."""
    return Instance(id(key), of, state)


def keywords_of(keywords: tuple[Keyword, ...]) -> PickleValue:
    """A `kwargs` dictionary."""
    return {keyword.name: argument(keyword.value) for keyword in keywords}


def arguments(values: Iterable[Argument], cell: Instance) -> list[PickleValue]:
    """The arguments of `cell`. It has a copy of each tensor, which refers to it."""
    return [
        sub_tensor(value, (cell, place)) if isinstance(value, SubTensor) else argument(value)
        for place, value in enumerate(values)
    ]


def results(tensors: tuple[SubTensor, ...], cell: Instance) -> list[PickleValue]:
    """The results of `cell`, which has copies of them, too."""
    return [sub_tensor(tensor, (cell, -1 - place)) for place, tensor in enumerate(tensors)]


def argument(value: Argument) -> PickleValue:
    """An argument that is no tensor of a cell."""
    match value:
        case SubTensor():
            return sub_tensor(value)
        case DataSource():
            return data_source(value)
        case ElementType():
            return _element_type(value)
        case tuple():
            return tuple(argument(element) for element in value)
    return value


def data_source(source: DataSource) -> Instance:
    """The loader."""
    return instance(
        source,
        OBJECT,
        lambda: {
            "_id": source.identifier,
            "name": source.name,
            "_cell": None,
            "_is_attr": False,
            "_value": None,
            "_is_constant": True,
        },
    )


def sub_tensors(tensors: tuple[SubTensor, ...]) -> list[PickleValue]:
    """A list of sub-tensors."""
    return [sub_tensor(tensor) for tensor in tensors]


def sub_tensor(tensor: SubTensor, place: tuple[Instance, int] | None = None) -> Instance:
    """An `IRSubTensor`: the copy of a cell, at a place among what it takes and gives,
    or that of none. Copies share their maps, and each has a copy of its gradient.
    """
    if place is None:
        return _sub_tensor(tensor, None, None)
    cell, number = place
    return _sub_tensor(tensor, (cell.key, number), cell)


def _sub_tensor(tensor: SubTensor, copy: object, cell: Instance | None) -> Instance:
    """The `copy` of a tensor that belongs to a cell."""

    def state() -> State:
        own: State = {
            "_full_tensor": full_tensor(tensor.full),
            "_indmap": Instance(
                ("index map", id(tensor)),
                INDEX_MAP,
                lambda: {"_indices": tensor.slices, "_shape": tensor.full.shape},
            ),
            "_valmap": Instance(
                ("value map", id(tensor)), VALUE_MAP, lambda: {"_weight": tensor.part}
            ),
        }
        gradient = None
        if tensor.gradient is not None:
            gradient = _sub_tensor(tensor.gradient, copy and (copy, "gradient"), None)
        fields = _tensor_state(tensor.full, tensor.identifier, tensor.shape, gradient)
        fields["_cell"] = cell
        return fields | own

    return Instance((id(tensor), copy), SUB_TENSOR, state)


def full_tensor(tensor: FullTensor) -> Instance:
    """An `IRFullTensor`."""

    def state() -> State:
        gradient = None if tensor.gradient is None else full_tensor(tensor.gradient)
        own: State = {"_subtensors": {}, "_is_loss": tensor.is_loss}
        return _tensor_state(tensor, tensor.identifier, tensor.shape, gradient) | own

    return instance(tensor, FULL_TENSOR, state)


def _tensor_state(
    full: FullTensor, identifier: int, shape: tuple[int, ...], gradient: PickleValue
) -> State:
    """The fields that full tensors and sub-tensors share."""
    return {
        "_id": identifier,
        "name": full.name,
        "_cell": None,
        "_is_attr": full.is_parameter,
        "_value": None,
        "_is_constant": True,
        "_shape": shape,
        "_dtype": _element_type(full.element_type),
        "_is_grad": full.is_gradient,
        "_requires_grad": full.gradient is not None,
        "_grad": gradient,
        "_persistent": full.is_parameter and full.gradient is not None,
    }


def _element_type(element_type: ElementType) -> Global:
    return Global("torch", element_type.name)
