#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: scripts/demo.sh TOOLS
#
# Makes two execution plans of a small Llama on four devices, a correct one and
# one that lacks an all-reduce, and verifies both with the verify-plan in the
# folder TOOLS. Succeeds if the first is proved and the second refuted.
set -euo pipefail

tools=$(cd "$1" && pwd)
PYTHONPATH=$(cd "$(dirname "$0")/../python" && pwd)
PATH=$tools:$PATH
export PATH PYTHONPATH

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
cd "$folder"

model="llama --layers 1 --dp 2 --tp 2 --micro-batches 2"

# run EXPECTED command...: shows a command, runs it, checks its exit code.
run() {
  local expected=$1 code=0
  shift
  echo "\$ $*"
  "$@" || code=$?
  echo
  if ((code != expected)); then
    echo "error: exit code $code, expected $expected" >&2
    exit 1
  fi
}

echo "A correct plan is proved (exit code 0):"
echo
# shellcheck disable=SC2086
run 0 python3 -m plan_maker $model -o parallel.pkl --reference single.pkl
run 0 verify-plan --reference single.pkl parallel.pkl

echo "The same plan without one all-reduce is refuted (exit code 1):"
echo
# shellcheck disable=SC2086
run 0 python3 -m plan_maker $model -o broken.pkl --reference single.pkl \
  --bug removed-all-reduce
run 1 verify-plan --reference single.pkl broken.pkl

echo "demo: proved the correct plan and refuted the broken one"
