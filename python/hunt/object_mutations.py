# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes of the objects of a plan file, whoever wrote it: those of nnScaler's classes that
its execution plan leads to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Any, TypeVar

from hunt.pickled_objects import Made

# What says how a plan was made, and not what it is.
HISTORY = ("_cell", "_create_fn", "_trans_rules", "_module_stack", "_value")
# What an object has, if not all that is in it is looked at.
LOOKED_AT: dict[str, tuple[str, ...]] = {
    "IRSegment": ("_nodes", "_inputs", "_outputs"),
    "IRFullTensor": ("_grad",),
    "IRGraph": (),
    "SchedulePlan": (),
}
OPS = ("IRDimops", "IRFwOperation", "IRPyFunc", "IRBpOperation")
Change = Callable[["Objects", Random], str]
Found = TypeVar("Found")


class UnsuitableError(Exception):
    """A change does not fit a plan."""


def name_of(value: object) -> str:
    """The class of an object, without its module."""
    return type(value).__name__


def _fields(value: Made) -> Iterable[str]:
    """Where to go on from an object."""
    kind = name_of(value)
    if kind in LOOKED_AT:
        return LOOKED_AT[kind]
    # A micro-batch runs what it names.
    kept = ("_cell",) if kind == "ExeReuseCell" else ()
    return [name for name in value.__dict__ if name in kept or name not in HISTORY]


class Objects:
    """The objects of a plan, by class, and the sequences of its devices."""

    def __init__(self, root: Made) -> None:
        self.root = root
        self.sequences: dict[int, list[Made]] = root.__dict__["execplan"].__dict__["_seq"]
        self.by_class: dict[str, list[Made]] = {}
        seen: set[int] = set()
        pending: list[Any] = [self.sequences]
        while pending:
            value = pending.pop()
            if id(value) in seen:
                continue
            seen.add(id(value))
            if isinstance(value, Made):
                self.by_class.setdefault(name_of(value), []).append(value)
                fields = _fields(value)
                pending += [value.__dict__[name] for name in fields if name in value.__dict__]
            elif isinstance(value, dict):
                pending += value.values()
            elif isinstance(value, list | tuple):
                pending += value

    def of(self, *classes: str) -> list[Made]:
        """All objects of some classes."""
        return [value for name in classes for value in self.by_class.get(name, [])]

    def primitives(self) -> list[Made]:
        """What adapters are made of."""
        return self.of(*(name for name in self.by_class if name.endswith("Prim")))

    def like(self, tensor: Made, random: Random) -> Made:
        """Another tensor of the same shape, a gradient if this is one."""

        def kind(part: Made) -> tuple[object, object]:
            full = part.__dict__["_full_tensor"].__dict__
            return part.__dict__["_shape"], full.get("_is_grad")

        return pick(
            random,
            [
                part
                for part in self.of("IRSubTensor")
                if part.__dict__["_id"] != tensor.__dict__["_id"] and kind(part) == kind(tensor)
            ],
        )


def pick(random: Random, among: list[Found]) -> Found:
    """One of some values."""
    if not among:
        raise UnsuitableError
    return random.choice(among)


def other(value: Any, random: Random) -> Any:
    """Another value in the place of a plain one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return random.choice([value + 1, value - 1, -value, 0, 2 * value, 10**9, None])
    if isinstance(value, float):
        return random.choice([2 * value, -value, 0.0, value + 1e-3, float("inf"), float("nan")])
    if isinstance(value, str):
        return random.choice(["", value + "x", None])
    if isinstance(value, tuple | list) and value:
        elements = list(value)
        at = random.randrange(len(elements))
        if random.random() < 0.4:
            del elements[at]
        elif random.random() < 0.5:
            elements[at] = other(elements[at], random)
        else:
            random.shuffle(elements)
        return type(value)(elements)
    return random.choice([None, 0, 1, "x"])


def ranks_changed(objects: Objects, random: Random) -> str:
    """A collective has other members."""
    primitive = pick(random, [p for p in objects.primitives() if "ranks" in p.__dict__["kwargs"]])
    arguments = primitive.__dict__["kwargs"]
    arguments["ranks"] = other(list(arguments["ranks"]), random)
    return name_of(primitive)


def argument_changed(objects: Objects, random: Random) -> str:
    """An op or a primitive has another argument."""
    keys = ("kwargs", "_kwargs")
    cells = objects.of(*OPS) + objects.primitives()
    pairs = [(cell, key) for cell in cells for key in keys if cell.__dict__.get(key)]
    cell, key = pick(random, pairs)
    arguments = cell.__dict__[key]
    name = pick(random, list(arguments))
    arguments[name] = other(arguments[name], random)
    return f"{name} of {cell.__dict__['signature']}"


def operand_changed(objects: Objects, random: Random) -> str:
    """Something reads or gives another tensor of the same shape."""
    cells = objects.of(*OPS, "ExeReuseCell") + objects.primitives()
    cell = pick(random, cells)
    tensors = cell.__dict__[random.choice(["_inputs", "_inputs", "_outputs"])]
    parts = [at for at, tensor in enumerate(tensors) if name_of(tensor) == "IRSubTensor"]
    at = pick(random, parts)
    tensors[at] = objects.like(tensors[at], random)
    return name_of(cell)


def operands_exchanged(objects: Objects, random: Random) -> str:
    """Two operands of an op are exchanged."""
    op = pick(random, [op for op in objects.of(*OPS) if len(op.__dict__["_inputs"]) > 1])
    inputs = op.__dict__["_inputs"]
    first, second = random.sample(range(len(inputs)), 2)
    inputs[first], inputs[second] = inputs[second], inputs[first]
    return str(op.__dict__["signature"])


def list_changed(objects: Objects, random: Random) -> str:
    """Of a list of things to run, one is missing, there twice or exchanged with the next one."""
    lists = [cell.__dict__["_nodes"] for cell in objects.of("IRSegment")]
    lists += [cell.__dict__["_prims"] for cell in objects.of("IRAdapter")]
    lists += objects.sequences.values()
    lists += [cell.__dict__["_inputs"] for cell in objects.of("IRWeightReducer")]
    elements = pick(random, [each for each in lists if each])
    at = random.randrange(len(elements))
    what = random.choice(["missing", "twice", "exchanged"])
    kind = name_of(elements[at])
    if what == "missing":
        del elements[at]
    elif what == "twice":
        elements.insert(random.randrange(len(elements) + 1), elements[at])
    elif at + 1 < len(elements):
        elements[at], elements[at + 1] = elements[at + 1], elements[at]
    else:
        raise UnsuitableError
    return f"{kind} {what}"


def cell_replaced(objects: Objects, random: Random) -> str:
    """A micro-batch runs another cell."""
    reuse = pick(random, objects.of("ExeReuseCell"))
    old = reuse.__dict__["_cell"]
    reuse.__dict__["_cell"] = pick(random, [c for c in objects.of(name_of(old)) if c is not old])
    return name_of(old)


def statement_changed(objects: Objects, random: Random) -> str:
    """A tensor is stated to be another part, or a part of another tensor."""
    part = pick(random, objects.of("IRSubTensor"))
    key = random.choice(["_indmap", "_valmap", "_full_tensor", "_grad"])
    old = part.__dict__[key]
    if not isinstance(old, Made):
        raise UnsuitableError
    part.__dict__[key] = pick(random, [o for o in objects.of(name_of(old)) if o is not old])
    return key


def field_changed(objects: Objects, random: Random) -> str:
    """Any field of any object is something else."""
    kind = pick(random, list(objects.by_class))
    value = pick(random, objects.by_class[kind])
    key = pick(random, list(value.__dict__))
    old = value.__dict__[key]
    value.__dict__[key] = (
        pick(random, objects.by_class[pick(random, list(objects.by_class))])
        if random.random() < 0.3
        else other(old, random)
    )
    return f"{kind}.{key}"


CHANGES: list[Change] = [
    ranks_changed,
    argument_changed,
    operand_changed,
    operands_exchanged,
    list_changed,
    list_changed,
    cell_replaced,
    statement_changed,
    field_changed,
]


def mutate(root: Made, random: Random) -> str:
    """Changes a plan, and says how."""
    objects = Objects(root)
    for _ in range(100):
        change = random.choice(CHANGES)
        try:
            return f"{change.__name__}: {change(objects, random)}"
        except (UnsuitableError, AttributeError, KeyError, TypeError):
            # Files of others have other fields.
            continue
    raise UnsuitableError
