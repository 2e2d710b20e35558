//===- ProofCache.cpp - proofs of earlier runs ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Analysis/ProofCache.h"

#include "Verify/Analysis/StageBuilder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/Chrono.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <link.h>

using namespace mlir;
using namespace verify;

/// The first line of an entry.
static constexpr llvm::StringLiteral header = "verify proof 2";
/// How names of entries end.
static constexpr llvm::StringLiteral extension = ".proof";
/// Bytes; those that are written have some hundreds.
static constexpr uint64_t maxEntry = 1 << 16;
/// How names of those end that are being written.
static constexpr llvm::StringLiteral temporaryExtension = ".tmp";

static std::string digest(StringRef text) {
  return llvm::toHex(llvm::BLAKE3::hash<32>(llvm::arrayRefFromStringRef(text)),
                     /*LowerCase=*/true);
}

/// A digest of what runs: whatever changes in it, laws or semantics of ops,
/// makes another one of it. Of the executable and of the shared object that
/// holds this code, where the passes were loaded into another compiler, the
/// bytes count; of other libraries, name, size and time. Empty if something
/// cannot be read.
static std::string getProgramDigest() {
  static int anchor;
  struct Object {
    std::string path;
    bool isOurs;
  };
  std::vector<Object> objects;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *data) {
        bool isOurs = false;
        for (const auto &segment :
             ArrayRef(info->dlpi_phdr, info->dlpi_phnum)) {
          auto offset = reinterpret_cast<uintptr_t>(&anchor) -
                        (info->dlpi_addr + segment.p_vaddr);
          isOurs |= segment.p_type == PT_LOAD && offset < segment.p_memsz;
        }
        static_cast<std::vector<Object> *>(data)->push_back(
            {info->dlpi_name, isOurs});
        return 0;
      },
      &objects);
  std::string text;
  for (Object &object : objects) {
    bool isExecutable = object.path.empty();
    if (isExecutable)
      object.path = llvm::sys::fs::getMainExecutable(nullptr, &anchor);
    text += object.path;
    if (isExecutable || object.isOurs) {
      auto file = llvm::MemoryBuffer::getFile(object.path, /*IsText=*/false,
                                              /*RequiresNullTerminator=*/false);
      if (!file)
        return "";
      text += " " + digest((*file)->getBuffer());
    } else if (llvm::sys::fs::file_status status;
               !llvm::sys::fs::status(object.path, status)) {
      text += llvm::formatv(
          " {0} {1}", status.getSize(),
          status.getLastModificationTime().time_since_epoch().count());
    } else if (llvm::sys::path::is_absolute(object.path)) {
      // Only what the kernel provides has no file.
      return "";
    }
    text += "\n";
  }
  return objects.empty() ? "" : digest(text);
}

ProofCache::ProofCache(StringRef directory, const ProverOptions &options,
                       StageProofs kinds, uint64_t byteLimit)
    : directory(directory), byteLimit(byteLimit) {
  std::string program = getProgramDigest();
  if (program.empty()) {
    problem = "this program cannot read itself, to tell its proofs apart";
    return;
  }
  if (std::error_code error = llvm::sys::fs::create_directories(directory))
    problem =
        "cannot make directory '" + this->directory + "': " + error.message();
  settings = llvm::formatv("program {0}\nsolver {1}\noptions {2} proofs={3}",
                           program, getSolverVersion(), options.toString(),
                           static_cast<unsigned>(kinds));
}

ProofCache::~ProofCache() {
  if (wasExtended)
    trim();
}

std::optional<std::string> ProofCache::getName(tv::StageOp stage) const {
  std::optional<std::string> text = StageBuilder::getText(stage);
  if (!text || settings.empty())
    return std::nullopt;
  return digest(settings + "\nstage " + *text);
}

/// What an entry says, but for the last line.
static std::string print(StringRef name, const StageVerdict &verdict) {
  return llvm::formatv("{0}\nabout {1}\nobligations {2}\nopaque-tensors {3}\n"
                       "conditions {4}\nsame {5}\n",
                       header, name, verdict.confirmed, verdict.opaqueTensors,
                       verdict.conditions, verdict.byCongruence);
}

std::optional<StageVerdict> ProofCache::find(tv::StageOp stage) {
  std::optional<std::string> name = getName(stage);
  if (!name)
    return std::nullopt;
  SmallString<256> path(directory);
  llvm::sys::path::append(path, *name + extension);
  // Whatever else has the name is not read.
  llvm::sys::fs::file_status status;
  if (llvm::sys::fs::status(path, status) ||
      !llvm::sys::fs::is_regular_file(status) || status.getSize() > maxEntry)
    return std::nullopt;
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return std::nullopt;
  StageVerdict verdict;
  verdict.verdict = Verdict::Proved;
  SmallVector<StringRef> lines;
  (*file)->getBuffer().split(lines, '\n');
  auto number = [&](size_t line, StringRef word, unsigned &value) {
    if (line >= lines.size())
      return false;
    StringRef text = lines[line];
    return text.consume_front(word) && !text.getAsInteger(10, value);
  };
  if (!number(2, "obligations ", verdict.confirmed) ||
      !number(3, "opaque-tensors ", verdict.opaqueTensors) ||
      !number(4, "conditions ", verdict.conditions) ||
      !number(5, "same ", verdict.byCongruence))
    return std::nullopt;
  // Only what would be written for these numbers is an entry.
  std::string expected = print(*name, verdict);
  if ((*file)->getBuffer() != expected + "end " + digest(expected) + "\n")
    return std::nullopt;
  return verdict;
}

void ProofCache::add(tv::StageOp stage, const StageVerdict &verdict) {
  if (verdict.verdict != Verdict::Proved || verdict.byNormalization != 0)
    return;
  // What could not be written once is not tried again; it is still read.
  if (!problem.empty())
    return;
  std::optional<std::string> name = getName(stage);
  if (!name)
    return;
  // Complete under its name, or not there.
  SmallString<256> path(directory), temporary(directory);
  llvm::sys::path::append(path, *name + extension);
  llvm::sys::path::append(temporary, *name + "-%%%%%%%%" + temporaryExtension);
  std::string text = print(*name, verdict);
  text += "end " + digest(text) + "\n";
  auto file = llvm::sys::fs::TempFile::create(temporary);
  if (!file) {
    problem = "cannot write to '" + directory +
              "': " + llvm::toString(file.takeError());
    return;
  }
  llvm::raw_fd_ostream out(file->FD, /*shouldClose=*/false);
  out << text;
  out.flush();
  bool isBroken = out.has_error();
  out.clear_error();
  llvm::Error error = isBroken ? file->discard() : file->keep(path);
  if (isBroken || error)
    problem = "cannot write to '" + directory + "'";
  llvm::consumeError(std::move(error));
  wasExtended = true;
}

/// Whether a file is an entry, or what a run that was killed left of one.
static bool isOurs(StringRef file) {
  StringRef name = file.take_while(llvm::isHexDigit);
  StringRef rest = file.drop_front(name.size());
  return name.size() == 64 &&
         (rest == extension ||
          (rest.starts_with("-") && rest.ends_with(temporaryExtension)));
}

void ProofCache::trim() const {
  struct Entry {
    llvm::sys::TimePoint<> time;
    uint64_t size;
    std::string path;
  };
  std::vector<Entry> entries;
  uint64_t total = 0;
  std::error_code error;
  for (llvm::sys::fs::directory_iterator it(directory, error), end;
       it != end && !error; it.increment(error)) {
    // Files of others stay.
    if (!isOurs(llvm::sys::path::filename(it->path())))
      continue;
    auto status = it->status();
    if (!status)
      continue;
    entries.push_back(
        {status->getLastModificationTime(), status->getSize(), it->path()});
    total += status->getSize();
  }
  if (total <= byteLimit)
    return;
  llvm::sort(entries, [](const Entry &left, const Entry &right) {
    return std::tie(left.time, left.path) < std::tie(right.time, right.path);
  });
  for (const Entry &entry : entries) {
    if (total <= byteLimit)
      return;
    if (!llvm::sys::fs::remove(entry.path))
      total -= entry.size;
  }
}
