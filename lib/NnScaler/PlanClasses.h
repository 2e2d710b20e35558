//===- PlanClasses.h - the Python classes of a plan -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides which Python classes are which objects of a plan. Classes are known
// by name only; one that is not listed here has no meaning.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_NNSCALER_PLANCLASSES_H
#define VERIFY_LIB_NNSCALER_PLANCLASSES_H

#include "Verify/Pickle/Graph.h"

#include <vector>

namespace verify::nnscaler {

/// The classes that matter.
enum class PlanClass : uint8_t {
  Unknown,
  // nnscaler
  ModuleCodeGen,
  ExecutionPlan,
  ReuseCell,
  Segment,
  Forward, ///< IRDimops, IRFwOperation, IRPyFunc
  Backward,
  Adapter,
  WeightReducer,
  DataOperation,
  Primitive,
  SubTensor,
  FullTensor,
  Object,
  IndexMap,
  ValueMap,
  // numpy, torch, the standard library
  NumpyScalar,
  NumpyType,
  TorchSize,
  Slice,
  Dictionary, ///< OrderedDict, defaultdict
  CodecsEncode
};

/// The name of a class in messages.
llvm::StringRef getClassName(PlanClass planClass);

/// Whether a primitive of communication with this name is defined.
bool isPrimitiveName(llvm::StringRef name);

/// Knows the classes of the objects of one graph.
class PlanClasses {
public:
  explicit PlanClasses(const pickle::Graph &graph)
      : graph(graph), classes(graph.getGlobals().size(), notLookedUp) {}

  /// The class of a value; Unknown if it is not an object.
  PlanClass get(pickle::Value value) {
    if (graph.getKind(value) != pickle::Kind::Object)
      return PlanClass::Unknown;
    pickle::Value callable = graph.getCallable(value);
    if (graph.getKind(callable) != pickle::Kind::Global)
      return PlanClass::Unknown;
    return getByGlobal(callable);
  }
  /// The class that a Global names.
  PlanClass getByGlobal(pickle::Value global) {
    uint8_t &known = classes[graph.getGlobalNumber(global)];
    if (known == notLookedUp)
      known = static_cast<uint8_t>(lookUp(global));
    return static_cast<PlanClass>(known);
  }

private:
  static constexpr uint8_t notLookedUp = 0xff;
  PlanClass lookUp(pickle::Value global) const;

  const pickle::Graph &graph;
  std::vector<uint8_t> classes;
};

} // namespace verify::nnscaler

#endif // VERIFY_LIB_NNSCALER_PLANCLASSES_H
