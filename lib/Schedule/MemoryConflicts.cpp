//===- MemoryConflicts.cpp - uses of memory that exclude each other -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InFlightChecker.h"

using namespace mlir;
using namespace verify;
using namespace verify::schedule;

/// Whether an op may write its result where its operand is: it reads each
/// element before it writes that one.
static bool worksInPlace(Operation *op) {
  if (auto communicate = dyn_cast<tv::CommunicateOp>(op))
    return communicate.getKind() == tv::CollectiveKind::AllReduce ||
           communicate.getKind() == tv::CollectiveKind::Broadcast;
  auto semantics = dyn_cast<tv::SemanticsOpInterface>(op);
  if (!semantics)
    return false;
  FailureOr<IndexRelation> relation = semantics.getIndexRelation();
  if (failed(relation) || relation->combination != Combination::Sum)
    return false;
  auto isFactor = [](const DimensionExpr &expr) {
    return expr.getKind() == DimensionExpr::Kind::Factor;
  };
  return llvm::all_of(relation->accesses, [&](const auto &access) {
    return access.dimensions.size() == relation->result.size() &&
           llvm::all_of(llvm::zip_equal(access.dimensions, relation->result),
                        [&](const auto &pair) {
                          const auto &[from, to] = pair;
                          return isFactor(from) && isFactor(to) &&
                                 from.getFactor() == to.getFactor();
                        });
  });
}

/// The name of a buffer or of scratch memory.
static StringRef getMemoryName(Operation *memory) {
  return memory->getAttrOfType<StringAttr>("name").getValue();
}

LogicalResult InFlightChecker::follow(const MemoryAccess &access,
                                      const Origins &used, Operation *call) {
  if (access.type == AccessType::Wait) {
    order.wait(access.start);
    return success();
  }
  if (auto save = dyn_cast<tv::SaveOp>(access.op); save && call) {
    for (const Origin &origin : used)
      if (isa<tv::BufferOp>(origin.buffer))
        return save.emitOpError("saves a view of a gradient buffer, which is "
                                "not understood by the schedule check");
    int64_t instance = cast<tv::CallOp>(call).getInstance();
    saved[{instance, save.getOp()}] = used;
  }
  if (auto backward = dyn_cast<tv::BackwardOp>(access.op); backward && call)
    if (std::optional<int64_t> mirror = cast<tv::CallOp>(call).getMirror())
      if (auto found = saved.find({*mirror, backward.getForward()});
          found != saved.end())
        for (const Origin &origin : found->second)
          if (failed(checkAlone(access, call, origin.buffer, false, {})) ||
              failed(checkCurrent(access, call, origin)))
            return failure();
  if (isa<tv::OutputOp>(access.op))
    outputs.emplace_back(access, replace(used, {}));
  std::optional<unsigned> number;
  if (access.type == AccessType::Start)
    number = order.start(access.start);
  if (failed(checkInPlace(access, used)))
    return failure();
  for (const Origin &origin : access.read) {
    versionRead[origin.reader] = writers[origin.buffer].size();
    if (failed(checkHolds(access, call, origin)))
      return failure();
  }
  for (const Origins &origins : {access.read, used})
    for (const Origin &origin : origins)
      if (failed(checkAlone(access, call, origin.buffer, false, number)))
        return failure();
  for (const Origin &origin : used)
    if (failed(checkCurrent(access, call, origin)))
      return failure();
  if (access.written) {
    if (failed(checkAlone(access, call, access.written, true, number)))
      return failure();
    writers[access.written].push_back(access.op);
  }
  if (!number)
    return success();
  for (const Origins &origins : {access.read, used})
    for (const Origin &origin : origins)
      if (origin.buffer != access.written)
        underWay[origin.buffer].push_back({*number, false});
  if (access.written)
    underWay[access.written].push_back({*number, true});
  return success();
}

LogicalResult InFlightChecker::checkAlone(const MemoryAccess &access,
                                          Operation *call, Operation *buffer,
                                          bool writes,
                                          std::optional<unsigned> number) {
  SmallVector<UnderWay, 1> &users = underWay[buffer];
  llvm::erase_if(
      users, [&](const UnderWay &user) { return order.isOver(user.number); });
  for (const UnderWay &other : users)
    if ((writes || other.writes) &&
        !(number && order.isBefore(other.number, *number)))
      return report(access, call, buffer, writes, other);
  return success();
}

LogicalResult InFlightChecker::checkInPlace(const MemoryAccess &access,
                                            const Origins &used) {
  if (!access.written || access.type == AccessType::Free)
    return success();
  // What is written or added where it already is stays there.
  bool mayBeInPlace = access.type == AccessType::Write ||
                      worksInPlace(tv::StartOp(access.start).getStarted());
  for (const Origins &origins : {access.read, used})
    for (const Origin &origin : origins)
      if (origin.buffer == access.written &&
          (origin.isMoved || !mayBeInPlace)) {
        malformation = "memory is overwritten before it is read";
        return access.op->emitOpError("on device ")
               << device << " writes its result to '"
               << getMemoryName(access.written)
               << "' while it still reads from there";
      }
  return success();
}

LogicalResult InFlightChecker::checkHolds(const MemoryAccess &access,
                                          Operation *call,
                                          const Origin &origin) {
  ArrayRef<Operation *> all = writers[origin.buffer];
  if (isa<tv::BufferOp>(origin.buffer) ||
      (!all.empty() && !isa<tv::FreeOp>(all.back())))
    return success();
  malformation = "memory is read that holds nothing";
  InFlightDiagnostic error = access.op->emitOpError("on device ");
  error << device << " reads '" << getMemoryName(origin.buffer)
        << "', which holds nothing";
  if (call)
    error.attachNote(call->getLoc())
        << "in execution " << cast<tv::CallOp>(call).getInstance();
  if (!all.empty())
    error.attachNote(all.back()->getLoc()) << "it was freed here";
  return error;
}

LogicalResult InFlightChecker::checkCurrent(const MemoryAccess &access,
                                            Operation *call,
                                            const Origin &origin) {
  ArrayRef<Operation *> all = writers[origin.buffer];
  if (unsigned version = getVersion(origin); version < all.size()) {
    malformation = "memory is overwritten before it is read";
    InFlightDiagnostic error = access.op->emitOpError("on device ");
    bool isFreed = isa<tv::FreeOp>(all[version]);
    error << device << " reads '" << getMemoryName(origin.buffer)
          << "' through a tensor that was read before it was "
          << (isFreed ? "freed" : "overwritten");
    if (call)
      error.attachNote(call->getLoc())
          << "in execution " << cast<tv::CallOp>(call).getInstance();
    error.attachNote(origin.reader->getLoc()) << "it was read here";
    error.attachNote(all[version]->getLoc())
        << (isFreed ? "and freed here" : "and overwritten here");
    return error;
  }
  return success();
}

LogicalResult InFlightChecker::report(const MemoryAccess &access,
                                      Operation *call, Operation *buffer,
                                      bool writes, const UnderWay &other) {
  tv::StartOp start = order.getStart(other.number);
  StringRef user = "communication";
  malformation = "memory is used while communication uses it";
  if (!start.startsCommunication()) {
    user = "another stream";
    malformation = "memory is used while another stream uses it";
  }
  InFlightDiagnostic error = access.op->emitOpError("on device ");
  error << device << (writes ? " writes to '" : " reads '")
        << getMemoryName(buffer) << "' while " << user << " "
        << (other.writes ? "writes to it" : "reads it");
  if (call)
    error.attachNote(call->getLoc())
        << "in execution " << cast<tv::CallOp>(call).getInstance();
  error.attachNote(start.getLoc()) << "it was started here";
  error.attachNote(start.getWait().getLoc())
      << "and is waited for here, which has to come before";
  if (access.type == AccessType::Start)
    error.attachNote(access.op->getLoc())
        << "or this has to come after it, by its handle or on its stream";
  return error;
}
