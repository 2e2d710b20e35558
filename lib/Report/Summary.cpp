//===- Summary.cpp - what was proved, and on what assumptions -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify/Report/Summary.h"

#include "Verify/IR/TVOps.h"
#include "Verify/Transforms/Report.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace verify;

namespace {
/// What a report says of a graph.
struct Contract {
  unsigned inputs = 0, parameters = 0;
  int64_t outputs = 0, gradients = 0; ///< of all devices of a replica
  llvm::StringSet<> trained;
  /// How inputs are divided.
  SmallVector<tv::DistributeOp> divided;
  SmallVector<tv::InputOp> draws;
  unsigned selections = 0; ///< of the reference

  explicit Contract(tv::GraphOp graph);
};
} // namespace

Contract::Contract(tv::GraphOp graph) {
  for (Operation &op : graph.getBody().front()) {
    if (auto input = dyn_cast<tv::InputOp>(op)) {
      tv::ContractRole role = input.getContract().getRole();
      inputs += role == tv::ContractRole::Input;
      parameters += role == tv::ContractRole::Parameter;
      if (role == tv::ContractRole::Random)
        draws.push_back(input);
    } else if (auto distribute = dyn_cast<tv::DistributeOp>(op)) {
      auto input = distribute.getReference().getDefiningOp<tv::InputOp>();
      if (input && input.getContract().getRole() == tv::ContractRole::Input)
        divided.push_back(distribute);
    } else if (auto expect = dyn_cast<tv::ExpectOp>(op)) {
      std::optional<tv::ContractAttr> contract = expect.getContract();
      if (!contract)
        continue;
      bool isOutput = contract->getRole() == tv::ContractRole::Output;
      (isOutput ? outputs : gradients) += expect.getNumDevices();
      if (!isOutput)
        trained.insert(contract->getName());
    } else if (op.hasTrait<tv::AssumesNoTies>() && !op.hasAttr("domain")) {
      ++selections;
    }
  }
}

/// `1 replica`, `2 replicas`.
static std::string plural(int64_t count, StringRef noun) {
  return (Twine(count) + " " + noun + (count == 1 ? "" : "s")).str();
}

/// `file:line` of a location, or `?`.
static std::string getSourceLine(Location location) {
  if (auto place = location->findInstanceOf<FileLineColLoc>())
    return (place.getFilename().getValue() + ":" + Twine(place.getLine()))
        .str();
  return "?";
}

static void printAssumptions(const Contract &contract, ModuleOp module,
                             raw_ostream &out) {
  out << "  assumed   the contract: " << plural(contract.inputs, "input")
      << " and " << plural(contract.parameters, "parameter")
      << " as the plan's loaders and parameter slices say\n";
  for (tv::DistributeOp distribute : contract.divided) {
    auto input = distribute.getReference().getDefiningOp<tv::InputOp>();
    out << "            input '" << input.getContract().getName().getValue()
        << "' is divided as ";
    mlir::Attribute(distribute.getLineage()).print(out);
    out << "\n";
  }
  out << "            exact real arithmetic, where the reference's results are "
         "defined; float literals are the simplest rationals that round to "
         "them\n";
  int64_t referenceCasts = getStatistic(module, "reference_casts");
  int64_t planCasts = getStatistic(module, "plan_casts");
  if (referenceCasts || planCasts)
    out << "            casts between floating-point types keep the value: "
        << referenceCasts << " in the reference, " << planCasts
        << " in the plan\n";
  for (StringRef assumption : getAssumptions(module))
    out << "            " << assumption << "\n";
  if (!contract.draws.empty())
    out << "            what " << plural(contract.draws.size(), "random op")
        << " draw for an element of the whole tensor is the same on both sides "
           "and on every device:\n";
  for (tv::InputOp input : contract.draws)
    out << "              " << input.getContract().getName().getValue()
        << " at " << getSourceLine(input.getLoc()) << "\n";
  if (contract.selections)
    out << "            no two numbers are equal of those that "
        << plural(contract.selections, "selection") << " of the greatest "
        << (contract.selections == 1 ? "chooses" : "choose") << " from\n";
  int64_t opaque = getStatistic(module, "opaque_tensors");
  if (opaque)
    out << "            " << plural(opaque, "function")
        << " of positions alone as unknown tensors, the same on both sides\n";
  out << "            uninterpreted ops: none\n";
}

/// What was found about waiting; nothing where it was not looked at.
static void printSchedule(ModuleOp module, raw_ostream &out) {
  if (!module->hasAttr(liveActivationsName))
    return;
  out << "  schedule  deadlock-free; "
      << plural(getStatistic(module, "messages"), "message") << " and "
      << plural(getStatistic(module, "collectives"), "collective")
      << " in each replica, at most "
      << plural(getStatistic(module, "peak_live_activations"),
                "live activation")
      << " on a device\n";
}

/// What is said of ranks that are an axis.
static void printFolded(int64_t devices, ModuleOp module, raw_ostream &out) {
  int64_t ranks = getStatistic(module, "folded_ranks");
  if (ranks == 0)
    return;
  out << ", which has " << ranks << " ranks of a group as one";
  // Other devices stand for themselves.
  int64_t groups = getStatistic(module, "folded_groups");
  if (groups * ranks < devices)
    out << " in " << plural(groups, "group");
}

void verify::printSummary(ModuleOp module, ArrayRef<Phase> phases,
                          raw_ostream &out) {
  std::optional<Answer> answer = getAnswer(module);
  auto graphs = module.getOps<tv::GraphOp>();
  if (!answer || graphs.empty())
    return;
  tv::GraphOp graph = *graphs.begin();
  Contract contract(graph);
  tv::MeshAttr mesh = graph.getMesh();
  auto axis = [&](StringRef name) {
    return mesh.getAxisSize(name).value_or(1);
  };
  switch (*answer) {
  case Answer::Proved:
    out << "proved: the plan computes what the reference computes, for every "
           "input and parameter\n";
    break;
  case Answer::Refuted:
    out << "refuted: the plan does not compute what the reference computes\n";
    break;
  case Answer::Unknown:
    out << "unknown: not everything could be decided\n";
    break;
  }
  out << "  results   " << plural(contract.outputs, "output") << " and "
      << plural(contract.gradients, "gradient") << " of "
      << plural(contract.trained.size(), "parameter")
      << ", on every device that holds them\n"
      << "  plan      " << plural(axis("dp") * axis("device"), "device") << " ("
      << plural(axis("dp"), "replica") << " of " << axis("device") << "), "
      << (axis("mb") == 1 ? "1 micro-batch"
                          : std::to_string(axis("mb")) + " micro-batches")
      << "; " << getStatistic(module, "plan_ops") << " ops imported, "
      << getStatistic(module, "graph_ops") << " in the graph";
  printFolded(axis("device"), module, out);
  out << "\n";
  printSchedule(module, out);
  out << "  proof     " << plural(getStatistic(module, "stages"), "stage")
      << ", " << getStatistic(module, "distinct_stages") << " distinct, "
      << getStatistic(module, "expects_by_congruence")
      << " of them the same ops on both sides; "
      << plural(getStatistic(module, "obligations_confirmed"), "obligation")
      << " by Z3 or ring identities, "
      << getStatistic(module, "obligations_by_normalization")
      << " by normalization\n";
  int64_t unused = getStatistic(module, "lemmas_not_used");
  if (unused && *answer != Answer::Refuted)
    out << "            " << plural(unused, "statement")
        << " of the plan about its own tensors did not hold and "
        << (unused == 1 ? "was" : "were") << " not used\n";
  if (*answer == Answer::Proved)
    printAssumptions(contract, module, out);
  double total = 0;
  out << "  time      ";
  for (const Phase &phase : phases) {
    out << phase.name << " " << llvm::format("%.2f", phase.seconds) << " s, ";
    total += phase.seconds;
  }
  out << "total " << llvm::format("%.2f", total) << " s\n";
}
