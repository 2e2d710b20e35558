# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of the plan maker: `python3 -m unittest discover -s tests -t .` in `python/`."""
