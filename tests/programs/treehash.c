// SPDX-License-Identifier: Apache-2.0
// treehash [DIR]: prints the SHA-256 of every regular file below DIR, like `find DIR -type f -print0 | LC_ALL=C sort -z
// | xargs -0 sha256sum`. There is a task for each directory and one for each file; a directory's task awaits a nursery
// with the tasks of its entries. What cannot be read is reported on stderr, the rest is hashed nevertheless, and the
// status is 1.
// docs/decisions/0052
#include <bearssl.h>
#include <janus/rt.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// ---- System calls, on x86_64 ----------------------------------------------------------------------------------------

enum {
  kReadCall = 0,
  kCloseCall = 3,
  kFstatCall = 5,
  kIoctlCall = 16,
  kGetdentsCall = 217,
  kOpenatCall = 257,
  kNewfstatatCall = 262,
  kPrlimitCall = 302,
};
enum { kHere = -100, kNoFollow = 0x100 };  // AT_FDCWD, AT_SYMLINK_NOFOLLOW
enum {
  kDirectoryOnly = 00200000,  // O_DIRECTORY, O_NOFOLLOW, O_CLOEXEC, O_NONBLOCK, O_PATH
  kNoLink = 00400000,
  kCloseOnExec = 02000000,
  kNoWait = 00004000,
  kPathOnly = 010000000,
};
enum { kTypeMask = 0170000, kTypeRegular = 0100000, kTypeDirectory = 0040000 };  // of st_mode
enum { kListedUnknown = 0, kListedDirectory = 4, kListedRegular = 8 };           // of d_type
enum { kInterrupted = -4, kOpenFilesLimit = 7, kGetTerminal = 0x5401 };          // -EINTR, RLIMIT_NOFILE, TCGETS

struct kernel_stat {
  uint64_t device, inode, links;
  uint32_t mode;
  uint8_t rest[116];
};

struct kernel_dirent {
  uint64_t inode;
  int64_t offset;
  uint16_t length;
  uint8_t type;
  char name[];
};

static const char* reason(int64_t error) {
  switch (-error) {
    case 1:
      return "Operation not permitted";
    case 2:
      return "No such file or directory";
    case 5:
      return "Input/output error";
    case 6:
      return "No such device or address";
    case 12:
      return "Cannot allocate memory";
    case 13:
      return "Permission denied";
    case 20:
      return "Not a directory";
    case 23:
      return "Too many open files in system";
    case 24:
      return "Too many open files";
    case 28:
      return "No space left on device";
    case 32:
      return "Broken pipe";
    case 36:
      return "File name too long";
    case 40:
      return "Too many levels of symbolic links";
    case 116:
      return "Stale file handle";
    default:
      return NULL;
  }
}

// ---- The tree -------------------------------------------------------------------------------------------------------

enum { kDigestBytes = br_sha256_SIZE, kPieceBytes = 64 * 1024, kPathBytes = 4096 };

struct entry {
  struct entry* parent;
  struct entry* next;      // the next one in its directory, sorted
  struct entry* children;  // if it is a directory
  uint8_t is_directory;
  uint8_t is_hashed;
  uint8_t digest[kDigestBytes];
  size_t name_length;
  char name[];
};

static struct entry* new_entry(struct entry* parent, const char* name, int is_directory) {
  const size_t length = strlen(name);
  struct entry* entry = janus_alloc(sizeof *entry + length + 1);
  if (!entry) return NULL;
  memset(entry, 0, sizeof *entry);
  entry->parent = parent;
  entry->is_directory = (uint8_t)is_directory;
  entry->name_length = length;
  memcpy(entry->name, name, length + 1);
  return entry;
}

// find adds no slash to a DIR that ends in one, so this program does not either.
static int needs_slash(const struct entry* directory) {
  return directory->name_length == 0 || directory->name[directory->name_length - 1] != '/';
}

static size_t path_length(const struct entry* entry) {
  size_t length = entry->name_length;
  for (const struct entry* up = entry->parent; up; up = up->parent) length += up->name_length + (size_t)needs_slash(up);
  return length;
}

// The path as find prints it, of any length. The caller frees it.
static char* path_of(const struct entry* entry) {
  char* path = janus_alloc(path_length(entry) + 1);
  if (!path) return NULL;
  char* at = path + path_length(entry);
  *at = 0;
  for (const struct entry* part = entry; part; part = part->parent) {
    if (part != entry && needs_slash(part)) *--at = '/';
    at -= part->name_length;
    memcpy(at, part->name, part->name_length);
  }
  return path;
}

// The order of whole paths, bytewise: entries of the directory `a` sort as `a/...`, so they come after `a.b`.
static int by_path(const void* left, const void* right) {
  const struct entry *const a = *(struct entry*const*)left, *const b = *(struct entry*const*)right;
  const size_t common = a->name_length < b->name_length ? a->name_length : b->name_length;
  const int order = memcmp(a->name, b->name, common);
  if (order) return order;
  const int after_a = a->name_length > common ? (uint8_t)a->name[common] : a->is_directory ? '/' : -1;
  const int after_b = b->name_length > common ? (uint8_t)b->name[common] : b->is_directory ? '/' : -1;
  return after_a - after_b;
}

// ---- What all tasks share -------------------------------------------------------------------------------------------

// Buffers that are passed round. Only a task that has a buffer holds a file open, so the buffers bound both memory and
// open files. A task with a buffer waits for nothing else, so nobody waits for ever.
static janus_channel* pieces;

static struct {
  uint64_t files, bytes, failures, next_line_ns;
  int on_terminal, is_shown;
} progress;

static void report(const struct entry* entry, int64_t error) {
  char* path = path_of(entry);
  const char* name = path ? path : entry->name;
  const char* why = reason(error);
  const char* clear = progress.is_shown ? "\r\033[K" : "";
  if (why)
    janus_print(2, "%streehash: %.3900s: %s\n", clear, name, why);
  else
    janus_print(2, "%streehash: %.3900s: error %lld\n", clear, name, (long long)-error);
  janus_free(path);
  __atomic_fetch_add(&progress.failures, 1, __ATOMIC_RELAXED);
}

// One line on the terminal, rewritten ten times a second by whichever task finishes a file.
static void show_progress(uint64_t bytes) {
  const uint64_t files = __atomic_add_fetch(&progress.files, 1, __ATOMIC_RELAXED);
  const uint64_t all_bytes = __atomic_add_fetch(&progress.bytes, bytes, __ATOMIC_RELAXED);
  if (!progress.on_terminal) return;
  const uint64_t now = janus_now_ns();
  uint64_t due = __atomic_load_n(&progress.next_line_ns, __ATOMIC_RELAXED);
  if (now < due || !__atomic_compare_exchange_n(&progress.next_line_ns, &due, now + 100000000, 0, __ATOMIC_RELAXED,
                                                __ATOMIC_RELAXED))
    return;
  progress.is_shown = 1;
  janus_print(2, "\r\033[K%llu files, %llu MB", (unsigned long long)files, (unsigned long long)(all_bytes / 1000000));
}

// ---- Opening --------------------------------------------------------------------------------------------------------

static int64_t open_at(int64_t directory, const char* path, long flags) {
  int64_t fd;
  do fd = janus_syscall(kOpenatCall, directory, path, flags | kCloseOnExec, 0L);
  while (fd == kInterrupted);
  return fd;
}

static void close_fd(int64_t fd) {
  if (fd >= 0) janus_syscall(kCloseCall, fd);
}

// Opens a path of any length: one that is too long for the kernel is opened in steps. Modifies `path`.
static int64_t open_long(char* path, long flags) {
  int64_t base = kHere;
  size_t left = strlen(path);
  while (left >= kPathBytes) {
    char* cut = path + kPathBytes - 1;
    while (*cut != '/') --cut;
    *cut = 0;
    const int64_t next = open_at(base, path, kPathOnly | kDirectoryOnly);
    close_fd(base);
    if (next < 0) return next;
    base = next;
    left -= (size_t)(cut + 1 - path);
    path = cut + 1;
  }
  const int64_t fd = open_at(base, path, flags);
  close_fd(base);
  return fd;
}

static int64_t open_entry(const struct entry* entry, long flags) {
  char* path = path_of(entry);
  if (!path) return -12;
  const int64_t fd = open_long(path, flags);
  janus_free(path);
  return fd;
}

// ---- A file's task --------------------------------------------------------------------------------------------------

static int is_regular(int64_t fd) {
  struct kernel_stat status;
  return janus_syscall(kFstatCall, fd, &status) == 0 && (status.mode & kTypeMask) == kTypeRegular;
}

// Returns 0, or the error of the read. A cancelled task leaves the file without a hash; then main prints nothing.
static int64_t hash_contents(struct entry* file, int64_t fd, uint8_t* piece) {
  br_sha256_context sha;
  br_sha256_init(&sha);
  uint64_t bytes = 0;
  for (;;) {
    const int64_t got = janus_syscall(kReadCall, fd, piece, (long)kPieceBytes);
    if (got == kInterrupted) continue;
    if (got < 0) return got;
    if (got == 0) break;
    br_sha256_update(&sha, piece, (size_t)got);
    bytes += (uint64_t)got;
    if (janus_yield_check(1 + (uint32_t)got / 64) < 0) return 0;
  }
  br_sha256_out(&sha, file->digest);
  file->is_hashed = 1;
  show_progress(bytes);
  return 0;
}

static int64_t hash_file(void* arg) {
  struct entry* file = arg;
  uint8_t* piece;
  if (janus_channel_recv(pieces, &piece) < 0) return JANUS_CANCELLED;
  // Does not block if the file has become a FIFO since it was listed, and does not follow a link.
  int64_t fd = open_entry(file, kNoLink | kNoWait);
  int64_t error = fd < 0 ? fd : 0;
  if (fd >= 0 && is_regular(fd)) error = hash_contents(file, fd, piece);
  close_fd(fd);
  janus_channel_try_send(pieces, &piece);
  if (error < 0) report(file, error);
  return 0;
}

// ---- A directory's task ---------------------------------------------------------------------------------------------

struct listing {
  struct entry** entries;
  size_t count, capacity;
};

static int append(struct listing* list, struct entry* entry) {
  if (list->count == list->capacity) {
    const size_t capacity = list->capacity ? 2 * list->capacity : 32;
    struct entry** entries = janus_realloc(list->entries, capacity * sizeof *entries);
    if (!entries) return -12;
    list->entries = entries;
    list->capacity = capacity;
  }
  list->entries[list->count++] = entry;
  return 0;
}

// The file type bits of a name in an open directory; 0 if there are none.
static uint32_t mode_at(int64_t directory, const char* name) {
  struct kernel_stat status;
  if (janus_syscall(kNewfstatatCall, directory, name, &status, (long)kNoFollow) < 0) return 0;
  return status.mode & kTypeMask;
}

static int64_t add_listed(struct listing* list, struct entry* directory, int64_t fd,
                          const struct kernel_dirent* found) {
  const char* name = found->name;
  if (!strcmp(name, ".") || !strcmp(name, "..")) return 0;
  const uint32_t mode = found->type == kListedUnknown     ? mode_at(fd, name)
                        : found->type == kListedDirectory ? kTypeDirectory
                        : found->type == kListedRegular   ? kTypeRegular
                                                          : 0;
  if (mode != kTypeDirectory && mode != kTypeRegular) return 0;
  struct entry* entry = new_entry(directory, name, mode == kTypeDirectory);
  if (!entry) return -12;
  const int error = append(list, entry);
  if (error) janus_free(entry);
  return error;
}

static int64_t list_open(struct listing* list, struct entry* directory, int64_t fd, uint8_t* piece) {
  for (;;) {
    const int64_t got = janus_syscall(kGetdentsCall, fd, piece, (long)kPieceBytes);
    if (got == kInterrupted) continue;
    if (got <= 0) return got;
    for (int64_t at = 0; at < got;) {
      const struct kernel_dirent* found = (const struct kernel_dirent*)(piece + at);
      const int64_t error = add_listed(list, directory, fd, found);
      if (error) return error;
      at += found->length;
    }
    if (janus_yield_check(1 + (uint32_t)got / 64) < 0) return 0;
  }
}

// Fills directory->children in order. Entries found before an error are kept.
static int64_t list_directory(struct entry* directory, uint8_t* piece) {
  // DIR itself may be a link with a slash at the end; links below it are not followed.
  int64_t fd = open_entry(directory, kDirectoryOnly | (directory->parent ? kNoLink : 0));
  if (fd < 0) return fd;
  struct listing list = {0};
  const int64_t error = list_open(&list, directory, fd, piece);
  close_fd(fd);
  if (list.count) qsort(list.entries, list.count, sizeof *list.entries, by_path);
  for (size_t i = list.count; i-- > 0;) {
    list.entries[i]->next = directory->children;
    directory->children = list.entries[i];
  }
  janus_free(list.entries);
  return error;
}

static int64_t walk(void* arg) {
  struct entry* directory = arg;
  uint8_t* piece;
  if (janus_channel_recv(pieces, &piece) < 0) return JANUS_CANCELLED;
  const int64_t error = list_directory(directory, piece);
  janus_channel_try_send(pieces, &piece);
  if (error < 0) report(directory, error);

  const janus_spawn_options detached = {.flags = JANUS_SPAWN_DETACHED};
  const janus_nursery_options collect = {.on_error = JANUS_ON_ERROR_COLLECT};
  janus_nursery* nursery = janus_nursery_open(NULL, &collect);
  for (struct entry* entry = directory->children; entry && !janus_cancelled(); entry = entry->next) {
    const janus_task_fn fn = entry->is_directory ? walk : hash_file;
    // Without memory or budget for another task, this task does the work itself.
    if (!janus_nursery_spawn_in(nursery, fn, entry, &detached).raw) fn(entry);
  }
  const long result = nursery ? janus_nursery_await(nursery, NULL) : 0;
  janus_nursery_destroy(nursery);
  return result;
}

// ---- Output ---------------------------------------------------------------------------------------------------------

static struct {
  size_t used;
  int64_t error;
  char bytes[64 * 1024];
} output;

static void flush(void) {
  if (output.used && !output.error) output.error = janus_write(1, output.bytes, output.used);
  output.used = 0;
}

static void put(char c) {
  if (output.used == sizeof output.bytes) flush();
  output.bytes[output.used++] = c;
}

static const char* escape_of(char c) {
  return c == '\n' ? "\\n" : c == '\r' ? "\\r" : c == '\\' ? "\\\\" : NULL;
}

// As in sha256sum: a line whose name had to be escaped begins with a backslash.
static void put_line(const uint8_t* digest, const char* path) {
  if (strchr(path, '\n') || strchr(path, '\r') || strchr(path, '\\')) put('\\');
  for (int i = 0; i < kDigestBytes; ++i) {
    put("0123456789abcdef"[digest[i] >> 4]);
    put("0123456789abcdef"[digest[i] & 15]);
  }
  put(' ');
  put(' ');
  for (; *path; ++path) {
    const char* escaped = escape_of(*path);
    if (!escaped) {
      put(*path);
    } else {
      put(escaped[0]);
      put(escaped[1]);
    }
  }
  put('\n');
}

// For an empty list xargs runs its command once, and sha256sum then hashes its empty standard input.
static void put_nothing(void) {
  uint8_t digest[kDigestBytes];
  br_sha256_context sha;
  br_sha256_init(&sha);
  br_sha256_out(&sha, digest);
  put_line(digest, "-");
}

static struct entry* after(struct entry* entry) {
  while (entry && !entry->next) entry = entry->parent;
  return entry ? entry->next : NULL;
}

// Prints in order and without recursion, since trees may be deeper than stacks.
static void put_tree(struct entry* root) {
  uint32_t counter = 0;
  int is_empty = 1;
  for (struct entry* entry = root; entry && JANUS_LOOP_CHECK(counter) == 0;
       entry = entry->children ? entry->children : after(entry)) {
    is_empty &= entry->is_directory;
    if (!entry->is_hashed) continue;
    char* path = path_of(entry);
    if (path)
      put_line(entry->digest, path);
    else
      report(entry, -12);
    janus_free(path);
  }
  JANUS_LOOP_END(counter);
  if (is_empty) put_nothing();
}

static void summary(uint64_t began_ns) {
  janus_stats stats = {.size = sizeof stats};
  janus_rt_stats(NULL, &stats);
  const uint64_t us = (janus_now_ns() - began_ns) / 1000 + 1;
  janus_print(2,
              "%streehash: %llu files, %llu bytes, %llu tasks, %llu steals, %llu workers, %llu ops of budget, "
              "%llu.%03llu s, %llu MB/s\n",
              progress.is_shown ? "\r\033[K" : "", (unsigned long long)progress.files,
              (unsigned long long)progress.bytes, (unsigned long long)stats.tasks_spawned,
              (unsigned long long)stats.steals, (unsigned long long)stats.workers, (unsigned long long)stats.ops_used,
              (unsigned long long)(us / 1000000), (unsigned long long)(us / 1000 % 1000),
              (unsigned long long)(progress.bytes / us));
}

// ---- main -----------------------------------------------------------------------------------------------------------

// As many buffers as files may be open at once, with some to spare; at most 64.
static int make_pieces(void) {
  uint64_t limit[2] = {256, 256};
  janus_syscall(kPrlimitCall, 0L, (long)kOpenFilesLimit, NULL, limit);
  const uint64_t count = limit[0] < 16 ? 1 : limit[0] < 144 ? limit[0] / 2 - 7 : 64;
  pieces = janus_channel_create(sizeof(uint8_t*), count);
  for (uint64_t i = 0; pieces && i < count; ++i) {
    uint8_t* piece = janus_alloc(kPieceBytes);
    if (piece) janus_channel_try_send(pieces, &piece);
    if (!piece && i == 0) return -12;
  }
  return pieces ? 0 : -12;
}

static int64_t start(struct entry* root) {
  struct kernel_stat status;
  const int64_t error = janus_syscall(kNewfstatatCall, (long)kHere, root->name, &status, (long)kNoFollow);
  const uint32_t type = error < 0 ? 0 : status.mode & kTypeMask;
  root->is_directory = type != kTypeRegular;
  if (error < 0) report(root, error);
  if (type == kTypeDirectory) return walk(root);
  return type == kTypeRegular ? hash_file(root) : 0;
}

int main(int argc, char** argv) {
  if (argc > 2) {
    janus_print(2, "usage: treehash [DIR]\n");
    return 2;
  }
  uint8_t terminal[64];
  progress.on_terminal = janus_syscall(kIoctlCall, 2L, (long)kGetTerminal, terminal) == 0;
  const uint64_t began_ns = janus_now_ns();
  static struct entry* root;  // lives until the end of the process
  root = new_entry(NULL, argc == 2 ? argv[1] : ".", 0);
  if (!root || make_pieces() < 0) {
    janus_print(2, "treehash: %s\n", reason(-12));
    return 1;
  }

  const int64_t result = start(root);
  if (janus_cancelled()) return JANUS_CANCELLED;
  if (result < 0) janus_print(2, "treehash: a task ended before its work (%lld)\n", (long long)result);
  put_tree(root);
  flush();
  if (output.error) janus_print(2, "treehash: standard output: %s\n", reason(output.error));
  summary(began_ns);
  return progress.failures || output.error || result < 0 ? 1 : 0;
}
