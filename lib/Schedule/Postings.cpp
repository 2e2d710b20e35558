//===- Postings.cpp - what devices take part in, and when it is over ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What meets is decided by numbers: the n-th send of a channel and its n-th
// receive, the n-th collective of each member of a communicator.
//
//===----------------------------------------------------------------------===//

#include "Simulation.h"

using namespace mlir;
using namespace verify;
using namespace verify::schedule;

const Simulation::Posting *Simulation::findPosting(const Process &process,
                                                   const Action &action) const {
  if (action.phase == Phase::Whole)
    return process.own && process.own->op == action.op ? &*process.own
                                                       : nullptr;
  auto found = process.started.find(action.op);
  return found == process.started.end() ? nullptr : &found->second;
}

Simulation::Posting *Simulation::findPosting(Process &process,
                                             const Action &action) {
  return const_cast<Posting *>(
      std::as_const(*this).findPosting(process, action));
}

Simulation::Posting *Simulation::findPosting(const Party &party) {
  auto isOf = [&](const Posting &posting) {
    return posting.op == party.op && posting.order == party.order;
  };
  Process &process = processes[party.process];
  if (process.own && isOf(*process.own))
    return &*process.own;
  auto found = process.started.find(party.op);
  return found != process.started.end() && isOf(found->second) ? &found->second
                                                               : nullptr;
}

SmallVector<const Action *> Simulation::findEarlier(const Process &process,
                                                    const Action &action,
                                                    int64_t &time) const {
  SmallVector<const Action *> earlier;
  auto add = [&](const Action *before) {
    const Posting *posting = before ? findPosting(process, *before) : nullptr;
    if (!posting || llvm::is_contained(earlier, before))
      return;
    if (isOver(*posting, *before))
      time = std::max(time, getEnd(*posting, *before));
    else
      earlier.push_back(before);
  };
  if (options.runsInOrder && action.kind != ActionKind::Computation)
    add(process.lastInOrder);
  if (action.stream)
    add(process.lastOnStream.lookup(*action.stream));
  if (auto start = dyn_cast<tv::StartOp>(action.at))
    for (Value handle : start.getAfter())
      add(process.actionOf.lookup(handle));
  return earlier;
}

const Action *Simulation::findUnposted(const Process &process,
                                       const Action &action) const {
  auto found = process.lastAtPlace.find({action.kind, action.place});
  if (action.kind == ActionKind::Computation ||
      found == process.lastAtPlace.end())
    return nullptr;
  const Posting *posting = findPosting(process, *found->second);
  return posting && !posting->order ? found->second : nullptr;
}

LogicalResult Simulation::begin(unsigned number, const Action &action) {
  Process &process = processes[number];
  Posting posting{action.op, getMicroBatch(process, action.op),
                  process.hasEntered, process.clock};
  SmallVector<const Action *> earlier =
      findEarlier(process, action, posting.time);
  const Action *unposted = findUnposted(process, action);
  posting.before.append(earlier.begin(), earlier.end());
  if (unposted && !llvm::is_contained(earlier, unposted))
    posting.before.push_back(unposted);
  else
    unposted = nullptr;
  bool isBlocked = !posting.before.empty();
  if (action.phase == Phase::Whole)
    process.own = std::move(posting);
  else if (!process.started.try_emplace(action.op, std::move(posting)).second)
    return action.at->emitOpError("is started again before it is over");
  for (const Action *before : earlier) {
    findPosting(process, *before)->followers.push_back(&action);
    watch(process, *before);
  }
  if (unposted)
    findPosting(process, *unposted)->successors.push_back(&action);
  if (options.runsInOrder && action.kind != ActionKind::Computation)
    process.lastInOrder = &action;
  if (action.stream)
    process.lastOnStream[*action.stream] = &action;
  if (skeleton.ordersStreams) {
    process.lastAtPlace[{action.kind, action.place}] = &action;
    if (auto start = dyn_cast<tv::StartOp>(action.at))
      process.actionOf[start.getHandle()] = &action;
  }
  if (isBlocked) {
    process.unposted.push_back(&action);
    return proceed(number);
  }
  return post(number, action, *findPosting(process, action));
}

void Simulation::watch(Process &process, const Action &action) {
  Posting &posting = *findPosting(process, action);
  if (posting.isWatched || !posting.order)
    return;
  posting.isWatched = true;
  process.watched.push_back(&action);
}

LogicalResult Simulation::proceed(unsigned number) {
  Process &process = processes[number];
  // What is posted here may be watched then.
  for (size_t next = 0; next < process.watched.size();) {
    const Action &action = *process.watched[next];
    Posting *posting = findPosting(process, action);
    if (!posting)
      return action.at->emitOpError("is over before what follows it knows");
    if (!isOver(*posting, action)) {
      await(number, action);
      ++next;
      continue;
    }
    process.watched.erase(process.watched.begin() + next);
    posting->isWatched = false;
    int64_t end = getEnd(*posting, action);
    auto followers = std::exchange(posting->followers, {});
    for (const Action *follower : followers)
      if (failed(release(number, *follower, action, end)))
        return failure();
  }
  return success();
}

LogicalResult Simulation::release(unsigned number, const Action &first,
                                  const Action &before, int64_t time) {
  Process &process = processes[number];
  struct Released {
    const Action *action, *before;
    int64_t time;
  };
  // Chains are as long as there are starts in a channel.
  SmallVector<Released> worklist = {{&first, &before, time}};
  while (!worklist.empty()) {
    auto [action, before, time] = worklist.pop_back_val();
    Posting *posting = findPosting(process, *action);
    if (!posting || posting->order ||
        !llvm::is_contained(posting->before, before))
      return action->at->emitOpError("is posted before its turn");
    llvm::erase(posting->before, before);
    posting->time = std::max(posting->time, time);
    if (!posting->before.empty())
      continue;
    llvm::erase(process.unposted, action);
    if (failed(post(number, *action, *posting)))
      return failure();
    if (!posting->followers.empty())
      watch(process, *action);
    auto successors = std::exchange(posting->successors, {});
    for (const Action *successor : llvm::reverse(successors))
      worklist.push_back({successor, action, posting->time});
  }
  return success();
}

void Simulation::await(unsigned number, const Action &action) {
  switch (action.kind) {
  case ActionKind::Send:
    transfers[action.place].waitingSender = number;
    return;
  case ActionKind::Receive:
    transfers[action.place].waitingReceiver = number;
    return;
  case ActionKind::Collective:
    // Its end wakes all members.
  case ActionKind::Computation:
    return;
  }
}

LogicalResult Simulation::post(unsigned number, const Action &action,
                               Posting &posting) {
  switch (action.kind) {
  case ActionKind::Send:
    return postSend(number, posting, action.place);
  case ActionKind::Receive:
    return postReceive(number, posting, action.place);
  case ActionKind::Collective:
    return postCollective(number, posting, action);
  case ActionKind::Computation:
    // It ends whatever others do.
    posting.order = 0;
    posting.isMet = true;
    posting.met = posting.time;
    posting.arrivingMicroBatch = posting.microBatch;
    return success();
  }
  return action.at->emitOpError("is not understood by the schedule check");
}

Simulation::Party Simulation::take(unsigned number, Posting &posting,
                                   int64_t order) {
  posting.order = order;
  return {number, posting.op, order, posting.microBatch, posting.time};
}

LogicalResult Simulation::postSend(unsigned number, Posting &posting,
                                   unsigned channel) {
  Transfer &transfer = transfers[channel];
  Party party = take(number, posting, transfer.sent++);
  if (transfer.receives.empty()) {
    transfer.sends.push_back(party);
    return success();
  }
  Party receive = transfer.receives.front();
  transfer.receives.pop_front();
  if (failed(meet(party, receive, channel)))
    return failure();
  if (transfer.waitingReceiver) {
    wake(*transfer.waitingReceiver);
    transfer.waitingReceiver.reset();
  }
  return success();
}

LogicalResult Simulation::postReceive(unsigned number, Posting &posting,
                                      unsigned channel) {
  Transfer &transfer = transfers[channel];
  Party party = take(number, posting, transfer.receiveTimes.size());
  transfer.receiveTimes.push_back(posting.time);
  if (transfer.sends.empty()) {
    transfer.receives.push_back(party);
    return success();
  }
  Party send = transfer.sends.front();
  transfer.sends.pop_front();
  if (failed(meet(send, party, channel)))
    return failure();
  // Where sends are buffered, this one made room.
  if (transfer.waitingSender) {
    wake(*transfer.waitingSender);
    transfer.waitingSender.reset();
  }
  return success();
}

LogicalResult Simulation::meet(const Party &send, const Party &receive,
                               unsigned channel) {
  auto from = cast<tv::SendOp>(send.op);
  auto to = cast<tv::ReceiveOp>(receive.op);
  if (from.getValue().getType() != to.getResult().getType())
    return reportTypes(to, from, skeleton.channels[channel].sender);
  Posting *receiving = findPosting(receive);
  if (!receiving)
    return to.emitOpError("is over before anything was sent");
  receiving->arrivingMicroBatch = send.microBatch;
  receiving->other = from;
  receiving->isMet = true;
  receiving->met = std::max(send.time, receive.time);
  // A buffered send may be over.
  if (Posting *sending = findPosting(send)) {
    sending->isMet = true;
    sending->met = receiving->met;
  }
  outcome.messages += skeleton.channels[channel].copies;
  return success();
}

size_t Simulation::countAlike(const Action &first, const Action &other) {
  auto [found, isNew] = alike.try_emplace({&first, &other}, 0);
  if (!isNew)
    return found->second;
  size_t count = 0, most = std::min(first.together, other.together);
  while (count < most && areAlike(*(&first + count), *(&other + count)))
    ++count;
  return found->second = count;
}

LogicalResult Simulation::postCollective(unsigned number, Posting &posting,
                                         const Action &action) {
  Gathering &gathering = gatherings[action.place];
  int64_t &posted = processes[number].collectives[action.place];
  Party party = take(number, posting, posted++);
  party.action = &action;
  size_t index = party.order - gathering.first;
  while (gathering.open.size() <= index)
    gathering.open.emplace_back();
  auto &[present, together] = gathering.open[index];
  if (present.empty())
    together = action.together;
  else
    together = std::min(together, countAlike(*present.front().action, action));
  if (together == 0)
    return reportDifference(present.front(), party);
  present.push_back(party);
  if (present.size() < skeleton.communicators[action.place].members.size())
    return success();
  // Who has posted this one has posted those before.
  if (index != 0)
    return posting.op->emitOpError("is complete before an earlier one");
  SmallVector<Party, 0> members = std::move(present);
  // Those of different micro-batches say so one by one.
  Givers givers(members);
  size_t count = options.recordsTimeline || givers.areMixed() ? 1 : together;
  gathering.open.pop_front();
  gathering.first += static_cast<int64_t>(count);
  if (count > 1 && !gathering.open.empty())
    return posting.op->emitOpError("is entered after a later one");
  return release(members, count, givers);
}

Simulation::Givers::Givers(ArrayRef<Party> members) {
  auto isSmaller = [](const Party &left, const Party *right) {
    return !right || std::pair(left.microBatch, left.process) <
                         std::pair(right->microBatch, right->process);
  };
  for (const Party &member : members)
    if (member.microBatch >= 0 && isSmaller(member, smallest))
      smallest = &member;
  for (const Party &member : members)
    if (smallest && member.microBatch > smallest->microBatch &&
        isSmaller(member, next))
      next = &member;
}

LogicalResult Simulation::release(ArrayRef<Party> members, size_t count,
                                  const Givers &givers) {
  int64_t met = 0;
  outcome.mixesMicroBatches |= givers.areMixed();
  for (const Party &member : members)
    met = std::max(met, member.time);
  // Each begins when the one before it is over.
  auto others = static_cast<int64_t>(count) - 1;
  for (const Party &member : members) {
    Posting *posting = findPosting(member);
    if (!posting)
      return member.op->emitOpError("is over before all members are there");
    posting->isMet = true;
    posting->met = met + others;
    posting->count = count;
    processes[member.process].collectives[member.action->place] += others;
    posting->other = member.op;
    // Outside of calls nothing says that what meets has to be of one.
    const Party *giver = givers.get(member);
    if (giver && (posting->isInCall || !givers.areMixed())) {
      posting->arrivingMicroBatch = giver->microBatch;
      posting->other = giver->op;
    }
    wake(member.process);
  }
  outcome.collectives +=
      static_cast<int64_t>(count) *
      skeleton.communicators[members.front().action->place].copies;
  return success();
}

bool Simulation::isOver(const Posting &posting, const Action &action) const {
  if (posting.isMet || action.kind != ActionKind::Send || !posting.order)
    return posting.isMet;
  const Transfer &transfer = transfers[action.place];
  return *posting.order < static_cast<int64_t>(transfer.receiveTimes.size()) +
                              static_cast<int64_t>(options.bufferedSends);
}

int64_t Simulation::getEnd(const Posting &posting, const Action &action) const {
  if (action.kind != ActionKind::Send || !options.bufferedSends)
    return posting.met + 1;
  // What is buffered leaves when there is room.
  ArrayRef<int64_t> receiveTimes = transfers[action.place].receiveTimes;
  int64_t before = posting.order.value_or(0) - int64_t(options.bufferedSends);
  return 1 + std::max(posting.time, before < 0 ? 0 : receiveTimes[before]);
}
