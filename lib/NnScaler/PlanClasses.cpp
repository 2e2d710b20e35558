//===- PlanClasses.cpp - the Python classes of a plan -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lists the names of the Python classes that matter. nnScaler moves classes
// between its modules from version to version, so of its modules only the
// package counts.
//
//===----------------------------------------------------------------------===//

#include "PlanClasses.h"

#include "llvm/ADT/StringSwitch.h"

using namespace verify;
using namespace verify::nnscaler;

llvm::StringRef nnscaler::getClassName(PlanClass planClass) {
  switch (planClass) {
  case PlanClass::Unknown:
    return "object";
  case PlanClass::ModuleCodeGen:
    return "ModuleCodeGen";
  case PlanClass::ExecutionPlan:
    return "ExecutionPlan";
  case PlanClass::ReuseCell:
    return "ExeReuseCell";
  case PlanClass::Segment:
    return "IRSegment";
  case PlanClass::Forward:
    return "IRDimops";
  case PlanClass::Backward:
    return "IRBpOperation";
  case PlanClass::Adapter:
    return "IRAdapter";
  case PlanClass::WeightReducer:
    return "IRWeightReducer";
  case PlanClass::DataOperation:
    return "IRDataOperation";
  case PlanClass::Primitive:
    return "communication primitive";
  case PlanClass::SubTensor:
    return "IRSubTensor";
  case PlanClass::FullTensor:
    return "IRFullTensor";
  case PlanClass::Object:
    return "IRObject";
  case PlanClass::IndexMap:
    return "IndexMap";
  case PlanClass::ValueMap:
    return "ValueMap";
  case PlanClass::NumpyScalar:
    return "numpy scalar";
  case PlanClass::NumpyType:
    return "numpy dtype";
  case PlanClass::TorchSize:
    return "torch.Size";
  case PlanClass::Slice:
    return "slice";
  case PlanClass::Dictionary:
    return "OrderedDict";
  case PlanClass::CodecsEncode:
    return "bytes";
  }
  return "object";
}

bool nnscaler::isPrimitiveName(llvm::StringRef name) {
  return llvm::StringSwitch<bool>(name)
      .Cases({"MovePrim", "BroadcastPrim", "ChunkPrim", "AllGatherPrim"}, true)
      .Cases({"AllReducePrim", "AllReduceIdentityPrim"}, true)
      .Cases({"IdentityAllreducePrim", "AllGatherSplitPrim"}, true)
      .Cases({"SplitAllGatherPrim", "AllToAllAllToAllPrim"}, true)
      .Cases({"ReduceScatterPrim", "AllToAllPrim", "ReducePrim"}, true)
      .Cases({"RDScatterPrim", "RVScatterPrim", "RDGatherPrim"}, true)
      .Cases({"RVGatherPrim", "IdentityPrim", "SelectPrim"}, true)
      .Cases({"MergeDimPrim", "SumPrim", "ReduceScatterAllGatherPrim"}, true)
      .Cases({"AllGatherReduceScatterPrim", "AllReduceAllReducePrim"}, true)
      // The second name is misspelt in nnScaler itself.
      .Cases({"ReduceBroadcastPrim", "BroadcastRedducePrim"}, true)
      .Default(false);
}

PlanClass PlanClasses::lookUp(pickle::Value global) const {
  llvm::StringRef module = graph.getModule(global);
  llvm::StringRef name = graph.getName(global);
  if (module.starts_with("nnscaler.")) {
    if (isPrimitiveName(name))
      return PlanClass::Primitive;
    return llvm::StringSwitch<PlanClass>(name)
        .Case("ModuleCodeGen", PlanClass::ModuleCodeGen)
        .Case("ExecutionPlan", PlanClass::ExecutionPlan)
        .Case("ExeReuseCell", PlanClass::ReuseCell)
        .Case("IRSegment", PlanClass::Segment)
        .Cases({"IRDimops", "IRFwOperation", "IRPyFunc"}, PlanClass::Forward)
        .Case("IRBpOperation", PlanClass::Backward)
        .Case("IRAdapter", PlanClass::Adapter)
        .Case("IRWeightReducer", PlanClass::WeightReducer)
        .Case("IRDataOperation", PlanClass::DataOperation)
        .Case("IRSubTensor", PlanClass::SubTensor)
        .Case("IRFullTensor", PlanClass::FullTensor)
        .Case("IRObject", PlanClass::Object)
        .Case("IndexMap", PlanClass::IndexMap)
        .Case("ValueMap", PlanClass::ValueMap)
        .Default(PlanClass::Unknown);
  }
  if (module == "numpy.core.multiarray" || module == "numpy._core.multiarray")
    return name == "scalar" ? PlanClass::NumpyScalar : PlanClass::Unknown;
  if (module == "numpy")
    return name == "dtype" ? PlanClass::NumpyType : PlanClass::Unknown;
  if (module == "torch")
    return name == "Size" ? PlanClass::TorchSize : PlanClass::Unknown;
  if (module == "builtins" || module == "__builtin__")
    return name == "slice" ? PlanClass::Slice : PlanClass::Unknown;
  if (module == "collections")
    return name == "OrderedDict" || name == "defaultdict"
               ? PlanClass::Dictionary
               : PlanClass::Unknown;
  if (module == "_codecs")
    return name == "encode" ? PlanClass::CodecsEncode : PlanClass::Unknown;
  return PlanClass::Unknown;
}
