//===- OutputFile.h - files that are complete or not there ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_OUTPUT_OUTPUTFILE_H
#define VERIFY_OUTPUT_OUTPUTFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

namespace verify {

/// Writes a file under a temporary name and renames it, so that what is there
/// is whole. What is no regular file, such as a pipe or `/dev/stdout`, is
/// written to as it is; a link stays, and what it leads to is written. `-` is
/// the standard output. The error names the file.
llvm::Error writeFile(llvm::StringRef path,
                      llvm::function_ref<void(llvm::raw_ostream &)> write);

} // namespace verify

#endif // VERIFY_OUTPUT_OUTPUTFILE_H
