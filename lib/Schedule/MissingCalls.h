//===- MissingCalls.h - what one of two devices leaves out ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Devices of one group mostly run like segments in the same order. Where one of
// them leaves out an execution, as for one micro-batch, they meet in the wrong
// collectives, or not at all, much later.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_SCHEDULE_MISSINGCALLS_H
#define VERIFY_LIB_SCHEDULE_MISSINGCALLS_H

#include "Skeleton.h"

namespace verify::schedule {

/// A call of one program that another one leaves out, which is like it up to
/// there and goes on with what follows.
struct MissingCall {
  tv::CallOp call;
  int64_t device;        ///< that calls
  int64_t number, count; ///< of this call and all that are like it
  int64_t otherDevice, otherCount;

  /// `instance 7 on device 1, number 3 of 4 like it, is left out by device 0`.
  std::string describe() const;
};

/// Whether two programs part like that, and the shorter one has fewer calls
/// like the one that it leaves out, which enters a collective of both devices.
std::optional<MissingCall>
findMissingCall(const Program &first, const Program &second,
                llvm::ArrayRef<Communicator> communicators);

} // namespace verify::schedule

#endif // VERIFY_LIB_SCHEDULE_MISSINGCALLS_H
