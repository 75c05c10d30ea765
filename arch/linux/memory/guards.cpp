// SPDX-License-Identifier: Apache-2.0
// arch/linux/memory/guards.cpp — three methods of making guard pages, which are tried in turn, since a kernel's version
// does not tell which works (a locked mapping or a filter may refuse one):
//   1 MADV_GUARD_INSTALL (Linux 6.13), many at once by process_madvise: no mappings, a quarter of a microsecond each
//   2 the same, one call each
//   3 mprotect: two mappings each. All of them use at most half of vm.max_map_count, since a program without mappings
//     left could not even free memory
#include "arch/linux/memory/guards.h"

#include "arch/linux/files/files.h"
#include "arch/linux/kernel_call.h"
#include "arch/linux/lock.h"
#include "arch/linux/once.h"
#include "rt/platform.h"

namespace janus::kernel {
namespace {

// The guards of one request; the first `made` of them exist.
struct Row {
  std::byte* first;
  std::size_t stride, count, bytes;
  std::size_t made = 0;

  [[nodiscard]] std::byte* next() const { return first + made * stride; }
  [[nodiscard]] bool done() const { return made == count; }
};

// Only few pages of each stack are touched. On a system that makes huge pages by default, one touch of a stack without
// guards would cost 2 MiB, and the kernel would try in vain to collapse the other stacks. Covers the last stride, too:
// a gap between two rows would be a mapping of its own.
void forbid_huge_pages(const Row& row) {
  if (row.count > 0) call(kMadvise, row.first, row.stride * row.count, kAdviseNoHugePage);
}

// --- Method 1. The vector is on the caller's stack, which may have only Scheduler::kStackReserve left: so it has 128
// bytes, not the kernel's limit of 16 KiB.
constexpr std::size_t kBatch = 8;

std::size_t fill(Range (&batch)[kBatch], const Row& row) {
  const std::size_t left = row.count - row.made;
  const std::size_t n = left < kBatch ? left : kBatch;
  for (std::size_t i = 0; i < n; ++i) batch[i] = {row.next() + i * row.stride, row.bytes};
  return n;
}

void install_through(long process, Row& row) {
  while (!row.done()) {
    Range batch[kBatch];
    const std::size_t n = fill(batch, row);
    const long advised = call_again(kProcessMadvise, process, batch, n, kAdviseGuardInstall, 0);
    if (failed(advised) || static_cast<std::size_t>(advised) < row.bytes) return;
    row.made += static_cast<std::size_t>(advised) / row.bytes;
  }
}

void install_in_batches(Row& row) {
  if (row.count == 1) return;
  install_through(kPidfdSelf, row);  // Linux 6.14
  if (row.done()) return;
  const long self = call(kPidfdOpen, call(kGetpid), 0);
  if (failed(self)) return;
  install_through(self, row);
  call(kClose, self);
}

// --- Method 2
void install_singly(Row& row) {
  while (!row.done() && !failed(call_again(kMadvise, row.next(), row.bytes, kAdviseGuardInstall))) ++row.made;
}

[[gnu::noinline]] void install(Row& row) {
  install_in_batches(row);
  install_singly(row);
}

// --- Method 3
constexpr std::size_t kMappingsPerGuard = 2, kDefaultMappings = 65530;

// The rows that were protected, so that unmap() can reduce the count. Rows that find no place here count for ever.
struct Protected {
  std::byte *first, *last;
  std::size_t count;
};
constexpr std::size_t kMaxRows = 256;

Lock g_lock;  // guards g_rows and g_count
Protected g_rows[kMaxRows];
std::atomic<std::size_t> g_count{0};  // written under the lock; forget_guards() reads it without
std::size_t g_share = 0;
Once g_share_known;

void find_share() {
  std::uint64_t most = 0;
  FileText<32> text;
  if (!text.read("/proc/sys/vm/max_map_count") || !parse_number(text.view(), most)) most = kDefaultMappings;
  g_share = most / 2 / kMappingsPerGuard;
}

void remember(const Row& row) {
  if (row.made == 0) return;
  g_count.store(g_count.load(std::memory_order_relaxed) + row.made, std::memory_order_relaxed);
  for (Protected& slot : g_rows) {
    if (slot.count != 0) continue;
    slot = {row.first, row.first + (row.made - 1) * row.stride + row.bytes, row.made};
    return;
  }
}

void protect(Row& row) {
  g_share_known.run(find_share);
  Hold hold(g_lock);
  const std::size_t used = g_count.load(std::memory_order_relaxed);
  const std::size_t room = used < g_share ? g_share - used : 0;
  while (!row.done() && row.made < room && !failed(call(kMprotect, row.next(), row.bytes, kProtNone))) ++row.made;
  remember(row);
}

}  // namespace

void forget_guards(std::byte* pages, std::size_t bytes) noexcept {
  // No race: the guards of these pages were counted before the pages were unmapped.
  if (g_count.load(std::memory_order_relaxed) == 0) return;
  Hold hold(g_lock);
  for (Protected& slot : g_rows) {
    if (slot.count == 0 || slot.first < pages || slot.last > pages + bytes) continue;
    g_count.store(g_count.load(std::memory_order_relaxed) - slot.count, std::memory_order_relaxed);
    slot = {};
  }
}

}  // namespace janus::kernel

namespace janus::platform {

Guard guard(std::byte* first, std::size_t stride, std::size_t count, std::size_t guard_bytes,
            std::size_t& guarded) noexcept {
  kernel::Row row{first, stride, count, guard_bytes};
  kernel::forbid_huge_pages(row);
  kernel::install(row);
  guarded = row.made;
  if (row.made > 0) return Guard::kInstalled;
  kernel::protect(row);
  guarded = row.made;
  return row.made > 0 ? Guard::kProtected : Guard::kNone;
}

bool set_guards(std::byte* first, std::size_t stride, std::size_t count, std::size_t bytes) noexcept {
  kernel::Row row{first, stride, count, bytes};
  if (stride != 0) kernel::forbid_huge_pages(row);
  kernel::install(row);
  return row.done();
}

bool clear_guard(std::byte* pages, std::size_t bytes) noexcept {
  using namespace kernel;
  return !failed(call_again(kMadvise, pages, bytes, kAdviseGuardRemove));
}

}  // namespace janus::platform
