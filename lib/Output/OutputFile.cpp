//===- OutputFile.cpp - files that are complete or not there --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Output/OutputFile.h"

#include "llvm/Support/FileSystem.h"

using namespace llvm;

using namespace verify;

Expected<std::unique_ptr<OutputFile>> OutputFile::open(StringRef path) {
  using File = std::unique_ptr<OutputFile>;
  if (path == "-")
    return File(new OutputFile("standard output", outs()));
  sys::fs::file_status status, standard;
  bool isThere = !sys::fs::status(path, status);
  // `/dev/stdout` where that is a file, to which more is written.
  for (raw_fd_ostream *out : {&outs(), &errs()})
    if (isThere && !sys::fs::status(out == &outs() ? 1 : 2, standard) &&
        sys::fs::equivalent(status, standard))
      return File(new OutputFile(path, *out));
  if (isThere && sys::fs::is_directory(status))
    return createFileError(path, make_error_code(std::errc::is_a_directory));
  std::error_code error;
  bool isDangling = !isThere && sys::fs::is_symlink_file(path);
  auto writeThrough = [&](sys::fs::CreationDisposition how) -> Expected<File> {
    auto through = std::make_unique<raw_fd_ostream>(path, error, how);
    if (error)
      return createFileError(path, error);
    return File(new OutputFile(path, std::move(through)));
  };
  if (isDangling || (isThere && !sys::fs::is_regular_file(status)))
    return writeThrough(sys::fs::CD_OpenAlways);
  if (isThere && !sys::fs::can_write(path))
    return createFileError(path, make_error_code(std::errc::permission_denied));
  SmallString<256> target(path);
  if (isThere)
    if ((error = sys::fs::real_path(path, target)))
      return createFileError(path, error);
  Expected<sys::fs::TempFile> temporary =
      sys::fs::TempFile::create(target + ".%%%%%%");
  if (!temporary) {
    error = errorToErrorCode(temporary.takeError());
    // A file that may be written in a directory that may not is written where
    // it is.
    if (isThere && error == std::errc::permission_denied)
      return writeThrough(sys::fs::CD_CreateAlways);
    return createFileError(path, error);
  }
  // What nobody else may read stays so.
  if (isThere)
    error = sys::fs::setPermissions(temporary->TmpName, status.permissions());
  if (error)
    return joinErrors(createFileError(path, error), temporary->discard());
  File file(new OutputFile(target, std::make_unique<raw_fd_ostream>(
                                       temporary->FD, /*shouldClose=*/false)));
  file->temporary.emplace(std::move(*temporary));
  return file;
}

Error OutputFile::takeError() {
  out->flush();
  std::error_code error = out->error();
  out->clear_error();
  return errorCodeToError(error);
}

Error OutputFile::keep() {
  Error error = takeError();
  if (temporary) {
    std::optional<sys::fs::TempFile> file = std::exchange(temporary, {});
    error = error ? joinErrors(std::move(error), file->discard())
                  : file->keep(path);
  }
  return error ? createFileError(path, std::move(error)) : Error::success();
}

OutputFile::~OutputFile() {
  if (own)
    consumeError(takeError());
  if (temporary)
    consumeError(temporary->discard());
}

Error verify::writeFile(StringRef path,
                        function_ref<void(raw_ostream &)> write) {
  Expected<std::unique_ptr<OutputFile>> file = OutputFile::open(path);
  if (!file)
    return file.takeError();
  write((*file)->os());
  return (*file)->keep();
}
