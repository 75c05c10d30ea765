# SPDX-License-Identifier: Apache-2.0
# compile.bash: compiles sources to objects, or to the outputs of -E, -S and -M.
# shellcheck shell=bash disable=SC2034,SC2154  # variables of janus-cc and of its other parts

# The oldest compilers that know all options that janus-cc passes to them.
oldest_gcc=10 oldest_clang=11

# Asks the compiler $2... for language $1 for its kind, its major version, its default C++ standard, and its header directories (with
# --sysroot and the like, if given). Sets `headers` to the directories in the order that janus-cc needs: the C++ library's, whose
# header-only parts work here; janus-rt's; the compiler's; those of names that janus-rt does not have; and last the host's, for other
# libraries. The headers of the host's C library stop the compilation, because they all include features.h, which is janus-rt's.
examine_compiler() {
  local language=$1 directory listing=0 line said cxx=() compiler=() host=()
  shift
  compiler_kind='' compiler_major=0 default_cxx=0 headers=()
  said=$(LC_ALL=C run_compiler "$language" "$@" ${roots[@]+"${roots[@]}"} -E -v -dM -x "$language" /dev/null 2>&1 </dev/null) ||
    does_not_work $? "$*" "$said"
  while IFS= read -r line; do
    case $line in
      '#include <...>'*) listing=1 ;;
      'End of search list.') listing=0 ;;
      ' '*)
        [ "$listing" = 1 ] || continue
        directory=${line# }
        case $directory in
          */c++/*) cxx+=(-isystem "$directory") ;;
          */lib/gcc/* | */lib/clang/* | */lib*/clang/*) compiler+=(-isystem "$directory") ;;
          *) host+=(-idirafter "$directory") ;;
        esac
        ;;
      '#define __clang_major__ '*) compiler_kind=clang compiler_major=${line##* } ;;
      '#define __GNUC__ '*) if [ -z "$compiler_kind" ]; then compiler_kind=gcc compiler_major=${line##* }; fi ;;
      '#define __cplusplus '*) default_cxx=${line##* } default_cxx=${default_cxx%L} ;;
    esac
  done <<<"$said"
  case $compiler_kind in
    gcc) [ "$compiler_major" -ge "$oldest_gcc" ] || too_old "$1" "$oldest_gcc" ;;
    clang) [ "$compiler_major" -ge "$oldest_clang" ] || too_old "$1" "$oldest_clang" ;;
    *) refuse "$1 is neither gcc nor clang; CC and CXX choose another one" ;;
  esac
  headers=(-nostdinc)
  if [ "$language" = c++ ] && [ "$own_cxx_headers" = 1 ]; then headers+=(-isystem "$support/include-c++" "${cxx[@]}"); fi
  headers+=(-isystem "$support/include" -isystem "$prefix/include" "${compiler[@]}" -isystem "$support/absent" "${host[@]}")
  if [ "$hosted" = 1 ]; then headers=(-isystem "$prefix/include"); fi
}

# Refuses a compiler that failed, with its first error, else its last line. (gcc's last line only says that compilation stopped.)
does_not_work() {
  local why
  check_for_signal "$1" "$2" ''
  [ "$1" -le 128 ] || exit "$1"
  why=$(grep -m 1 'error:' <<<"$3") || why=$(tail -n 1 <<<"$3")
  refuse "$2 does not work (status $1): $why"
}

too_old() { refuse "$1 is $compiler_kind $compiler_major, and janus-cc needs $2 or newer; CC and CXX choose another one"; }

# Adds to `collected` an option that makes sanitizers trap, in the form that the compiler knows: gcc before 13 has a single one.
trap_option() {
  if [ "$compiler_kind" = gcc ] && [ "$compiler_major" -lt 13 ]; then
    collected+=(-fsanitize-undefined-trap-on-error)
  elif [ "$1" != "${1#*=}" ]; then
    collected+=("$1")
  else
    collected+=(-fsanitize-trap=all)
  fi
}

# Warns, once, of options that have no effect.
warn_of_exceptions() {
  local option
  for option in -fexceptions -frtti; do
    case " ${words[*]} " in
      *" $option "*) say "warning: $option: programs are compiled without exceptions and RTTI; leave it out, or see --hosted" ;;
    esac
  done
  warn_of_exceptions() { :; }
}

# Sets `compile` to the command for a language, without the files.
compile_command() {
  local before=(-D__JANUS__=1 -fstack-clash-protection)
  # A sanitizer walks stacks by frame pointers.
  if [ "$hosted" = 1 ]; then before=(-D__JANUS__=1 -D__JANUS_HOSTED__=1 -fno-omit-frame-pointer -fno-exceptions -fno-rtti); fi
  if [ "$hosted" = 1 ] && [ "$1" != c++ ]; then before=("${before[@]:0:3}"); fi
  if [ "$1" = c++ ]; then
    if [ -z "${cxx_headers+known}" ]; then
      must_be_installed "${cxx_compiler[0]}" CXX
      examine_compiler c++ "${cxx_compiler[@]}"
      cxx_headers=("${headers[@]}") cxx_kind=$compiler_kind cxx_major=$compiler_major
      # The standard that janus/rt.hpp needs; docs/decisions/0197.
      if [ "$default_cxx" -lt 202002 ]; then default_standard=-std=gnu++20; fi
    fi
    compiler_kind=$cxx_kind compiler_major=$cxx_major headers=("${cxx_headers[@]}")
    if [ "$standard" = 0 ] && [ -n "${default_standard:-}" ]; then before+=("$default_standard"); fi
    collect compile
    compile=("${cxx_compiler[@]}" "${before[@]}" "${collected[@]}")
    if [ "$hosted" = 0 ]; then
      warn_of_exceptions
      compile+=(-fno-exceptions -fno-rtti)
    fi
  else
    if [ -z "${c_headers+known}" ]; then
      examine_compiler c "${c_compiler[@]}"
      c_headers=("${headers[@]}") c_kind=$compiler_kind c_major=$compiler_major
    fi
    compiler_kind=$c_kind compiler_major=$c_major headers=("${c_headers[@]}")
    collect compile
    compile=("${c_compiler[@]}" "${before[@]}" "${collected[@]}")
  fi
  if [ "$own_headers" = 1 ]; then compile+=("${headers[@]}"); fi
  # clang warns of directories of headers where nothing is left to be preprocessed.
  if [ "$preprocessed" = 1 ] && [ "$compiler_kind" = clang ]; then compile+=(-Qunused-arguments); fi
}

# Sets `group` to the compiler for a language, c or c++.
group_of() { if [ "$1" = c++ ]; then group=c++; else group=c; fi; }

# Compiles several sources of one language by one command, as the user's command would.
compile_group() {
  local group=$1 status=0
  shift
  [ $# -gt 0 ] || return 0
  compile_command "$group"
  run_compiler "$group" "${compile[@]}" ${output:+-o "$output"} "$@" || status=$?
  check_for_signal "$status" "${compile[0]}" "$output"
  return "$status"
}

# Runs -c, -S, -E and the like, in the order of the files, and exits.
compile_only() {
  local group before='' i files=() failed=0
  if [ -n "$output" ] && [ "$sources" -gt 1 ]; then
    say "fatal error: cannot specify '-o' with '-c', '-S' or '-E' with multiple files"
    exit 1
  fi
  for i in "${!words[@]}"; do
    case ${kinds[$i]} in
      input) say "warning: ${words[$i]}: linker input file unused because linking not done" ;;
      source)
        if is_lowered "${languages[$i]}"; then
          compile_lowered_only "${words[$i]}" || failed=$?
          continue
        fi
        [ "$emits_llvm" = 0 ] || refuse "${words[$i]}: --emit-llvm is for .ll and .qtjir files"
        group_of "${languages[$i]}"
        if [ "$group" != "$before" ]; then
          compile_group "$before" ${files[@]+"${files[@]}"} || failed=$?
          files=() before=$group
        fi
        if [ -n "${forced[$i]}" ]; then files+=(-x "${forced[$i]}" "${words[$i]}" -x none); else files+=("${words[$i]}"); fi
        ;;
    esac
  done
  compile_group "$before" ${files[@]+"${files[@]}"} || failed=$?
  exit "$failed"
}

# Makes the files that compilers write beside the object (-save-temps, -gsplit-dwarf, -fstack-usage) appear beside the program, with
# the names that gcc gives them. clang 14 has no option for that.
beside_the_program() {
  case " ${words[*]} " in
    *' -save-temps'* | *' -gsplit-dwarf'* | *' -fstack-usage'* | *' -fdump-'* | *' -ftest-coverage'* | *' -fcallgraph-info'* | \
      *' -dA '* | *' -fsave-optimization-record'*) ;;
    *) return 0 ;;
  esac
  [ "$compiler_kind" = gcc ] || refuse "an option that leaves further files beside objects: compile with -c first, then link"
  compile+=(-dumpdir "${output:-a}-")
}

# Gives the file of dependencies the place and the target that it would have if the compiler had linked, too: named after the program,
# or without -o after the source, by gcc since 11 with "a-" before it. gcc does not pass the program's name to -Wp,-MD.
name_dependencies() {
  local program=${output##*/} file target=$output
  file=${output%"$program"}${program%.*}.d
  if [ -z "$output" ]; then
    file=$1.d target=$1.o
    if [ "$compiler_kind" = gcc ] && [ "$compiler_major" -ge 11 ]; then file=a-$file; fi
    if [ "$compiler_kind:$1" = gcc:- ]; then target=-; fi
  fi
  case $dependencies:$compiler_kind in
    none:* | preprocessor:gcc) return ;;
    beside:*) compile+=(-MF "$file") ;;
  esac
  if [ "$dependency_target" = 0 ]; then compile+=(-MQ "$target"); fi
}

# Compiles each source to an object below $scratch that has the source's name, so that messages can name it.
compile_to_objects() {
  local i base where failed=0 status group
  objects=()
  for i in "${!words[@]}"; do
    [ "${kinds[$i]}" = source ] || continue
    base=${words[$i]##*/}
    base=${base%.*}
    where=$scratch/$i
    mkdir -- "$where"
    objects[i]=$where/${base:-standard-input}.o
    if is_lowered "${languages[$i]}"; then
      compile_lowered "${words[$i]}" "${objects[$i]}" -c || failed=$?
      continue
    fi
    compile_command "${languages[$i]}"
    beside_the_program
    if [ -n "${forced[$i]}" ]; then compile+=(-x "${forced[$i]}"); fi
    name_dependencies "$base"
    status=0
    group_of "${languages[$i]}"
    run_compiler "$group" "${compile[@]}" -c -o "${objects[$i]}" "${words[$i]}" || status=$?
    check_for_signal "$status" "${compile[0]}" ''
    [ "$status" -eq 0 ] || failed=$status
  done
  [ "$failed" -eq 0 ] || exit "$failed"
}
