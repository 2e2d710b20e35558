//===- ObjectFields.cpp - fields of a pickled object ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides how the names of fields in Python map to the fields that matter, and
// in which of an object's dictionaries a field is looked for.
//
//===----------------------------------------------------------------------===//

#include "ObjectFields.h"

#include "llvm/Support/ErrorHandling.h"

using namespace verify;
using namespace verify::nnscaler;

// A table: a line for each field.
// NOLINTNEXTLINE(readability-function-size)
llvm::StringRef nnscaler::getFieldName(Field field) {
  switch (field) {
  case Field::IsCustom:
    return "custom";
  case Field::IsCustomOld:
    return "_custom";
  case Field::IsDifferentiable:
    return "_differentiable";
  case Field::IsForward:
    return "_forward";
  case Field::Primitives:
    return "_prims";
  case Field::Cell:
    return "_cell";
  case Field::Comment:
    return "_comment";
  case Field::Devices:
    return "devices";
  case Field::EnableDataParallel:
    return "enable_dp";
  case Field::ExecutionPlan:
    return "execplan";
  case Field::FullTensor:
    return "_full_tensor";
  case Field::Gradient:
    return "_grad";
  case Field::Id:
    return "_id";
  case Field::IndexMap:
    return "_indmap";
  case Field::Indices:
    return "_indices";
  case Field::Inputs:
    return "_inputs";
  case Field::IsGradient:
    return "_is_grad";
  case Field::IsLoss:
    return "_is_loss";
  case Field::IsParameter:
    return "_is_attr";
  case Field::Keywords:
    return "_kwargs";
  case Field::Mirror:
    return "_mirror";
  case Field::Name:
    return "name";
  case Field::NodeDevices:
    return "_device";
  case Field::Nodes:
    return "_nodes";
  case Field::Outputs:
    return "_outputs";
  case Field::PrimitiveKeywords:
    return "kwargs";
  case Field::Recompute:
    return "_recompute";
  case Field::RequiresGradient:
    return "_requires_grad";
  case Field::RuntimeDevices:
    return "runtime_ndevs";
  case Field::Sequences:
    return "_seq";
  case Field::Shape:
    return "_shape";
  case Field::Signature:
    return "signature";
  case Field::ElementType:
    return "_dtype";
  case Field::Value:
    return "_value";
  case Field::ValueMap:
    return "_valmap";
  case Field::Weight:
    return "_weight";
  }
  llvm_unreachable("all fields handled");
}

void FieldLayouts::computePlaces(uint32_t shape) {
  auto places = std::make_unique<FieldPlaces>();
  places->fill(-1);
  llvm::ArrayRef<pickle::Value> keys = graph.getShapeKeys(shape);
  // Later entries of the same key overwrite earlier ones, as in Python.
  for (size_t i = 0; i != keys.size(); ++i)
    for (size_t field = 0; field != numFields; ++field)
      if (graph.getText(keys[i]) == getFieldName(static_cast<Field>(field)))
        (*places)[field] = static_cast<int8_t>(i);
  layouts[shape] = std::move(places);
}

void ObjectFields::addState(FieldLayouts &layouts, pickle::Value state) {
  // Objects with fields are no lists or dictionaries.
  if (!graph.isNone(graph.getLaterStates(object)) ||
      !graph.isNone(graph.getItems(object)) ||
      !graph.isNone(graph.getEntries(object))) {
    valid = false;
    return;
  }
  switch (graph.getKind(state)) {
  case pickle::Kind::None:
    return;
  case pickle::Kind::Dictionary:
    addDictionary(layouts, state);
    return;
  case pickle::Kind::Tuple:
    if (graph.getElements(state).size() == 2) {
      for (pickle::Value part : llvm::reverse(graph.getElements(state))) {
        if (graph.getKind(part) == pickle::Kind::Dictionary)
          addDictionary(layouts, part);
        else if (!graph.isNone(part))
          valid = false;
      }
      return;
    }
    [[fallthrough]];
  default:
    valid = false;
  }
}

std::optional<pickle::Value> ObjectFields::findInOthers(Field field) const {
  llvm::StringRef name = getFieldName(field);
  for (pickle::Value dictionary :
       llvm::ArrayRef(others).take_front(numOthers)) {
    for (size_t i = graph.getNumEntries(dictionary); i-- != 0;) {
      auto [key, value] = graph.getEntry(dictionary, i);
      if (graph.getKind(key) == pickle::Kind::String &&
          graph.getText(key) == name)
        return value;
    }
  }
  return std::nullopt;
}
