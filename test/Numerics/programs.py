# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs made of one op, their inputs as a file, and what running them gives."""

import json
import subprocess
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from cases import OpCase
from draws import Operand, Shape, tensor


@dataclass
class Programs:
    """Programs in one file, and their inputs by name."""

    texts: list[str] = field(default_factory=list)
    inputs: dict[str, Any] = field(default_factory=dict)

    def name(self, operand: Operand, symbol: str, number: int) -> str:
        """Gives an input a name and records its elements."""
        name = f"{symbol}/{number}"
        self.inputs[name] = nested(operand)
        return name


def nested(operand: Operand) -> Any:
    """The elements in nested lists, as an input file has them."""
    values: list[Any] = ["-inf" if value == float("-inf") else value for value in operand.values]
    if operand.element == "i64":
        values = [int(value) for value in values]
    for size in reversed(operand.shape[1:]):
        values = [values[start : start + size] for start in range(0, len(values), size)]
    return values if operand.shape else values[0]


def add_graph(programs: Programs, symbol: str, case: OpCase) -> None:
    """A graph that computes the op from inputs."""
    lines = [f"tv.graph @{symbol} <> {{"]
    names = [f"%a{number}" for number in range(len(case.operands))]
    for number, (name, operand) in enumerate(zip(names, case.operands, strict=True)):
        role = programs.name(operand, symbol, number)
        lines.append(f'  {name} = tv.input <input "{role}"> : {operand.type}')
    lines += [f"  %y = {case.text(names)}", "}"]
    programs.texts.append("\n".join(lines))


def piece(number: int, shape: Shape) -> str:
    """A whole tensor, as plans state it."""
    return f"<{number}, [{', '.join(f'0:{size} of {size}' for size in shape)}]>"


def add_backward_plan(
    programs: Programs, symbol: str, case: OpCase, cotangent: Operand
) -> list[int]:
    """A plan for one device that gives the op's result and its derivatives.

    Returns the numbers of the operands whose derivatives it gives, in order.
    """
    wrt = [i for i, operand in enumerate(case.operands) if operand.differentiable]
    names = [f"%a{number}" for number in range(len(case.operands))]
    types = [operand.type for operand in case.operands]
    arguments = ", ".join(f"{name}: {kind}" for name, kind in zip(names, types, strict=True))
    made = tensor(case.result, case.element)
    given = ", ".join(types[i] for i in wrt)
    derivatives = ", ".join(f"%d{i}" for i in wrt)
    loaded = [*case.operands, cotangent]
    roles = ", ".join(
        f'"{programs.name(operand, symbol, number)}"' for number, operand in enumerate(loaded)
    )
    pieces = ", ".join(
        f"#tv.piece{piece(number, operand.shape)}" for number, operand in enumerate(loaded)
    )
    lines = [
        f"tv.plan @{symbol} <device = 1> {{",
        f"  tv.segment @forward on 0 cell 2 {{\n  ^bb0({arguments}):",
        f"    %y = {case.text(names)}",
        f"    tv.save 7 from {', '.join(names)} to %y : {', '.join(types)} to {made}",
        f"    tv.return %y : {made}\n  }}",
        "  tv.segment @backward on 0 cell 3 backward {",
        f"  ^bb0(%g: {cotangent.type}):",
        f"    {derivatives} = tv.backward %g of 7 {{outputs = array<i64: 0>, "
        f"wrt = array<i64: {', '.join(map(str, wrt))}>}} : ({cotangent.type}) -> ({given})",
        f"    tv.return {derivatives} : {given}\n  }}",
        "  tv.program 0 {",
        f"    {', '.join(names)}, %g = tv.load_data cell 1 [{roles}] holds [{pieces}] : "
        + ", ".join(operand.type for operand in loaded),
        f"    %y = tv.call @forward({', '.join(names)}) instance 0 mirror 1 : "
        f"({', '.join(types)}) -> {made}",
        f"    {derivatives} = tv.call @backward(%g) instance 1 mirror 0 : "
        f"({cotangent.type}) -> ({given})",
        f'    tv.output %y "y" {piece(90, case.result)} : {made}',
    ]
    lines += [
        f'    tv.output %d{i} "d{i}" {piece(91 + i, case.operands[i].shape)} : {types[i]}'
        for i in wrt
    ]
    programs.texts.append("\n".join([*lines, "  }", "}"]))
    return wrt


@dataclass(frozen=True)
class Result:
    """Elements of a result, in row-major order."""

    shape: Shape
    values: list[float]


def read(value: dict[str, Any]) -> Result:
    """A tensor of the interpreter's output."""

    def number(text: str | float) -> float:
        if isinstance(text, str) and text not in {"-inf", "inf", "nan"}:
            return float(Fraction(text))
        return float(text)

    return Result(tuple(value["shape"]), [number(text) for text in value["values"]])


def interpret(programs: Programs, folder: Path, arithmetic: str) -> dict[str, list[dict[str, Any]]]:
    """Runs all programs; the results of each by symbol."""
    folder.mkdir(parents=True, exist_ok=True)
    program, inputs, output = (
        folder / f"{arithmetic}.{suffix}" for suffix in ("mlir", "inputs.json", "results.json")
    )
    program.write_text("\n".join(programs.texts) + "\n")
    inputs.write_text(json.dumps(programs.inputs))
    options = f"arithmetic={arithmetic} inputs={inputs} output={output}"
    command = ["verify-opt", str(program), f"--tv-interpret={options}", "-o", "/dev/null"]
    subprocess.run(command, check=True)
    runs = json.loads(output.read_text())["programs"]
    return {run["symbol"]: run["results"] for run in runs}


def describe(left: Result, right: Result, tolerance: float) -> str:
    """How two results differ, or nothing."""
    if left.shape != right.shape:
        return f"shape {left.shape}, not {right.shape}"
    scale = max([1.0, *(abs(value) for value in right.values if abs(value) < float("inf"))])
    for number, (one, other) in enumerate(zip(left.values, right.values, strict=True)):
        # Written so that what is no number differs.
        if not (one == other or abs(one - other) <= tolerance * scale):
            return f"element {number} is {one}, not {other}"
    return ""
