//===- TensorFile.h - tensors as JSON or for NumPy --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_OUTPUT_TENSORFILE_H
#define VERIFY_OUTPUT_TENSORFILE_H

#include "Verify/Output/OutputFile.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/JSON.h"

namespace verify {

/// Writes tensors by name, one after the other: an object of nested lists, or,
/// if the path ends in `.npz`, an archive of arrays as `numpy.savez` writes it
/// (https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html).
class TensorFile {
public:
  enum class Kind { Real, Integer, Boolean };
  /// Most elements of all tensors: what fits into such an archive, 1 GiB.
  static constexpr int64_t elementLimit = int64_t(1) << 27;

  /// What is wrong with the name of a file; empty if nothing is. It tells the
  /// format.
  static std::string findProblem(llvm::StringRef path);
  static llvm::Expected<std::unique_ptr<TensorFile>> open(llvm::StringRef path);

  /// Elements in row-major order; those that are no real numbers are exact as
  /// they are. Each name comes once, and all have `elementLimit` elements.
  void add(llvm::StringRef name, llvm::ArrayRef<int64_t> shape, Kind kind,
           llvm::ArrayRef<double> elements);
  /// Nothing is written afterwards. Without it there is no file.
  llvm::Error keep();

private:
  TensorFile(std::unique_ptr<OutputFile> file, bool isArchive);
  void addNested(llvm::ArrayRef<int64_t> shape, Kind kind,
                 llvm::ArrayRef<double> elements);
  void addToArchive(llvm::StringRef name, llvm::StringRef content);

  struct Entry {
    std::string name;
    uint32_t checksum, size, offset;
  };
  std::unique_ptr<OutputFile> file;
  std::optional<llvm::json::OStream> json; ///< none of an archive
  llvm::SmallVector<Entry> entries;
  uint64_t offset = 0; ///< in the archive
};

} // namespace verify

#endif // VERIFY_OUTPUT_TENSORFILE_H
