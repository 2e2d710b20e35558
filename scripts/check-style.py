#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks what reviewers would otherwise repeat.

usage: scripts/check-style.py [FILE...]

Checks the given files, by default all that git tracks. Prints one line for each
finding, `file:line: what is wrong`, and fails if there is any.
"""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

Finding = tuple[int, str]
Rule = Callable[[Path, list[str]], Iterator[Finding]]

LINE_CAP = 500
SIZE_CAP = 1 << 20
CODE = {".cpp", ".h", ".td", ".py", ".sh"}
TESTS = {".mlir", ".test"}
CPP = {".cpp", ".h"}
DRAWERS = r"(?:utils?|helpers?|common|misc|manager)"
LICENCE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"


def matches(pattern: str, message: str, suffixes: set[str]) -> Rule:
    """A rule that no line of files with one of `suffixes` matches `pattern`."""

    def rule(path: Path, lines: list[str]) -> Iterator[Finding]:
        if path.suffix not in suffixes:
            return
        for number, line in enumerate(lines, 1):
            if re.search(pattern, line):
                yield number, message

    return rule


def file_length(path: Path, lines: list[str]) -> Iterator[Finding]:
    """A file is short enough to be read in ten minutes."""
    if path.suffix in CODE | TESTS | {".md"} and len(lines) > LINE_CAP:
        yield LINE_CAP, f"{len(lines)} lines, more than {LINE_CAP}: split it"


def file_name(path: Path, lines: list[str]) -> Iterator[Finding]:
    """A file is named after what it holds, not after being a drawer."""
    words = re.split(r"[-_.]|(?<=[a-z])(?=[A-Z])", path.name)
    words += [part for folder in path.parts[:-1] for part in [folder]]
    if any(re.fullmatch(DRAWERS, word, re.IGNORECASE) for word in words):
        yield 1, "a name that says nothing about what is inside"


def heading(path: Path, lines: list[str]) -> Iterator[Finding]:
    """C++ and TableGen files open with their name; code states the licence."""
    if path.suffix in {".cpp", ".h", ".td"}:
        pattern = rf"//===-+ {re.escape(path.name)} - .+-===//"
        if not lines or not re.fullmatch(pattern, lines[0]):
            yield 1, f"does not open with '//===- {path.name} - what it is'"
    if path.suffix in CODE and not any(LICENCE in line for line in lines[:5]):
        yield 1, "has no SPDX line"


def header_guard(path: Path, lines: list[str]) -> Iterator[Finding]:
    """A header's guard is its path."""
    if path.suffix != ".h":
        return
    parts = path.with_suffix("").parts
    parts = parts[1:] if parts[0] == "include" else ("Verify", *parts)
    guard = "_".join(parts).replace("-", "_").upper() + "_H"
    if f"#ifndef {guard}" not in lines or f"#define {guard}" not in lines:
        yield 1, f"has no header guard {guard}"


def whitespace(path: Path, lines: list[str]) -> Iterator[Finding]:
    """No trailing blanks, no tabs, one newline at the end."""
    for number, line in enumerate(lines, 1):
        if line != line.rstrip():
            yield number, "trailing whitespace"
        if "\t" in line and path.name not in {"Makefile", ".gitmodules"}:
            yield number, "a tab"
    if lines and not lines[-1].strip():
        yield len(lines), "an empty line at the end"


def dead_checks(path: Path, lines: list[str]) -> Iterator[Finding]:
    """Tests run something, and what they expect is looked at."""
    if path.suffix not in TESTS or "Inputs" in path.parts:
        return
    text = "\n".join(lines)
    if "RUN:" not in text:
        yield 1, "a test without a RUN line"
    if "FileCheck" not in text:
        for number, line in enumerate(lines, 1):
            if re.search(r"//\s*CHECK[-:]", line):
                yield number, "CHECK in a file without FileCheck"
    if not re.search("-verify-diagnostics", text):
        for number, line in enumerate(lines, 1):
            if re.search(r"//\s*expected-(error|warning|note|remark)", line):
                yield number, "expected- without -verify-diagnostics"


def z3_boundary(path: Path, lines: list[str]) -> Iterator[Finding]:
    """Z3 is included in lib/Solver only, which is compiled with exceptions."""
    if path.parts[:2] == ("lib", "Solver"):
        return
    for number, line in enumerate(lines, 1):
        if re.match(r'#include ["<]z3', line):
            yield number, "includes Z3 outside lib/Solver"


RULES: list[Rule] = [
    file_length,
    file_name,
    heading,
    header_guard,
    whitespace,
    dead_checks,
    z3_boundary,
    matches(
        rf"\b(class|struct|namespace)\s+\w*(?i:{DRAWERS})\b",
        "a name that says nothing about what is inside",
        CPP,
    ),
    matches(r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\))", "a TODO names an issue: TODO(#12)",
            CODE - {".py", ".sh"} | TESTS),
    matches(r"#include <(mlir|llvm|Verify)/", 'include with "..."', CPP),
    matches(r"using namespace (llvm|std);", "names are qualified", {".h"}),
    matches(r"(?i)file\(glob", "list sources explicitly", {".txt", ".cmake"}),
    matches(
        r"(?<![\w.])/(work|root|home|tmp)/",
        "a path of somebody's machine",
        CODE | TESTS | {".md", ".txt", ".cmake", ".json", ".toml", ".yml"},
    ),
]


def tracked_files() -> list[Path]:
    """The files git tracks that are still there."""
    listed = subprocess.run(
        ["git", "ls-files", "-z"], check=True, capture_output=True, text=True
    ).stdout
    paths = [Path(name) for name in listed.split("\0") if name]
    return [path for path in paths if path.is_file()]


def check(path: Path) -> list[Finding]:
    """All findings in one file."""
    content = path.read_bytes()
    if len(content) > SIZE_CAP:
        return [(1, f"larger than {SIZE_CAP} bytes")]
    is_foreign = path.name == "LICENSE" or path.parts[:2] == ("docs", "generated")
    if is_foreign or b"\0" in content:
        return []
    text = content.decode("utf-8")
    findings = [found for rule in RULES for found in rule(path, text.splitlines())]
    if text and not text.endswith("\n"):
        findings.append((text.count("\n") + 1, "no newline at the end"))
    return sorted(findings)


def main() -> int:
    """Checks and prints; 1 if there is a finding."""
    paths = [Path(name) for name in sys.argv[1:]] or tracked_files()
    found = False
    for path in paths:
        for line, message in check(path):
            print(f"{path}:{line}: {message}")
            found = True
    return int(found)


if __name__ == "__main__":
    sys.exit(main())
