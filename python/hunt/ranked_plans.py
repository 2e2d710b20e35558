# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random plans whose ranks do the same, for hunts for wrong folding.

A plan has some stages of a few ranks. Each rank executes the same ops; starts of slices,
members of groups, roots and peers may go by rank, or be the same for all. What comes out
need not be what the reference computes.
"""

from collections.abc import Callable
from random import Random

Shape = tuple[int, int]
SIZE = 6
WHOLE: Shape = (SIZE, SIZE)
TOKENS = f"tensor<{SIZE}xi64>"
ByRank = Callable[[int], str]


def kind(shape: Shape) -> str:
    """The type of a tensor."""
    return f"tensor<{shape[0]}x{shape[1]}xf32>"


def signature(operands: tuple[Shape, ...], result: Shape) -> str:
    """The type of an op."""
    return f"({', '.join(map(kind, operands))}) -> {kind(result)}"


class RankedPlan:
    """A plan that is being made."""

    def __init__(self, seed: int) -> None:
        self.random = Random(f"ranks {seed}")
        self.ranks = self.random.choice([2, 2, 3])
        self.stages = self.random.choice([1, 2, 2, 3])
        self.replicas = self.random.choice([1, 1, 2])
        self.micro_batches = self.random.choice([1, 1, 2])
        self.columns: Shape = (SIZE, SIZE // self.ranks)
        self.rows: Shape = (SIZE // self.ranks, SIZE)
        #: A stage whose last rank has an op that the others do not have.
        self.odd = self.random.randrange(self.stages) if self.random.random() < 0.4 else None
        #: Of each stage, which part of the parameter each rank has.
        self.parts = [list(range(self.ranks)) for _ in range(self.stages)]
        if self.random.random() < 0.2:
            self.random.shuffle(self.parts[-1])
        self.lines: list[list[str]] = [[] for _ in range(self.stages * self.ranks)]
        given = {"%x": WHOLE, "%w": self.columns}
        self.values: list[dict[str, Shape]] = [dict(given) for _ in range(self.stages)]
        self.count = 0
        for stage in range(self.stages):
            self._reduce(stage, "%x")
        for _ in range(self.random.choice([4, 8, 12])):
            self.random.choice(STEPS)(self, self.random.randrange(self.stages))

    def device(self, stage: int, rank: int) -> int:
        """The number of a rank of a stage."""
        return stage * self.ranks + rank

    def group(self, stage: int) -> str:
        """All ranks of a stage, mostly in their order."""
        members = [self.device(stage, rank) for rank in range(self.ranks)]
        if self.random.random() < 0.3:
            self.random.shuffle(members)
        return str(members)

    def emit(self, stage: int, line: ByRank) -> None:
        """Adds a line to each rank of a stage."""
        for rank in range(self.ranks):
            self.lines[self.device(stage, rank)].append(line(rank))

    def define(self, stage: int, shape: Shape, op: ByRank) -> None:
        """Adds an op that gives a value to each rank of a stage."""
        self.count += 1
        name = f"%v{self.count}"
        self.emit(stage, lambda rank: f"{name} = {op(rank)}")
        self.values[stage][name] = shape

    def pick(self, stage: int, *shapes: Shape) -> tuple[str, Shape] | None:
        """A value of a stage that has one of the shapes, or any."""
        fitting = [item for item in self.values[stage].items() if not shapes or item[1] in shapes]
        return self.random.choice(fitting) if fitting else None

    def _reduce(self, stage: int, value: str, how: str = "") -> None:
        shape = self.values[stage][value]
        alone, group = self.random.random() < 0.2, self.group(stage)

        def op(rank: int) -> str:
            members = f"[{self.device(stage, rank)}]" if alone else group
            text = f"tv.communicate all_reduce {value} group {members}{how}"
            return f"{text} : {signature((shape,), shape)}"

        self.define(stage, shape, op)

    def _collective(
        self, stage: int, what: str, value: str, given: Shape, attributes: str, result: Shape
    ) -> None:
        text = f"tv.communicate {what} {value} group {self.group(stage)} {{{attributes}}}"
        self.define(stage, result, lambda _: f"{text} : {signature((given,), result)}")

    # What a step may add to a stage.

    def multiply_weight(self, stage: int) -> None:
        """A product with the part of the parameter that a rank has."""
        if found := self.pick(stage, WHOLE):
            types = signature((WHOLE, self.columns), self.columns)
            text = f'tv.einsum {found[0]}, %w {{equation = "bi,io->bo"}} : {types}'
            self.define(stage, self.columns, lambda _: text)

    def combine(self, stage: int) -> None:
        """An op on two values."""
        left, shape = self.pick(stage) or ("%x", WHOLE)
        right, _ = self.pick(stage, shape) or (left, shape)
        name = self.random.choice(["add", "add", "multiply"])
        text = f"tv.{name} {left}, {right} : {signature((shape, shape), shape)}"
        self.define(stage, shape, lambda _: text)

    def gather(self, stage: int) -> None:
        """All parts, one after the other."""
        if found := self.pick(stage, self.columns, self.rows):
            dimension = f"dimension = {int(found[1] == self.columns)} : i64"
            self._collective(stage, "all_gather", *found, dimension, WHOLE)

    def cut(self, stage: int) -> None:
        """A slice that starts by rank, or anywhere."""
        if not (found := self.pick(stage, WHOLE)):
            return
        dimension = self.random.randrange(2)
        size = SIZE // self.ranks
        straight = [rank * size for rank in range(self.ranks)]
        anywhere = [self.random.randrange(SIZE - size + 1) for _ in straight]
        crossed = self.random.sample(straight, self.ranks)
        fixed = anywhere[:1] * self.ranks
        starts = self.random.choice([straight, straight, fixed, fixed, crossed, anywhere])
        shape = self.columns if dimension else self.rows

        def op(rank: int) -> str:
            start = starts[rank]
            where = (
                f"dimension = {dimension} : i64, start = {start} : i64, end = {start + size} : i64"
            )
            return f"tv.slice {found[0]} {{{where}}} : {signature((WHOLE,), shape)}"

        self.define(stage, shape, op)

    def compare_tokens(self, stage: int) -> None:
        """A one-hot whose start goes by rank, or not."""
        first, size = self.random.choice([0, 0, 1, 2]), self.random.choice([0, self.columns[1]])
        types = f"({TOKENS}) -> {kind(self.columns)}"
        self.define(
            stage,
            self.columns,
            lambda rank: f"tv.one_hot %i {{start = {first + rank * size} : i64}} : {types}",
        )

    def embed(self, stage: int) -> None:
        """An embedding whose start goes by rank, or not."""
        table, shape = self.pick(stage, self.rows, WHOLE) or ("%x", WHOLE)
        first, size = self.random.choice([0, 0, 1]), self.random.choice([0, shape[0]])
        types = f"({TOKENS}, {kind(shape)}) -> {kind(WHOLE)}"
        self.define(
            stage,
            WHOLE,
            lambda rank: (
                f"tv.embedding %i, {table} {{start = {first + rank * size} : i64}} : {types}"
            ),
        )

    def reduce(self, stage: int) -> None:
        """A sum, average or maximum, of all ranks or each alone, with replicas or without."""
        value, _ = self.pick(stage) or ("%x", WHOLE)
        how = self.random.choice(
            ["", " replicas", " by average", " replicas by average", " by maximum"]
        )
        self._reduce(stage, value, how)

    def reduce_scatter(self, stage: int) -> None:
        """A part of a sum."""
        if found := self.pick(stage, WHOLE):
            dimension = self.random.randrange(2)
            result = self.columns if dimension else self.rows
            self._collective(
                stage, "reduce_scatter", *found, f"dimension = {dimension} : i64", result
            )

    def exchange(self, stage: int) -> None:
        """Columns for rows, or rows for columns."""
        if found := self.pick(stage, self.columns, self.rows):
            by_columns = int(found[1] == self.columns)
            where = f"split_dimension = {1 - by_columns} : i64, dimension = {by_columns} : i64"
            result = self.rows if by_columns else self.columns
            self._collective(stage, "all_to_all", *found, where, result)

    def broadcast(self, stage: int) -> None:
        """What one rank has."""
        value, shape = self.pick(stage) or ("%x", WHOLE)
        root = self.device(stage, self.random.randrange(self.ranks))
        self._collective(stage, "broadcast", value, shape, f"root = {root} : i64", shape)

    def across(self, _: int) -> None:
        """A collective of equal ranks of several stages."""
        if self.stages < 2:
            return
        members = self.random.sample(range(self.stages), self.random.choice([2, self.stages]))
        shape = self.random.choice([WHOLE, self.columns, self.rows])
        found = [self.pick(stage, shape) for stage in members]
        what = self.random.choice(["all_reduce", "all_gather", "broadcast", "reduce_scatter"])
        result, root = shape, self.random.choice(members)
        if what == "all_gather":
            result = (shape[0] * len(members), shape[1])
        if what == "reduce_scatter":
            result = (shape[0] // len(members), shape[1])
        if not all(found) or shape[0] % len(members) or result[0] > 3 * SIZE:
            return
        for stage, value in zip(members, found, strict=True):

            def op(rank: int, value: tuple[str, Shape] | None = value) -> str:
                assert value
                group = [self.device(member, rank) for member in members]
                attributes = {
                    "all_gather": " {dimension = 0 : i64}",
                    "reduce_scatter": " {dimension = 0 : i64}",
                    "broadcast": f" {{root = {self.device(root, rank)} : i64}}",
                }.get(what, "")
                types = signature((shape,), result)
                return f"tv.communicate {what} {value[0]} group {group}{attributes} : {types}"

            self.define(stage, result, op)

    def start_broadcasts(self, stage: int) -> None:
        """Broadcasts to each rank of a stage, each from any device of another one, which
        starts them all.
        """
        source = self.random.randrange(self.stages)
        value, shape = self.pick(source) or ("%x", WHOLE)
        if source == stage:
            return
        types = signature((shape,), shape)
        count = self.random.choice([2, 3, 3, 4])
        roots = [
            [self.device(source, self.random.randrange(self.ranks)) for _ in range(self.ranks)]
            for _ in range(count)
        ]

        def where(rank: int, row: list[int]) -> str:
            return f"group [{self.device(stage, rank)}, {row[rank]}] {{root = {row[rank]} : i64}}"

        waits: list[tuple[int, str]] = []
        for row in roots:
            for rank, root in enumerate(row):
                self.count += 1
                given, _ = self.pick(source, shape) or (value, shape)
                broadcast = f"tv.communicate broadcast {given} {where(rank, row)} : {types}"
                self.lines[root].append(f"%h{self.count} = tv.start {{ %s = {broadcast} }}")
                waits.append((root, f"%t{self.count} = tv.wait %h{self.count} : {kind(shape)}"))
        for root, wait in waits:
            self.lines[root].append(wait)
        for row in roots:
            self._receive_broadcast(stage, shape, row)

    def _receive_broadcast(self, stage: int, shape: Shape, roots: list[int]) -> None:
        none = f"%n{self.count}"
        self.emit(stage, lambda _: f'{none} = tv.undefined "none" : {kind(shape)}')

        def op(rank: int) -> str:
            where = f"group [{self.device(stage, rank)}, {roots[rank]}]"
            root = f"{{root = {roots[rank]} : i64}}"
            types = signature((shape,), shape)
            return f"tv.communicate broadcast {none} {where} {root} : {types}"

        self.define(stage, shape, op)

    def _routes(self, count: int, is_own: bool) -> tuple[list[list[int]], list[list[int]]] | None:
        """Who each rank sends to, message by message, and who each receives from."""
        ranks = range(self.ranks)
        for _ in range(200):
            targets = [rank for rank in ranks for _ in range(count)]
            self.random.shuffle(targets)
            sent = [targets[at * self.ranks : (at + 1) * self.ranks] for at in range(count)]
            if count == self.ranks and self.random.random() < 0.3:
                sent = [[rank] * self.ranks for rank in ranks]
            sources = [
                [rank for row in sent for rank in ranks if row[rank] == target] for target in ranks
            ]
            if any(len(each) != count for each in sources):
                continue
            if is_own and any(row[rank] == rank for row in sent for rank in ranks):
                continue
            for each in sources:
                if self.random.random() < 0.7:
                    self.random.shuffle(each)
            return sent, [list(row) for row in zip(*sources, strict=True)]
        return None

    def send(self, stage: int) -> None:
        """Messages between ranks of two stages, or of one, as many to each."""
        target = self.random.randrange(self.stages)
        value, shape = self.pick(stage) or ("%x", WHOLE)
        count = self.random.choice([1, 1, 2, self.ranks])
        if not (routes := self._routes(count, is_own=stage == target)):
            return
        for row in routes[0]:
            self.emit(stage, self._message(f"tv.send {value} to", target, row, shape))
        for row in routes[1]:
            self.define(target, shape, self._message("tv.receive from", stage, row, shape))

    def _message(self, text: str, peers: int, row: list[int], shape: Shape) -> ByRank:
        return lambda rank: f"{text} {self.device(peers, row[rank])} : {kind(shape)}"


STEPS = [
    RankedPlan.multiply_weight,
    RankedPlan.combine,
    RankedPlan.gather,
    RankedPlan.cut,
    RankedPlan.cut,
    RankedPlan.compare_tokens,
    RankedPlan.compare_tokens,
    RankedPlan.embed,
    RankedPlan.reduce,
    RankedPlan.reduce_scatter,
    RankedPlan.exchange,
    RankedPlan.broadcast,
    RankedPlan.across,
    RankedPlan.across,
    RankedPlan.start_broadcasts,
    RankedPlan.send,
    RankedPlan.send,
    RankedPlan.send,
    RankedPlan.send,
]
