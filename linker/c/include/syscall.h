// SPDX-License-Identifier: Apache-2.0
// syscall.h: another name of sys/syscall.h.
#include <sys/syscall.h>
