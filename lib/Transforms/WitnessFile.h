//===- WitnessFile.h - inputs of a counterexample as a file -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_LIB_TRANSFORMS_WITNESSFILE_H
#define VERIFY_LIB_TRANSFORMS_WITNESSFILE_H

#include "WitnessInputs.h"

#include "llvm/Support/Error.h"

namespace verify {

/// Writes the inputs, parameters and draws of a graph by name, as the
/// interpreter reads them (`readTensors`), but for draws of one device: at each
/// position what `seed` gives for the one that stands for it. Returns whether
/// those are all there are. Fails if they are too many, without a file.
llvm::Expected<bool> writeWitness(llvm::StringRef path, tv::GraphOp graph,
                                  const FactorAnalysis &factors,
                                  const WitnessSeed &seed);

} // namespace verify

#endif // VERIFY_LIB_TRANSFORMS_WITNESSFILE_H
