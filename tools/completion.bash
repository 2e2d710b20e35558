# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Completion of options in bash: `source tools/completion.bash`, or installed where bash looks for it.
# What a tool lists with --help is completed: options, the values of those that have some, and files.

_verify_complete() {
  local tool=$1 word=$2 before=$3 help
  help=$("$tool" --help 2>/dev/null)
  COMPREPLY=()
  # `=` is a word of its own.
  if [[ $word == "=" ]]; then
    word="" before=${COMP_WORDS[COMP_CWORD - 1]}
  elif [[ $before == "=" ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  if [[ $before == --* ]]; then
    local values
    values=$(awk -v option="$before" '
      $1 ~ /^--/ { of = (index($1, option "=<") == 1 || $1 == option) }
      of && $1 ~ /^=/ { print substr($1, 2) }' <<<"$help")
    if [[ $values ]]; then
      mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
      return
    fi
  fi
  if [[ $word == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(grep -oE '^ +--[a-z0-9-]+' <<<"$help")" -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}

complete -o filenames -F _verify_complete verify-plan verify-opt verify-translate verify-reduce
