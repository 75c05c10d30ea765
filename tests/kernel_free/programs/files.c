// SPDX-License-Identifier: Apache-2.0
// files: what open, read, lseek and write say of files that can only be read. Arguments: paths.
#include <errno.h>
#include <fcntl.h>
#include <janus/rt.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void show(const char* path) {
  char text[64];
  const int fd = open(path, O_RDONLY);
  if (fd < 0) {
    janus_print(1, "%s: errno %d\n", path, errno);
    return;
  }
  const long got = read(fd, text, sizeof text - 1);
  const int error = got < 0 ? errno : 0;
  text[got < 0 ? 0 : got] = '\0';
  janus_print(1, "%s: %ld '%s' errno %d, end %ld, again %ld\n", path, got, text, error, (long)lseek(fd, 0, SEEK_END),
              (long)read(fd, text, 1));
  close(fd);
}

int main(int argc, char** argv) {
  for (int n = 1; n < argc; ++n) show(argv[n]);
  janus_print(1, "creating: %d\n", open("new", O_CREAT | O_WRONLY, 0644) < 0 ? errno : 0);
  janus_print(1, "closed: %d\n", close(77) < 0 ? errno : 0);
  janus_print(1, "bad buffer: %ld\n",
              (long)janus_syscall(SYS_read, (long)open(argc > 1 ? argv[1] : "", O_RDONLY), 8L, 4L));
  janus_print(1, "unknown: %ld\n", (long)janus_syscall(9999));
  return 0;
}
