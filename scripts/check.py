#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builds and runs the test suite of a build folder, and counts what ran.

usage: scripts/check.py BUILD

The last line is `N passed, N failed, N skipped`; the lines before it name the
tests that did not run, and why.
"""

import json
import os
import re
import subprocess
import sys
from collections import defaultdict

PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}
MISSING_FEATURES = "unavailable features: "
MEANING = {
    "fuzzers": "the compiler has no libFuzzer",
    "thorough": "they take minutes (VERIFY_THOROUGH=1 runs them)",
    "shared-plans, thorough": "they take minutes, and real plans are not there",
    "shared-plans": "real plans are not there "
    "(VERIFY_SHARED_DIR names their folder; default ../shared)",
    "shared-frontier": "real plans of thousands of devices are not there",
}


def build_fuzzers() -> str:
    """The folder of the fuzzers; "" if they cannot be built."""
    source = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    folder = os.path.join(source, "build", "fuzz", "test", "Fuzz")
    for step in (["cmake", "--preset", "fuzz"], ["cmake", "--build", "--preset", "fuzz"]):
        if subprocess.run(step, check=False, cwd=source).returncode != 0:
            return ""
    return folder


def run_suite(build: str, results: str) -> int:
    """Builds what the tests need and runs lit, which writes `results`."""
    if os.path.exists(results):
        os.remove(results)
    options = os.environ.get("LIT_OPTS", "")
    environment = os.environ | {"LIT_OPTS": f"{options} --output={results}"}
    build_all = ["cmake", "--build", build]
    status = subprocess.run(build_all, check=False).returncode
    if status == 0 and os.environ.get("VERIFY_FUZZ"):
        environment["VERIFY_FUZZERS"] = build_fuzzers()
    if status == 0:
        status = subprocess.run(
            [*build_all, "--target", "check-verify"],
            check=False,
            env=environment,
        ).returncode
    return status


def reason(test: dict) -> str:
    """Why a test did not run, from lit's output about it."""
    found = re.search(MISSING_FEATURES + "(.*)", test["output"])
    missing = found.group(1).strip() if found else "no reason given"
    return MEANING.get(missing, missing)


def print_skipped(tests: list[dict]) -> None:
    """Names the tests that did not run, by reason."""
    by_reason = defaultdict(list)
    for test in tests:
        by_reason[reason(test)].append(test["name"])
    for why, names in sorted(by_reason.items()):
        print(f"NOT RUN, {len(names)} tests: {why}")
        for name in sorted(names):
            print(f"  {name}")


def main() -> int:
    """Runs the suite and returns the exit code."""
    build = os.path.abspath(sys.argv[1])
    results = os.path.join(build, "test", "results.json")
    status = run_suite(build, results)
    if not os.path.exists(results):
        print("error: the build failed, no test ran")
        return status or 1
    with open(results, encoding="utf-8") as file:
        tests = json.load(file)["tests"]
    skipped = [test for test in tests if test["code"] in SKIPPED]
    passed = sum(test["code"] in PASSED for test in tests)
    failed = len(tests) - passed - len(skipped)
    print_skipped(skipped)
    print(f"{passed} passed, {failed} failed, {len(skipped)} skipped")
    return 0 if status == 0 and failed == 0 and passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main())
