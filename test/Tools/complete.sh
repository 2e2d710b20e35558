#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# usage: complete.sh COMPLETION TOOL WORD...
#
# Prints what bash would offer for the last word.
source "$1"
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_verify_complete "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
echo "${COMPREPLY[@]}"
