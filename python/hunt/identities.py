# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Equations that hold at small sizes only, and ones that hold at all."""

from fractions import Fraction
from itertools import permutations
from math import factorial
from random import Random

from hunt.builder import Builder, Value
from hunt.programs import Program


def partitions(total: int, largest: int) -> list[list[int]]:
    """Ways to write a number as a sum of positive ones."""
    if total == 0:
        return [[]]
    return [
        [first, *rest]
        for first in range(min(total, largest), 0, -1)
        for rest in partitions(total - first, first)
    ]


class Identity(Builder):
    """Makes both sides by hand."""

    def __init__(self, random: Random, size: int) -> None:
        super().__init__(random, size)
        # Where the terms are: along a dimension, on the ranks, or on both.
        self.place = random.choice(["dimension", "dp", "mb", "both"])
        self.mesh = {
            "dp": size if self.place == "dp" else 1 + (self.place == "both"),
            "mb": size if self.place == "mb" else 1,
        }
        self.extents |= {"p": self.mesh["dp"], "m": self.mesh["mb"]}
        if self.place == "both" and size % 2:
            self.place = "dimension"
            self.mesh["dp"] = self.extents["p"] = 1
        if self.place == "both":
            self.extents["a"] = size // 2

    def scalar(
        self, op: str, operands: tuple[str, ...], domain: str | None, **fields: object
    ) -> str:
        """An op on numbers."""
        return self.emit(op, operands, (), domain, **fields)

    def times(self, number: Fraction, name: str, domain: str | None) -> str:
        """A number times a value."""
        constant = self.scalar("constant", (), domain, value=number)
        return self.scalar("multiply", (constant, name), domain)

    def elements(self) -> tuple[str, str]:
        """The argument, of `size` elements in all, in reference and plan."""
        layout = {"dimension": ("a",), "dp": ("p",), "mb": ("m",), "both": ("p", "a")}[self.place]
        reference = self.emit("argument", (), (self.size,), None)
        sharded = {"dimension": "", "dp": "dp", "mb": "mb", "both": "dp"}[self.place]
        value = Value(reference, ("",), (layout,), frozenset({sharded} - {""}))
        part = self.emit(
            "distribute",
            (reference,),
            self.local_shape(value, 0),
            "0:2",
            lineage=self.lineage(value, 0),
        )
        return reference, part

    def total(self, name: str, domain: str | None) -> str:
        """The sum of all elements."""
        result = self.scalar("reduce", (name,), domain, text="sum")
        if domain is None or self.place == "dimension":
            return result
        axis = "mb" if self.place == "mb" else "dp"
        return self.scalar("all_reduce", (result,), domain, text=axis)

    def power_sum(self, name: str, exponent: int, domain: str | None) -> str:
        """The sum of powers of the elements."""
        if exponent > 1:
            shape = self.table[name].shape
            name = self.emit("power", (name,), shape, domain, bounds=(exponent, 1))
        return self.total(name, domain)

    def finish(self, reference: str, plan: str, kind: str) -> Program:
        """The stage that expects both to be equal."""
        value = Value(reference, (plan,), ())
        return Program(self.mesh, tuple(self.nodes), self.expects(value), kind)


def vanishing(random: Random, size: int) -> Program:
    """The sum over products of `degree` different elements: 0 below that size."""
    make = Identity(random, size)
    degree = random.choice([2, 3, 3, 4, 5])
    x, part = make.elements()
    zero = make.scalar("constant", (), None)
    # Newton's identities, one term for each way to group the factors.
    sums = {k: make.power_sum(part, k, "0:2") for k in range(1, degree + 1)}
    terms = []
    for partition in partitions(degree, degree):
        coefficient = Fraction((-1) ** (degree - len(partition)) * factorial(degree))
        for k in set(partition):
            coefficient /= factorial(partition.count(k)) * k ** partition.count(k)
        term = sums[partition[0]]
        for k in partition[1:]:
            term = make.scalar("multiply", (term, sums[k]), "0:2")
        terms.append(make.times(coefficient, term, "0:2"))
    random.shuffle(terms)
    result = terms[0]
    for term in terms[1:]:
        result = make.scalar("add", (result, term), "0:2")
    del x
    return make.finish(zero, result, f"vanishing sum of products of {degree}")


def inside_function(random: Random, size: int) -> Program:
    """The same, where it is the argument of a function."""
    program = vanishing(random, size)
    function = random.choice(["exp", "tanh", "erf"])
    make = Identity(random, size)
    make.nodes, make.mesh = list(program.nodes), dict(program.mesh)
    make.table = {node.name: node for node in make.nodes}
    expect = program.expects[0]
    reference = make.scalar(function, (expect.reference,), None)
    plan = make.scalar(function, expect.values, "0:2")
    return make.finish(reference, plan, f"{program.kind}, inside {function}")


def distinct_values(random: Random, size: int) -> Program:
    """The determinant of power sums: 0 where fewer than `count` elements differ.

    It tells a small case with too few positions from one with enough of them.
    """
    make = Identity(random, size)
    count = random.choice([2, 3, 3, 4])
    make.elements()
    part = make.nodes[-1].name
    zero = make.scalar("constant", (), None)
    powers = range(1, 2 * count - 1)
    sums = {k: make.power_sum(part, k, "0:2") for k in powers}
    sums[0] = make.scalar("constant", (), "0:2", value=Fraction(size))
    terms = []
    for order in permutations(range(count)):
        sign = (-1) ** sum(order[i] > order[j] for j in range(count) for i in range(j))
        term = sums[order[0]]
        for row in range(1, count):
            term = make.scalar("multiply", (term, sums[row + order[row]]), "0:2")
        terms.append(make.times(Fraction(sign), term, "0:2"))
    result = terms[0]
    for term in terms[1:]:
        result = make.scalar("add", (result, term), "0:2")
    return make.finish(zero, result, f"determinant of power sums of {count}")


class Disguise:
    """Products of positive numbers that laws have to undo before they show."""

    def __init__(self, make: Identity, kind: str, domain: str | None) -> None:
        self.make, self.kind, self.domain = make, kind, domain

    def inverse(self, name: str) -> str:
        """One over a number."""
        return self.make.scalar("power", (name,), self.domain, bounds=(-1, 1))

    def square(self, name: str) -> str:
        """As a difference of fractions: 1 / (1/u - 1/(u + 1)) - u."""
        one = self.make.scalar("constant", (), self.domain, value=Fraction(1))
        next_one = self.make.scalar("add", (name, one), self.domain)
        inverses = (self.inverse(name), self.inverse(next_one))
        difference = self.make.scalar("subtract", inverses, self.domain)
        return self.make.scalar("subtract", (self.inverse(difference), name), self.domain)

    def wrap(self, name: str) -> str:
        """The number, as a function of a function of it."""
        if self.kind == "square root":
            name = self.make.scalar("power", (name,), self.domain, bounds=(1, 2))
            return self.make.scalar("power", (name,), self.domain, bounds=(2, 1))
        if self.kind == "logarithm":
            name = self.make.scalar("log", (name,), self.domain)
            return self.make.scalar("exp", (name,), self.domain)
        return name

    def product(self, left: str, right: str) -> str:
        """The product of two positive numbers."""
        if self.kind != "fraction":
            return self.make.scalar("multiply", (left, right), self.domain)
        both = self.square(self.make.scalar("add", (left, right), self.domain))
        for name in (left, right):
            both = self.make.scalar("subtract", (both, self.square(name)), self.domain)
        return self.make.times(Fraction(1, 2), both, self.domain)


def disguised(random: Random, size: int, kind: str | None = None) -> Program:
    """The determinant of power sums of three elements, out of factors that laws undo."""
    make = Identity(random, size)
    x, part = make.elements()
    kind = kind or random.choice(["square root", "logarithm", "fraction"])
    results: list[list[str]] = []
    for name, domain in ((x, None), (part, "0:2")):
        disguise = Disguise(make, kind, domain)
        number = make.scalar("constant", (), domain, value=Fraction(size))
        sums = [number, *(make.power_sum(name, 2 * k, domain) for k in range(1, 5))]
        sums = [disguise.wrap(value) for value in sums]
        results.append([])
        for order in permutations(range(3)):
            term = disguise.product(sums[order[0]], sums[1 + order[1]])
            results[-1].append(disguise.product(term, sums[2 + order[2]]))
    total, wrong = results[0][0], results[1][0]
    for term in results[0][1:]:
        total = make.scalar("add", (total, term), None)
    for term in results[1][1:]:
        wrong = make.scalar("add", (wrong, term), "0:2")
    for order, term in zip(permutations(range(3)), results[1], strict=True):
        sign = (-1) ** sum(order[i] > order[j] for j in range(3) for i in range(j))
        wrong = make.scalar("add", (wrong, make.times(Fraction(sign), term, "0:2")), "0:2")
    return make.finish(total, wrong, f"determinant of power sums, in each a {kind}")


def minimum(random: Random, size: int) -> Program:
    """Sum minus maximum is minus the maximum of the negated, for two elements."""
    make = Identity(random, size)
    make.place = "dimension"
    make.mesh = {"dp": 1, "mb": 1}
    make.extents |= {"a": size, "p": 1, "m": 1}
    x, part = make.elements()
    greatest = make.scalar("reduce", (x,), None, text="maximum")
    reference = make.scalar("subtract", (make.total(x, None), greatest), None)
    negative = make.emit("negate", (part,), make.table[part].shape, "0:2")
    least = make.scalar("reduce", (negative,), "0:2", text="maximum")
    return make.finish(reference, make.scalar("negate", (least,), "0:2"), "sum minus maximum")


def rotations(random: Random, size: int) -> Program:
    """Rotations in both directions are the same for two elements."""
    make = Identity(random, size)
    make.place = "dimension"
    make.mesh = {"dp": 1, "mb": 1}
    make.extents |= {"a": size, "p": 1, "m": 1}
    x, part = make.elements()

    def rotate(name: str, by: int, domain: str | None) -> str:
        pieces = [
            make.emit("slice", (name,), (end - start,), domain, bounds=(start, end))
            for start, end in ((by, size), (0, by))
        ]
        return make.emit("concat", tuple(pieces), (size,), domain)

    by, other = random.choice([(1, size - 1), (1, 1), (size - 1, 1), (2 % size or 1, 1)])
    reference, plan = rotate(x, by, None), rotate(part, other, "0:2")
    if random.random() < 0.5:
        reference = make.scalar("einsum", (reference, x), None, text="a,a->")
        plan = make.scalar("einsum", (plan, part), "0:2", text="a,a->")
        return make.finish(reference, plan, "rotations, correlated")
    value = Value(reference, (plan,), (("a",),))
    return Program(make.mesh, tuple(make.nodes), make.expects(value), "rotations")


def divisors(random: Random, size: int) -> Program:
    """An average, with a divisor of one size or another."""
    make = Identity(random, size)
    x, part = make.elements()
    reference = make.scalar("reduce", (x,), None, text="average")
    number = random.choice(
        [
            Fraction(1, size),
            Fraction(1, 2),
            Fraction(1, 3),
            Fraction(1, 4),
            Fraction(1, 5),
            Fraction(1, size + 1),
            Fraction(1, size - 1 or 1),
        ]
    )
    return make.finish(reference, make.times(number, make.total(part, "0:2"), "0:2"), "divisors")


def variances(random: Random, size: int) -> Program:
    """The variance in two ways, with the right and wrong number of elements."""
    make = Identity(random, size)
    x, part = make.elements()
    mean = make.scalar("reduce", (x,), None, text="average")
    wide = make.emit("broadcast", (mean,), (size,), None)
    centred = make.emit("subtract", (x, wide), (size,), None)
    square = make.emit("power", (centred,), (size,), None, bounds=(2, 1))
    reference = make.total(square, None)
    first, second = (make.power_sum(part, k, "0:2") for k in (1, 2))
    number = random.choice([Fraction(1, size), Fraction(1, size), Fraction(1, 2), Fraction(1, 3)])
    square_of_sum = make.scalar("multiply", (first, first), "0:2")
    correction = make.times(number, square_of_sum, "0:2")
    return make.finish(reference, make.scalar("subtract", (second, correction), "0:2"), "variances")


IDENTITIES = (
    distinct_values,
    distinct_values,
    disguised,
    vanishing,
    inside_function,
    minimum,
    rotations,
    divisors,
    variances,
)


def random_identity(seed: int, size: int) -> Program:
    """The identity of a seed, at a size."""
    random = Random(seed)
    return random.choice(IDENTITIES)(random, size)
