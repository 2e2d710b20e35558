//===- TensorFile.cpp - tensors as JSON or for NumPy ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An archive is a ZIP file of arrays that are not compressed (APPNOTE.TXT,
// 4.3.7 to 4.3.16).
//
//===----------------------------------------------------------------------===//

#include "Verify/Output/TensorFile.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/EndianStream.h"

using namespace llvm;
using namespace verify;

TensorFile::TensorFile(std::unique_ptr<OutputFile> newFile, bool isArchive)
    : file(std::move(newFile)) {
  if (isArchive)
    return;
  json.emplace(file->os());
  json->objectBegin();
}

std::string TensorFile::findProblem(StringRef path) {
  return path.ends_with(".json") || path.ends_with(".npz")
             ? ""
             : ("'" + path + "' ends neither in .json nor in .npz").str();
}

Expected<std::unique_ptr<TensorFile>> TensorFile::open(StringRef path) {
  if (std::string problem = findProblem(path); !problem.empty())
    return createStringError(problem);
  Expected<std::unique_ptr<OutputFile>> file = OutputFile::open(path);
  if (!file)
    return file.takeError();
  return std::unique_ptr<TensorFile>(
      new TensorFile(std::move(*file), path.ends_with(".npz")));
}

void TensorFile::addNested(ArrayRef<int64_t> shape, Kind kind,
                           ArrayRef<double> elements) {
  if (!shape.empty()) {
    json->arrayBegin();
    for (int64_t i = 0; i < shape.front(); ++i) {
      size_t size = elements.size() / shape.front();
      addNested(shape.drop_front(), kind, elements.slice(i * size, size));
    }
    json->arrayEnd();
    return;
  }
  double element = elements.front();
  switch (kind) {
  case Kind::Real:
    json->value(element);
    break;
  case Kind::Integer:
    json->value(static_cast<int64_t>(element));
    break;
  case Kind::Boolean:
    json->value(element != 0);
    break;
  }
}

/// An array as a file of NumPy, version 1.0 of the format.
static std::string encodeArray(ArrayRef<int64_t> shape, TensorFile::Kind kind,
                               ArrayRef<double> elements) {
  constexpr size_t alignment = 64, lengthEnd = 10;
  std::string header;
  raw_string_ostream text(header);
  StringRef type = kind == TensorFile::Kind::Real      ? "<f8"
                   : kind == TensorFile::Kind::Integer ? "<i8"
                                                       : "|b1";
  text << "{'descr': '" << type << "', 'fortran_order': False, 'shape': (";
  for (int64_t size : shape)
    text << size << ", ";
  text << "), }";
  header.append(alignTo(lengthEnd + header.size() + 1, alignment) - lengthEnd -
                    1 - header.size(),
                ' ');
  header.push_back('\n');
  std::string content;
  raw_string_ostream out(content);
  support::endian::Writer writer(out, endianness::little);
  out << StringRef("\x93NUMPY\x01\x00", 8);
  writer.write<uint16_t>(header.size());
  out << header;
  for (double element : elements)
    if (kind == TensorFile::Kind::Real)
      writer.write<double>(element);
    else if (kind == TensorFile::Kind::Integer)
      writer.write<int64_t>(static_cast<int64_t>(element));
    else
      writer.write<uint8_t>(element != 0);
  return content;
}

void TensorFile::add(StringRef name, ArrayRef<int64_t> shape, Kind kind,
                     ArrayRef<double> elements) {
  if (!json) {
    addToArchive(name, encodeArray(shape, kind, elements));
    return;
  }
  json->attributeBegin(name);
  addNested(shape, kind, elements);
  json->attributeEnd();
}

/// The fields that both headers of a file have, of 2 and 4 bytes.
static void writeFields(support::endian::Writer &writer, uint32_t checksum,
                        uint32_t size, size_t nameSize) {
  constexpr uint16_t version = 20, isUtf8 = 1 << 11, isStored = 0, noTime = 0,
                     firstDate = (1 << 5) + 1; // The first day of 1980.
  for (uint16_t field : {version, isUtf8, isStored, noTime, firstDate})
    writer.write<uint16_t>(field);
  for (uint32_t field : {checksum, size, size})
    writer.write<uint32_t>(field);
  writer.write<uint16_t>(nameSize);
  writer.write<uint16_t>(0); // No extra field.
}

void TensorFile::addToArchive(StringRef name, StringRef content) {
  Entry entry = {(name + ".npy").str(), crc32(arrayRefFromStringRef(content)),
                 static_cast<uint32_t>(content.size()),
                 static_cast<uint32_t>(offset)};
  support::endian::Writer writer(file->os(), endianness::little);
  file->os() << StringRef("PK\x03\x04", 4);
  writeFields(writer, entry.checksum, entry.size, entry.name.size());
  file->os() << entry.name << content;
  offset += 30 + entry.name.size() + content.size();
  entries.push_back(std::move(entry));
}

Error TensorFile::keep() {
  if (json) {
    json->objectEnd();
    json->flush();
    file->os() << "\n";
    return file->keep();
  }
  support::endian::Writer writer(file->os(), endianness::little);
  uint64_t size = 0;
  for (const Entry &entry : entries) {
    file->os() << StringRef("PK\x01\x02", 4);
    writer.write<uint16_t>(20); // Made by this version.
    writeFields(writer, entry.checksum, entry.size, entry.name.size());
    for (uint16_t field : {0, 0, 0}) // No comment, the first disk, no text.
      writer.write<uint16_t>(field);
    for (uint32_t field : {uint32_t(0), entry.offset}) // No attributes.
      writer.write<uint32_t>(field);
    file->os() << entry.name;
    size += 46 + entry.name.size();
  }
  file->os() << StringRef("PK\x05\x06", 4);
  auto count = static_cast<uint16_t>(entries.size());
  for (uint16_t field : {uint16_t(0), uint16_t(0), count, count})
    writer.write<uint16_t>(field);
  for (uint32_t field :
       {static_cast<uint32_t>(size), static_cast<uint32_t>(offset)})
    writer.write<uint32_t>(field);
  writer.write<uint16_t>(0); // No comment.
  return file->keep();
}
