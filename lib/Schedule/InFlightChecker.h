//===- InFlightChecker.h - who uses memory when -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Follows what the program of one device does to memory.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_SCHEDULE_INFLIGHTCHECKER_H
#define VERIFY_LIB_SCHEDULE_INFLIGHTCHECKER_H

#include "DeviceOrder.h"
#include "Skeleton.h"
#include "Verify/IR/DenseValues.h"

#include <map>

namespace verify::schedule {

/// Memory that a tensor may be a view of: a buffer, or that of an argument.
struct Origin {
  mlir::Operation *buffer;
  unsigned argument = 0;
  /// The op that read the buffer, and how often that had been overwritten by
  /// then; none where that differs between executions of a segment.
  mlir::Operation *reader = nullptr;
  std::optional<unsigned> version = std::nullopt;
  /// Whether elements may be at other places of the view than of the buffer.
  bool isMoved = false;
  bool operator==(const Origin &other) const {
    return buffer == other.buffer && argument == other.argument &&
           reader == other.reader && version == other.version &&
           isMoved == other.isMoved;
  }
};
using Origins = llvm::SmallVector<Origin, 1>;

enum class AccessType { Read, Use, Write, Free, Start, Wait };

/// What an op does to memory: it reads a buffer, or uses a view of one. A start
/// reads `read` and `used` and writes `written` until it is over.
struct MemoryAccess {
  AccessType type;
  mlir::Operation *op;
  Origins read, used;
  mlir::Operation *written = nullptr;
  tv::StartOp start;
};

/// What a block does to memory, in order.
struct Summary {
  llvm::SmallVector<MemoryAccess> accesses;
  llvm::SmallVector<Origins> results; ///< of a segment
};

/// An access of what may be under way, by its number.
struct UnderWay {
  unsigned number;
  bool writes;
};

class InFlightChecker {
public:
  InFlightChecker(const Skeleton &skeleton, llvm::StringRef &malformation)
      : symbols(skeleton.plan), malformation(malformation),
        replicaCount(
            tv::PlanOp(skeleton.plan).getMesh().getAxisSize("dp").value_or(1)) {
  }

  llvm::LogicalResult check(const Program &program);

private:
  mlir::FailureOr<const Summary *> summarize(const Segment &segment);
  /// Adds what an op does; of a call, nothing but the results.
  llvm::LogicalResult summarize(mlir::Operation *op, int64_t device,
                                Summary &summary);
  llvm::LogicalResult summarizeStart(tv::StartOp start, int64_t device,
                                     Summary &summary);
  /// Notes what the result of a read is a view of.
  Origin addRead(tv::ReadOp op, mlir::Operation *buffer);
  /// The gradient buffer of a name; null if it is that of a parameter.
  mlir::FailureOr<mlir::Operation *>
  findBuffer(mlir::Operation *op, mlir::FlatSymbolRefAttr name, int64_t device);
  /// Whether the result may be the memory of the operands, or a part of it.
  bool isView(mlir::Operation *op) const;
  /// What the result of a view is a view of.
  Origins viewThrough(mlir::Operation *op, Origins origins) const;
  llvm::LogicalResult follow(const MemoryAccess &access, const Origins &used,
                             mlir::Operation *call);
  /// Checks that nothing else uses a buffer that an op uses, which is started
  /// as `number`, or is one of the program.
  llvm::LogicalResult checkAlone(const MemoryAccess &access,
                                 mlir::Operation *call, mlir::Operation *buffer,
                                 bool writes, std::optional<unsigned> number);
  /// Checks that nothing is written over what the same op still reads.
  llvm::LogicalResult checkInPlace(const MemoryAccess &access,
                                   const Origins &used);
  /// Checks that scratch memory that is read was written.
  llvm::LogicalResult checkHolds(const MemoryAccess &access,
                                 mlir::Operation *call, const Origin &origin);
  /// Checks that a buffer still holds what a view of it was read for.
  llvm::LogicalResult checkCurrent(const MemoryAccess &access,
                                   mlir::Operation *call, const Origin &origin);
  unsigned getVersion(const Origin &origin) const {
    return origin.version.value_or(versionRead.lookup(origin.reader));
  }
  /// `origins` with arguments replaced by what is passed for them.
  Origins replace(const Origins &origins,
                  llvm::ArrayRef<Origins> arguments) const;
  llvm::LogicalResult report(const MemoryAccess &access, mlir::Operation *call,
                             mlir::Operation *buffer, bool writes,
                             const UnderWay &other);
  /// Adds all that a backward of `save` may use: what is given to the ops that
  /// it differentiates.
  void addBetween(tv::SaveOp save, Origins &origins) const;
  void addOrigins(mlir::Value value, Origins &origins) const {
    for (const Origin &origin : originsOf.lookup(value))
      if (!llvm::is_contained(origins, origin))
        origins.push_back(origin);
  }

  mlir::SymbolTable symbols;
  llvm::StringRef &malformation;
  int64_t replicaCount;
  int64_t device = 0;
  DenseValueMap<Origins> originsOf;
  std::map<const Segment *, Summary> summaryOf;
  // Of the program that is followed.
  DeviceOrder order;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<UnderWay, 1>>
      underWay; ///< by buffer
  /// What overwrote each buffer, one after the other.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *, 0>>
      writers;
  /// What each execution saved for the backward of an op, by their numbers.
  std::map<std::pair<int64_t, int64_t>, Origins> saved;
  /// What the program gives as outputs, each with what it is a view of.
  std::vector<std::pair<MemoryAccess, Origins>> outputs;
  /// By op, in the execution that is followed.
  llvm::DenseMap<mlir::Operation *, unsigned> versionRead;
};

} // namespace verify::schedule

#endif // VERIFY_LIB_SCHEDULE_INFLIGHTCHECKER_H
