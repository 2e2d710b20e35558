//===- CommandLine.h - options of the nnScaler frontend ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_NNSCALER_COMMANDLINE_H
#define VERIFY_NNSCALER_COMMANDLINE_H

#include "Verify/NnScaler/Import.h"
#include "llvm/Support/CommandLine.h"

namespace verify::nnscaler {

/// `--nnscaler-part-order`, listed with the options of `category`.
class PartOrderOption : public llvm::cl::opt<PartOrder> {
public:
  explicit PartOrderOption(llvm::cl::OptionCategory &category)
      : opt("nnscaler-part-order",
            llvm::cl::desc(
                "Which part a split keeps, and the order of a gather"),
            llvm::cl::values(
                clEnumValN(PartOrder::Rank, "rank",
                           "by rank in the sorted group: what the runtime "
                           "executes (default)"),
                clEnumValN(PartOrder::IndexMap, "index-map",
                           "by the declared index maps")),
            llvm::cl::init(PartOrder::Rank), llvm::cl::cat(category)) {}
};

} // namespace verify::nnscaler

#endif // VERIFY_NNSCALER_COMMANDLINE_H
