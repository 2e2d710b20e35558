//===- DecodeArguments.cpp - arguments and Python constants -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides which Python values may be arguments and what is kept of them.
// Constants may share parts, be nested and even contain themselves; they are
// decoded with a stack of their own, each container once.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallSet.h"

using namespace verify;
using namespace verify::nnscaler;

/// Constants nested more deeply than this are no constants of a model.
static constexpr size_t maxDepth = 32;

/// Lists of arguments up to this length are decoded for each of their users.
static constexpr size_t maxUnshared = 32;

bool Decoder::decodeArguments(const ObjectFields &object, Field field,
                              llvm::ArrayRef<Argument> &arguments) {
  Value sequence;
  llvm::ArrayRef<Value> elements;
  if (!getElements(object, field, sequence, elements))
    return false;
  // Long lists that many objects share must not be decoded for each.
  bool isLong = elements.size() > maxUnshared;
  if (isLong) {
    auto known = argumentsByValue.find(sequence.getRaw());
    if (known != argumentsByValue.end()) {
      arguments = known->second;
      return true;
    }
  }
  Argument *first;
  if (!allocate(elements.size(), first))
    return false;
  for (size_t i = 0; i != elements.size(); ++i)
    if (!decodeArgument(object, field, elements[i], first[i]))
      return false;
  arguments = llvm::ArrayRef(first, elements.size());
  references.emplace_back(References::Arguments, first, elements.size());
  if (isLong)
    argumentsByValue.try_emplace(sequence.getRaw(), arguments);
  return true;
}

bool Decoder::checkKeys(const ObjectFields &object, Field field,
                        Value dictionary) {
  llvm::SmallPtrSet<const char *, 16> texts;
  llvm::SmallSet<int64_t, 4> numbers;
  for (size_t i = 0, e = graph.getNumEntries(dictionary); i != e; ++i) {
    Value key = graph.getEntry(dictionary, i).first;
    bool isNew;
    switch (graph.getKind(key)) {
    case Kind::String:
      // Equal strings are one.
      isNew = texts.insert(intern(key).data()).second;
      break;
    case Kind::Integer:
      isNew = numbers.insert(graph.getInteger(key)).second;
      break;
    default:
      // True is 1, and so is 1.0, also in tuples.
      return failType(object, field, "keys that are str or int", key);
    }
    if (!isNew)
      return failField(
          object, field,
          "the key " +
              (graph.getKind(key) == Kind::String
                   ? "'" + pickle::getPrintable(graph.getText(key)) + "'"
                   : std::to_string(graph.getInteger(key))) +
              " is there twice");
  }
  return true;
}

bool Decoder::decodeKeywords(const ObjectFields &object, Field field,
                             llvm::ArrayRef<KeywordArgument> &keywords) {
  Value dictionary;
  if (!get(object, field, dictionary))
    return false;
  if (graph.getKind(dictionary) != Kind::Dictionary)
    return failType(object, field, "dict", dictionary);
  if (graph.getNumEntries(dictionary) == 0)
    return true;
  auto known = keywordsByValue.find(dictionary.getRaw());
  if (known != keywordsByValue.end()) {
    keywords = known->second;
    return true;
  }
  size_t count = graph.getNumEntries(dictionary);
  KeywordArgument *first;
  if (!checkKeys(object, field, dictionary) || !allocate(count, first))
    return false;
  for (size_t i = 0; i != count; ++i) {
    auto [key, value] = graph.getEntry(dictionary, i);
    if (graph.getKind(key) != Kind::String)
      return failType(object, field, "keywords", key);
    first[i].name = intern(key);
    if (!decodeArgument(object, field, value, first[i].value))
      return false;
  }
  keywords = llvm::ArrayRef(first, count);
  references.emplace_back(References::Keywords, first, count);
  keywordsByValue.try_emplace(dictionary.getRaw(), keywords);
  return true;
}

bool Decoder::decodeArgument(const ObjectFields &user, Field field, Value value,
                             Argument &argument) {
  struct Level {
    Container container;
    Value value;
    Argument *elements;
    size_t next = 0;
    Argument *result;
  };
  llvm::SmallVector<Level, 0> levels;
  // Decodes one value; opens a level if it is a container not yet decoded.
  auto enter = [&](Value entered, Argument &result) {
    bool isContainer = false;
    if (!decodeLeaf(user, field, entered, result, isContainer))
      return false;
    if (!isContainer)
      return true;
    auto known = constantsByValue.find(entered.getRaw());
    if (known != constantsByValue.end()) {
      result = known->second;
      return true;
    }
    Container container = getContainer(entered);
    if (!graph.isNone(container.dictionary) &&
        !checkKeys(user, field, container.dictionary))
      return false;
    if (levels.size() == maxDepth)
      return failField(user, field,
                       "a constant is nested more than " +
                           llvm::Twine(maxDepth) + " levels deep");
    Argument *elements;
    if (!allocate(container.contents.size(), elements))
      return false;
    levels.push_back({std::move(container), entered, elements, 0, &result});
    return true;
  };

  if (!enter(value, argument))
    return false;
  while (!levels.empty()) {
    Level &level = levels.back();
    llvm::ArrayRef<Value> contents = level.container.contents;
    if (level.next != contents.size()) {
      size_t index = level.next++;
      if (!enter(contents[index], level.elements[index]))
        return false;
      continue;
    }
    if (!setParts(*level.result, level.container.kind, level.container.text,
                  llvm::ArrayRef(level.elements, contents.size())))
      return false;
    constantsByValue.try_emplace(level.value.getRaw(), *level.result);
    references.emplace_back(References::Arguments, level.elements,
                            contents.size());
    levels.pop_back();
  }
  return true;
}

bool Decoder::setParts(Argument &argument, ConstantKind kind,
                       llvm::StringRef text,
                       llvm::ArrayRef<Argument> elements) {
  ConstantParts *parts;
  if (!allocate(1, parts))
    return false;
  *parts = {text, elements};
  argument.setParts(kind, parts);
  return true;
}

bool Decoder::decodeLeaf(const ObjectFields &user, Field field, Value value,
                         Argument &argument, bool &isContainer) {
  switch (graph.getKind(value)) {
  case Kind::None:
    return true;
  case Kind::Boolean:
    argument.setBoolean(graph.getBoolean(value));
    return true;
  case Kind::Integer:
    argument.setInteger(graph.getInteger(value));
    return true;
  case Kind::BigInteger:
    return failField(user, field, "an integer does not fit 64 bits");
  case Kind::Float:
    argument.setReal(graph.getFloat(value));
    return true;
  case Kind::String:
    return setParts(argument, ConstantKind::String, intern(value));
  case Kind::Tuple:
  case Kind::List:
  case Kind::Dictionary:
  case Kind::Set:
  case Kind::FrozenSet:
    isContainer = true;
    return true;
  case Kind::Global:
    if (std::optional<llvm::StringRef> type = toElementType(value))
      return setParts(argument, ConstantKind::ElementType, *type);
    [[fallthrough]];
  case Kind::Bytes:
  case Kind::ByteArray:
  case Kind::Extension:
  case Kind::Persistent:
  case Kind::OutOfBand:
    return setParts(argument, ConstantKind::Opaque,
                    intern(graph.describe(value)));
  case Kind::Object:
    return decodeLeafObject(user, field, value, argument, isContainer);
  }
  return failType(user, field, "an argument", value);
}

bool Decoder::decodeLeafObject(const ObjectFields &user, Field field,
                               Value value, Argument &argument,
                               bool &isContainer) {
  switch (classes.get(value)) {
  case PlanClass::SubTensor:
    argument.isTensor = true;
    argument.tensor = value.getRaw();
    return true;
  case PlanClass::FullTensor:
    return failType(user, field, "IRSubTensor or a constant", value);
  case PlanClass::NumpyScalar:
    if (std::optional<Argument> number = toNumber(value)) {
      argument = *number;
      return true;
    }
    return failField(user, field, "a numpy scalar cannot be read");
  case PlanClass::Dictionary: {
    // Its entries may be arguments, too; only a factory is understood.
    bool hasEntries = !graph.isNone(graph.getKeywords(value));
    for (Value part : graph.getElements(graph.getArguments(value)))
      hasEntries |= graph.getKind(part) != Kind::Global && !graph.isNone(part);
    if (hasEntries)
      return failField(user, field,
                       "a dictionary made of arguments cannot be read");
    isContainer = true;
    return true;
  }
  case PlanClass::Object:
  case PlanClass::TorchSize:
  case PlanClass::Slice:
    isContainer = true;
    return true;
  default: {
    Value callable = graph.getCallable(value);
    return setParts(
        argument, ConstantKind::Opaque,
        intern(graph.describe(
            graph.getKind(callable) == Kind::Global ? callable : value)));
  }
  }
}

Decoder::Container Decoder::getContainer(Value value) {
  Container container;
  auto add = [&](llvm::ArrayRef<Value> values) {
    llvm::append_range(container.contents, values);
  };
  auto addEntries = [&](Value dictionary) {
    container.kind = ConstantKind::Dictionary;
    container.dictionary = dictionary;
    for (size_t i = 0, e = graph.getNumEntries(dictionary); i != e; ++i) {
      auto [key, entry] = graph.getEntry(dictionary, i);
      container.contents.append({key, entry});
    }
  };
  switch (graph.getKind(value)) {
  case Kind::Dictionary:
    addEntries(value);
    return container;
  case Kind::Object:
    break;
  case Kind::Tuple:
  case Kind::List:
    container.kind = graph.getKind(value) == Kind::List ? ConstantKind::List
                                                        : ConstantKind::Tuple;
    add(graph.getElements(value));
    return container;
  default:
    container.text = intern(graph.describe(value));
    add(graph.getElements(value));
    return container;
  }

  switch (classes.get(value)) {
  case PlanClass::TorchSize:
    container.kind = ConstantKind::Tuple;
    if (std::optional<llvm::ArrayRef<Value>> sizes = toSequence(value))
      add(*sizes);
    return container;
  case PlanClass::Dictionary:
    container.kind = ConstantKind::Dictionary;
    if (Value entries = graph.getEntries(value); !graph.isNone(entries))
      addEntries(entries);
    return container;
  case PlanClass::Object: {
    container.kind = ConstantKind::Object;
    ObjectFields fields = open(value);
    std::optional<Value> name = fields.find(Field::Name);
    if (name && graph.getKind(*name) == Kind::String)
      container.text = intern(*name);
    std::optional<Value> held = fields.find(Field::Value);
    if (held && !graph.isNone(*held))
      add(*held);
    return container;
  }
  default:
    container.text = "slice";
    add(graph.getElements(graph.getArguments(value)));
    return container;
  }
}
