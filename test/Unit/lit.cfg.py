# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The GoogleTest executables of test/Unit, one lit test for each test case."""

import os

import lit.formats

config.name = "Verify-Unit"
config.test_exec_root = os.path.join(config.verify_build_root, "test", "Unit")
config.test_source_root = config.test_exec_root
config.test_format = lit.formats.GoogleTest(".", "Tests")
for variable in ("HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS", "VERIFY_SHARED_DIR",
                 "VERIFY_PLANS_DIR"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]
suppressions = os.path.join(config.verify_source_root, "test", "thread-sanitizer.supp")
config.environment["TSAN_OPTIONS"] = ":".join(
    [os.environ.get("TSAN_OPTIONS", ""), f"suppressions={suppressions}"]
).lstrip(":")
