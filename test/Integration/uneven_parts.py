# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a plan whose ranks have parts of two sizes, as `torch.chunk` makes them, and its
reference.

usage: uneven_parts.py PLAN REFERENCE OPTION...
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from plan_maker.command_line import make_plan, make_reference, read_options
from plan_maker.emit import write_plan
from plan_maker.strategy import configuration, layout


def slice_of(
    shape: Sequence[int], dimension: int, rank: int, ranks: int
) -> tuple[tuple[int, int], ...]:
    """The part of a rank: the last one is smaller."""
    size = -(-shape[dimension] // ranks)
    own = (rank * size, min((rank + 1) * size, shape[dimension]))
    return tuple(own if at == dimension else (0, width) for at, width in enumerate(shape))


def piece(tensor: Any, where: Any, rank: int, ranks: int) -> Any:
    """Bounds and term of what a rank has."""
    if where.dimension is None:
        return tensor.whole(), (rank, ranks) if where.is_partial and ranks > 1 else (0, 1)
    return slice_of(tensor.shape, where.dimension, rank, ranks), (0, 1)


def main() -> None:
    """Writes both files."""
    vars(layout).update(slice_of=slice_of, _piece=piece)
    vars(configuration).update(_check_local_batch=lambda *_: None)
    options = read_options([*sys.argv[3:], "-o", sys.argv[1], "--reference", sys.argv[2]])
    write_plan(make_plan(options), options.output)
    write_plan(make_reference(options), Path(sys.argv[2]))


if __name__ == "__main__":
    main()
