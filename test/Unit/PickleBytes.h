//===- PickleBytes.h - writes pickles for tests -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pieces of pickle files as strings, and ways to read and show them. Tests
// write their files byte by byte, so that each says what it is about.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_TEST_UNIT_PICKLEBYTES_H
#define VERIFY_TEST_UNIT_PICKLEBYTES_H

#include "Verify/Pickle/Reader.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <string>

namespace verify::pickle {

/// A string of bytes that may hold zeros.
template <size_t N> std::string bytes(const char (&text)[N]) {
  return std::string(text, N - 1);
}

/// A number as little-endian bytes.
template <typename T> std::string little(T number) {
  std::string text(sizeof(T), '\0');
  llvm::support::endian::write<T, llvm::endianness::little>(text.data(),
                                                            number);
  return text;
}

/// A text (BINUNICODE).
inline std::string text(llvm::StringRef characters) {
  return "X" + little<uint32_t>(characters.size()) + characters.str();
}

/// `pickle` repeated.
inline std::string repeat(llvm::StringRef pickle, size_t times) {
  std::string all;
  all.reserve(pickle.size() * times);
  for (size_t i = 0; i != times; ++i)
    all += pickle;
  return all;
}

/// Reads a file called test.pkl.
inline llvm::Expected<Graph> readBytes(llvm::StringRef file,
                                       const ReaderOptions &options = {}) {
  return readPickle(llvm::MemoryBuffer::getMemBufferCopy(file, "test.pkl"),
                    options);
}

/// The error that reading gives, or "" if it gives none.
inline std::string readError(llvm::StringRef file,
                             const ReaderOptions &options = {}) {
  llvm::Expected<Graph> graph = readBytes(file, options);
  return graph ? "" : llvm::toString(graph.takeError());
}

/// A value in Python's notation, with objects as calls. For values that are
/// neither deep nor cyclic.
std::string show(const Graph &graph, Value value);

/// Reads a file and shows its root, or the error.
std::string show(llvm::StringRef file);

} // namespace verify::pickle

#endif // VERIFY_TEST_UNIT_PICKLEBYTES_H
