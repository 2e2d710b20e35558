# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads a plan file back with Python's own unpickler and stand-in classes."""

from __future__ import annotations

import collections
import contextlib
import io
import pickle
import tempfile
from pathlib import Path
from typing import Any

from plan_maker.command_line import main


class StandIn:
    """Takes the place of any class of nnScaler or torch, and of its members."""

    def __init__(self, *values: Any) -> None:
        if values:
            self.value = values[0]

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"{type(self).__name__} has no field '{name}'")


class _Unpickler(pickle.Unpickler):
    def __init__(self, stream: io.BufferedIOBase) -> None:
        super().__init__(stream)
        self.classes: dict[str, type[StandIn]] = {}

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        path = f"{module}.{name}"
        if path not in self.classes:
            self.classes[path] = type(name, (StandIn,), {"__module__": module})
        return self.classes[path]


def read_plan(data: bytes) -> Any:
    """The root object of a plan file."""
    return _Unpickler(io.BytesIO(data)).load()


def make_files(*arguments: str) -> tuple[bytes, bytes]:
    """The plan and the reference that the command line writes."""
    with tempfile.TemporaryDirectory() as folder:
        plan, reference = Path(folder, "plan.pkl"), Path(folder, "reference.pkl")
        code = main([*arguments, "-o", str(plan), "--reference", str(reference)])
        if code != 0:
            raise AssertionError(f"exit code {code}")
        if len(list(Path(folder).iterdir())) != 2:
            raise AssertionError("temporary files are left")
        return plan.read_bytes(), reference.read_bytes()


def make_file(*arguments: str) -> tuple[int, bytes]:
    """The exit code and the plan that the command line writes; errors are not shown."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
        path = Path(folder, "plan.pkl")
        code = main([*arguments, "-o", str(path)])
        return code, path.read_bytes() if code == 0 else b""


def make_plan(*arguments: str) -> Any:
    """The plan that the command line writes, read back."""
    return read_plan(make_files(*arguments)[0])


def class_path(instance: object) -> str:
    """The full name of the class that an object has in the file."""
    return f"{type(instance).__module__}.{type(instance).__qualname__}"


def class_name(instance: object) -> str:
    """The last part of `class_path`."""
    return type(instance).__name__


def executed(cell: Any) -> Any:
    """The cell that is executed: `cell`, or what it executes again."""
    return cell._cell if class_name(cell) == "ExeReuseCell" else cell


def segment_nodes(root: Any, device: int) -> list[Any]:
    """The nodes of a device's segments, each segment once."""
    segments = {
        id(cell): cell
        for cell in map(executed, root.execplan._seq[device])
        if class_name(cell) == "IRSegment"
    }
    return [node for segment in segments.values() for node in segment._nodes]


def is_tensor(value: object) -> bool:
    """Is it a sub-tensor?"""
    return class_name(value) == "IRSubTensor"
