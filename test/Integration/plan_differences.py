# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Says in what two plan files differ, as far as it is executed.

Both are read with Python's own unpickler and stand-in classes, and the fields
that say what runs are walked together. Nothing that a file names is looked up.
"""

from __future__ import annotations

import collections
import io
import itertools
import pickle
from collections.abc import Iterator
from typing import Any

_CELL = ("_inputs", "_outputs", "_device")
_FIELDS = {
    "ModuleCodeGen": ("devices", "runtime_ndevs", "enable_dp", "execplan"),
    "ExecutionPlan": ("_seq", "_outputs"),
    "ExeReuseCell": ("_cell", "_outputs"),
    "IRSegment": (*_CELL, "_nodes"),
    "IRDimops": (*_CELL, "_kwargs"),
    "IRBpOperation": (*_CELL, "_mirror"),
    "IRAdapter": (*_CELL, "_prims", "_forward", "_differentiable", "custom"),
    "IRWeightReducer": ("_inputs", "_device"),
    "IRDataOperation": ("_outputs", "_device"),
    "IRSubTensor": (
        *("_id", "_full_tensor", "_shape", "_dtype"),
        *("_is_attr", "_is_grad", "_requires_grad"),
    ),
    "IRFullTensor": ("_is_attr", "_is_grad"),
    "IndexMap": ("_indices",),
    "ValueMap": ("_weight",),
}
_PRIMITIVE = ("_inputs", "_outputs", "kwargs")


class StandIn:
    """Takes the place of any class; keeps only the state."""

    def __new__(cls, *_: Any) -> StandIn:
        """Takes whatever a file gives."""
        return super().__new__(cls)

    def __init__(self, *_: Any) -> None:
        pass


class _Unpickler(pickle.Unpickler):
    def __init__(self, stream: io.BufferedIOBase) -> None:
        super().__init__(stream, buffers=itertools.repeat(b""))
        self.classes: dict[tuple[str, str], Any] = {}

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) not in self.classes:
            self.classes[module, name] = type(name, (StandIn,), {"__module__": module})
        return self.classes[module, name]


def find_differences(old: bytes, new: bytes) -> list[str]:
    """Each as `Class.field: old -> new`.

    Numbers of tensors are compared device by device: equal ones have to stay
    equal. What a plan states about tensors in between, such as their places in
    whole tensors, are claims that verify-plan proves or does without; they are
    not compared.
    """
    try:
        roots = [_Unpickler(io.BytesIO(data)).load() for data in (old, new)]
    except ValueError as error:
        # A registry of numbers for classes, which exists only where it is used.
        return [] if "extension code" in str(error) else [f"file: {error}"]
    except Exception as error:  # Whatever a damaged file makes of the unpickler.
        return [f"file: Python cannot read it: {type(error).__name__}"]
    found: list[str] = []
    numbers: set[tuple[str, str, int, int]] = set()
    seen: set[tuple[str, int, int]] = set()
    pairs = [("", "", roots[0], roots[1])]
    while pairs:
        device, place, left, right = pairs.pop()
        if (device, id(left), id(right)) in seen:
            continue
        seen.add((device, id(left), id(right)))
        if place.endswith("._id") and isinstance(left, int) and isinstance(right, int):
            numbers.add((device, place, left, right))
        elif _class(left) != _class(right) or not isinstance(
            left, StandIn | dict | list | tuple | type
        ):
            if repr(left) != repr(right):
                found.append(f"{place}: {_describe(left)} -> {_describe(right)}")
        else:
            before, after = dict(_children(place, left)), dict(_children(place, right))
            found += [f"{child}: on one side only" for child in before.keys() ^ after.keys()]
            pairs += [
                (
                    child if child.startswith("ExecutionPlan._seq ") else device,
                    child.partition(" ")[0],
                    before[child],
                    after[child],
                )
                for child in before
                if child in after
            ]
    renamed = collections.defaultdict(set)
    for device, place, left, right in numbers:
        renamed[device, place, left].add(right)
    found += [f"{of[1]}: {of[2]} -> {sorted(to)}" for of, to in renamed.items() if len(to) > 1]
    return found


def _children(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Where and what the parts of `value` are that say what runs."""
    if isinstance(value, StandIn):
        name = type(value).__name__
        fields = _PRIMITIVE if name.endswith("Prim") else _FIELDS.get(name, ())
        for field in fields:
            if field in vars(value):
                yield f"{name}.{field}", vars(value)[field]
        state = collections.defaultdict(lambda: None, vars(value))
        if name == "IRFullTensor" and state["_is_attr"] and not state["_is_grad"]:
            yield f"{name}.name", state["name"]
            yield f"{name}._shape", state["_shape"]
        # The gradient of the loss is given; others say what a gradient is called.
        if name == "IRFullTensor":
            yield f"{name}._grad of the loss", state["_grad"] if state["_is_loss"] else None
        if name == "IRSubTensor":
            yield f"{name} has gradient", state["_grad"] is not None
            if state["_is_attr"] and not state["_is_grad"]:
                yield f"{name}._indmap", state["_indmap"]
                yield f"{name}._valmap", state["_valmap"]
        if name == "IRDataOperation" and isinstance(outputs := state["_outputs"], list | tuple):
            for tensor in outputs:
                for field in ("_indmap", "_valmap"):
                    yield f"{name}.{field}", vars(tensor).get(field)
        if name == "ExeReuseCell" and _class(state["_cell"]) != "IRDataOperation":
            yield f"{name}._inputs", state["_inputs"]
        if name == "IRDimops":
            yield f"{name} has mirror", state["_mirror"] is not None
            yield f"{name}.signature", _function(str(state["signature"]))
    elif isinstance(value, dict):
        for key, element in value.items():
            yield f"{place} {key!r}", element
    elif isinstance(value, list | tuple):
        for index, element in enumerate(value):
            yield f"{place} {index}", element


def _function(signature: str) -> str:
    """Functions of the model itself are known by their last name."""
    is_known = signature.startswith(("torch.", "nnscaler."))
    return signature if is_known else signature.rpartition(".")[2]


def _class(value: object) -> str:
    """The name of its class; nnScaler's modules do not matter."""
    return value.__name__ if isinstance(value, type) else type(value).__name__


def _describe(value: object) -> str:
    is_plain = value is None or isinstance(value, bool | int | float | str)
    return str(value)[:80] if is_plain else _class(value)
