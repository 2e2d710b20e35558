//===- RankFold.h - ranks with equal programs as an axis --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ranks of a tensor-parallel group mostly run the same program, each on its
// own part of the parameters. Where every group of a plan does, the first rank
// of each stands for all, as coordinate 0 of one more axis of the mesh. Each op
// of each other rank is compared with that of the first: nothing is assumed to
// be uniform.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_RANKFOLD_H
#define VERIFY_LIB_TRANSFORMS_RANKFOLD_H

#include "Verify/IR/TVOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <optional>

namespace verify {

class RankFold {
public:
  /// The name of the axis.
  static constexpr llvm::StringLiteral axis = "rank";

  /// Null where ranks do not agree, or do what is not understood as that of an
  /// axis. Says nothing: the plan is as good without. What is found holds if
  /// the plan as a whole is valid, which need not have been verified before.
  static std::unique_ptr<RankFold> find(tv::PlanOp plan);

  /// Ranks of each group.
  int64_t getSize() const { return size; }
  /// The mesh of the plan, with the axis.
  tv::MeshAttr getMesh() const { return mesh; }
  /// Whether a device is the first one of its group.
  bool isFirst(int64_t device) const { return groups.contains(device); }

  /// Whether these are all ranks of one group, in its order.
  bool isGroup(llvm::ArrayRef<int64_t> members) const {
    auto found = members.empty() ? groups.end() : groups.find(members.front());
    return found != groups.end() &&
           members == llvm::ArrayRef<int64_t>(found->second.devices);
  }

  /// How what is stated of the ranks' tensors differs between ranks.
  struct Spread {
    enum Kind : uint8_t {
      Same,    ///< not at all
      Divided, ///< each has one of as many equal parts of `dimension`
      Other
    } kind = Same;
    unsigned dimension = 0;
    bool operator==(const Spread &other) const {
      return kind == other.kind && dimension == other.dimension;
    }
    bool operator!=(const Spread &other) const { return !(*this == other); }
  };
  /// That of what is stated about result `number` of an op of a first rank.
  Spread getStated(mlir::Operation *op, unsigned number) const {
    return stated.lookup({op, number});
  }
  /// That of result `number` of a loader or random op of a first rank, or of
  /// its buffer.
  Spread getGiven(mlir::Operation *op, unsigned number = 0) const {
    return given.lookup({op, number});
  }
  /// Whether an op of a first rank starts at a position that rises by its
  /// extent from rank to rank: a slice, or what is compared with positions.
  bool startsByRank(mlir::Operation *op) const { return starts.contains(op); }
  /// What the ranks of its group have for a buffer of a first rank, by rank.
  llvm::SmallVector<tv::BufferOp> getCopies(tv::BufferOp buffer) const;

private:
  friend class RankComparison;
  using Spreads =
      llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, Spread>;
  /// What compares the ranks of one group needs to know and finds.
  struct Group {
    llvm::SmallVector<int64_t> devices; ///< by rank
    Spreads stated, given;
    llvm::DenseSet<mlir::Operation *> starts;
    bool isUniform = false;
  };
  /// What a device has.
  struct Device {
    tv::ProgramOp program;
    std::vector<tv::BufferOp> buffers; ///< in the order of the plan
  };

  bool list(tv::PlanOp plan);
  bool formGroups(tv::PlanOp plan);
  std::optional<llvm::SmallVector<int64_t>> findGroup(int64_t device) const;

  int64_t size = 0;
  tv::MeshAttr mesh;
  std::vector<Device> devices;
  /// The place of each buffer among those of its device.
  llvm::DenseMap<mlir::StringAttr, std::pair<tv::BufferOp, unsigned>> buffers;
  llvm::DenseMap<mlir::StringAttr, tv::SegmentOp> segments;
  llvm::DenseMap<int64_t, Group> groups; ///< by first rank
  /// The first rank of each device's group, and its own rank.
  std::vector<std::pair<int64_t, int64_t>> places;
  Spreads stated, given;
  llvm::DenseSet<mlir::Operation *> starts;
};

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_RANKFOLD_H
