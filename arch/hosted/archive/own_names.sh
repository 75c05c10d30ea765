#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# own_names.sh IN OUT: an archive of one object, all of IN, in which what compilers call by themselves has names of our own.
# The program's are the sanitizer's, which would take what the runtime copies for itself for the doing of whichever task
# runs.
set -eu
object=$2.o
trap 'rm -f "$object"' EXIT
ld -r --whole-archive "$1" -o "$2.o"
for name in memcpy memmove memset memcmp bcmp strlen; do
  set -- "$@" --redefine-sym "$name=janus_own_$name"
done
out=$2
shift 2
objcopy "$@" "$out.o"
rm -f "$out"
ar rcsD "$out" "$out.o"
