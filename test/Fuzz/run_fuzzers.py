# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the fuzzers, one after the other, from a corpus of our own.

usage: run_fuzzers.py [--seconds N] [--runs N] [--jobs N] [--seed N] FUZZERS WORK

FUZZERS is the folder of the executables. The corpus is made from the tests of the
dialect and from small plans; what the fuzzers add to it stays in WORK/NAME, where a
later run goes on, and inputs that fail stay in WORK/findings. Exit code 1 if a
fuzzer fails or has done nothing.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODELS = {
    "mlp": "mlp --layers 2 --hidden 4 --batch 4 --dp 2 --pp 2 --tp 2",
    "gpt": "gpt --layers 1 --hidden 4 --ffn 4 --heads 2 --vocab 4 --sequence 2 --batch 2 --tp 2",
    "llama": "llama --layers 1 --hidden 8 --ffn 4 --heads 2 --vocab 4 --sequence 2 --batch 2",
}
INPUT_LIMIT = {"pickle": 65536, "plan": 131072, "dialect": 16384}


def make_plans(folder: Path) -> None:
    """Small plans of all models, and their references."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, options in MODELS.items():
        command = [sys.executable, "-m", "plan_maker", *options.split()]
        command += ["-o", f"{folder}/{name}.pkl", "--reference", f"{folder}/{name}-single.pkl"]
        subprocess.run(command, check=True, cwd=ROOT / "python")


def make_modules(folder: Path) -> None:
    """The modules of all tests, one a file."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted((ROOT / "test").glob("*/*.mlir")):
        for number, text in enumerate(path.read_text().split("// -----")):
            lines = [line for line in text.split("\n") if not line.lstrip().startswith("//")]
            (folder / f"{path.stem}-{number}.mlir").write_text("\n".join(lines))


def make_dictionary(path: Path, modules: Path) -> None:
    """The words of the modules."""
    words = set()
    for module in modules.glob("*.mlir"):
        words |= set(re.findall(r"tv\.\w+|\b[a-z_]{3,}\b|[#!]tv\.\w+", module.read_text()))
    path.write_text("".join(f'"{word}"\n' for word in sorted(words)))


def fuzz(fuzzers: Path, name: str, work: Path, options: argparse.Namespace) -> bool:
    """Runs one fuzzer; did it find nothing?"""
    corpus, findings = work / name, work / "findings"
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(parents=True, exist_ok=True)
    seeds = work / ("modules" if name == "dialect" else "plans")
    command = [
        fuzzers / f"fuzz-{name}",
        f"-max_total_time={options.seconds}",
        f"-runs={options.runs}",
        f"-max_len={INPUT_LIMIT[name]}",
        f"-seed={options.seed}",
        f"-artifact_prefix={findings}/{name}-",
        "-timeout=20",
        "-rss_limit_mb=3072",
        "-print_final_stats=1",
    ]
    if options.jobs > 1:
        command += [f"-fork={options.jobs}"]
    if name == "dialect":
        command += [f"-dict={work}/dictionary"]
    run = subprocess.run(
        [*command, corpus, seeds], capture_output=True, text=True, errors="replace", check=False
    )
    runs = re.findall(r"^#(\d+)[:\t]", run.stderr, re.MULTILINE)
    covered = re.findall(r"cov: (\d+)", run.stderr)
    done = max(map(int, runs), default=0)
    print(f"{name}: {done} inputs, {covered[-1] if covered else 0} places covered", flush=True)
    if run.returncode == 0 and done:
        return True
    print(run.stderr[-6000:])
    return False


def main() -> int:
    """Runs all fuzzers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=60, help="for each fuzzer")
    parser.add_argument("--runs", type=int, default=-1, help="most inputs of each")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("fuzzers", type=Path)
    parser.add_argument("work", type=Path)
    options = parser.parse_args()
    make_plans(options.work / "plans")
    make_modules(options.work / "modules")
    make_dictionary(options.work / "dictionary", options.work / "modules")
    passed = [fuzz(options.fuzzers, name, options.work, options) for name in INPUT_LIMIT]
    print(f"{sum(passed)} of {len(passed)} fuzzers found nothing")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
