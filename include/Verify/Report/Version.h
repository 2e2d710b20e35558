//===- Version.h - which program this is ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_REPORT_VERSION_H
#define VERIFY_REPORT_VERSION_H

namespace verify {

/// Has `--version` print the versions of Verify, LLVM and Z3.
void setVersionPrinter();

} // namespace verify

#endif // VERIFY_REPORT_VERSION_H
