# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Edits of the plan that mostly change what it computes."""

from dataclasses import replace
from fractions import Fraction

from hunt.edits import Edit, Place, is_real, long_dimension
from hunt.programs import Node


def drop_collective(place: Place) -> list[Node] | None:
    """No communication."""
    node = place.node
    return (
        place.done("copy", node.operands[:1]) if node.op in ("all_reduce", "accumulate") else None
    )


def double_collective(place: Place) -> list[Node] | None:
    """Adds up once more."""
    if place.node.op not in ("all_reduce",):
        return None
    text = place.node.text or "dp"
    return place.after(
        lambda inner: ("copy", (place.make("all_reduce", (inner,), place.node.shape, text=text),))
    )


def other_axes(place: Place) -> list[Node] | None:
    """Adds up over other axes."""
    node = place.node
    if node.op != "all_reduce":
        return None
    text = place.random.choice([t for t in ("", "dp", "mb", "dp mb") if t != node.text])
    return [replace(node, text=text)]


def lose_micro_batch(place: Place) -> list[Node] | None:
    """Leaves out one micro-batch."""
    node = place.node
    if node.op != "accumulate" or node.bounds[1] < 2:
        return None
    return [
        replace(node, bounds=place.random.choice([(1, node.bounds[1]), (0, node.bounds[1] - 1)]))
    ]


def swap_operands(place: Place) -> list[Node] | None:
    """Operands of a difference, a quotient or a contraction in the other order."""
    node = place.node
    if node.op in ("subtract", "divide"):
        return [replace(node, operands=node.operands[::-1])]
    if node.op == "einsum" and place.shape(node.operands[0]) == place.shape(node.operands[1]):
        return [replace(node, operands=node.operands[::-1])]
    return None


def other_constant(place: Place) -> list[Node] | None:
    """Another literal."""
    node = place.node
    if node.op != "constant":
        return None
    value = node.value
    if value == 0:
        return None
    other = [1 / (1 / value + 1), value + 1, value * 2, -value] if value != -1 else [value + 2]
    return [replace(node, value=place.random.choice(other))]


def shift_slice(place: Place) -> list[Node] | None:
    """A slice one further."""
    node = place.node
    if node.op != "slice":
        return None
    size = place.shape(node.operands[0])[node.dimension]
    start, end = node.bounds
    moves = [d for d in (-1, 1) if start + d >= 0 and end + d <= size]
    if not moves:
        return None
    d = place.random.choice(moves)
    return [replace(node, bounds=(start + d, end + d))]


def shift_piece(place: Place) -> list[Node] | None:
    """A part of the reference one further."""
    node = place.node
    places = [
        (i, j, d)
        for i, parts in enumerate(node.lineage)
        for j, part in enumerate(parts)
        if not isinstance(part, str)
        for d in (-1, 1)
        if part[0] + d >= 0 and part[1] + d <= part[2]
    ]
    if node.op != "distribute" or not places:
        return None
    i, j, d = place.random.choice(places)
    lineage = [list(parts) for parts in node.lineage]
    part = lineage[i][j]
    assert not isinstance(part, str)
    lineage[i][j] = (part[0] + d, part[1] + d, part[2])
    return [replace(node, lineage=tuple(map(tuple, lineage)))]


def swap_axes(place: Place) -> list[Node] | None:
    """Rows for micro-batches and micro-batches for rows."""
    node = place.node
    mesh = place.program.mesh
    if node.op != "distribute" or mesh["dp"] != mesh["mb"] or mesh["dp"] < 2:
        return None
    other = {"dp": "mb", "mb": "dp"}
    lineage = tuple(
        tuple(other[part] if isinstance(part, str) else part for part in parts)
        for parts in node.lineage
    )
    return None if lineage == node.lineage else [replace(node, lineage=lineage)]


def swap_factors(place: Place) -> list[Node] | None:
    """An axis before or after the rest of its dimension."""
    node = place.node
    found = [i for i, parts in enumerate(node.lineage) if len(parts) > 1]
    if node.op != "distribute" or not found:
        return None
    i = place.random.choice(found)
    lineage = (*node.lineage[:i], node.lineage[i][::-1], *node.lineage[i + 1 :])
    return [replace(node, lineage=lineage)]


def swap_parts(place: Place) -> list[Node] | None:
    """Parts put together in the other order."""
    node = place.node
    is_joined = node.op in ("concat", "all_gather")
    return [replace(node, operands=node.operands[::-1])] if is_joined else None


def other_reduction(place: Place) -> list[Node] | None:
    """A sum for an average, and so on."""
    node = place.node
    kinds = [kind for kind in ("sum", "average", "maximum") if kind != node.text]
    return [replace(node, text=place.random.choice(kinds))] if node.op == "reduce" else None


def other_power(place: Place) -> list[Node] | None:
    """Another exponent."""
    node = place.node
    numbers = [number for number in (1, 2, 3, 4) if number != node.bounds[0]]
    bounds = (place.random.choice(numbers), 1)
    return [replace(node, bounds=bounds)] if node.op == "power" else None


def other_function(place: Place) -> list[Node] | None:
    """Another function."""
    node = place.node
    functions = [f for f in ("tanh", "erf", "silu", "gelu") if f != node.op]
    is_function = node.op in ("tanh", "erf", "silu", "gelu", "exp")
    if not is_function or place.program.table[node.operands[0]].element != "f32":
        return None
    return [replace(node, op=place.random.choice(functions))]


def transpose_square(place: Place) -> list[Node] | None:
    """Exchanges two dimensions of one size."""
    shape = place.node.shape
    pairs = [(i, j) for i in range(len(shape)) for j in range(i) if shape[i] == shape[j] > 1]
    if not pairs or not is_real(place):
        return None
    i, j = place.random.choice(pairs)
    order = list(range(len(shape)))
    order[i], order[j] = j, i
    return place.after(
        lambda inner: ("copy", (place.make("transpose", (inner,), shape, numbers=tuple(order)),))
    )


def rotate(place: Place) -> list[Node] | None:
    """Rotates a dimension."""
    dimension = long_dimension(place)
    if dimension is None or not is_real(place):
        return None
    chosen, shape = dimension, place.node.shape
    at = place.random.choice([1, shape[chosen] - 1])
    return place.after(
        lambda inner: (
            "copy",
            (place.make("concat", place.pieces(inner, chosen, at)[::-1], shape, dimension=chosen),),
        )
    )


def one_position(place: Place) -> list[Node] | None:
    """Doubles the elements at the first or the last position of a dimension."""
    dimension = long_dimension(place, least=3)
    if dimension is None or not is_real(place):
        return None
    chosen, shape = dimension, place.node.shape
    size = shape[chosen]
    at = place.random.choice([0, size - 1, size - 1, size // 2])

    def change(inner: str) -> tuple[str, tuple[str, ...]]:
        part = (*shape[:chosen], 1, *shape[chosen + 1 :])
        only = place.make("slice", (inner,), part, dimension=chosen, bounds=(at, at + 1))
        padded = place.make("pad", (only,), shape, dimension=chosen, bounds=(at, size - 1 - at))
        return "add", (inner, padded)

    return place.after(change)


def missing_term(place: Place) -> list[Node] | None:
    """Leaves out one term."""
    node = place.node
    if node.op != "reduce" or place.shape(node.operands[0])[node.dimension] < 2:
        return None
    size = place.shape(node.operands[0])[node.dimension]
    at = place.random.choice([1, size - 1])
    left, right = place.pieces(node.operands[0], node.dimension, at)
    part = right if at == 1 else left
    return place.done("reduce", (part,), dimension=node.dimension, text=node.text)


def one_coordinate(place: Place) -> list[Node] | None:
    """The value at one coordinate of an axis, at all of them."""
    axis = place.random.choice(["dp", "mb"])
    size = place.program.mesh[axis]
    at = place.random.choice([0, size - 1])
    if not is_real(place):
        return None
    return place.after(
        lambda inner: (
            "copy",
            (place.make("move", (inner,), place.node.shape, text=axis, bounds=(at, at)),),
        )
    )


def other_operand(place: Place) -> list[Node] | None:
    """Another value of the same type in place of an operand."""
    node = place.node
    if not node.operands or node.op == "distribute":
        return None
    number = place.random.randrange(len(node.operands))
    old = place.program.table[node.operands[number]]
    found = []
    for other in place.program.nodes:
        if other.name == node.name:
            break
        if (other.type(), other.domain) == (old.type(), old.domain) and other.name != old.name:
            found.append(other.name)
    if not found:
        return None
    operands = list(node.operands)
    operands[number] = place.random.choice(found)
    return [replace(node, operands=tuple(operands))]


def scale_by_neighbour(place: Place) -> list[Node] | None:
    """Times `n / (n - 1)`, as a wrong divisor would make it."""
    if not is_real(place) or place.node.op == "distribute":
        return None
    size = place.random.choice([*[n for n in place.node.shape if n > 2], 5])
    shape = place.node.shape
    return place.after(
        lambda inner: ("multiply", (inner, place.constant(Fraction(size, size - 1), shape)))
    )


WRONG: tuple[Edit, ...] = (
    drop_collective,
    double_collective,
    other_axes,
    lose_micro_batch,
    swap_operands,
    other_constant,
    shift_slice,
    shift_piece,
    swap_axes,
    swap_factors,
    swap_parts,
    other_reduction,
    other_power,
    other_function,
    transpose_square,
    rotate,
    one_position,
    missing_term,
    one_coordinate,
    other_operand,
    scale_by_neighbour,
)
