// SPDX-License-Identifier: Apache-2.0
// stop: exits by a system call, without the runtime. The kernel panics if the first process does that.
#include <janus/rt.h>
#include <sys/syscall.h>

int main(void) {
  janus_print(1, "here\n");
  return (int)janus_syscall(SYS_exit_group, 0);
}
