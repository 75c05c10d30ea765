# SPDX-License-Identifier: Apache-2.0
# lower.bash: compiles .ll and .qtjir files: janus-lower replaces their opcodes, and clang compiles what comes out.
# shellcheck shell=bash disable=SC2034,SC2154  # variables of janus-cc and of its other parts

is_lowered() { [ "$1" = llvm ] || [ "$1" = qtjir ]; }

# Sets `clang` to the compiler for LLVM IR: the C compiler if that is clang, else from PATH clang or the newest of clang-19 to clang-11. Also sets `clang_major`.
find_clang() {
  local candidate found
  [ -z "${clang+known}" ] || return 0
  clang=("${c_compiler[@]}")
  clang_major=$(clang_version "${clang[@]}")
  for candidate in clang clang-{19,18,17,16,15,14,13,12,11}; do
    [ -z "$clang_major" ] || break
    command -v -- "$candidate" >/dev/null || continue
    find_beside_us "$candidate"
    clang=("$found")
    clang_major=$(clang_version "$found")
  done
  [ -n "$clang_major" ] || refuse "$1: clang compiles this, and none is installed; CC chooses one by its path"
  [ "$clang_major" -ge "$oldest_clang" ] || too_old "${clang[0]}" "$oldest_clang"
}

# Prints the major version of a compiler if it is clang.
clang_version() { LC_ALL=C "$@" --version 2>/dev/null | sed -nE 's/.*clang version ([0-9]+).*/\1/p' | head -n 1; }

# Lowers the source $1 to $2, or to stdout if $2 is empty. Passes further arguments on to janus-lower.
lower_source() {
  local lower=$support/janus-lower source=$1 target=$2
  shift 2
  [ -x "$lower" ] || refuse "$lower is missing: janus-cc needs the prefix that it was installed in"
  find_clang "$source"
  "$lower" "--llvm=$clang_major" ${lower_options[@]+"${lower_options[@]}"} "$@" ${target:+-o "$target"} "$source"
}

# Prints $scratch/log, clang's messages about $2, with the places in $1 that the lines of $2 come from.
tell_places() {
  : >"$scratch/lines"
  case $1 in
    - | *.qtjir) ;;
    *) grep -qF -- "$2:" "$scratch/log" && lower_source "$1" "$scratch/lines" --lines ;;
  esac
  awk -v source="$1" -v lowered="$2:" -v map="$scratch/lines" '
    BEGIN { while ((getline pair < map) > 0) { split(pair, of, " "); output[++count] = of[1]; input[count] = of[2] } }
    index($0, lowered) == 1 && count > 0 {
      rest = substr($0, length(lowered) + 1)
      line = rest + 0
      sub(/^[0-9]+/, "", rest)
      for (i = count; i > 1 && output[i] > line; i--) {}
      place = input[i] + line - output[i]
      if (i < count && input[i + 1] > 0 && place > input[i + 1]) place = input[i + 1]
      shown = place
      if (input[i] > 0) $0 = source ":" place rest
      else { sub(/^:[0-9]+:/, "", rest); $0 = source ":" rest " (in a function that janus-lower has added)" }
    }
    # The line that clang quotes begins with its number.
    shown != "" && index($0, source) != 1 && match($0, /^ *[0-9]+ \|/) { $0 = sprintf("%" (RLENGTH - 2) "d", shown) substr($0, RLENGTH - 1); shown = "" }
    { print }' "$scratch/log"
}

# Compiles the source $1 to $2, by the step in $3 (-c or -S). Passes to clang only options that still have an effect on LLVM IR.
compile_lowered() {
  local lowered word pointers=() options=() status=0
  make_scratch
  lowered=$scratch/lowered.ll
  lower_source "$1" "$lowered" || return $?
  if [ "$clang_major" -lt 15 ] && head -n 1 "$lowered" | grep -q 'opaque pointers'; then pointers=(-mllvm -opaque-pointers); fi
  for word in "${words[@]}"; do
    case $word in
      -O* | -g | -g[0-3] | -m?* | -fPIC | -fpic | -fPIE | -fpie | -fno-pic | -fno-pie | -fno-PIC | -fno-PIE | -ffunction-sections | \
        -fdata-sections | -fomit-frame-pointer | -fno-omit-frame-pointer | -v | -'###') options+=("$word") ;;
    esac
  done
  JANUS_CC_DRIVES=$fallback_c "${clang[@]}" ${options[@]+"${options[@]}"} -ffunction-sections -Wno-override-module -Qunused-arguments \
    ${pointers[@]+"${pointers[@]}"} "$3" -x ir "$lowered" -o "$2" 2>"$scratch/log" || status=$?
  if [ -s "$scratch/log" ]; then tell_places "$1" "$lowered" >&2; fi
  check_for_signal "$status" "${clang[0]}" "$2"
  return "$status"
}

# Runs --emit-llvm, -c or -S for one source.
compile_lowered_only() {
  local base=${1##*/} step=-c
  case " ${words[*]} " in
    *' -E '* | *' -M '* | *' -MM '*) refuse "$1: there is nothing to preprocess; --emit-llvm shows what janus-lower makes of it" ;;
    *' -S '*) step=-S ;;
  esac
  if [ "$emits_llvm" = 1 ]; then
    lower_source "$1" "$output"
  elif [ "$step" = -S ]; then
    compile_lowered "$1" "${output:-${base%.*}.s}" -S
  else
    compile_lowered "$1" "${output:-${base%.*}.o}" -c
  fi
}
