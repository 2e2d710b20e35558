//===- LineageOutputs.cpp - what is expected of outputs -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LineageLinker.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace verify;

/// Whether values may be compared: casts between floating-point types are
/// identities, and gone.
static bool isSameUpToCasts(Type left, Type right) {
  ElementKind kind = getElementKind(left);
  return left == right ||
         (kind == ElementKind::Real && kind == getElementKind(right) &&
          isExtended(left) == isExtended(right) &&
          cast<RankedTensorType>(left).getShape() ==
              cast<RankedTensorType>(right).getShape());
}

/// Where a value is, at some micro-batches alone.
static tv::DomainAttr restrictTo(tv::DomainAttr domain,
                                 SmallVector<int64_t> microBatches) {
  auto name = StringAttr::get(domain.getContext(), "mb");
  auto wanted = tv::AxisSetAttr::get(domain.getContext(), name,
                                     toIntervals(std::move(microBatches)));
  SmallVector<tv::AxisSetAttr> sets;
  for (tv::AxisSetAttr set : domain.getSets())
    if (set.getAxis() != name)
      sets.push_back(set);
  sets.insert(llvm::find_if(sets,
                            [&](tv::AxisSetAttr set) {
                              return name.getValue() < set.getAxis().getValue();
                            }),
              wanted);
  return tv::DomainAttr::get(domain.getContext(), sets);
}

static tv::DomainAttr getOwnDomain(Value value) {
  Operation *op = value.getDefiningOp();
  return op ? op->getAttrOfType<tv::DomainAttr>("domain") : tv::DomainAttr();
}

Value LineageLinker::restrict(Value value, SmallVector<int64_t> microBatches,
                              Location location) {
  tv::DomainAttr domain = getOwnDomain(value);
  if (!domain)
    return value;
  tv::DomainAttr restricted = restrictTo(domain, std::move(microBatches));
  return restricted == domain
             ? value
             : tv::CopyOp::create(builder, location, value.getType(), value,
                                  restricted);
}

Value LineageLinker::moveTo(Value value, int64_t from, int64_t to,
                            Location location) {
  tv::DomainAttr domain = getOwnDomain(value);
  if (!domain)
    domain = tv::DomainAttr::get(builder.getContext(), {});
  auto source = tv::DomainAttr::get(
      builder.getContext(),
      tv::AxisSetAttr::get(builder.getContext(), builder.getStringAttr("mb"),
                           toIntervals({from})));
  return tv::MoveOp::create(builder, location, value.getType(), value, source,
                            restrictTo(domain, {to}));
}

/// Each replica and micro-batch gives a term; each device all of them.
static tv::LineageAttr getOutputLineage(RankedTensorType type,
                                        tv::MeshAttr mesh) {
  MLIRContext *context = type.getContext();
  SmallVector<ArrayAttr> dimensions;
  for (int64_t size : type.getShape())
    dimensions.push_back(ArrayAttr::get(
        context,
        tv::DimensionFactorAttr::get(context, StringAttr(), 0, size, size)));
  SmallVector<StringAttr> axes;
  for (tv::AxisAttr axis : mesh.getAxes())
    if (axis.getName() != "device" && axis.getSize() > 1)
      axes.push_back(axis.getName());
  return tv::LineageAttr::get(context, dimensions, axes);
}

/// Adds to an error whether a device executes a loader more often than another
/// one: there are as many micro-batches as the most executions.
static LogicalResult noteUnequalLoads(tv::PlanOp plan,
                                      InFlightDiagnostic error) {
  struct Loads {
    int64_t device, count;
    tv::LoadDataOp last;
  };
  llvm::MapVector<int64_t, SmallVector<Loads, 1>> loaders; ///< by cell
  for (auto program : plan.getBody().getOps<tv::ProgramOp>())
    for (auto load : program.getBody().getOps<tv::LoadDataOp>()) {
      auto device = static_cast<int64_t>(program.getDevice());
      SmallVector<Loads, 1> &loads =
          loaders[static_cast<int64_t>(load.getCell())];
      if (loads.empty() || loads.back().device != device)
        loads.push_back({device, 0, load});
      ++loads.back().count;
      loads.back().last = load;
    }
  for (auto &[cell, loads] : loaders) {
    auto isLess = [](const Loads &left, const Loads &right) {
      return left.count < right.count;
    };
    Loads *most = llvm::max_element(loads, isLess);
    Loads *fewest = llvm::min_element(loads, isLess);
    if (most->count == fewest->count)
      continue;
    error.attachNote(most->last.getLoc())
        << "device " << most->device << " loads " << most->count
        << " times, device " << fewest->device << " only " << fewest->count;
    break;
  }
  return error;
}

LogicalResult LineageLinker::addOutput(int64_t device, size_t number,
                                       ArrayRef<const PlanOutput *> outputs) {
  const PlanOutput &expected = reference.getOutputs()[number];
  auto type = cast<RankedTensorType>(expected.bound.value.getType());
  // One value for all micro-batches, each of which gives it once; where they
  // are not uniform, several values with separate domains.
  llvm::MapVector<Value, SmallVector<int64_t>> given;
  llvm::DenseSet<int64_t> microBatches;
  SmallVector<const PlanOutput *> repeated;
  for (const PlanOutput *output : outputs) {
    if (!isSameUpToCasts(output->bound.value.getType(), type))
      return emitError(output->location)
             << "output '" << output->name << "' is "
             << output->bound.value.getType() << ", in the reference " << type;
    // What ops make of several micro-batches is only said to be of the first.
    if (output->bound.microBatch >= 0 &&
        !microBatches.insert(output->bound.microBatch).second) {
      repeated.push_back(output);
      continue;
    }
    given[output->bound.value].push_back(output->bound.microBatch);
  }
  if (static_cast<int64_t>(outputs.size()) !=
      mesh.getAxisSize("mb").value_or(1))
    return noteUnequalLoads(
        planOp, planOp.emitOpError("device ")
                    << device << " gives output '" << outputs.front()->name
                    << "' for " << outputs.size() << " of "
                    << mesh.getAxisSize("mb").value_or(1) << " micro-batches");
  // What is the same in all micro-batches stands for those that are left, and
  // so do further terms of one of them.
  int64_t next = 0;
  auto takeNext = [&] {
    while (microBatches.contains(next))
      ++next;
    return next++;
  };
  for (auto &[value, where] : given)
    for (int64_t &microBatch : where)
      if (microBatch < 0)
        microBatch = takeNext();
  for (const PlanOutput *output : repeated) {
    int64_t microBatch = takeNext();
    given[moveTo(output->bound.value, output->bound.microBatch, microBatch,
                 output->location)]
        .push_back(microBatch);
  }
  SmallVector<Value> values;
  for (auto &[value, where] : given)
    values.push_back(given.size() == 1 ? value
                                       : restrict(value, std::move(where),
                                                  outputs.front()->location));
  add(values, expected.bound.value, getOutputLineage(type, planOp.getMesh()),
      tv::ContractAttr::get(builder.getContext(), tv::ContractRole::Output,
                            builder.getStringAttr(expected.name)),
      device, outputs.front()->location);
  return success();
}

LogicalResult LineageLinker::checkOutputNames() const {
  ArrayRef<PlanOutput> expected = reference.getOutputs();
  // Names may be others, but not the same ones in another order.
  llvm::StringSet<> known, names;
  for (const PlanOutput &output : expected)
    known.insert(output.name);
  for (const PlanOutput &output : plan.getOutputs())
    names.insert(output.name);
  bool haveEqualNames = names.size() == known.size() &&
                        llvm::all_of(names, [&](const auto &each) {
                          return known.contains(each.getKey());
                        });
  if (!haveEqualNames)
    return success();
  for (const PlanOutput &output : plan.getOutputs())
    if (StringRef name = expected[output.ordinal % expected.size()].name;
        output.name != name)
      return emitError(output.location)
             << "output '" << output.name
             << "' stands where the reference gives '" << name << "'";
  return success();
}

LogicalResult LineageLinker::addOutputs() {
  size_t count = reference.getOutputs().size();
  if (count == 0)
    return planOp.emitOpError("the reference program has no output");
  llvm::MapVector<std::pair<int64_t, size_t>, SmallVector<const PlanOutput *>>
      byDevice;
  for (const PlanOutput &output : plan.getOutputs())
    byDevice[{output.device, output.ordinal % count}].push_back(&output);
  llvm::SmallDenseSet<size_t> seen;
  for (auto &[place, outputs] : byDevice) {
    seen.insert(place.second);
    if (failed(addOutput(place.first, place.second, outputs)))
      return failure();
  }
  for (size_t i = 0; i < count; ++i)
    if (!seen.contains(i))
      return planOp.emitOpError("no device gives output '")
             << reference.getOutputs()[i].name << "'";
  return success();
}
