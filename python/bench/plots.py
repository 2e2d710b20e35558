# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws results: `python3 -m bench.plots RESULTS.json FOLDER`. Needs matplotlib."""

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("svg")

from matplotlib import pyplot

PHASES = ("import", "schedule and link", "check")


def draw(name: str, rows: list[dict[str, Any]], path: Path) -> None:
    """Seconds of each phase over the sizes of a ladder, with CPython's unpickling."""
    figure, axes = pyplot.subplots(figsize=(6, 4))
    sizes = [row["size"] for row in rows]
    axes.plot(sizes, [row["total_seconds"] for row in rows], "k-o", label="all")
    for phase in PHASES:
        axes.plot(sizes, [row["seconds"].get(phase, 0) for row in rows], "-", label=phase)
    axes.plot(sizes, [row["unpickle"]["seconds"] for row in rows], "k:", label="CPython unpickles")
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xlabel(name)
    axes.set_ylabel("seconds")
    axes.legend()
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)


def main() -> None:
    """Draws each ladder of a file of results."""
    results, folder = json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2])
    for name, rows in results["ladders"].items():
        if len(rows) > 1:
            draw(name, rows, folder / f"{name}.svg")


if __name__ == "__main__":
    main()
