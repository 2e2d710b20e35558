# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What CPython makes of a plan file, and the file that CPython writes of that.

No class or function that a file names is looked up or called: objects keep how they were
made, and are written as they were.
"""

from __future__ import annotations

import collections
import copyreg
import io
import pickle
import sys
import threading
from collections.abc import Callable
from typing import Any, ClassVar

PROTOCOL = 4
# Plans are linked lists of ops, and the pickler calls itself along them.
STACK_BYTES = 512 << 20
DEPTH = 1_000_000
# What Python itself makes: what becomes of equal keys, and of changes, is for it to say.
KNOWN = {
    ("collections", "OrderedDict"): collections.OrderedDict,
    ("builtins", "slice"): slice,
}


def _copied(value: Any) -> Any:
    return type(value)(value) if type(value) in (list, dict) else value


class Made:
    """Takes the place of an object of any class, and of what a function returns."""

    __slots__ = ("__dict__", "arguments", "is_called", "other_state")
    arguments: tuple[Any, ...]
    is_called: bool
    other_state: Any
    """A state that is no dictionary."""

    def __new__(cls, *arguments: Any) -> Made:
        """Keeps the arguments as they are now: torch and NumPy copy theirs."""
        made = super().__new__(cls)
        made.arguments = tuple(map(_copied, arguments))
        made.is_called = False
        made.other_state = None
        return made

    def __init__(self, *_arguments: Any) -> None:
        """Only a call gets here: `NEWOBJ` does not."""
        self.is_called = True

    def __call__(self, *arguments: Any) -> Called:
        """What a function gives that another one made, as those that `dill` names do."""
        called = Called(*arguments)
        called.function = self
        return called

    def __setstate__(self, state: Any) -> None:
        """Functions have a tuple."""
        if isinstance(state, dict):
            self.__dict__.update(state)
        else:
            self.other_state = state

    @property
    def state(self) -> Any:
        """What the object is written with."""
        return self.other_state or self.__dict__ or None

    def __reduce_ex__(self, _protocol: Any) -> tuple[Any, ...]:
        if self.is_called:
            return (type(self), self.arguments, self.state)
        return (copyreg.__newobj__, (type(self), *self.arguments), self.state)  # type: ignore[attr-defined]


class Called(Made):
    """Takes the place of what a made function returns."""

    __slots__ = ("function",)
    function: Made

    def __reduce_ex__(self, _protocol: Any) -> tuple[Any, ...]:
        return (self.function, self.arguments, self.state)


class Reader(pickle.Unpickler):
    """CPython's reader, which makes stand-ins."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data))
        self.classes: dict[tuple[str, str], type] = {}

    def find_class(self, module: str, name: str) -> Any:
        """The class that stands for a name."""
        path = (module, name)
        if path in KNOWN:
            return KNOWN[path]
        if path not in self.classes:
            self.classes[path] = type(name, (Made,), {"__module__": module, "__slots__": ()})
        return self.classes[path]


class Writer(pickle._Pickler):
    """CPython's writer in Python, as the other one looks classes up where they are defined."""

    def save_class(self, kind: type, name: str | None = None) -> None:
        """Names a class."""
        if not issubclass(kind, Made):
            super().save_global(kind, name)  # type: ignore[misc]
            return
        self.save(kind.__module__)  # type: ignore[attr-defined]
        self.save(kind.__name__)  # type: ignore[attr-defined]
        self.write(pickle.STACK_GLOBAL)  # type: ignore[attr-defined]
        self.memoize(kind)  # type: ignore[attr-defined]

    dispatch: ClassVar[dict[type, Any]] = {**pickle._Pickler.dispatch, type: save_class}


def rewrite(data: bytes) -> bytes:
    """The file that CPython writes of what it reads; what it raises if it cannot."""
    return change(data, lambda root: None)


def change(data: bytes, edit: Callable[[Any], None]) -> bytes:
    """The same of what `edit` makes of the object of a file."""
    written = io.BytesIO()
    errors: list[Exception] = []

    def go() -> None:
        try:
            root = Reader(data).load()
            edit(root)
            Writer(written, PROTOCOL).dump(root)
        except Exception as error:
            errors.append(error)

    depth, size = sys.getrecursionlimit(), threading.stack_size(STACK_BYTES)
    sys.setrecursionlimit(DEPTH)
    try:
        thread = threading.Thread(target=go)
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(depth)
        threading.stack_size(size)
    if errors:
        raise errors[0]
    return written.getvalue()
