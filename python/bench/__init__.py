# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a verification costs, and how that grows."""
