# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command line: what it refuses, in which words, with which exit code."""

from __future__ import annotations

import contextlib
import io
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from plan_maker.bugs import BUGS
from plan_maker.command_line import main

IMPOSSIBLE = {
    "llama --heads 6": "--hidden 64 is not divisible by --heads 6",
    "llama --heads 64": "--hidden 64 over --heads 64 gives a head size of 1; rotary embedding "
    "needs an even one",
    "llama --heads 2 --tp 4": "--heads 2 is not divisible by --tp 4",
    "llama --ffn 6 --tp 4": "--ffn 6 is not divisible by --tp 4",
    "llama --batch 10 --dp 4": "--batch 10 is not divisible by --dp 4 x --micro-batches 1",
    "llama --batch 8 --dp 4 --tp 4 --tp-style batch": "--tp-style batch: --batch 8 is not "
    "divisible by --dp 4 x --micro-batches 1 x --tp 4",
    "llama --layers 0": "--layers 0: must be at least 1",
    "llama --pp 0": "--pp 0: must be at least 1",
    "llama --pp 3": "--layers 2 is fewer than --pp 3: say with --layers-per-stage which stage "
    "has none",
    "llama --pp 2 --layers-per-stage 1,2": "--layers-per-stage 1,2 does not add up to --layers 2",
    "llama --pp 2 --layers-per-stage 2": "--layers-per-stage 2 lists 1 stages, --pp is 2",
    "llama --pp 3 --layers-per-stage 1,0,1": "--layers-per-stage 1,0,1: only the first and the "
    "last stage can be without layers",
    "mlp --hidden 6 --tp 4": "--hidden 6 is not divisible by --tp 4",
    "mlp --pp 2 --layers-per-stage 0,2": "--layers-per-stage: the first stage of an mlp has a "
    "layer",
    "llama --tp-style mixed": "--tp-style mixed: not for a llama, only for gpt",
    "mlp --tp-style sequence": "--tp-style sequence: not for an mlp, only for gpt",
    "gpt --tp 8 --sequence 4 --heads 8 --tp-style sequence": "--sequence 4 is not divisible by "
    "--tp 8",
    "gpt --batch 2 --tp 4 --tp-style mixed": "--tp-style mixed: --batch 2 is not divisible by "
    "--dp 1 x --micro-batches 1 x --tp 4",
    "gpt --split-vocabulary --tp-style mixed": "--split-vocabulary: --tp-style mixed splits no "
    "embedding by rows",
    "gpt --split-vocabulary --vocab 7 --tp 2": "--vocab 7 is not divisible by --tp 2",
    "llama-moe --experts 6": "--experts 6 is not divisible by --expert-groups 4",
    "llama-moe --tp 2 --experts 5 --expert-groups 1 --active-groups 1": "--experts 5 is not "
    "divisible by --tp 2",
    "llama-moe --tp 2 --expert-ffn 5 --expert-split inner": "--expert-ffn 5 is not divisible by "
    "--tp 2",
    "llama-moe --tp 3 --heads 3 --hidden 66 --ffn 33 --batch 1 --expert-split tokens": "tokens of "
    "a micro-batch 16 is not divisible by --tp 3",
    "llama-moe --active-groups 5": "--active-groups 5 is more than --expert-groups 4",
    "llama-moe --active-experts 5": "--active-experts 5: --active-groups 2 have 4 experts",
    "llama-moe --dense-layers 2": "--dense-layers 2: of --layers 2 at least one has experts",
    "llama-moe --shared-experts 0": "--shared-experts 0: must be at least 1",
    "llama-moe --tp-style mixed": "--tp-style mixed: not for a llama-moe, only for gpt",
    "llama --tp-style all-to-all --sequence 6 --tp 4": "--sequence 6 is not divisible by --tp 4",
    "llama --tp-style all-to-all --heads 2 --tp 4": "--heads 2 is not divisible by --tp 4",
    "mlp --tp-style context": "--tp-style context: an mlp has no positions",
    "gpt --tp-style context": "--tp-style context: the attention of a gpt is one op, which takes "
    "whole positions",
    "llama --tp-style context --split-vocabulary": "--split-vocabulary: --tp-style context splits "
    "no embedding by rows",
    "llama --virtual-stages 2": "--virtual-stages 2 takes --pp of 2 or more",
    "llama --pp 2 --virtual-stages 2": "--layers 2 is fewer than --pp 2 x --virtual-stages 2: say "
    "with --layers-per-stage which stage has none",
    "llama --pp 2 --virtual-stages 2 --layers-per-stage 1,1": "--layers-per-stage 1,1 lists 2 "
    "stages, --pp is 2 x --virtual-stages 2",
    "gpt --pp 2 --tp 2 --part-order scattered": "--part-order scattered takes --pp of 2 or more "
    "and an even --tp of 4 or more",
    "mlp --bug nothing": "--bug nothing: no such bug, --list-bugs lists them",
    "mlp --bug swapped-operands": "--bug swapped-operands: there is no backward op of a rotary "
    "embedding in this plan",
    "llama --tp 2 --bug wrong-group --bug-device 2": "--bug-device 2: the plan has devices 0 to 1",
    "llama --tp 2 --bug wrong-group --bug-layer 5": "--bug wrong-group: there is no forward "
    "all-reduce in layer 5",
    "llama --dp 2 --bug missing-reducer --bug-number 5": "--bug missing-reducer: there is no "
    "gradient reducer (it takes --dp of 2 or more, or --tp-style batch) number 5",
    "llama --dp 2 --bug missing-reducer --bug-number -1": "--bug-number -1: must be at least 0",
    "llama --bug doubled-gradient --bug-micro-batch 1": "--bug doubled-gradient: "
    "--bug-micro-batch 1: the plan has micro-batches 0 to 0",
    "llama --bug missing-reducer --bug-micro-batch 0": "--bug missing-reducer has no choice of "
    "--bug-micro-batch",
    "llama --bug missing-reducer --bug-layer 0": "--bug missing-reducer has no choice of "
    "--bug-layer",
}


def run(*arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error."""
    out, error = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        try:
            code = main(arguments)
        except SystemExit as leave:
            code = leave.code if isinstance(leave.code, int) else 1
    return code, out.getvalue(), error.getvalue()


class CommandLine(unittest.TestCase):
    def test_impossible_plans(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for arguments, message in IMPOSSIBLE.items():
                with self.subTest(arguments):
                    output = Path(folder, "plan.pkl")
                    code, _, error = run(*arguments.split(), "-o", str(output))
                    self.assertEqual((code, error), (3, f"verify-make-plan: error: {message}\n"))
                    self.assertFalse(output.exists())

    def test_wrong_usage(self) -> None:
        for arguments in ([], ["mlp"], ["mlp", "-o"], ["mlp", "--tp", "x"], ["bert"]):
            with self.subTest(" ".join(arguments)):
                code, _, error = run(*arguments)
                self.assertEqual(code, 3)
                self.assertIn("usage: verify-make-plan", error)

    def test_contradictions(self) -> None:
        for arguments, message in (
            ("mlp -o a.pkl --reference ./a.pkl", "-o and --reference are one file"),
            ("mlp -o a.pkl --bug-device 1", "--bug-device takes --bug"),
            ("mlp -o a.pkl --bug-number 0", "--bug-number takes --bug"),
            ("mlp -o a.pkl --describe-bug b.json", "--describe-bug takes --bug"),
        ):
            with self.subTest(arguments):
                code, _, error = run(*arguments.split())
                self.assertEqual(code, 3)
                self.assertIn(f"error: {message}\n", error)

    def test_unwritable(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "none", "plan.pkl")
            code, _, error = run("mlp", "-o", str(path))
            message = f"verify-make-plan: error: {path}: No such file or directory\n"
            self.assertEqual((code, error), (1, message))
            # Nothing is made for a reference that cannot be written.
            path = Path(folder)
            plan = path / "plan.pkl"
            code, _, error = run("mlp", "-o", str(plan), "--reference", str(path))
            message = f"verify-make-plan: error: {path}: Is a directory\n"
            self.assertEqual((code, error, plan.exists()), (1, message, False))

    def test_terminated(self) -> None:
        for number in (signal.SIGTERM, signal.SIGINT):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "plan.pkl")
                command = [sys.executable, "-m", "plan_maker", "llama", "--layers", "200", "-o"]
                with subprocess.Popen([*command, str(path)]) as process:
                    while process.poll() is None and not list(path.parent.iterdir()):
                        time.sleep(0.01)
                    process.send_signal(number)
                self.assertEqual(process.returncode, 128 + number)
                self.assertEqual(list(path.parent.iterdir()), [])

    def test_list_of_bugs(self) -> None:
        for arguments in (["--list-bugs"], ["mlp", "--list-bugs"], ["gpt", "--list-bugs"]):
            code, out, _ = run(*arguments)
            self.assertEqual(code, 0)
            names = [line for line in out.splitlines() if not line.startswith(" ")]
            self.assertEqual(names, [bug.name for bug in BUGS])

    def test_list_that_nobody_reads(self) -> None:
        command = [sys.executable, "-m", "plan_maker", "--list-bugs"]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdout=pipe, stderr=pipe) as process:
            assert process.stdout and process.stderr
            process.stdout.close()
            self.assertEqual(process.stderr.read(), b"")
        self.assertEqual(process.returncode, -signal.SIGPIPE)

    def test_help(self) -> None:
        for arguments in (
            ["--help"],
            ["mlp", "--help"],
            ["llama-moe", "--help"],
            ["gpt", "--help"],
        ):
            code, out, _ = run(*arguments)
            self.assertEqual(code, 0)
            self.assertIn("usage: verify-make-plan", out)


if __name__ == "__main__":
    unittest.main()
