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
/// that of one other rank, and back, if these are equal for all uses.
class NumberPairs {
public:
  /// `ofFirst` are those of the first rank, which comparing the second one with
  /// it fills.
  NumberPairs(std::vector<unsigned> &ofFirst, bool isFilled)
      : ofFirst(ofFirst), isFilled(isFilled) {}

  bool add(int64_t first, int64_t other) {
    // Those of executions may be others, and are then taken for different.
    if (!isNumberOfSaved(first) || !isNumberOfSaved(other))
      return false;
    if (!isFilled)
      ofFirst.push_back(use(firsts, first));
    return next < ofFirst.size() && ofFirst[next++] == use(others, other);
  }

private:
  using Uses = NumberMap<unsigned>;
  static unsigned use(Uses &uses, int64_t number) {
    return uses.try_emplace(number, uses.size()).first->second;
  }

  std::vector<unsigned> &ofFirst;
  bool isFilled;
  size_t next = 0;
  Uses firsts, others;
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

  void noteCompared(mlir::Operation *mine, mlir::Operation *theirs) {
    if (rank == 1)
      group.models.push_back(mine);
    group.compared.push_back(theirs);
  }
  bool compareBuffers();
  bool compare(mlir::Block &left, mlir::Block &right);
  bool compare(mlir::Operation &left, mlir::Operation &right);
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
  DenseValueMap<mlir::Value> values; ///< of the blocks that are compared
  /// The segments of this rank by those of the first one, each of one, and
  /// back.
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> segments, firstSegments;
  NumberPairs savedOps, executions;
  Pairs<std::vector<int64_t>> communicators;
  /// Groups whose communicators are paired, without and with replicas.
  llvm::DenseSet<std::pair<mlir::Attribute, mlir::Attribute>> seenGroups[2];
};

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_RANKCOMPARISON_H
