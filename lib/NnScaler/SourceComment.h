//===- SourceComment.h - where an op came from ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Takes apart the comment in which nnScaler keeps an op's place in the user's
// model.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_NNSCALER_SOURCECOMMENT_H
#define VERIFY_LIB_NNSCALER_SOURCECOMMENT_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace verify::nnscaler {

/// A place in the user's model.
struct SourceComment {
  llvm::StringRef file;
  uint32_t line = 0;
};

/// Parses `File "model.py", line 12, in forward,  code`. Any other text gives
/// an empty place.
SourceComment parseSourceComment(llvm::StringRef comment);

} // namespace verify::nnscaler

#endif // VERIFY_LIB_NNSCALER_SOURCECOMMENT_H
