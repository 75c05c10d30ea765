// SPDX-License-Identifier: Apache-2.0
// arch/hosted/fiber_hooks.cpp — rt/sched/fiber_hooks.h for the sanitizer that the program has, if any. Built without
// instrumentation: between the announcement of a switch and the switch no instrumented function may be entered.
//
// AddressSanitizer is told of each change of stacks. ThreadSanitizer has one fiber for each task that has begun, not
// for each stack: two tasks are not ordered merely because they ran on the same stack, one after the other. While no
// task runs, a thread is on the fiber that it was born with.
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

// The fiber that ThreadSanitizer made for this thread; it is current while no task runs.
thread_local void* thread_fiber = nullptr;

StackRecord* record_of(Fiber fiber) noexcept {
  return static_cast<StackRecord*>(fiber);
}

thread_local void* stands_on = nullptr;

// Makes a task's fiber current for ThreadSanitizer, or the thread's own if `task_fiber` is nullptr.
[[gnu::noinline]] void stand_on(void* task_fiber) noexcept {
  if (thread_fiber == nullptr) return;
  void* const fiber = task_fiber != nullptr ? task_fiber : thread_fiber;
  if (fiber == stands_on) return;
  stands_on = fiber;
  __tsan_switch_to_fiber(fiber, sanitizers::kUnordered);
}

// --- Fibers of tasks -------------------------------------------------------------------------------------------------

// ThreadSanitizer takes up to a millisecond to make a fiber, so fibers are reused. It does not report a race between
// two tasks that had the same fiber, so the fiber that has rested longest is reused first.
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
      if (++made_ > kMax) refuse();
    }
    return __tsan_create_fiber(0);
  }
  // `was_left`: the task's frames were left without returning. Such a fiber is not reused, because ThreadSanitizer
  // still counts them as open calls.
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
  static constexpr unsigned kMax = 8000;  // ThreadSanitizer supports 8,128 threads and fibers

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

// --- Memory of stacks, which several tasks use one after the other ---------------------------------------------------

constexpr std::size_t kPage = 4096;
constexpr std::size_t kOwnFrames = 512;  // bytes for the frame of forget_accesses(), which must not clear itself
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

// Makes ThreadSanitizer forget the accesses to the stack below `top` by tasks that ran there before: nothing in the
// runtime orders them with those of later tasks, yet the two do not race. Clears the stack, as far down as it is not
// zero.
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
  asm volatile("rep stosb" : "+D"(at), "+c"(count) : "a"(0) : "memory");  // no call: its frame would be in that memory
  __tsan_java_free(reinterpret_cast<unsigned long>(stack.limit), 8);      // the block that an earlier call left there
  forget(lowest, static_cast<std::size_t>(top - lowest));
  // To describe an address of this stack, a report searches downwards for the beginning of a block. The search ends at
  // this one.
  __tsan_java_alloc(reinterpret_cast<unsigned long>(stack.limit), 8);
}

// The address where the caller's frame ends and the frame of the task's function begins.
#define JANUS_END_OF_CALLERS_FRAME (static_cast<std::byte*>(__builtin_frame_address(0)) + 16)

}  // namespace

Fiber create(const std::byte* limit, const std::byte* top) noexcept {
  forget_frames(limit, top);  // of code that ran there before
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
  // ThreadSanitizer orders a new fiber after the current one, which must not be that of a task that calls this one.
  stand_on(nullptr);
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
