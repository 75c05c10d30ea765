// SPDX-License-Identifier: Apache-2.0
// files.cpp — Linux's system calls that read files: openat, read, pread64, lseek, fstat, newfstatat, getdents64, close,
// and write to the console. They have Linux's numbers and layouts, so that a program uses them in the same way on both
// machines. Names are resolved in names.cpp. A caller's memory is accessed only by careful_copy.h.
#include "kernel-free/files/files.h"

#include <atomic>

#include "kernel-free/console/dump.h"
#include "kernel-free/cpu/assert.h"
#include "kernel-free/devices/errors.h"
#include "kernel-free/devices/output.h"
#include "kernel-free/files/names.h"
#include "kernel-free/memory/frames.h"
#include "kernel-free/smp/lock.h"
#include "kernel-free/traps/careful_copy.h"
#include "rt/platform.h"

namespace janus::bare {
namespace {

enum Number : long {
  kRead = 0,
  kWrite = 1,
  kClose = 3,
  kFstat = 5,
  kLseek = 8,
  kIoctl = 16,
  kPread = 17,
  kGetdents = 217,
  kOpenat = 257,
  kNewfstatat = 262,
};
// --- Descriptors: 0 has no input, 1 and 2 write to the console, the rest are open files. ---

// kNone --open--> any other kind --close--> kNone, both under g_files_lock; nothing else changes `ref`.
// If a program closes a file while another thread reads it, that read may move the offset of the file that is
// opened next with the same descriptor.
struct File {
  std::atomic<FileRef> ref;           // kNone: closed
  std::atomic<std::uint64_t> offset;  // in bytes; for a directory the node at which the next search begins
};
static_assert(std::atomic<FileRef>::is_always_lock_free);
constexpr long kFirstFile = 3, kFiles = 1024;
File g_files[kFiles]{};
Lock g_files_lock;  // protects opening and closing

// The file that a descriptor refers to; kind kNone if the descriptor is not open. The result stays usable after the
// file is closed: nodes and disks are never freed.
FileRef ref_of(long fd) {
  if (fd < kFirstFile || fd >= kFiles) return {};
  return g_files[fd].ref.load(std::memory_order_acquire);  // pairs with open_ref()
}

bool is_open(const FileRef& ref) {
  return ref.kind != FileRef::Kind::kNone;
}

bool is_console(long fd) {
  return fd >= 0 && fd < kFirstFile;
}

long open_ref(const FileRef& ref) {
  BARE_ASSERT(is_open(ref));
  BARE_ASSERT(ref.kind != FileRef::Kind::kNode || ref.number < g_archive.count());
  LockGuard guard(g_files_lock);
  for (long fd = kFirstFile; fd < kFiles; ++fd) {
    File& file = g_files[fd];
    if (is_open(file.ref.load(std::memory_order_relaxed))) continue;
    file.offset.store(0, std::memory_order_relaxed);
    file.ref.store(ref, std::memory_order_release);
    return fd;
  }
  return kEMFILE;
}

long close_file(long fd) {
  if (is_console(fd)) return 0;
  LockGuard guard(g_files_lock);
  if (!is_open(ref_of(fd))) return kEBADF;
  g_files[fd].ref.store({}, std::memory_order_relaxed);
  return 0;
}

// Whether the range is in the programs' half of the address space, mapped or not, which Linux checks first.
bool is_users(const void* begin, std::size_t bytes) {
  constexpr std::uint64_t kEnd = std::uint64_t{1} << 47;
  return bytes <= kEnd && reinterpret_cast<std::uint64_t>(begin) <= kEnd - bytes;
}

// The directory at which a relative path begins: the root, or an open directory; kNone: the descriptor is invalid.
FileRef start_of(long directory) {
  constexpr int kHere = -100;  // AT_FDCWD: the root, which is the only working directory
  return static_cast<int>(directory) == kHere ? kRoot : ref_of(static_cast<int>(directory));
}

Resolved resolve_at(long directory, const char* path) {
  char first;
  if (!copy_carefully(&first, path, 1)) return {kEFAULT, {}};
  if (first == '\0') return {kENOENT, {}};
  const FileRef start = first == '/' ? kRoot : start_of(directory);
  return is_open(start) ? resolve(start, path) : Resolved{kEBADF, {}};
}

// --- Calls ---

long open_at(long directory, const char* text, long flags) {
  constexpr long kAccess = 3, kCreate = 0100, kMustBeDirectory = 0200000;
  const auto [error, ref] = resolve_at(directory, text);
  if (error == kENOENT && (flags & kCreate) != 0) return kEROFS;
  if (error != 0) return error;
  const std::uint32_t type = type_of(ref);
  if (type == Node::kLink) return kELOOP;
  if ((flags & kMustBeDirectory) != 0 && type != Node::kDirectory) return kENOTDIR;
  if ((flags & kAccess) != 0 && !ref.is_null_or_zero()) return type == Node::kDirectory ? kEISDIR : kEROFS;
  return open_ref(ref);
}

long read_zeroes(char* to, std::size_t count) {
  static constexpr char kZeroes[512] = {};
  for (std::size_t at = 0; at < count; at += sizeof kZeroes)
    if (!copy_carefully(to + at, kZeroes, count - at < sizeof kZeroes ? count - at : sizeof kZeroes)) return kEFAULT;
  return static_cast<long>(count);
}

long read_node(const Node& node, char* to, std::size_t count, std::uint64_t offset) {
  if (node.type() == Node::kDirectory) return kEISDIR;
  if (offset >= node.bytes) return 0;
  const std::size_t got = count < node.bytes - offset ? count : node.bytes - offset;
  return copy_carefully(to, node.data + offset, got) ? static_cast<long>(got) : kEFAULT;
}

long read_at(const FileRef& ref, char* to, std::size_t count, std::uint64_t offset) {
  if (!is_users(to, count)) return kEFAULT;
  switch (ref.kind) {
    case FileRef::Kind::kNode:
      return read_node(g_archive[ref.number], to, count, offset);
    case FileRef::Kind::kDisk:
      return read_disk(disk_at(ref.number), to, count, offset);
    case FileRef::Kind::kZero:
      return read_zeroes(to, count);
    default:
      return 0;
  }
}

long read(long fd, char* to, std::size_t count) {
  if (is_console(fd)) return 0;  // the console has no input
  const FileRef ref = ref_of(fd);
  if (!is_open(ref)) return kEBADF;
  std::atomic<std::uint64_t>& place = g_files[fd].offset;
  const std::uint64_t offset = place.load(std::memory_order_relaxed);
  const long got = read_at(ref, to, count, offset);
  if (got > 0) place.store(offset + static_cast<std::uint64_t>(got), std::memory_order_relaxed);
  return got;
}

long seek(long fd, long distance, long from) {
  if (is_console(fd)) return kESPIPE;
  const FileRef ref = ref_of(fd);
  if (!is_open(ref)) return kEBADF;
  if (ref.is_null_or_zero()) return 0;
  std::atomic<std::uint64_t>& place = g_files[fd].offset;
  const long base = from == 0   ? 0
                    : from == 1 ? static_cast<long>(place.load(std::memory_order_relaxed))
                                : static_cast<long>(size_of(ref));
  long to;
  if (from < 0 || from > 2 || __builtin_add_overflow(base, distance, &to) || to < 0) return kEINVAL;
  place.store(static_cast<std::uint64_t>(to), std::memory_order_relaxed);
  return to;
}

struct Status {
  std::uint64_t device, inode, links;
  std::uint32_t mode, user, group, pad;
  std::uint64_t device_id;
  std::int64_t bytes, block_bytes, blocks;
  std::int64_t times[6];
  std::int64_t unused[3];
};
static_assert(sizeof(Status) == 144);

// The fields that are alike for files and devices of all kinds.
Status plain_status(std::uint32_t mode, std::uint64_t id, std::uint64_t bytes) {
  Status status{};
  status.links = 1;
  status.mode = mode;
  status.device_id = id;
  status.bytes = static_cast<std::int64_t>(bytes);
  status.block_bytes = 4096;
  status.blocks = static_cast<std::int64_t>((bytes + 511) / 512);
  return status;
}

Status status_of_node(const Node& node) {
  Status status = plain_status(node.mode, 0, node.bytes);
  status.device = 1;
  status.inode = node.inode;
  status.links = node.links;
  for (unsigned n = 0; n < 6; n += 2) status.times[n] = node.modified;
  return status;
}

// Devices have Linux's numbers. Linux reports 0 bytes for a disk; here its size is reported, as by lseek.
Status status_of_ref(const FileRef& ref) {
  constexpr std::uint64_t kNullId = 0x103, kZeroId = 0x105, kFirstDiskId = 254 << 8, kIdsOfDisk = 16;
  if (ref.kind == FileRef::Kind::kNode) return status_of_node(g_archive[ref.number]);
  if (ref.kind == FileRef::Kind::kDisk)
    return plain_status(Node::kBlockDevice | 0400, kFirstDiskId + ref.number * kIdsOfDisk, size_of(ref));
  return plain_status(Node::kCharacterDevice | 0666, ref.kind == FileRef::Kind::kNull ? kNullId : kZeroId, 0);
}

long give_status(const Status& status, void* to) {
  return copy_carefully(to, &status, sizeof status) ? 0 : kEFAULT;
}

long status_of(long fd, void* to) {
  if (is_console(fd)) return give_status(plain_status(Node::kCharacterDevice | 0620, 0, 0), to);
  const FileRef ref = ref_of(fd);
  return is_open(ref) ? give_status(status_of_ref(ref), to) : kEBADF;
}

long status_at(long directory, const char* text, void* to, long flags) {
  constexpr long kEmptyPath = 0x1000, kNoFollow = 0x100;
  char first;
  if (!copy_carefully(&first, text, 1)) return kEFAULT;
  if (first == '\0') return (flags & kEmptyPath) != 0 ? status_of(static_cast<int>(directory), to) : kENOENT;
  const auto [error, ref] = resolve_at(directory, text);
  if (error != 0) return error;
  if (type_of(ref) == Node::kLink && (flags & kNoFollow) == 0) return kELOOP;
  return give_status(status_of_ref(ref), to);
}

struct [[gnu::packed]] DirectoryEntry {
  std::uint64_t inode, offset;
  std::uint16_t bytes;
  std::uint8_t type;
  char name[256];
};

std::uint16_t fill_entry(DirectoryEntry& entry, std::size_t node) {
  const Name name = g_archive.name_of(node);
  const std::size_t length = name.bytes < sizeof entry.name - 1 ? name.bytes : sizeof entry.name - 1;
  entry.inode = g_archive[node].inode;
  entry.type = static_cast<std::uint8_t>(g_archive[node].type() >> 12);
  copy_bytes(entry.name, name.text, length);
  entry.name[length] = '\0';
  entry.bytes = static_cast<std::uint16_t>((19 + length + 1 + 7) & ~std::size_t{7});
  return entry.bytes;
}

long give_entries(long fd, char* to, std::size_t room) {
  const FileRef ref = ref_of(fd);
  if (!is_open(ref)) return kEBADF;
  if (type_of(ref) != Node::kDirectory) return kENOTDIR;
  const std::size_t directory = ref.number;
  std::atomic<std::uint64_t>& place = g_files[fd].offset;
  const std::uint64_t given = place.load(std::memory_order_relaxed);
  std::size_t used = 0;
  std::size_t from = given != 0 ? given : directory + 1;
  for (std::size_t node; (node = g_archive.next_in(directory, from)) != g_archive.count();) {
    DirectoryEntry entry;
    const std::uint16_t bytes = fill_entry(entry, node);
    if (used + bytes > room) break;
    from = node + 1;
    entry.offset = from;
    if (!copy_carefully(to + used, &entry, bytes)) return kEFAULT;
    used += bytes;
    place.store(from, std::memory_order_relaxed);
  }
  const bool is_too_small = used == 0 && g_archive.next_in(directory, from) != g_archive.count();
  return is_too_small ? kEINVAL : static_cast<long>(used);
}

}  // namespace

void open_initrd(Range initrd) noexcept {
  if (initrd.is_empty()) return;
  switch (g_archive.open(at_physical<const char>(initrd.begin), initrd.end - initrd.begin)) {
    case Archive::Opened::kYes:
      return;
    case Archive::Opened::kDamaged:
      refuse("the initrd is no whole cpio archive (newc)");
    case Archive::Opened::kNoMemory:
      refuse("no memory for the initrd's index");
  }
}

}  // namespace janus::bare

namespace janus::platform {

using namespace janus::bare;

// The console takes all output in a bounded time, so no wait needs the time limit.
long write(int fd, const void* bytes, std::size_t count, std::uint64_t) noexcept {
  const bool is_output = fd == 1 || fd == 2;
  if (!is_output && !ref_of(fd).is_null_or_zero()) return kEBADF;
  if (!is_users(bytes, count)) return kEFAULT;
  if (!is_output) return static_cast<long>(count);
  const std::size_t printed = write_out(static_cast<const char*>(bytes), count);
  return printed == 0 && count != 0 ? kEFAULT : static_cast<long>(printed);
}

// So there are no waits for room, and no bells.
int open_bell() noexcept {
  return static_cast<int>(kENOSYS);
}
void ring_bell(int) noexcept {}
void close_bell(int) noexcept {}
bool wait_for_room(Descriptor*, unsigned) noexcept {
  return false;
}

long syscall(long nr, const long (&args)[6]) noexcept {
  auto* const pointer1 = reinterpret_cast<char*>(args[1]);
  switch (nr) {
    case kRead:
      return bare::read(args[0], pointer1, static_cast<std::size_t>(args[2]));
    case kWrite:
      return write(static_cast<int>(args[0]), pointer1, static_cast<std::size_t>(args[2]));
    case kClose:
      return close_file(args[0]);
    case kFstat:
      return status_of(args[0], pointer1);
    case kLseek:
      return seek(args[0], args[1], args[2]);
    case kIoctl:
      return is_console(args[0]) || is_open(ref_of(args[0])) ? kENOTTY : kEBADF;
    case kPread: {
      if (is_console(args[0])) return kESPIPE;
      const FileRef ref = ref_of(args[0]);
      if (!is_open(ref) || args[3] < 0) return is_open(ref) ? kEINVAL : kEBADF;
      return read_at(ref, pointer1, static_cast<std::size_t>(args[2]), static_cast<std::uint64_t>(args[3]));
    }
    case kGetdents:
      return give_entries(args[0], pointer1, static_cast<std::size_t>(args[2]));
    case kOpenat:
      return open_at(args[0], pointer1, args[2]);
    case kNewfstatat:
      return status_at(args[0], pointer1, reinterpret_cast<void*>(args[2]), args[3]);
    default:
      return kENOSYS;
  }
}

}  // namespace janus::platform
