# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks steps of step_maker: verdicts, numbers, and where bugs are reported.

usage: steps.py right FILE | steps.py bugs|wrong STRATEGY OPTIONS... | steps.py rows LIST
       | steps.py table DOCUMENT [--write]

FILE has a command line in each line. Each step is executed with numbers and compared with
formulas, which do not use step_maker, unless the line ends in `# large`; and it has to be
proved. With `bugs` each bug of a strategy is made, with its own options and those given:
results have to differ, and the step to be refuted with a diagnosis at the op that the
catalogue names; with `wrong` wherever the diagnosis is. With `rows` the rows that bugs name
have to be in LIST, with the trackers that they name if LIST has them. With `table` DOCUMENT
has to have the table of bugs, or gets it. Exit code 1 if something is not as it should be.
"""

import json
import math
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from math import prod
from pathlib import Path
from random import Random
from typing import Any

from formulas import FORMULAS, Values

from step_maker.bugs import Bug
from step_maker.catalogue import BUGS, STRATEGIES
from step_maker.command_line import make_graph, parse
from step_maker.graph import Graph

TOLERANCE = 1e-9


def draw(graph: Graph, random: Random) -> Values:
    """Random inputs. Second moments are positive; the graph says which integers there are."""
    result: Values = {}
    for name, tensor in graph.inputs.items():
        count = prod(tensor.shape)
        if name in graph.choices:
            result[name] = graph.choices[name](random)
        elif name.startswith("second moment"):
            result[name] = [random.uniform(0.1, 1) for _ in range(count)]
        else:
            result[name] = [random.uniform(-1, 1) for _ in range(count)]
    return result


def nested(values: Sequence[float], shape: Sequence[int]) -> Any:
    """Elements in the shape of the tensor."""
    if not shape:
        return values[0]
    size = prod(shape[1:])
    parts = [values[i * size : (i + 1) * size] for i in range(shape[0])]
    return [nested(part, shape[1:]) for part in parts]


def interpret(graph: Graph, inputs: Values, work: Path) -> list[dict[str, Any]]:
    """The results of an execution with numbers."""
    (work / "step.mlir").write_text(graph.print())
    given = {name: nested(inputs[name], graph.inputs[name].shape) for name in inputs}
    (work / "inputs.json").write_text(json.dumps(given))
    passes = f"inputs={work}/inputs.json output={work}/results.json arithmetic=double"
    command = ["verify-opt", f"{work}/step.mlir", f"--tv-interpret={passes}", "-o", "/dev/null"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    [program] = json.loads((work / "results.json").read_text())["programs"]
    results: list[dict[str, Any]] = program["results"]
    return results


def check_equivalence(graph: Graph) -> tuple[str, str]:
    """The verdict and the diagnosis."""
    command = ["verify-opt", "-", "--tv-check-equiv", "-o", "/dev/null"]
    done = subprocess.run(command, input=graph.print(), capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return "proved", done.stderr
    if "unknown whether" in done.stderr:
        return "unknown", done.stderr
    is_refuted = done.returncode == 1 and " differs from the reference" in done.stderr
    return "refuted" if is_refuted and "counterexample" in done.stderr else "broken", done.stderr


def check_numbers(line: str, graph: Graph, work: Path) -> list[str]:
    """What the execution gives that is wrong, also in the reference."""
    options = parse(line.split())
    inputs = draw(graph, Random(line))
    expected = FORMULAS[line.split()[0]](options, inputs)
    problems = []
    seen = set()
    for result in interpret(graph, inputs, work):
        name = result["name"] if result["role"] != "lemma" else None
        if not result["equal"]:
            problems.append(f"{result['role']} '{result['name']}': plan and reference differ")
        if name is None:
            continue
        seen.add(name)
        numbers = [float(value) for value in result["reference"]["values"]]
        pairs = zip(numbers, expected[name], strict=True)
        if not all(math.isclose(x, y, rel_tol=TOLERANCE, abs_tol=TOLERANCE) for x, y in pairs):
            problems.append(f"{result['role']} '{name}' is not that of the formula")
    problems += [f"nothing claims '{name}'" for name in expected.keys() - seen]
    return problems


def check_right(line: str, work: Path) -> list[str]:
    """What is wrong with a step without a bug."""
    line, _, mark = line.partition(" # ")
    graph = make_graph(parse(line.split()))
    problems = [] if mark == "large" else check_numbers(line, graph, work)
    verdict, text = check_equivalence(graph)
    if verdict != "proved":
        problems.append(f"{verdict}: {text.splitlines()[:1]}")
    return problems


def check_bug(line: str, op: str | None, work: Path) -> list[str]:
    """What is wrong with how a bug is reported."""
    graph = make_graph(parse(line.split()))
    problems = []
    results = interpret(graph, draw(graph, Random(line)), work)
    if all(result["equal"] for result in results if result["role"] != "lemma"):
        problems.append("no result differs")
    verdict, text = check_equivalence(graph)
    if verdict != "refuted":
        problems.append(f"{verdict}: {text.splitlines()[:1]}")
    if op is None:
        return problems
    # The first error, and the note that says what is wrong.
    place = re.escape(graph.place(op))
    lines = text.splitlines()[:2]
    if not any(re.match(rf"{place}: (?:note|error): ", one) for one in lines):
        problems.append(f"is not reported at '{op}', {graph.place(op)}: {lines}")
    return problems


def check_rows(bug: Bug, listed: dict[str, str]) -> list[str]:
    """The rows that a bug names and that are not in the list, or have another tracker."""
    problems = []
    repository = ""
    for tracker, row in re.findall(r"([^\s,()]+) \((B\d{3})\)", bug.rows):
        repository = re.split("[#@]", tracker)[0] or repository
        names = [repository, tracker.removeprefix(repository)]
        if row not in listed:
            problems.append(f"there is no row {row}")
        elif "|" in listed[row] and not all(name in listed[row] for name in names):
            problems.append(f"row {row} is not {repository} {tracker}")
    if not problems and "no public row" not in bug.rows and not repository:
        problems.append("no row is named")
    return problems


def make_table() -> str:
    """The bugs, as Markdown."""
    lines = ["| strategy | bug | what is wrong | of the kind of |", "|---|---|---|---|"]
    lines += [
        f"| {strategy} | `{bug.name}` | {bug.what} | {bug.rows} |"
        for strategy, bugs in STRATEGIES.items()
        for bug in bugs
    ]
    return "\n".join(lines) + "\n"


def check_table(document: Path, *, writes: bool) -> list[str]:
    """What is wrong with the table between two comments of a document."""
    before, begin, rest = document.read_text().partition("<!-- begin bugs of steps -->\n")
    table, end, after = rest.partition("<!-- end bugs of steps -->\n")
    if writes:
        document.write_text(before + begin + make_table() + end + after)
        return []
    return [] if table == make_table() else ["it has another one; `make docs` rewrites it"]


def check_command(mode: str, arguments: Sequence[str], work: Path) -> list[tuple[str, list[str]]]:
    """Each step and what is wrong with it."""
    if mode == "right":
        lines = [line for line in Path(arguments[0]).read_text().splitlines() if line]
        return [(f"{line}: proved", check_right(line, work)) for line in lines]
    results = []
    if mode == "rows":
        text = Path(arguments[0]).read_text()
        listed = {match[1]: match[0] for match in re.finditer(r"(?m)^(?:\| )?(B\d{3}) .*$", text)}
        return [(f"{bug.name}: listed", check_rows(bug, listed)) for bug in BUGS.values()]
    if mode == "table":
        document = Path(arguments[0])
        problems = check_table(document, writes="--write" in arguments)
        return [(f"the table of {document.name}", problems)]
    strategy, *more = arguments
    for bug in STRATEGIES[strategy]:
        line = " ".join([strategy, *more, *bug.options, "--bug", bug.name])
        op = bug.op if mode == "bugs" else None
        results.append((f"{line}: refuted", check_bug(line, op, work)))
    return results


def main() -> int:
    """Checks what the command line says."""
    with tempfile.TemporaryDirectory() as folder:
        results = check_command(sys.argv[1], sys.argv[2:], Path(folder))
    failed = 0
    for what, problems in results:
        failed += bool(problems)
        print(f"{what}, not so: {'; '.join(problems)}" if problems else what)
    print(f"{len(results)} steps, {failed} not as they should be")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
