# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a timeline, one line for each device.

usage: timeline.py FILE

Then one line for what was started there. Fails if two other events of a device overlap.
"""

import itertools
import json
import sys
from pathlib import Path
from typing import Any

STEP = 1000


def describe(event: dict[str, Any]) -> str:
    """Category, time in steps, and what is written on it."""
    start, end = event["ts"] // STEP, (event["ts"] + event["dur"]) // STEP
    title = "" if event["cat"] == "wait" else f" {event['name']}"
    return f"{event['cat']} {start}-{end}{title}"


def main() -> int:
    """Prints; 1 if events overlap."""
    events = json.loads(Path(sys.argv[1]).read_text("utf-8"))["traceEvents"]
    rows = {event["tid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    for row, name in rows.items():
        spans = [event for event in events if event["ph"] == "X" and event["tid"] == row]
        print(f"{name}: {'; '.join(map(describe, spans))}")
        ends = {event["id"]: event["ts"] for event in events if event["ph"] == "e"}
        started = [event for event in events if event["ph"] == "b" and event["tid"] == row]
        started = [{**event, "dur": ends[event["id"]] - event["ts"]} for event in started]
        if started:
            print(f"{name}: {'; '.join(map(describe, started))}")
        for before, after in itertools.pairwise(spans):
            if before["ts"] + before["dur"] > after["ts"]:
                print(f"{name}: {describe(after)} starts too early")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
