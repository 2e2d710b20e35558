//===- DecodeSourceComment.cpp - where an op came from ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decides what counts as a place in the user's model. Comments are for people,
// so text of another form is no error, and no place.
//
//===----------------------------------------------------------------------===//

#include "SourceComment.h"

using namespace verify::nnscaler;

SourceComment verify::nnscaler::parseSourceComment(llvm::StringRef comment) {
  SourceComment place;
  if (!comment.consume_front("File \""))
    return {};
  std::tie(place.file, comment) = comment.split("\", line ");
  if (comment.consumeInteger(10, place.line))
    return {};
  return place;
}
