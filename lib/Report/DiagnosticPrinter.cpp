//===- DiagnosticPrinter.cpp - diagnostics for people ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Report/DiagnosticPrinter.h"

#include "Verify/IR/Locations.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;
using namespace verify;

std::string verify::describeLocation(Location location) {
  FileLineColLoc file = getFilePlace(location);
  if (!file)
    return "";
  std::string text = file.getFilename().str();
  if (file.getLine())
    text += ":" + std::to_string(file.getLine());
  if (file.getColumn())
    text += ":" + std::to_string(file.getColumn());
  return text;
}

/// What notes about the other program begin with.
static constexpr llvm::StringLiteral referencePrefix = "single-device model: ";

/// MLIR begins with the op of the dialect, `'tv.plan' op `, which no user
/// wrote: `name` takes its place.
static std::string replaceOpName(StringRef text, StringRef name) {
  if (!text.starts_with("'tv."))
    return text.str();
  auto [quoted, rest] = text.split("' op ");
  if (rest.empty())
    return text.str();
  if (name.empty() || rest.contains(name))
    return rest.str();
  // A collective's kind says more than the adapter's name.
  StringRef kind = quoted.drop_front(StringRef("'tv.").size());
  bool isCollective = kind.starts_with("all_");
  return ("'" + name + "' " + (isCollective ? "(" + kind + ") " : Twine()) +
          rest)
      .str();
}

DiagnosticPrinter::DiagnosticPrinter(MLIRContext *context, raw_ostream &out,
                                     std::function<void()> begin)
    : ScopedDiagnosticHandler(context), out(out), begin(std::move(begin)) {
  setHandler([this](Diagnostic &diagnostic) {
    this->begin();
    print(diagnostic);
    for (Diagnostic &note : diagnostic.getNotes())
      print(note);
    return success();
  });
}

void DiagnosticPrinter::print(Diagnostic &diagnostic) {
  std::string place = describeLocation(diagnostic.getLocation());
  std::string text = diagnostic.str();
  // MLIR adds the whole op for debugging.
  if (StringRef(text).starts_with("see current operation"))
    return;
  if (StringRef rest = text; rest.consume_front(referencePrefix)) {
    out << referencePrefix;
    text = rest.str();
  }
  std::string name = getOpName(diagnostic.getLocation());
  text = replaceOpName(text, name);
  if (!place.empty())
    out << place << ": ";
  llvm::HighlightColor color = llvm::HighlightColor::Note;
  StringRef severity = "note";
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Error:
    color = llvm::HighlightColor::Error;
    severity = "error";
    break;
  case DiagnosticSeverity::Warning:
    color = llvm::HighlightColor::Warning;
    severity = "warning";
    break;
  case DiagnosticSeverity::Remark:
    color = llvm::HighlightColor::Remark;
    severity = "remark";
    break;
  case DiagnosticSeverity::Note:
    break;
  }
  llvm::WithColor(out, color) << severity << ": ";
  out << text;
  if (!name.empty() && !StringRef(text).contains(name) &&
      diagnostic.getSeverity() == DiagnosticSeverity::Error)
    out << " [" << name << "]";
  out << "\n";
}
