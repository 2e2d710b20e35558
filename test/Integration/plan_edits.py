# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes edits of many kinds to a real plan and checks what is said about them.

usage: plan_edits.py PLANS PARALLEL SINGLE WORK PLACES [KIND...]

Imports the pair of plans, and makes each kind of edit at a number of places in the
text of the plan, one at a time. Each edited plan has to be refuted, with one error: at the
edited op or at the op that first carries the wrong value, with the right kind of
difference. Exit code 1 if one is not.
"""

import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from shared_plans import decompressed

SEED = 7
WRONG = r"differs from the reference|undefined value"


def capture(pattern: str, text: str) -> str:
    """What the group of a pattern that must occur matches."""
    match = re.search(pattern, text)
    assert match, f"no {pattern} in {text}"
    return match.group(1)


@dataclass
class Op:
    """A line of the plan that is an op."""

    line: int
    text: str
    device: int
    body: int  # number of the segment or program around it

    @property
    def kind(self) -> str:
        return capture(r"\btv\.([a-z_]+)", self.text)

    @property
    def result(self) -> str | None:
        match = re.match(r"\s*(%\d+)(?::\d+)? =", self.text)
        return match.group(1) if match else None

    @property
    def operands(self) -> list[str]:
        uses = self.text.split(" = ", 1)[-1].split(" loc(")[0]
        return re.findall(r"%\w+", uses)

    @property
    def location(self) -> str:
        match = re.search(r"loc\((#loc\d*)\)$", self.text)
        return match.group(1) if match else ""


@dataclass
class Edit:
    """An edited plan, and what may be said about it."""

    lines: list[str]
    about: set[str] = field(default_factory=set)  # names of ops, or their lines
    kinds: str = WRONG  # a pattern of the message


class Plan:
    """The text of a pair of plans."""

    def __init__(self, text: str, places: int) -> None:
        self.places = places
        self.lines = text.split("\n")
        first = next(i for i, line in enumerate(self.lines) if "tv.plan @plan" in line)
        self.names: dict[str, str] = {}
        self.sources: dict[str, str] = {}
        places = dict(re.findall(r'^(#loc\d*) = loc\("([^"]*":\d+)', text, re.MULTILINE))
        node = r'^(#loc\d*) = #tv\.node<"([^"]*)" cell (\d+) at (#loc\d*)>'
        for alias, name, cell, place in re.findall(node, text, re.MULTILINE):
            self.names[alias] = f"{name} (cell {cell})"
            self.sources[alias] = places[place].replace('"', "")
        self.ops: list[Op] = []
        device, body = -1, -1
        for i in range(first, len(self.lines)):
            line = self.lines[i]
            match = re.search(r"tv\.(?:segment @\S+ on|program) (\d+)", line)
            if match:
                device, body = int(match.group(1)), i
            if re.search(r"\btv\.[a-z]", line):
                self.ops.append(Op(i, line, device, body))

    def find(self, pattern: str) -> list[Op]:
        return [op for op in self.ops if re.search(pattern, op.text)]

    def name(self, op: Op) -> str:
        return self.names.get(op.location, "")

    def source(self, op: Op) -> str:
        """`file:line`."""
        return self.sources.get(op.location, "")

    def groups(self, ops: list[Op]) -> list[list[Op]]:
        """The ops of one cell on all its devices."""
        by_cell: dict[tuple[str, str], list[Op]] = {}
        for op in ops:
            by_cell.setdefault((self.name(op), op.kind), []).append(op)
        return [
            group
            for group in by_cell.values()
            if len({op.device for op in group}) == len(group)
        ]

    def readers(self, *ops: Op) -> set[str]:
        """Names of ops, their lines, and names of what reads them, also in other cells."""
        names: set[str] = set()
        for op in ops:
            names |= {self.name(op), self.source(op)}
            for other in self.ops:
                if other.body != op.body or op.result not in other.operands:
                    continue
                names.add(self.name(other))
                if other.kind in {"add", "return", "send"}:
                    names |= {self.name(late) for late in self.ops if late.line > op.line}
        return names

    def replaced(self, changes: Mapping[int, str | None]) -> list[str]:
        """The lines with some of them changed, or left out."""
        return [
            line if changes.get(i, line) is line else changes[i] or ""
            for i, line in enumerate(self.lines)
        ]

    def bypassed(self, ops: list[Op]) -> list[str]:
        """The lines without `ops`, whose results become their operands."""
        lines = list(self.lines)
        for op in ops:
            lines[op.line] = ""
            for i in range(op.line + 1, len(lines)):
                if re.search(r"tv\.(segment|program) ", lines[i]):
                    break
                lines[i] = re.sub(rf"{op.result}\b", op.operands[0], lines[i])
        return lines


Maker = Callable[[Plan, random.Random], Iterator[Edit]]


def chosen(plan: Plan, choice: random.Random, pattern: str) -> Iterator[list[Op]]:
    """Some cells with an op that matches, each with that op on all its devices."""
    groups = plan.groups(plan.find(pattern))
    yield from choice.sample(groups, min(plan.places, len(groups)))


def removed_all_reduce(plan: Plan, choice: random.Random) -> Iterator[Edit]:
    for group in chosen(plan, choice, r"communicate +all_reduce"):
        names = plan.readers(*group)
        yield Edit(plan.bypassed(group), names, "missing sum")


def identity_for_all_reduce(plan: Plan, choice: random.Random) -> Iterator[Edit]:
    pattern = r"communicate +all_reduce (%\d+) group \[[^]]*\]( replicas)?"
    for group in chosen(plan, choice, pattern):
        changes = {op.line: re.sub(pattern, r"copy \1", op.text) for op in group}
        names = plan.readers(*group)
        yield Edit(plan.replaced(changes), names, "missing sum")


def other_collective(plan: Plan, choice: random.Random) -> Iterator[Edit]:
    for group in chosen(plan, choice, r"communicate +all_gather\b"):
        changes = {
            op.line: re.sub(
                r"\{dimension = \d+ : i64(, )?", "{", op.text.replace("gather", "reduce", 1)
            )
            for op in group
        }
        yield Edit(plan.replaced(changes), {plan.source(group[0])}, "gives .* not")
    for group in chosen(plan, choice, r"communicate +all_reduce\b(?!.* replicas).*\{"):
        changes = {
            op.line: op.text.replace("reduce", "gather", 1).replace(
                "{", "{dimension = 0 : i64, ", 1
            )
            for op in group
        }
        yield Edit(plan.replaced(changes), {plan.source(group[0])}, "gives .* not")


def wrong_rank_in_move(plan: Plan, choice: random.Random) -> Iterator[Edit]:
    def swapped(op: Op, first: int, second: int) -> str:
        other = {str(first): str(second), str(second): str(first)}
        return re.sub(
            r"(receive from|to) (\d+)",
            lambda match: f"{match.group(1)} {other.get(match.group(2), match.group(2))}",
            op.text,
            count=1,
        )

    for senders in chosen(plan, choice, r"tv\.send .* : tensor<(?!1xf32)"):
        receivers = [
            op for op in plan.find("tv.receive") if plan.name(op) == plan.name(senders[0])
        ]
        if len(senders) < 2 or len(receivers) != len(senders):
            continue
        sending = [op.device for op in senders[:2]]
        receiving = [int(capture(r"to (\d+)", op.text)) for op in senders[:2]]
        changes = {op.line: swapped(op, *receiving) for op in senders[:2]}
        changes |= {op.line: swapped(op, *sending) for op in receivers}
        names = plan.readers(*receivers)
        yield Edit(plan.replaced(changes), names, "wrong slice")


def wrong_group(plan: Plan, choice: random.Random) -> Iterator[Edit]:
    for group in chosen(plan, choice, r"communicate +all_reduce .* group \[\d+, \d+"):
        changes = {
            op.line: re.sub(r"group \[[^]]*\]", f"group [{op.device}]", op.text, count=1)
            for op in group
        }
        names = plan.readers(*group)
        yield Edit(plan.replaced(changes), names, "wrong group")


def wrong_chunk_offset(plan: Plan, choice: random.Random) -> Iterator[Edit]:
    for group in chosen(plan, choice, r"tv\.slice .*tv\.piece = "):
        op = choice.choice(group)
        start, end = (int(capture(rf"\b{key} = (\d+)", op.text)) for key in ("start", "end"))
        moved = end - start if start == 0 else start - end
        text = re.sub(r"\bend = \d+", f"end = {end + moved}", op.text)
        text = re.sub(r"\bstart = \d+", f"start = {start + moved}", text)
        yield Edit(plan.replaced({op.line: text}), plan.readers(op), "wrong slice|wrong operand")


def constant_on(plan: Plan, choice: random.Random, everywhere: bool) -> Iterator[Edit]:
    for group in chosen(plan, choice, r"tv\.constant dense<[0-9.e+-]+>"):
        ops = group if everywhere else [choice.choice(group)]
        number = float(capture(r"dense<([0-9.e+-]+)>", ops[0].text))
        changes = {
            op.line: re.sub(r"dense<[^>]*>", f"dense<{3 * number:.17e}>", op.text) for op in ops
        }
        names = plan.readers(*ops)
        yield Edit(plan.replaced(changes), names, "wrong constant|1/3 times|3 times")


def constant_on_one_rank(plan: Plan, choice: random.Random) -> Iterator[Edit]:
    yield from constant_on(plan, choice, everywhere=False)


def constant_on_all_ranks(plan: Plan, choice: random.Random) -> Iterator[Edit]:
    yield from constant_on(plan, choice, everywhere=True)


def dropped_micro_batch(plan: Plan, choice: random.Random) -> Iterator[Edit]:
    """The last call that adds to gradients is gone from each device of a stage."""
    adding = {op.body for op in plan.find(r"tv\.add_to ")}
    segments = {
        capture(r"(@\S+)", op.text) for op in plan.find(r"tv\.segment @") if op.line in adding
    }
    last: dict[int, Op] = {}
    for op in plan.find(r"tv\.call @.*-> \(\)"):
        if capture(r"(@[^(]+)", op.text) in segments:
            last[op.device] = op
    changes: dict[int, str | None] = {op.line: None for op in last.values()}
    yield Edit(plan.replaced(changes), {"weight reducer", "gradient of"}, "missing micro-batch")


def doubled_gradient(plan: Plan, choice: random.Random) -> Iterator[Edit]:
    for group in chosen(plan, choice, r"tv\.add_to "):
        changes = {op.line: f"{op.text}\n{op.text}" for op in group}
        about = plan.readers(group[0])
        yield Edit(plan.replaced(changes), about, r"2 times|3/2 times|added twice|in it twice")


def swapped_operands(plan: Plan, choice: random.Random) -> Iterator[Edit]:
    def is_swappable(op: Op) -> bool:
        types = re.findall(r"\btensor<[^>]*>", op.text.split(" : (")[-1].split(") ->")[0])
        return len(types) == 2 and types[0] == types[1] and len(set(op.operands)) == 2

    # The transpose of a copy for several readers adds, which commutes.
    found = [
        op
        for op in plan.find(r"tv\.(matmul|backward) %")
        if is_swappable(op) and "multiref" not in plan.name(op)
    ]
    for op in choice.sample(found, min(plan.places, len(found))):
        text = re.sub(r"(%\w+(?:#\d)?), (%\w+(?:#\d)?)", r"\2, \1", op.text, count=1)
        kinds = "exchanged operands|wrong operand|other value"
        yield Edit(plan.replaced({op.line: text}), plan.readers(op), kinds)


def wrong_parameter_slice(plan: Plan, choice: random.Random) -> Iterator[Edit]:
    """A device holds its neighbour's slice; two hold each other's."""
    slices: dict[str, list[Op]] = {}
    for op in plan.find(r"tv\.buffer @"):
        name = capture(r'"([^"]*)"', op.text)
        bounds = capture(r"holds <(.*?)>", op.text)
        if any(s != "0" or e != w for s, e, w in re.findall(r"(\d+):(\d+) of (\d+)", bounds)):
            slices.setdefault(name, []).append(op)
    for name in choice.sample(sorted(slices), min(plan.places, len(slices))):
        holds = [capture(r"(holds <.*?>)", op.text) for op in slices[name]]
        one, *others = dict.fromkeys(holds)
        if not others:
            continue
        turned = {one: others[0], others[0]: one}
        for swaps in (False, True):
            changes = {
                op.line: op.text.replace(held, turned[held], 1)
                for op, held in zip(slices[name], holds, strict=True)
                if swaps or held == one
            }
            kinds = "wrong slice" if swaps else "no device holds part"
            yield Edit(plan.replaced(changes), {name}, kinds)


def missing_reducer(plan: Plan, choice: random.Random) -> Iterator[Edit]:
    for group in chosen(plan, choice, r"communicate +all_reduce .* replicas"):
        lines = list(plan.lines)
        for op in group:
            # Read, sum and write back.
            lines[op.line - 1 : op.line + 2] = ["", "", ""]
        yield Edit(lines, {plan.source(group[0])}, "missing sum")


def extra_all_reduce(plan: Plan, choice: random.Random) -> Iterator[Edit]:
    """What an adapter passes on unchanged is added up over its devices."""
    copies = [op for op in plan.find(r"tv\.copy .*tv\.piece") if "adapter" in plan.name(op)]
    groups = [group for group in plan.groups(copies) if len(group) > 1]
    for group in choice.sample(groups, min(plan.places, len(groups))):
        devices = sorted(op.device for op in group)
        changes = {
            op.line: re.sub(
                r"copy (%\S+)", rf"communicate all_reduce \1 group {devices}", op.text, count=1
            )
            for op in group
        }
        yield Edit(plan.replaced(changes), plan.readers(*group), "extra sum")


MAKERS: list[Maker] = [
    removed_all_reduce,
    identity_for_all_reduce,
    extra_all_reduce,
    other_collective,
    wrong_rank_in_move,
    wrong_group,
    wrong_chunk_offset,
    constant_on_one_rank,
    constant_on_all_ranks,
    dropped_micro_batch,
    doubled_gradient,
    swapped_operands,
    wrong_parameter_slice,
    missing_reducer,
]
KINDS = {maker.__name__.replace("_", "-"): maker for maker in MAKERS}


def refute(edit: Edit, path: Path) -> str | None:
    """What is wrong with the answer to an edit, if something is."""
    path.write_text("\n".join(edit.lines))
    run = subprocess.run(
        ["verify-opt", "--tv-verify-equiv", path, "-o", "/dev/null"],
        capture_output=True,
        text=True,
        check=False,
    )
    errors = re.findall(r"error: .*", run.stderr)
    is_executed = bool(errors) and re.search(WRONG, errors[0]) is not None
    # The verifier reports on each device what cannot be executed.
    if run.returncode != 1 or not errors or (is_executed and len(errors) != 1):
        return f"exit code {run.returncode}, {len(errors)} errors:\n{run.stderr}"
    if is_executed and "counterexample:" not in run.stderr and "undefined" not in errors[0]:
        return f"no counterexample:\n{run.stderr}"
    if not re.search(edit.kinds, run.stderr):
        return f"expected '{edit.kinds}':\n{run.stderr}"
    if not any(name in run.stderr for name in edit.about if name):
        return f"expected one of {sorted(edit.about)}:\n{run.stderr}"
    return None


def main() -> int:
    folder, work = Path(sys.argv[1]), Path(sys.argv[4])
    parallel, single = (decompressed(folder, name, work) for name in sys.argv[2:4])
    imported = work / "pair.mlir"
    subprocess.run(
        ["verify-translate", "--import-nnscaler", "--mlir-print-debuginfo"]
        + ["--reference", single, parallel, "-o", imported],
        check=True,
    )
    plan = Plan(imported.read_text(), int(sys.argv[5]))
    subprocess.run(["verify-opt", "--tv-verify-equiv", imported, "-o", "/dev/null"], check=True)
    failed = 0
    for kind in sys.argv[6:] or KINDS:
        count = 0
        for edit in KINDS[kind](plan, random.Random(SEED)):
            count += 1
            if reason := refute(edit, work / f"{kind}-{count}.mlir"):
                failed += 1
                print(f"{kind} {count}: {reason}")
        print(f"{count:>3} {kind}", flush=True)
        failed += count == 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
