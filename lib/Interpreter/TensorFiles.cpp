//===- TensorFiles.cpp - given inputs from a file -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// JSON for what people and tests write, `.npz` for what NumPy saves. Both are
// read as data; anything that is not understood is an error.
//
//===----------------------------------------------------------------------===//

#include "Verify/Interpreter/InputValues.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>

using namespace verify;
using namespace llvm;

/// Most elements of a given tensor.
static constexpr int64_t elementLimit = int64_t(1) << 27;

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// `3`, `-1/3`.
static std::optional<Rational> parseRational(StringRef text) {
  auto [top, bottom] = text.split('/');
  StringRef digits = top;
  digits.consume_front("-");
  auto isNumber = [](StringRef part) {
    return !part.empty() && part.size() <= 4096 && all_of(part, isDigit);
  };
  if (!isNumber(digits) || (text.contains('/') && !isNumber(bottom)))
    return std::nullopt;
  if (text.contains('/') && bottom.find_first_not_of('0') == StringRef::npos)
    return std::nullopt;
  mpq_t value;
  mpq_init(value);
  bool isParsed = mpq_set_str(value, text.str().c_str(), 10) == 0;
  mpq_canonicalize(value);
  std::optional<Rational> result;
  if (isParsed)
    result = Rational::fromGmp(value);
  mpq_clear(value);
  return result;
}

/// Appends the numbers of nested lists; false if they are no tensor.
static bool flatten(const json::Value &value, size_t depth,
                    GivenTensor &tensor) {
  if (const json::Array *list = value.getAsArray()) {
    auto size = static_cast<int64_t>(list->size());
    if (depth == tensor.shape.size()) {
      // The first list at this depth tells the size; a number came before.
      if (!tensor.elements.empty() || depth > 16)
        return false;
      tensor.shape.push_back(size);
    }
    if (tensor.shape[depth] != size)
      return false;
    for (const json::Value &child : *list)
      if (!flatten(child, depth + 1, tensor))
        return false;
    return true;
  }
  if (depth != tensor.shape.size())
    return false;
  if (std::optional<bool> truth = value.getAsBoolean()) {
    tensor.elements.emplace_back(Rational(*truth));
  } else if (std::optional<int64_t> integer = value.getAsInteger();
             integer && value.getAsNumber() == double(*integer)) {
    tensor.elements.emplace_back(Rational(*integer));
  } else if (std::optional<double> number = value.getAsNumber();
             number && std::isfinite(*number)) {
    tensor.elements.emplace_back(Rational::fromDouble(*number));
  } else if (std::optional<StringRef> text = value.getAsString()) {
    std::optional<Rational> parsed = parseRational(*text);
    if (!parsed && *text != "-inf")
      return false;
    tensor.elements.push_back(std::move(parsed));
  } else {
    return false;
  }
  return true;
}

static std::optional<GivenTensors> readJson(StringRef text,
                                            std::string &error) {
  Expected<json::Value> parsed = json::parse(text);
  if (!parsed) {
    error = toString(parsed.takeError());
    return std::nullopt;
  }
  const json::Object *object = parsed->getAsObject();
  if (!object) {
    error = "is no object of tensors by name";
    return std::nullopt;
  }
  GivenTensors tensors;
  for (const auto &entry : *object)
    if (!flatten(entry.second, 0, tensors[entry.first.str()])) {
      error = "'" + entry.first.str() + "' is no nested list of numbers";
      return std::nullopt;
    }
  return tensors;
}

//===----------------------------------------------------------------------===//
// npz: a ZIP archive of .npy files
//===----------------------------------------------------------------------===//

namespace {
/// Little-endian numbers at places of a file; `isBroken` after a read beyond
/// its end.
class Bytes {
public:
  explicit Bytes(StringRef data) : data(data) {}
  uint64_t read(size_t at, unsigned size) {
    if (at > data.size() || size > data.size() - at) {
      isBroken = true;
      return 0;
    }
    uint64_t value = 0;
    for (unsigned i = 0; i < size; ++i)
      value |= uint64_t(uint8_t(data[at + i])) << (8 * i);
    return value;
  }
  StringRef slice(size_t at, size_t size) {
    if (at > data.size() || size > data.size() - at) {
      isBroken = true;
      return {};
    }
    return data.substr(at, size);
  }
  StringRef data;
  bool isBroken = false;
};
} // namespace

/// Element `bits` of NumPy type `type`; nothing if it is no finite number or
/// minus infinity.
static bool decode(StringRef type, uint64_t bits, GivenTensor &tensor) {
  if (type == "i8" || type == "i4" || type == "i2" || type == "i1") {
    unsigned width = 8 * (type[1] - '0');
    tensor.elements.emplace_back(Rational(SignExtend64(bits, width)));
    return true;
  }
  if (type == "u4" || type == "u2" || type == "u1" || type == "b1") {
    tensor.elements.emplace_back(Rational(int64_t(bits)));
    return true;
  }
  double value =
      type == "f8" ? bit_cast<double>(bits) : bit_cast<float>(uint32_t(bits));
  if (std::isfinite(value))
    tensor.elements.emplace_back(Rational::fromDouble(value));
  else if (value < 0)
    tensor.elements.emplace_back(std::nullopt);
  else
    return false;
  return true;
}

/// Text between `before` and `after`.
static StringRef between(StringRef text, StringRef before, StringRef after) {
  size_t start = text.find(before);
  if (start == StringRef::npos)
    return {};
  text = text.drop_front(start + before.size());
  return text.take_front(text.find(after));
}

/// Reads a `.npy` file; an error, or nothing.
static std::string readArray(StringRef data, GivenTensor &tensor) {
  Bytes bytes(data);
  if (!data.starts_with("\x93NUMPY"))
    return "is no array of NumPy";
  bool isFirstVersion = bytes.read(6, 1) == 1;
  unsigned lengthSize = isFirstVersion ? 2 : 4;
  uint64_t length = bytes.read(8, lengthSize);
  StringRef header = bytes.slice(8 + lengthSize, length);
  StringRef content = data.drop_front(
      std::min<size_t>(data.size(), 8 + lengthSize + header.size()));
  if (bytes.isBroken)
    return "is cut off";
  StringRef type = between(header, "'descr': '", "'");
  bool isLittle = type.consume_front("<") || type.consume_front("|");
  if (!isLittle ||
      !is_contained(
          {"f8", "f4", "i8", "i4", "i2", "i1", "u4", "u2", "u1", "b1"}, type))
    return "has elements of type '" + type.str() +
           "'; save floats of 32 or 64 bits, integers or booleans";
  if (!header.contains("'fortran_order': False"))
    return "is in column-major order; save a C-contiguous array";
  int64_t count = 1;
  SmallVector<StringRef> sizes;
  between(header, "'shape': (", ")").split(sizes, ',');
  for (StringRef text : sizes) {
    int64_t size = 0;
    if (text.trim().empty())
      continue;
    if (text.trim().getAsInteger(10, size) || size < 0 ||
        MulOverflow(count, size, count) || count > elementLimit)
      return "has a shape that is not understood";
    tensor.shape.push_back(size);
  }
  unsigned width = type[1] - '0';
  if (content.size() != uint64_t(count) * width)
    return "is cut off";
  Bytes elements(content);
  for (int64_t i = 0; i < count; ++i)
    if (!decode(type, elements.read(size_t(i) * width, width), tensor))
      return "has an element that is no number";
  return "";
}

static std::optional<GivenTensors> readArchive(StringRef data,
                                               std::string &error) {
  Bytes bytes(data);
  GivenTensors tensors;
  // The central directory, from the record at the end.
  size_t end = data.rfind(StringRef("PK\x05\x06", 4));
  if (end == StringRef::npos) {
    error = "is no archive of NumPy";
    return std::nullopt;
  }
  uint64_t count = bytes.read(end + 10, 2);
  size_t entry = bytes.read(end + 16, 4);
  for (uint64_t i = 0; i < count && !bytes.isBroken; ++i) {
    uint64_t nameSize = bytes.read(entry + 28, 2);
    uint64_t method = bytes.read(entry + 10, 2);
    uint64_t size = bytes.read(entry + 20, 4);
    StringRef name = bytes.slice(entry + 46, nameSize);
    size_t local = bytes.read(entry + 42, 4);
    entry +=
        46 + nameSize + bytes.read(entry + 30, 2) + bytes.read(entry + 32, 2);
    if (method != 0) {
      error = "is compressed; save it with numpy.savez";
      return std::nullopt;
    }
    size_t start =
        local + 30 + bytes.read(local + 26, 2) + bytes.read(local + 28, 2);
    StringRef content = bytes.slice(start, size);
    name.consume_back(".npy");
    if (bytes.isBroken)
      break;
    auto [tensor, isNew] = tensors.try_emplace(name);
    if (!isNew) {
      error = "has '" + name.str() + "' twice";
      return std::nullopt;
    }
    if (std::string problem = readArray(content, tensor->second);
        !problem.empty()) {
      error = "'" + name.str() + "' " + problem;
      return std::nullopt;
    }
  }
  if (bytes.isBroken) {
    error = "is cut off";
    return std::nullopt;
  }
  return tensors;
}

std::optional<GivenTensors> verify::readTensors(StringRef path,
                                                std::string &error) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(path);
  if (!file) {
    error = file.getError().message();
    return std::nullopt;
  }
  StringRef data = (*file)->getBuffer();
  return path.ends_with(".npz") ? readArchive(data, error)
                                : readJson(data, error);
}
