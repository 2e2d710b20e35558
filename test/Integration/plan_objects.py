# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The objects of a plan that was read."""

from collections.abc import Iterator
from typing import Any


def objects(root: Any) -> Iterator[Any]:
    """All dictionaries and objects with entries, each once; what they hold then follows."""
    seen: set[int] = set()
    worklist = [root]
    while worklist:
        value = worklist.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, list | tuple):
            worklist += value
        elif isinstance(value, dict):
            yield value
            worklist += value.values()
        elif hasattr(value, "__dict__"):
            yield value
            worklist.append(vars(value))
