//===- ObjectFields.h - fields of a pickled object --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the fields of an object in its pickled state, whichever way Python
// wrote it. Objects of one class nearly always share a dictionary shape, so the
// places of all fields are worked out once per shape.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_NNSCALER_OBJECTFIELDS_H
#define VERIFY_LIB_NNSCALER_OBJECTFIELDS_H

#include "Verify/Pickle/Graph.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace verify::nnscaler {

/// The fields that matter, by what they hold.
enum class Field : uint8_t {
  Cell,
  Comment,
  Devices,
  ElementType,
  EnableDataParallel,
  ExecutionPlan,
  FullTensor,
  Gradient,
  Id,
  IndexMap,
  Indices,
  Inputs,
  IsCustom,
  IsCustomOld,
  IsDifferentiable,
  IsForward,
  IsGradient,
  IsLoss,
  IsParameter,
  Keywords,
  Mirror,
  Name,
  NodeDevices,
  Nodes,
  Outputs,
  PrimitiveKeywords,
  Primitives,
  Recompute,
  RequiresGradient,
  RuntimeDevices,
  Sequences,
  Shape,
  Signature,
  Value,
  ValueMap,
  Weight,
};
constexpr size_t numFields = static_cast<size_t>(Field::Weight) + 1;

/// The name of a field in Python.
llvm::StringRef getFieldName(Field field);

/// The places of the fields in the dictionaries of a shape.
using FieldPlaces = std::array<int8_t, numFields>;

/// Works out the places of fields, once per shape.
class FieldLayouts {
public:
  explicit FieldLayouts(const pickle::Graph &graph)
      : graph(graph), layouts(graph.getNumShapes()) {}
  /// Places of the fields in dictionaries of `shape`; -1 for absent ones.
  const FieldPlaces &getPlaces(uint32_t shape) {
    if (!layouts[shape])
      computePlaces(shape);
    return *layouts[shape];
  }

private:
  void computePlaces(uint32_t shape);

  const pickle::Graph &graph;
  std::vector<std::unique_ptr<FieldPlaces>> layouts;
};

/// The fields of one object.
class ObjectFields {
public:
  /// Finds the dictionaries in the state of `object`, which must be an Object.
  ObjectFields(const pickle::Graph &graph, FieldLayouts &layouts,
               pickle::Value object)
      : graph(graph), object(object) {
    pickle::Value state = graph.getState(object);
    if (graph.isPlain(object) &&
        graph.getKind(state) == pickle::Kind::Dictionary)
      addDictionary(layouts, state);
    else
      addState(layouts, state);
  }

  /// Whether the state had one of the forms that Python gives to objects
  /// without their own pickling: a dictionary, or a pair of the instance's
  /// dictionary and its slots.
  bool isValid() const { return valid; }
  pickle::Value getObject() const { return object; }
  /// The value of a field, if the object has it.
  std::optional<pickle::Value> find(Field field) const {
    if (places && (*places)[static_cast<size_t>(field)] >= 0)
      return values[(*places)[static_cast<size_t>(field)]];
    return numOthers ? findInOthers(field) : std::nullopt;
  }

private:
  void addState(FieldLayouts &layouts, pickle::Value state);
  void addDictionary(FieldLayouts &layouts, pickle::Value dictionary) {
    uint32_t shape = graph.getShape(dictionary);
    if (shape == pickle::Graph::noShape || places) {
      others[numOthers++] = dictionary;
      return;
    }
    places = &layouts.getPlaces(shape);
    values = graph.getShapedValues(dictionary);
  }
  std::optional<pickle::Value> findInOthers(Field field) const;

  const pickle::Graph &graph;
  pickle::Value object;
  bool valid = true;
  /// The first dictionary that has a shape.
  const FieldPlaces *places = nullptr;
  llvm::ArrayRef<pickle::Value> values;
  /// All others.
  std::array<pickle::Value, 2> others;
  unsigned numOthers = 0;
};

} // namespace verify::nnscaler

#endif // VERIFY_LIB_NNSCALER_OBJECTFIELDS_H
