//===- Import.h - nnScaler execution plans to the tv dialect ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The importer turns a decoded plan into a `tv.plan`: one program for each
// device of a replica, one segment for each cell. It says what the runtime
// executes and judges nothing.
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_NNSCALER_IMPORT_H
#define VERIFY_NNSCALER_IMPORT_H

#include "Verify/IR/TVOps.h"
#include "Verify/NnScaler/PlanFile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Support/Timing.h"

#include <optional>
#include <string>

namespace verify::nnscaler {

/// Which part a split keeps and in which order a gather concatenates.
enum class PartOrder {
  Rank,    ///< by rank in the sorted group: what the runtime executes
  IndexMap ///< by the declared index maps: what the plan says
};

struct ImportOptions {
  PartOrder partOrder = PartOrder::Rank;
};

/// Imports `plan`, read from `fileName`, as a `tv.plan` named `symbol` at the
/// end of `module`. Fails, after an error that names the op and its place, at
/// anything it does not know. Where it knows that no runtime can execute what
/// is there, it says in `malformation`, if that is not null, in what way.
llvm::LogicalResult importPlan(const PlanFile &plan, llvm::StringRef fileName,
                               llvm::StringRef symbol,
                               const ImportOptions &options,
                               mlir::ModuleOp module,
                               llvm::StringRef *malformation = nullptr);

/// What was read of a pair of files.
struct PairFiles {
  PlanFile reference, plan;
};

/// Reads and imports a reference plan as `@reference` and a parallel plan as
/// `@plan` into a new module; null after an error. The time of each step is
/// noted under `timing`. What was read is left in `files`, if there is such a
/// place; if it is there already nothing is read. `malformation` is that of the
/// parallel plan, as in `importPlan`.
mlir::OwningOpRef<mlir::ModuleOp>
importPair(mlir::MLIRContext *context, llvm::StringRef referencePath,
           llvm::StringRef planPath, const ImportOptions &options,
           mlir::TimingScope &timing, std::optional<PairFiles> *files = nullptr,
           llvm::StringRef *malformation = nullptr);

/// What parts by rank are other ones than the plan declares.
struct PartOrderDifference {
  mlir::Location plan;
  mlir::Location first; ///< the first op that keeps another part
  std::string text;     ///< what it keeps, and how many such ops there are
};

/// Where `@plan`, imported by rank, keeps other parts than it declares; none if
/// it does nowhere.
std::optional<PartOrderDifference>
findPartOrderDifference(mlir::ModuleOp module);

/// Whether a plan that was imported by rank declares what is needed to make of
/// it what it would be imported as by index maps.
bool declaresPartOrder(tv::PlanOp plan);

/// Ops, and the order of parts that each had.
using PartOrders = std::vector<std::pair<mlir::Operation *, mlir::Attribute>>;

/// Makes it that, and gives what it was. None, and the plan as before, where it
/// does not declare what is needed.
std::optional<PartOrders> useDeclaredPartOrder(tv::PlanOp plan);

/// Makes the plan as it was.
void restorePartOrder(const PartOrders &before);

} // namespace verify::nnscaler

#endif // VERIFY_NNSCALER_IMPORT_H
