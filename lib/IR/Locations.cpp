//===- Locations.cpp - what ops are called, and where they are ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/IR/Locations.h"

#include "Verify/IR/TVOps.h"

using namespace mlir;
using namespace verify;

std::string verify::getOpName(Location location) {
  if (auto node = dyn_cast<tv::NodeLoc>(location))
    return (node.getName().getValue() + " (cell " + Twine(node.getCell()) + ")")
        .str();
  return getOpKind(location).str();
}

StringRef verify::getOpKind(Location location) {
  if (auto node = dyn_cast<tv::NodeLoc>(location))
    return node.getName().getValue();
  if (auto name = dyn_cast<NameLoc>(location))
    return name.getName().getValue();
  return "";
}

FileLineColLoc verify::getFilePlace(Location location) {
  if (auto node = dyn_cast<tv::NodeLoc>(location))
    return getFilePlace(node.getPlace());
  if (auto name = dyn_cast<NameLoc>(location))
    return getFilePlace(name.getChildLoc());
  if (auto fused = dyn_cast<FusedLoc>(location))
    return fused.getLocations().empty()
               ? FileLineColLoc()
               : getFilePlace(fused.getLocations().front());
  return dyn_cast<FileLineColLoc>(location);
}
