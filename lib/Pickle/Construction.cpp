//===- Construction.cpp - containers and objects of a pickle ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides what the opcodes that make and fill containers and objects accept.
// Classes derived from list, dict and set are pickled as objects that are then
// filled, so filling an object is recorded; filling anything else is an error.
//
//===----------------------------------------------------------------------===//

#include "Machine.h"

using namespace verify::pickle;

bool Machine::makeTuple(size_t count) {
  if (!need(count))
    return false;
  size_t first = stack.size() - count;
  Value tuple = builder.makeTuple(stack.from(first));
  stack.truncate(first);
  return push(tuple);
}

bool Machine::makeMarkedTuple() {
  size_t first;
  if (!takeMark(first))
    return false;
  auto elements = stack.from(first);
  if (elements.size() > GraphBuilder::maxElements)
    return failElements();
  Value tuple =
      elements.empty() ? builder.getEmptyTuple() : builder.makeTuple(elements);
  stack.truncate(first);
  return push(tuple);
}

bool Machine::makeMarkedList() {
  size_t first;
  if (!takeMark(first))
    return false;
  Value list = builder.makeList();
  if (!builder.append(list, stack.from(first)))
    return failElements();
  stack.truncate(first);
  return push(list);
}

bool Machine::checkHashed(llvm::ArrayRef<Value> values, size_t step) {
  for (size_t i = 0; i < values.size(); i += step)
    switch (builder.getKind(values[i])) {
    case Kind::List:
    case Kind::Dictionary:
    case Kind::Set:
    case Kind::ByteArray:
      return fail("expected what has a hash, found " +
                  builder.getGraph().describe(values[i]));
    default:
      break;
    }
  return true;
}

bool Machine::makeMarkedDictionary() {
  size_t first;
  if (!takeMark(first))
    return false;
  Value dictionary = builder.makeDictionary();
  return store(dictionary, first) && push(dictionary);
}

bool Machine::makeFrozenSet() {
  size_t first;
  if (!takeMark(first))
    return false;
  auto elements = stack.from(first);
  if (elements.size() > GraphBuilder::maxElements)
    return failElements();
  if (!checkHashed(elements, 1))
    return false;
  Value set = builder.makeFrozenSet(elements);
  stack.truncate(first);
  return push(set);
}

bool Machine::checkUnused(Value target) {
  return !builder.isUsed(target) ||
         fail("expected what nothing was made of yet, found " +
              builder.getGraph().describe(target));
}

bool Machine::append(size_t first) {
  Value target = stack[first - 1];
  if (!checkUnused(target))
    return false;
  auto elements = stack.from(first);
  bool isAppended;
  switch (builder.getKind(target)) {
  case Kind::List:
    isAppended = builder.append(target, elements);
    break;
  case Kind::Object:
    isAppended = builder.appendToObject(target, elements);
    break;
  default:
    return fail("expected a list or an object to append to, found " +
                builder.getGraph().describe(target));
  }
  stack.truncate(first);
  return isAppended || failElements();
}

bool Machine::addItems() {
  size_t first;
  if (!takeTarget(first))
    return false;
  Value target = stack[first - 1];
  if (!checkUnused(target))
    return false;
  auto elements = stack.from(first);
  bool isAdded;
  switch (builder.getKind(target)) {
  case Kind::Set:
    isAdded = builder.append(target, elements);
    break;
  case Kind::Object:
    isAdded = builder.appendToObject(target, elements);
    break;
  default:
    return fail("expected a set or an object to add to, found " +
                builder.getGraph().describe(target));
  }
  if (!checkHashed(elements, 1))
    return false;
  stack.truncate(first);
  return isAdded || failElements();
}

bool Machine::store(Value target, size_t first) {
  auto entries = stack.from(first);
  if (entries.size() % 2 != 0)
    return fail("odd number of keys and values");
  if (!checkUnused(target))
    return false;
  bool isStored;
  switch (builder.getKind(target)) {
  case Kind::Dictionary:
    isStored = builder.store(target, entries);
    break;
  case Kind::Object:
    isStored = builder.storeInObject(target, entries);
    break;
  default:
    return fail("expected a dict or an object to store in, found " +
                builder.getGraph().describe(target));
  }
  // The keys of a shape are strings.
  bool hasShape = builder.getKind(target) == Kind::Dictionary &&
                  builder.getGraph().getShape(target) != Graph::noShape;
  if (!hasShape && !checkHashed(entries, 2))
    return false;
  stack.truncate(first);
  return isStored || failElements();
}

bool Machine::storeOne() {
  if (!need(3))
    return false;
  size_t first = stack.size() - 2;
  return store(stack[first - 1], first);
}

bool Machine::storeMarked() {
  size_t first;
  return takeTarget(first) && store(stack[first - 1], first);
}

bool Machine::makeGlobal() {
  if (!need(2))
    return false;
  Value name = stack.pop(), module = stack.pop();
  for (Value part : {module, name})
    if (builder.getKind(part) != Kind::String)
      return fail("expected names of a module and of a global, found " +
                  builder.getGraph().describe(part));
  return push(builder.makeGlobal(module, name));
}

bool Machine::checkCallable(Value callable) {
  switch (builder.getKind(callable)) {
  case Kind::Global:
  case Kind::Object:
  case Kind::Extension:
  case Kind::Persistent:
    return true;
  default:
    return fail("expected something to call, found " +
                builder.getGraph().describe(callable));
  }
}

bool Machine::makeObject(Construction construction, bool hasKeywords) {
  if (!need(hasKeywords ? 3 : 2))
    return false;
  Value keywords = hasKeywords ? stack.pop() : builder.getNone();
  Value arguments = stack.pop(), callable = stack.pop();
  if (hasKeywords && builder.getKind(keywords) != Kind::Dictionary)
    return fail("expected a dict of keywords, found " +
                builder.getGraph().describe(keywords));
  if (builder.getKind(arguments) != Kind::Tuple)
    return fail("expected a tuple of arguments, found " +
                builder.getGraph().describe(arguments));
  if (!checkCallable(callable))
    return false;
  builder.useArguments(arguments);
  return push(builder.makeObject(construction, callable, arguments, keywords));
}

bool Machine::makeMarkedObject() {
  size_t first;
  if (!takeMark(first))
    return false;
  if (stack.size() == first)
    return fail("nothing to call above the mark");
  Value callable = stack[first];
  if (!checkCallable(callable))
    return false;
  Value arguments = builder.makeTuple(stack.from(first + 1));
  builder.useArguments(arguments);
  stack.truncate(first);
  return push(builder.makeObject(Construction::Call, callable, arguments));
}

bool Machine::build() {
  if (!need(2))
    return false;
  Value state = stack.pop(), object = stack.back();
  if (builder.getKind(object) != Kind::Object)
    return fail("expected an object to give a state to, found " +
                builder.getGraph().describe(object));
  return checkUnused(object) &&
         (builder.build(object, state) || failElements());
}

bool Machine::makeExtension(uint32_t code) {
  if (code == 0 || code > INT32_MAX)
    return fail("extension code " + llvm::Twine(static_cast<int32_t>(code)) +
                " is not positive");
  return push(builder.makeExtension(code));
}
