// SPDX-License-Identifier: Apache-2.0
// orphans: a child process ends and leaves a child of its own. The first process inherits that grandchild. No zombie
// may stay, and neither exit may end the machine.
#include <janus/rt.h>
#include <sys/syscall.h>

enum { kNoChild = 10, kNotFirst = 3, kExpected = 5 };

int main(void) {
  if (janus_syscall(SYS_getpid) != 1) return kNotFirst;
  if (janus_syscall(SYS_fork) == 0) {
    janus_syscall(SYS_fork);
    janus_exit(0);
  }
  // Waits until the kernel reports that there are no more children.
  while (janus_syscall(SYS_wait4, -1, NULL, 0, NULL) != -kNoChild) janus_yield();
  janus_print(1, "nobody is left\n");
  return kExpected;
}
