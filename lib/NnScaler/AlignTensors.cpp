//===- AlignTensors.cpp - which tensors of two plans are the same ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two plans made of one trace of the model call its tensors by the same
// numbers. Where each has a trace of its own the numbers differ, and are given
// in the order of the trace all the same, mostly. What is found so is stated of
// the plan, and only a guess: what does not hold is not assumed.
//
//===----------------------------------------------------------------------===//

#include "Importer.h"

#include "Verify/IR/Locations.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/Support/Path.h"

#include <map>

using namespace mlir;
using namespace verify;

/// The kind of the ops that make a tensor, and file and line of the model; it
/// may have lain in another directory.
using OpKey = std::tuple<StringRef, StringRef, unsigned>;

static OpKey getKey(Operation *op) {
  FileLineColLoc place = getFilePlace(op->getLoc());
  return {getOpKind(op->getLoc()),
          place ? llvm::sys::path::filename(place.getFilename()) : StringRef(),
          place ? place.getLine() : 0};
}

/// The number of the tensor of the model that an op of a forward segment makes;
/// none if it makes none.
static std::optional<int64_t> getTensor(Operation &op) {
  if (!isa<tv::SemanticsOpInterface, tv::CompositionOpInterface>(op))
    return std::nullopt;
  auto piece =
      dyn_cast_or_null<tv::PieceAttr>(op.getDiscardableAttr(pieceName));
  return piece && !piece.getGradient() ? std::optional(piece.getFull())
                                       : std::nullopt;
}

static auto getForwardSegments(tv::PlanOp plan) {
  return llvm::make_filter_range(
      plan.getBody().getOps<tv::SegmentOp>(),
      [](tv::SegmentOp segment) { return !segment.getBackward(); });
}

/// Calls `visit` with each op that makes a tensor of the model, and the number
/// of that.
static void
forEachTensor(tv::PlanOp plan,
              llvm::function_ref<void(Operation *, int64_t)> visit) {
  for (tv::SegmentOp segment : getForwardSegments(plan))
    for (Operation &op : segment.getBody().front())
      if (std::optional<int64_t> number = getTensor(op))
        visit(&op, *number);
}

/// Whether the tensors of a plan are made by ops of the same places as those of
/// the same numbers in the reference. Where one trace has an op more than the
/// other, all that comes after it has another number: a few of each segment,
/// the first and the last, tell.
static bool haveSameNumbers(tv::PlanOp reference, tv::PlanOp plan) {
  constexpr unsigned mostAtAnEnd = 4;
  llvm::DenseMap<int64_t, OpKey> expected;
  auto collect = [&](auto &&ops) {
    unsigned count = 0;
    for (Operation &op : ops) {
      std::optional<int64_t> number = getTensor(op);
      // Adapters give what others have made.
      if (!number || getOpKind(op.getLoc()) == "adapter")
        continue;
      expected.try_emplace(*number, getKey(&op));
      if (++count == mostAtAnEnd)
        return;
    }
  };
  for (tv::SegmentOp segment : getForwardSegments(plan)) {
    collect(segment.getBody().front());
    collect(llvm::reverse(segment.getBody().front()));
  }
  bool isSame = true;
  llvm::DenseSet<int64_t> seen;
  forEachTensor(reference, [&](Operation *op, int64_t number) {
    auto found = expected.find(number);
    if (isSame && found != expected.end() && seen.insert(number).second)
      isSame = found->second == getKey(op);
  });
  return isSame && 2 * seen.size() >= expected.size();
}

/// Whether ops of one place have ascending numbers wherever a segment has
/// several: they are in the order of a trace.
static bool areNumbersInOrder(tv::PlanOp plan) {
  for (tv::SegmentOp segment : getForwardSegments(plan)) {
    std::map<OpKey, int64_t> last;
    for (Operation &op : segment.getBody().front())
      if (std::optional<int64_t> number = getTensor(op)) {
        auto [found, isNew] = last.try_emplace(getKey(&op), *number);
        if (!isNew && *number < std::exchange(found->second, *number))
          return false;
      }
  }
  return true;
}

/// The numbers of the tensors that ops of each place make: ascending, or else
/// in the order of the plan's segments, which is that of the trace unless a
/// device has several stages.
static std::map<OpKey, SmallVector<int64_t>> listNumbers(tv::PlanOp plan) {
  std::map<OpKey, SmallVector<int64_t>> numbers;
  llvm::DenseSet<int64_t> seen;
  forEachTensor(plan, [&](Operation *op, int64_t number) {
    if (seen.insert(number).second)
      numbers[getKey(op)].push_back(number);
  });
  if (areNumbersInOrder(plan))
    for (auto &[key, list] : numbers)
      llvm::sort(list);
  return numbers;
}

/// The numbers of parameters and data, by name.
static llvm::StringMap<int64_t> listNamed(tv::PlanOp plan) {
  llvm::StringMap<int64_t> named;
  for (auto buffer : plan.getBody().getOps<tv::BufferOp>())
    if (!buffer.getGradientOf())
      named.try_emplace(buffer.getName(), buffer.getPiece().getFull());
  for (auto program : plan.getBody().getOps<tv::ProgramOp>())
    for (auto load : program.getBody().getOps<tv::LoadDataOp>())
      for (auto [name, piece] :
           llvm::zip(load.getNames().getAsRange<StringAttr>(),
                     load.getPieces().getAsRange<tv::PieceAttr>()))
        named.try_emplace(name.getValue(), piece.getFull());
  return named;
}

void nnscaler::alignTensors(tv::PlanOp reference, tv::PlanOp plan) {
  if (haveSameNumbers(reference, plan))
    return;
  llvm::DenseMap<int64_t, int64_t> aligned;
  std::map<OpKey, SmallVector<int64_t>> expected = listNumbers(reference);
  for (auto &[key, numbers] : listNumbers(plan))
    if (auto found = expected.find(key);
        found != expected.end() && found->second.size() == numbers.size())
      for (auto [number, other] : llvm::zip_equal(numbers, found->second))
        aligned.try_emplace(number, other);
  llvm::StringMap<int64_t> known = listNamed(reference);
  for (auto &entry : listNamed(plan))
    if (auto found = known.find(entry.getKey()); found != known.end())
      aligned.try_emplace(entry.getValue(), found->second);
  if (llvm::all_of(aligned, [](const auto &entry) {
        return entry.first == entry.second;
      }))
    return;
  // What has no counterpart may not be called like another tensor.
  llvm::DenseSet<int64_t> taken;
  for (auto [number, other] : aligned)
    taken.insert(other);
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](tv::PieceAttr piece) {
    int64_t number = piece.getFull();
    if (auto found = aligned.find(number); found != aligned.end())
      number = found->second;
    else if (taken.contains(number))
      number = -1 - number;
    return tv::PieceAttr::get(piece.getContext(), number, piece.getGradient(),
                              piece.getBounds(), piece.getPart(),
                              piece.getParts());
  });
  replacer.recursivelyReplaceElementsIn(plan, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/false);
}
