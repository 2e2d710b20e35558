//===- OutputFile.h - files that are complete or not there ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_OUTPUT_OUTPUTFILE_H
#define VERIFY_OUTPUT_OUTPUTFILE_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <memory>
#include <optional>
#include <string>

namespace verify {

/// A file that is written under a temporary name and renamed, so that what is
/// there is whole; it has the permissions of the one it replaces. What is no
/// regular file, such as a pipe or `/dev/stdout`, is written to as it is, and
/// so is a file in a directory that may not be written; a link stays, and what
/// it leads to is written. `-` is the standard output. Errors name the file.
class OutputFile {
public:
  static llvm::Expected<std::unique_ptr<OutputFile>> open(llvm::StringRef path);
  /// Without `keep` nothing is renamed: what was to be replaced stays.
  ~OutputFile();

  llvm::raw_ostream &os() { return *out; }
  /// Nothing is written afterwards.
  llvm::Error keep();

private:
  OutputFile(llvm::StringRef path, llvm::raw_fd_ostream &standard)
      : path(path), out(&standard) {}
  OutputFile(llvm::StringRef path, std::unique_ptr<llvm::raw_fd_ostream> own)
      : path(path), own(std::move(own)), out(this->own.get()) {}

  /// Takes the error from the stream, which would end the process.
  llvm::Error takeError();

  std::string path;
  std::optional<llvm::sys::fs::TempFile> temporary;
  std::unique_ptr<llvm::raw_fd_ostream> own;
  llvm::raw_fd_ostream *out;
};

/// Opens such a file, writes it and keeps it.
llvm::Error writeFile(llvm::StringRef path,
                      llvm::function_ref<void(llvm::raw_ostream &)> write);

} // namespace verify

#endif // VERIFY_OUTPUT_OUTPUTFILE_H
