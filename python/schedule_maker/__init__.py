# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes pipeline schedules as plans of the tv dialect, right ones and wrong ones.

`schedules` says what each device computes in which order, `programs` where tensors are
sent, `text` how that is written down. `mutations` makes programs wrong, `oracle` says
whether they are, by trying all interleavings, and `judge` compares that with a verdict.
"""
