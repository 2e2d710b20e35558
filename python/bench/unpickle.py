# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads pickles with CPython: `python3 -m bench.unpickle FILE...`.

The yardstick of the benchmarks: every class is an empty one, and the garbage collector
is off. Prints seconds and the peak of memory as JSON. No function that a pickle names is
called.
"""

import gc
import json
import pickle
import sys
import time
from typing import Any


class Reader(pickle.Unpickler):
    """Knows every class, as an empty one."""

    def __init__(self, file: Any) -> None:
        super().__init__(file)
        self.classes: dict[tuple[str, str], type] = {}

    def find_class(self, module: str, name: str) -> type:
        """The empty class of that name."""
        if (module, name) not in self.classes:
            made = type(name, (Stand,), {})
            self.classes[module, name] = made
        return self.classes[module, name]


class Stand:
    """Takes any arguments and any state."""

    def __new__(cls, *arguments: Any, **named: Any) -> "Stand":
        """Ignores what it is made with."""
        return super().__new__(cls)

    def __init__(self, *arguments: Any, **named: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        self.state = state

    def __call__(self, *arguments: Any) -> "Stand":
        """Classes and functions are called to make objects."""
        return self

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def append(self, value: Any) -> None:
        """Lists of other classes."""

    def extend(self, values: Any) -> None:
        """The same."""

    def add(self, value: Any) -> None:
        """Sets of other classes."""


def peak_memory() -> int:
    """Bytes of this process; `getrusage` tells of what started it, if that had more."""
    with open("/proc/self/status") as file:
        return 1024 * int(file.read().split("VmHWM:")[1].split()[0])


if __name__ == "__main__":
    gc.disable()
    start = time.perf_counter()
    kept = []
    for path in sys.argv[1:]:
        with open(path, "rb") as stream:
            kept.append(Reader(stream).load())
    seconds = time.perf_counter() - start
    peak = peak_memory()
    print(json.dumps({"seconds": seconds, "peak_memory_bytes": peak}))
