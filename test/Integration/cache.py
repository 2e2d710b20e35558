# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Damages the entries of a cache and runs verify-plan: `cache.py WORK`.

What is believed stays as it is; what is not is proved and written again.
"""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

WORK = Path(sys.argv[1])
COMMAND = ["verify-plan", "--reference", WORK / "single.pkl", WORK / "plan.pkl"]


def run() -> list[str]:
    """What verify-plan prints, but for the times."""
    command = [*COMMAND, f"--tv-cache={WORK / 'cache'}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if not line.startswith("  time")]


def main() -> None:
    """Fails if a damaged entry changes anything, or is left as it is."""
    random = Random(1)
    entries = {path: path.read_bytes() for path in sorted((WORK / "cache").glob("*.proof"))}
    assert len(entries) > 20, len(entries)

    def identify() -> list[tuple[int, int]]:
        return [(path.stat().st_ino, path.stat().st_mtime_ns) for path in entries]

    # What is used is not proved, hence not written again.
    before = identify()
    expected = run()
    assert identify() == before
    others = list(entries.values())

    def flip(data: bytes) -> bytes:
        place = random.randrange(len(data))
        return data[:place] + bytes([data[place] ^ (1 << random.randrange(8))]) + data[place + 1 :]

    damages: list[Callable[[bytes], bytes]] = [
        lambda data: data[: random.randrange(len(data))],
        flip,
        lambda data: data + b"\n",
        lambda data: data.replace(b"obligations ", b"obligations 1"),
        lambda data: next(other for other in others if other != data),
        lambda _: b"",
        lambda _: bytes(random.randrange(256) for _ in range(100)),
    ]
    for number, damage in enumerate(damages):
        for path, data in entries.items():
            path.write_bytes(damage(data))
        assert run() == expected, number
        for path, data in entries.items():
            assert path.read_bytes() == data, (number, path)
    assert not list((WORK / "cache").glob("*.tmp"))


if __name__ == "__main__":
    main()
