//===- PickleBytes.cpp - shows what pickles hold ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shows values in Python's notation, so that a test can state a whole value.
//
//===----------------------------------------------------------------------===//

#include "PickleBytes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace verify::pickle;

static std::string escape(llvm::StringRef text) {
  std::string escaped;
  llvm::raw_string_ostream stream(escaped);
  llvm::printEscapedString(text, stream);
  return escaped;
}

static std::string showAll(const Graph &graph, llvm::ArrayRef<Value> values) {
  std::string all;
  for (Value value : values)
    all += (all.empty() ? "" : ", ") + show(graph, value);
  return all;
}

static std::string showEntries(const Graph &graph, Value dictionary) {
  std::string all;
  for (size_t i = 0; i != graph.getNumEntries(dictionary); ++i) {
    auto [key, value] = graph.getEntry(dictionary, i);
    all += (i ? ", " : "") + show(graph, key) + ": " + show(graph, value);
  }
  return "{" + all + "}";
}

static std::string showObject(const Graph &graph, Value object) {
  std::string all =
      graph.getConstruction(object) == Construction::NewObject ? "new " : "";
  all += show(graph, graph.getCallable(object)) +
         show(graph, graph.getArguments(object));
  if (Value keywords = graph.getKeywords(object); !graph.isNone(keywords))
    all += show(graph, keywords);
  if (graph.hasState(object))
    all += " state " + show(graph, graph.getState(object));
  if (Value later = graph.getLaterStates(object); !graph.isNone(later))
    all += " then " + show(graph, later);
  if (Value items = graph.getItems(object); !graph.isNone(items))
    all += " items " + show(graph, items);
  if (Value entries = graph.getEntries(object); !graph.isNone(entries))
    all += " entries " + show(graph, entries);
  return all;
}

std::string verify::pickle::show(const Graph &graph, Value value) {
  switch (graph.getKind(value)) {
  case Kind::None:
    return "None";
  case Kind::Boolean:
    return graph.getBoolean(value) ? "True" : "False";
  case Kind::Integer:
    return std::to_string(graph.getInteger(value));
  case Kind::BigInteger:
    return "0x" + llvm::toHex(graph.getText(value), /*LowerCase=*/true);
  case Kind::Float: {
    std::string number;
    llvm::raw_string_ostream(number)
        << llvm::format("%g", graph.getFloat(value));
    return number;
  }
  case Kind::String:
    return "'" + escape(graph.getText(value)) + "'";
  case Kind::Bytes:
    return "b'" + escape(graph.getText(value)) + "'";
  case Kind::ByteArray:
    return "bytearray'" + escape(graph.getText(value)) + "'";
  case Kind::Tuple:
    return "(" + showAll(graph, graph.getElements(value)) + ")";
  case Kind::List:
    return "[" + showAll(graph, graph.getElements(value)) + "]";
  case Kind::Set:
    return "{" + showAll(graph, graph.getElements(value)) + "}";
  case Kind::FrozenSet:
    return "frozenset{" + showAll(graph, graph.getElements(value)) + "}";
  case Kind::Dictionary:
    return showEntries(graph, value);
  case Kind::Global:
    return graph.describe(value);
  case Kind::Extension:
    return "extension " + std::to_string(graph.getExtensionCode(value));
  case Kind::Persistent:
    return "persistent " + show(graph, graph.getPersistentId(value));
  case Kind::OutOfBand:
    return "out of band";
  case Kind::Object:
    return showObject(graph, value);
  }
  return "?";
}

std::string verify::pickle::show(llvm::StringRef file) {
  llvm::Expected<Graph> graph = readBytes(file);
  return graph ? show(*graph, graph->getRoot())
               : llvm::toString(graph.takeError());
}
