//===- Counterexample.cpp - why a plan does not run to its end ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of all that is blocked, what tells most: a device that waits for one that has
// nothing left to run, or else a shortest cycle of those that were found.
//
//===----------------------------------------------------------------------===//

#include "Simulation.h"

using namespace mlir;
using namespace verify;
using namespace verify::schedule;

//===----------------------------------------------------------------------===//
// What does not fit
//===----------------------------------------------------------------------===//

LogicalResult Simulation::reportTypes(tv::ReceiveOp op, tv::SendOp send,
                                      int64_t sender) {
  outcome.malformation = "what one device sends, another does not receive";
  InFlightDiagnostic error = op.emitOpError("expects ");
  error << op.getResult().getType() << ", device " << sender << " sends "
        << send.getValue().getType();
  error.attachNote(send.getLoc()) << "sent here";
  return error;
}

LogicalResult Simulation::reportLeft() {
  for (const Process &process : processes)
    if (!process.queue.empty())
      return process.queue.front()->at->emitOpError("is never over");
  // Buffers may hold what nobody takes.
  for (auto [channel, transfer] : llvm::zip(skeleton.channels, transfers)) {
    if (transfer.sends.empty() && transfer.receives.empty())
      continue;
    outcome.malformation = "what one device sends, another does not receive";
    if (!transfer.sends.empty())
      return transfer.sends.front().op->emitOpError("to device ")
             << channel.receiver << " is never received";
    return transfer.receives.front().op->emitOpError("from device ")
           << channel.sender << " is never sent";
  }
  for (const Gathering &gathering : gatherings)
    if (!gathering.open.empty()) {
      outcome.malformation = "devices wait for each other without end";
      return gathering.open.front().front().op->emitOpError(
          "is not entered by all members of its group");
    }
  return success();
}

static std::string print(ArrayRef<int64_t> numbers) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << '[';
  llvm::interleaveComma(numbers, out);
  out << ']';
  return text;
}

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << '\'' << type << '\'';
  return text;
}

static std::string print(std::optional<uint64_t> number) {
  return number ? std::to_string(*number) : "none";
}

/// In what two members of a collective differ, and what each has; nothing where
/// they do the same.
static std::optional<std::array<std::string, 3>>
findDifference(tv::CommunicateOp first, tv::CommunicateOp other) {
  using Fields = std::array<std::string, 3>;
  if (first.getKind() != other.getKind())
    return Fields{"kind", stringifyCollectiveKind(first.getKind()).str(),
                  stringifyCollectiveKind(other.getKind()).str()};
  if (first.getReduction() != other.getReduction())
    return Fields{"reduction",
                  stringifyReductionKind(first.getReduction()).str(),
                  stringifyReductionKind(other.getReduction()).str()};
  if (first.getRoot() != other.getRoot())
    return Fields{"root", print(first.getRoot()), print(other.getRoot())};
  if (first.getDimension() != other.getDimension())
    return Fields{"dimension", print(first.getDimension()),
                  print(other.getDimension())};
  if (first.getSplitDimension() != other.getSplitDimension())
    return Fields{"split dimension", print(first.getSplitDimension()),
                  print(other.getSplitDimension())};
  if (first.getGroup() != other.getGroup())
    return Fields{"order of the group", print(first.getGroup()),
                  print(other.getGroup())};
  if (first.getValue().getType() != other.getValue().getType())
    return Fields{"operand", print(first.getValue().getType()),
                  print(other.getValue().getType())};
  if (first.getResult().getType() != other.getResult().getType())
    return Fields{"result", print(first.getResult().getType()),
                  print(other.getResult().getType())};
  return std::nullopt;
}

LogicalResult Simulation::compareMembers(const Party &first,
                                         const Party &other) {
  auto op = cast<tv::CommunicateOp>(other.op);
  auto against = cast<tv::CommunicateOp>(first.op);
  auto difference = findDifference(against, op);
  if (!difference)
    return success();
  outcome.malformation = "the members of a group do different things";
  const auto &[field, ofFirst, ofOther] = *difference;
  InFlightDiagnostic error = op.emitOpError(
      "is not what another member of its group enters at this point: ");
  error << field << " is " << ofOther << " on device "
        << deviceOf(other.process) << " and " << ofFirst << " on device "
        << deviceOf(first.process);
  error.attachNote(against.getLoc())
      << "device " << deviceOf(first.process) << " enters this one";
  return error;
}

//===----------------------------------------------------------------------===//
// Who waits for whom
//===----------------------------------------------------------------------===//

const Action *Simulation::getObstacle(const Process &process) const {
  return process.queue.empty() ? getAction(process) : process.queue.front();
}

bool Simulation::isBehind(const Process &process) const {
  const Action *action = getAction(process);
  const Action *obstacle = getObstacle(process);
  return action && obstacle && action->op != obstacle->op;
}

SmallVector<int64_t> Simulation::findMissing(unsigned number) const {
  const Action *action = getObstacle(processes[number]);
  if (!action)
    return {};
  switch (action->kind) {
  case ActionKind::Send:
    return {skeleton.channels[action->place].receiver};
  case ActionKind::Receive:
    return {skeleton.channels[action->place].sender};
  case ActionKind::Collective:
    break;
  }
  SmallVector<int64_t> missing;
  const Posting *posting = findPosting(processes[number], *action);
  for (int64_t member : skeleton.communicators[action->place].members) {
    const Process *process = findProcess(member);
    if (!process || !posting || !posting->order ||
        process->collectives.lookup(action->place) <= *posting->order)
      missing.push_back(member);
  }
  return missing;
}

const Simulation::Process *Simulation::findProcess(int64_t device) const {
  auto found = processOf.find(device);
  return found == processOf.end() ? nullptr : &processes[found->second];
}

bool Simulation::awaitsEnded(unsigned number) const {
  return llvm::any_of(findMissing(number), [&](int64_t device) {
    const Process *process = findProcess(device);
    return !process || isAtEnd(*process);
  });
}

SmallVector<unsigned> Simulation::findCycle() const {
  // Each device that waits, and the first one that it waits for.
  constexpr unsigned none = ~0u;
  std::vector<unsigned> next(processes.size(), none);
  for (unsigned number = 0; number < processes.size(); ++number)
    for (int64_t device : findMissing(number)) {
      const Process *process = findProcess(device);
      if (next[number] == none && process)
        next[number] = process - processes.data();
    }
  SmallVector<unsigned> best;
  std::vector<unsigned> seenFrom(processes.size(), none);
  for (unsigned start = 0; start < processes.size(); ++start) {
    unsigned at = start;
    while (at != none && seenFrom[at] == none) {
      seenFrom[at] = start;
      at = next[at];
    }
    if (at == none || seenFrom[at] != start)
      continue;
    SmallVector<unsigned> cycle = {at};
    for (unsigned member = next[at]; member != at; member = next[member])
      cycle.push_back(member);
    if (best.empty() || cycle.size() < best.size())
      best = std::move(cycle);
  }
  // The same one whichever device it was found from.
  if (!best.empty())
    std::rotate(best.begin(), std::min_element(best.begin(), best.end()),
                best.end());
  return best;
}

std::string Simulation::describeWait(unsigned number) const {
  const Process &process = processes[number];
  const Action *action = getObstacle(process);
  if (!action)
    return "waits";
  std::string text;
  llvm::raw_string_ostream out(text);
  if (isBehind(process))
    out << "waits for its turn, behind what ";
  SmallVector<int64_t> missing = findMissing(number);
  switch (action->kind) {
  case ActionKind::Send:
    out << "waits for device " << missing.front() << " to receive";
    break;
  case ActionKind::Receive:
    out << "waits for device " << missing.front();
    if (awaitsEnded(number))
      out << ", which sends nothing more";
    else
      out << " to send";
    break;
  case ActionKind::Collective:
    out << "waits for members of its group";
    break;
  }
  const Posting *posting = findPosting(process, *action);
  if (posting && posting->microBatch >= 0)
    out << ", in micro-batch " << posting->microBatch;
  return text;
}

void Simulation::attachWait(InFlightDiagnostic &error, unsigned number) const {
  const Process &process = processes[number];
  const Action *action = getAction(process);
  Diagnostic &note = error.attachNote(action->at->getLoc());
  note << "device " << deviceOf(number) << " is here";
  if (auto name = dyn_cast<NameLoc>(action->at->getLoc()))
    note << ", at '" << name.getName().getValue() << "',";
  note << " and " << describeWait(number);
  attachStart(error, number);
}

void Simulation::attachStart(InFlightDiagnostic &error, unsigned number) const {
  const Process &process = processes[number];
  const Action *action = getAction(process);
  if (action->phase == Phase::Wait)
    error.attachNote(action->op->getLoc()) << "what it waits for starts here";
  if (isBehind(process))
    error.attachNote(getObstacle(process)->op->getLoc())
        << "this comes before it on device " << deviceOf(number);
}

void Simulation::attachLater(InFlightDiagnostic &error, unsigned waiting,
                             unsigned number) const {
  const Action *awaited = getObstacle(processes[waiting]);
  for (const Action *action : processes[number].queue) {
    const Posting *posting = findPosting(processes[number], *action);
    bool isCounterpart = action->place == awaited->place &&
                         (awaited->kind == ActionKind::Collective) ==
                             (action->kind == ActionKind::Collective);
    if (!isCounterpart || !posting || posting->order)
      continue;
    error.attachNote(action->op->getLoc())
        << "device " << deviceOf(number)
        << " comes to this only after what it waits for";
    return;
  }
}

LogicalResult Simulation::reportDeadlock() {
  recordWaiting();
  outcome.malformation = "devices wait for each other without end";
  for (unsigned number = 0; number < processes.size(); ++number)
    if (!isAtEnd(processes[number]) && awaitsEnded(number))
      return reportEnded(number);
  SmallVector<unsigned> cycle = findCycle();
  if (cycle.empty())
    return tv::PlanOp(skeleton.plan).emitOpError("does not run to its end");
  const Action *action = getAction(processes[cycle.front()]);
  InFlightDiagnostic error = action->at->emitOpError("on device ");
  error << deviceOf(cycle.front()) << " " << describeWait(cycle.front()) << ": "
        << cycle.size() << " devices wait for each other";
  attachStart(error, cycle.front());
  for (auto [position, number] : llvm::enumerate(cycle)) {
    unsigned following = cycle[(position + 1) % cycle.size()];
    if (position)
      attachWait(error, number);
    // A group has more members than the one that the cycle goes on with.
    const Action *at = getObstacle(processes[number]);
    if (at->kind == ActionKind::Collective)
      error.attachNote(at->at->getLoc())
          << "of group " << print(skeleton.communicators[at->place].members)
          << " device " << deviceOf(following) << " is missing";
    attachLater(error, number, following);
  }
  return error;
}

LogicalResult Simulation::reportEnded(unsigned number) {
  const Action *action = getAction(processes[number]);
  const Action *obstacle = getObstacle(processes[number]);
  Location location = action->at->getLoc();
  // What is never received is wrong where it is sent.
  bool isSend = obstacle->kind == ActionKind::Send;
  InFlightDiagnostic error =
      (isSend ? obstacle->op : action->at)->emitOpError();
  if (isSend) {
    outcome.malformation = "what one device sends, another does not receive";
    error << "to device " << skeleton.channels[obstacle->place].receiver
          << " is never received";
  } else {
    error << "on device " << deviceOf(number) << " " << describeWait(number);
  }
  attachStart(error, number);
  for (int64_t device : findMissing(number)) {
    const Process *process = findProcess(device);
    if (!process)
      error.attachNote(location) << "device " << device << " has no program";
    else if (isAtEnd(*process))
      error.attachNote(location)
          << "device " << device << " has run to its end without taking part";
    else
      attachWait(error, process - processes.data());
  }
  return error;
}

void Simulation::recordWaiting() {
  if (!options.recordsTimeline)
    return;
  int64_t end = 0;
  for (const Process &process : processes)
    end = std::max(end, process.clock);
  for (const Process &process : processes) {
    const Action *action = getAction(process);
    if (!action)
      continue;
    EventKind kind = action->kind == ActionKind::Send ? EventKind::Send
                     : action->kind == ActionKind::Receive
                         ? EventKind::Receive
                         : EventKind::Collective;
    record(process, kind, action->op, process.arrived, end + 1, end + 1);
    outcome.timeline.events.back().isFinished = false;
  }
}
