# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exchanges the numbers of two devices wherever a plan names them.

usage: exchange_devices.py PLAN FIRST SECOND
"""

import sys
from pathlib import Path
from typing import Any

from hostile_plans import convert
from plan_maker.pickle_writer import PickleWriter
from plan_objects import objects
from tests.reading import read_plan


def main() -> None:
    """Rewrites the plan."""
    path, first, second = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    other = {first: second, second: first}

    def exchange(value: Any) -> Any:
        """The number, or each one of a list."""
        if isinstance(value, list | tuple):
            return type(value)(other.get(number, number) for number in value)
        return other.get(value, value)

    root = read_plan(path.read_bytes())
    for value in objects(root):
        if isinstance(value, dict):
            for name in {"ranks", "src", "dst", "srcs", "dsts"} & value.keys():
                value[name] = exchange(value[name])
        else:
            for name in {"_device", "device"} & vars(value).keys():
                setattr(value, name, exchange(getattr(value, name)))
    cells = root.execplan._seq
    root.execplan._seq = {exchange(device): cells[device] for device in cells}
    with path.open("wb") as stream:
        PickleWriter(stream).write(convert(root))


if __name__ == "__main__":
    main()
