# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Named bugs: each takes a correct plan and returns one with a single mistake.

The mistakes are of the kind that neither crashes nor hangs a run if it can be
helped: groups and ranks are changed consistently on all members. Where that
cannot be, the description says so.
"""

from plan_maker.bugs.catalogue import BUGS, apply_bug
from plan_maker.bugs.constants import OPERATIONS
from plan_maker.bugs.description import describe
from plan_maker.bugs.place import Direction, Place

__all__ = ["BUGS", "OPERATIONS", "Direction", "Place", "apply_bug", "describe"]
