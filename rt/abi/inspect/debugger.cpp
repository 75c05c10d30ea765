// SPDX-License-Identifier: Apache-2.0
// rt/abi/inspect/debugger.cpp — the names and offsets of the fields that a debugger shows: the script for gdb
// (linker/gdb) reads this table from the program. The script itself knows only how wide fields are, and how an entry of a
// deque is marked. An archive member that janus-cc links into programs for Linux unless it strips them.
// docs/decisions/0260
#include <cstddef>

#include "rt/abi/entry/runtime_table.h"
#include "rt/task/channels/channel_wait.h"
#include "rt/task/nurseries/join.h"
#include "rt/task/record/channel.h"
#include "rt/task/record/nursery.h"
#include "rt/task/record/runtime.h"

#pragma GCC diagnostic ignored "-Winvalid-offsetof"  // all supported compilers define it for any class

namespace janus {

struct DebuggerEntry {
  char name[24];
  std::uint64_t value;
};

// The last entry has no name.
struct DebuggerTable {
  DebuggerEntry entries[103];
};

// Friend of the classes whose private fields are in the table.
struct DebuggerLayout {
  static constexpr std::size_t kAccountTable = offsetof(Accounts, records_) + offsetof(AccountRecords, table_);

  static constexpr std::size_t kInjector =
      offsetof(Runtime, scheduler) + offsetof(Scheduler, dispatcher_) + offsetof(Dispatcher, injector_);

  static constexpr DebuggerTable table() noexcept {
    return {{
        {"runtimes.count", kMaxRuntimes},
        {"runtimes.stride", sizeof(RuntimePlace)},

        {"runtime.workers", offsetof(Runtime, scheduler) + offsetof(Scheduler, workers_) + offsetof(WorkerList, first)},
        {"runtime.worker_count",
         offsetof(Runtime, scheduler) + offsetof(Scheduler, workers_) + offsetof(WorkerList, count)},
        {"runtime.injected", kInjector + offsetof(Injector, head_)},
        {"runtime.tasks", offsetof(Runtime, tasks)},
        {"runtime.nurseries", offsetof(Runtime, nurseries)},
        {"runtime.channels", offsetof(Runtime, channels)},
        {"runtime.accounts", offsetof(Runtime, accounts)},
        {"runtime.main", offsetof(Runtime, terminable)},

        {"slab.chunks", offsetof(Slab, chunks_)},
        {"slab.chunk_count", offsetof(Slab, chunk_count_)},
        {"slab.per_chunk", offsetof(Slab, per_chunk_)},
        {"slab.object_bytes", offsetof(Slab, object_bytes_)},
        {"slab.header_bytes", Slab::kHeaderBytes},

        {"worker.stride", sizeof(Worker)},
        {"worker.task", offsetof(Worker, task)},
        {"worker.ring", offsetof(Worker, ready) + offsetof(Deque, ring_)},
        {"worker.top", offsetof(Worker, ready) + offsetof(Deque, top_)},
        {"worker.bottom", offsetof(Worker, ready) + offsetof(Deque, bottom_)},
        {"ring.mask", offsetof(Deque::Ring, mask)},
        {"ring.entries", sizeof(Deque::Ring)},

        {"task.bytes", sizeof(Task)},
        {"task.next", offsetof(Task, next)},
        {"task.suspended_at", offsetof(Task, suspended_at)},
        {"task.fn", offsetof(Task, fn)},
        {"task.arg", offsetof(Task, arg)},
        {"task.nursery", offsetof(Task, nursery)},
        {"task.account", offsetof(Task, account)},
        {"task.state", offsetof(Task, state)},
        {"task.cancel", offsetof(Task, cancel)},
        {"task.frame", offsetof(Task, frame)},
        {"task.id", offsetof(Task, id)},
        {"task.waits_at", offsetof(Task, waits_at)},
        {"task.waiters", offsetof(Task, waiters)},
        {"task.extra", offsetof(Task, extra)},
        {"extra.name", offsetof(TaskExtra, name)},
        {"frame.outer", offsetof(RunFrame, outer_frame)},
        {"frame.task", offsetof(RunFrame, task)},
        {"join.next", offsetof(Join, next)},
        {"join.joiner", offsetof(Join, joiner)},

        {"waits_for.channel", static_cast<unsigned>(waits_for(WaitReason::kChannel))},
        {"waits_for.channel_apart", static_cast<unsigned>(waits_for(WaitReason::kChannelApart))},
        {"waits_for.select", static_cast<unsigned>(waits_for(WaitReason::kSelect))},
        {"waits_for.token", static_cast<unsigned>(waits_for(WaitReason::kToken))},
        {"waits_for.budget", static_cast<unsigned>(waits_for(WaitReason::kBudget))},
        {"waits_for.task", static_cast<unsigned>(waits_for(WaitReason::kTask))},
        {"waits_for.children", static_cast<unsigned>(waits_for(WaitReason::kChildren))},
        {"waits_for.lock", static_cast<unsigned>(waits_for(WaitReason::kLock))},
        {"waits_for.room", static_cast<unsigned>(waits_for(WaitReason::kRoom))},
        {"waits_for.time", static_cast<unsigned>(waits_for(WaitReason::kTime))},
        {"waits_for.sync", static_cast<unsigned>(waits_for(WaitReason::kSync))},
        {"waits_for.relock", static_cast<unsigned>(waits_for(WaitReason::kRelock))},
        {"waits_for.safepoint", static_cast<unsigned>(waits_for(WaitReason::kSafepoint))},
        {"waits_for.helper_queue", static_cast<unsigned>(waits_for(WaitReason::kHelperQueue))},
        {"waits_for.helper", static_cast<unsigned>(waits_for(WaitReason::kHelper))},

        // A suspended task's callee-saved registers. The address to resume at is on top of its stack.
        {"suspension.sp", offsetof(Suspension, context) + offsetof(arch::Context, sp)},
        {"suspension.rbx", offsetof(Suspension, context) + offsetof(arch::Context, rbx)},
        {"suspension.rbp", offsetof(Suspension, context) + offsetof(arch::Context, rbp)},
        {"suspension.r12", offsetof(Suspension, context) + offsetof(arch::Context, r12)},
        {"suspension.r13", offsetof(Suspension, context) + offsetof(arch::Context, r13)},
        {"suspension.r14", offsetof(Suspension, context) + offsetof(arch::Context, r14)},
        {"suspension.r15", offsetof(Suspension, context) + offsetof(arch::Context, r15)},

        {"nursery.bytes", sizeof(Nursery)},
        {"nursery.word", offsetof(Nursery, word)},
        {"nursery.owner_worker", offsetof(Nursery, owner_worker)},
        {"nursery.local_count", offsetof(Nursery, local_count)},
        {"nursery.account", offsetof(Nursery, account)},
        {"nursery.owner", offsetof(Nursery, owner)},
        {"nursery.alive", offsetof(Nursery, alive)},
        {"nursery.errors", offsetof(Nursery, errors)},
        {"nursery.name", offsetof(Nursery, name)},
        {"alive.first", NurseryAlive::kAlive},
        {"alive.last", NurseryAlive::kEnding},
        {"word.closed", NurseryWord::kClosed},
        {"word.cancelled", NurseryWord::kCancelled},
        {"word.shared", NurseryWord::kShared},
        {"word.waiter", NurseryWord::kWaiter},
        {"word.child", NurseryWord::kChild},

        {"channel.bytes", sizeof(Channel)},
        {"channel.life", offsetof(Channel, life)},
        {"channel.handle", offsetof(Channel, handle)},
        {"channel.state", offsetof(Channel, state)},
        {"channel.closed", static_cast<unsigned>(ChannelState::kClosed)},
        {"channel.element_bytes", offsetof(Channel, element_bytes)},
        {"channel.count", offsetof(Channel, count)},
        {"channel.capacity", offsetof(Channel, capacity)},
        {"channel.receivers", offsetof(Channel, receivers)},
        {"channel.senders", offsetof(Channel, senders)},
        {"wait.next", offsetof(ChannelWait, next)},
        {"wait.task", offsetof(ChannelWait, task)},

        {"accounts.segments", kAccountTable + offsetof(AccountTable, segments_)},
        {"accounts.first_bits", AccountTable::kFirstSegmentBits},
        {"accounts.end", kAccountTable + offsetof(AccountTable, fresh_)},
        {"account.bytes", sizeof(Account)},
        {"account.left", offsetof(Account, left_)},
        {"account.held", offsetof(Account, held_)},
        {"account.references", offsetof(Account, references_)},
        {"account.granted", offsetof(Account, granted_)},
        {"account.is_closed", offsetof(Account, is_closed_)},
        {"account.parent", offsetof(Account, parent_)},
        {"account.index", offsetof(Account, index_)},
    }};
  }
};
static_assert(DebuggerLayout::table().entries[sizeof(DebuggerTable) / sizeof(DebuggerEntry) - 1].name[0] == '\0');

extern "C" {
extern const DebuggerTable janus_debugger_layout;
[[gnu::used]] constinit const DebuggerTable janus_debugger_layout = DebuggerLayout::table();
}

}  // namespace janus
