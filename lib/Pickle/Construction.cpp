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
  Value tuple = builder.makeTuple(llvm::ArrayRef(stack).drop_front(first));
  stack.truncate(first);
  return push(tuple);
}

bool Machine::makeMarkedTuple() {
  size_t first;
  if (!takeMark(first))
    return false;
  auto elements = llvm::ArrayRef(stack).drop_front(first);
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
  if (!builder.append(list, llvm::ArrayRef(stack).drop_front(first)))
    return failElements();
  stack.truncate(first);
  return push(list);
}

bool Machine::makeMarkedDictionary() {
  size_t first;
  if (!takeMark(first))
    return false;
  stack.insert(stack.begin() + first, builder.makeDictionary());
  return store(first + 1);
}

bool Machine::makeFrozenSet() {
  size_t first;
  if (!takeMark(first))
    return false;
  auto elements = llvm::ArrayRef(stack).drop_front(first);
  if (elements.size() > GraphBuilder::maxElements)
    return failElements();
  Value set = builder.makeFrozenSet(elements);
  stack.truncate(first);
  return push(set);
}

bool Machine::append(size_t first) {
  Value target = stack[first - 1];
  auto elements = llvm::ArrayRef(stack).drop_front(first);
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
  if (!takeMark(first) || !need(1))
    return false;
  Value target = stack[first - 1];
  auto elements = llvm::ArrayRef(stack).drop_front(first);
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
  stack.truncate(first);
  return isAdded || failElements();
}

bool Machine::store(size_t first) {
  Value target = stack[first - 1];
  auto entries = llvm::ArrayRef(stack).drop_front(first);
  if (entries.size() % 2 != 0)
    return fail("odd number of keys and values");
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
  stack.truncate(first);
  return isStored || failElements();
}

bool Machine::storeOne() { return need(3) && store(stack.size() - 2); }

bool Machine::storeMarked() {
  size_t first;
  return takeMark(first) && need(1) && store(first);
}

bool Machine::makeGlobal() {
  if (!need(2))
    return false;
  Value name = stack.pop_back_val(), module = stack.pop_back_val();
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
  Value keywords = hasKeywords ? stack.pop_back_val() : builder.getNone();
  Value arguments = stack.pop_back_val(), callable = stack.pop_back_val();
  if (hasKeywords && builder.getKind(keywords) != Kind::Dictionary)
    return fail("expected a dict of keywords, found " +
                builder.getGraph().describe(keywords));
  if (builder.getKind(arguments) != Kind::Tuple)
    return fail("expected a tuple of arguments, found " +
                builder.getGraph().describe(arguments));
  return checkCallable(callable) &&
         push(builder.makeObject(construction, callable, arguments, keywords));
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
  Value arguments =
      builder.makeTuple(llvm::ArrayRef(stack).drop_front(first + 1));
  stack.truncate(first);
  return push(builder.makeObject(Construction::Call, callable, arguments));
}

bool Machine::build() {
  if (!need(2))
    return false;
  Value state = stack.pop_back_val(), object = stack.back();
  if (builder.getKind(object) != Kind::Object)
    return fail("expected an object to give a state to, found " +
                builder.getGraph().describe(object));
  return builder.build(object, state) || failElements();
}

bool Machine::makeExtension(uint32_t code) {
  if (code == 0 || code > INT32_MAX)
    return fail("extension code " + llvm::Twine(static_cast<int32_t>(code)) +
                " is not positive");
  return push(builder.makeExtension(code));
}
