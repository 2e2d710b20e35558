# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pickle opcodes (protocol 4) for objects of classes that need not exist.

The standard pickler looks every class up; this writer takes classes as names. Apart
from that it writes what the standard one does: every container is memoized, and one
tuple is written once. It keeps its own stack of what is left to write, so that neither
the depth nor the cycles of an object graph matter, asks for an object's state only when
it is about to write it, and passes finished frames on, so that the size of the file
does not matter either.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, TypeAlias

FRAME_BYTES = 64 * 1024


@dataclass(frozen=True)
class Global:
    """A class or function, by name."""

    module: str
    name: str


@dataclass(frozen=True)
class Instance:
    """An object of `type`. Instances with equal keys are one object in the file;
    `state` gives its fields and is called once.
    """

    key: object
    type: Global
    state: Callable[[], Mapping[str, PickleValue]]


@dataclass(frozen=True)
class OrderedMapping:
    """A `collections.OrderedDict`."""

    items: tuple[tuple[PickleValue, PickleValue], ...]


@dataclass(frozen=True)
class Table:
    """A `dict` with objects for keys."""

    items: list[tuple[PickleValue, PickleValue]]


@dataclass(frozen=True)
class SetOf:
    """A `set`."""

    items: list[PickleValue]


@dataclass(frozen=True)
class Member:
    """The member of an enumeration that has a value."""

    of: Global
    value: str


@dataclass(frozen=True)
class _TupleEnd:
    """Makes a tuple of what was written last."""

    value: tuple[PickleValue, ...]


PickleValue: TypeAlias = (
    "bool | int | float | str | slice | tuple[PickleValue, ...] | list[PickleValue]"
    " | dict[PickleValue, PickleValue] | Global | Instance | OrderedMapping | Table | SetOf"
    " | Member | None"
)
_Pending: TypeAlias = "PickleValue | bytes | _TupleEnd"
"""A value, or what to do when everything before it is written: opcodes as they are."""

_SLICE = Global("builtins", "slice")
_ORDERED_DICT = Global("collections", "OrderedDict")
_REDUCE_WITHOUT_ARGUMENTS = pickle.EMPTY_TUPLE + pickle.REDUCE
_TUPLES = {1: pickle.TUPLE1, 2: pickle.TUPLE2, 3: pickle.TUPLE3}
_BOOLEANS = {False: pickle.NEWFALSE, True: pickle.NEWTRUE}


class PickleWriter:
    """Writes one pickle to `stream`."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._frame = bytearray()
        # The opcodes that refer to what was written.
        self._values: dict[str | Global | Member, bytes] = {}
        self._instances: dict[object, bytes] = {}
        # By identity; the tuple is kept, so that no other one takes its place.
        self._tuples: dict[int, tuple[bytes, tuple[PickleValue, ...]]] = {}
        self._memoized = 0
        self._pending: list[_Pending] = []
        self._writers: dict[type, Callable[[Any], None]] = {
            str: self._write_text,
            bool: lambda value: self._frame.extend(_BOOLEANS[value]),
            int: lambda value: self._frame.extend(_integer(value)),
            tuple: self._push_tuple,
            _TupleEnd: self._end_tuple,
            Instance: self._push_instance,
            list: self._push_list,
            dict: self._push_dictionary,
            Global: self._write_global,
            slice: self._push_slice,
            float: lambda value: self._frame.extend(pickle.BINFLOAT + struct.pack(">d", value)),
            OrderedMapping: self._push_ordered,
            Table: self._push_table,
            SetOf: self._push_set,
            Member: self._write_member,
        }

    def write(self, root: PickleValue) -> None:
        """Writes the whole pickle."""
        self._stream.write(pickle.PROTO + bytes([4]))
        pending, frame, writers = self._pending, self._frame, self._writers
        pending.append(root)
        while pending:
            value = pending.pop()
            if type(value) is bytes:
                frame += value
            elif value is None:
                frame += pickle.NONE
            else:
                writers[type(value)](value)
            if len(frame) >= FRAME_BYTES:
                self._flush()
        frame += pickle.STOP
        self._flush()

    def _push_items(self, items: list[PickleValue], one: bytes, several: bytes, size: int) -> None:
        """Elements of a container, `size` values each: one goes without a mark."""
        if not items:
            return
        if len(items) == size and one:
            self._pending.append(one)
            self._pending += reversed(items)
            return
        self._pending.append(several)
        self._pending += reversed(items)
        self._pending.append(pickle.MARK)

    def _push_list(self, value: list[PickleValue]) -> None:
        self._frame += pickle.EMPTY_LIST
        self._memoize()
        self._push_items(value, pickle.APPEND, pickle.APPENDS, 1)

    def _push_pairs(self, items: Iterable[tuple[PickleValue, PickleValue]]) -> None:
        self._push_items(_flatten(items), pickle.SETITEM, pickle.SETITEMS, 2)

    def _push_dictionary(self, value: Mapping[PickleValue, PickleValue]) -> None:
        self._frame += pickle.EMPTY_DICT
        self._memoize()
        self._push_pairs(value.items())

    def _push_table(self, value: Table) -> None:
        self._frame += pickle.EMPTY_DICT
        self._memoize()
        self._push_pairs(value.items)

    def _push_set(self, value: SetOf) -> None:
        self._frame += pickle.EMPTY_SET
        self._memoize()
        self._push_items(value.items, b"", pickle.ADDITEMS, 1)

    def _push_ordered(self, value: OrderedMapping) -> None:
        self._write_global(_ORDERED_DICT)
        self._frame += _REDUCE_WITHOUT_ARGUMENTS
        self._memoize()
        self._push_pairs(value.items)

    def _push_slice(self, value: slice) -> None:
        self._pending += [pickle.REDUCE, (value.start, value.stop, value.step), _SLICE]

    def _push_tuple(self, value: tuple[PickleValue, ...]) -> None:
        if not value:
            self._frame += pickle.EMPTY_TUPLE
            return
        known = self._tuples.get(id(value))
        if known is not None:
            self._frame += known[0]
            return
        if len(value) > 3:
            self._frame += pickle.MARK
        self._pending.append(_TupleEnd(value))
        self._pending += reversed(value)

    def _end_tuple(self, end: _TupleEnd) -> None:
        value = end.value
        self._frame += _TUPLES.get(len(value), pickle.TUPLE)
        self._tuples[id(value)] = (self._memoize(), value)

    def _write_member(self, value: Member) -> None:
        known = self._values.get(value)
        if known is not None:
            self._frame += known
            return
        self._write_global(value.of)
        self._write_text(value.value)
        self._frame += pickle.TUPLE1
        self._memoize()
        self._frame += pickle.REDUCE
        self._values[value] = self._memoize()

    def _push_instance(self, value: Instance) -> None:
        known = self._instances.get(value.key)
        if known is not None:
            self._frame += known
            return
        self._write_global(value.type)
        self._frame += pickle.EMPTY_TUPLE + pickle.NEWOBJ
        self._instances[value.key] = self._memoize()
        self._pending.append(pickle.BUILD)
        self._frame += pickle.EMPTY_DICT
        self._memoize()
        self._push_pairs(value.state().items())

    def _write_global(self, value: Global) -> None:
        known = self._values.get(value)
        if known is not None:
            self._frame += known
            return
        self._write_text(value.module)
        self._write_text(value.name)
        self._frame += pickle.STACK_GLOBAL
        self._values[value] = self._memoize()

    def _write_text(self, value: str) -> None:
        known = self._values.get(value)
        if known is not None:
            self._frame += known
            return
        data = value.encode("utf-8")
        if len(data) < 256:
            self._frame += pickle.SHORT_BINUNICODE + bytes([len(data)])
        else:
            self._frame += pickle.BINUNICODE + struct.pack("<I", len(data))
        self._frame += data
        self._values[value] = self._memoize()

    def _memoize(self) -> bytes:
        """Keeps what was just written, and gives the opcodes that refer to it."""
        index = self._memoized
        self._memoized += 1
        self._frame += pickle.MEMOIZE
        if index < 256:
            return pickle.BINGET + bytes([index])
        return pickle.LONG_BINGET + struct.pack("<I", index)

    def _flush(self) -> None:
        self._stream.write(pickle.FRAME + struct.pack("<Q", len(self._frame)))
        self._stream.write(self._frame)
        self._frame.clear()


def _flatten(items: Iterable[tuple[PickleValue, PickleValue]]) -> list[PickleValue]:
    return [value for item in items for value in item]


def _integer(value: int) -> bytes:
    if 0 <= value < 1 << 8:
        return pickle.BININT1 + bytes([value])
    if 0 <= value < 1 << 16:
        return pickle.BININT2 + struct.pack("<H", value)
    if -(1 << 31) <= value < 1 << 31:
        return pickle.BININT + struct.pack("<i", value)
    data = pickle.encode_long(value)
    return pickle.LONG1 + bytes([len(data)]) + data
