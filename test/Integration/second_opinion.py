# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gives obligations that were written as SMT-LIB 2 to another solver.

usage: second_opinion.py [--solver NAME] [--time-limit MS] [--proved N] [--wrong N] FOLDER...

Every script says what the verdict on it was. Of one that was proved the other
solver must not say `sat`, of one that was not proved no solver may say `unsat`.
Prints how many it agreed with and how many it left undecided. Exit code 1 after
a disagreement, a script that a solver cannot read, or fewer than N scripts that
were proved or N that were wrong.
"""

import argparse
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

# How each solver is told when to give up, in milliseconds.
SOLVERS = {
    "cvc5": ("--incremental", "--tlimit-per={limit}"),
    "z3": ("-t:{limit}",),
}
ANSWERS = {"sat", "unsat", "unknown", "timeout"}
PROVED = ("proved", "proved by normalization")
TITLES = {
    "agreed": "the solver confirms the proof",
    "undecided": "it gave up on a proof",
    "wrong": "not proved, and the solver does not say unsat",
    "unknown": "unknown, and the solver does not say sat and unsat both",
    "not encoded": "not written as SMT-LIB 2",
    "disagreed": "DISAGREED",
    "unreadable": "UNREADABLE",
}


@dataclass(frozen=True)
class Opinion:
    """What the solver said of a script."""

    path: Path
    verdict: str
    answers: tuple[str, ...]
    output: str

    def kind(self) -> str:
        """One of TITLES."""
        if self.answers == ("not encoded",):
            return "disagreed" if self.verdict in PROVED else "not encoded"
        if not self.answers or not set(self.answers) <= ANSWERS:
            return "unreadable"
        if self.verdict in PROVED:
            if set(self.answers) == {"unsat"}:
                return "agreed"
            return "disagreed" if "sat" in self.answers else "undecided"
        if self.verdict == "not proved":
            return "disagreed" if "unsat" in self.answers else "wrong"
        return "unknown"


def ask(solver: str, limit: int, path: Path) -> Opinion:
    """The solver's answers to a script."""
    text = path.read_text()
    found = re.search(r"^; verdict: (.*)$", text, re.MULTILINE)
    verdict = found.group(1) if found else "none"
    if "\n; not encoded: " in text:
        return Opinion(path, verdict, ("not encoded",), "")
    options = [option.format(limit=limit) for option in SOLVERS[solver]]
    run = subprocess.run([solver, *options, path], capture_output=True, text=True, check=False)
    answers = tuple(run.stdout.split("\n")[:-1])
    queries = text.count("(check-sat)")
    # A solver that is out of time may end without an answer to each query.
    if "interrupted by timeout" in run.stderr or "timeout" in answers:
        answers += ("timeout",) * (queries - len(answers))
    if len(answers) != queries:
        answers = ()
    return Opinion(path, verdict, answers, run.stdout + run.stderr)


def scripts(folders: list[Path]) -> Iterator[Path]:
    """Scripts that differ in more than where they are from."""
    seen = set()
    for folder in folders:
        for path in sorted(path for path in folder.rglob("*.smt2") if path.is_file()):
            text = path.read_text()
            verdict = re.findall(r"^; verdict: .*$", text, re.MULTILINE)
            key = (*verdict, text[text.find("(set-logic") :])
            if key not in seen:
                seen.add(key)
                yield path


def compare(
    solver: str, limit: int, folders: list[Path], enough_proved: int, enough_wrong: int
) -> int:
    """Asks about every script and prints the counts; the exit code."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        opinions = list(pool.map(lambda path: ask(solver, limit, path), scripts(folders)))
    counts = Counter(opinion.kind() for opinion in opinions)
    verdicts = Counter(opinion.verdict for opinion in opinions)
    for opinion in opinions:
        if opinion.kind() in ("disagreed", "unreadable"):
            print(f"{opinion.path}: {opinion.verdict}, but {solver} says:")
            print(opinion.output)
            print(opinion.path.read_text().split("(set-logic")[0])
    print(f"{solver}, {limit} ms for a query; {len(opinions)} distinct scripts")
    for kind, title in TITLES.items():
        print(f"{counts[kind]:8} {kind:12} {title}")
    proved = sum(verdicts[verdict] for verdict in PROVED)
    is_enough = proved >= enough_proved and verdicts["not proved"] >= enough_wrong
    if not is_enough:
        print(f"too few scripts: {proved} proved, {verdicts['not proved']} wrong")
    return 1 if counts["disagreed"] or counts["unreadable"] or not is_enough else 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--solver", choices=SOLVERS, default="cvc5")
    parser.add_argument("--time-limit", type=int, default=2000)
    parser.add_argument("--proved", type=int, default=0)
    parser.add_argument("--wrong", type=int, default=0)
    parser.add_argument("folders", type=Path, nargs="+")
    arguments = parser.parse_args()
    return compare(
        arguments.solver,
        arguments.time_limit,
        arguments.folders,
        arguments.proved,
        arguments.wrong,
    )


if __name__ == "__main__":
    sys.exit(main())
