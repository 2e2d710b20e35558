# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The lit suite: text tests of the tools, then the suites in Unit and Python.

Substitutions: %python; %plan_maker writes plans; %source is the root of the
repository; %shared holds real plans (feature `shared-plans`); %numpy is a Python
that has NumPy.
"""

import os
import subprocess

import lit.formats

config.name = "Verify"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.join(config.verify_source_root, "test")
config.test_exec_root = os.path.join(config.verify_build_root, "test")

config.environment["PATH"] = os.pathsep.join(
    [config.verify_tools, config.llvm_tools, os.environ["PATH"]]
)
config.environment["PYTHONPATH"] = os.path.join(
    config.verify_source_root, "python"
)
config.environment["PYTHONPYCACHEPREFIX"] = os.path.join(
    config.verify_build_root, "pycache"
)
for variable in ("HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]
suppressions = os.path.join(config.test_source_root, "thread-sanitizer.supp")
config.environment["TSAN_OPTIONS"] = ":".join(
    [os.environ.get("TSAN_OPTIONS", ""), f"suppressions={suppressions}"]
).lstrip(":")

config.substitutions += [
    ("%python", config.python),
    ("%plan_maker", config.python + " -m plan_maker"),
    ("%source", config.verify_source_root),
    ("%build", config.verify_build_root),
    ("%cxx", config.cxx),
    ("%mlir_include", config.mlir_include),
    ("%llvm_prefix", config.llvm_prefix),
]



def has_numpy(python: str) -> bool:
    """Whether a Python is there and has NumPy."""
    command = [python, "-c", "import numpy"]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


# The Python that CMake found need not be the system's, whose NumPy is required. Where
# neither has it, the tests that need it fail.
pythons = [config.python, "/usr/bin/python3"]
config.substitutions.append(
    ("%numpy", next(filter(has_numpy, pythons), config.python) + " -B")
)

# Real plans do not belong to the repository; tests that read them are skipped
# where they are not there, and `make check` says so.
shared = os.environ.get("VERIFY_SHARED_DIR") or os.path.join(
    os.path.dirname(config.verify_source_root), "shared"
)
if os.path.isdir(os.path.join(shared, "plans")):
    config.available_features.add("shared-plans")
if os.path.isdir(os.path.join(shared, "frontier")):
    config.available_features.add("shared-frontier")
config.substitutions.append(("%shared", os.path.abspath(shared)))
if os.path.isfile(os.path.join(shared, "bug-catalog.md")):
    config.available_features.add("shared-catalog")
    config.substitutions.append(
        ("%catalog", os.path.join(os.path.abspath(shared), "bug-catalog.md"))
    )
# Those of a build of their own, with sanitizers, are told which inputs lead to new code.
fuzzers = os.environ.get("VERIFY_FUZZERS") or config.fuzzers
if fuzzers:
    config.available_features.add("fuzzers")
    config.substitutions.append(("%fuzzers", fuzzers))
if os.path.exists(os.path.join(config.verify_source_root, ".git")):
    config.available_features.add("git-checkout")
# Tests that take minutes.
if os.environ.get("VERIFY_THOROUGH"):
    config.available_features.add("thorough")
if config.is_sanitized:
    config.available_features.add("sanitizer")
