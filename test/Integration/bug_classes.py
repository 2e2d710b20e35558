# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the 14 classes of bugs of the TrainVerify paper on plans of a model.

usage: bug_classes.py WORK MODEL [OPTION...]

Plants each class at several places (device, layer, direction, op), in the folder
WORK, and runs verify-plan. Each must be refuted, the first diagnostic must be at
what was changed (see plan_maker.bugs.diagnostics), and it must tell the root cause. Prints a line
for each; exit code 1 if one was not refuted, or elsewhere, or for another cause.
"""

import contextlib
import io
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from bug_places import REFUTED, TIMEOUT
from plan_maker.bugs.diagnostics import find_tie, first_diagnostic
from plan_maker.command_line import main

LAST_DEVICE = ("--bug-device", "3")
LAST_LAYER = ("--bug-layer", "3")
SECOND = ("--bug-layer", "2", "--bug-number", "1")
LAYERS = ((), LAST_LAYER, SECOND, LAST_DEVICE)
# Not everywhere: class 5 in the middle of a GPT's stage and class 8 after a Llama's
# first layer have no verdict within the time.
ENDS = ((), LAST_LAYER, LAST_DEVICE)
STAGES = ((), ("--bug-device", "1"))
DIRECTIONS = ((), ("--bug-direction", "backward"))
RANKS = ((), ("--bug-device", "1", "--bug-layer", "1"), (*LAST_DEVICE, *LAST_LAYER))
# Ops that join the gradients of several consumers: on other ranks, in other layers, and
# those of norms, of attention, of feed-forward blocks and of residual connections.
JOINS = (
    *RANKS,
    ("--bug-number", "2"),
    ("--bug-layer", "1", "--bug-number", "1"),
    ("--bug-device", "2", "--bug-layer", "2"),
    (*LAST_DEVICE, "--bug-layer", "2", "--bug-number", "5"),
    (*LAST_DEVICE, *LAST_LAYER, "--bug-number", "3"),
    (*LAST_DEVICE, *LAST_LAYER, "--bug-number", "4"),
)
# A GPT has two of them in a layer.
TWO_JOINS = (*RANKS, ("--bug-number", "1"), (*LAST_DEVICE, "--bug-layer", "2"))
LLAMAS = ("llama", "llama-moe")
CONSTANT = "wrong constant: the (number in|exponent of)"
SCALE = "wrong scale factor: .*; the number in|wrong constant: the (number in|exponent of)"
MISSING_SUM = "missing sum: .* one term of a sum over devices"


@dataclass(frozen=True)
class Case:
    """A class by number, the bug, its places, and what the user should read. The
    models that have no such op are `lacking`.
    """

    number: int
    bug: str
    places: tuple[tuple[str, ...], ...]
    cause: str
    operations: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()


CASES = (
    Case(1, "transposed-all-reduce", LAYERS, MISSING_SUM),
    Case(1, "all-reduce-to-identity", LAYERS, MISSING_SUM),
    Case(2, "dropped-primitive", LAYERS, "undefined value: nothing produces"),
    Case(3, "all-reduce-to-all-gather", LAYERS, r"\(all_gather\) dimension 0 of result has size"),
    Case(4, "all-gather-to-all-reduce", DIRECTIONS, "adds up '.*its result is"),
    Case(5, "gradient-all-reduce-to-identity", ENDS, MISSING_SUM),
    Case(6, "wrong-rank-in-move", DIRECTIONS, "wrong slice: .*; it was sent by device"),
    Case(7, "constant-one-rank", RANKS, CONSTANT, operations=("add", "layernorm")),
    Case(8, "constant-one-rank", STAGES, CONSTANT, operations=("pow",), lacking=("gpt",)),
    Case(9, "constant-all-ranks", RANKS, CONSTANT, operations=("add", "layernorm")),
    Case(10, "doubled-incoming-gradient", JOINS, "counts twice", lacking=("gpt",)),
    Case(10, "doubled-incoming-gradient", TWO_JOINS, "counts twice", lacking=LLAMAS),
    Case(10, "doubled-gradient", RANKS, "wrong scale factor"),
    Case(11, "swapped-operands", RANKS, "exchanged operands", lacking=("gpt",)),
    Case(12, "constant-one-rank", RANKS, SCALE, operations=("div", "self_attention")),
    Case(13, "constant-all-ranks", RANKS, SCALE, operations=("div", "self_attention")),
    # The scale of a router's weights.
    Case(12, "constant-one-rank", RANKS, SCALE, operations=("gate_fw",), lacking=("gpt", "llama")),
    Case(13, "constant-all-ranks", RANKS, SCALE, operations=("gate_fw",), lacking=("gpt", "llama")),
    Case(14, "dropped-micro-batch", STAGES, "waits for members of its group"),
)
# Where the cause is not named yet: a scale inside of an op on one rank.
UNNAMED = {("gpt", "constant-one-rank")}
# The op with the number: of models with attention as one op, and of others.
ONE_OP_ATTENTION = "gpt"


def options_of(case: Case, model: str) -> tuple[str, ...]:
    """The op of the model that the bug is in."""
    if not case.operations:
        return ()
    return ("--bug-operation", case.operations[-1 if model == ONE_OP_ATTENTION else 0])


def check(case: Case, options: tuple[str, ...], model: list[str], work: Path) -> bool:
    """Plants the bug at a place and judges the diagnostic."""
    plan, reference, description = (work / file for file in ("p.pkl", "single.pkl", "bug.json"))
    files = ["-o", plan, "--reference", reference, "--describe-bug", description]
    words = ["--bug", case.bug, *options]
    title = f"class {case.number}: {' '.join(words)}"
    error = io.StringIO()
    with contextlib.redirect_stderr(error):
        code = main([*model, *words, *map(str, files)])
    if code != 0:
        print(f"{title}: not planted: {error.getvalue()}", flush=True)
        return False
    command = ["verify-plan", "--reference", reference, plan]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        print(f"{title}: no verdict in {TIMEOUT} seconds", flush=True)
        return False
    report = run.stdout + run.stderr
    diagnostic = first_diagnostic(report)
    found = find_tie(diagnostic, json.loads(description.read_text("utf-8"))["edits"])
    first_error = re.split(r"\n.*single-device model:", report)[0]
    has_cause = re.search(case.cause, first_error) is not None
    print(f"{title}: {found}, {'cause' if has_cause else 'no cause'}: {diagnostic}", flush=True)
    is_named = has_cause or (model[0], case.bug) in UNNAMED
    return run.returncode == REFUTED and found is not None and is_named


def check_all() -> int:
    """All classes that the model can have; returns the exit code."""
    work, model = Path(sys.argv[1]), sys.argv[2:]
    results = [
        check(case, (*options_of(case, model[0]), *options), model, work)
        for case in CASES
        if model[0] not in case.lacking
        for options in case.places
    ]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(check_all())
