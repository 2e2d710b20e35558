//===- WrongGroups.h - what one member of a group takes for it --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_SCHEDULE_WRONGGROUPS_H
#define VERIFY_LIB_SCHEDULE_WRONGGROUPS_H

#include "Skeleton.h"

namespace verify::schedule {

/// A collective whose group is another one on one device than on another that
/// one of the two groups names.
struct WrongGroup {
  tv::CommunicateOp op; ///< on the device that fewer agree with
  int64_t device;
  tv::CommunicateOp other;
  int64_t otherDevice;

  /// What a message about `op` goes on with.
  std::string describe() const;
};

/// The first such collective, of those that devices are at if there is one.
/// Those of one cell of the plan are one on all devices; ops without a number
/// are not looked at. Says where a plan that cannot be executed is wrong, not
/// whether it is.
std::optional<WrongGroup>
findWrongGroup(const Skeleton &skeleton,
               llvm::ArrayRef<mlir::Operation *> current);

} // namespace verify::schedule

#endif // VERIFY_LIB_SCHEDULE_WRONGGROUPS_H
