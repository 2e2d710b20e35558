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

#include <map>

namespace verify {

/// What one rank has with what another has, each with one.
template <typename T, typename Map = std::map<T, T>> class Pairs {
public:
  bool add(const T &first, const T &other) {
    auto [there, isNew] = others.try_emplace(first, other);
    auto [back, isNewBack] = firsts.try_emplace(other, first);
    return there->second == other && back->second == first;
  }

private:
  Map others, firsts;
};

/// The same for numbers of executions and ops, which mostly come one after the
/// other. The two that stand for no entry in a table are paired with nothing.
class NumberPairs {
public:
  bool add(int64_t first, int64_t other) {
    return isNumber(first) && isNumber(other) && pairs.add(first, other);
  }

private:
  using Info = llvm::DenseMapInfo<int64_t>;
  static bool isNumber(int64_t number) {
    return number != Info::getEmptyKey() && number != Info::getTombstoneKey();
  }
  Pairs<int64_t, llvm::DenseMap<int64_t, int64_t>> pairs;
};

/// Compares one rank of a group with the first one.
class RankComparison {
public:
  RankComparison(RankFold &fold, RankFold::Group &group, int64_t rank)
      : fold(fold), group(group), rank(rank), first(group.devices.front()),
        other(group.devices[rank]) {}

  bool run() {
    tv::ProgramOp mine = fold.devices[first].program,
                  theirs = fold.devices[other].program;
    group.compared.push_back(theirs);
    return compareBuffers() &&
           compare(mine.getBody().front(), theirs.getBody().front());
  }

private:
  using Spread = RankFold::Spread;

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
  /// Numbers of ops that are differentiated, and of executions.
  NumberPairs forwardOps, executions;
  Pairs<std::vector<int64_t>> communicators;
};

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_RANKCOMPARISON_H
