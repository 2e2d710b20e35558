//===- RankFold.h - ranks with equal programs as an axis --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ranks of a tensor-parallel group mostly run the same program, each on its
// own part of the parameters. Where they do, the first one stands for all, as
// coordinate 0 of one more axis of the mesh; the devices of other groups stand
// for themselves, at that coordinate alone. Each op of each other rank is
// compared with that of the first: nothing is assumed to be uniform.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_RANKFOLD_H
#define VERIFY_LIB_TRANSFORMS_RANKFOLD_H

#include "LoadOrders.h"
#include "Verify/IR/NumberMap.h"
#include "Verify/IR/TVOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Sequence.h"

#include <map>
#include <optional>
#include <vector>

namespace verify {

/// The communicator of a collective: who takes part, in whatever order.
std::vector<int64_t> getCommunicator(tv::CommunicateOp op);

class RankFold {
public:
  /// The name of the axis.
  static constexpr llvm::StringLiteral axis = "rank";
  /// Whether that is meant; `name` may be null.
  static bool isAxis(mlir::StringAttr name) {
    return name && name.getValue() == axis;
  }
  /// Whether ranks have different parts of what a lineage is a part of.
  static bool areDivided(tv::LineageAttr lineage);

  /// Null where the ranks of no group agree, or all do what is not understood
  /// as that of an axis, and none has loads in another order. Groups with a
  /// device of `apart` are not folded, nor, unless `foldsExceptions`, those
  /// that are likely wrong. Says nothing: the plan is as good without. What is
  /// found holds if the plan is valid, which need not have been verified
  /// before: `verify` does.
  static std::unique_ptr<RankFold> find(tv::PlanOp plan,
                                        const llvm::DenseSet<int64_t> &apart,
                                        bool foldsExceptions);

  /// Ranks of each folded group.
  int64_t getSize() const { return size; }
  /// The mesh of the plan, with the axis.
  tv::MeshAttr getMesh() const { return mesh; }
  /// The folded groups, each its devices by rank; by first device.
  llvm::SmallVector<llvm::ArrayRef<int64_t>> getGroups() const;
  /// The ranks for which a device stands: those of a folded group for its first
  /// one, and none for others.
  llvm::ArrayRef<int64_t> getRanks(int64_t device) const {
    auto found = groups.find(device);
    return found == groups.end()
               ? llvm::ArrayRef<int64_t>()
               : llvm::ArrayRef<int64_t>(found->second.devices);
  }
  /// Whether a device stands for all ranks of its group.
  bool isFolded(int64_t device) const { return groups.contains(device); }
  /// Whether another one stands for a device.
  bool isCovered(int64_t device) const {
    return places[device].group != nowhere && !isFolded(device);
  }
  /// Whether these are all ranks of one folded group, in its order.
  bool isGroup(llvm::ArrayRef<int64_t> members) const {
    return !members.empty() && members == getRanks(members.front());
  }
  /// Whether these are all ranks of one folded group, in any order.
  bool areGroup(llvm::ArrayRef<int64_t> members) const {
    return isGroup(members) || areAllRanks(members);
  }
  /// By place among members of whom that holds, their ranks.
  llvm::SmallVector<int64_t> listRanks(llvm::ArrayRef<int64_t> members) const {
    return llvm::map_to_vector(
        members, [&](int64_t member) { return places[member].rank; });
  }
  /// Whether all that folded ranks do with other groups, each does with the
  /// devices of its own number there.
  bool communicatesByRank() const { return isByRank; }
  /// To which device each rank sends, or from which it receives, where an op of
  /// a folded group's first one does. Only where not all do it by rank.
  llvm::ArrayRef<int64_t> getPeers(mlir::Operation *op) const {
    return peers.find(op)->second;
  }
  /// By rank, the op of a broadcast outside of its group that each rank has
  /// where a folded group's first one has `op`. Only where not all do it by
  /// rank.
  llvm::ArrayRef<tv::CommunicateOp> getBroadcasts(mlir::Operation *op) const {
    return broadcasts.find(op)->second;
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
  /// Whether an op of a first rank starts at a position that depends on the
  /// rank. It rises by the op's extent from rank to rank: of a slice, if there
  /// are no `getStarts`, and of what is compared with positions.
  bool startsByRank(mlir::Operation *op) const { return starts.contains(op); }
  /// By rank, where a slice starts that does so at any positions; else empty.
  llvm::ArrayRef<int64_t> getStarts(mlir::Operation *op) const {
    auto found = anyStarts.find(op);
    return found == anyStarts.end() ? llvm::ArrayRef<int64_t>()
                                    : llvm::ArrayRef<int64_t>(found->second);
  }
  /// Of devices that are not folded. Without ranks as an axis each works on
  /// what it has loaded.
  const LoadOrders &getLoadOrders() const { return loadOrders; }
  /// Whether an op is the program of a covered device, or a segment that it
  /// calls: its ops are those of the first rank, but for what is listed as
  /// differing, numbers, and names of other ops of the plan.
  bool isCompared(mlir::Operation *op) const { return compared.contains(op); }
  /// How many ops of covered devices were compared with one.
  int64_t countCopies(mlir::Operation *op) const {
    return models.contains(op) ? size - 1 : 0;
  }
  /// Ops of covered devices with other properties than those of the first rank.
  llvm::ArrayRef<mlir::Operation *> getDiffering() const { return differing; }
  /// Verifies the plan; ops that were compared with those that are verified are
  /// valid too. Fails after an error.
  llvm::LogicalResult verify(tv::PlanOp plan) const;
  /// What the ranks have for which the device of a buffer stands, by rank.
  llvm::SmallVector<tv::BufferOp> getCopies(tv::BufferOp buffer) const;

private:
  friend class NumberPairs;
  friend class RankComparison;
  using Spreads =
      llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, Spread>;
  /// What each rank has, where the first one has an op: rows, in the order in
  /// which programs are compared, which is the same for each rank.
  template <typename T> struct Rows {
    std::vector<mlir::Operation *> ops;
    std::vector<std::vector<T>> ofRanks;
    /// Adds what rank `rank` has to its next row, unless that is another op's.
    bool add(mlir::Operation *op, T first, size_t rank, T other) {
      ofRanks.resize(std::max(ofRanks.size(), rank + 1));
      if (rank == 1) {
        ops.push_back(op);
        ofRanks.front().push_back(first);
      }
      size_t number = ofRanks[rank].size();
      ofRanks[rank].push_back(other);
      return number < ops.size() && ops[number] == op;
    }
    llvm::SmallVector<T, 8> getRow(size_t number) const {
      return llvm::map_to_vector<8>(
          ofRanks, [&](const std::vector<T> &of) { return of[number]; });
    }
    bool all(llvm::function_ref<bool(llvm::ArrayRef<T>)> isRight) const {
      return llvm::all_of(llvm::seq(ops.size()), [&](size_t number) {
        return isRight(getRow(number));
      });
    }
  };
  /// Numbers of the first rank, for all uses.
  class NumberUses {
  public:
    void add(int64_t number) { numbers.push_back(number); }
    size_t size() const { return numbers.size(); }
    int64_t getNumber(size_t use) const { return numbers[use]; }
    /// How many other numbers were used before that of a use first was.
    unsigned getPlace(size_t use) {
      while (places.size() <= use)
        places.push_back(
            *known.tryEmplace(numbers[places.size()], known.size()).first);
      return places[use];
    }

  private:
    std::vector<int64_t> numbers;
    std::vector<unsigned> places; ///< as far as they were asked for
    NumberMap<unsigned> known;
  };
  /// What compares the ranks of one group needs to know and finds.
  struct Group {
    llvm::SmallVector<int64_t> devices; ///< by rank
    Spreads stated, given;
    llvm::DenseSet<mlir::Operation *> starts;
    llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int64_t, 8>> anyStarts;
    Rows<int64_t> peers, sliceStarts;
    Rows<tv::CommunicateOp> broadcasts;
    NumberUses executions, savedOps;
    /// Which value of its block each operand of the first rank is.
    std::vector<unsigned> operands;
    /// Of the other ranks: what was compared, and ops that differ in it.
    std::vector<mlir::Operation *> compared, differing;
    std::vector<mlir::Operation *> models; ///< of what was compared
    /// The first ones of those with which it communicates rank by rank.
    llvm::DenseSet<int64_t> partners;
    bool isUniform = false;
    /// Whether any rank keeps another part than is declared.
    bool isDeclaredOtherwise = false;
  };
  /// What a device has.
  struct Device {
    tv::ProgramOp program;
    std::vector<tv::BufferOp> buffers; ///< in the order of the plan
  };

  static constexpr int64_t nowhere = -1;
  /// The first rank of a device's group, and its own rank.
  struct Place {
    int64_t group = nowhere, rank = nowhere;
  };

  bool list(tv::PlanOp plan);
  void formGroups(const llvm::DenseSet<int64_t> &apart);
  bool addAxis(tv::PlanOp plan);
  std::optional<llvm::SmallVector<int64_t>> findGroup(int64_t device) const;
  /// The same where segments do anything together.
  std::optional<llvm::SmallVector<int64_t>>
  findGroupOfSegments(tv::ProgramOp program) const;
  /// Compares in which order the devices load that are not folded.
  void compareLoadOrders(tv::PlanOp plan);
  /// In the order of the parts that they hold of the first parameter that is
  /// divided among them; as they are where that is so for any parameter.
  void orderByParts(llvm::SmallVector<int64_t> &members) const;
  /// Whether these are all devices that have a place in one group.
  bool areAllRanks(llvm::ArrayRef<int64_t> members) const;
  /// Tells the slices of a group that start at any positions from those that
  /// rise with the rank, which are added to the others.
  static void sortStarts(Group &group);
  /// What is likely wrong is only shown to be so device by device: the ranks of
  /// these groups count as different, and so do those that are folded with them
  /// only. They are the first one of which ranks keep other parts than are
  /// declared, and those that do not send, receive and cut by rank, where these
  /// are few.
  void setExceptionsApart();
  bool findByRank() const;
  /// Has what ranks do with others looked up by op.
  void listCommunication();
  /// Leaves groups whose ranks agree, and those of whose partners do.
  void dropOthers();

  int64_t size = 1;
  bool isByRank = false;
  tv::MeshAttr mesh;
  std::vector<Device> devices;
  /// The place of each buffer among those of its device.
  llvm::DenseMap<mlir::StringAttr, std::pair<tv::BufferOp, unsigned>> buffers;
  llvm::DenseMap<mlir::StringAttr, tv::SegmentOp> segments;
  std::map<int64_t, Group> groups; ///< by first rank
  std::vector<Place> places;
  LoadOrders loadOrders;
  Spreads stated, given;
  /// Those of folded groups, unless all communicate by rank.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int64_t, 8>> peers;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<tv::CommunicateOp, 8>>
      broadcasts;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<int64_t, 8>> anyStarts;
  llvm::DenseSet<mlir::Operation *> starts, compared, models;
  std::vector<mlir::Operation *> differing;
};

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_RANKFOLD_H
