//===- Obligation.h - from records to queries -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collects what a record rests on: all records below it that are not proved
// yet, with their laws and claims, and the claims of those that are.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_SOLVER_OBLIGATION_H
#define VERIFY_LIB_SOLVER_OBLIGATION_H

#include "Verify/Scalar/NormalForm.h"
#include "Z3Solver.h"

#include "llvm/ADT/BitVector.h"

namespace verify {

/// The records to be proved for one goal, each after all it rests on, and the
/// terms whose nodes all have proved records then.
struct Argument {
  llvm::SmallVector<RecordId> records;
  /// Proved records whose claims are facts here.
  llvm::SmallVector<RecordId> facts;
  llvm::SmallVector<Scalar> nodes;
};

/// What the solver has accepted, for one normalizer.
class ProvedRecords {
public:
  bool contains(RecordId record) const {
    return record < records.size() && records[record];
  }
  bool containsNode(Scalar node) const {
    return node.bits < nodes.size() && nodes[node.bits];
  }
  void add(RecordId record);
  void add(const Argument &argument);

private:
  llvm::BitVector records, nodes;
};

Argument collectArgument(const TermAlgebra &terms, const Normalizer &normalizer,
                         RecordId goal, const ProvedRecords &proved);

/// How many of the first records are proved together: of many claims or laws
/// at once Z3 takes far longer than of some at a time.
size_t countTogether(const Normalizer &normalizer,
                     llvm::ArrayRef<RecordId> records);

/// Some records of an argument. What they need and is proved are facts.
Argument takePart(const Normalizer &normalizer, const ProvedRecords &proved,
                  llvm::ArrayRef<RecordId> records);

/// All claims of the argument from all its laws.
Query makeQuery(const Normalizer &normalizer, const Argument &argument);
/// The claims of one record from its laws and the claims of those it needs.
Query makeLocalQuery(const Normalizer &normalizer, RecordId record);

/// Adds the hypotheses and what is known of the functions in a claim about
/// normal forms, whatever use it may be. The facts are claims of `rests`.
void addGeneralLaws(TermAlgebra &terms, Normalizer &normalizer,
                    llvm::ArrayRef<Condition> hypotheses, const Claim &claim,
                    Query &query, llvm::SmallVectorImpl<RecordId> &rests);

} // namespace verify

#endif // VERIFY_LIB_SOLVER_OBLIGATION_H
