# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the functions that plans call, and their derivatives, with PyTorch.

usage: functions.py WORK RECORD [--torch | --record] [--break FUNCTION]

Each case is a plan whose parameters are the operands. It is run on numbers, those at
which a function has a kink among them, and has to give what RECORD says. With `--torch`
PyTorch, which is called by the same name with the same arguments, has to give that,
too; with `--record` RECORD is written. With `--break` the derivatives of a function are
taken to be others. Prints what differs and how much was compared; exit code 1 if
something differs.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from pathlib import Path
from typing import Any

import numpy as np

from function_cases import CASES, REFUSED, Case
from plan_maker.emit import write_plan
from plan_maker.graph import BOOL, FLOAT32, INT64, FullTensor
from plan_maker.strategy.assemble import assemble
from plan_maker.strategy.configuration import Parallelism
from plan_maker.strategy.pipeline import stage_calls
from plan_maker.strategy.stage import Seeds
from plan_maker.trace import KeywordValue, Kind, Operand, Site, Trace, Tracer

TOLERANCE = 1e-9
#: Results of the plan: shape and kind of numbers, as NumPy calls it.
Results = list[tuple[tuple[int, ...], str]]
EXTRA = np.ones(2)


def get_factors(place: int, shape: tuple[int, ...]) -> Any:
    """What the elements of a result are multiplied with."""
    return np.random.default_rng(place).uniform(1, 2, shape or (1,))


def is_real(value: Any) -> bool:
    """Whether an argument is a tensor that has a derivative."""
    return isinstance(value, np.ndarray) and value.dtype.kind == "f"


# ---------------------------------------------------------------------------
# The plan
# ---------------------------------------------------------------------------


@dataclass
class Writer:
    """Records the calls of a plan for one device."""

    tracer: Tracer
    calls: int = 0

    def call(
        self,
        signature: str,
        operands: tuple[Operand, ...],
        results: Results,
        keywords: dict[str, KeywordValue],
        *,
        is_loss: bool = False,
    ) -> tuple[FullTensor, ...]:
        """A call with these results."""
        self.calls += 1
        letters = iter("abcdefghijklmnopqrstuvw")
        left = [
            " ".join(f"{next(letters)}^" for _ in operand.shape)
            if isinstance(operand, FullTensor)
            else "?"
            for operand in operands
        ]
        right = [" ".join(map(str, shape or (1,))) for shape, _ in results]
        name = signature.rsplit(".", maxsplit=1)[-1]
        kind = Kind(
            name,
            signature,
            (f"{', '.join(left)} -> {', '.join(right)}",),
            index_results=tuple(i for i, (_, of) in enumerate(results) if of == "int64"),
            truth_results=tuple(i for i, (_, of) in enumerate(results) if of == "bool"),
        )
        site = Site(f'File "functions.py", line {self.calls}, in forward,  x = {name}(x)')
        return self.tracer.call(kind, operands, tuple(keywords.items()), site, is_loss=is_loss)

    def combine(self, signature: str, *operands: Operand, shape: tuple[int, ...] = (1,)) -> Any:
        """A call with one result of real numbers."""
        return self.call(signature, operands, [(shape, "float64")], {})[0]


def write(case: Case, results: Results, path: Path) -> dict[str, Any]:
    """Writes the plan: the sum of all results, each element times a number.

    Returns the elements of inputs and parameters by name.
    """
    writer = Writer(Tracer())
    source = writer.tracer.source()
    # Also where no operand has one there is a gradient.
    given: dict[str, Any] = {"extra": EXTRA}
    parameters = [writer.tracer.parameter("extra", EXTRA.shape)]
    data: list[FullTensor] = []

    def add_data(name: str, array: Any) -> FullTensor:
        kinds = {"i": INT64, "b": BOOL}
        kind = kinds.get(array.dtype.kind, FLOAT32)
        data.append(writer.tracer.tensor(name, array.shape, element_type=kind, has_gradient=False))
        given[name] = array
        return data[-1]

    operands: list[Operand] = []
    for i, value in enumerate(case.arguments):
        if is_real(value):
            given[f"x{i}"] = value
            parameters.append(writer.tracer.parameter(f"x{i}", value.shape))
            operands.append(parameters[-1])
        else:
            operands.append(add_data(f"x{i}", value) if isinstance(value, np.ndarray) else value)
    outputs = writer.call(case.signature, tuple(operands), results, case.keywords)
    terms = []
    for i, (output, (_, kind)) in enumerate(zip(outputs, results, strict=True)):
        factors = add_data(f"factors{i}", get_factors(i, output.shape))
        term = output
        if kind != "float64":
            term = writer.combine("torch.Tensor.float", term, shape=output.shape)
        product = writer.combine("torch.mul", term, factors, shape=output.shape)
        terms.append(writer.combine("torch.sum", product))
    # Each parameter has a gradient, also where there is none of the function.
    terms += [writer.combine("torch.sum", parameter) for parameter in parameters]
    total = reduce(lambda one, other: writer.combine("torch.add", one, other), terms)
    [loss] = writer.call("torch.mul", (total, 1.0), [((1,), "float64")], {}, is_loss=True)
    trace = Trace(
        tuple(writer.tracer.calls), source, tuple(data), loss, writer.tracer.next_identifier
    )
    parallelism = Parallelism()
    parts = stage_calls(trace, parallelism.layers_of_stages(1))
    write_plan(assemble(trace, parts, lambda _: Seeds({}), parallelism), path)
    return given


def run(path: Path, given: dict[str, Any]) -> dict[str, Any]:
    """What the plan gives, by name; raises RuntimeError if it cannot be run."""
    inputs, output = path.with_suffix(".json"), path.with_suffix(".results.json")
    inputs.write_text(json.dumps({key: array.tolist() for key, array in given.items()}))
    command = ["verify-plan", "--run", "--quiet", "--reference", str(path), str(path)]
    command += ["--arithmetic=double", "--inputs", str(inputs), "--run-output", str(output)]
    told = subprocess.run(command, check=False, capture_output=True, text=True)
    if told.returncode:
        raise RuntimeError(told.stderr or told.stdout)
    [program] = json.loads(output.read_text())["programs"]
    results = {}
    for row in program["results"]:
        tensor = row["reference"]
        values = [float(Fraction(value)) for value in tensor["values"]]
        results[row["name"]] = np.array(values).reshape(tensor["shape"])
    return results


def run_case(case: Case, results: Results, path: Path) -> dict[str, Any]:
    """The loss and the gradients of the operands; RuntimeError if there are none."""
    told = run(path, write(case, results, path))
    names = [name for name in told if name.startswith("mul")]
    found = {"loss": told[names[-1]]}
    for i, value in enumerate(case.arguments):
        if is_real(value):
            found[f"x{i}"] = told[f"x{i}"]
    return found


def refuse(case: Case, said: str, path: Path) -> list[str]:
    """What is said of a call that gives what its first tensor is, unless it is `said`."""
    [first, *_] = (value for value in case.arguments if isinstance(value, np.ndarray))
    write(case, [(first.shape, "float64")], path)
    command = ["verify-plan", "--reference", str(path), str(path)]
    told = subprocess.run(command, check=False, capture_output=True, text=True)
    wanted = f"error: '{case.signature}': {said}"
    if told.returncode == 3 and wanted in told.stderr:
        return []
    return [f"{case}: exit code {told.returncode}, not '{wanted}': {told.stderr}"]


# ---------------------------------------------------------------------------
# PyTorch
# ---------------------------------------------------------------------------


def call_torch(case: Case) -> tuple[Results, dict[str, Any]]:
    """Its results, and the loss and gradients of the same plan."""
    import torch

    def convert(value: Any) -> Any:
        if not isinstance(value, np.ndarray):
            return value
        return torch.tensor(value).requires_grad_(is_real(value))

    arguments = [convert(value) for value in case.arguments]
    function = reduce(getattr, case.signature.split(".")[1:], torch)
    returned = function(*arguments, **case.keywords)
    tensors = list(returned) if isinstance(returned, (tuple, list)) else [returned]
    results = [(tuple(x.shape), str(x.dtype).removeprefix("torch.")) for x in tensors]
    operands = [x for x in arguments if isinstance(x, torch.Tensor) and x.requires_grad]
    total = torch.tensor(EXTRA).sum() + sum(x.sum() for x in operands)
    for i, tensor in enumerate(tensors):
        total = (
            total
            + (
                tensor.reshape(tensor.shape or (1,))
                * convert(get_factors(i, tensor.shape)).detach()
            ).sum()
        )
    found = {"loss": total.detach().numpy().reshape(1)}
    gradients = torch.autograd.grad(total, operands) if operands else ()
    names = [f"x{i}" for i, value in enumerate(case.arguments) if is_real(value)]
    for name, gradient in zip(names, gradients, strict=True):
        found[name] = gradient.numpy()
    return results, found


# ---------------------------------------------------------------------------
# What was recorded
# ---------------------------------------------------------------------------


def encode(case: Case, results: Results, found: dict[str, Any]) -> str:
    """A line of the record."""
    numbers = {
        name: [float(f"{number:.12g}") for number in array.flatten()]
        for name, array in found.items()
    }
    row = {"call": str(case), "results": results, **numbers}
    return json.dumps(row)


def decode(case: Case, row: dict[str, Any]) -> tuple[Results, dict[str, Any]]:
    """The results, and the loss and the gradients, of a line of the record."""
    if row["call"] != str(case):
        raise ValueError(f"the record has {row['call']} in place of {case}")
    results = [(tuple(shape), kind) for shape, kind in row["results"]]
    found = {"loss": np.array(row["loss"])}
    for i, value in enumerate(case.arguments):
        if is_real(value):
            found[f"x{i}"] = np.array(row[f"x{i}"]).reshape(value.shape)
    return results, found


def compare(case: Case, source: str, found: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """What differs."""
    return [
        f"{case}: {name} is {found[name].tolist()} {source}, recorded is {array.tolist()}"
        for name, array in expected.items()
        if not np.allclose(found[name], array, TOLERANCE, TOLERANCE)
    ]


def main() -> int:
    """Prints what differs, or how much was compared, and returns the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("work", type=Path)
    parser.add_argument("record", type=Path)
    parser.add_argument("--torch", action="store_true")
    parser.add_argument("--record", action="store_true", dest="records")
    parser.add_argument("--break", dest="broken", default="")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    if arguments.records:
        lines = [encode(case, *call_torch(case)) for case in CASES]
        arguments.record.write_text("\n".join(lines) + "\n")
        return 0
    rows = [json.loads(line) for line in arguments.record.read_text().splitlines()]
    compared, differences = 0, []
    for i, (case, row) in enumerate(zip(CASES, rows, strict=True)):
        results, expected = decode(case, row)
        if case.signature == arguments.broken:
            expected = {name: array + (name != "loss") * 1e-6 for name, array in expected.items()}
        compared += len(expected)
        if arguments.torch:
            differences += compare(case, "in PyTorch", call_torch(case)[1], expected)
        try:
            found = run_case(case, results, arguments.work / f"function_{i}.pkl")
        except RuntimeError as error:
            differences.append(f"{case}: {error}")
            continue
        differences += compare(case, "in the plan", found, expected)
    for case, said in REFUSED:
        differences += refuse(case, said, arguments.work / "refused.pkl")
    for text in differences[:20]:
        print(text)
    functions = len({case.signature for case in CASES})
    print(
        f"{functions} functions, {compared} results and derivatives of PyTorch, "
        f"{len(REFUSED)} calls refused, {len(differences)} differ"
    )
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
