// SPDX-License-Identifier: Apache-2.0
// rt/task/stacks/stack_growth.cpp — see stack_growth.h. Runs in the fault handler, which has a stack of its own,
// before a task runs children, and at its end. The task then holds no lock.
#include "rt/task/stacks/stack_growth.h"

#include "rt/mem/stack_limit.h"
#include "rt/task/record/price.h"
#include "rt/task/stacks/stack_marks.h"
#include "rt/task/wait/slice.h"

namespace janus {

namespace {

constexpr std::uint64_t kRedZone = 128;  // bytes below rsp that a leaf function may use

std::byte* page_of(std::uint64_t address) noexcept {
  return reinterpret_cast<std::byte*>(address & ~std::uint64_t{kPageBytes - 1});
}

// A stack's size is counted from here; colour (rt/mem/stack.h), record and base frame lie above.
std::byte* top_of(const Stack& stack) noexcept {
  return page_of(address_of(stack.start));
}

// Whether the task's frame is on this stack: false while the task ends by force, on a spare stack.
bool begins_on(const Task& task, const Stack& stack) noexcept {
  return address_of(task.frame) - address_of(stack.limit) < address_of(stack.start) - address_of(stack.limit);
}

// The lowest address that the task may use.
std::byte* floor_of(Runtime& runtime, const Stack& stack, const Task& task) noexcept {
  std::byte* const lowest = runtime.stacks.lowest_of(&stack);
  if (!begins_on(task, stack)) return stack.limit;
  std::byte* const floor = page_of(address_of(task.frame) - most_stack_of(runtime, task));
  return floor > lowest ? floor : lowest;
}

// The bytes that the task has still to pay for if the stack becomes usable down to `limit`.
std::size_t unpaid_to(const Stack& stack, const Task& task, const std::byte* limit) noexcept {
  const std::byte* paid = page_of(address_of(task.frame) - stack_class_bytes(task.stack_class));
  if (stack.limit < paid) paid = stack.limit;
  return limit < paid ? static_cast<std::size_t>(paid - limit) : 0;
}

bool pay(Runtime& runtime, const Task& task, std::size_t bytes) noexcept {
  if (bytes == 0) return true;
  if (task.is_caged()) return runtime.accounts.draw(task.account, Component::kMemory, bytes);
  PoolCharge& pool = runtime.pool_charge;
  return pool.grow(bytes) || (pool.reclaim() && pool.grow(bytes));
}

void pay_back(Runtime& runtime, const Task& task, std::size_t bytes) noexcept {
  if (bytes == 0) return;
  if (task.is_caged())
    runtime.accounts.credit(task.account, Component::kMemory, bytes);
  else
    runtime.pool_charge.shrink(bytes);
}

// Pages that one step may add for its own price; more count as bulk work, also within the stack's class.
constexpr std::int64_t kFreePages = 16;

// `is_free`: another task has paid for the growth.
Growth extend_to(Worker& worker, Task& task, std::byte* limit, bool is_free) noexcept {
  Runtime& runtime = runtime_of(worker);
  Stack& stack = *worker.stack;
  const std::size_t price = is_free ? 0 : unpaid_to(stack, task, limit);
  if (!pay(runtime, task, price)) return Growth::kUnpaid;
  std::byte* const before = stack.limit;
  if (!extend_stack(&stack, limit)) {
    pay_back(runtime, task, price);
    return Growth::kRefused;
  }
  const bool is_first = !task.is_marked(TaskMarks::kHasGrown);
  task.mark(TaskMarks::kHasGrown);
  RunDetails& details = task.frame->details;
  if (is_first) details.limit_before = before;
  details.growth_paid += price;
  tell_limit(worker);
  worker.counters.stack_steps.add();
  const std::int64_t pages = (before - limit) / static_cast<std::int64_t>(kPageBytes);
  take_fuel_unchecked(worker, (price != 0 ? price::kStackStep : 0) + (pages > kFreePages ? pages : 0));
  return Growth::kGrown;
}

// The end of the stack after it has doubled often enough to contain `needed`, but not below `floor`.
std::byte* doubled(const Stack& stack, const std::byte* needed, std::byte* floor) noexcept {
  std::byte* const top = top_of(stack);
  auto bytes = static_cast<std::size_t>(top - stack.limit);
  while (top - bytes > needed) bytes *= 2;
  return top - bytes > floor ? top - bytes : floor;
}

// Makes the stack usable down to `address` at least.
Growth grow_to(Worker& worker, Task& task, std::uint64_t address) noexcept {
  const Stack& stack = *worker.stack;
  std::byte* const needed = page_of(address);
  std::byte* const floor = floor_of(runtime_of(worker), stack, task);
  if (needed >= stack.limit) return Growth::kGrown;
  if (needed < floor) return Growth::kAtMost;
  std::byte* const limit = doubled(stack, needed, floor);
  const Growth growth = extend_to(worker, task, limit, false);
  return growth == Growth::kUnpaid ? extend_to(worker, task, needed, false) : growth;
}

// Whether the stack is so long that a child that begins near its top would have more room than a child may have. One
// page more is allowed, for a task that begins in the second page.
bool is_long(const Runtime& runtime, const Stack& stack) noexcept {
  return runtime.stacks.grows() &&
         static_cast<std::size_t>(top_of(stack) - stack.limit) > runtime.options.stack_max + kPageBytes;
}

// Called before the growth of the task's stack is given back.
void note_depth_of(Worker& worker, const Task& task) noexcept {
  Runtime& runtime = runtime_of(worker);
  if (runtime.options.prints_stats && note_depth != nullptr) note_depth(runtime, task, stack_now_of(worker, task));
}

// Gives back the growth of the task's stack below `limit`, and refunds the charge for it.
void shorten_to(Worker& worker, Task& task, std::byte* limit) noexcept {
  Runtime& runtime = runtime_of(worker);
  Stack& stack = *worker.stack;
  RunDetails& details = task.frame->details;
  std::byte* const before = stack.limit;
  note_depth_of(worker, task);
  retract_stack(&stack, details.limit_before < limit ? details.limit_before : limit);
  tell_limit(worker);
  const std::size_t unpaid = unpaid_to(stack, task, before);
  const std::size_t refund = unpaid < details.growth_paid ? unpaid : details.growth_paid;
  details.growth_paid -= refund;
  pay_back(runtime, task, refund);
}

}  // namespace

// On a long stack the fast path must not run children until the stack is shortened, so the limit is set above every
// stack pointer.
void tell_limit(Worker& worker) noexcept {
  if (Scheduler::is_always_slow(worker)) return;
  const Stack& stack = *worker.stack;
  std::byte* const class_end = end_of_class(stack);
  std::byte* const limit = stack.limit > class_end ? stack.limit : class_end;
  worker.stack_limit =
      is_long(runtime_of(worker), stack) ? Scheduler::kAlwaysSlow - 1 : limit + Scheduler::kStackReserve;
}

std::size_t most_stack_of(const Runtime& runtime, const Task& task) noexcept {
  const std::size_t promised = stack_class_bytes(task.stack_class);
  return runtime.stacks.grows() && promised < runtime.options.stack_max ? runtime.options.stack_max : promised;
}

std::size_t stack_now_of(const Worker& worker, const Task& task) noexcept {
  const bool is_known = worker.stack != nullptr && task.frame != nullptr && worker.runtime->stacks.grows();
  if (!is_known || !begins_on(task, *worker.stack)) return stack_class_bytes(task.stack_class);
  const auto bytes = static_cast<std::size_t>(page_of(address_of(task.frame)) - worker.stack->limit);
  const std::size_t most = most_stack_of(*worker.runtime, task);
  return bytes < most ? bytes : most;  // excludes the page that the task starts in, and the guard page
}

// A task accesses its stack at rsp or above, or in the red zone, also by a push or a probe; so growth down to the red
// zone suffices. Code of the runtime faults here only before or at its entry check (look_at_stack), when it holds
// nothing; after that it has its reserve.
Growth grow_for_fault(Worker& worker, Task& task, const platform::Fault& fault) noexcept {
  const Stack* const stack = worker.stack;
  StackPool& pool = runtime_of(worker).stacks;
  const bool is_on_it =
      stack != nullptr && fault.sp <= address_of(stack->start) && fault.sp >= address_of(pool.lowest_of(stack));
  const std::uint64_t in_use = fault.sp - kRedZone;
  if (!is_on_it || !fault.has_address || fault.address < in_use) return Growth::kAtMost;
  const bool is_answer = pool.in_guard(stack, reinterpret_cast<const std::byte*>(fault.address));
  return is_answer ? grow_to(worker, task, in_use) : Growth::kAtMost;
}

// Room for children is not charged, since the stack's class is paid for. Growth that the parent does not need is given
// back, so that the next children find the right limit, and pay for growth of their own.
bool make_room_for_children(Worker& worker, Task& task, std::size_t most) noexcept {
  constexpr std::size_t kRoom = round_up(Scheduler::kStackReserve + kMinStackBytes, kPageBytes);
  const Stack& stack = *worker.stack;
  if (!begins_on(task, stack)) return has_room_for_children(worker, ~std::size_t{0});
  std::byte* const here = page_of(arch::stack_pointer());
  std::byte* const needed = here - kRoom;
  std::byte* const enough = most > kRoom ? here - most : needed;
  if (stack.limit > needed) {
    std::byte* const lowest = runtime_of(worker).stacks.lowest_of(&stack);
    return extend_to(worker, task, doubled(stack, needed, enough > lowest ? enough : lowest), true) == Growth::kGrown;
  }
  if (stack.limit >= enough || !task.is_marked(TaskMarks::kHasGrown)) return true;
  shorten_to(worker, task, needed);
  return true;
}

void give_back_growth(Worker& worker, Task& task) noexcept {
  Runtime& runtime = runtime_of(worker);
  const RunDetails& details = task.frame->details;
  note_depth_of(worker, task);
  retract_stack(worker.stack, details.limit_before);
  tell_limit(worker);
  pay_back(runtime, task, details.growth_paid);
}

const char* overflow_cause(Growth growth) noexcept {
  switch (growth) {
    case Growth::kUnpaid:
      return "stack overflow, with no memory in its budget to grow";
    case Growth::kRefused:
      return "stack overflow, since the machine refuses to let it grow";
    default:
      return "stack overflow";
  }
}

}  // namespace janus
