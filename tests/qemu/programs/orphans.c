// SPDX-License-Identifier: Apache-2.0
// orphans: a child that leaves a child of its own behind. Whoever is the first process inherits the grandchild; none of
// the dead may stay, and the exit of neither is the end of the machine.
#include <janus/rt.h>
#include <sys/syscall.h>

enum { kNoChild = 10, kNotFirst = 3, kExpected = 5 };

int main(void) {
  if (janus_syscall(SYS_getpid) != 1) return kNotFirst;
  if (janus_syscall(SYS_fork) == 0) {
    janus_syscall(SYS_fork);
    janus_exit(0);
  }
  // Waits until all are gone, and then says that there are none to be asked about.
  while (janus_syscall(SYS_wait4, -1, NULL, 0, NULL) != -kNoChild) janus_yield();
  janus_print(1, "nobody is left\n");
  return kExpected;
}
