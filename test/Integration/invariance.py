# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes plans in ways that change nothing, and requires the same verdict.

usage: invariance.py WORK ROUNDS

Each round permutes the ranks of all-reduces, the order of ops that do not depend on
each other, the names and the numbers in right and in wrong plans: one of these at a
time and all at once. A right plan has to stay proved, a wrong one wrong at the same
result for the same reason. Each kind of change has a counterpart that goes a step too
far, which a right plan must not survive. Exit code 1 if something is not as it should be.
"""

import random
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

Change = Callable[[str, random.Random], str]

MLP = "mlp --layers 4 --hidden 8 --batch 8 --dp 2 --pp 2 --tp 4 --micro-batches 2"
LLAMA = (
    "llama --layers 1 --hidden 8 --ffn 8 --heads 2 --vocab 8 --sequence 2 --batch 8 --dp 2 "
    "--tp 2 --micro-batches 2"
)
GPT = (
    "gpt --layers 1 --hidden 8 --ffn 8 --heads 2 --vocab 8 --sequence 2 --batch 8 --dp 2 "
    "--tp 2 --micro-batches 2"
)
PLANS = {
    "mlp": MLP,
    "mlp-bad": f"{MLP} --bug removed-all-reduce",
    "llama": LLAMA,
    "llama-bad": f"{LLAMA} --bug swapped-operands",
    "gpt": GPT,
    "gpt-bad": f"{GPT} --bug missing-reducer",
}
PLAN = re.compile(r"^  tv\.plan @(\w+).*?^  \}", re.MULTILINE | re.DOTALL)
BODY = re.compile(r"^    tv\.(?:segment|program) (?s:.*?)^    \}.*\n", re.MULTILINE)
SEGMENT = re.compile(r"^    tv\.segment .*?^    \}", re.MULTILINE | re.DOTALL)
PARAMETER = re.compile(r'(tv\.buffer @\S+ on \d+ )"([^"]*)" holds <\d+, (\[.*?\])>')
CONTRACT_NAMES = re.compile(
    r'(?:tv\.buffer @\S+ on \d+|tv\.output \S+) ("[^"]*")|tv\.load_data cell \d+ \[(.*?)\] holds'
)
TENSOR = re.compile(r'((?:tv\.piece|holds |" )<)(\d+)\b')


def replaced(pattern: re.Pattern[str], text: str, edit: Callable[[str], str]) -> str:
    """Every match edited."""
    return pattern.sub(lambda match: edit(match.group(0)), text)


def renaming(old: Iterable[str], choice: random.Random, prefix: str = "") -> dict[str, str]:
    """New names for old ones, in another order."""
    names = sorted(set(old))
    numbers = choice.sample(range(1, 100 * len(names) + 1), len(names))
    return {name: f"{prefix}{number}" for name, number in zip(names, numbers, strict=True)}


def permuted_groups(text: str, choice: random.Random, kind: str = "all_reduce") -> str:
    """Every group of a kind of collective in another order, the same for all its members."""
    pattern = re.compile(rf"(communicate {kind} \S+ group \[)(\d+(?:, \d+)+)")
    orders = {}
    for group in sorted({match.group(2) for match in pattern.finditer(text)}):
        ranks = group.split(", ")
        order = ranks
        while order == ranks:
            order = choice.sample(ranks, len(ranks))
        orders[group] = ", ".join(order)
    return pattern.sub(lambda match: match.group(1) + orders[match.group(2)], text)


def effects(op: str) -> dict[str, bool]:
    """What an op uses beside its operands, and whether it changes that."""
    if re.search(r"tv\.(communicate|send|receive)\b", op):
        return {"channel": True}
    if match := re.search(r"tv\.(read|write|add_to)\b.*?(@\w+)", op):
        return {match.group(2): match.group(1) != "read"}
    if match := re.search(r"tv\.save (\d+)|tv\.backward .*? of (\d+)", op):
        return {f"saved {match.group(1) or match.group(2)}": match.group(1) is not None}
    return {}


def are_independent(first: str, second: str) -> bool:
    """Whether an op may run after the next one."""
    result = re.match(r"\s*(%\w+)(?::\d+)? =", first)
    if result and result.group(1) in re.findall(r"%\w+", second):
        return False
    one, other = effects(first), effects(second)
    return not any(one[what] or other[what] for what in one.keys() & other.keys())


def reordered(text: str, choice: random.Random) -> str:
    """Ops of segments change places with neighbours; segments and programs with any.

    The order of buffers is that of the results, of which the first wrong one is reported.
    """

    def reorder_ops(segment: str) -> str:
        lines = segment.split("\n")
        start = 1 + lines[1].lstrip().startswith("^bb0")
        end = len(lines) - 1 - (" tv.return" in lines[-2])
        for _ in range(8 * max(end - start - 1, 0)):
            i = choice.randrange(start, end - 1)
            if are_independent(lines[i], lines[i + 1]):
                lines[i : i + 2] = lines[i + 1], lines[i]
        return "\n".join(lines)

    def reorder_bodies(plan: str) -> str:
        bodies = BODY.findall(plan)
        shuffled = iter(choice.sample(bodies, len(bodies)))
        return replaced(BODY, plan, lambda _: next(shuffled))

    return replaced(PLAN, replaced(SEGMENT, text, reorder_ops), reorder_bodies)


def contract_names(text: str) -> set[str]:
    """Names of parameters, inputs and outputs."""
    found = (match.group(1) or match.group(2) for match in CONTRACT_NAMES.finditer(text))
    return {name for names in found for name in re.findall(r'"([^"]*)"', names)}


def renamed(text: str, choice: random.Random) -> str:
    """Other names for symbols and values, and for tensors of the contract on both sides."""

    def rename_symbols(plan: str) -> str:
        names = renaming(re.findall(r"tv\.(?:buffer|segment) @(\w+)", plan), choice, "symbol")
        return re.sub(r"@(\w+)", lambda match: f"@{names.get(match[1], match[1])}", plan)

    text = replaced(PLAN, text, rename_symbols)
    values = renaming(re.findall(r"%(\w+)", text), choice, "value")
    text = re.sub(r"%(\w+)", lambda match: f"%{values[match[1]]}", text)
    names = renaming(contract_names(text), choice)
    return replaced(
        CONTRACT_NAMES, text, lambda op: re.sub(r'"(.*?)"', lambda m: f'"{names[m[1]]}.{m[1]}"', op)
    )


def renumbered(text: str, choice: random.Random) -> str:
    """Other numbers for cells, executions and ops, and for tensors on both sides."""

    def renumber(pattern: str, text: str) -> str:
        found = re.compile(pattern)
        numbers = renaming((match[2] for match in found.finditer(text)), choice)
        return found.sub(lambda match: match[1] + numbers[match[2]], text)

    def renumber_ops(plan: str) -> str:
        for pattern in (
            r"(\bcell )(\d+)(?! *\))",
            r"(\b(?:instance|mirror) )(\d+)",
            r"(tv\.save |tv\.backward [^{]* of )(\d+)",
        ):
            plan = renumber(pattern, plan)
        return plan

    return renumber(TENSOR.pattern, replaced(PLAN, text, renumber_ops))


def changed_plan(text: str, edit: Callable[[str], str]) -> str:
    """The text with a change of `@plan` alone."""
    return PLAN.sub(lambda match: edit(match[0]) if match[1] == "plan" else match[0], text)


def exchanged(pattern: str, plan: str) -> str:
    """The first text that the group of a pattern matches, exchanged with the next other."""
    found = re.compile(pattern)
    texts = list(dict.fromkeys(match[1] for match in found.finditer(plan)))[:2]
    other = dict(zip(texts, reversed(texts), strict=True))
    return found.sub(
        lambda m: (
            m[0][: m.start(1) - m.start()] + other.get(m[1], m[1]) + m[0][m.end(1) - m.start() :]
        ),
        plan,
    )


def permuted_all_gathers(text: str, choice: random.Random) -> str:
    """The parts that an all-gather puts together change places."""
    return permuted_groups(text, choice, "all_gather")


def moved_calls(text: str, choice: random.Random) -> str:
    """The last backward of each device runs after gradients are reduced."""

    def move(plan: str) -> str:
        last = (
            r"(    tv\.program (?:(?!    \}).*\n)*)(      tv\.call .* -> \(\).*\n)((?:      .*\n)*)"
        )
        return re.sub(last, r"\1\3\2", plan)

    return changed_plan(text, move)


def exchanged_names(text: str, choice: random.Random) -> str:
    """Two parameters that are divided alike have each other's name in the plan."""

    def exchange(plan: str) -> str:
        held: dict[str, list[str]] = {}
        for match in PARAMETER.finditer(plan):
            held.setdefault(match[2], []).append(match[3])
        names = sorted(held)
        pairs = [(a, b) for a in names for b in names if a < b and held[a] == held[b]]
        if not pairs:
            return plan
        one, other = choice.choice(pairs)
        names_now = {one: other, other: one}
        return PARAMETER.sub(
            lambda m: m[0].replace(f'"{m[2]}"', f'"{names_now.get(m[2], m[2])}"'), plan
        )

    return changed_plan(text, exchange)


def exchanged_symbols(text: str, choice: random.Random) -> str:
    """Gradients are added to where another's were, on one device."""

    def exchange(plan: str) -> str:
        types: dict[str, list[str]] = {}
        for symbol, type_ in re.findall(r"tv\.add_to \S+, (@\w+_device0) : (\S+)", plan):
            types.setdefault(type_, []).append(symbol)
        pairs = [sorted(set(symbols)) for symbols in types.values() if len(set(symbols)) > 1]
        if not pairs:
            return plan
        one, other = choice.choice(pairs)[:2]
        now = {one: other, other: one}
        return re.sub(r"(tv\.add_to \S+, )(@\w+)", lambda m: m[1] + now.get(m[2], m[2]), plan)

    return changed_plan(text, exchange)


def exchanged_executions(text: str, choice: random.Random) -> str:
    """Backward executions use what was saved for another micro-batch."""
    pattern = r"tv\.call @\w+_device0\(.* mirror (\d+) : \([^)]*\) -> \(\)"
    return changed_plan(text, lambda plan: exchanged(pattern, plan))


def exchanged_tensors(text: str, choice: random.Random) -> str:
    """Random ops of the plan draw for each other's tensors."""
    return changed_plan(text, lambda plan: exchanged(r'tv\.random "[^"]*" <(\d+)', plan))


def changed_all(text: str, choice: random.Random) -> str:
    """All changes, one after the other."""
    for change in (permuted_groups, reordered, renamed, renumbered):
        text = change(text, choice)
    return text


CHANGES: list[Change] = [permuted_groups, reordered, renamed, renumbered, changed_all]
# With the plans that do not survive it. A linear model has the same gradients wherever
# what a micro-batch saved is used.
TOO_FAR: dict[Change, set[str]] = {
    permuted_all_gathers: {"mlp"},
    moved_calls: {"mlp", "llama", "gpt"},
    exchanged_names: {"mlp", "llama", "gpt"},
    exchanged_symbols: {"llama", "gpt"},
    exchanged_executions: {"llama", "gpt"},
    exchanged_tensors: {"gpt"},
}


def imported(options: str, work: Path) -> str:
    """A plan and its reference as MLIR, with places in the model."""
    files = [str(work / name) for name in ("single.pkl", "plan.pkl")]
    make = [sys.executable, "-m", "plan_maker", *options.split()]
    subprocess.run([*make, "--reference", files[0], "-o", files[1]], check=True)
    show = ["verify-translate", "--mlir-print-debuginfo", "--reference", *files]
    return subprocess.run(show, check=True, capture_output=True, text=True).stdout


def verify(text: str, path: Path) -> tuple[int, str | None, list[str]]:
    """Exit code, `tv.answer`, and the errors, with the kinds of difference."""
    path.write_text(text)
    run = subprocess.run(
        ["verify-opt", "--tv-verify-equiv", path], capture_output=True, text=True, check=False
    )
    answer = re.search(r'tv\.answer = "(\w+)"', run.stdout)
    said = re.findall(r"\S+ error: .*|note: (?!counterexample)[a-z ]+: .*", run.stderr)
    said = [re.sub(r"'\d+\.", "'", line) for line in said]  # of renamed()
    return run.returncode, answer and answer.group(1), said


def findings(name: str, options: str, rounds: int, work: Path) -> Iterator[str]:
    """What is not as it should be about one plan."""
    text = imported(options, work)
    is_right = "--bug" not in options
    expected = verify(text, work / f"{name}.mlir")
    if (expected[0] == 0, expected[1] == "proved", not expected[2]) != (is_right,) * 3:
        yield f"{name}: {expected}"
    for number in range(rounds):
        for change in [*CHANGES, *(each for each in TOO_FAR if name in TOO_FAR[each])]:
            choice = random.Random(f"{name} {change.__name__} {number}")
            label = f"{name}-{change.__name__}-{number}"
            changed = change(text, choice)
            found = verify(changed, work / f"{label}.mlir")
            if changed == text:
                yield f"{label}: nothing is changed"
            elif change in TOO_FAR:
                if found[0] != 1 or found[1] is not None or not found[2]:
                    yield f"{label}: {found}"
            elif found != expected:
                yield f"{label}: {found}, expected {expected}"


def main() -> int:
    work, rounds = Path(sys.argv[1]), int(sys.argv[2])
    failed = False
    for name, options in PLANS.items():
        for finding in findings(name, options, rounds, work):
            failed = True
            print(finding)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
