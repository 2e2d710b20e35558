# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Collects the examples of the dialect's descriptions into one MLIR file.

usage: llvm-tblgen --dump-json ... | examples.py > examples.mlir

Each op, attribute and type must have an example: what follows `Example:` in
backticks or in a fenced block. An op's example stands in the program it may
stand in, and its operands are defined before it, so that it must parse and
verify. Examples are separated by `// -----`.
"""

import json
import re
import sys

MESH = "<dp = 2, rank = 2, device = 8, mb = 16>"
PLAN_MESH = "<dp = 2, device = 8, mb = 16>"
TOP_LEVEL = {"graph", "stage", "plan"}
IN_PLAN = {"buffer", "scratch", "segment", "program"}
# What examples of the plan level refer to.
NAMED = """\
tv.buffer @w on 0 "w" holds <3, [0:4 of 4]> : !tv.buffer<tensor<4xf32>>
tv.buffer @gradient_of_w on 0 "w" holds <3, [0:4 of 4]> gradient_of @w : \
!tv.buffer<tensor<4xf32>>
tv.scratch @slot on 0 "slot 0" : !tv.buffer<tensor<4xf32>>
tv.segment @backward on 0 cell 1 backward {
^bb0(%0: tensor<4xf32>):
  tv.return %0 : tensor<4xf32>
}
"""
# Their examples define what they read.
COMPLETE = {"start", "wait"}
IN_PROGRAM = {"load_data", "seed", "call", "output", "send", "receive", "start"}


def examples(description: str) -> list[str]:
    """The code after `Example:` in a description."""
    _, _, text = description.partition("Example:")
    fenced = re.findall(r"```mlir\n(.*?)```", text, re.DOTALL)
    return fenced or re.findall(r"`([^`]+)`", text)


def split_types(text: str) -> list[str]:
    """The types of a list, which may hold commas inside brackets."""
    types, depth, start = [], 0, 0
    for position, character in enumerate(text):
        depth += (character in "<(") - (character in ">)")
        if character == "," and depth == 0:
            types.append(text[start:position].strip())
            start = position + 1
    last = text[start:].strip()
    return [*types, last] if last else types


def operands(example: str) -> list[tuple[str, str]]:
    """Names and types of what the op of an example reads."""
    body, _, types = re.sub(r"^%[^=]*= ", "", example).rpartition(" : ")
    names = re.findall(r"%\w+", body)
    types = types.split(" -> ")[0].removeprefix("(").removesuffix(")")
    read = split_types(re.sub(" (is|to) ", ", ", types))
    return list(zip(names, read, strict=bool(names)))


def definitions(name: str, example: str) -> str:
    """Definitions of the values an example reads."""
    lines = []
    read = operands(example)
    for number, (value, type_) in enumerate(read):
        is_plan = " on <" in example
        if name == "distribute" or (name == "expect" and number == len(read) - 1):
            is_plan = False
        on = "on <> " if is_plan else ""
        lines.append(f'{value} = tv.undefined "{value[1:]}" {on}: {type_}\n')
    return "".join(lines)


def wrap(name: str, is_plan_level: bool, example: str) -> str:
    """An example of the op `name` in a program that parses."""
    if name in TOP_LEVEL:
        return example
    if name in IN_PLAN:
        return f"tv.plan @plan {PLAN_MESH} {{\n{example}\n}}"
    body = example if name in COMPLETE else definitions(name, example) + example
    if not is_plan_level:
        return f"tv.graph @graph {MESH} {{\n{body}\n}}"
    holder = "program 0" if name in IN_PROGRAM else "segment @s on 0 cell 0"
    return f"tv.plan @plan {PLAN_MESH} {{\n{NAMED}tv.{holder} {{\n{body}\n}}\n}}"


def main() -> int:
    """Prints the examples; fails if a definition has none."""
    records = json.load(sys.stdin)
    instances = records["!instanceof"]
    programs, missing = [], []
    types = {name for name in instances["TypeDef"] if name.startswith("TV_")}
    for name in sorted({*instances["TV_Op"], *instances["TV_Attr"], *types}):
        record = records[name]
        found = examples(record.get("description") or "")
        if not found:
            missing.append(f"{record['!locs'][0]}: {name} has no example")
        is_op = name in instances["TV_Op"]
        for example in found:
            if is_op:
                is_plan_level = record["!locs"][0].startswith("PlanOps.td")
                text = wrap(record["opName"], is_plan_level, example)
            else:
                text = f'"example"() {{value = {example}}} : () -> ()'
            programs.append(f"// {name}\n{text}\n")
    print("// -----\n".join(programs), end="")
    print("\n".join(missing), file=sys.stderr)
    return int(bool(missing))


if __name__ == "__main__":
    sys.exit(main())
