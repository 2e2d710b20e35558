//===- DensePlaces.cpp - places among representatives ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DenseRelation.h"

using namespace mlir;
using namespace verify;

int64_t DenseTensor::getOffset(const MeshPlace &place) const {
  int64_t offset = 0;
  for (auto [axis, ordinal] : llvm::enumerate(place.ordinals))
    offset += getAxisOffset(axis, ordinal);
  return offset;
}

std::optional<int64_t>
verify::findOrdinal(ArrayRef<Representative> representatives,
                    int64_t position) {
  const Representative *found = llvm::lower_bound(
      representatives, position, [](Representative entry, int64_t wanted) {
        return entry.position < wanted;
      });
  if (found == representatives.end() || found->position != position)
    return std::nullopt;
  return found - representatives.begin();
}

std::vector<MeshPlace> verify::listPlaces(const FactorAnalysis &factors,
                                          uint64_t axes, tv::DomainAttr domain,
                                          const DenseTensor *tensor) {
  MeshPlace origin;
  origin.coordinates.assign(factors.getAxisCount(), -1);
  origin.ordinals.assign(factors.getAxisCount(), 0);
  std::vector<MeshPlace> places = {origin};
  for (unsigned axis = 0; axis < factors.getAxisCount(); ++axis) {
    if (!(axes >> axis & 1))
      continue;
    tv::AxisSetAttr set =
        domain ? domain.getSet(factors.getAxisName(axis)) : tv::AxisSetAttr();
    std::vector<MeshPlace> next;
    // The first coordinate of each class.
    ArrayRef<int64_t> classes =
        tensor ? ArrayRef<int64_t>(tensor->axisClasses[axis])
               : ArrayRef<int64_t>();
    llvm::BitVector isFirst(
        factors.getRepresentatives(factors.getAxis(axis)).size(),
        classes.empty());
    llvm::SmallDenseSet<int64_t, 8> seen;
    for (auto [ordinal, number] : llvm::enumerate(classes))
      if (seen.insert(number).second)
        isFirst.set(ordinal);
    for (MeshPlace &place : places)
      for (auto [ordinal, entry] :
           llvm::enumerate(factors.getRepresentatives(factors.getAxis(axis)))) {
        if ((set && !set.contains(entry.position)) || !isFirst.test(ordinal))
          continue;
        place.coordinates[axis] = entry.position;
        place.ordinals[axis] = static_cast<int64_t>(ordinal);
        next.push_back(place);
      }
    places = std::move(next);
  }
  return places;
}

FailureOr<std::vector<AxisTerm>>
verify::listAxisTerms(const FactorAnalysis &factors, const DenseTensor &tensor,
                      ArrayRef<unsigned> axes,
                      ArrayRef<SmallVector<int64_t, 2>> bounds) {
  std::vector<AxisTerm> terms = {{0, 1}};
  for (auto [axis, range] : llvm::zip_equal(axes, bounds)) {
    std::vector<AxisTerm> next;
    for (AxisTerm term : terms)
      for (auto [ordinal, entry] :
           llvm::enumerate(factors.getRepresentatives(factors.getAxis(axis)))) {
        bool isInside = range.empty();
        for (size_t i = 0; i + 1 < range.size(); i += 2)
          isInside |=
              entry.position >= range[i] && entry.position < range[i + 1];
        int64_t weight;
        if (!isInside)
          continue;
        if (llvm::MulOverflow(term.weight, entry.weight, weight))
          return failure();
        int64_t offset = term.offset + tensor.getAxisOffset(
                                           axis, static_cast<int64_t>(ordinal));
        // Coordinates of one class are one term, as often as there are some.
        auto known = tensor.axisClasses[axis].empty()
                         ? next.end()
                         : llvm::find_if(next, [&](AxisTerm other) {
                             return other.offset == offset;
                           });
        if (known == next.end())
          next.push_back({offset, weight});
        else if (llvm::AddOverflow(known->weight, weight, known->weight))
          return failure();
      }
    terms = std::move(next);
  }
  return terms;
}
