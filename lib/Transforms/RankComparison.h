//===- RankComparison.h - whether ranks run one program ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two programs in step, op by op. What is not named here has to be equal.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_RANKCOMPARISON_H
#define VERIFY_LIB_TRANSFORMS_RANKCOMPARISON_H

#include "RankFold.h"
#include "Verify/IR/DenseValues.h"
#include "Verify/IR/NumberMap.h"

#include <map>

namespace verify {

/// What one rank has with what another has, each with one.
template <typename T> class Pairs {
public:
  bool add(const T &first, const T &other) {
    auto [there, isNew] = others.try_emplace(first, other);
    auto [back, isNewBack] = firsts.try_emplace(other, first);
    return there->second == other && back->second == first;
  }

private:
  std::map<T, T> others, firsts;
};

/// The same for numbers, whose uses come in the same order for each rank. Each
/// is replaced by how many others were used before: what the first rank uses is
/// that of one other rank, and back, if these are equal for all uses. They are
/// as long as both ranks use the very same numbers.
class NumberPairs {
public:
  /// `ofFirst` are those of the first rank, which comparing the second one with
  /// it fills.
  NumberPairs(RankFold::NumberUses &ofFirst, bool isFilled)
      : ofFirst(ofFirst), isFilled(isFilled) {}

  bool add(int64_t first, int64_t other) {
    // Those of executions may be others, and are then taken for different.
    if (!isNumberOfSaved(first) || !isNumberOfSaved(other))
      return false;
    if (!isFilled)
      ofFirst.add(first);
    if (next >= ofFirst.size())
      return false;
    if (areSame && first == other) {
      ++next;
      return true;
    }
    for (size_t use = 0; areSame && use < next; ++use)
      others.tryEmplace(ofFirst.getNumber(use), others.size());
    areSame = false;
    return ofFirst.getPlace(next++) ==
           *others.tryEmplace(other, others.size()).first;
  }

private:
  RankFold::NumberUses &ofFirst;
  bool isFilled;
  bool areSame = true; ///< so far
  size_t next = 0;
  NumberMap<unsigned> others; ///< unless they are the same
};

/// Compares one rank of a group with the first one.
class RankComparison {
public:
  RankComparison(RankFold &fold, RankFold::Group &group, int64_t rank)
      : fold(fold), group(group), rank(rank), first(group.devices.front()),
        other(group.devices[rank]), savedOps(group.savedOps, rank != 1),
        executions(group.executions, rank != 1) {}

  bool run() {
    tv::ProgramOp mine = fold.devices[first].program,
                  theirs = fold.devices[other].program;
    noteCompared(mine, theirs);
    return compareBuffers() &&
           compare(mine.getBody().front(), theirs.getBody().front());
  }

private:
  using Spread = RankFold::Spread;

  /// The values of a block as far as it was compared, in their order.
  struct Values {
    std::vector<mlir::Value> ofOther;
    /// Those of the first rank, for as long as it says which its operands are.
    DenseValueMap<unsigned> numbers;
  };

  void noteCompared(mlir::Operation *mine, mlir::Operation *theirs) {
    if (rank == 1)
      group.models.push_back(mine);
    group.compared.push_back(theirs);
  }
  bool compareBuffers();
  bool compare(mlir::Block &left, mlir::Block &right);
  bool compare(mlir::Operation &left, mlir::Operation &right);
  /// Adds a value of a block; false if both are not of one type.
  bool add(mlir::Value left, mlir::Value right);
  /// Whether the next operand is the same value of its block in both.
  bool compareOperand(mlir::Value left, mlir::Value right);
  bool comparePieces(mlir::Operation &left, mlir::Operation &right);
  /// Two ops of one kind that may be of other parts, or name other buffers,
  /// executions or devices. None for ops that have to be equal.
  std::optional<bool> compareParts(mlir::Operation &left,
                                   mlir::Operation &right);
  std::optional<bool> compareNumbered(mlir::Operation &left,
                                      mlir::Operation &right);
  bool compareLoads(tv::LoadDataOp left, tv::LoadDataOp right);
  bool compareCalls(tv::CallOp left, tv::CallOp right);
  bool compareCollectives(tv::CommunicateOp left, tv::CommunicateOp right);
  /// Those of all ranks of the group, in whatever order.
  bool compareWithinGroup(tv::CommunicateOp left, tv::CommunicateOp right);
  /// Broadcasts that are not among all ranks of the group.
  bool compareBroadcasts(tv::CommunicateOp left, tv::CommunicateOp right);
  /// Notes to which device an op of this rank sends, or from which it receives.
  bool addPeer(mlir::Operation *op, int64_t left, int64_t right);
  /// Whether two devices are the first rank and this one of one group, which
  /// has to be folded then.
  bool areRanks(int64_t left, int64_t right);
  bool compareNames(mlir::FlatSymbolRefAttr left,
                    mlir::FlatSymbolRefAttr right) const;
  /// Whether the starts of two ops are equal, or rise by `extent` with the
  /// rank.
  bool compareStarts(mlir::Operation *op, int64_t left, int64_t right,
                     int64_t extent);
  Spread getSpread(tv::PieceAttr left, tv::PieceAttr right) const;
  /// Notes how what is stated differs; ranks that differ in several ways are
  /// no parts.
  void add(RankFold::Spreads &spreads, mlir::Operation *op, unsigned number,
           Spread spread) const;

  RankFold &fold;
  RankFold::Group &group;
  int64_t rank, first, other;
  Values values; ///< of the block that is compared
  size_t nextOperand = 0;
  /// The segments of this rank by those of the first one, each of one, and
  /// back.
  llvm::DenseMap<mlir::Attribute, mlir::Attribute> segments, firstSegments;
  NumberPairs savedOps, executions;
  Pairs<std::vector<int64_t>> communicators;
  /// Groups whose communicators are paired, without and with replicas.
  llvm::DenseSet<std::pair<mlir::Attribute, mlir::Attribute>> seenGroups[2];
};

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_RANKCOMPARISON_H
