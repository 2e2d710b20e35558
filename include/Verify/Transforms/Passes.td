//===- Passes.td - the verification pipeline ---------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef VERIFY_TRANSFORMS_PASSES
#define VERIFY_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def CheckSchedulePass : Pass<"tv-check-schedule", "::mlir::ModuleOp"> {
  let summary = "proves deadlock freedom and that calls come in order";
  let description = [{
    Checks each plan of a module but `@reference`, and changes no op.

    *Progress*: all device programs run to their ends, whatever the
    interleaving, if a send waits until its receive is posted (rendezvous), or
    until at most `buffered-sends` of its channel are under way. Every send
    meets a receive of the same type. The members of a collective enter it with
    the same kind, reduction, types, dimensions and root, in the same order, and
    every one of them is a device of the plan. What `tv.start` starts goes on by
    itself, and its place among the others is that of the start. With
    `started-communication=in-order` all that a device communicates goes through
    one queue: each begins only when all that the device came to before is over.
    What passes so passes `independent` too, and with any number of queues.
    What is started on a stream that has a name begins when that before it there
    is over, and what comes after handles when those are.

    *Memory*: each handle is waited for once; as long as what was started may be
    under way nothing writes to a buffer that it reads, nor uses one that it
    writes to. It is over at its wait, or that of something which comes after
    it, and where something begins that comes after it. Where anything is
    started, no tensor is used that was read from a buffer before that was
    overwritten.

    *Order*, unless `checks=progress`: every execution has a number of its own;
    a backward runs after the forward that it mirrors, once; a transfer in an
    execution that has a mirror is of the micro-batch of that execution; nothing
    is added to a gradient after a reducer has read it. These show in values,
    so `tv-verify-equiv` leaves them to `tv-check-equiv`, which tells by values
    whether they matter.

    What is wrong is an error at an op, with notes at the others: for a deadlock
    each device of a cycle and what it waits for. The module then gets the
    attribute `tv.malformed`. Otherwise `tv.statistics` gets the number of
    messages and collectives of a replica and the peak of live activations of a
    device, and `tv.live_activations` that peak for each device: forward
    executions at a time whose saved values a backward has still to read.
  }];
  let options = [
    Option<"checks", "checks", "::verify::ScheduleChecks",
      "::verify::ScheduleChecks::All", "What is checked",
      "::verify::getScheduleChecks()">,
    Option<"bufferedSends", "buffered-sends", "unsigned", "0",
      "Sends of a channel that may be under way before the next one waits; 0 is "
      "rendezvous">,
    Option<"startedCommunication", "started-communication",
      "::verify::StartedCommunication",
      "::verify::StartedCommunication::Independent",
      "When communication that was started takes place",
      "::verify::getStartedCommunications()">,
    Option<"timeline", "timeline", "std::string", "\"\"",
      "File to write when each device does what, as a trace for Chrome or "
      "Perfetto; where a device waits without end, up to there">
  ];
}

def CanonicalizeSSAPass : Pass<"tv-canonicalize-ssa", "::mlir::ModuleOp"> {
  let summary = "plans of devices to one SSA graph over all devices";
  let description = [{
    Replaces the plans `@reference` and `@plan` of a module by one `tv.graph`:
    buffers become values, gradient accumulation a sum over exactly the
    micro-batches added before the read, communication is linked across devices,
    backward ops become the ops of the derivative, compositions their parts.
    Executions of an op for several micro-batches become one op with a domain
    where they agree, and stay apart where they do not. What the frontend states
    about a tensor becomes a `tv.expect`, and so does every result of the
    contract. What is started and waited for apart becomes what it is at once,
    after a check that nothing races with it, as in `tv-check-schedule`.

    With `fold-ranks` the ranks of a tensor-parallel group become coordinates of
    an axis `rank`, where all of them run the same program, each on its own of
    equal parts, and what they do together is along that axis. The first rank of
    such a group stands for all, the devices of other groups for themselves. The
    plans then stay in the module: `tv-check-equiv` goes on with them where the
    folded graph is not proved. A rank that stands for itself and has loaded
    other micro-batches than most of its group, for what the group does together
    with them, has those in the group's order (not where anything is drawn).
    Where there is neither, the option changes nothing. The devices of groups that are likely wrong stand for themselves,
    as that is shown device by device: of the first one of which ranks keep
    other parts than they declare, and of those that do not send, receive and
    cut by rank, where these are fewer than a quarter. With `fold-exceptions`
    they are folded too. A plan with the attribute `tv.kept` stays in any case.

    A plan that cannot be executed (an unmatched send, shapes that do not fit)
    is an error at its op, and the module gets the attribute `tv.malformed`. The
    attribute `tv.executed_otherwise` of a plan, with which a frontend says where
    the plan's runtime does not do what the plan states, becomes one of the module.
  }];
  let dependentDialects = ["::verify::tv::TVDialect"];
  let options = [
    Option<"random", "random", "::verify::RandomMode",
      "::verify::RandomMode::ByElement", "What random ops draw",
      "::verify::getRandomModes()">,
    Option<"foldRanks", "fold-ranks", "bool", "false",
      "Make ranks whose programs agree one axis of the graph, and keep the "
      "plans">,
    Option<"foldExceptions", "fold-exceptions", "bool", "false",
      "With fold-ranks: also of groups that are likely wrong">
  ];
}

def OutlineStagesPass : Pass<"tv-outline-stages", "::mlir::ModuleOp"> {
  let summary = "one isolated stage for each expect of a graph";
  let description = [{
    For each `tv.expect` builds a `tv.stage`: the ops of the plan back to values
    whose lineage another expect or the contract gives, and the ops of the
    reference back to the tensors of those lineages. Expects that no result of
    the contract needs are left out. Those without a number get one, by which
    stages name them. The graph stays, for the ledger.
  }];
  let dependentDialects = ["::verify::tv::TVDialect"];
}

def ReduceShapesPass : Pass<"tv-reduce-shapes", "::mlir::ModuleOp"> {
  let summary = "the small case that decides each stage";
  let description = [{
    Writes on each `tv.stage` the sorts of its dimensions and mesh axes: for
    each its `size`, the `width` it takes (docs/Soundness.md), the number of
    positions that are `kept`, and the number that one more position, the
    `bulk`, stands for. These two add up to the size; a `rigid` sort is kept
    whole. A position that a bound or a coordinate names is a sort of one
    position and is not listed. Sizes are never changed in the ops: the stage is
    evaluated at the kept positions and the bulk, which sums count with its
    weight.
  }];
  let dependentDialects = ["::verify::tv::TVDialect"];
}

def CheckEquivPass : Pass<"tv-check-equiv", "::mlir::ModuleOp"> {
  let summary = "one verdict for each expect, and the ledger";
  let description = [{
    Proves each stage, because both sides are the same ops or by its small case,
    widens those that do not hold, and confirms what is still wrong by executing the reference and the plan on the same inputs. Every
    result of the contract is *proved*, *refuted* with a witness, or *unknown*
    with a reason; the last two are errors at the op of the plan. When
    everything is proved the ledger checks the argument again.
    A lemma with the attribute `tv.guess` is inferred, and not stated by the plan:
    what is not proved with it is tried without, before it counts as not proved.

    A graph that `tv-canonicalize-ssa=fold-ranks` made has the attribute
    `tv.folded`, the groups of ranks of which the first stands for all, and
    itself stands for the plans beside it. What all ranks do wrong is refuted so.
    A lemma with the attribute `tv.doubtful` says of each rank what depends on
    the rank; where there is no answer with such lemmas, they are taken away,
    but never a result of the contract.
    Where ranks may have wrong parts, the groups that they are in are linked
    again device by device; where more than little effort is needed, all are, and
    the verdict is that of the new graph.

    Nothing is proved of a module with the attribute `tv.executed_otherwise`.
  }];
  let dependentDialects = ["::verify::tv::TVDialect"];
  let options = [
    Option<"resourceLimit", "resource-limit", "unsigned", "5000000",
      "Z3 resource units for one query">,
    Option<"seed", "seed", "unsigned", "0", "Seed of Z3 and of witnesses">,
    Option<"emitSmtLib", "emit-smtlib", "std::string", "\"\"",
      "Directory to write each obligation to as SMT-LIB 2">,
    Option<"cache", "cache", "std::string", "\"\"",
      "Directory of proofs, shared between runs; not used with emit-smtlib">,
    Option<"counterexample", "counterexample", "std::string", "\"\"",
      "File to write the inputs to on which a plan is refuted, .json or .npz">,
    Option<"fullSize", "full-size", "bool", "false",
      "Look at all positions instead of the small case: slow, for tests">,
    Option<"smallCase", "small-case", "bool", "false",
      "Look at the small case even where both sides are the same ops: for "
      "tests">
  ];
}

#endif // VERIFY_TRANSFORMS_PASSES
