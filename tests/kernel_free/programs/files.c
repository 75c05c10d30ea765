// SPDX-License-Identifier: Apache-2.0
// files: the results of open, read, lseek and write on read-only files. Arguments: paths.
#include <errno.h>
#include <fcntl.h>
#include <janus/rt.h>
#include <string.h>
#include <sys/stat.h>
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

// Prints what reading gives, what a write, a bad buffer and a listing answer, and whether it is a character device.
static void show_device(const char* path) {
  struct {
    uint64_t before[3];
    uint32_t mode, behind[29];
  } status = {{0}, 0, {0}};
  unsigned char byte = 1;
  const int fd = open(path, O_RDWR);
  const long got = read(fd, &byte, 1), put = write(fd, "text", 4);
  const long bad = janus_syscall(SYS_read, (long)fd, 8L, 4L), entries = janus_syscall(SYS_getdents64, (long)fd, 8L, 4L);
  const int is_device = janus_syscall(SYS_fstat, (long)fd, &status) == 0 && S_ISCHR(status.mode);
  const int same = janus_syscall(SYS_newfstatat, (long)AT_FDCWD, path, &status, 0L) == 0 && S_ISCHR(status.mode);
  janus_print(1, "%s: read %ld %d, wrote %ld, bad buffer %ld, entries %ld, device %d %d, below it %d\n", path, got,
              byte, put, bad, entries, is_device, same, openat(fd, "x", O_RDONLY) < 0 ? errno : 0);
  close(fd);
}

// A caller must not leave the direction flag set; if it does, only its own write may be affected.
static long write_with_direction(void) {
  __asm__ volatile("std" : : : "cc", "memory");
  const long put = (long)janus_write(1, "forwards\n", 9);
  __asm__ volatile("cld" : : : "cc", "memory");
  return put;
}

int main(int argc, char** argv) {
  for (int n = 1; n < argc; ++n) show(argv[n]);
  janus_print(1, "creating: %d\n", open("new", O_CREAT | O_WRONLY, 0644) < 0 ? errno : 0);
  janus_print(1, "closed: %d\n", close(77) < 0 ? errno : 0);
  janus_print(1, "bad buffer: %ld\n",
              (long)janus_syscall(SYS_read, (long)open(argc > 1 ? argv[1] : "", O_RDONLY), 8L, 4L));
  show_device("/dev/null");
  show_device("/dev/zero");
  const long null = open("/dev/null", O_RDONLY);
  char byte;
  janus_print(1, "with the direction flag: %ld\n", write_with_direction());
  janus_print(1, "beyond all addresses: %ld %ld, of the machine's %ld, no name %ld\n",
              (long)janus_syscall(SYS_write, 1L, "x", -1L), (long)janus_syscall(SYS_read, null, &byte, -1L),
              (long)janus_syscall(SYS_write, 1L, -4096L, 1L), (long)janus_syscall(SYS_openat, (long)AT_FDCWD, "", 0L));
  janus_print(1, "unknown: %ld\n", (long)janus_syscall(9999));
  return 0;
}
