# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Edits of the plan that keep what it computes."""

from fractions import Fraction

from hunt.edits import Edit, Place, is_real, long_dimension
from hunt.programs import Node


def average_as_sum(place: Place) -> list[Node] | None:
    """An average as a sum, divided or times a literal."""
    node = place.node
    if node.op != "reduce" or node.text != "average":
        return None
    size = place.shape(node.operands[0])[node.dimension]
    total = place.make("reduce", node.operands, node.shape, dimension=node.dimension, text="sum")
    if place.random.random() < 0.5:
        return place.done("divide", (total, place.constant(Fraction(size), node.shape)))
    return place.done("multiply", (total, place.constant(Fraction(1, size), node.shape)))


def commute(place: Place) -> list[Node] | None:
    """Operands in the other order."""
    node = place.node
    if node.op in ("add", "multiply") and is_real(place):
        return place.done(node.op, node.operands[::-1])
    if node.op != "einsum":
        return None
    inputs, output = node.text.split("->")
    equation = ",".join(reversed(inputs.split(","))) + "->" + output
    return place.done("einsum", node.operands[::-1], text=equation)


def subtract_as_add(place: Place) -> list[Node] | None:
    """A difference as a sum."""
    node = place.node
    if node.op != "subtract":
        return None
    negative = place.make("negate", node.operands[1:], node.shape)
    return place.done("add", (node.operands[0], negative))


def power_as_product(place: Place) -> list[Node] | None:
    """A power as a product."""
    node = place.node
    if node.op != "power" or node.bounds[0] not in (2, 3):
        return None
    x = node.operands[0]
    if node.bounds[0] == 2:
        return place.done("multiply", (x, x))
    return place.done("multiply", (place.make("multiply", (x, x), node.shape), x))


def sum_in_pieces(place: Place) -> list[Node] | None:
    """A sum as that of two pieces."""
    node = place.node
    if node.op != "reduce" or node.text != "sum":
        return None
    size = place.shape(node.operands[0])[node.dimension]
    if size < 2:
        return None
    at = place.random.choice([1, size - 1])
    left, right = (
        place.make("reduce", (piece,), node.shape, dimension=node.dimension, text="sum")
        for piece in place.pieces(node.operands[0], node.dimension, at)
    )
    return place.done("add", (left, right))


def contract_in_pieces(place: Place) -> list[Node] | None:
    """A contraction as the sum of two."""
    node = place.node
    if node.op != "einsum":
        return None
    inputs, output = node.text.split("->")
    labels = inputs.split(",")
    summed = [name for name in labels[0] if name in labels[1] and name not in output]
    if not summed:
        return None
    where = [label.index(summed[0]) for label in labels]
    size = place.shape(node.operands[0])[where[0]]
    if size < 2:
        return None
    at = place.random.choice([1, size - 1])
    pieces = [
        place.pieces(operand, dimension, at)
        for operand, dimension in zip(node.operands, where, strict=True)
    ]
    terms = [
        place.make("einsum", operands, node.shape, text=node.text)
        for operands in zip(*pieces, strict=True)
    ]
    return place.done("add", tuple(terms))


def exponential_of_pieces(place: Place) -> list[Node] | None:
    """exp(x) as exp(x + 1) exp(-1)."""
    node = place.node
    if node.op != "exp" or not is_real(place):
        return None
    if place.program.table[node.operands[0]].element != "f32":
        return None
    shift = place.constant(Fraction(1), node.shape)
    raised = place.make("add", (node.operands[0], shift), node.shape)
    first = place.make("exp", (raised,), node.shape)
    second = place.make("exp", (place.make("negate", (shift,), node.shape),), node.shape)
    return place.done("multiply", (first, second))


def there_and_back(place: Place) -> list[Node] | None:
    """Transposes twice, or rotates there and back."""
    if not is_real(place):
        return None
    shape = place.node.shape
    if len(shape) > 1 and place.random.random() < 0.5:
        order = list(range(len(shape)))
        place.random.shuffle(order)
        inverse = tuple(order.index(i) for i in range(len(order)))
        return place.after(
            lambda inner: (
                "copy",
                (
                    place.make(
                        "transpose",
                        (
                            place.make(
                                "transpose",
                                (inner,),
                                tuple(shape[i] for i in order),
                                numbers=tuple(order),
                            ),
                        ),
                        shape,
                        numbers=inverse,
                    ),
                ),
            )
        )
    dimension = long_dimension(place)
    if dimension is None:
        return None
    chosen = dimension
    size = shape[chosen]
    shift = place.random.choice([1, size - 1])

    def rotate(name: str, at: int) -> str:
        return place.make("concat", place.pieces(name, chosen, at)[::-1], shape, dimension=chosen)

    return place.after(lambda inner: ("copy", (rotate(rotate(inner, shift), size - shift),)))


BENIGN: tuple[Edit, ...] = (
    average_as_sum,
    commute,
    subtract_as_add,
    power_as_product,
    sum_in_pieces,
    contract_in_pieces,
    exponential_of_pieces,
    there_and_back,
)
