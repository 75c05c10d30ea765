# SPDX-License-Identifier: Apache-2.0
# explain.bash: explains a failed link where the linker's own messages do not.
# shellcheck shell=bash disable=SC2034,SC2154  # variables of janus-cc and of its other parts

undefined_names() {
  sed -nE "s/.*undefined reference to [\`']([^']+)'.*/\1/p; s/.*undefined (hidden )?symbol: (.*)/\2/p" "$scratch/log" | sort -u
}

# Prints a line for each of three kinds of undefined names: those of C or POSIX, those of the C++ library's compiled part, and
# those of functions that compilers call because of an option.
explain_undefined_names() {
  local names cxx
  names=$(undefined_names | sed -E 's/^__isoc[0-9]*_//; s/^__(.*)_chk$/\1/; s/^_IO_//' | grep -Fx -f "$support/c-names" | sort -u | paste -sd ' ')
  if [ -n "$names" ]; then
    say "note: of C or POSIX, but not in the small C library of janus-rt (janus-cc.md lists what is, porting.md what stands for the rest): $names"
  fi
  cxx=$(undefined_names | grep -E '^(std::|__gnu_debug::|__gnu_cxx::|__cxa_|__gxx_|_Unwind_|vtable for (std::|__cxxabiv1::)|typeinfo for std::)' | sort -u | head -5 | paste -sd ';' | sed 's/;/; /g')
  if [ -n "$cxx" ]; then
    say "note: of the C++ library's compiled part, which is not linked (its headers are; no exceptions, no RTTI, no streams; janus-cc.md says what there is): $cxx"
  fi
  names=$(undefined_names | grep -E '^(__cyg_profile_func_|__sanitizer_cov_)' | paste -sd ' ')
  if [ -n "$names" ]; then say "note: called because of -finstrument-functions or -fsanitize-coverage=, and the program's own to define: $names"; fi
}

# Names the objects with thread-local variables, found by their sections in a map from the linker.
explain_thread_locals() {
  local object variables
  run_compiler c "${link[@]/%janus.ld/no-checks.ld}" -Xlinker -Map -Xlinker "$scratch/map" -o "$scratch/ignored" >/dev/null 2>&1
  awk '$1 ~ /^\.t(bss|data)/ { if (NF == 1) getline; if ($NF ~ /\.o\)?$/) print $NF }
       match($NF, /:\(\.t(bss|data)/) { print substr($NF, 1, RSTART - 1) }' "$scratch/map" | sort -u |
    while IFS= read -r object; do
      variables=$(readelf -sW "${object%(*}" 2>/dev/null | c++filt | awk -v member="$object" '
        /^File: / { inside = ($2 == member) }
        $4 == "TLS" && (inside || member !~ /\)$/) { name = $8; for (i = 9; i <= NF; i++) name = name " " $i; print name }' | sort -u | paste -sd ' ')
      say "error: ${object#"$scratch"/*/}: thread-local storage, which tasks cannot have as they change threads: $variables"
    done
}

# Names the objects that are for another processor.
explain_strangers() {
  local i machine
  grep -qE 'file in wrong format|is incompatible with|incompatible target' "$scratch/log" || return 0
  for i in "${!words[@]}"; do
    [ "${kinds[$i]}" = input ] || continue
    machine=$(readelf -hW "${words[$i]}" 2>/dev/null | sed -n 's/^ *Machine: *//p' | sort -u | grep -vF 'X86-64' | paste -sd ' ')
    if [ -n "$machine" ]; then say "note: ${words[$i]} is for $machine, and janus-rt is for x86_64 alone; compile it with janus-cc"; fi
  done
}

# If an input holds Rust's std, prints one line in place of thousands from the linker. Returns 1 if none does.
explain_rust_std() {
  local archive
  archive=$(sed -nE 's/.*[ /:]([^ /:]+)\(std-[0-9a-f]{16}\.std\..*/\1/p; s/^([^ /:]+)\(std-[0-9a-f]{16}\.std\..*/\1/p' "$scratch/log" | head -n 1)
  [ -n "$archive" ] || return 1
  say "error: $archive holds Rust's std, which wants threads and a C library; make it a #![no_std] crate, with -C panic=abort"
}

# If the compiler's library for the sanitizer is not installed, says so in one line. Returns 1 if that is not the reason.
explain_missing_sanitizer() {
  local name
  name=$(grep -E 'cannot (find|open)|No such file' "$scratch/log" | grep -oE '(lib|-l)(clang_rt\.)?(a|t|l|ub)san[a-z_]*' | head -n 1)
  [ -n "$name" ] || return 1
  name=${name%_preinit}
  say "error: ${name/#-l/lib}: the sanitizer's library is not installed beside this compiler; on Debian libasan, libtsan, liblsan and libubsan come with libgcc-N-dev for gcc, and libclang-rt-N-dev has clang's"
}

# Prints the linker's messages and explanations, without those messages that are explained better here.
report_link() {
  if [ "$hosted" = 1 ]; then
    explain_missing_sanitizer || cat -- "$scratch/log" >&2
    return
  fi
  if explain_rust_std; then return; fi
  if grep -q 'janus: thread-local storage' "$scratch/log"; then
    grep -v -e 'janus: thread-local storage' -e 'collect2: error' -e 'linker command failed' "$scratch/log" >&2
    explain_thread_locals
    return
  fi
  cat -- "$scratch/log" >&2
  if [ "$own_libraries" = 0 ]; then return; fi
  explain_undefined_names
  explain_strangers
}
