//===- RankComparison.cpp - whether ranks run one program -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RankComparison.h"

#include "Verify/IR/Prefetch.h"

using namespace mlir;
using namespace verify;

/// Whether two ops of one kind differ at most in the properties `ignored`.
static bool haveEqualProperties(Operation *left, Operation *right,
                                std::initializer_list<StringRef> ignored) {
  if (left->getName().compareOpProperties(left->getPropertiesStorage(),
                                          right->getPropertiesStorage()))
    return true;
  auto a = dyn_cast_or_null<DictionaryAttr>(left->getPropertiesAsAttribute()),
       b = dyn_cast_or_null<DictionaryAttr>(right->getPropertiesAsAttribute());
  if (!a || !b)
    return false;
  auto isCompared = [&](NamedAttribute entry) {
    return !llvm::is_contained(ignored, entry.getName().getValue());
  };
  return llvm::equal(llvm::make_filter_range(a, isCompared),
                     llvm::make_filter_range(b, isCompared));
}

/// Whether a buffer or segment is one of `device`, so that this may name it.
template <typename Op> static bool isOf(int64_t device, Op op) {
  return static_cast<int64_t>(op.getDevice()) == device;
}

RankFold::Spread RankComparison::getSpread(tv::PieceAttr left,
                                           tv::PieceAttr right) const {
  if (left == right)
    return {};
  constexpr Spread none = {Spread::Other};
  if (!left || !right || left.getFull() != right.getFull() ||
      left.getGradient() != right.getGradient() ||
      left.getParts() != right.getParts() ||
      left.getBounds().size() != right.getBounds().size())
    return none;
  std::optional<unsigned> dimension;
  ArrayRef<int64_t> a = left.getBounds(), b = right.getBounds();
  for (unsigned i = 0; 3 * i + 2 < a.size(); ++i) {
    if (a.slice(3 * i, 3) == b.slice(3 * i, 3))
      continue;
    int64_t extent = a[3 * i + 1], whole;
    if (dimension || a[3 * i] != 0 || a[3 * i + 2] != b[3 * i + 2] ||
        llvm::MulOverflow(extent, fold.size, whole) || whole != a[3 * i + 2] ||
        b[3 * i] != rank * extent || b[3 * i + 1] != (rank + 1) * extent)
      return none;
    dimension = i;
  }
  return dimension ? Spread{Spread::Divided, *dimension} : Spread();
}

void RankComparison::add(RankFold::Spreads &spreads, Operation *op,
                         unsigned number, Spread spread) const {
  std::pair<Operation *, unsigned> key = {op, number};
  if (rank == 1) {
    if (spread.kind != Spread::Same)
      spreads[key] = spread;
    return;
  }
  if (spreads.lookup(key) != spread)
    spreads[key] = {Spread::Other};
}

bool RankComparison::compareBuffers() {
  auto &left = fold.devices[first].buffers,
       &right = fold.devices[other].buffers;
  if (left.size() != right.size())
    return false;
  for (auto [a, b] : llvm::zip_equal(left, right)) {
    if (a.getName() != b.getName() || a.getType() != b.getType() ||
        !compareNames(a.getGradientOfAttr(), b.getGradientOfAttr()))
      return false;
    add(group.given, a, 0, getSpread(a.getPiece(), b.getPiece()));
  }
  return true;
}

bool RankComparison::compareNames(FlatSymbolRefAttr left,
                                  FlatSymbolRefAttr right) const {
  if (!left || !right)
    return !left && !right;
  auto a = fold.buffers.find(left.getAttr()),
       b = fold.buffers.find(right.getAttr());
  if (a == fold.buffers.end() || b == fold.buffers.end())
    return false;
  auto [mine, number] = a->second;
  auto [theirs, otherNumber] = b->second;
  return number == otherNumber && isOf(first, mine) && isOf(other, theirs);
}

bool RankComparison::addPeer(Operation *op, int64_t left, int64_t right) {
  // What is a message to itself of one rank only is verified of each.
  auto count = static_cast<int64_t>(fold.places.size());
  return group.peers.add(op, left, rank, right) && left >= 0 && right >= 0 &&
         left < count && right < count && left != first && right != other;
}

bool RankComparison::areRanks(int64_t left, int64_t right) {
  auto count = static_cast<int64_t>(fold.places.size());
  if (left < 0 || right < 0 || left >= count || right >= count)
    return false;
  RankFold::Place mine = fold.places[left], theirs = fold.places[right];
  if (mine.group == RankFold::nowhere || mine.group != theirs.group ||
      mine.rank != 0 || theirs.rank != rank)
    return false;
  group.partners.insert(mine.group);
  return true;
}

bool RankComparison::compareCollectives(tv::CommunicateOp left,
                                        tv::CommunicateOp right) {
  if (!haveEqualProperties(left, right, {"group", "root"}) ||
      left.getRoot().has_value() != right.getRoot().has_value() ||
      left.getGroup().size() != right.getGroup().size())
    return false;
  ArrayRef<int64_t> members = group.devices;
  if (left.getGroup() == members || fold.areAllRanks(left.getGroup()))
    return compareWithinGroup(left, right);
  // The first rank's number in its communicator is that of all.
  if (seenGroups[left.getReplicas()]
          .insert({left.getGroupAttr(), right.getGroupAttr()})
          .second &&
      !communicators.add(getCommunicator(left), getCommunicator(right)))
    return false;
  if (left.getKind() == tv::CollectiveKind::Broadcast)
    return compareBroadcasts(left, right);
  // Or one rank of each of several groups.
  return llvm::all_of(llvm::zip_equal(left.getGroup(), right.getGroup()),
                      [&](auto pair) {
                        return areRanks(std::get<0>(pair), std::get<1>(pair));
                      }) &&
         (!left.getRoot() || areRanks(*left.getRoot(), *right.getRoot()));
}

bool RankComparison::compareWithinGroup(tv::CommunicateOp left,
                                        tv::CommunicateOp right) {
  // What only one of them gets is none of the others', whose ops are not
  // verified where they are equal.
  if (left.getGroup() != right.getGroup() ||
      left.getRoot() != right.getRoot() ||
      !llvm::is_contained(left.getGroup(), first) ||
      (left.getRoot() && left.getKind() != tv::CollectiveKind::Broadcast))
    return false;
  switch (left.getKind()) {
  case tv::CollectiveKind::AllReduce:
  case tv::CollectiveKind::AllGather:
  case tv::CollectiveKind::ReduceScatter:
  case tv::CollectiveKind::Broadcast:
    return true;
  case tv::CollectiveKind::AllToAll:
    return left.getGroup() == ArrayRef(group.devices);
  }
  return false;
}

bool RankComparison::compareBroadcasts(tv::CommunicateOp left,
                                       tv::CommunicateOp right) {
  // The others in it may be any, as with messages.
  auto isSource = [](tv::CommunicateOp op, int64_t device) {
    return static_cast<int64_t>(*op.getRoot()) == device;
  };
  return group.broadcasts.add(left, left, rank, right) &&
         llvm::is_contained(left.getGroup(), first) &&
         llvm::is_contained(right.getGroup(), other) && left.getRoot() &&
         right.getRoot() && isSource(left, first) == isSource(right, other);
}

bool RankComparison::compareLoads(tv::LoadDataOp left, tv::LoadDataOp right) {
  if (!haveEqualProperties(left, right, {"pieces"}) ||
      left.getPieces().size() != right.getPieces().size())
    return false;
  for (auto [number, pair] : llvm::enumerate(
           llvm::zip_equal(left.getPieces().getAsRange<tv::PieceAttr>(),
                           right.getPieces().getAsRange<tv::PieceAttr>())))
    add(group.given, left, number,
        getSpread(std::get<0>(pair), std::get<1>(pair)));
  return true;
}

bool RankComparison::compareCalls(tv::CallOp left, tv::CallOp right) {
  if (left.getMirror().has_value() != right.getMirror().has_value() ||
      !executions.add(left.getInstance(), right.getInstance()) ||
      (left.getMirror() &&
       !executions.add(*left.getMirror(), *right.getMirror())))
    return false;
  FlatSymbolRefAttr name = left.getCalleeAttr(),
                    otherName = right.getCalleeAttr();
  auto [known, isNew] = segments.try_emplace(name, otherName);
  if (!isNew)
    return known->second == otherName;
  // Calls are not nested in a plan that is valid, which others find: here it
  // only matters that they do not end the stack.
  if (!isa<tv::ProgramOp>(left->getParentOp()))
    return false;
  auto a = fold.segments.find(name.getAttr()),
       b = fold.segments.find(otherName.getAttr());
  if (a == fold.segments.end() || b == fold.segments.end() ||
      !firstSegments.try_emplace(otherName, name).second)
    return false;
  tv::SegmentOp mine = a->second, theirs = b->second;
  if (!isOf(first, mine) || !isOf(other, theirs))
    return false;
  // The program's values are not seen in a segment.
  Values outer = std::exchange(values, Values());
  bool isEqual = compare(mine.getBody().front(), theirs.getBody().front());
  values = std::move(outer);
  noteCompared(mine, theirs);
  return isEqual;
}

bool RankComparison::compareStarts(Operation *op, int64_t left, int64_t right,
                                   int64_t extent) {
  int64_t rise, expected;
  bool isByRank = left != right;
  if (isByRank &&
      (llvm::MulOverflow(rank, extent, rise) ||
       llvm::AddOverflow(left, rise, expected) || expected != right))
    return false;
  if (rank == 1 && isByRank)
    group.starts.insert(op);
  return group.starts.contains(op) == isByRank;
}

/// Whether two ops of this kind that were found alike differ at most in numbers
/// of executions or ops, and in names of other ops of the plan.
static bool differsInNumbersAlone(Operation *op) {
  return isa<tv::ReadOp, tv::WriteOp, tv::AddToOp, tv::CallOp, tv::SaveOp,
             tv::BackwardOp>(op);
}

std::optional<bool> RankComparison::compareParts(Operation &left,
                                                 Operation &right) {
  if (auto load = dyn_cast<tv::LoadDataOp>(left))
    return compareLoads(load, cast<tv::LoadDataOp>(right));
  if (auto random = dyn_cast<tv::RandomOp>(left)) {
    add(group.given, random, 0,
        getSpread(random.getPiece(), cast<tv::RandomOp>(right).getPiece()));
    return haveEqualProperties(&left, &right, {"piece"});
  }
  if (auto slice = dyn_cast<tv::SliceOp>(left)) {
    // As long as the result is.
    return haveEqualProperties(&left, &right, {"start", "end"}) &&
           group.sliceStarts.add(slice, slice.getStart(), rank,
                                 cast<tv::SliceOp>(right).getStart());
  }
  if (auto oneHot = dyn_cast<tv::OneHotOp>(left)) {
    auto type = cast<RankedTensorType>(oneHot.getResult().getType());
    return type.getRank() != 0 &&
           haveEqualProperties(&left, &right, {"start"}) &&
           compareStarts(oneHot, oneHot.getStart(),
                         cast<tv::OneHotOp>(right).getStart(),
                         type.getShape().back());
  }
  if (auto embedding = dyn_cast<tv::EmbeddingOp>(left)) {
    auto table = cast<RankedTensorType>(embedding.getTable().getType());
    return table.getRank() == 2 &&
           haveEqualProperties(&left, &right, {"start"}) &&
           compareStarts(embedding, embedding.getStart(),
                         cast<tv::EmbeddingOp>(right).getStart(),
                         table.getDimSize(0));
  }
  return std::nullopt;
}

std::optional<bool> RankComparison::compareNumbered(Operation &left,
                                                    Operation &right) {
  if (isa<tv::ReadOp, tv::WriteOp, tv::AddToOp>(left)) {
    auto name = [](Operation &op) {
      return cast<FlatSymbolRefAttr>(*op.getInherentAttr("buffer"));
    };
    return compareNames(name(left), name(right));
  }
  if (auto call = dyn_cast<tv::CallOp>(left))
    return compareCalls(call, cast<tv::CallOp>(right));
  if (auto save = dyn_cast<tv::SaveOp>(left)) {
    auto other = cast<tv::SaveOp>(right);
    return save.getInputs().size() == other.getInputs().size() &&
           savedOps.add(save.getOp(), other.getOp());
  }
  if (auto backward = dyn_cast<tv::BackwardOp>(left)) {
    auto other = cast<tv::BackwardOp>(right);
    return backward.getWrt() == other.getWrt() &&
           backward.getOutputs() == other.getOutputs() &&
           savedOps.add(backward.getForward(), other.getForward());
  }
  if (auto send = dyn_cast<tv::SendOp>(left))
    return haveEqualProperties(&left, &right, {"peer"}) &&
           addPeer(send, send.getPeer(), cast<tv::SendOp>(right).getPeer());
  if (auto receive = dyn_cast<tv::ReceiveOp>(left))
    return haveEqualProperties(&left, &right, {"peer"}) &&
           addPeer(receive, receive.getPeer(),
                   cast<tv::ReceiveOp>(right).getPeer());
  if (auto communicate = dyn_cast<tv::CommunicateOp>(left))
    return compareCollectives(communicate, cast<tv::CommunicateOp>(right));
  return std::nullopt;
}

bool RankComparison::comparePieces(Operation &left, Operation &right) {
  DictionaryAttr a = left.getDiscardableAttrDictionary(),
                 b = right.getDiscardableAttrDictionary();
  if (a.empty() && b.empty())
    return true;
  auto isStated = [](NamedAttribute entry) {
    return entry.getName().getValue() != declaredName;
  };
  group.isDeclaredOtherwise |=
      !llvm::all_of(a, isStated) || !llvm::all_of(b, isStated);
  // One that was different before has to be noted.
  if (a == b && rank == 1)
    return true;
  // What one of them keeps instead of what is declared is no part of the op.
  auto ofFirst = llvm::make_filter_range(a, isStated),
       ofOther = llvm::make_filter_range(b, isStated);
  if (llvm::range_size(ofFirst) != llvm::range_size(ofOther))
    return false;
  for (auto [mine, theirs] : llvm::zip(ofFirst, ofOther)) {
    if (mine.getName() != theirs.getName())
      return false;
    StringRef name = mine.getName().getValue();
    if (name == pieceName) {
      add(group.stated, &left, 0,
          getSpread(dyn_cast<tv::PieceAttr>(mine.getValue()),
                    dyn_cast<tv::PieceAttr>(theirs.getValue())));
      continue;
    }
    if (name == piecesName) {
      auto list = dyn_cast<ArrayAttr>(mine.getValue()),
           others = dyn_cast<ArrayAttr>(theirs.getValue());
      if (!list || !others || list.size() != others.size())
        return false;
      for (auto [number, pair] : llvm::enumerate(llvm::zip_equal(list, others)))
        add(group.stated, &left, number,
            getSpread(dyn_cast<tv::PieceAttr>(std::get<0>(pair)),
                      dyn_cast<tv::PieceAttr>(std::get<1>(pair))));
      continue;
    }
    if (mine.getValue() != theirs.getValue())
      return false;
  }
  return true;
}

bool RankComparison::add(Value left, Value right) {
  if (left.getType() != right.getType())
    return false;
  if (rank == 1)
    values.numbers[left] = values.ofOther.size();
  values.ofOther.push_back(right);
  return true;
}

bool RankComparison::compareOperand(Value left, Value right) {
  if (rank == 1) {
    auto found = values.numbers.find(left);
    if (found == values.numbers.end())
      return false;
    group.operands.push_back(found->second);
  }
  if (nextOperand >= group.operands.size())
    return false;
  unsigned number = group.operands[nextOperand++];
  return number < values.ofOther.size() && values.ofOther[number] == right;
}

bool RankComparison::compare(Operation &left, Operation &right) {
  if (left.getName() != right.getName() ||
      left.getNumOperands() != right.getNumOperands() ||
      left.getNumResults() != right.getNumResults() ||
      left.getNumRegions() != 0 || right.getNumRegions() != 0)
    return false;
  for (unsigned i = 0, count = left.getNumOperands(); i < count; ++i)
    if (!compareOperand(left.getOperand(i), right.getOperand(i)))
      return false;
  for (unsigned i = 0, count = left.getNumResults(); i < count; ++i)
    if (!add(left.getResult(i), right.getResult(i)))
      return false;
  auto haveEqual = [&] {
    return left.getName().compareOpProperties(left.getPropertiesStorage(),
                                              right.getPropertiesStorage());
  };
  std::optional<bool> areAlike = compareNumbered(left, right);
  if (!areAlike)
    areAlike = compareParts(left, right);
  if (!areAlike)
    areAlike = haveEqual();
  else if (*areAlike && !differsInNumbersAlone(&left) && !haveEqual())
    group.differing.push_back(&right);
  if (!*areAlike)
    return false;
  return comparePieces(left, right);
}

bool RankComparison::compare(Block &left, Block &right) {
  if (left.getNumArguments() != right.getNumArguments())
    return false;
  for (unsigned i = 0, count = left.getNumArguments(); i < count; ++i)
    if (!add(left.getArgument(i), right.getArgument(i)))
      return false;
  auto next = right.begin();
  Prefetcher ahead(left), aheadOfNext(right);
  for (Operation &op : left) {
    ahead.step();
    aheadOfNext.step();
    if (next == right.end() || !compare(op, *next++))
      return false;
  }
  return next == right.end();
}
