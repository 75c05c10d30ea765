#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prefix_symbols.sh IN OUT: a copy of the archive in which every name begins with jc_, but the linker's own.
set -eu
objcopy --prefix-symbols=jc_ "$1" "$2"
objcopy --redefine-sym jc__GLOBAL_OFFSET_TABLE_=_GLOBAL_OFFSET_TABLE_ "$2"
