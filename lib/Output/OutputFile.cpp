//===- OutputFile.cpp - files that are complete or not there --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Output/OutputFile.h"

#include "llvm/Support/FileSystem.h"

using namespace llvm;

/// Writes, and takes the error from the stream, which would end the process.
static Error writeTo(raw_fd_ostream &out,
                     function_ref<void(raw_ostream &)> write) {
  write(out);
  out.flush();
  std::error_code error = out.error();
  out.clear_error();
  return errorCodeToError(error);
}

/// Writes to what is there.
static Error writeThrough(StringRef path,
                          function_ref<void(raw_ostream &)> write) {
  std::error_code error;
  raw_fd_ostream out(path, error, sys::fs::CD_OpenAlways);
  return error ? errorCodeToError(error) : writeTo(out, write);
}

static Error replace(StringRef path, function_ref<void(raw_ostream &)> write) {
  Expected<sys::fs::TempFile> file =
      sys::fs::TempFile::create(path + ".%%%%%%");
  if (!file)
    return file.takeError();
  raw_fd_ostream out(file->FD, /*shouldClose=*/false);
  if (Error error = writeTo(out, write))
    return joinErrors(std::move(error), file->discard());
  return file->keep(path);
}

Error verify::writeFile(StringRef path,
                        function_ref<void(raw_ostream &)> write) {
  if (path == "-")
    return writeTo(outs(), write);
  sys::fs::file_status status, standard;
  bool isThere = !sys::fs::status(path, status);
  // `/dev/stdout` where that is a file, to which more is written.
  for (raw_fd_ostream *out : {&outs(), &errs()})
    if (isThere && !sys::fs::status(out == &outs() ? 1 : 2, standard) &&
        sys::fs::equivalent(status, standard))
      return writeTo(*out, write);
  if (isThere && sys::fs::is_directory(status))
    return createFileError(path, make_error_code(std::errc::is_a_directory));
  bool isDangling = !isThere && sys::fs::is_symlink_file(path);
  if (isDangling || (isThere && !sys::fs::is_regular_file(status))) {
    Error error = writeThrough(path, write);
    return error ? createFileError(path, std::move(error)) : Error::success();
  }
  SmallString<256> target(path);
  if (isThere)
    if (std::error_code error = sys::fs::real_path(path, target))
      return createFileError(path, error);
  Error error = replace(target, write);
  return error ? createFileError(path, std::move(error)) : Error::success();
}
