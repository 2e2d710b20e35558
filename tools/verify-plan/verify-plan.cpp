//===- verify-plan.cpp - imports, verifies and reports --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exit code 0: proved; 1: refuted; 2: unknown; 3: bad input or usage. With
// --run 0: equal; 1: differs; 2: cannot be run.
//
//===----------------------------------------------------------------------===//

#include "DeclaredOrder.h"
#include "Flags.h"
#include "Verify/IR/TVOps.h"
#include "Verify/Report/DiagnosticPrinter.h"
#include "Verify/Report/Statistics.h"
#include "Verify/Report/Version.h"
#include "Verify/Solver/Solver.h"
#include "Verify/Transforms/Passes.h"
#include "Verify/Transforms/Report.h"
#include "Verify/Transforms/ScheduleCheck.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/ThreadPool.h"

#ifdef VERIFY_HAS_MIMALLOC
#include <mimalloc.h>
#endif

#include <cerrno>
#include <chrono>
#include <mutex>
#include <unistd.h>

using namespace llvm;

/// Of the runtime of an instrumented build (clang's -fprofile-generate), which
/// otherwise writes what it counted when a process ends as usual. Null in
/// others.
extern "C" LLVM_ATTRIBUTE_WEAK int
writeProfile() __asm__("__llvm_profile_write_file");

namespace {
enum ExitCode { Proved = 0, Refuted = 1, Unknown = 2, BadInput = 3 };

/// The step that runs, for who has no memory to ask.
StringRef memoryUser = "start";

/// Runs the steps of a verification, one line of progress each on a terminal.
class Steps {
public:
  Steps(mlir::TimingScope &timing, bool isQuiet)
      : timing(timing), showsProgress(!isQuiet && canRewriteLine()) {}

  /// Calls `step` with the scope of its time.
  template <typename Step> auto run(StringRef name, Step step) {
    auto start = Clock::now();
    memoryUser = name;
    show(name + "...");
    mlir::TimingScope scope = timing.nest(name);
    auto result = step(scope);
    scope.stop();
    clear();
    std::chrono::duration<double> time = Clock::now() - start;
    phases.push_back({name.str(), time.count()});
    return result;
  }
  void progress(unsigned done, unsigned total) {
    if (showsProgress && done % 16 == 0 &&
        Clock::now() - shown >= std::chrono::milliseconds(50))
      show("check... " + Twine(done) + " of at most " + Twine(total) +
           " stages");
  }
  /// Takes the line away before something else is printed.
  void clear() {
    std::lock_guard<std::mutex> lock(mutex);
    if (isShown)
      errs() << eraseLine;
    isShown = false;
  }
  SmallVector<verify::Phase> phases;

private:
  using Clock = std::chrono::steady_clock;
  static constexpr StringLiteral eraseLine = "\r\033[K";
  static bool canRewriteLine() {
    return sys::Process::StandardErrIsDisplayed() &&
           sys::Process::GetEnv("TERM").value_or("") != "dumb";
  }
  void show(const Twine &text) {
    if (!showsProgress)
      return;
    std::lock_guard<std::mutex> lock(mutex);
    errs() << eraseLine << text;
    isShown = true;
    shown = Clock::now();
  }

  mlir::TimingScope &timing;
  bool showsProgress;
  std::mutex mutex; ///< threads report progress and diagnostics
  bool isShown = false;
  Clock::time_point shown;
};

/// Imports a pair of plans and runs the passes on it.
class Verification {
public:
  explicit Verification(verify::Flags &flags)
      : flags(flags), pool(hardware_concurrency(flags.threads)) {
    if (pool.getMaxConcurrency() > 1)
      context.setThreadPool(pool);
    // A pass manager adds what its passes need to the registry of the context,
    // which two that run side by side may not: it is there before.
    mlir::DialectRegistry registry;
    registry.insert<verify::tv::TVDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    timingManager.setEnabled(flags.isTimed);
    timingManager.setOutput(mlir::createOutputStrategy(
        mlir::DefaultTimingManager::OutputFormat::Text, errs()));
    timing = timingManager.getRootScope();
    link.random = flags.random;
    // Obligations are written of what each device does.
    link.foldRanks = flags.smtLib.empty();
    check.seed = flags.seed;
    check.resourceLimit = flags.resourceLimit;
    check.emitSmtLib = flags.smtLib;
    check.cache = flags.cache;
    check.counterexample = flags.counterexample;
  }
  /// Returns what the tool ends with, and prints how long it took if asked to.
  int run();

private:
  int verifyPair();
  /// Both plans as one module; none where one of them is no plan.
  mlir::OwningOpRef<mlir::ModuleOp> import();
  int runWithNumbers();
  /// One pass as a step of its own; whether it succeeded.
  bool runPass(StringRef name, std::unique_ptr<mlir::Pass> pass);
  /// Whether the plan can be executed, and its tensors are linked.
  bool prepare();
  /// Finds out whether the plan declares another order of parts than it was
  /// imported with, and begins with the verdict on that, if that is wanted.
  void beginDeclaredOrder();
  /// Says in what a refuted plan declares another order.
  void explainOrder();
  /// Writes the numbers, and returns the code or that of an error.
  int finish(ExitCode code);

  verify::Flags &flags;
  std::string importText = "import";
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  DefaultThreadPool pool;
  mlir::DefaultTimingManager timingManager;
  mlir::TimingScope timing;
  Steps steps{timing, flags.quiet};
  verify::DiagnosticPrinter printer{&context, errs(),
                                    [this] { steps.clear(); }};
  verify::CanonicalizeSSAPassOptions link;
  verify::CheckEquivPassOptions check;
  std::shared_ptr<verify::SolverContext> solver =
      std::make_shared<verify::SolverContext>();
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::optional<verify::nnscaler::PairFiles> files;
  std::optional<verify::nnscaler::PartOrderDifference> difference;
  std::optional<DeclaredOrder> declaredOrder;
};
} // namespace

mlir::OwningOpRef<mlir::ModuleOp> Verification::import() {
  verify::nnscaler::ImportOptions options;
  options.partOrder = flags.partOrder;
  uint64_t size = 0;
  if (!sys::fs::file_size(flags.planPath, size))
    importText =
        ("import of " + flags.planPath + ", " + Twine(size) + " bytes").str();
  return steps.run("import", [&](mlir::TimingScope &scope) {
    memoryUser = importText;
    // The verdict on the declared order needs what was read once more.
    bool isReadAgain = flags.partOrder == verify::nnscaler::PartOrder::Rank &&
                       flags.checksDeclaredOrder;
    StringRef malformation;
    auto imported = verify::nnscaler::importPair(
        &context, flags.referencePath, flags.planPath, options, scope,
        isReadAgain ? &files : nullptr, &malformation);
    if (!imported && !malformation.empty()) {
      imported = mlir::ModuleOp::create(mlir::UnknownLoc::get(&context));
      verify::setMalformation(*imported, malformation);
    }
    return imported;
  });
}

int Verification::runWithNumbers() {
  verify::RunFlags::Options options;
  options.seed = flags.seed;
  options.drawsPerDevice = flags.random == verify::RandomMode::PerDevice;
  options.isQuiet = flags.quiet;
  return flags.runFlags.run(*module, options);
}

bool Verification::runPass(StringRef name, std::unique_ptr<mlir::Pass> pass) {
  // Linking verifies what it reads and builds, and the others change no op.
  return steps.run(name, [&](mlir::TimingScope &scope) {
    mlir::PassManager manager(&context);
    manager.addPass(std::move(pass));
    manager.enableTiming(scope);
    manager.enableVerifier(false);
    return succeeded(manager.run(*module));
  });
}

bool Verification::prepare() {
  verify::CheckSchedulePassOptions schedule;
  schedule.checks = verify::ScheduleChecks::Progress;
  schedule.bufferedSends = flags.bufferedSends;
  schedule.timeline = flags.timeline;
  if (declaredOrder)
    declaredOrder->waitUntilCopied();
  // While linking executes the plan, it only reads it, as the other does.
  verify::ScheduleCheck scheduleCheck(schedule);
  bool isLinked =
      runPass("schedule and link",
              verify::createCanonicalizeSSAPass(
                  link, [&](verify::tv::PlanOp plan,
                            const verify::schedule::RankGroups &ranks) {
                    return scheduleCheck.run(plan, ranks);
                  }));
  if (!isLinked && !scheduleCheck.wasRun())
    return false; // What is wrong was said.
  return succeeded(scheduleCheck.report(*module)) && isLinked;
}

void Verification::beginDeclaredOrder() {
  if (flags.partOrder == verify::nnscaler::PartOrder::Rank)
    difference = verify::nnscaler::findPartOrderDifference(*module);
  if (difference && flags.checksDeclaredOrder) {
    DeclaredOrder::Options options = {flags.referencePath, flags.planPath, link,
                                      check, solver};
    // What is written is of the order that is asked for.
    options.check.emitSmtLib.clear();
    options.check.counterexample.clear();
    // What is wrong is so in the order that is asked for, mostly.
    options.link.foldExceptions = true;
    declaredOrder.emplace(*difference, std::move(options), std::move(files));
    // The check has use for two threads itself.
    declaredOrder->begin(*module, /*isBeside=*/pool.getMaxConcurrency() > 2);
  }
  files.reset();
}

void Verification::explainOrder() {
  mlir::emitRemark(difference->first) << difference->text;
  if (!declaredOrder) {
    mlir::emitRemark(difference->plan)
        << "--check-declared-order verifies the plan in the order that it "
           "declares too, --nnscaler-part-order=index-map in that order alone";
    return;
  }
  steps.run("declared order", [&](mlir::TimingScope &scope) {
    declaredOrder->explain(scope);
    return true;
  });
}

int Verification::finish(ExitCode code) {
  if (verify::hasOutputFailed(*module))
    code = BadInput;
  if (!flags.statistics.empty())
    if (Error error =
            verify::writeStatistics(*module, steps.phases, flags.statistics)) {
      errs() << "error: " << toString(std::move(error)) << "\n";
      code = BadInput;
    }
  return code;
}

static ExitCode getExitCode(verify::Answer answer) {
  switch (answer) {
  case verify::Answer::Proved:
    return Proved;
  case verify::Answer::Refuted:
    return Refuted;
  case verify::Answer::Unknown:
    return Unknown;
  }
  return Unknown;
}

int Verification::run() {
  int code = verifyPair();
  timing.stop();
  timingManager.print();
  return code;
}

int Verification::verifyPair() {
  module = import();
  if (!module)
    return BadInput;
  bool isImported = !verify::getMalformation(*module);
  if (flags.runFlags.isAsked())
    return isImported ? runWithNumbers() : int(Unknown);
  if (isImported)
    beginDeclaredOrder();
  if (!isImported || !prepare()) {
    std::optional<StringRef> reason = verify::getMalformation(*module);
    if (!reason)
      return BadInput;
    outs() << "refuted: the plan cannot be executed: " << *reason << "\n";
    return finish(Refuted);
  }
  verify::KeptPlansUser plans;
  if (declaredOrder && pool.getMaxConcurrency() > 1)
    plans = {[&] { return declaredOrder->takePlans(); },
             [&] { declaredOrder->giveBackPlans(); }};
  bool isDone = runPass("check", verify::createCheckEquivPass(
                                     check,
                                     [&](unsigned done, unsigned total) {
                                       steps.progress(done, total);
                                     },
                                     std::move(solver), std::move(plans)));
  std::optional<verify::Answer> answer = verify::getAnswer(*module);
  // A pass that fails has proved nothing, unless it could only not write it.
  if (!isDone && answer == verify::Answer::Proved &&
      !verify::hasOutputFailed(*module))
    answer.reset();
  if (answer == verify::Answer::Refuted && difference)
    explainOrder();
  if (!declaredOrder || !declaredOrder->isUnderWay())
    context.disableMultithreading();
  if (!answer) {
    errs() << "error: the check ended without an answer\n";
    return finish(Unknown);
  }
  if (!flags.quiet || *answer != verify::Answer::Proved)
    verify::printSummary(*module, steps.phases, outs());
  return finish(getExitCode(*answer));
}

/// Each step frees what the next one needs again: giving memory back at once
/// costs more than it is worth.
static void keepFreedMemory() {
#ifdef VERIFY_HAS_MIMALLOC
  constexpr long milliseconds = 10;
#if MI_MALLOC_VERSION < 210
  mi_option_set_default(mi_option_decommit_delay, milliseconds);
#else
  mi_option_set_default(mi_option_purge_delay, milliseconds);
#endif
#endif
}

/// Linked with all of LLVM in one library (VERIFY_SHARED_MLIR), this tool has
/// the options of other tools, too, of which one is called as one of its own.
static void removeOptionOfLibrary(StringRef name) {
  if (cl::Option *option = cl::getRegisteredOptions().lookup(name))
    option->removeArgument();
}

/// Ends with what could not be done, as nothing else can be.
[[noreturn]] static void endAtOnce(StringRef begin, StringRef reason,
                                   ExitCode code) {
  for (StringRef part : {StringRef("error: "), begin, reason, StringRef("\n")})
    if (::write(STDERR_FILENO, part.data(), part.size()) < 0)
      break;
  sys::Process::Exit(code, /*NoCleanup=*/true);
}

/// What LLVM takes for fatal is no mistake of this program where memory,
/// threads or room for the output are missing.
static void installErrorHandlers() {
#ifdef VERIFY_HAS_MIMALLOC
  // Its operator new asks no handler that is installed in C++.
  mi_register_error(
      [](int error, void *) {
        if (error == ENOMEM)
          endAtOnce("not enough memory for these plans, in the step: ",
                    memoryUser, Unknown);
      },
      nullptr);
#endif
  install_bad_alloc_error_handler([](void *, const char *, bool) {
    endAtOnce("not enough memory for these plans, in the step: ", memoryUser,
              Unknown);
  });
  install_fatal_error_handler([](void *, const char *reason, bool isInternal) {
    StringRef text(reason);
    if (text.starts_with("pthread_create"))
      endAtOnce("not enough memory or threads: ", text, Unknown);
    if (!isInternal)
      endAtOnce("", text, BadInput);
  });
}

int main(int argc, char **argv) {
  installErrorHandlers();
  keepFreedMemory();
  InitLLVM init(argc, argv);
  removeOptionOfLibrary("threads");
  verify::setVersionPrinter();
  verify::Flags flags;
  cl::HideUnrelatedOptions(flags.category);
  bool parsed = cl::ParseCommandLineOptions(
      argc, argv,
      "Proves that a parallel execution plan computes what the single-device "
      "reference computes,\nor shows an op where it does not.\n\n"
      "exit codes: 0 proved, 1 refuted, 2 unknown or too little memory,\n"
      "3 bad input or usage, or output that cannot be written;\n"
      "with --run: 0 equal, 1 differs, 2 cannot be run, 3 bad input or usage\n",
      &errs());
  if (!parsed)
    return BadInput;
  if (std::string misuse = flags.findMisuse(); !misuse.empty()) {
    errs() << misuse << "\n";
    return BadInput;
  }
  Verification verification(flags);
  int code = verification.run();
  outs().flush();
  if (writeProfile)
    writeProfile();
  if (outs().has_error())
    endAtOnce("cannot write what was found: ", outs().error().message(),
              BadInput);
  // The system frees the memory faster than one op after the other is
  // destroyed, and nobody waits for what is under way.
  sys::Process::Exit(code, /*NoCleanup=*/true);
}
