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

#include "Verify/IR/Locations.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/FormatVariadic.h"

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
    for (const auto *left : {&process.watched, &process.unposted})
      if (!left->empty())
        return left->front()->at->emitOpError("is never over");
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
      return gathering.open.front().present.front().op->emitOpError(
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

bool Simulation::areAlike(const Action &first, const Action &other) {
  return !findDifference(cast<tv::CommunicateOp>(first.op),
                         cast<tv::CommunicateOp>(other.op));
}

LogicalResult Simulation::reportDifference(const Party &first,
                                           const Party &other) {
  auto op = cast<tv::CommunicateOp>(other.op);
  auto against = cast<tv::CommunicateOp>(first.op);
  auto difference = findDifference(against, op);
  if (!difference)
    return op.emitOpError("is taken for something else than it is");
  outcome.malformation = "the members of a group do different things";
  const auto &[field, ofFirst, ofOther] = *difference;
  std::string text =
      llvm::formatv("is not what another member of its group enters at this "
                    "point: {0} is {1} on device {2} and {3} on device {4}",
                    field, ofOther, deviceOf(other.process), ofFirst,
                    deviceOf(first.process));
  auto wrong = findWrongGroup(skeleton, {first.op, other.op});
  auto missing = findMissingCall(*processes[first.process].program,
                                 *processes[other.process].program,
                                 skeleton.communicators);
  InFlightDiagnostic error =
      wrong     ? wrong->op.emitOpError(wrong->describe())
      : missing ? missing->call.emitOpError(missing->describe())
                : op.emitOpError(text);
  if (wrong || missing)
    error.attachNote(op.getLoc()) << "as a consequence this " << text;
  error.attachNote(against.getLoc())
      << "device " << deviceOf(first.process) << " enters this one";
  return error;
}

//===----------------------------------------------------------------------===//
// Who waits for whom
//===----------------------------------------------------------------------===//

Simulation::Blocked Simulation::findBlocked(unsigned number,
                                            const Action *action) const {
  // What comes before it is earlier in the program, so this ends.
  const Action *obstacle = action;
  while (const Posting *posting = findPosting(processes[number], *obstacle)) {
    if (posting->order || posting->before.empty())
      break;
    obstacle = posting->before.front();
  }
  return {number, action, obstacle};
}

const Action *Simulation::findCounterpart(const Process &process,
                                          const Action &awaited) const {
  for (const Action *action : process.unposted)
    if (action->kind != ActionKind::Computation &&
        action->place == awaited.place &&
        (awaited.kind == ActionKind::Collective) ==
            (action->kind == ActionKind::Collective))
      return action;
  return nullptr;
}

SmallVector<int64_t> Simulation::findMissing(const Blocked &blocked) const {
  const Action &action = *blocked.obstacle;
  switch (action.kind) {
  case ActionKind::Computation:
    return {};
  case ActionKind::Send:
    return {skeleton.channels[action.place].receiver};
  case ActionKind::Receive:
    return {skeleton.channels[action.place].sender};
  case ActionKind::Collective:
    break;
  }
  SmallVector<int64_t> missing;
  const Posting *posting = findPosting(processes[blocked.process], action);
  for (int64_t member : skeleton.communicators[action.place].members) {
    const Process *process = findProcess(member);
    if (!process || !posting || !posting->order ||
        process->collectives.lookup(action.place) <= *posting->order)
      missing.push_back(member);
  }
  return missing;
}

std::optional<Simulation::Blocked>
Simulation::findNext(const Blocked &blocked) const {
  for (int64_t device : findMissing(blocked)) {
    const Process *process = findProcess(device);
    if (!process || isAtEnd(*process))
      continue;
    unsigned number = process - processes.data();
    Blocked next = findBlocked(number, getAction(*process));
    // It may have come to what is missing, and wait for something else there
    // than where it is.
    if (const Action *counterpart =
            findCounterpart(*process, *blocked.obstacle)) {
      Blocked behind = findBlocked(number, counterpart);
      if (!(behind == next))
        return behind;
    }
    return next;
  }
  return std::nullopt;
}

const Simulation::Process *Simulation::findProcess(int64_t device) const {
  auto found = processOf.find(device);
  return found == processOf.end() ? nullptr : &processes[found->second];
}

bool Simulation::awaitsEnded(const Blocked &blocked) const {
  return llvm::any_of(findMissing(blocked), [&](int64_t device) {
    const Process *process = findProcess(device);
    return !process || isAtEnd(*process);
  });
}

SmallVector<Simulation::Blocked> Simulation::findCycle() const {
  SmallVector<Blocked> best;
  // From which process each was seen first.
  std::map<std::pair<unsigned, Operation *>, unsigned> seenFrom;
  for (unsigned start = 0; start < processes.size(); ++start) {
    if (isAtEnd(processes[start]))
      continue;
    std::optional<Blocked> at = findBlocked(start, getAction(processes[start]));
    while (
        at &&
        seenFrom.try_emplace({at->process, at->obstacle->op}, start).second) {
      if (awaitsEnded(*at))
        return {*at};
      at = findNext(*at);
    }
    if (!at || seenFrom[{at->process, at->obstacle->op}] != start)
      continue;
    SmallVector<Blocked> cycle = {*at};
    for (Blocked member = *findNext(*at); !(member == *at);
         member = *findNext(member))
      cycle.push_back(member);
    if (best.empty() || cycle.size() < best.size())
      best = std::move(cycle);
  }
  // The same one whichever device it was found from.
  auto isBefore = [](const Blocked &left, const Blocked &right) {
    return left.process < right.process;
  };
  if (!best.empty())
    std::rotate(best.begin(), llvm::min_element(best, isBefore), best.end());
  return best;
}

std::string Simulation::describeWait(const Blocked &blocked) const {
  const Action &action = *blocked.obstacle;
  std::string text;
  llvm::raw_string_ostream out(text);
  if (blocked.isBehind())
    out << "waits for its turn, behind what ";
  SmallVector<int64_t> missing = findMissing(blocked);
  switch (action.kind) {
  case ActionKind::Computation:
    out << "waits";
    break;
  case ActionKind::Send:
    out << "waits for device " << missing.front() << " to receive";
    break;
  case ActionKind::Receive:
    out << "waits for device " << missing.front();
    if (awaitsEnded(blocked))
      out << ", which sends nothing more";
    else
      out << " to send";
    break;
  case ActionKind::Collective:
    out << "waits for members of its group";
    break;
  }
  const Posting *posting = findPosting(processes[blocked.process], action);
  if (posting && posting->microBatch >= 0)
    out << ", in micro-batch " << posting->microBatch;
  return text;
}

void Simulation::attachWait(InFlightDiagnostic &error,
                            const Blocked &blocked) const {
  const Action &action = *blocked.action;
  bool isHere = &action == getAction(processes[blocked.process]);
  Diagnostic &note = error.attachNote(action.at->getLoc());
  note << "device " << deviceOf(blocked.process)
       << (isHere ? " is here" : " has started this");
  if (std::string name = getOpName(action.at->getLoc()); !name.empty())
    note << ", at '" << name << "',";
  note << (isHere ? " and " : ", which ") << describeWait(blocked);
  attachStart(error, blocked);
}

void Simulation::attachStart(InFlightDiagnostic &error,
                             const Blocked &blocked) const {
  const Action &action = *blocked.action;
  if (action.phase == Phase::Wait)
    error.attachNote(action.op->getLoc()) << "what it waits for starts here";
  if (blocked.isBehind())
    error.attachNote(blocked.obstacle->op->getLoc())
        << "this comes before it on device " << deviceOf(blocked.process);
}

void Simulation::attachLater(InFlightDiagnostic &error, const Blocked &waiting,
                             unsigned number) const {
  if (const Action *action =
          findCounterpart(processes[number], *waiting.obstacle))
    error.attachNote(action->op->getLoc())
        << "device " << deviceOf(number)
        << " comes to this only after what it waits for";
}

std::optional<MissingCall>
Simulation::findMissingInCycle(ArrayRef<Blocked> cycle) const {
  for (auto [position, blocked] : llvm::enumerate(cycle)) {
    if (blocked.obstacle->kind != ActionKind::Collective)
      continue;
    const Process &member = processes[blocked.process];
    const Process &other =
        processes[cycle[(position + 1) % cycle.size()].process];
    auto missing = findMissingCall(*member.program, *other.program,
                                   skeleton.communicators);
    if (missing && missing->otherDevice == other.program->device)
      return missing;
  }
  return std::nullopt;
}

LogicalResult Simulation::reportGroup(const WrongGroup &wrong,
                                      ArrayRef<Blocked> waiting) {
  InFlightDiagnostic error = wrong.op->emitOpError(wrong.describe());
  error << ": as a consequence devices wait for each other";
  error.attachNote(wrong.other->getLoc())
      << "device " << wrong.otherDevice << " has this one";
  for (const Blocked &blocked : waiting)
    attachWait(error, blocked);
  return error;
}

LogicalResult Simulation::reportDeadlock() {
  recordWaiting();
  outcome.malformation = "devices wait for each other without end";
  SmallVector<Operation *> current;
  for (unsigned number = 0; number < processes.size(); ++number)
    if (const Action *action = getAction(processes[number]))
      current.push_back(findBlocked(number, action).obstacle->op);
  std::optional<WrongGroup> wrong = findWrongGroup(skeleton, current);
  for (unsigned number = 0; number < processes.size(); ++number) {
    if (isAtEnd(processes[number]))
      continue;
    Blocked blocked = findBlocked(number, getAction(processes[number]));
    if (awaitsEnded(blocked))
      return wrong ? reportGroup(*wrong, blocked) : reportEnded(blocked);
  }
  SmallVector<Blocked> cycle = findCycle();
  if (wrong)
    return reportGroup(*wrong, cycle);
  if (cycle.empty())
    return tv::PlanOp(skeleton.plan).emitOpError("does not run to its end");
  if (awaitsEnded(cycle.front()))
    return reportEnded(cycle.front());
  llvm::SmallSet<unsigned, 4> devices;
  for (const Blocked &blocked : cycle)
    devices.insert(blocked.process);
  const Blocked &first = cycle.front();
  std::optional<MissingCall> missing = findMissingInCycle(cycle);
  InFlightDiagnostic error =
      missing ? missing->call.emitOpError(missing->describe() +
                                          ": as a consequence ")
              : first.action->at->emitOpError("on device ");
  if (!missing)
    error << deviceOf(first.process) << " " << describeWait(first) << ": ";
  error << devices.size() << " devices wait for each other";
  if (missing)
    attachWait(error, first);
  else
    attachStart(error, first);
  for (auto [position, blocked] : llvm::enumerate(cycle)) {
    const Blocked &following = cycle[(position + 1) % cycle.size()];
    if (position)
      attachWait(error, blocked);
    // A group has more members than the one that the cycle goes on with.
    const Action *at = blocked.obstacle;
    if (at->kind == ActionKind::Collective)
      error.attachNote(at->op->getLoc())
          << "of group " << print(skeleton.communicators[at->place].members)
          << " device " << deviceOf(following.process) << " is missing";
    attachLater(error, blocked, following.process);
  }
  return error;
}

void Simulation::attachEnd(InFlightDiagnostic &error, Location location,
                           const Process &waiting, const Process &ended) const {
  error.attachNote(location) << "device " << ended.program->device
                             << " has run to its end without taking part";
  auto missing =
      findMissingCall(*waiting.program, *ended.program, skeleton.communicators);
  if (!missing || missing->otherDevice != ended.program->device)
    return;
  Diagnostic &note = error.attachNote(missing->call.getLoc());
  if (std::string name = getOpName(missing->call.getLoc()); !name.empty())
    note << "'" << name << "' ";
  note << missing->describe();
}

LogicalResult Simulation::reportEnded(const Blocked &blocked) {
  const Action *action = blocked.action;
  const Action *obstacle = blocked.obstacle;
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
    error << "on device " << deviceOf(blocked.process) << " "
          << describeWait(blocked);
  }
  attachStart(error, blocked);
  for (int64_t device : findMissing(blocked)) {
    const Process *process = findProcess(device);
    if (!process)
      error.attachNote(location) << "device " << device << " has no program";
    else if (isAtEnd(*process))
      attachEnd(error, location, processes[blocked.process], *process);
    else
      attachWait(error,
                 findBlocked(process - processes.data(), getAction(*process)));
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
    record(process, getEventKind(*action), action->op, process.arrived, end + 1,
           end + 1);
    outcome.timeline.events.back().isFinished = false;
  }
}
