// SPDX-License-Identifier: Apache-2.0
// arch/hosted/fiber_hooks.cpp — rt/sched/fiber_hooks.h for whichever sanitizer the program has. Built without
// instrumentation: between the announcement of a switch and the switch no instrumented frame may open.
//
// AddressSanitizer is told of each change of stacks. ThreadSanitizer has one fiber for each task that has begun, not
// for each stack, since tasks that merely ran on one stack, one after the other, are not ordered thereby; while no task
// runs, a thread is on the fiber that it was born with.
#define JANUS_FIBERS_ARE_WATCHED 1  // by a program that may be instrumented
#include "rt/sched/fiber_hooks.h"

#include <cstdlib>

#include "arch/hosted/hosted.h"
#include "arch/hosted/own_stack.h"
#include "arch/hosted/sanitizers.h"
#include "arch/hosted/stack_records.h"
#include "rt/base/format.h"
#include "rt/base/spinlock.h"
#include "rt/platform.h"

namespace janus::fiber_hooks {
namespace {

using hosted::StackRecord;

// ThreadSanitizer's fiber of this thread, for when no task runs.
thread_local void* thread_fiber = nullptr;

StackRecord* record_of(Fiber fiber) noexcept {
  return static_cast<StackRecord*>(fiber);
}

thread_local void* stands_on = nullptr;

// `task_fiber` nullptr: no task.
[[gnu::noinline]] void stand_on(void* task_fiber) noexcept {
  if (thread_fiber == nullptr) return;
  void* const fiber = task_fiber != nullptr ? task_fiber : thread_fiber;
  if (fiber == stands_on) return;
  stands_on = fiber;
  __tsan_switch_to_fiber(fiber, sanitizers::kUnordered);
}

// --- Fibers of tasks -------------------------------------------------------------------------------------------------

// To make one takes ThreadSanitizer up to a millisecond, so they are used again, the one that has rested longest first:
// what a fiber did last is ordered before what it does next, so that a race between two tasks of one fiber goes unseen.
class TaskFibers {
 public:
  void* take() noexcept {
    {
      LockGuard guard(lock_);
      if (count_ == kResting) {
        void* const rested = resting_[first_];
        first_ = (first_ + 1) % kResting;
        --count_;
        return rested;
      }
      if (++made_ > kMost) refuse();
    }
    return __tsan_create_fiber(0);
  }
  // A fiber may have been left in the middle of calls, which it goes on counting.
  void give(void* fiber, bool was_left) noexcept {
    {
      LockGuard guard(lock_);
      if (!was_left && count_ < kResting) {
        resting_[(first_ + count_++) % kResting] = fiber;
        return;
      }
      --made_;
    }
    __tsan_destroy_fiber(fiber);
  }

 private:
  static constexpr unsigned kResting = 64;
  static constexpr unsigned kMost = 8000;  // ThreadSanitizer bears 8,128 threads and fibers

  [[noreturn]] static void refuse() noexcept {
    static constexpr char kLine[] =
        "janus: ThreadSanitizer bears 8000 tasks that have begun and not ended; run it with fewer at once\n";
    (void)!platform::write(2, kLine, sizeof kLine - 1);
    std::_Exit(2);
  }

  SpinLock lock_;
  unsigned first_ = 0, count_ = 0, made_ = 0;
  void* resting_[kResting] = {};
};
TaskFibers task_fibers;

// --- Memory of stacks, which one task has after the other ------------------------------------------------------------

constexpr std::size_t kPage = 4096;
constexpr std::size_t kOwnFrames = 512;  // of the function that clears
constexpr std::size_t kLeaptOver = 16;   // pages that a frame may leave untouched

bool is_zero(const std::byte* page) noexcept {
  const auto* words = reinterpret_cast<const unsigned long*>(page);
  unsigned long any = 0;
  for (std::size_t i = 0; i < kPage / sizeof *words; ++i) any |= words[i];
  return any == 0;
}

void forget(const std::byte* at, std::size_t bytes) noexcept {
  __tsan_java_alloc(reinterpret_cast<unsigned long>(at), bytes);
  __tsan_java_free(reinterpret_cast<unsigned long>(at), bytes);
}

// The accesses of tasks that ran below `top` before do not race with those of later ones, though nothing in the runtime
// orders the two. Clears the stack, as far down as it is not zero.
[[gnu::noinline]] void forget_accesses(const StackRecord& stack, std::byte* top) noexcept {
  std::byte* const here = static_cast<std::byte*>(__builtin_frame_address(0)) - kOwnFrames;
  auto* const end = reinterpret_cast<std::byte*>(reinterpret_cast<std::size_t>(here) & ~std::size_t{15});
  if (!hosted::is_forgettable(stack.limit) || end < stack.limit + 2 * kPage) return;
  auto* page = reinterpret_cast<std::byte*>(reinterpret_cast<std::size_t>(end) & ~(kPage - 1));
  std::byte* lowest = page;
  for (std::size_t leapt = 0; leapt < kLeaptOver && page > stack.limit;) {
    page -= kPage;
    leapt = is_zero(page) ? leapt + 1 : 0;
    if (leapt == 0) lowest = page;
  }
  std::byte* at = lowest;
  std::size_t count = static_cast<std::size_t>(end - lowest);
  asm volatile("rep stosb" : "+D"(at), "+c"(count) : "a"(0) : "memory");  // no call: its frame would lie there
  __tsan_java_free(reinterpret_cast<unsigned long>(stack.limit), 8);      // what an earlier call left there
  forget(lowest, static_cast<std::size_t>(top - lowest));
  // A report looks below an address of this stack for the beginning of a block: here it finds one, wherever it ends.
  __tsan_java_alloc(reinterpret_cast<unsigned long>(stack.limit), 8);
}

// Where the caller's frame ends, and that of the task's function begins.
#define JANUS_END_OF_CALLERS_FRAME (static_cast<std::byte*>(__builtin_frame_address(0)) + 16)

}  // namespace

Fiber create(const std::byte* limit, const std::byte* top) noexcept {
  forget_frames(limit, top);  // frames of code that ran there before
  return hosted::take_stack_record(limit, static_cast<std::size_t>(top - limit));
}

void destroy(Fiber fiber) noexcept {
  if (fiber == nullptr) return;
  StackRecord* const record = record_of(fiber);
  forget_frames(record->limit, record->limit + record->bytes);
  hosted::give_stack_record(record);
}

Fiber enter(Fiber fiber, const std::byte* limit, const std::byte* top) noexcept {
  destroy(fiber);
  return create(limit, top);
}

Fiber adopt_thread() noexcept {
  if (sanitizers::has_thread() && thread_fiber == nullptr) thread_fiber = stands_on = __tsan_get_current_fiber();
  const hosted::Bounds stack = hosted::own_stack();
  return hosted::take_stack_record(stack.limit, stack.bytes);
}

void before_switch(Fiber from, Fiber to) noexcept {
  stand_on(nullptr);
  StackRecord* const target = record_of(to);
  if (from != nullptr) hosted::leave_stack(*record_of(from), static_cast<const std::byte*>(__builtin_frame_address(0)));
  target->left_at.store(nullptr, std::memory_order_relaxed);
  if (__sanitizer_start_switch_fiber == nullptr) return;
  void** const keep = from != nullptr ? &record_of(from)->fake_stack : nullptr;
  __sanitizer_start_switch_fiber(keep, target->limit, target->bytes);
}

void after_switch(Fiber self) noexcept {
  StackRecord* const record = record_of(self);
  if (__sanitizer_finish_switch_fiber != nullptr) __sanitizer_finish_switch_fiber(record->fake_stack, nullptr, nullptr);
  record->fake_stack = nullptr;
  if (record->task_fiber != nullptr) stand_on(record->task_fiber);
}

void forget_frames(const std::byte* low, const std::byte* high) noexcept {
  if (low < high && __asan_unpoison_memory_region != nullptr)
    __asan_unpoison_memory_region(low, static_cast<std::size_t>(high - low));
}

void* begin_task(Fiber here, std::uint64_t id) noexcept {
  if (!sanitizers::has_thread()) return nullptr;
  StackRecord* const record = record_of(here);
  void* const outer = record->task_fiber;
  forget_accesses(*record, JANUS_END_OF_CALLERS_FRAME);
  stand_on(nullptr);  // the task that waits by calling it is ordered before it by the spawn alone
  record->task_fiber = task_fibers.take();
  Text<32> name;
  name.append("task %lu", id);
  __tsan_set_fiber_name(record->task_fiber, name.data());
  stand_on(record->task_fiber);
  return outer;
}

void end_task(Fiber here, void* outer, bool was_left) noexcept {
  if (!sanitizers::has_thread()) return;
  StackRecord* const record = record_of(here);
  void* const ended = record->task_fiber;
  record->task_fiber = outer;
  stand_on(outer);
  task_fibers.give(ended, was_left);
  forget_accesses(*record, JANUS_END_OF_CALLERS_FRAME);
}

}  // namespace janus::fiber_hooks
