# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs plans, and what each pass makes of them, on the same inputs.

usage: passes.py WORK

The graph has to give what the plans give: each result of the contract, on every
device. Stages are run on arbitrary arguments: those of a right plan hold, and none
gives anything else when it is reduced. Exit code 1 if something is not so.
"""

import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

Elements = tuple[float, ...]
Results = dict[tuple[str, str], list[tuple[Elements, Elements]]]

SMALL = "--vocab 16 --sequence 4 --batch 8 --dp 2 --pp 2 --tp 2 --micro-batches 2"
MLP = "mlp --layers 4 --hidden 8 --batch 8 --dp 2 --pp 2 --tp 2 --micro-batches 2"
LLAMA = f"llama --layers 2 --hidden 8 --ffn 8 --heads 2 {SMALL}"
GPT = f"gpt --layers 2 --hidden 8 --ffn 8 --heads 2 {SMALL}"
PLANS = [
    (MLP, ""),
    (MLP, "missing-reducer"),
    (LLAMA, ""),
    (LLAMA, "removed-all-reduce"),
    (LLAMA, "exchanged-micro-batches"),
    (GPT, ""),
    (GPT, "wrong-reducer-group"),
]


def interpret(module: Path, passes: list[str]) -> list[dict[str, Any]]:
    """What the programs of a module give after some passes."""
    output = module.with_suffix(".json")
    command = ["verify-opt", str(module), *passes, f"--tv-interpret=output={output}"]
    subprocess.run([*command, "-o", "/dev/null"], check=True)
    programs: list[dict[str, Any]] = json.loads(output.read_text())["programs"]
    return programs


def elements(tensor: dict[str, Any]) -> Elements:
    """The elements of a tensor as numbers."""
    return tuple(
        float(Fraction(value)) if isinstance(value, str) and "/" in value else float(value)
        for value in tensor["values"]
    )


def contract(program: dict[str, Any]) -> Results:
    """For each result of the contract what its places hold, and the reference."""
    results: Results = defaultdict(list)
    for row in program["results"]:
        if row["role"] == "lemma":
            continue
        for place in row["places"]:
            pair = (elements(place["plan"]), elements(row["reference"]))
            results[row["role"], row["name"]].append(pair)
    return results


def are_close(left: Elements, right: Elements) -> bool:
    """Whether two tensors are the same but for rounding."""
    scale = max((abs(value) for value in right), default=0)
    return len(left) == len(right) and all(
        abs(one - other) <= 1e-9 * max(scale, 1e-6) for one, other in zip(left, right, strict=True)
    )


def contains(
    some: Iterable[tuple[Elements, Elements]], others: list[tuple[Elements, Elements]]
) -> bool:
    """Whether each of some pairs is one of the others."""
    return all(
        any(are_close(plan, there) and are_close(reference, whole) for there, whole in others)
        for plan, reference in some
    )


def check(options: str, bug: str, work: Path) -> str:
    """What is wrong with one plan, or nothing; prints a line."""
    single, parallel, module = (work / name for name in ("single.pkl", "plan.pkl", "m.mlir"))
    maker = [sys.executable, "-m", "plan_maker", *options.split(), "-o", str(parallel)]
    edit = ["--bug", bug] if bug else []
    subprocess.run([*maker, "--reference", str(single), *edit], check=True)
    translate = ["verify-translate", "--import-nnscaler", "--reference", str(single)]
    subprocess.run([*translate, str(parallel), "-o", str(module)], check=True)
    [plans] = interpret(module, [])
    [graph] = interpret(module, ["--tv-canonicalize-ssa"])
    # Beside the plans, where ranks were folded.
    *rest, folded = interpret(module, ["--tv-canonicalize-ssa=fold-ranks=true"])
    name = " ".join([options.split()[0], *edit])
    before = contract(plans)
    for after in (contract(graph), contract(folded)):
        if before.keys() != after.keys():
            return f"{name}: the graph has other results: {before.keys() ^ after.keys()}"
        for key, pairs in before.items():
            if not contains(pairs, after[key]) or not contains(after[key], pairs):
                return f"{name}: {key} is not the same in the graph"
    different = sum(not row["equal"] for row in plans["results"])
    if (different > 0) != bool(bug):
        return f"{name}: {different} results differ"
    passes = ["--tv-canonicalize-ssa", "--tv-outline-stages"]
    outlined = interpret(module, passes)
    reduced = interpret(module, [*passes, "--tv-reduce-shapes"])
    if outlined != reduced:
        return f"{name}: reduced stages give something else"
    stages = [program for program in outlined if program["symbol"] != "graph"]
    wrong = [program["symbol"] for program in stages if not program["equal"]]
    if not stages or bool(wrong) != bool(bug):
        return f"{name}: {len(wrong)} of {len(stages)} stages do not hold"
    print(
        f"{name}: {len(before)} results, {different} of them different, the same as plans "
        f"and as a graph{', folded' if rest else ''}; {len(stages)} stages, "
        f"{len(wrong)} of them do not hold"
    )
    return ""


def main() -> int:
    """Prints what is wrong and returns the exit code."""
    work = Path(sys.argv[1])
    work.mkdir(parents=True, exist_ok=True)
    problems = [check(options, bug, work) for options, bug in PLANS]
    for problem in filter(None, problems):
        print(problem)
    return 1 if any(problems) else 0


if __name__ == "__main__":
    sys.exit(main())
