#include "Refutation.h"
using namespace mlir;
using namespace verify;
Answer verify::refute(const EquivalenceChecker &checker, tv::GraphOp graph,
                      ArrayRef<tv::ExpectOp> failed, unsigned seed) {
  for (tv::ExpectOp result : failed)
    emitError(result.getLoc())
        << "unknown: " << result.getContract()->getName() << ": "
        << checker.getStatuses().find(result)->second.verdict.reason;
  for (auto &[op, st] : checker.getStatuses())
    if (!st.verdict.isProved() && !cast<tv::ExpectOp>(op).getContract())
      op->emitRemark() << st.verdict.reason;
  return Answer::Unknown;
}
