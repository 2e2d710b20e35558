# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hunts for programs on which Verify gives a wrong verdict."""
