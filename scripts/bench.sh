#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: scripts/bench.sh FOLDER [OPTION...]
#
# Runs the benchmarks with their options, writes results.json into the folder and draws
# it. The drawing library goes into a virtual environment there; the last line says
# whether there are drawings.
set -u

folder=$1
shift
here=$(cd "$(dirname "$0")/.." && pwd)
PYTHONPATH="$here/python${PYTHONPATH:+:$PYTHONPATH}"
export PYTHONPATH
python3 -m bench "$@" --output "$folder"
status=$?
[ $status -le 1 ] || exit $status

python=$folder/python/bin/python
if ! "$python" -c 'import matplotlib' 2>/dev/null; then
  python3 -m venv --clear "$folder/python" &&
    "$python" -m pip install --quiet matplotlib==3.10.0
fi
if ! "$python" -c 'import matplotlib' 2>/dev/null; then
  echo "drawings: NOT DRAWN, matplotlib cannot be installed"
elif "$python" -m bench.plots "$folder/results.json" "$folder"; then
  echo "drawings: $folder/*.svg"
else
  echo "drawings: NOT DRAWN, bench.plots failed"
  status=1
fi
exit $status
