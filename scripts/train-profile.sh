#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: scripts/train-profile.sh
#
# Builds an instrumented verify-plan, verifies plans of several kinds with it, and
# writes what was executed how often into build/instrumented/verify.profdata, for
# the preset `optimized`.
set -euo pipefail
cd "$(dirname "$0")/.."

build=build/instrumented
cmake --preset instrumented
cmake --build --preset instrumented

PYTHONPATH=$(pwd)/python
LLVM_PROFILE_FILE=$(pwd)/$build/profiles/%p.profraw
export PYTHONPATH LLVM_PROFILE_FILE
rm -rf "$build/profiles" "$build/plans"
mkdir -p "$build/profiles" "$build/plans"

# verify EXPECTED MODEL OPTION...: verifies a plan of the plan maker.
verify() {
  local expected=$1 code=0
  shift
  python3 -m plan_maker "$@" \
    -o "$build/plans/plan.pkl" --reference "$build/plans/single.pkl"
  "$build/bin/verify-plan" --reference "$build/plans/single.pkl" \
    "$build/plans/plan.pkl" >"$build/plans/output" 2>&1 || code=$?
  if ((code != expected)); then
    cat "$build/plans/output"
    echo "error: exit code $code, expected $expected" >&2
    exit 1
  fi
}

large="--hidden 1024 --ffn 4096 --heads 16 --vocab 4096 --sequence 1024 --batch 512"
# shellcheck disable=SC2086
{
  verify 0 llama $large --layers 32 --dp 32
  verify 0 llama $large --layers 32 --dp 8 --pp 4 --tp 8 --micro-batches 16
  verify 0 llama $large --layers 16 --dp 2 --pp 4 --tp 4 --micro-batches 8 --tp-style feed-forward
  verify 0 llama-moe $large --layers 16 --dp 4 --pp 4 --tp 8 --micro-batches 16 --experts 64
  verify 0 gpt $large --layers 16 --tp 4 --tp-style megatron-sequence --micro-batches 8
  verify 1 llama $large --layers 16 --dp 4 --pp 4 --tp 8 --micro-batches 8 --bug removed-all-reduce
  verify 1 llama $large --layers 32 --dp 4 --pp 4 --tp 8 --micro-batches 8 --part-order scattered
  verify 1 llama-moe $large --layers 16 --dp 4 --pp 2 --tp 4 --micro-batches 8 --experts 64 --part-order scattered
  verify 1 llama-moe $large --layers 8 --tp 4 --micro-batches 8 --experts 16 --bug dropped-micro-batch
}
rm -r "$build/plans"

"$(command -v llvm-profdata-22 || echo llvm-profdata)" merge \
  -o "$build/profiles/merged" "$build"/profiles/*.profraw
mv "$build/profiles/merged" "$build/verify.profdata"
rm -r "$build/profiles"
echo "profile: $build/verify.profdata"
