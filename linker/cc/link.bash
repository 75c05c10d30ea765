# SPDX-License-Identifier: Apache-2.0
# link.bash: links objects to one static file.
# shellcheck shell=bash disable=SC2034,SC2154  # variables of janus-cc and of its other parts
# docs/decisions/0030

is_stripped() {
  local argument
  for argument in ${collected[@]+"${collected[@]}"}; do
    case $argument in -s | -Wl,-s | -Wl,--strip-all) return 0 ;; esac
  done
  return 1
}

# The compiler links as usual. The runtime comes behind the program's inputs; --wrap redirects main and the waiting for function-local statics to it.
link_hosted_command() {
  collect link
  link=("${c_compiler[@]}") link_language=c
  if [[ " ${languages[*]} " == *' c++ '* ]]; then link=("${cxx_compiler[@]}") link_language=c++ compiler_kind=$cxx_kind; fi
  if [ "$compiler_kind" = clang ]; then link+=(-Qunused-arguments); fi
  # shellcheck disable=SC2054  # the commas are the linker's
  link+=("${collected[@]}" -Wl,--wrap=main -Wl,--wrap=__cxa_guard_acquire -Wl,--wrap=__cxa_guard_release
    -Wl,--wrap=__cxa_guard_abort "$prefix/lib/libjanus_hosted.a" -Wl,--push-state,--as-needed -lstdc++ -lm -Wl,--pop-state -pthread)
}

# Build systems that link one archive statically switch back to shared libraries behind it (CMake does). Here the libraries that
# follow have to be archives, too, so such options are replaced.
prefer_archives() {
  local i word said before=''
  for i in "${!collected[@]}"; do
    said=${collected[$i]}
    for word in -Bdynamic -dy -call_shared; do
      case $before:$said in
        -Xlinker:"$word") collected[i]=-Bstatic ;;
        *:-Wl,*)
          said=$said,
          while [[ $said == *",$word,"* ]]; do said=${said/",$word,"/,-Bstatic,}; done
          said=${said%,}
          collected[i]=$said
          ;;
      esac
    done
    before=$said
  done
}

link_command() {
  if [ "${c_kind:-}" = '' ]; then
    examine_compiler c "${c_compiler[@]}"
    c_kind=$compiler_kind c_major=$compiler_major
  fi
  compiler_kind=$c_kind compiler_major=$c_major
  if [ "$hosted" = 1 ]; then
    link_hosted_command
    return
  fi
  collect link
  link=("${c_compiler[@]}" -nostdlib)
  if [ "$compiler_kind" = clang ]; then link+=(-Qunused-arguments); fi
  if [ "$own_libraries" = 0 ]; then
    link+=("${collected[@]}")
    return
  fi
  prefer_archives
  local runtime=$prefix/lib/libjanus_rt.a protection=(-Wl,-z,relro)
  # shellcheck disable=SC2054  # the commas are the linker's
  if [ "$machine" = bare ]; then
    # The image is loaded at the address that it is linked for, from 1 MiB on. Pages with different permissions are kept apart
    # in memory, because nothing copies them to other pages later; bare.ld does so without padding in the file.
    runtime=$prefix/lib/libjanus_rt_bare.a
    link+=(-static -no-pie -Wl,-Ttext-segment=0x100000 -Wl,-z,separate-code -Wl,-z,max-page-size=16
      -Wl,-u,janus_pvh_start -T "$support/bare.ld")
  elif [ "$position" = independent ]; then
    link+=(-static-pie -Wl,-z,noseparate-code)
  else
    link+=(-static -no-pie -Wl,-z,noseparate-code)
    # With pages of 64 bytes ld does not begin the data at a page of the file, which would fill up to 4 KiB there to save as much
    # memory at most. lld does not know output sections that are read-only.
    case $linker in *lld*) ;; *) protection=(-Wl,-z,norelro,-z,common-page-size=64 -T "$support/fixed.ld") ;; esac
  fi
  # A stripped program needs neither the names of its functions, nor the code that looks them up, nor the names of
  # errors, nor data for debuggers.
  if ! is_stripped; then
    link+=("$support/reports.ld")
    if [ "$machine" = linux ]; then link+=("$support/reports-linux.ld"); fi
  elif [ "$machine" = linux ]; then
    link+=(-Wl,-u,janus_late_tasks)  # names the task that kept the program from ending
  fi
  # main is requested at the beginning: it may be in an archive that comes before janus-rt's.
  if [ "$own_start" = 1 ]; then link+=(-Wl,-u,_start -Wl,-u,janus_run_main -Wl,-u,main); fi
  # shellcheck disable=SC2054  # the commas are the linker's
  link+=(-Wl,-z,noexecstack "${protection[@]}" -Wl,-z,now -Wl,--gc-sections -Wl,-z,start-stop-gc
    -T "$support/janus.ld" -T "$support/runtime-text.ld" "${collected[@]}" "$support/settings.ld"
    -Wl,--start-group "$runtime" "$prefix/lib/libjanus_c.a" -lgcc -Wl,--end-group)
}

# Removes a regular file, never a device: scripts use `-o /dev/null` to try options.
remove_output() {
  if [ -f "$1" ]; then rm -f -- "$1" 2>/dev/null; fi
}

link_program() {
  local status=0 result=${output:-a.out} link_language=c
  link_command
  LC_ALL=C run_compiler "$link_language" "${link[@]}" -o "$result" 2>"$scratch/log" || status=$?
  if [ "$status" -ne 0 ]; then
    remove_output "$result"
    report_link
    check_for_signal "$status" "${link[0]}" ''
    exit "$status"
  fi
  cat -- "$scratch/log" >&2
}
