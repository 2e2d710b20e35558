# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a finding small: MLIR's reducer asks, module by module, whether it is still one.

As a program, `python3 -m hunt.finding TOOL WANTED MODULE` is what the reducer asks: exit
code 1, which means yes there, if the module is the finding that is wanted: what was found
about a plan in short, or `SMALL_ONLY`.
"""

import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from hunt import reduction
from hunt.judge import judge

# A stage that the small case proves and full size does not.
SMALL_ONLY = "proved by the small case only"
LIMIT = 300


def is_finding(tool: str, wanted: str, module: Path) -> bool:
    """Whether the module is still what was found."""
    if wanted != SMALL_ONLY:
        return judge(tool, module).summary == wanted
    text = module.read_text()
    stage = re.search(r"@s(\d+)", text)
    number = int(stage.group(1)) if stage else 0
    verdicts = [
        reduction.verify(tool, {number: text}, options, limit=10)[number]
        for options in (reduction.OPTIONS, f"{reduction.OPTIONS} full-size=true")
    ]
    return verdicts == ["proved", "not proved"]


def reduced(reducer: str, tool: str, module: Path, wanted: str) -> Path | None:
    """A smaller module that is the same finding, beside the module; none where `LIMIT`
    seconds bring none.
    """
    with tempfile.TemporaryDirectory(prefix="finding-") as folder:
        script, made = Path(folder) / "ask", Path(folder) / "small.mlir"
        asked = shlex.join([sys.executable, "-m", "hunt.finding", tool, wanted])
        script.write_text(f'#!/bin/sh\nexec {asked} "$1"\n')
        script.chmod(0o755)
        package = str(Path(__file__).parent.parent)
        command = [reducer, str(module), f"--reduction-tree=test={script}", "-o", str(made)]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                check=False,
                timeout=LIMIT,
                env=os.environ | {"PYTHONPATH": package},
            )
        except subprocess.TimeoutExpired:
            return None
        if done.returncode != 0 or not is_finding(tool, wanted, made):
            return None
        text = made.read_text()
    if len(text.splitlines()) >= len(module.read_text().splitlines()):
        return None
    written = module.with_suffix(".part")
    written.write_text(text)
    return written.replace(module.with_suffix(".reduced.mlir"))


class Reducer:
    """Reduces the first findings of a hunt; later ones are most often the same."""

    def __init__(self, reducer: str, tool: str, most: int = 5) -> None:
        self.reducer = reducer
        self.tool = tool
        self.left = most if reducer else 0

    def reduce(self, module: Path, wanted: str) -> None:
        """Writes the smaller module, and says how small it is."""
        if self.left == 0:
            return
        self.left -= 1
        small = reduced(self.reducer, self.tool, module, wanted)
        if not small:
            print(f"  not reduced: {module}", flush=True)
            return
        lines = [len(path.read_text().splitlines()) for path in (module, small)]
        print(f"  reduced from {lines[0]} to {lines[1]} lines: {small}", flush=True)


if __name__ == "__main__":
    sys.exit(is_finding(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
