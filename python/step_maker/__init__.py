# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes training steps, of one device and of many, as graphs of the `tv` dialect."""
