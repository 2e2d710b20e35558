# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the report of a right plan on a page with what the tool says: all but times.

usage: reports.py PAGE REPORT
"""

import sys
from pathlib import Path


def lines(text: str) -> list[str]:
    """The report that begins with *proved* and ends with its block or the text."""
    report = text[text.index("\nproved: ") :].split("```")[0]
    return [line for line in report.strip().splitlines() if not line.startswith("  time ")]


def main() -> int:
    """Fails where a line of the page is not what is said."""
    page, report = (lines("\n" + Path(path).read_text()) for path in sys.argv[1:])
    # A page may leave out the end.
    if len(page) > len(report):
        print(f"{sys.argv[1]} has more lines than the report", file=sys.stderr)
        return 1
    for written, said in zip(page, report, strict=False):
        if written != said:
            print(f"{sys.argv[1]} has\n{written}\nand the tool says\n{said}", file=sys.stderr)
            return 1
    print(f"{len(page)} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
