//===- AlignTensors.cpp - which tensors of two plans are the same ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two plans made of one trace of the model call its tensors by the same
// numbers. Where each has a trace of its own the numbers differ, and are given
// in the order of the trace all the same, mostly. What is found so is stated of
// the plan, and only a guess: what does not hold is not assumed. It decides
// which draws are which, though (docs/Soundness.md, A17): two tensors of the
// plan never become one of the reference.
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

static OpKey getKey(Location location) {
  FileLineColLoc place = getFilePlace(location);
  return {getOpKind(location),
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
/// the same numbers in the reference.
static bool haveSameNumbers(tv::PlanOp reference, tv::PlanOp plan) {
  llvm::DenseMap<int64_t, Location> known;
  forEachTensor(reference, [&](Operation *op, int64_t number) {
    known.try_emplace(number, op->getLoc());
  });
  for (tv::SegmentOp segment : getForwardSegments(plan))
    for (Operation &op : segment.getBody().front()) {
      std::optional<int64_t> number = getTensor(op);
      // Adapters give what others have made.
      if (!number || getOpKind(op.getLoc()) == "adapter")
        continue;
      auto found = known.find(*number);
      // Copies may be the parallelizer's, with numbers of their own.
      bool isSame = found == known.end()
                        ? isa<tv::CopyOp>(op)
                        : found->second == op.getLoc() ||
                              getKey(found->second) == getKey(op.getLoc());
      if (!isSame)
        return false;
    }
  return true;
}

/// Whether numbers ascend along each segment: they are in the order of a trace.
static bool areNumbersInOrder(tv::PlanOp plan) {
  for (tv::SegmentOp segment : getForwardSegments(plan)) {
    int64_t last = std::numeric_limits<int64_t>::min();
    for (Operation &op : segment.getBody().front()) {
      std::optional<int64_t> number = getTensor(op);
      if (!number || getOpKind(op.getLoc()) == "adapter")
        continue;
      if (*number < std::exchange(last, *number))
        return false;
    }
  }
  return true;
}

namespace {
/// A tensor that ops of one place make.
struct Made {
  int64_t number;
  /// The parameter that ops of the segment read last, which tells layers apart;
  /// empty if they have read none.
  StringRef parameter;
};
struct Tensors {
  std::map<OpKey, SmallVector<Made>> byKey;
  bool isInOrder; ///< of the trace
};
} // namespace

/// The tensors that ops of each place make: their numbers ascend or, where that
/// says nothing, they are in the order of the plan's segments.
static Tensors listTensors(tv::PlanOp plan) {
  llvm::StringMap<StringRef> parameters;
  for (auto buffer : plan.getBody().getOps<tv::BufferOp>())
    if (!buffer.getGradientOf())
      parameters[buffer.getSymName()] = buffer.getName();
  Tensors made = {{}, areNumbersInOrder(plan)};
  llvm::DenseSet<int64_t> seen;
  for (tv::SegmentOp segment : getForwardSegments(plan)) {
    StringRef parameter;
    for (Operation &op : segment.getBody().front()) {
      for (Value operand : op.getOperands())
        if (auto read = operand.getDefiningOp<tv::ReadOp>())
          if (auto found = parameters.find(read.getBuffer());
              found != parameters.end())
            parameter = found->second;
      if (std::optional<int64_t> number = getTensor(op))
        if (seen.insert(*number).second)
          made.byKey[getKey(op.getLoc())].push_back({*number, parameter});
    }
  }
  if (made.isInOrder)
    for (auto &[key, list] : made.byKey)
      llvm::sort(list, [](const Made &left, const Made &right) {
        return left.number < right.number;
      });
  return made;
}

namespace {
/// Which tensor of the reference one of the plan is; none is two.
class Alignment {
public:
  void add(int64_t plan, int64_t reference) {
    if (!references.contains(plan) && taken.insert(reference).second)
      references[plan] = reference;
  }
  bool isIdentity() const {
    return llvm::all_of(references, [](const auto &entry) {
      return entry.first == entry.second;
    });
  }
  /// What has no counterpart may not be called like another tensor.
  int64_t get(int64_t plan) const {
    auto found = references.find(plan);
    if (found != references.end())
      return found->second;
    return taken.contains(plan) ? ~plan : plan;
  }

private:
  llvm::DenseMap<int64_t, int64_t> references; ///< by number in the plan
  llvm::DenseSet<int64_t> taken;
};
} // namespace

/// Pairs tensors in the order of both sides, if these are in order and there
/// are as many; else those after the same parameter, and then what is left,
/// each where there are as many.
static void align(ArrayRef<Made> plan, ArrayRef<Made> reference,
                  bool areInOrder, Alignment &alignment) {
  auto pair = [&](ArrayRef<Made> left, ArrayRef<Made> right) {
    if (left.size() != right.size())
      return false;
    for (auto [own, other] : llvm::zip_equal(left, right))
      alignment.add(own.number, other.number);
    return true;
  };
  if (areInOrder && pair(plan, reference))
    return;
  using Groups = llvm::MapVector<StringRef, SmallVector<Made>>;
  auto group = [](ArrayRef<Made> list) {
    Groups groups;
    for (const Made &each : list)
      groups[each.parameter].push_back(each);
    return groups;
  };
  Groups own = group(plan), others = group(reference);
  llvm::DenseSet<StringRef> done;
  for (auto &[parameter, list] : own)
    if (auto *found = others.find(parameter);
        found != others.end() && pair(list, found->second))
      done.insert(parameter);
  auto isLeft = [&](const Made &each) {
    return !done.contains(each.parameter);
  };
  pair(llvm::filter_to_vector(plan, isLeft),
       llvm::filter_to_vector(reference, isLeft));
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
  Alignment alignment;
  Tensors expected = listTensors(reference), own = listTensors(plan);
  for (auto &[key, made] : own.byKey)
    if (auto found = expected.byKey.find(key); found != expected.byKey.end())
      align(made, found->second, expected.isInOrder && own.isInOrder,
            alignment);
  llvm::StringMap<int64_t> known = listNamed(reference);
  for (auto &entry : listNamed(plan))
    if (auto found = known.find(entry.getKey()); found != known.end())
      alignment.add(entry.getValue(), found->second);
  if (alignment.isIdentity())
    return;
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](tv::PieceAttr piece) {
    return tv::PieceAttr::get(
        piece.getContext(), alignment.get(piece.getFull()), piece.getGradient(),
        piece.getBounds(), piece.getPart(), piece.getParts());
  });
  replacer.recursivelyReplaceElementsIn(plan, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/false);
}
