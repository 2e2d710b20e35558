# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A plan as the object graph that nnScaler pickles.

Class names, field names and their order are nnScaler's, and so is which objects are
one: cells have copies of the tensors they take and give. What says nothing about what
the plan computes is there as well, because a reader has to get past it: who in a segment
makes and takes each tensor, and partition rules, parsed. Left out are the cells before
they are dispatched to devices (`_topo_seqs`, the nodes of the graph, and its schedule),
which parts of a full tensor there are, and code generator state.
"""

from plan_maker.emit.plan import check_path, write_plan

__all__ = ["check_path", "write_plan"]
