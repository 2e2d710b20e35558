# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs with a plan that is right by construction.

The same seed makes the same program at every size, as far as the size allows.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from math import prod
from random import Random

from hunt.builder import AXIS_OF, LIMIT, Builder, Cut, Value
from hunt.programs import Program

SMOOTH = ("exp", "tanh", "erf", "silu", "gelu")


class RandomProgram(Builder):
    """A program that grows by one step at a time; None where a step does not apply."""

    def unary(self, x: Value) -> Value | None:
        """A function of each element."""
        op = self.random.choice(["negate", "copy", *SMOOTH, "rsqrt", "power", "power"])
        if not x.is_whole() and op not in ("negate", "copy"):
            return None
        numerator = self.random.choice([2, 3, 2, -1])
        if op == "rsqrt":
            x = self.both(x, x, lambda s, d, v: self.emit("exp", (v,), s, d))
        return self.both(
            x,
            x,
            lambda s, d, v: self.emit(op, (v,), s, d, bounds=(numerator, 1)),
        )

    def binary(self, x: Value, y: Value) -> Value | None:
        """A function of two elements."""
        if not x.same_layout(y):
            y = x
        op = self.random.choice(["add", "add", "subtract", "multiply", "multiply", "divide"])
        if op in ("add", "subtract") and x.pending != y.pending:
            return None
        if op in ("multiply", "divide") and not (x.is_whole() and y.is_whole()):
            return None
        reference = self.emit(op, (x.reference, y.reference), self.shape(x.dimensions), None)
        parts = tuple(
            self.emit(op, (left, right), self.local_shape(x, i), self.domain_of(x, i))
            for i, (left, right) in enumerate(zip(x.parts, y.parts, strict=True))
        )
        return replace(x, reference=reference, parts=parts)

    def scale(self, x: Value) -> Value | None:
        """A constant times each element."""
        number = self.random.choice(
            [
                Fraction(2),
                Fraction(1, self.size),
                Fraction(self.size),
                Fraction(1, 2),
                Fraction(1, self.mesh["dp"]),
            ]
        )

        def make(shape: tuple[int, ...], domain: str | None, name: str) -> str:
            constant = self.emit("constant", (), shape, domain, value=number)
            return self.emit("multiply", (name, constant), shape, domain)

        return self.both(x, x, make)

    def reduce(self, x: Value) -> Value | None:
        """A sum, average or maximum along a dimension."""
        if not x.dimensions:
            return None
        number = self.random.randrange(len(x.dimensions))
        kind = self.random.choice(["sum", "sum", "sum", "average", "maximum"])
        axes = {AXIS_OF[f] for f in x.dimensions[number] if AXIS_OF.get(f) in x.sharded}
        is_cut = x.cut is not None and x.cut.dimension == number
        if kind != "sum" and (axes or is_cut or not x.is_whole()):
            return None
        rest = x.dimensions[:number] + x.dimensions[number + 1 :]
        cut = x.cut
        if cut and cut.dimension >= number:
            cut = None if is_cut else Cut(cut.dimension - 1, cut.at)
        new = replace(
            x, dimensions=rest, sharded=x.sharded - axes, pending=x.pending | axes, cut=cut
        )
        return self.both(
            x,
            new,
            lambda s, d, v: self.emit("reduce", (v,), s, d, dimension=number, text=kind),
        )

    def resolve(self, x: Value) -> Value | None:
        """Adds up what is pending, or puts the devices' parts together."""
        shape = self.local_shape(x, 0)
        if x.pending == {"mb"} and len(x.parts) == 1 and self.random.random() < 0.7:
            part = self.emit(
                "accumulate", x.parts, shape, "0:2", text="mb", bounds=(0, self.mesh["mb"])
            )
            return replace(x, parts=(part,), pending=frozenset())
        if x.pending or (len(x.parts) == 2 and x.cut is None):
            if len(x.parts) == 2 and x.cut:
                parts = tuple(
                    self.emit(
                        "all_reduce",
                        (part,),
                        self.local_shape(x, i),
                        str(i),
                        text=" ".join(sorted(x.pending)),
                    )
                    for i, part in enumerate(x.parts)
                )
                return replace(x, parts=parts, pending=frozenset())
            part = self.emit("all_reduce", x.parts, shape, "0:2", text=" ".join(sorted(x.pending)))
            return replace(x, parts=(part,), pending=frozenset())
        if x.cut:
            whole = replace(x, cut=None)
            part = self.emit(
                "all_gather", x.parts, self.local_shape(whole, 0), "0:2", dimension=x.cut.dimension
            )
            return replace(whole, parts=(part,))
        return None

    def contract(self, x: Value, y: Value) -> Value | None:
        """Sums of products over dimensions that both have."""
        random = self.random
        if not (x.is_whole() and y.is_whole() and x.dimensions and y.dimensions):
            return None
        if len(x.parts) != len(y.parts):
            return None
        labels = list("abcdefgh")
        left = [labels.pop(0) for _ in x.dimensions]
        right = [labels.pop(0) for _ in y.dimensions]
        common = [
            (i, j)
            for i, one in enumerate(x.dimensions)
            for j, other in enumerate(y.dimensions)
            if one == other
        ]
        random.shuffle(common)
        matched: dict[int, int] = {}
        for i, j in common[: random.choice([1, 1, 2])]:
            if i not in matched and j not in matched.values():
                matched[i] = j
                right[j] = left[i]
        if not matched:
            return None
        summed = {left[i] for i in matched if random.random() < 0.8}
        result = [name for name in left if name not in summed]
        result += [name for name in right if name not in summed and name not in left]
        where = {name: x.dimensions[i] for i, name in enumerate(left)}
        where |= {name: y.dimensions[j] for j, name in enumerate(right)}
        dimensions = tuple(where[name] for name in result)
        if prod(self.shape(dimensions)) > LIMIT or len(result) > 3:
            return None
        if prod(self.extent(dimension) for dimension in where.values()) > 8 * LIMIT:
            return None
        # Axes: where both sides have one it has to be the same dimension.
        pending = set()
        for factor, axis in AXIS_OF.items():
            names = [
                [n for n, d in zip(names, v.dimensions, strict=True) if factor in d]
                for names, v in ((left, x), (right, y))
                if axis in v.sharded
            ]
            if len(names) == 2 and names[0] != names[1]:
                return None
            if len(names) == 1:
                other, other_names = (y, right) if axis in x.sharded else (x, left)
                shared = [n for n in names[0] if n in other_names]
                if shared or any(factor in d for d in other.dimensions):
                    return None
            if names and names[0][0] in summed:
                pending.add(axis)
        if x.cut or y.cut:
            if not (x.cut and y.cut) or x.cut.at != y.cut.at:
                return None
            if left[x.cut.dimension] != right[y.cut.dimension]:
                return None
            name = left[x.cut.dimension]
            cut = None if name in summed else Cut(result.index(name), x.cut.at)
        else:
            cut = None
        equation = f"{''.join(left)},{''.join(right)}->{''.join(result)}"
        new = Value(
            "", x.parts, dimensions, (x.sharded | y.sharded) - pending, frozenset(pending), cut
        )
        reference = self.emit(
            "einsum", (x.reference, y.reference), self.shape(dimensions), None, text=equation
        )
        parts = tuple(
            self.emit(
                "einsum",
                (one, other),
                self.local_shape(new, i),
                self.domain_of(x, i),
                text=equation,
            )
            for i, (one, other) in enumerate(zip(x.parts, y.parts, strict=True))
        )
        return replace(new, reference=reference, parts=parts)

    def transpose(self, x: Value) -> Value | None:
        """Other order of dimensions."""
        order = list(range(len(x.dimensions)))
        self.random.shuffle(order)
        if len(order) < 2:
            return None
        cut = Cut(order.index(x.cut.dimension), x.cut.at) if x.cut else None
        new = replace(x, dimensions=tuple(x.dimensions[i] for i in order), cut=cut)
        return self.both(
            x,
            new,
            lambda s, d, v: self.emit("transpose", (v,), s, d, numbers=tuple(order)),
        )

    def reshape(self, x: Value) -> Value | None:
        """Joins two dimensions, or splits one."""
        at = self.random.randrange(max(1, len(x.dimensions)))
        if x.cut or not x.dimensions:
            return None
        if len(x.dimensions[at]) > 1 and self.random.random() < 0.5:
            where = self.random.randrange(1, len(x.dimensions[at]))
            new = (x.dimensions[at][:where], x.dimensions[at][where:])
            dimensions = x.dimensions[:at] + new + x.dimensions[at + 1 :]
        elif at + 1 < len(x.dimensions):
            joined = x.dimensions[at] + x.dimensions[at + 1]
            dimensions = (*x.dimensions[:at], joined, *x.dimensions[at + 2 :])
        else:
            return None
        return self.both(
            x,
            replace(x, dimensions=dimensions),
            lambda s, d, v: self.emit("reshape", (v,), s, d),
        )

    def slice(self, x: Value) -> Value | None:
        """Part of a dimension, or a rotation of it."""
        if not x.dimensions:
            return None
        at = self.random.randrange(len(x.dimensions))
        dimension = x.dimensions[at]
        if len(dimension) != 1 or dimension[0] in AXIS_OF:
            return None
        size = self.extent(dimension)
        if (x.cut and x.cut.dimension == at) or size < 3:
            return None
        shift = self.random.choice([1, 1, 2, size - 1])
        shift = min(shift, size - 1)

        def cut(shape: tuple[int, ...], d: str | None, v: str, start: int, end: int) -> str:
            shape = (*shape[:at], end - start, *shape[at + 1 :])
            return self.emit("slice", (v,), shape, d, dimension=at, bounds=(start, end))

        if self.random.random() < 0.5:
            return self.both(
                x,
                x,
                lambda s, d, v: self.emit(
                    "concat",
                    (cut(s, d, v, shift, size), cut(s, d, v, 0, shift)),
                    s,
                    d,
                    dimension=at,
                ),
            )
        name = f"{dimension[0]}-{shift}"
        self.extents[name] = size - shift
        start = self.random.choice([0, shift])
        new = replace(x, dimensions=(*x.dimensions[:at], (name,), *x.dimensions[at + 1 :]))
        return self.both(x, new, lambda s, d, v: cut(s, d, v, start, start + size - shift))

    def broadcast(self, x: Value) -> Value | None:
        """Repeats along a new dimension."""
        factor = self.random.choice(["a", "b"])
        if prod(self.shape(x.dimensions)) * self.extents[factor] > LIMIT or len(x.dimensions) > 2:
            return None
        at = self.random.randint(0, len(x.dimensions))
        cut = x.cut
        if cut and cut.dimension >= at:
            cut = Cut(cut.dimension + 1, cut.at)
        new = replace(x, dimensions=(*x.dimensions[:at], (factor,), *x.dimensions[at:]), cut=cut)
        numbers = tuple(i + (i >= at) for i in range(len(x.dimensions)))
        return self.both(
            x, new, lambda s, d, v: self.emit("broadcast", (v,), s, d, numbers=numbers)
        )

    def look_up(self) -> Value | None:
        """Rows of a table, whose rows the devices may divide."""
        words = self.emit("argument", (), (self.size,), None, element="i64")
        data = self.distribute(words, (("a",),))
        if data.cut:
            return None
        table = self.argument((("b",), ("c",)))
        if table.cut and table.cut.dimension != 0:
            return None
        hot = self.emit("one_hot", (words,), (self.size, self.size), None, bounds=(0, 0))
        reference = self.emit(
            "einsum", (hot, table.reference), (self.size, 2), None, text="ab,bc->ac"
        )
        parts = []
        for i, part in enumerate(table.parts):
            rows = self.local_extent(table, i, 0)
            start = table.cut.at if table.cut and i == 1 else 0
            domain = self.domain_of(table, i)
            local = self.emit("one_hot", data.parts, (self.size, rows), domain, bounds=(start, 0))
            parts.append(
                self.emit("einsum", (local, part), (self.size, 2), domain, text="ab,bc->ac")
            )
        found = Value(reference, tuple(parts), (("a",), ("c",)))
        return self.ignore(found, words, data.parts[0]) if self.random.random() < 0.5 else found

    def ignore(self, rows: Value, words: str, data: str) -> Value:
        """The rows, but for those of a word, or those alone; at times the plan's is another one."""
        kind = self.random.choice(["not_equal", "equal"])
        literals = [0, 1, 2, self.size - 1, self.size, -100, *range(-6, 0)]
        literal = self.random.choice(literals)
        its = self.random.choice(literals) if self.random.random() < 0.25 else literal
        side = {None: words}

        def make(shape: tuple[int, ...], domain: str | None, name: str) -> str:
            number = literal if domain is None else its
            constant = self.emit("literal", (), (), domain, value=Fraction(number), element="i64")
            operands = (side.get(domain, data), constant)
            mask = self.emit("compare", operands, (self.size,), domain, text=kind)
            return self.emit("einsum", (name, mask), shape, domain, text="ac,a->ac")

        return self.both(rows, rows, make)

    def mask(self, x: Value) -> Value | None:
        """The exponential of what is on or below the diagonal."""
        if len(x.dimensions) < 2 or not x.is_whole() or x.cut or x.sharded:
            return None
        if self.extent(x.dimensions[-1]) != self.extent(x.dimensions[-2]):
            return None

        def make(shape: tuple[int, ...], domain: str | None, name: str) -> str:
            hidden = self.emit("causal_mask", (), shape, domain, element="!tv.extended<f32>")
            total = self.emit("add", (name, hidden), shape, domain, element="!tv.extended<f32>")
            return self.emit("exp", (total,), shape, domain)

        return self.both(x, x, make)


def random_program(seed: int, size: int) -> Program:
    """The program of a seed, at a size."""
    random = Random(seed)
    builder = RandomProgram(random, size)
    values = [builder.argument() for _ in range(random.choice([1, 2, 2]))]
    for _ in range(random.randint(2, 6)):
        x, y = random.choice(values[-3:]), random.choice(values)
        one: list[Callable[[Value], Value | None]] = [
            builder.unary,
            builder.scale,
            builder.reduce,
            builder.reduce,
            builder.resolve,
            builder.resolve,
            builder.transpose,
            builder.reshape,
            builder.slice,
            builder.broadcast,
            builder.mask,
        ]
        two: list[Callable[[Value, Value], Value | None]] = [builder.binary, builder.contract]
        kind = random.randrange(16)
        if kind < len(one):
            new = one[kind](x)
        elif kind < 15:
            new = random.choice(two)(x, y)
        else:
            new = builder.look_up()
        if new:
            values.append(new)
    last = values[-1]
    return Program(builder.mesh, tuple(builder.nodes), builder.expects(last))
