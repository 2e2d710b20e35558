#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: scripts/run-clang-tidy.sh BUILD [FILE...]
#
# Runs clang-tidy with the checks of .clang-tidy over the given sources, by
# default over all that the build folder BUILD compiles. Fails on any warning,
# and on what a source uses of a precompiled header without including it: other
# presets have none.
set -euo pipefail
cd "$(dirname "$0")/.."
build=$1
shift
files=("$@")
((${#files[@]})) || mapfile -t files < <(git ls-files 'lib/*.cpp' 'tools/*.cpp')
commands=$(mktemp -d)
trap 'rm -rf "$commands"' EXIT
sed -E 's/-Xclang -include(-pch)? -Xclang [^ ]+//g' \
  "$build/compile_commands.json" >"$commands/compile_commands.json"
run-clang-tidy-22 -quiet -p "$commands" -j "$(nproc)" \
  -warnings-as-errors='*' "${files[@]}"
