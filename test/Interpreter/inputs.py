# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes input files, right ones and others, and checks what a run made of them.

usage: inputs.py write WORK | inputs.py check WORK
"""

import io
import json
import sys
import warnings
import zipfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

DATA = np.arange(16.0).reshape(4, 4) / 8 - 0.5
WEIGHTS = {
    f"layers.{layer}.weight": (np.arange(16.0).reshape(4, 4) % 5 - layer) / 4 for layer in range(2)
}


def write(work: Path) -> None:
    """Writes the files that inputs.test names."""
    given: dict[str, Any] = {"data": DATA, **WEIGHTS}
    np.savez(work / "given.npz", **given)
    as_lists = {name: tensor.tolist() for name, tensor in given.items()}
    files = {
        "given": as_lists,
        "large": as_lists | {"data": (DATA * 1e308).tolist()},
        "shape": {"data": DATA[:2].tolist()},
        "unknown": {"nothing": [1]},
        "ragged": {"data": [[1, 2], [3]]},
        "words": {"data": ["one"]},
        "list": [1, 2],
    }
    for name, content in files.items():
        (work / f"{name}.json").write_text(json.dumps(content))
    (work / "cut.npz").write_bytes((work / "given.npz").read_bytes()[100:-60])
    np.savez_compressed(work / "compressed.npz", data=DATA)
    np.savez(work / "columns.npz", data=np.asfortranarray(DATA))
    np.savez(work / "complex.npz", data=DATA + 1j)
    np.savez(work / "nan.npz", data=DATA * np.nan)
    with zipfile.ZipFile(work / "twice.npz", "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # That a name is there twice.
        for rows in (DATA[:2], DATA[2:]):
            content = io.BytesIO()
            np.save(content, rows)
            archive.writestr("data.npy", content.getvalue())


def check(work: Path) -> None:
    """Compares what the runs gave with the model, a sum of two linear layers."""
    first, second = WEIGHTS.values()
    hidden = DATA @ first.T
    ones = np.ones((4, 4))
    expected = {
        "sum_1": (hidden @ second.T).sum(),
        "layers.0.weight": (ones @ second).T @ DATA,
        "layers.1.weight": ones.T @ hidden,
    }
    for name, kind in (("npz", "exact"), ("double", "double")):
        [program] = json.loads((work / f"{name}.json").read_text())["programs"]
        assert program["arithmetic"] == kind
        assert program["equal"] is True
        assert len(program["results"]) == len(expected)
        for row in program["results"]:
            places = [place["plan"] for place in row["places"]]
            assert len(places) > 0
            for tensor in [row["reference"], *places]:
                values = [float(Fraction(value)) for value in tensor["values"]]
                assert np.array_equal(values, np.ravel(expected[row["name"]])), row["name"]


if __name__ == "__main__":
    {"write": write, "check": check}[sys.argv[1]](Path(sys.argv[2]))
