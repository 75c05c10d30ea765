#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# own_names.sh IN OUT: makes the archive OUT, which holds all of IN as one object. In it the functions that compilers call
# by themselves (memcpy and the like) have names of the runtime's own: under the usual names the program may have the
# sanitizer's, which would attribute the runtime's own copies to the task that is running.
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
