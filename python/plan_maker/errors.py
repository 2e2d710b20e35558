# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The error that is shown to the user."""


class ImpossiblePlanError(ValueError):
    """What was asked for does not exist; the message says why, in the words of
    the command line.
    """
