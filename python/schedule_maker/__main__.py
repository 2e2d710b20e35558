# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pipeline schedules as plans: `python3 -m schedule_maker write 1f1b --stages 4`.

`write` prints a plan with its reference, with `--mutation NAME` a changed one. `grid`
checks schedules of many sizes and compares the activations that they keep with the
published formulas. `judge` compares verdicts on mutants with an oracle. Exit codes: 0
written, or nothing found; 1 something found; 3 wrong usage.
"""

import argparse
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random

from schedule_maker.grid import Case, Form, cases, check_grid
from schedule_maker.judge import CHECKS, judge_seeds, keep
from schedule_maker.mutations import MUTATIONS
from schedule_maker.overlap import overlap
from schedule_maker.programs import make_program
from schedule_maker.schedules import SCHEDULES, ImpossibleScheduleError
from schedule_maker.text import invalid_use, print_module

FINE, FOUND, WRONG_USAGE = 0, 1, 3
STEP = 400


def _write(options: argparse.Namespace) -> int:
    try:
        schedule = SCHEDULES[options.kind](options.stages, options.micro_batches, options.chunks)
        program = make_program(schedule, options.ranks, options.replicas)
        if options.overlap:
            program = overlap(
                program,
                options.in_order,
                has_events=options.streams,
                has_slots=options.slots,
            )
    except ImpossibleScheduleError as error:
        print(f"schedule_maker: error: {error}", file=sys.stderr)
        return WRONG_USAGE
    if options.mutation:
        changed = MUTATIONS[options.mutation](program, Random(options.seed))
        if changed is None or invalid_use(changed) is not None:
            print("schedule_maker: error: there is no such place", file=sys.stderr)
            return WRONG_USAGE
        program = changed
    print(print_module(program), end="")
    return FINE


def _grid(options: argparse.Namespace) -> int:
    start = time.monotonic()
    chosen = cases(options.stages, options.micro_batches, options.chunks)
    counts: Counter[str] = Counter()
    wrong = 0
    form = Form(options.overlap, options.in_order, options.streams, options.slots)
    for case, message in check_grid(options.tool, chosen, form):
        counts[case.kind] += 1
        if message is not None:
            print(f"FOUND: {_describe(case)}: {message}")
            wrong += 1
    for kind, count in counts.items():
        print(f"{count:8} {kind}")
    seconds = time.monotonic() - start
    print(f"grid: {sum(counts.values())} schedules, {wrong} findings, {seconds:.0f} s")
    return FOUND if wrong or not counts else FINE


def _describe(case: Case) -> str:
    return (
        f"{case.kind}, {case.stages} stages, {case.micro_batches} micro-batches, "
        f"{case.chunks} chunks a stage"
    )


def _judge(options: argparse.Namespace) -> int:
    start = time.monotonic()
    passing: Counter[tuple[bool, ...]] = Counter()
    kinds: Counter[str] = Counter()
    left_out: Counter[str] = Counter()
    found = judged = 0
    last = options.seed + options.count
    for first in range(options.seed, last, STEP):
        results = judge_seeds(options.tool, range(first, min(last, first + STEP)))
        left_out += results.left_out
        judged += len(results.mutants)
        for mutant in results.mutants:
            passing[mutant.should_pass()] += 1
            kinds[mutant.mutation] += 1
        for finding in results.findings:
            found += 1
            path = keep(finding, options.findings)
            title = f"seed {finding.mutant.seed}: {finding.mutant.title}"
            print(f"FOUND: {title}: {finding.check}: {finding.what}: {path}", flush=True)
    # Of these the oracle says that its own claims do not hold.
    claims = ("interleavings differ", "replicas differ", "an order helps")
    found += sum(left_out[claim] for claim in claims)
    for kind, count in sorted(kinds.items()):
        print(f"{count:8} {kind}")
    for number, check in enumerate(CHECKS):
        bad = sum(count for passes, count in passing.items() if not passes[number])
        print(f"{bad:8} have to be refused by {check}, {judged - bad} to pass")
    for reason, count in sorted(left_out.items()):
        print(f"{count:8} left out: {reason}")
    seconds = time.monotonic() - start
    print(
        f"judge: seeds {options.seed} to {last - 1}, {judged} mutants, {found} findings, "
        f"{seconds:.0f} s"
    )
    return FOUND if found or not judged else FINE


def main() -> int:
    """Runs a command; returns its exit code."""
    parser = argparse.ArgumentParser(prog="schedule_maker", description=__doc__)
    commands = parser.add_subparsers(required=True)

    in_order = "with --overlap: as one queue of each device needs it"
    write = commands.add_parser("write", help="print a plan")
    write.add_argument("kind", choices=list(SCHEDULES))
    write.add_argument("--stages", type=int, default=2)
    write.add_argument("--micro-batches", type=int, default=4)
    write.add_argument("--chunks", type=int, default=1, help="of a stage")
    write.add_argument("--ranks", type=int, default=1, help="devices of a stage")
    write.add_argument("--replicas", type=int, default=2)
    write.add_argument(
        "--overlap", action="store_true", help="start communication and wait for it apart"
    )
    write.add_argument("--in-order", action="store_true", help=in_order)
    write.add_argument(
        "--slots", action="store_true", help="with --overlap: receive in scratch memory"
    )
    write.add_argument(
        "--streams", action="store_true", help="with --overlap: streams that wait for each other"
    )
    write.add_argument("--mutation", choices=list(MUTATIONS))
    write.add_argument("--seed", type=int, default=0, help="of the place of the mutation")
    write.set_defaults(run=_write)

    grid = commands.add_parser("grid", help="check schedules of many sizes")
    grid.add_argument("--stages", type=int, nargs="+", default=[1, 2, 3, 4, 8, 16])
    grid.add_argument("--micro-batches", type=int, nargs="+", default=[1, 2, 4, 8, 16, 32, 64])
    grid.add_argument("--chunks", type=int, nargs="+", default=[2, 3, 4, 8])
    grid.add_argument("--overlap", action="store_true", help="with communication that overlaps")
    grid.add_argument("--in-order", action="store_true", help=in_order)
    grid.add_argument("--slots", action="store_true", help="and scratch memory")
    grid.add_argument("--streams", action="store_true", help="and streams")
    grid.add_argument("--tool", default="verify-opt")
    grid.set_defaults(run=_grid)

    judge = commands.add_parser("judge", help="compare verdicts on mutants with an oracle")
    judge.add_argument("--seed", type=int, default=0)
    judge.add_argument("--count", type=int, default=2000)
    judge.add_argument("--tool", default="verify-opt")
    judge.add_argument("--findings", type=Path, default=Path("findings"))
    judge.set_defaults(run=_judge)

    options = parser.parse_args()
    run: int = options.run(options)
    return run


if __name__ == "__main__":
    sys.exit(main())
