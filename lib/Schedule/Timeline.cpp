//===- Timeline.cpp - timelines as files ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Schedule/Timeline.h"

#include "Verify/IR/TVOps.h"
#include "Verify/Output/OutputFile.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace verify;
using namespace verify::schedule;

/// What one step of logical time is drawn as, in microseconds.
static constexpr int64_t stepLength = 1000;

static StringRef getCategory(EventKind kind) {
  switch (kind) {
  case EventKind::Forward:
    return "forward";
  case EventKind::Backward:
    return "backward";
  case EventKind::Send:
    return "send";
  case EventKind::Receive:
    return "receive";
  case EventKind::Collective:
    return "collective";
  case EventKind::Computation:
    return "computation";
  }
  return "unknown";
}

/// What is written on an event.
static std::string getTitle(const Event &event) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (auto call = dyn_cast<tv::CallOp>(event.op))
    out << call.getCallee();
  else if (auto send = dyn_cast<tv::SendOp>(event.op))
    out << "send to " << send.getPeer();
  else if (auto receive = dyn_cast<tv::ReceiveOp>(event.op))
    out << "receive from " << receive.getPeer();
  else if (auto communicate = dyn_cast<tv::CommunicateOp>(event.op))
    out << tv::stringifyCollectiveKind(communicate.getKind());
  else
    out << event.op->getName();
  if (auto start = dyn_cast<tv::StartOp>(event.op->getParentOp()))
    if (std::optional<StringRef> stream = start.getStream())
      out << " on stream " << *stream;
  if (event.microBatch >= 0)
    out << ", micro-batch " << event.microBatch;
  return text;
}

static void writeSpan(llvm::json::OStream &json, const Event &event,
                      StringRef title, StringRef category, int64_t start,
                      int64_t end) {
  json.object([&] {
    json.attribute("name", title);
    json.attribute("cat", category);
    json.attribute("ph", "X");
    json.attribute("ts", start * stepLength);
    json.attribute("dur", (end - start) * stepLength);
    json.attribute("pid", 0);
    json.attribute("tid", event.device);
    json.attributeObject("args", [&] {
      if (event.microBatch >= 0)
        json.attribute("micro-batch", event.microBatch);
      if (auto call = dyn_cast_or_null<tv::CallOp>(event.call))
        json.attribute("execution", call.getInstance());
      if (auto place = event.op->getLoc()->findInstanceOf<FileLineColLoc>())
        json.attribute("source", (place.getFilename().getValue() + ":" +
                                  Twine(place.getLine()))
                                     .str());
    });
  });
}

/// Writes one end of what goes on beside the rest of a row.
static void writeUnderWay(llvm::json::OStream &json, const Event &event,
                          size_t number, bool isStart) {
  json.object([&] {
    json.attribute("name", getTitle(event));
    json.attribute("cat", "under way");
    json.attribute("ph", isStart ? "b" : "e");
    json.attribute("id", static_cast<int64_t>(number));
    json.attribute("ts", (isStart ? event.start : event.end) * stepLength);
    json.attribute("pid", 0);
    json.attribute("tid", event.device);
  });
}

void verify::schedule::writeTraceEvents(const Timeline &timeline,
                                        raw_ostream &out) {
  llvm::json::OStream json(out, /*IndentSize=*/0);
  json.object([&] {
    json.attributeArray("traceEvents", [&] {
      for (int64_t device : timeline.devices)
        json.object([&] {
          json.attribute("name", "thread_name");
          json.attribute("ph", "M");
          json.attribute("pid", 0);
          json.attribute("tid", device);
          json.attributeObject("args", [&] {
            json.attribute("name", "device " + std::to_string(device));
          });
        });
      for (auto [number, event] : llvm::enumerate(timeline.events)) {
        if (event.isUnderWay) {
          writeUnderWay(json, event, number, /*isStart=*/true);
          writeUnderWay(json, event, number, /*isStart=*/false);
          continue;
        }
        std::string title = getTitle(event);
        if (event.ready > event.start)
          writeSpan(json, event,
                    event.isFinished ? "wait" : "waits without end: " + title,
                    event.isFinished ? "wait" : "deadlock", event.start,
                    event.ready);
        if (event.isFinished && event.end > event.ready)
          writeSpan(json, event, title, getCategory(event.kind), event.ready,
                    event.end);
      }
    });
  });
  out << "\n";
}

bool verify::schedule::writeTimeline(const Timeline &timeline, StringRef path,
                                     std::string &error) {
  llvm::Error failed = writeFile(
      path, [&](llvm::raw_ostream &out) { writeTraceEvents(timeline, out); });
  if (!failed)
    return true;
  error = llvm::toString(std::move(failed));
  return false;
}
