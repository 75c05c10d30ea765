// SPDX-License-Identifier: Apache-2.0
// given: prints, one per line, its process id, its arguments, and the JANUS_ part of its environment.
#include <janus/rt.h>
#include <string.h>
#include <sys/syscall.h>

int main(int argc, char** argv, char** envp) {
  janus_print(1, "pid %lld\n", (long long)janus_syscall(SYS_getpid));
  for (int i = 0; i < argc; ++i) janus_print(1, "argument <%s>\n", argv[i]);
  for (; *envp; ++envp)
    if (!strncmp(*envp, "JANUS_", 6)) janus_print(1, "setting <%s>\n", *envp);
  return 0;
}
