# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the tests of known bugs against the list of their rows, and writes the table.

usage: known_bugs.py TESTS DOCUMENT [--write] [--catalog FILE]

TESTS holds rows.txt and one file for each row with a test. A row that can be seen has
a file whose wrong form is refuted; each other row says why it is silent, and the wrong
form of its test, if it has one, is proved. DOCUMENT has a table between two comments,
which --write rewrites. --catalog compares rows and marks with those of a full list.
Exit code 1 if something does not fit.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

BEGIN, END = "<!-- begin table -->\n", "<!-- end table -->\n"
ROW = re.compile(r"(B\d{3}) (Y\*/S|Y\*|N/Y|Y|S|P|N)(?: (\S.*))?")
REPORT = re.compile(r"// WRONG: (?:\S+ )?note: ([a-z -]+): ")


@dataclass
class Row:
    number: str
    mark: str
    reason: str

    @property
    def is_visible(self) -> bool:
        return "Y" in self.mark


@dataclass
class Case:
    text: str
    is_refuted: bool
    report: str


def read_rows(path: Path) -> list[Row]:
    rows = []
    for line in path.read_text().splitlines():
        if line.startswith("#"):
            continue
        match = ROW.fullmatch(line)
        if not match:
            sys.exit(f"{path}: what is '{line}'?")
        rows.append(Row(match[1], match[2], match[3] or ""))
    return rows


def read_case(path: Path) -> Case:
    lines = path.read_text().splitlines()
    comment = [line[3:] for line in lines if re.match(r"// (?!RUN:|FIXED|WRONG)", line)]
    report = next((match[1] for line in lines if (match := REPORT.match(line))), "")
    is_refuted = any(
        re.match(r"// WRONG: error: .* differs from the reference", line) for line in lines
    )
    is_proved = '// FIXED: tv.answer = "proved"' in lines
    runs = [line for line in lines if line.startswith("// RUN: ")]
    if len(runs) != 2 or not is_proved:
        sys.exit(f"{path}: does not run both forms")
    if is_refuted != ("--check-prefix=WRONG" in runs[1]):
        sys.exit(f"{path}: does not say what is reported")
    return Case(" ".join(comment), is_refuted, report or "another value")


def check(rows: list[Row], cases: dict[str, Case]) -> list[str]:
    problems = [
        f"{name} has a test and is no row" for name in cases.keys() - {r.number for r in rows}
    ]
    for row in rows:
        case = cases.get(row.number)
        if row.is_visible and row.reason:
            problems.append(f"{row.number} can be seen and says why not")
        if row.is_visible and not (case and case.is_refuted):
            problems.append(f"{row.number} has no test that refutes it")
        if not row.is_visible and not row.reason:
            problems.append(f"{row.number} does not say why it is silent")
        if not row.is_visible and case and case.is_refuted:
            problems.append(f"{row.number} is said to be silent and is refuted")
    return problems


def compare(rows: list[Row], catalog: Path) -> list[str]:
    marks = {}
    for line in catalog.read_text().splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))]
        if len(cells) == 8 and re.fullmatch(r"B\d{3}", cells[0]):
            mark = re.match(r"Y\*/S|Y\*|N / Y|Y|S|P|N", cells[6])
            marks[cells[0]] = mark[0].replace(" ", "") if mark else cells[6]
    own = {row.number: row.mark for row in rows}
    return [
        f"{number} is '{own.get(number)}' here, '{marks.get(number)}' in {catalog}"
        for number in sorted(own.keys() | marks.keys())
        if own.get(number) != marks.get(number)
    ]


def make_table(rows: list[Row], cases: dict[str, Case]) -> str:
    lines = ["| row | | what the wrong form does | reported |", "|---|---|---|---|"]
    for row in rows:
        case = cases.get(row.number)
        if row.is_visible and case:
            lines.append(f"| {row.number} | {row.mark} | {case.text} | {case.report} |")
    lines += ["", "Silent:", "", "| row | | why |", "|---|---|---|"]
    for row in rows:
        if not row.is_visible:
            proved = "; its test proves both forms" if row.number in cases else ""
            lines.append(f"| {row.number} | {row.mark} | {row.reason}{proved} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    tests, document = Path(sys.argv[1]), Path(sys.argv[2])
    rows = read_rows(tests / "rows.txt")
    cases = {path.stem: read_case(path) for path in sorted(tests.glob("*.mlir"))}
    problems = check(rows, cases)
    if "--catalog" in sys.argv:
        problems += compare(rows, Path(sys.argv[sys.argv.index("--catalog") + 1]))
    before, _, rest = document.read_text().partition(BEGIN)
    table, _, after = rest.partition(END)
    expected = make_table(rows, cases)
    if "--write" in sys.argv:
        document.write_text(before + BEGIN + expected + END + after)
    elif table != expected:
        problems.append(f"{document} does not have this table; `make docs` rewrites it")
    for problem in problems:
        print(problem)
    visible = sum(row.is_visible for row in rows)
    print(f"{len(rows)} rows: {visible} refuted and proved, {len(rows) - visible} silent")
    return 1 if problems else 0


sys.exit(main())
