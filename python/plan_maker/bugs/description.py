# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Where a bug is: the difference between two plans, with the lines of the model
that it concerns. A diagnostic of the plan with the bug can be compared with it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from difflib import SequenceMatcher

from plan_maker.bugs.place import segments_of
from plan_maker.graph import (
    Adapter,
    BackwardOperation,
    Cell,
    DataOperation,
    DeviceProgram,
    ForwardOperation,
    Plan,
    Segment,
    SegmentNode,
    SubTensor,
    WeightReducer,
    base_cell,
)

REMOVED, REPEATED, ADDED, CHANGED = "removed", "repeated", "added", "changed"
KINDS = (REMOVED, REPEATED, ADDED, CHANGED)
NAMES = {
    Adapter: "adapter",
    DataOperation: "dataloader",
    Segment: "segment",
    WeightReducer: "reducer",
}


@dataclass(frozen=True)
class Edit:
    """One cell or op that differs. `cell` is its number in the plan; `file` and
    `line` are of the model's op that it is, or whose result it communicates;
    `results` are the names of what it makes, `others` the numbers of the ops that
    read that or are in it: where the bug shows if the cell itself is gone.
    """

    device: int
    kind: str
    cell: int
    operation: str
    file: str | None
    line: int | None
    parameters: tuple[str, ...]
    results: tuple[str, ...]
    others: tuple[int, ...]


def describe(before: Plan, after: Plan) -> list[dict[str, object]]:
    """The edits, what is gone first and what only follows from it last."""
    origins = _Origins()
    for program in before.programs:
        for segment in segments_of(program):
            for node in segment.nodes:
                if isinstance(node, ForwardOperation):
                    origins.add(node)
    edits = [
        _edit(old, kind, node, origins)
        for old, new in zip(before.programs, after.programs, strict=True)
        for kind, node in _differences(old, new)
    ]
    ordered = sorted(edits, key=lambda edit: KINDS.index(edit.kind))
    return [asdict(edit) for edit in ordered]


@dataclass
class _Origins:
    """What the forward ops tell: by the number of a full tensor or its gradient,
    the comment of the op that makes it, or first uses it if it is a parameter, and
    the parameter's name; by the number of an op, what kind of op it is.
    """

    comments: dict[int, str] = field(default_factory=dict)
    parameters: dict[int, str] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)

    def add(self, node: ForwardOperation) -> None:
        """Notes a forward op; an op without comment has that of its operands."""
        self.names[node.identifier] = node.name
        if node.mirror is not None:
            self.names[node.mirror] = f"{node.name} backward"
        operands = [value for value in node.inputs if isinstance(value, SubTensor)]
        comment = node.comment or self.comment(operands)
        if node.name == "multiref":
            self._add_copies(operands[0], node.outputs)
        for tensor in (*operands, *node.outputs):
            full = tensor.full
            for number in {full.identifier, (full.gradient or full).identifier}:
                if full.is_parameter:
                    self.parameters[number] = full.name
                if comment is not None and (full.is_parameter or tensor in node.outputs):
                    self.comments.setdefault(number, comment)

    def _add_copies(self, source: SubTensor, copies: tuple[SubTensor, ...]) -> None:
        """A copy of a parameter goes by the parameter's name."""
        full = source.full
        name = full.name if full.is_parameter else self.parameters.get(full.identifier)
        if name is None:
            return
        for copy in copies:
            numbers = copy.full.identifier, (copy.full.gradient or copy.full).identifier
            self.parameters |= dict.fromkeys(numbers, name)

    def comment(self, tensors: Iterable[SubTensor]) -> str | None:
        """The first comment that is known."""
        numbers = (tensor.full.identifier for tensor in tensors)
        return next((self.comments[number] for number in numbers if number in self.comments), None)


def _differences(
    old: DeviceProgram, new: DeviceProgram
) -> Iterator[tuple[str, Cell | SegmentNode]]:
    yield from _compare(list(old.cells), list(new.cells), is_shallow=True)
    old_bases = {cell.identifier: cell for cell in map(base_cell, old.cells)}
    new_bases = {cell.identifier: cell for cell in map(base_cell, (*new.cells, *new.unscheduled))}
    new_segments = {segment.identifier: segment for segment in segments_of(new)}
    for number, cell in old_bases.items():
        other = new_bases.get(number)
        if isinstance(cell, Segment):
            segment = new_segments.get(number)
            if segment is not None:
                yield from _compare(list(cell.nodes), list(segment.nodes))
        elif other is not None and other != cell:
            yield CHANGED, cell


def _compare(
    old: list[Cell] | list[SegmentNode],
    new: list[Cell] | list[SegmentNode],
    *,
    is_shallow: bool = False,
) -> Iterator[tuple[str, Cell | SegmentNode]]:
    """By number and order; unless `is_shallow`, also what has the same number."""
    counts = Counter(node.identifier for node in new)
    present = {node.identifier: node for node in new}
    numbers = {node.identifier for node in old}
    moved = _moved([node.identifier for node in old], [node.identifier for node in new])
    for node in old:
        if not counts[node.identifier]:
            yield REMOVED, node
        elif counts[node.identifier] > 1:
            yield REPEATED, node
        elif node.identifier in moved or (not is_shallow and present[node.identifier] != node):
            yield CHANGED, node
    for node in new:
        if node.identifier not in numbers:
            yield ADDED, node


def _moved(old: list[int], new: list[int]) -> set[int]:
    """What is in both, but in another order."""
    common = set(old) & set(new)
    old = [number for number in old if number in common]
    new = [number for number in new if number in common]
    if old == new:
        return set()
    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    kept = {number for block in blocks for number in old[block.a : block.a + block.size]}
    return common - kept


def _edit(program: DeviceProgram, kind: str, node: Cell | SegmentNode, origins: _Origins) -> Edit:
    cell = node if isinstance(node, (ForwardOperation, BackwardOperation)) else base_cell(node)
    tensors = _tensors(cell)
    comment = cell.comment if isinstance(cell, ForwardOperation) else None
    comment = comment or origins.comment(tensors)
    file, line = (None, None) if comment is None else _place(comment)
    numbers = [tensor.full.identifier for tensor in tensors]
    parameters = dict.fromkeys(
        origins.parameters[number] for number in numbers if number in origins.parameters
    )
    name = origins.names.get(cell.identifier) or NAMES[type(cell)]
    made = () if isinstance(cell, WeightReducer) else cell.outputs
    results = dict.fromkeys(tensor.full.name for tensor in made)
    others = list(_readers(program, {tensor.identifier for tensor in made}))
    if isinstance(cell, Segment):
        others = [inner.identifier for inner in cell.nodes]
    return Edit(
        program.device,
        kind,
        node.identifier,
        name,
        file,
        line,
        tuple(parameters),
        tuple(results),
        tuple(others),
    )


def _readers(program: DeviceProgram, tensors: set[int]) -> Iterator[int]:
    """The ops that read one of `tensors`, or a copy of it."""
    for segment in segments_of(program):
        for node in segment.nodes:
            inputs = {value.identifier for value in node.inputs if isinstance(value, SubTensor)}
            if inputs & tensors:
                yield node.identifier
                if isinstance(node, ForwardOperation) and node.name == "multiref":
                    tensors = tensors | {tensor.identifier for tensor in node.outputs}


def _tensors(cell: Cell | SegmentNode) -> tuple[SubTensor, ...]:
    """What the cell makes, then what it reads; of a segment, the gradients."""
    match cell:
        case Segment():
            made = [tensor for node in cell.nodes for tensor in node.outputs]
            return tuple(tensor for tensor in made if tensor.full.is_parameter)
        case WeightReducer():
            return cell.inputs
        case BackwardOperation():
            # Its place is that of the forward op, whose results' gradients it reads.
            return (*cell.inputs, *cell.outputs)
        case ForwardOperation() | Adapter():
            inputs = tuple(value for value in cell.inputs if isinstance(value, SubTensor))
            return (*inputs, *cell.outputs)
        case _:
            return cell.outputs


def _place(comment: str) -> tuple[str, int]:
    match = re.match(r'File "([^"]*)", line (\d+),', comment)
    assert match is not None
    return match.group(1), int(match.group(2))
