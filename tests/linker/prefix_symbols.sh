#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prefix_symbols.sh IN OUT: copies the archive and gives every name except the linker's own the prefix jc_.
set -eu
objcopy --prefix-symbols=jc_ "$1" "$2"
objcopy --redefine-sym jc__GLOBAL_OFFSET_TABLE_=_GLOBAL_OFFSET_TABLE_ "$2"
