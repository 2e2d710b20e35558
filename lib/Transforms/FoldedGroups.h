//===- FoldedGroups.h - graphs in which ranks are an axis -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_FOLDEDGROUPS_H
#define VERIFY_LIB_TRANSFORMS_FOLDEDGROUPS_H

#include "Verify/IR/TVOps.h"
#include "llvm/ADT/DenseSet.h"

namespace verify {

/// Notes the groups of a graph of which the first device stands for all; each
/// is its devices by rank.
void setFoldedGroups(tv::GraphOp graph,
                     llvm::ArrayRef<llvm::ArrayRef<int64_t>> groups);

/// Whether there are such groups.
bool hasFoldedGroups(tv::GraphOp graph);

/// The devices for which one stands; none if it stands for itself.
llvm::ArrayRef<int64_t> getFoldedRanks(tv::GraphOp graph, int64_t device);

/// The same devices with those for which they stand, sorted.
llvm::SmallVector<int64_t> addFoldedRanks(tv::GraphOp graph,
                                          llvm::ArrayRef<int64_t> devices);

/// Notes that `lemma` says of each rank what depends on the rank: it holds only
/// if ranks compute the same after all, and nothing else may rest on it.
void setDoubtful(tv::ExpectOp lemma);
/// Whether that was noted; never of a result of the contract.
bool isDoubtful(tv::ExpectOp expect);
/// Takes these lemmas away; returns whether there were any.
bool dropDoubtful(tv::GraphOp graph);

/// Adds the devices that stand for others among those that execute what
/// `expect` rests on, up to values of which another lemma speaks; returns
/// whether there are any.
bool addFoldedUnder(tv::ExpectOp expect, llvm::DenseSet<int64_t> &devices);

/// Whether `expect` rests, up to values of which another lemma speaks, on parts
/// that ranks get from devices.
bool restsOnParts(tv::ExpectOp expect);

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_FOLDEDGROUPS_H
