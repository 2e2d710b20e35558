# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the examples of docs/Diagnostics.md and compares, or rewrites, what they print.

usage: diagnostics.py DOCUMENT [--write]

An example is a comment `<!-- example: MODEL BUG -->` and the fenced block after it,
which holds what verify-plan prints about a plan of that model with that bug.
`extra-all-reduce` is made in the imported plan, where no bug of the plan maker is.
Exit code 1 if a block is not what is printed.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

LLAMA = "llama --layers 2 --hidden 64 --ffn 128 --heads 4 --vocab 128 --sequence 16 --batch 16"
PARALLEL = "--dp 2 --pp 2 --tp 2 --micro-batches 2"
MODELS = {
    "megatron": f"{LLAMA} {PARALLEL}",
    "batch": f"{LLAMA} {PARALLEL} --tp-style batch",
    "mlp": f"mlp --layers 4 --hidden 64 --batch 16 {PARALLEL}",
}
EXAMPLE = re.compile(r"(<!-- example: (\S+) (\S+)(?: (\S+))? -->\n```\n)(.*?)(```\n)", re.DOTALL)


def make(work: Path, model: str, *options: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "plan_maker", *MODELS[model].split(), *options]
        + ["-o", "parallel.pkl", "--reference", "single.pkl"],
        cwd=work,
        check=True,
    )


def report(work: Path, command: list[str]) -> str:
    run = subprocess.run(command, cwd=work, capture_output=True, text=True, check=False)
    verdict = [line for line in run.stdout.splitlines() if re.match(r"\w+: ", line)]
    return run.stderr + "".join(f"{line}\n" for line in verdict)


def add_all_reduce(work: Path) -> None:
    """Makes the first adapter that does nothing an all-reduce, on all its devices."""
    text = (work / "pair.mlir").read_text()
    names = re.findall(r'^(#loc\d*) = #tv\.node<"adapter"', text, re.MULTILINE)
    reference, plan = text.split("tv.plan @plan", 1)
    copies = re.findall(r"tv\.copy .*loc\((#loc\d*)\)", plan)
    location = next(place for place in copies if place in names)
    plan = re.sub(
        rf"tv\.copy (%\w+) (.*loc\({location}\))",
        r"tv.communicate all_reduce \1 group [0, 1] \2",
        plan,
    )
    (work / "pair.mlir").write_text(f"{reference}tv.plan @plan{plan}")


def run_example(model: str, bug: str, operation: str | None) -> str:
    """What is printed about the plan of an example."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        files = ["--reference", "single.pkl", "parallel.pkl"]
        if bug == "other-layers":
            make(work, model)
            (work / "parallel.pkl").rename(work / "kept.pkl")
            make(work, model, "--layers", "3")
            (work / "kept.pkl").rename(work / "parallel.pkl")
            return report(work, ["verify-plan", *files])
        if bug != "extra-all-reduce":
            options = ["--bug-operation", operation] if operation else []
            make(work, model, "--bug", bug, *options)
            return report(work, ["verify-plan", *files])
        make(work, model)
        imported = ["verify-translate", "--mlir-print-debuginfo", *files, "-o", "pair.mlir"]
        subprocess.run(imported, cwd=work, check=True)
        add_all_reduce(work)
        return report(work, ["verify-opt", "--tv-verify-equiv", "pair.mlir", "-o", "/dev/null"])


def main() -> int:
    document = Path(sys.argv[1])
    text = document.read_text()
    updated = EXAMPLE.sub(
        lambda match: match[1] + run_example(match[2], match[3], match[4]) + match[6], text
    )
    if "--write" in sys.argv[2:]:
        document.write_text(updated)
    elif updated != text:
        print(f"{document} is not what is printed; `make docs` rewrites it:\n{updated}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
