//===- RunReport.cpp - results of runs as text and as JSON ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Interpreter/Run.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <charconv>
#include <cmath>

using namespace mlir;
using namespace verify;

/// The shortest decimal that rounds to `value`.
static std::string printDouble(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  char buffer[64];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return std::string(buffer, end);
}

std::string Run::print(Scalar element) const {
  if (!exact)
    return printDouble(algebra->toDouble(element));
  return exact->isMinusInfinity(element) ? "-inf"
                                         : exact->get(element).toString();
}

//===----------------------------------------------------------------------===//
// Table
//===----------------------------------------------------------------------===//

void verify::printTable(const Run &run, llvm::raw_ostream &stream) {
  size_t width = 8;
  for (const ResultRow &row : run.getRows())
    width = std::max(width, row.role.size() + row.name.size() + 3);
  auto cell = [&](StringRef text, size_t size) {
    stream << text;
    stream.indent(text.size() < size ? size - text.size() : 1);
  };
  stream << "  ";
  cell("result", width + 2);
  cell("places", 8);
  cell("largest difference", 20);
  stream << "relative\n";
  for (const ResultRow &row : run.getRows()) {
    const ResultPlace *worst = nullptr;
    size_t different = 0;
    for (const ResultPlace &place : row.places) {
      different += !place.isEqual;
      if (!worst || worst->isEqual > place.isEqual ||
          (worst->isEqual == place.isEqual &&
           worst->largestDifference < place.largestDifference))
        worst = &place;
    }
    stream << "  ";
    cell(row.role + " '" + row.name + "'", width + 2);
    cell(std::to_string(row.places.size()), 8);
    if (!worst || !worst->problem.empty() || !worst->reference) {
      stream << (worst && !worst->problem.empty()
                     ? "differs: on " + worst->place + " it " + worst->problem
                     : "not compared");
    } else {
      std::string text;
      llvm::raw_string_ostream(text)
          << llvm::format("%.3g", worst->largestDifference);
      cell(text, 20);
      text.clear();
      llvm::raw_string_ostream(text)
          << llvm::format("%.3g", worst->relativeDifference);
      cell(text, 12);
      if (different == 0)
        stream << "equal";
      else
        stream << "differs on " << different << ": " << worst->place
               << ", element " << printIndex(worst->index);
    }
    stream << "\n";
  }
  for (const std::string &remark : run.getRemarks())
    stream << "  remark: " << remark << "\n";
}

static void printTensor(const Run &run, const Tensor &tensor,
                        llvm::raw_ostream &stream) {
  size_t next = 0;
  forEachIndex(tensor.shape, [&](ArrayRef<int64_t> index) {
    stream << "      " << printIndex(index) << " "
           << run.print(tensor.elements[next++]) << "\n";
  });
}

void verify::printElements(const Run &run, llvm::raw_ostream &stream) {
  for (const ResultRow &row : run.getRows()) {
    stream << "  " << row.role << " '" << row.name << "'\n";
    if (row.reference) {
      stream << "    in the reference\n";
      printTensor(run, *row.reference, stream);
    }
    for (const ResultPlace &place : row.places)
      if (place.plan) {
        stream << "    on " << place.place << "\n";
        printTensor(run, *place.plan, stream);
      }
  }
}

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

struct RunWriter::State {
  explicit State(llvm::raw_ostream &stream) : json(stream) {}
  llvm::json::OStream json;
};

RunWriter::RunWriter(llvm::raw_ostream &stream, unsigned seed)
    : state(std::make_unique<State>(stream)) {
  state->json.objectBegin();
  state->json.attribute("seed", static_cast<int64_t>(seed));
  state->json.attributeBegin("programs");
  state->json.arrayBegin();
}

RunWriter::~RunWriter() {
  state->json.arrayEnd();
  state->json.attributeEnd();
  state->json.objectEnd();
  state->json.flush();
}

/// An object of shape and elements: doubles are numbers, rationals strings.
static void writeTensor(llvm::json::OStream &json, StringRef name,
                        const Run &run, const TensorRef &tensor) {
  if (!tensor)
    return;
  json.attributeObject(name, [&] {
    json.attributeArray("shape", [&] {
      for (int64_t size : tensor->shape)
        json.value(size);
    });
    json.attributeArray("values", [&] {
      for (Scalar element : tensor->elements) {
        std::string text = run.print(element);
        bool isNumber =
            !run.isExact() && text != "nan" && text != "-inf" && text != "inf";
        if (isNumber)
          json.rawValue(text);
        else
          json.value(text);
      }
    });
  });
}

void RunWriter::write(StringRef symbol, const Run &run) {
  llvm::json::OStream &json = state->json;
  auto number = [&](StringRef name, double value) {
    json.attributeBegin(name);
    if (std::isfinite(value))
      json.rawValue(printDouble(value));
    else
      json.value(printDouble(value));
    json.attributeEnd();
  };
  auto writePlace = [&](const ResultPlace &place) {
    json.object([&] {
      json.attribute("place", place.place);
      if (place.reference || !place.problem.empty()) {
        json.attribute("equal", place.isEqual);
        number("largest_difference", place.largestDifference);
        number("relative_difference", place.relativeDifference);
      }
      if (!place.problem.empty())
        json.attribute("problem", place.problem);
      writeTensor(json, "plan", run, place.plan);
    });
  };
  json.object([&] {
    json.attribute("symbol", symbol);
    json.attribute("arithmetic", run.getArithmetic());
    json.attribute("equal", run.areEqual());
    json.attributeArray("remarks", [&] {
      for (const std::string &remark : run.getRemarks())
        json.value(remark);
    });
    json.attributeArray("results", [&] {
      for (const ResultRow &row : run.getRows())
        json.object([&] {
          json.attribute("role", row.role);
          json.attribute("name", row.name);
          json.attribute("equal", row.isEqual());
          writeTensor(json, "reference", run, row.reference);
          json.attributeArray("places", [&] {
            for (const ResultPlace &place : row.places)
              writePlace(place);
          });
        });
    });
  });
}
