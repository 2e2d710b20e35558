//===- DeviceOrder.cpp - what of a device is over when --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vector clocks: of each stream it is known how many of its items are over when
// an item begins. A clock holds nothing that was over anyway when it was made.
//
//===----------------------------------------------------------------------===//

#include "DeviceOrder.h"

using namespace mlir;
using namespace verify;
using namespace verify::schedule;

void DeviceOrder::join(Clock &clock, const Item &item) const {
  for (auto [stream, place] : item.before)
    if (!isOver(stream, place))
      clock[stream] = std::max(clock[stream], place);
}

unsigned DeviceOrder::start(tv::StartOp op) {
  unsigned number = items.size();
  unsigned stream = over.size();
  if (std::optional<StringRef> name = op.getStream())
    stream = streamOf.try_emplace(*name, stream).first->second;
  if (stream == over.size()) {
    over.push_back(0);
    lastItems.push_back(number);
  }
  Item item{op, stream, 1, {}};
  if (unsigned last = lastItems[stream]; last != number) {
    item.place = items[last].place + 1;
    join(item.before, items[last]);
  }
  for (Value handle : op.getAfter())
    if (auto found = itemOf.find(handle.getDefiningOp()); found != itemOf.end())
      join(item.before, items[found->second]);
  item.before[stream] = item.place;
  lastItems[stream] = number;
  itemOf[op] = number;
  items.push_back(std::move(item));
  return number;
}

void DeviceOrder::wait(tv::StartOp op) {
  auto found = itemOf.find(op);
  if (found == itemOf.end())
    return;
  for (auto [stream, place] : items[found->second].before)
    over[stream] = std::max(over[stream], place);
}

bool DeviceOrder::isOver(unsigned number) const {
  return isOver(items[number].stream, items[number].place);
}

bool DeviceOrder::isBefore(unsigned first, unsigned second) const {
  const Item &item = items[first];
  auto found = items[second].before.find(item.stream);
  return found != items[second].before.end() && first != second &&
         item.place <= found->second;
}
