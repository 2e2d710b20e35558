# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the functions that a page lists with the rules of the importer.

usage: functions.py PAGE SOURCE...

Prints how many there are. Exit code 1 if one is only there or only here.
"""

import re
import sys
from pathlib import Path


def main() -> int:
    """Prints what differs, or how many there are, and returns the exit code."""
    page, *sources = (Path(name) for name in sys.argv[1:])
    name = r"((?:torch|nnscaler|_operator)\.[\w.]+)"
    listed = set(re.findall(f"`{name}`", page.read_text()))
    listed = {function for function in listed if not function.endswith(".f")}
    known = {
        found for source in sources for found in re.findall(rf'\{{"{name}",', source.read_text())
    }
    for where, functions in (("listed only", listed - known), ("known only", known - listed)):
        for function in sorted(functions):
            print(f"{function} is {where}")
    if listed != known:
        return 1
    print(f"{len(known)} functions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
