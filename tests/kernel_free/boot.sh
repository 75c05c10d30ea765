#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# boot.sh JANUS_QEMU ARGUMENTS... — boots an image that speaks TAP; where there is no QEMU, one skipped test says so.
command -v qemu-system-x86_64 >/dev/null || { echo '1..0 # SKIP qemu-system-x86_64 is missing'; exit 0; }
exec "$@"
