//===- Decoder.cpp - typed access to the fields of a plan -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides what is said when a field is missing or holds something else: the
// file, the class and id of the object, the field, what was expected and what
// was found.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"

using namespace verify;
using namespace verify::nnscaler;

Decoder::Decoder(const pickle::Graph &graph, llvm::BumpPtrAllocator &arena,
                 size_t memoryLimit,
                 const llvm::DenseSet<int64_t> &knownDevices)
    : graph(graph), arena(arena), memoryLimit(memoryLimit), layouts(graph),
      classes(graph), strings(arena), integerArrays(arena), rangeArrays(arena),
      knownDevices(knownDevices) {}

bool Decoder::fail(const llvm::Twine &text) {
  if (message.empty())
    message = (graph.getFileName() + ": " + text).str();
  return false;
}

bool Decoder::failMemory() {
  return fail("decoding needs more than " + llvm::Twine(memoryLimit) +
              " bytes of memory");
}

std::string Decoder::describe(const ObjectFields &object) {
  std::string text = graph.describe(object.getObject());
  if (std::optional<Value> id = object.find(Field::Id))
    if (std::optional<int64_t> number = toInteger(*id))
      text += " " + std::to_string(*number);
  return text;
}

bool Decoder::fail(const ObjectFields &object, const llvm::Twine &text) {
  return fail(describe(object) + ": " + text);
}

bool Decoder::failField(const ObjectFields &object, Field field,
                        const llvm::Twine &text) {
  return fail(object, "field '" + getFieldName(field) + "': " + text);
}

bool Decoder::failType(const ObjectFields &object, Field field,
                       const llvm::Twine &expected, Value found) {
  return failField(object, field,
                   "expected " + expected + ", found " + graph.describe(found));
}

bool Decoder::checkState(const ObjectFields &object) {
  return object.isValid() ||
         fail(object, "the state is not a dictionary of fields");
}

bool Decoder::failMissing(const ObjectFields &object, Field field) {
  return checkState(object) && failField(object, field, "missing");
}

bool Decoder::getInteger(const ObjectFields &object, Field field,
                         int64_t &integer) {
  Value value;
  if (!get(object, field, value))
    return false;
  std::optional<int64_t> number = toInteger(value);
  if (!number)
    return failType(object, field, "an integer of 64 bits", value);
  integer = *number;
  return true;
}

bool Decoder::getId(const ObjectFields &object, int64_t &id) {
  if (!getInteger(object, Field::Id, id))
    return false;
  return (id >= 0 && id <= maxId) ||
         failField(object, Field::Id, llvm::Twine(id) + " is no number");
}

bool Decoder::getBoolean(const ObjectFields &object, Field field,
                         bool &boolean) {
  Value value;
  if (!get(object, field, value))
    return false;
  std::optional<bool> found = toBoolean(value);
  if (!found)
    return failType(object, field, "bool", value);
  boolean = *found;
  return true;
}

bool Decoder::getString(const ObjectFields &object, Field field,
                        llvm::StringRef &text) {
  Value value;
  if (!get(object, field, value))
    return false;
  if (graph.getKind(value) != Kind::String)
    return failType(object, field, "str", value);
  text = intern(value);
  return true;
}

bool Decoder::getOptionalString(const ObjectFields &object, Field field,
                                llvm::StringRef &text) {
  std::optional<Value> value = object.find(field);
  if (!value || graph.isNone(*value))
    return true;
  return getString(object, field, text);
}

bool Decoder::getObject(const ObjectFields &object, Field field,
                        PlanClass expected, Value &value) {
  if (!get(object, field, value))
    return false;
  if (classes.get(value) != expected)
    return failType(object, field, getClassName(expected), value);
  return true;
}

bool Decoder::getElements(const ObjectFields &object, Field field,
                          Value &sequence, llvm::ArrayRef<Value> &elements) {
  if (!get(object, field, sequence))
    return false;
  std::optional<llvm::ArrayRef<Value>> found = toSequence(sequence);
  if (!found)
    return failType(object, field, "a list or tuple", sequence);
  elements = *found;
  return true;
}

bool Decoder::getSizes(const ObjectFields &object, Field field,
                       llvm::SmallVectorImpl<int64_t> &integers) {
  Value sequence;
  llvm::ArrayRef<Value> elements;
  if (!getElements(object, field, sequence, elements))
    return false;
  if (elements.size() > maxRank)
    return failField(object, field,
                     "more than " + llvm::Twine(maxRank) + " numbers");
  for (Value element : elements) {
    std::optional<int64_t> number = toInteger(element);
    if (!number)
      return failType(object, field, "integers of 64 bits", element);
    integers.push_back(*number);
  }
  return true;
}

bool Decoder::getIntegers(const ObjectFields &object, Field field,
                          llvm::ArrayRef<int64_t> &integers) {
  Value sequence;
  llvm::ArrayRef<Value> elements;
  if (!getElements(object, field, sequence, elements))
    return false;
  auto [entry, isNew] = integersByValue.try_emplace(sequence.getRaw());
  if (isNew) {
    llvm::SmallVector<int64_t> numbers;
    for (Value element : elements) {
      std::optional<int64_t> number = toInteger(element);
      if (!number)
        return failType(object, field, "integers of 64 bits", element);
      numbers.push_back(*number);
    }
    entry->second = integerArrays.intern(numbers);
  }
  integers = entry->second;
  return true;
}
