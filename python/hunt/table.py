# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tables of rates from the results of hunts: `python3 -m hunt table FILES`.

With `--write FILE` they replace what stands between the markers of a page.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from hunt.judge import Judgement
from hunt.rows import Row, is_finding
from plan_maker.bugs import BUGS

BEGIN, END = "<!-- begin rates -->\n", "<!-- end rates -->"
MUTANTS = ["plans", "invalid", "visible", "refuted", "escaped", "benign", "proved"]
MUTANTS += ["false alarm", "unknown", "rejected"]
IMPORTS = [*MUTANTS, "disputed"]
REWRITES = ["plans", "invalid", "proved", "refuted", "unknown", "rejected"]


def count(rows: Iterable[Row]) -> Counter[str]:
    """The columns of some plans."""
    counts: Counter[str] = Counter()
    for row in rows:
        outcome = row["outcome"]
        if row["hunt"] != "imports":
            outcome = Judgement(row["values"], row["answer"]).outcome
        counts["plans"] += 1
        counts[outcome] += 1
        if outcome == "invalid":
            continue
        counts["visible"] += row["values"] == "different"
        counts["benign"] += row["values"] == "equal"
        if row["hunt"] == "rewrites" and outcome == "false alarm":
            counts["refuted"] += 1
    return counts


def lines(title: str, columns: list[str], groups: dict[str, list[Row]]) -> list[str]:
    """A table with a row for each group and one for all."""
    table = [f"| {title} | " + " | ".join(columns) + " |", "|---|" + "---:|" * len(columns)]
    for name, rows in groups.items():
        counts = count(rows)
        table.append(f"| {name} | " + " | ".join(str(counts[one]) for one in columns) + " |")
    return [*table, ""]


def by_kind(rows: list[Row]) -> dict[str, list[Row]]:
    """The plans by what was done to them; those with two edits are a group of their own."""
    bugs = {bug.name for bug in BUGS}
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if len(row["kinds"]) < 2:
            kind = row["kinds"][0] if row["kinds"] else "none"
            groups.setdefault("named bug" if kind in bugs else kind, []).append(row)
    several = [row for row in rows if len(row["kinds"]) > 1]
    return dict(sorted(groups.items())) | {"two of them": several, "all": rows}


def by_family(rows: list[Row]) -> dict[str, list[Row]]:
    """The plans by family."""
    names = sorted({row["family"] for row in rows})
    return {name: [row for row in rows if row["family"] == name] for name in names} | {"all": rows}


def extent(rows: list[Row]) -> str:
    """Which seeds they are, and how long they took."""
    seeds = {row["seed"] for row in rows}
    runs = sorted(seed for seed in seeds if seed - 1 not in seeds)
    ends = sorted(seed for seed in seeds if seed + 1 not in seeds)
    parts = [f"{first} to {last}" for first, last in zip(runs, ends, strict=True)]
    seconds = sum(row["seconds"] for row in rows) / len(rows)
    return f"seeds {', '.join(parts)}; {seconds:.2f} s for a plan on average"


def reduction(results: dict[str, object]) -> str:
    """The sentence on the results of a hunt on random programs."""
    found = results["findings"]
    assert isinstance(found, list)
    assert isinstance(results["next_seed"], int)
    return (
        f"**Reduction**: seeds {results['first_seed']} to {results['next_seed'] - 1}, "
        f"{results['programs']} programs at sizes {results['sizes']}, {len(found)} findings.\n"
    )


def ranks(rows: list[Row]) -> str:
    """The sentence on plans of equal ranks."""
    counts = Counter(row["outcome"] for row in rows)
    folded, apart = counts["folded"], counts["apart"]
    found = len(rows) - folded - apart
    return f"**Ranks**: {extent(rows)}; {folded} folded, {apart} apart, {found} findings.\n"


def pickles(rows: list[Row]) -> str:
    """The sentence on changed files."""
    counts = Counter(row["outcome"] for row in rows)
    shown = ["alike", "rejected", "not loaded"]
    found = len(rows) - sum(counts[outcome] for outcome in shown)
    numbers = ", ".join(f"{counts[outcome]} {outcome}" for outcome in shown)
    return f"**Pickles**: {extent(rows)}; {numbers}, {found} findings.\n"


def files(rows: list[Row]) -> str:
    """The sentence on files whose objects are changed."""
    counts = Counter(row["outcome"] for row in rows)
    numbers = ", ".join(f"{counts[name]} {name}" for name in sorted(counts))
    return f"**Files**: {extent(rows)}; {numbers}; {sum(map(is_finding, rows))} findings.\n"


def costs(rows: list[Row]) -> str:
    """The sentence on how long large plans take."""
    ratios = sorted(row["ratio"] for row in rows if "ratio" in row)
    found = sum(is_finding(row) for row in rows)
    numbers = f"{len(ratios)} measured"
    if ratios:
        numbers += f", median {ratios[len(ratios) // 2]} and at most {ratios[-1]} of CPython's time"
    return f"**Costs**: {extent(rows)}; {numbers}; {found} findings.\n"


def render(paths: list[Path]) -> str:
    """The text between the markers."""
    names = ["escapes", "rewrites", "imports", "calls", "ranks", "pickles", "files", "costs"]
    rows: dict[str, dict[int, Row]] = {name: {} for name in names}
    text = []
    for path in paths:
        content = path.read_text()
        if content.startswith("{\n"):
            text.append(reduction(json.loads(content)))
            continue
        for line in content.splitlines():
            row = json.loads(line)
            rows[row["hunt"]][row["seed"]] = row
    kinds = {"escapes": MUTANTS, "rewrites": REWRITES, "imports": IMPORTS, "calls": MUTANTS}
    for name, columns in kinds.items():
        some = list(rows[name].values())
        if not some:
            continue
        title = {"rewrites": "rewrite", "calls": "edit"}.get(name, "mutation")
        text.append(f"**{name.capitalize()}**: {extent(some)}.\n")
        text += lines(title, columns, by_kind(some))
        if name == "calls":
            continue
        text += lines("model" if name == "imports" else "family", columns, by_family(some))
    sentences = {"ranks": ranks, "pickles": pickles, "files": files, "costs": costs}
    text += [say(list(rows[name].values())) for name, say in sentences.items() if rows[name]]
    return "\n".join(text).rstrip("\n") + "\n"


def write(files: list[Path], page: Path | None) -> int:
    """Prints the tables, or writes them into a page; returns the exit code."""
    tables = render(files)
    if not page:
        print(tables, end="")
        return 0
    text = page.read_text()
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        print(f"hunt: error: {page} has no place for the table", file=sys.stderr)
        return 3
    page.write_text(f"{before}{begin}{tables}{end}{after}")
    return 0
