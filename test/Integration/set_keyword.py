# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gives a keyword of each op or primitive that calls a function another value.

usage: set_keyword.py PLAN FUNCTION KEYWORD VALUE

FUNCTION is the end of a signature; VALUE is Python.
"""

import ast
import sys
from pathlib import Path

from hostile_plans import convert
from plan_maker.pickle_writer import PickleWriter
from plan_objects import objects
from tests.reading import read_plan


def main() -> None:
    """Rewrites the plan."""
    path, function, keyword = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    root = read_plan(path.read_bytes())
    new, count = ast.literal_eval(sys.argv[4]), 0
    for value in objects(root):
        if str(getattr(value, "signature", "")).endswith(function):
            fields = vars(value)
            fields["_kwargs" if "_kwargs" in fields else "kwargs"][keyword] = new
            count += 1
    assert count, f"nothing calls {function}"
    with path.open("wb") as stream:
        PickleWriter(stream).write(convert(root))


if __name__ == "__main__":
    main()
