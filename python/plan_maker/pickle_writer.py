# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pickle opcodes (protocol 4) for objects of classes that need not exist.

The standard pickler looks every class up; this writer takes classes as names. It
keeps its own stack of what is left to write, so that neither the depth nor the
cycles of an object graph matter, asks for an object's state only when it is
about to write it, and passes finished frames on, so that the size of the file
does not matter either.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import BinaryIO, TypeAlias

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
class _Raw:
    """Opcodes to write as they are."""

    opcodes: bytes


PickleValue: TypeAlias = (
    "bool | int | float | str | slice | tuple[PickleValue, ...] | list[PickleValue]"
    " | dict[PickleValue, PickleValue] | Global | Instance | OrderedMapping | None"
)
_Pending: TypeAlias = "PickleValue | _Raw"

_SLICE = Global("builtins", "slice")
_ORDERED_DICT = Global("collections", "OrderedDict")
_BUILD = _Raw(pickle.BUILD)
_APPENDS = _Raw(pickle.APPENDS)
_SETITEMS = _Raw(pickle.SETITEMS)
_REDUCE = _Raw(pickle.REDUCE)
_REDUCE_WITHOUT_ARGUMENTS = _Raw(pickle.EMPTY_TUPLE + pickle.REDUCE)
_MARK = _Raw(pickle.MARK)
_TUPLES = {1: _Raw(pickle.TUPLE1), 2: _Raw(pickle.TUPLE2), 3: _Raw(pickle.TUPLE3)}
_TUPLE = _Raw(pickle.TUPLE)


class PickleWriter:
    """Writes one pickle to `stream`."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._frame = bytearray()
        self._memo: dict[object, int] = {}
        self._pending: list[_Pending] = []

    def write(self, root: PickleValue) -> None:
        """Writes the whole pickle."""
        self._stream.write(pickle.PROTO + bytes([4]))
        self._pending.append(root)
        while self._pending:
            self._write_next(self._pending.pop())
            if len(self._frame) >= FRAME_BYTES:
                self._flush()
        self._frame += pickle.STOP
        self._flush()

    def _write_next(self, value: _Pending) -> None:
        # By frequency in plans.
        if isinstance(value, _Raw):
            self._frame += value.opcodes
        elif isinstance(value, str):
            self._write_text(value)
        elif value is None:
            self._frame += pickle.NONE
        elif isinstance(value, bool):
            self._frame += pickle.NEWTRUE if value else pickle.NEWFALSE
        elif isinstance(value, int):
            self._frame += _integer(value)
        elif isinstance(value, tuple):
            self._push_tuple(value)
        elif isinstance(value, Instance):
            self._push_instance(value)
        elif isinstance(value, list):
            self._frame += pickle.EMPTY_LIST
            self._push_items(value, _APPENDS)
        elif isinstance(value, dict):
            self._frame += pickle.EMPTY_DICT
            self._push_items(_flatten(value.items()), _SETITEMS)
        elif isinstance(value, Global):
            self._write_global(value)
        elif isinstance(value, slice):
            self._pending += [_REDUCE, (value.start, value.stop, value.step), _SLICE]
        elif isinstance(value, float):
            self._frame += pickle.BINFLOAT + struct.pack(">d", value)
        else:
            self._push_items(_flatten(value.items), _SETITEMS)
            self._pending += [_REDUCE_WITHOUT_ARGUMENTS, _ORDERED_DICT]

    def _push_items(self, items: list[PickleValue], end: _Raw) -> None:
        if items:
            self._pending.append(end)
            self._pending += reversed(items)
            self._pending.append(_MARK)

    def _push_tuple(self, value: tuple[PickleValue, ...]) -> None:
        if not value:
            self._frame += pickle.EMPTY_TUPLE
            return
        if len(value) > 3:
            self._frame += pickle.MARK
        self._pending.append(_TUPLES.get(len(value), _TUPLE))
        self._pending += reversed(value)

    def _push_instance(self, value: Instance) -> None:
        key = ("instance", value.key)
        if self._get(key):
            return
        self._write_global(value.type)
        self._frame += pickle.EMPTY_TUPLE + pickle.NEWOBJ
        self._memoize(key)
        self._frame += pickle.EMPTY_DICT
        self._pending.append(_BUILD)
        self._push_items(_flatten(value.state().items()), _SETITEMS)

    def _write_global(self, value: Global) -> None:
        if self._get(value):
            return
        self._write_text(value.module)
        self._write_text(value.name)
        self._frame += pickle.STACK_GLOBAL
        self._memoize(value)

    def _write_text(self, value: str) -> None:
        if self._get(value):
            return
        data = value.encode("utf-8")
        if len(data) < 256:
            self._frame += pickle.SHORT_BINUNICODE + bytes([len(data)])
        else:
            self._frame += pickle.BINUNICODE + struct.pack("<I", len(data))
        self._frame += data
        self._memoize(value)

    def _get(self, key: object) -> bool:
        """Refers to what was written as `key`, if it was."""
        index = self._memo.get(key)
        if index is None:
            return False
        if index < 256:
            self._frame += pickle.BINGET + bytes([index])
        else:
            self._frame += pickle.LONG_BINGET + struct.pack("<I", index)
        return True

    def _memoize(self, key: object) -> None:
        self._memo[key] = len(self._memo)
        self._frame += pickle.MEMOIZE

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
