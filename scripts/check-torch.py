#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares every op and its derivative with PyTorch, which it installs.

usage: scripts/check-torch.py BUILD

Needs a build of `make check` or `make build`. PyTorch for CPUs, about 200 MB to
fetch, goes into a virtual environment beside the builds. The last line says what
was compared, or that nothing was. Where PyTorch cannot be installed the exit code
is 0: that is no fault of what is tested.

VERIFY_TORCH_INDEX names another index of wheels than PyTorch's own.
"""

import os
import subprocess
import sys
from pathlib import Path

VERSION = "2.13.0+cpu"
INDEX = "https://download.pytorch.org/whl/cpu"
ROUNDS = 30
#: Meanings that are made wrong, to see that the comparison notices.
BROKEN = ["tv.softmax", "tv.linear"]
SOURCE = Path(__file__).resolve().parent.parent


def run(command: list[str | Path], **options: object) -> subprocess.CompletedProcess:
    """Runs a command and takes what it prints."""
    return subprocess.run(
        command, capture_output=True, text=True, check=False, **options
    )


def has_torch(python: Path) -> bool:
    """Whether a Python has the version of PyTorch that is asked for, and NumPy."""
    if not python.exists():
        return False
    version = run([python, "-c", "import numpy, torch; print(torch.__version__)"])
    return version.stdout.strip() == VERSION


def install(folder: Path) -> str:
    """Makes a virtual environment with PyTorch and NumPy; why not, or nothing."""
    python = folder / "bin" / "python"
    if has_torch(python):
        return ""
    made = run([sys.executable, "-m", "venv", "--clear", folder])
    if made.returncode:
        return (made.stderr or made.stdout).strip()
    index = os.environ.get("VERIFY_TORCH_INDEX", INDEX)
    print(f"installing torch {VERSION} from {index}", flush=True)
    pip = [python, "-m", "pip", "install", "--quiet", "--retries", "1", "--timeout"]
    found = run([*pip, "30", "numpy", f"torch=={VERSION}", "--extra-index-url", index])
    if has_torch(python):
        return ""
    reasons = [line for line in found.stderr.splitlines() if line.startswith("ERROR")]
    return reasons[-1] if reasons else f"pip ends with {found.returncode}"


def compare(build: Path, python: Path) -> int:
    """Runs the comparison, and again with a wrong meaning, which it must notice."""
    prefix = run(["llvm-config-22", "--prefix"]).stdout.strip()
    tools = [build / "bin", Path(prefix) / "bin"]
    path = os.pathsep.join([*map(str, tools), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "PYTHONWARNINGS": "ignore"}
    include = [SOURCE / "include", Path(prefix) / "include"]
    dump = run(
        ["llvm-tblgen", "--dump-json", *(f"-I{folder}" for folder in include)]
        + [SOURCE / "include/Verify/IR/TVOps.td"],
        env=environment,
    )
    if dump.returncode:
        print(dump.stderr)
        return 1
    script = [python, "-B", SOURCE / "test/Numerics/torch_ops.py", build / "test/torch"]
    for op in BROKEN:
        broken = run([*script, "2", "--break", op], input=dump.stdout, env=environment)
        if broken.returncode != 1 or op not in broken.stdout:
            print(broken.stdout, broken.stderr)
            print(f"check-torch: failed: a wrong derivative of {op} is not noticed")
            return 1
    code = report(run([*script, str(ROUNDS)], input=dump.stdout, env=environment))
    return compare_functions(build, python, environment) or code


def report(found: subprocess.CompletedProcess[str]) -> int:
    """Prints what a comparison found; its exit code."""
    if found.returncode:
        print(found.stdout, found.stderr)
    print("check-torch:", (found.stdout.splitlines() or ["failed"])[-1])
    return found.returncode


def compare_functions(build: Path, python: Path, environment: dict[str, str]) -> int:
    """The same of the functions that plans call, and of what is recorded of them."""
    numerics = SOURCE / "test/Numerics"
    environment = environment | {"PYTHONPATH": str(SOURCE / "python")}
    script = [python, "-B", numerics / "functions.py", build / "test/torch"]
    return report(
        run([*script, numerics / "Inputs/functions.jsonl", "--torch"], env=environment)
    )


def main() -> int:
    """Installs PyTorch, compares, and returns the exit code."""
    build = Path(sys.argv[1]).resolve()
    folder = build.parent / "torch"
    if problem := install(folder):
        print(f"check-torch: NOT RUN, torch {VERSION} cannot be installed: {problem}")
        return 0
    return compare(build, folder / "bin" / "python")


if __name__ == "__main__":
    sys.exit(main())
