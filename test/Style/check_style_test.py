# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each rule of scripts/check-style.py finds the file that breaks it."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = sys.argv.pop()
SPDX = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
HEADING = "//===- {0} - what it is ---===//\n// " + SPDX + "\n"
GUARD = "#ifndef {0}\n#define {0}\n"


def findings(name: str, text: str) -> list[str]:
    """The messages for a file `name` that holds `text`."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        done = subprocess.run(
            [sys.executable, SCRIPT, name],
            cwd=folder,
            check=False,
            capture_output=True,
            text=True,
        )
    messages = [line.split(": ", 1)[1] for line in done.stdout.splitlines()]
    assert done.returncode == bool(messages), done
    return messages


class Rules(unittest.TestCase):
    """One case for each rule; `finds` takes the file and part of the message."""

    def finds(self, message: str, name: str, text: str) -> None:
        found = findings(name, text)
        self.assertEqual(len(found), 1, found)
        self.assertIn(message, found[0])

    def test_clean_file(self):
        self.assertEqual(findings("A.cpp", HEADING.format("A.cpp")), [])

    def test_long_file(self):
        self.finds("split it", "A.cpp", HEADING.format("A.cpp") + "// x\n" * 499)

    def test_drawer(self):
        name = "StringUtils.cpp"
        self.finds("says nothing", name, HEADING.format(name))
        self.finds("says nothing", "helpers/A.cpp", HEADING.format("A.cpp"))

    def test_drawer_class(self):
        text = HEADING.format("A.cpp") + "class GraphManager" + " {};\n"
        self.finds("says nothing", "A.cpp", text)

    def test_heading(self):
        self.finds("does not open", "A.cpp", HEADING.format("B.cpp"))

    def test_header_guard(self):
        text = HEADING.format("A.h") + GUARD.format("VERIFY_A_H")
        self.finds("no header guard VERIFY_LIB_IR_A_H", "lib/IR/A.h", text)
        self.finds("no header guard VERIFY_IR_A_H", "include/Verify/IR/A.h", text)

    def test_licence(self):
        self.finds("SPDX", "a.py", "x = 1\n")

    def test_whitespace(self):
        self.finds("trailing", "a.md", "x \n")
        self.finds("a tab", "a.md", "x\ty\n")
        self.finds("at the end", "a.md", "x\n\n")
        self.finds("no newline", "a.md", "x")

    def test_dead_check(self):
        self.finds("without FileCheck", "a.mlir", "// RUN: x\n// CH" "ECK: y\n")

    def test_dead_expectation(self):
        text = "// RUN: x\n// expec" "ted-error {{y}}\n"
        self.finds("without -verify-diagnostics", "a.mlir", text)

    def test_no_run_line(self):
        self.finds("without a RUN line", "a.mlir", "module {}\n")

    def test_z3_boundary(self):
        text = HEADING.format("A.cpp") + "#include" ' "z3++.h"\n'
        self.finds("includes Z3", "lib/IR/A.cpp", text)
        self.assertEqual(findings("lib/Solver/A.cpp", text), [])

    def test_task_without_issue(self):
        text = HEADING.format("A.cpp") + "// TO" "DO: later\n"
        self.finds("names an issue", "A.cpp", text)
        text = HEADING.format("A.cpp") + "// TO" "DO(#12): later\n"
        self.assertEqual(findings("A.cpp", text), [])

    def test_angle_include(self):
        text = HEADING.format("A.cpp") + "#include" " <mlir/IR/Value.h>\n"
        self.finds("include with", "A.cpp", text)

    def test_using_namespace(self):
        text = HEADING.format("A.h") + GUARD.format("VERIFY_A_H")
        self.assertEqual(findings("A.h", text), [])
        self.finds("qualified", "A.h", text + "using namespace" " llvm;\n")

    def test_glob(self):
        self.finds("explicitly", "CMakeLists.txt", "file" "(GLOB x *.cpp)\n")

    def test_machine_path(self):
        self.finds("somebody's machine", "a.md", "see /ho" "me/me/x\n")

    def test_large_file(self):
        self.finds("larger", "a.md", "x\n" * (1 << 20))


if __name__ == "__main__":
    unittest.main()
