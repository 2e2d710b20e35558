# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes of the opcodes of a pickle: files that Python's pickler does not write."""

from __future__ import annotations

import pickletools
import struct
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from random import Random

READS = ("BINGET", "LONG_BINGET")
SCALARS = ("BININT1", "BININT", "BINFLOAT", "NEWTRUE", "NEWFALSE", "NONE")
TEXT = "SHORT_BINUNICODE"
# What makes a list, a dictionary or an object.
LISTS, DICTIONARIES, OBJECTS = ("EMPTY_LIST",), ("EMPTY_DICT",), ("NEWOBJ", "REDUCE")


def read_memo(number: int) -> bytes:
    """The opcode that reads something of the memo."""
    return b"h" + bytes([number]) if number < 256 else b"j" + struct.pack("<I", number)


@dataclass(frozen=True)
class Opcodes:
    """A pickle as its opcodes, without frames."""

    codes: tuple[bytes, ...]
    kinds: tuple[str, ...]
    # Texts of the file, and how much is in its memo at the end.
    names: tuple[str, ...]
    kept: int
    # What MEMOIZE keeps something as, at each place.
    numbers: tuple[int, ...]

    def places(self, *kinds: str) -> list[int]:
        """Where opcodes of some kinds are."""
        return [place for place, kind in enumerate(self.kinds) if kind in kinds]

    def any_place(self, random: Random) -> int:
        """A place behind the number of the protocol and before the end."""
        return random.randrange(2, len(self.codes) - 1)

    def memo(self, random: Random) -> bytes:
        """Reads something of the memo."""
        return read_memo(random.randrange(self.kept))

    def key(self, random: Random) -> bytes:
        """A text of the file."""
        name = random.choice(self.names).encode()
        return b"\x8c" + bytes([len(name)]) + name

    def value(self, random: Random) -> bytes:
        """Any small value."""
        number = struct.pack(">d", random.choice([0.5, 2.0, -0.0]))
        text = random.choice([b"%d", b"0%d", b" %d", b"-%d"]) % random.randrange(40)
        constants = [b"N", b"\x88", b"\x89", b"]", b"}", b")", b"\x8f", b"K\x01", b"\x88"]
        drawn = [self.memo(random), b"K" + bytes([random.randrange(9)]), b"G" + number]
        drawn += [b"I" + text + b"\n", b"L" + text + b"L\n", b"V\\u0041\\\\u0042\n"]
        return random.choice(constants + drawn)


def parse(data: bytes) -> Opcodes:
    """The opcodes of a pickle of protocol 4."""
    found = list(pickletools.genops(data))
    ends = [position or 0 for _, _, position in found[1:]] + [len(data)]
    parts = [
        (opcode.name, data[position or 0 : end], argument)
        for (opcode, argument, position), end in zip(found, ends, strict=True)
        if opcode.name != "FRAME"
    ]
    names = sorted({str(argument) for kind, _, argument in parts if kind == TEXT})
    numbers = list(accumulate((kind == "MEMOIZE" for kind, _, _ in parts), initial=0))
    return Opcodes(
        tuple(code for _, code, _ in parts),
        tuple(kind for kind, _, _ in parts),
        tuple(name for name in names if len(name.encode()) < 60),
        numbers[-1],
        tuple(numbers[:-1]),
    )


# What replaces ranges of opcodes: where each begins and ends, and the bytes.
Edit = tuple[int, int, bytes]
Edits = list[Edit]


def later(file: Opcodes, place: int, change: bytes, random: Random) -> Edits:
    """Changes what an opcode made, most often soon after it was used."""
    uses = [at + 1 for at in file.places(*OBJECTS, "BUILD") if place < at][:4]
    is_any = not uses or random.random() < 0.2
    after = random.randrange(place + 2, len(file.codes)) if is_any else random.choice(uses)
    if file.kinds[after] == "MEMOIZE":
        after += 1
    return [(after, after, read_memo(file.numbers[place + 1]) + change + b"0")]


def choose(file: Opcodes, random: Random, *kinds: str) -> int:
    """An opcode that makes something of the memo."""
    return random.choice([at for at in file.places(*kinds) if file.kinds[at + 1] == "MEMOIZE"])


def set_item(file: Opcodes, random: Random) -> Edits:
    """An entry of a dictionary or an object changes after that was made."""
    place = choose(file, random, *(DICTIONARIES if random.random() < 0.9 else OBJECTS))
    near = [at for at in range(place, min(place + 12, len(file.codes))) if file.kinds[at] == TEXT]
    key = file.codes[random.choice(near)] if near else file.key(random)
    return later(file, place, key + file.value(random) + b"s", random)


def append(file: Opcodes, random: Random) -> Edits:
    """A list or an object grows after it was made."""
    place = choose(file, random, *(LISTS if random.random() < 0.9 else OBJECTS))
    return later(file, place, file.value(random) + b"a", random)


def build(file: Opcodes, random: Random) -> Edits:
    """An object gets one more state."""
    state = b"}(" + file.key(random) + file.value(random) + b"ub"
    return later(file, choose(file, random, *OBJECTS), state, random)


def repeat_key(file: Opcodes, random: Random) -> Edits:
    """A dictionary has an entry once more: small ones are those of keywords."""
    ends = random.sample(file.places("SETITEMS"), 3)
    begins = [max(at for at in file.places("MARK") if at < end) for end in ends]
    begin, end = min(zip(begins, ends, strict=True), key=lambda pair: pair[1] - pair[0])
    place = begin + 1 if random.random() < 0.5 else end
    return [(place, place, file.codes[begin + 1] + file.value(random))]


def drop(file: Opcodes, random: Random) -> Edits:
    """An opcode is left out."""
    place = file.any_place(random)
    return [(place, place + 1, b"")]


def swap(file: Opcodes, random: Random) -> Edits:
    """Two opcodes are exchanged."""
    place = file.any_place(random)
    return [(place, place + 2, file.codes[place + 1] + file.codes[place])]


def reference(file: Opcodes, random: Random) -> Edits:
    """Something else of the memo is read."""
    place = random.choice(file.places(*READS))
    return [(place, place + 1, file.memo(random))]


def scalar(file: Opcodes, random: Random) -> Edits:
    """A number, truth value or None is something else."""
    place = random.choice(file.places(*SCALARS))
    return [(place, place + 1, file.value(random))]


def repeat(file: Opcodes, random: Random) -> Edits:
    """Some opcodes are there once more, anywhere."""
    place, first = file.any_place(random), file.any_place(random)
    return [(place, place, b"".join(file.codes[first : first + random.randrange(1, 6)]))]


MUTATIONS: dict[str, Callable[[Opcodes, Random], Edits]] = {
    "entry": set_item,
    "element": append,
    "state": build,
    "key twice": repeat_key,
    "drop": drop,
    "swap": swap,
    "memo": reference,
    "scalar": scalar,
    "repeat": repeat,
}


def mutate(file: Opcodes, random: Random) -> tuple[bytes, list[str]]:
    """A pickle with one or two changes, and their kinds."""
    codes = list(file.codes)
    kinds = random.choices(list(MUTATIONS), k=random.choice((1, 1, 1, 2)))
    for kind in kinds:
        for begin, end, code in MUTATIONS[kind](file, random):
            # Places stay what they are.
            for place in range(begin, end):
                codes[place] = b""
            codes[begin] = code + codes[begin]
    return b"".join(codes), kinds
