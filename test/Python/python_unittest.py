# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A lit format for files of `unittest` cases."""

import os

import lit.formats
import lit.Test
import lit.util


class PythonUnitTest(lit.formats.FileBasedTest):
    """Runs a file as a module of the package of its folder."""

    def execute(self, test, lit_config):
        """Passes if at least one case ran and all did well."""
        folder, name = os.path.split(test.getSourcePath())
        root, package = os.path.split(folder)
        module = f"{package}.{os.path.splitext(name)[0]}"
        output, errors, status = lit.util.executeCommand(
            [test.config.python, "-m", "unittest", "-q", module],
            cwd=root,
            env=test.config.environment,
            timeout=lit_config.maxIndividualTestTime,
        )
        if status == 0 and "Ran 0 tests" not in errors:
            return lit.Test.PASS, ""
        return lit.Test.FAIL, output + errors
