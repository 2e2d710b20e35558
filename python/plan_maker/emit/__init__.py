# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A plan as the object graph that nnScaler pickles.

Class names, field names and their order are nnScaler's, and so is which objects are
one: cells have copies of the tensors they take and give. Left out, because they
say nothing about what the plan computes: the bookkeeping of graphs and segments
(producers, consumers, dispatch caches), parsed annotations, and code generator
state. `_topo_seqs`, the cells before they are dispatched to devices, is empty.
"""

from plan_maker.emit.plan import write_plan

__all__ = ["write_plan"]
