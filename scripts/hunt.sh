#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: scripts/hunt.sh FOLDER "HUNT..." [OPTION...]
#
# Runs hunts with their options, each to its end although another found something, and
# writes the rates into docs/Trust.md. Goes on from the results in the folder. Fails if
# something was found.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
folder=$1 hunts=$2 status=0
shift 2
export PYTHONPATH=python
mkdir -p "$folder"
for hunt in $hunts; do
  python3 -m hunt "$hunt" --resume "$folder/$hunt.json" --findings "$folder/findings" \
    "$@" || status=1
done
python3 -m hunt table "$folder"/*.json --write docs/Trust.md || status=1
exit $status
