// SPDX-License-Identifier: Apache-2.0
// hash_disk: prints the SHA-256 of a file or disk as sha256sum does. Reads it once from beginning to end, and then
// pieces of odd sizes at odd places, which must be the same bytes. Arguments: paths.
#include <bearssl.h>
#include <errno.h>
#include <fcntl.h>
#include <janus/rt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kPieceBytes = 100000, kBlockDevice = 060000, kTypeMask = 0170000 };

// The layout of Linux.
struct kernel_stat {
  unsigned long device, inode, links;
  unsigned mode, user, group, pad;
  unsigned long device_id;
  long bytes, block_bytes, blocks, rest[9];
};

static long read_at(int fd, void* to, long count, long at) {
  return (long)janus_syscall(SYS_pread64, (long)fd, to, count, at);
}

static int fail(const char* path, const char* what) {
  janus_print(2, "%s: %s: errno %d\n", path, what, errno);
  return 1;
}

static int hash(const char* path, int fd, unsigned char* piece) {
  br_sha256_context sha;
  br_sha256_init(&sha);
  long got;
  while ((got = read(fd, piece, kPieceBytes)) > 0) br_sha256_update(&sha, piece, (size_t)got);
  if (got < 0) return fail(path, "read");
  unsigned char digest[br_sha256_SIZE];
  char text[2 * br_sha256_SIZE + 1];
  br_sha256_out(&sha, digest);
  for (int n = 0; n < br_sha256_SIZE; ++n) {
    text[2 * n] = "0123456789abcdef"[digest[n] >> 4];
    text[2 * n + 1] = "0123456789abcdef"[digest[n] & 15];
  }
  text[2 * br_sha256_SIZE] = '\0';
  janus_print(1, "%s  %s\n", text, path);
  return 0;
}

// Each piece must be equal to the same bytes read as two smaller pieces.
static int check_pieces(const char* path, int fd, long bytes, unsigned char* piece) {
  static unsigned char part[kPieceBytes];
  const long sizes[] = {1, 511, 512, 513, 4096, 65537, kPieceBytes};
  for (int n = 0; n < (int)(sizeof sizes / sizeof *sizes); ++n) {
    for (long at = 0; at < bytes; at += bytes / 5 + 1) {
      const long half = sizes[n] / 2, whole = read_at(fd, piece, sizes[n], at);
      if (whole != (bytes - at < sizes[n] ? bytes - at : sizes[n])) return fail(path, "pread");
      const long first = read_at(fd, part, half, at);
      const long second = first < half ? 0 : read_at(fd, part + half, sizes[n] - half, at + half);
      if (first + second != whole || memcmp(piece, part, (size_t)whole) != 0) return fail(path, "another reading");
    }
  }
  return 0;
}

static int hash_path(const char* path) {
  const int fd = open(path, O_RDONLY);
  if (fd < 0) return fail(path, "open");
  struct kernel_stat status;
  const long bytes = lseek(fd, 0, SEEK_END);
  if (janus_syscall(SYS_fstat, (long)fd, &status) != 0 || bytes < 0 || status.bytes != bytes ||
      lseek(fd, 0, SEEK_SET) != 0)
    return fail(path, "size");
  if ((status.mode & kTypeMask) == kBlockDevice && bytes % 512 != 0) return fail(path, "whole sectors");
  if (open(path, O_RDWR) >= 0 || errno != EROFS) return fail(path, "writing");
  unsigned char* const piece = malloc(kPieceBytes);
  if (piece == NULL) return fail(path, "malloc");
  int result = hash(path, fd, piece);
  if (result == 0) result = check_pieces(path, fd, bytes, piece);
  free(piece);
  // A read into unmapped memory must fail with EFAULT.
  if (result == 0 && bytes != 0 && read_at(fd, (void*)8, 10, 0) != -EFAULT) result = fail(path, "bad buffer");
  close(fd);
  return result;
}

int main(int argc, char** argv) {
  for (int n = 1; n < argc; ++n) {
    const int result = hash_path(argv[n]);
    if (result != 0) return result;
  }
  return 0;
}
