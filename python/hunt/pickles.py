# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares what is imported of plan files that Python's pickler does not write with what is
imported of the files that CPython writes of them.

Each seed is a plan of the plan maker, and changes of the opcodes of its file or its
reference's.
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from random import Random

from hunt.families import FAMILIES
from hunt.judge import run_bounded
from hunt.opcode_mutations import Opcodes, mutate, parse
from hunt.pickled_objects import rewrite
from hunt.rows import Row, in_steps
from tests.reading import make_files

ORDER = ["mlp-megatron", "mlp-pipeline", "gpt-megatron", "llama-moe-experts"]


def imported(translate: str, files: list[Path]) -> tuple[str, str]:
    """What becomes of a plan file and its reference: the module, or the error."""
    plan, reference = map(str, files)
    command = [translate, "--import-nnscaler", "--reference", reference, plan]
    try:
        code, module, errors = run_bounded([*command, "-o", "-"])
    except subprocess.TimeoutExpired:
        return "timeout", ""
    if code == 0:
        return "imported", module
    return ("rejected" if 0 < code < 4 else "crashed"), errors


def judge(translate: str, folder: Path, changed: str) -> tuple[str, str]:
    """`alike`, `rejected`, `not loaded` where Python reads no such file, else what is wrong;
    and why.
    """
    files = [folder / "plan.pkl", folder / "single.pkl"]
    answer, module = imported(translate, files)
    if answer != "imported":
        return answer, module[:300]
    try:
        written = rewrite((folder / changed).read_bytes())
    except Exception as error:
        return "not loaded", f"{type(error).__name__}: {error}"
    (folder / changed).write_bytes(written)
    answer, other = imported(translate, files)
    if answer != "imported":
        return "different", f"what CPython writes: {answer}: {other[:300]}"
    return ("alike", "") if module == other else ("different", "another module")


class Hunt:
    """A hunt over some families."""

    name = "pickles"

    def __init__(self, translate: str, families: list[str]) -> None:
        self.translate = translate
        self.order = [name for name in families if name in FAMILIES] or ORDER
        self.files: dict[str, tuple[bytes, bytes]] = {}
        self.parsed: dict[tuple[str, int], Opcodes] = {}

    def opcodes(self, family: str, which: int) -> Opcodes:
        """The opcodes of one file of a family."""
        if family not in self.files:
            self.files[family] = make_files(*FAMILIES[family].split())
        if (family, which) not in self.parsed:
            self.parsed[family, which] = parse(self.files[family][which])
        return self.parsed[family, which]

    def write(self, seed: int, folder: Path) -> tuple[str, list[str], str]:
        """Writes the files of a seed: its family, the changes and the file that has them."""
        random = Random(f"{self.name} {seed}")
        family = self.order[seed % len(self.order)]
        which = int(random.random() < 0.2)
        data, kinds = mutate(self.opcodes(family, which), random)
        names = ["plan.pkl", "single.pkl"]
        for number, name in enumerate(names):
            (folder / name).write_bytes(data if number == which else self.files[family][number])
        return family, kinds, names[which]

    def check(self, seed: int) -> Row:
        """What becomes of a seed."""
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="hunt-") as name:
            family, kinds, changed = self.write(seed, Path(name))
            outcome, reason = judge(self.translate, Path(name), changed)
        row: Row = {"hunt": self.name, "seed": seed, "family": family, "kinds": kinds}
        row |= {"values": "disputed", "answer": outcome, "outcome": outcome}
        if reason:
            row["reason"] = reason
        return row | {"seconds": round(time.monotonic() - start, 2)}

    def keep(self, seed: int, folder: Path) -> Path:
        """Writes the files of a seed into a folder."""
        own = folder / f"{self.name}-{seed}"
        own.mkdir(parents=True, exist_ok=True)
        return own / self.write(seed, own)[2]

    def run(self, seeds: Iterator[int], jobs: int) -> Iterator[Row]:
        """The rows of some seeds, in their order."""
        with ProcessPoolExecutor(jobs) as pool:
            yield from in_steps(pool, partial(Hunt.check, self), seeds, jobs)
