# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Source locations in the models' text.

The models under `models/` are never imported. An op of a plan says which line of
them it comes from, so that a diagnostic can show that line; the lines are found
by their text, so that editing a model cannot leave a plan with wrong numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True)
class SourceText:
    """The text of one model; `path` is relative to the repository's root."""

    path: str
    lines: tuple[str, ...]

    def comment(self, code: str) -> str:
        """The `_comment` of an op that comes from the line reading `code`."""
        numbers = [number for number, line in enumerate(self.lines, 1) if line.strip() == code]
        if len(numbers) != 1:
            raise ValueError(f"{self.path}: {len(numbers)} lines read '{code}', expected one")
        number = numbers[0]
        return f'File "{self.path}", line {number}, in {self._function(number)},  {code}'

    def _function(self, number: int) -> str:
        """The function whose `def` is the closest above line `number`."""
        for line in reversed(self.lines[:number]):
            if match := re.match(r"\s*def (\w+)\(", line):
                return match.group(1)
        raise ValueError(f"{self.path}:{number}: not in a function")


def read_model(name: str) -> SourceText:
    """The text of `models/<name>.py`."""
    text = resources.files("plan_maker").joinpath("models", f"{name}.py").read_text("utf-8")
    return SourceText(f"python/plan_maker/models/{name}.py", tuple(text.splitlines()))
