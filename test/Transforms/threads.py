# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes plans with many different stages: `threads.py nested | shared`.

nested: modules within a module, each with a reference and a plan. shared: two stages that are
equal but for names, whose proof the solver does not confirm within a limit.
"""

import sys

FUNCTIONS = ["exp", "tanh", "sigmoid", "silu", "gelu", "erf", "relu", "abs"]
TENSOR = "tensor<4xf32>"
UNARY = f": ({TENSOR}) -> {TENSOR}"
BINARY = f": ({TENSOR}, {TENSOR}) -> {TENSOR}"


def chain(length: int) -> str:
    """Ops from `%x0` to `%x<length>`, no two stages of which are equal."""
    text = ""
    for i in range(length):
        text += f"%n{i}_0 = tv.{FUNCTIONS[i % 8]} %x{i} {UNARY}\n"
        for j in range(i // 8):
            text += f"%n{i}_{j + 1} = tv.negate %n{i}_{j} {UNARY}\n"
        last = f"%n{i}_{i // 8}"
        piece = f"{{tv.piece = #tv.piece<{100 + i}, [0:4 of 4]>}}"
        text += f"%x{i + 1} = tv.multiply {last}, {last} {piece} {BINARY}\n"
    return text + f'tv.output %x{length} "y" <2, [0:4 of 4]> : {TENSOR}\n'


def softmax_cubed(operand: str, name: str, is_shifted: bool, tensor: int) -> str:
    """The third power of a softmax, of what may be shifted by the maximum."""
    text, source = "", operand
    if is_shifted:
        text += (
            f"%{name}m = tv.reduce maximum %{operand} keep {{dimensions = array<i64: 0>}} : "
            f"({TENSOR}) -> tensor<1xf32>\n"
            f"%{name}b = tv.broadcast %{name}m {{dimensions = array<i64: 0>}} : "
            f"(tensor<1xf32>) -> {TENSOR}\n"
            f"%{name}s = tv.subtract %{operand}, %{name}b {BINARY}\n"
        )
        source = f"{name}s"
    return text + (
        f"%{name}e = tv.exp %{source} {UNARY}\n"
        f"%{name}t = tv.reduce sum %{name}e keep {{dimensions = array<i64: 0>}} : "
        f"({TENSOR}) -> tensor<1xf32>\n"
        f"%{name}w = tv.broadcast %{name}t {{dimensions = array<i64: 0>}} : "
        f"(tensor<1xf32>) -> {TENSOR}\n"
        f"%{name}d = tv.divide %{name}e, %{name}w {BINARY}\n"
        f"%{name} = tv.power %{name}d {{numerator = 3 : i64, "
        f"tv.piece = #tv.piece<{tensor}, [0:4 of 4]>}} {UNARY}\n"
    )


def plan(name: str, body: str) -> str:
    """A plan for one device."""
    mesh = "<dp = 1, device = 1, mb = 1>"
    return f"tv.plan @{name} {mesh} {{\ntv.program 0 {{\n{body}}}\n}}\n"


def main() -> None:
    """Writes the module."""
    if sys.argv[1] == "nested":
        load = f'%x0 = tv.load_data cell 1 ["x"] holds [#tv.piece<1, [0:4 of 4]>] : {TENSOR}\n'
        body = load + chain(40)
        for _ in range(6):
            print(f"module {{\n{plan('reference', body)}{plan('plan', body)}}}")
        return
    load = (
        '%x, %z = tv.load_data cell 1 ["x", "z"] holds [#tv.piece<1, [0:4 of 4]>, '
        f"#tv.piece<3, [0:4 of 4]>] : {TENSOR}, {TENSOR}\n"
    )
    for name, is_shifted in [("reference", False), ("plan", True)]:
        body = load + softmax_cubed("x", "p", is_shifted, 50)
        body += softmax_cubed("z", "q", is_shifted, 51)
        piece = "{tv.piece = #tv.piece<52, [0:4 of 4]>}"
        body += f"%x0 = tv.subtract %p, %q {piece} {BINARY}\n"
        print(plan(name, body + chain(24)))


if __name__ == "__main__":
    main()
