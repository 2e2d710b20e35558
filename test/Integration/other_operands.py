# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a plan in which one op reads another value, or has another number, and its reference.

usage: other_operands.py CHANGE OUTPUT REFERENCE
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from plan_maker.bugs.place import Place, nodes_at
from plan_maker.bugs.rewriting import replace_nodes
from plan_maker.emit import write_plan
from plan_maker.graph import Argument, ForwardOperation, Keyword, Plan
from plan_maker.strategy.configuration import GptSizes, LlamaSizes, Parallelism
from plan_maker.strategy.gpt import make_gpt
from plan_maker.strategy.llama import make_llama
from plan_maker.strategy.llama_hf import make_llama_hf

Change = Callable[[ForwardOperation, list[ForwardOperation]], ForwardOperation]


def reads(number: int, value: Callable[[list[ForwardOperation]], Argument]) -> Change:
    """Operand `number` is another value."""

    def change(node: ForwardOperation, others: list[ForwardOperation]) -> ForwardOperation:
        inputs = list(node.inputs)
        inputs[number] = value(others)
        return replace(node, inputs=tuple(inputs))

    return change


def output(name: str, number: int = 0, result: int = 0) -> Callable[..., Argument]:
    """What the op of that name gives, the one with that number."""
    return lambda others: [n for n in others if n.name == name][number].outputs[result]


def operand(name: str, number: int) -> Callable[..., Argument]:
    """What the first op of that name reads."""
    return lambda others: next(n for n in others if n.name == name).inputs[number]


def has(name: str, value: float) -> Change:
    """A keyword is another number."""
    return lambda node, _: replace(
        node,
        keywords=tuple(Keyword(k.name, value) if k.name == name else k for k in node.keywords),
    )


def gains(name: str, value: float) -> Change:
    """A keyword is there beside the others."""
    return lambda node, _: replace(node, keywords=(*node.keywords, Keyword(name, value)))


def calls(signature: str) -> Change:
    """Another function, of the same name in the plan."""
    return lambda node, _: replace(node, signature=signature)


def change_all(*changes: Change) -> Change:
    """One change after the other."""

    def change(node: ForwardOperation, others: list[ForwardOperation]) -> ForwardOperation:
        for each in changes:
            node = each(node, others)
        return node

    return change


#: The op, its number among those of its name, and what is changed.
CHANGES: dict[str, tuple[str, int, Change]] = {
    "result": ("transpose", 1, reads(0, output("apply_rotary_emb"))),
    "left-out": ("apply_mask", 0, reads(0, output("matmul"))),
    "doubled": ("add", 1, reads(1, operand("float", 0))),
    "exponent": ("pow", 0, reads(1, lambda _: 0.5)),
    "identity": ("pow", 0, reads(1, lambda _: 1)),
    "dimension": ("softmax", 0, has("dim", 2)),
    "scale": ("self_attention", 0, has("scale", 0.25)),
    "halves": ("cat", 1, reads(0, output("fullslice", 1))),
    "range": ("fullslice", 0, reads(4, lambda _: slice(2, None, None))),
    "same-scale": ("scaled_dot_product_attention", 0, gains("scale", 0.5)),
    "other-scale": ("scaled_dot_product_attention", 0, gains("scale", 0.25)),
    "angle": ("cos", 0, calls("torch.sin")),
    "shift": ("masked_fill", 0, has("value", -2.0)),
    "shift-of-one": ("masked_fill", 0, has("value", -2.0)),
    "present": ("gt", 0, calls("torch.ge")),
    "past": ("gt", 0, calls("torch.lt")),
    "later": ("arange", 0, change_all(has("start", 1), has("end", 5))),
    "steps": ("arange", 0, change_all(has("step", 2), has("end", 8))),
    "removed": ("mul", 0, lambda node, _: node),
    "unattended": ("linear", 3, reads(0, output("linear", 2))),
    "keys": ("scaled_dot_product_attention", 0, reads(1, output("add", 1))),
}


#: Of these the plan is a Llama of the transformers library.
HF = ("halves", "range", "same-scale", "other-scale", "keys")
HF += ("unattended", "angle", "shift", "shift-of-one", "present", "past", "later", "steps")


def forward_ops(plan: Plan) -> Iterator[ForwardOperation]:
    """Those of device 0, in order."""
    is_forward = lambda node: isinstance(node, ForwardOperation)  # noqa: E731
    for located in nodes_at(plan, Place(device=0), is_forward):
        assert isinstance(located.node, ForwardOperation)
        yield located.node


def main() -> None:
    """Writes both plans."""
    name, path, reference = sys.argv[1:]
    sizes = LlamaSizes(2, 8, 4, 2, 4, 4, 2)
    make: Callable[[Parallelism], Plan] = lambda how: make_llama(sizes, how)  # noqa: E731
    if name == "scale":
        make = lambda how: make_gpt(GptSizes(2, 8, 4, 2, 4, 4, 2), how)  # noqa: E731
    elif name in HF:
        make = lambda how: make_llama_hf(sizes, how)  # noqa: E731
    plan = make(Parallelism(tensor=2) if name == "shift-of-one" else Parallelism(data=2))
    nodes = list(forward_ops(plan))
    kind, number, change = CHANGES[name]
    node = [node for node in nodes if node.name == kind][number]
    changed = {(0, node.identifier): (change(node, nodes),)}
    if name == "removed":
        assert node.mirror is not None
        changed = {(0, node.identifier): (), (0, node.mirror): ()}
    write_plan(replace_nodes(plan, changed), Path(path))
    write_plan(make(Parallelism()), Path(reference))


if __name__ == "__main__":
    main()
