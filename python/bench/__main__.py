# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures verifications: `python3 -m bench`.

Ladders grow one number of small plans; models are of the sizes that are trained; pairs
are files of one's own. Each is read with CPython in the same run, whose time is the
unit of the ratios. Exit code 0 if everything was proved and no count grows more than it
may, 1 if not, 3 for wrong usage.
"""

import argparse
import json
import os
import platform
import shutil
import sys
import tempfile
from pathlib import Path

from bench.ladders import LADDERS, MODELS
from bench.measure import MeasurementError, Row, find_growth, get_exponents, make, measure

SHOWN = (
    "total",
    "import",
    "schedule and link",
    "check",
    "memory",
    "files",
    "executed_ops",
    "stage_ops",
)


class Bench:
    """Runs what is asked for, and collects the results."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.failures = 0
        self.results: Row = {
            "machine": {"processors": os.cpu_count(), "system": platform.platform()},
            "part_order": options.part_order,
            "repeat": options.repeat,
            "ladders": {},
            "exponents": {},
            "models": {},
            "pairs": {},
        }

    def check(self, title: str, files: tuple[Path, Path]) -> Row | None:
        """Measures a pair of files and prints a line; none where that fails."""
        words = [f"--nnscaler-part-order={self.options.part_order}"]
        try:
            row = measure(self.options.tool, files, words, self.options.repeat, self.options.limit)
        except MeasurementError as failure:
            self.fail(title, failure)
            return None
        self.failures += row["answer"] != "proved"
        phases = " ".join(f"{name} {seconds:.2f}" for name, seconds in row["seconds"].items())
        read = row["unpickle"]
        print(
            f"{title:28} {row['answer']:8} {row['total_seconds']:8.2f} s ({phases}), "
            f"{row['peak_memory_bytes'] / 2**20:.0f} MiB; CPython {read['seconds']:.2f} s, "
            f"{read['peak_memory_bytes'] / 2**20:.0f} MiB; "
            f"ratio {row['time_ratio']:.2f}, memory {row['memory_ratio']:.2f}",
            flush=True,
        )
        return row

    def fail(self, title: str, failure: MeasurementError) -> None:
        """Says that there is no measurement."""
        self.failures += 1
        print(f"{title:28} NOT MEASURED: {failure}", flush=True)

    def check_plan(self, title: str, words: list[str]) -> Row | None:
        """The same for a plan that the plan maker writes."""
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            try:
                plan, reference, seconds = make(words, Path(folder), self.options.limit)
            except MeasurementError as failure:
                self.fail(title, failure)
                return None
            row = self.check(title, (plan, reference))
        return row and row | {"plan": words, "make_seconds": seconds}

    def climb(self, name: str) -> None:
        """One ladder."""
        ladder = LADDERS[name]
        rows = []
        for size in ladder.sizes:
            if self.options.largest and size > self.options.largest:
                break
            row = self.check_plan(f"{name} {size}", ladder.plan(size))
            if row:
                rows.append({"size": size} | row)
        self.results["ladders"][name] = rows
        if len(rows) > 1:
            exponents = get_exponents(rows)
            self.results["exponents"][name] = exponents
            shown = [
                f"{key} {exponents[key]:.2f}" for key in SHOWN if exponents.get(key) is not None
            ]
            print(f"{name}: growth exponents: {', '.join(shown)}", flush=True)
            grown = find_growth(ladder, rows)
            self.failures += len(grown)
            for line in grown:
                print(f"{name}: GROWS: {line}", flush=True)

    def run(self) -> int:
        """Everything that is asked for; the exit code."""
        for name in self.options.ladder:
            self.climb(name)
        for name in self.options.model:
            row = self.check_plan(name, MODELS[name])
            if row:
                self.results["models"][name] = row
        for pair in self.options.pair:
            title = Path(pair[1]).name
            row = self.check(title, (Path(pair[1]), Path(pair[0])))
            if row:
                self.results["pairs"][title] = row
        self.options.output.mkdir(parents=True, exist_ok=True)
        path = self.options.output / "results.json"
        part = path.with_suffix(".part")
        part.write_text(json.dumps(self.results, indent=1) + "\n")
        part.replace(path)
        print(f"results: {path}")
        return 1 if self.failures else 0


def main() -> int:
    """Runs what the command line asks for."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.exit_on_error = False
    parser.add_argument("--ladder", action="append", choices=[*LADDERS, "all"], default=[])
    parser.add_argument("--model", action="append", choices=[*MODELS, "all"], default=[])
    pair = parser.add_argument("--pair", action="append", nargs=2, default=[])
    pair.metavar = ("SINGLE", "PLAN")
    pair.help = "files of one's own"
    parser.add_argument("--largest", type=int, help="ends ladders there")
    parser.add_argument("--part-order", choices=["rank", "index-map"], default="rank")
    parser.add_argument("--repeat", type=int, default=1, help="the fastest of so many runs counts")
    parser.add_argument("--limit", type=float, default=900, help="seconds for one process")
    parser.add_argument("--tool", default="verify-plan", help="what is measured")
    parser.add_argument("--output", type=Path, default=Path("bench"), help="folder of the results")
    try:
        options = parser.parse_args()
    except argparse.ArgumentError as error:
        print(f"bench: error: {error}", file=sys.stderr)
        return 3
    if not shutil.which(options.tool):
        print(f"bench: error: no program '{options.tool}'", file=sys.stderr)
        return 3
    if "all" in options.ladder:
        options.ladder = list(LADDERS)
    if "all" in options.model:
        options.model = list(MODELS)
    if not (options.ladder or options.model or options.pair):
        print("bench: error: asks for no --ladder, --model or --pair", file=sys.stderr)
        return 3
    return Bench(options).run()


if __name__ == "__main__":
    sys.exit(main())
