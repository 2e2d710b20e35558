//===- Report.cpp - what a verification found -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Transforms/Report.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace verify;

static constexpr llvm::StringLiteral statisticsName = "tv.statistics";
static constexpr llvm::StringLiteral assumptionsName = "tv.assumptions";
static constexpr llvm::StringLiteral answerName = "tv.answer",
                                     failedOutputName = "tv.output_failed";
static constexpr llvm::StringLiteral malformationName = "tv.malformed";

void verify::setStatistic(ModuleOp module, StringRef name, int64_t count) {
  NamedAttrList list;
  if (auto old = module->getAttrOfType<DictionaryAttr>(statisticsName))
    list = NamedAttrList(old);
  list.set(name, Builder(module.getContext()).getI64IntegerAttr(count));
  module->setAttr(statisticsName, list.getDictionary(module.getContext()));
}

void verify::addStatistic(ModuleOp module, StringRef name, int64_t count) {
  setStatistic(module, name, getStatistic(module, name) + count);
}

int64_t verify::getStatistic(ModuleOp module, StringRef name) {
  auto list = module->getAttrOfType<DictionaryAttr>(statisticsName);
  auto entry = list ? list.getAs<IntegerAttr>(name) : IntegerAttr();
  return entry ? entry.getInt() : 0;
}

SmallVector<std::pair<StringRef, int64_t>>
verify::getStatistics(ModuleOp module) {
  SmallVector<std::pair<StringRef, int64_t>> result;
  if (auto list = module->getAttrOfType<DictionaryAttr>(statisticsName))
    for (NamedAttribute entry : list)
      if (auto count = dyn_cast<IntegerAttr>(entry.getValue()))
        result.push_back({entry.getName().getValue(), count.getInt()});
  return result;
}

void verify::addAssumption(ModuleOp module, StringRef text) {
  SmallVector<Attribute> list;
  if (auto old = module->getAttrOfType<ArrayAttr>(assumptionsName))
    llvm::append_range(list, old);
  list.push_back(StringAttr::get(module.getContext(), text));
  module->setAttr(assumptionsName, ArrayAttr::get(module.getContext(), list));
}

SmallVector<StringRef> verify::getAssumptions(ModuleOp module) {
  SmallVector<StringRef> texts;
  if (auto list = module->getAttrOfType<ArrayAttr>(assumptionsName))
    for (auto text : list.getAsRange<StringAttr>())
      texts.push_back(text.getValue());
  return texts;
}

StringRef verify::getName(Answer answer) {
  return answer == Answer::Proved    ? "proved"
         : answer == Answer::Refuted ? "refuted"
                                     : "unknown";
}

void verify::setOutputFailed(ModuleOp module) {
  module->setAttr(failedOutputName, UnitAttr::get(module.getContext()));
}

bool verify::hasOutputFailed(ModuleOp module) {
  return module->hasAttr(failedOutputName);
}

void verify::setAnswer(ModuleOp module, Answer answer) {
  module->setAttr(answerName,
                  StringAttr::get(module.getContext(), getName(answer)));
}

std::optional<Answer> verify::getAnswer(ModuleOp module) {
  auto text = module->getAttrOfType<StringAttr>(answerName);
  if (!text)
    return std::nullopt;
  if (text.getValue() == "proved")
    return Answer::Proved;
  if (text.getValue() == "refuted")
    return Answer::Refuted;
  return Answer::Unknown;
}

void verify::setMalformation(ModuleOp module, StringRef reason) {
  module->setAttr(malformationName,
                  StringAttr::get(module.getContext(), reason));
}

std::optional<StringRef> verify::getMalformation(ModuleOp module) {
  auto text = module->getAttrOfType<StringAttr>(malformationName);
  return text ? std::optional(text.getValue()) : std::nullopt;
}
