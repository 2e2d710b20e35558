# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random plans of segments that are called on each other's results.

A plan calls a few segments, some of which are copies of each other, on the data and on what other
calls gave, also twice on the same value. A segment saves its ops in one or more parts, whose
derivatives its backward segment takes. What is computed is what the reference computes.
"""

from dataclasses import dataclass, field
from random import Random

#: The columns of a device, of which the reference has those of all.
COLUMNS = 2
#: Shapes: the data and what is made of it, the parameter, sums of rows, and these as a column.
DATA, PARAMETER, SUM, COLUMN = "data", "parameter", "sum", "column"


@dataclass(frozen=True)
class Step:
    """An op of a segment."""

    result: str
    name: str
    operands: tuple[str, ...]
    attributes: str = ""


@dataclass
class Part:
    """Steps that are saved together; or, without steps, the sum of a value over all devices."""

    steps: list[Step] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)


class Body:
    """What a segment and its copies compute."""

    def __init__(self, number: int, random: Random) -> None:
        self.number = number
        self.arguments = [f"%a{i}" for i in range(random.choice([1, 2, 2]))]
        self.shapes = dict.fromkeys(self.arguments, DATA) | {"%w": PARAMETER}
        #: The parameter, read again or by way of a scratch buffer.
        self.again = random.choice(["", "", "", "read", "scratch"])
        if self.again:
            self.shapes["%u"] = PARAMETER
        self.parts: list[Part] = []
        for _ in range(random.choice([1, 1, 2])):
            self._add_part(random, random.choice([1, 2, 3]))
        if random.random() < 0.3:
            self._add_sum(random)
        last = self._data()[-1]
        others = [name for name in self._data()[:-1] if name not in self.arguments]
        more = [random.choice(others)] if others and random.random() < 0.5 else []
        self.results = [*more, last]
        self._use_arguments()
        self._find_outputs(random)

    def _data(self) -> list[str]:
        return [name for name, shape in self.shapes.items() if shape == DATA]

    def _new(self, shape: str) -> str:
        name = f"%o{len(self.shapes)}"
        self.shapes[name] = shape
        return name

    def _add_part(self, random: Random, count: int) -> None:
        self.parts.append(Part())
        for _ in range(count):
            name = random.choice(["multiply", "multiply", "add", "subtract", "power", "weigh"])
            left = random.choice(self._data())
            if name == "power":
                exponent = f"numerator = {random.choice([2, 2, 2, 3])} : i64"
                self._step(DATA, name, (left,), exponent)
            elif name == "weigh":
                weights = [name for name in self.shapes if self.shapes[name] == PARAMETER]
                self._step(DATA, "multiply", (left, random.choice(weights)))
            else:
                self._step(DATA, name, (left, random.choice(self._data())))

    def _step(self, shape: str, name: str, operands: tuple[str, ...], attributes: str = "") -> str:
        result = self._new(shape)
        self.parts[-1].steps.append(Step(result, name, operands, attributes))
        return result

    def _add_sum(self, random: Random) -> None:
        """A value times its sum over all columns, of which a device has its own."""
        value = random.choice(self._data())
        own = self._step(SUM, "reduce sum", (value,), "dimensions = array<i64: 1>")
        whole = self._new(SUM)
        self.parts.append(Part([], [own], [whole]))
        self.parts.append(Part())
        column = self._step(COLUMN, "reshape", (whole,))
        self._step(DATA, "multiply", (value, column))

    def _use_arguments(self) -> None:
        """What no step reads is no argument."""
        read = {name for part in self.parts for step in part.steps for name in step.operands}
        self.arguments = [name for name in self.arguments if name in read]
        if not self.arguments:
            self.arguments = ["%a0"]
            self._step(DATA, "multiply", (self.results.pop(), "%a0"))
            self.results.append(self._data()[-1])

    def _find_outputs(self, random: Random) -> None:
        """What each part reads of others, and what is read of it."""
        needed = set(self.results)
        for part in reversed(self.parts):
            own = [step.result for step in part.steps]
            if not own:
                needed.update(part.inputs)
                continue
            part.outputs = [name for name in own if name in needed]
            read = {name for step in part.steps for name in step.operands} - set(own)
            before = list(self.shapes)[: list(self.shapes).index(own[0])]
            before = [name for name in before if name[1] != "a" or name in self.arguments]
            all_of_them = random.random() < 0.3
            part.inputs = [
                name
                for name in before
                if name in read or (all_of_them and self.shapes[name] in (DATA, PARAMETER))
            ]
            needed.update(part.inputs)


@dataclass(frozen=True)
class Call:
    """A call of a body on results of others (call and number), or on the data (None)."""

    body: int
    arguments: tuple[tuple[int, int] | None, ...]


class CalledPlan:
    """A plan that is drawn."""

    def __init__(self, seed: int) -> None:
        random = self.random = Random(f"calls {seed}")
        self.micro_batches = random.choice([1, 2, 2, 3])
        self.devices = random.choice([1, 2, 2])
        self.copies = random.choice([1, 2, 3])
        #: Whether copies save their ops under the same numbers.
        self.shares_saves = random.random() < 0.3
        #: Whether all micro-batches are computed forward before any goes backward.
        self.forward_first = random.random() < 0.4
        self.bodies = [Body(i, random) for i in range(random.choice([1, 1, 2]))]
        self.calls = self._draw_calls()
        with_scratch = sum(self.bodies[call.body].again == "scratch" for call in self.calls)
        for body in self.bodies:
            # A scratch buffer is there until the next call writes to it.
            if body.again == "scratch" and (self.forward_first or with_scratch > 1):
                body.again = "read"
        alone, each = random.random() < 0.4, random.random() < 0.7
        #: Which copy is called, of each micro-batch, call and device.
        self.choice: dict[tuple[int, int, int], int] = {}
        for micro_batch in range(self.micro_batches):
            of_all = random.randrange(self.copies)
            for call in range(len(self.calls)):
                of_devices = random.randrange(self.copies) if each else of_all
                for device in range(self.devices):
                    copy = random.randrange(self.copies) if alone else of_devices
                    self.choice[micro_batch, call, device] = copy

    def _draw_calls(self) -> list[Call]:
        """Calls of which the last one needs all others."""
        values: list[tuple[int, int] | None] = [None]
        calls: list[Call] = []
        for number in range(self.random.choice([2, 3, 3, 4])):
            body = self.random.randrange(len(self.bodies))
            recent = self.random.random() < 0.5
            given = [
                self.random.choice(values[-3:] if recent else values)
                for _ in self.bodies[body].arguments
            ]
            alike = [old for old, call in enumerate(calls) if call.body == body]
            if alike and self.random.random() < 0.5:
                # As a call before, whose result it is given: it computes that again.
                old = self.random.choice(alike)
                given = list(calls[old].arguments)
                result = self.random.randrange(len(self.bodies[body].results))
                given[self.random.randrange(len(given))] = (old, result)
            calls.append(Call(body, tuple(given)))
            values += [(number, i) for i in range(len(self.bodies[body].results))]
        used = {len(calls) - 1}
        for number in reversed(range(len(calls))):
            if number in used:
                used.update(value[0] for value in calls[number].arguments if value)
        numbers = {old: new for new, old in enumerate(sorted(used))}
        return [
            Call(
                calls[old].body,
                tuple(value and (numbers[value[0]], value[1]) for value in calls[old].arguments),
            )
            for old in numbers
        ]
