# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Python unit tests, one lit test for each file of python/tests."""

import os
import sys

sys.path.insert(0, os.path.dirname(__file__))
from python_unittest import PythonUnitTest

config.name = "Verify-Python"
config.test_source_root = os.path.join(
    config.verify_source_root, "python", "tests"
)
config.test_exec_root = os.path.join(config.verify_build_root, "test", "Python")
config.test_format = PythonUnitTest()
config.suffixes = [".py"]
config.excludes = [
    name
    for name in os.listdir(config.test_source_root)
    if not name.startswith("test_")
]
config.environment["PATH"] = os.pathsep.join(
    [config.verify_tools, config.llvm_tools, os.environ["PATH"]]
)
config.environment["PYTHONPATH"] = os.path.join(
    config.verify_source_root, "python"
)
config.environment["PYTHONPYCACHEPREFIX"] = os.path.join(
    config.verify_build_root, "pycache"
)
if "VERIFY_SHARED_DIR" in os.environ:
    config.environment["VERIFY_SHARED_DIR"] = os.environ["VERIFY_SHARED_DIR"]
