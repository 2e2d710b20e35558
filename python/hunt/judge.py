# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tool says about a module, and what execution says.

Values: `equal` or `different` on some inputs, or `not run`. Answer: `proved`,
`refuted`, `unknown`, `malformed` where a plan cannot be executed, `rejected` where
the file is no plan, and `crashed`.
"""

import re
import resource
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

# Seconds of processor time of one run; by the clock it is lost after ten times as many.
LIMIT = 20
SEEDS = 3
MORE_SEEDS = 12
ROW = re.compile(r"^  (?:output|gradient) .* (equal|differs.*)$", re.MULTILINE)
ANSWER = re.compile(r'tv\.answer = "([a-z]+)"')


@dataclass(frozen=True)
class Judgement:
    """What was found about one plan."""

    values: str
    answer: str
    reason: str = ""

    @property
    def summary(self) -> str:
        """What was found, for comparisons."""
        return f"{self.values}, {self.answer}"

    @property
    def outcome(self) -> str:
        """The column of the table."""
        if self.answer == "crashed":
            return "crashed"
        if self.answer == "rejected":
            return "invalid" if self.values == "not run" else "rejected"
        is_refuted = self.answer in ("refuted", "malformed")
        if self.values == "not run":
            return "escaped" if self.answer == "proved" else "invalid"
        if self.answer == "unknown":
            return "unknown"
        if self.values == "different":
            return "refuted" if is_refuted else "escaped"
        # Execution compares what is there; a part that no device holds is missing.
        if self.answer == "malformed":
            return "invalid"
        return "false alarm" if is_refuted else "proved"


def read_values(text: str) -> str:
    """What the tables of results say."""
    rows = ROW.findall(text)
    if not rows:
        return "not run"
    return "equal" if all(row == "equal" for row in rows) else "different"


def read_answer(code: int, errors: str) -> tuple[str, str]:
    """The answer and, where it is not *proved*, the first error."""
    reason = next((line for line in errors.split("\n") if "error: " in line), "")
    reason = reason.partition("error: ")[2]
    if code == 0:
        return "proved", ""
    if code < 0 or code > 1:
        return "crashed", errors[:2000]
    if match := ANSWER.search(errors):
        # *Proved* with an error is no proof.
        return match.group(1) if match.group(1) != "proved" else "crashed", reason
    return "malformed" if "tv.malformed = " in errors else "rejected", reason


def run(tool: str, module: Path, *passes: str) -> tuple[int, str, str]:
    """Exit code, output and errors of verify-opt."""
    command = [tool, str(module), *passes, "--mlir-print-ir-after-failure"]
    command += ["--mlir-disable-threading"]
    command += ["-o", "/dev/null"]
    return run_bounded(command)


def run_bounded(command: list[str]) -> tuple[int, str, str]:
    """Exit code, output and errors of a command that has `LIMIT` seconds."""
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=10 * LIMIT,
        errors="replace",
        preexec_fn=_limit_time,
    )
    if done.returncode == -signal.SIGXCPU:
        raise subprocess.TimeoutExpired(command, LIMIT)
    return done.returncode, done.stdout, done.stderr


def _limit_time() -> None:
    """However busy the machine is, a run has the same time."""
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def interpret(first: int, count: int) -> list[str]:
    """Passes that execute both programs on some inputs."""
    return [f"--tv-interpret=seed={seed}" for seed in range(first, first + count)]


def execute(tool: str, module: Path) -> str:
    """What execution alone says."""
    try:
        return read_values(run(tool, module, *interpret(0, SEEDS))[1])
    except subprocess.TimeoutExpired:
        return "not run"


def judge(tool: str, module: Path) -> Judgement:
    """Executes and verifies a module, by itself where one of both ends early."""
    values = "not run"
    try:
        code, output, errors = run(tool, module, *interpret(0, 1), "--tv-verify-equiv")
        values = read_values(output)
        if values == "not run" and code != 0:
            code, _, errors = run(tool, module, "--tv-verify-equiv")
        answer, reason = read_answer(code, errors)
        if values == "equal":
            more = SEEDS if answer in ("proved", "unknown") else MORE_SEEDS
            values = read_values(run(tool, module, *interpret(1, more))[1])
    except subprocess.TimeoutExpired:
        if values == "not run":
            values = execute(tool, module)
        return Judgement(values, "unknown", "timeout")
    return Judgement(values, answer, reason)
