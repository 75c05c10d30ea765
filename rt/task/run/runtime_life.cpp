// SPDX-License-Identifier: Apache-2.0
// rt/task/run/runtime_life.cpp — makes and destroys the parts of a runtime, in order.
#include "rt/task/run/runtime_life.h"

#include <initializer_list>

#include "rt/base/assert.h"
#include "rt/base/construct_in.h"
#include "rt/base/format.h"
#include "rt/base/order_hooks.h"
#include "rt/sched/fiber_hooks.h"
#include "rt/task/account/exhaustion.h"
#include "rt/task/nurseries/cap.h"
#include "rt/task/nurseries/handle.h"
#include "rt/task/nurseries/join.h"
#include "rt/task/nurseries/open.h"
#include "rt/task/nurseries/spawn.h"
#include "rt/task/report/log.h"
#include "rt/task/run/abort_task.h"
#include "rt/task/run/await.h"
#include "rt/task/run/run.h"
#include "rt/task/run/stop_world.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/children.h"

namespace janus {

namespace {

constexpr unsigned kDeterministicWorkers = 4;
constexpr std::uint64_t kDeterministicMemory = std::uint64_t{8} << 30;  // the same on every machine

std::size_t runtime_bytes() noexcept {
  return (sizeof(Runtime) + 4095) & ~std::size_t{4095};
}

void say_how_few(const Runtime& runtime, unsigned started) noexcept {
  Text<128> line;
  line.append("janus: %u workers wanted, but the machine gave memory and threads for only %u\n",
              runtime.options.workers, started);
  say(line.data(), line.size());
}

void say_who_goes_on(Runtime& runtime) noexcept {
  Text<160> line;
  line.append("janus: the end of a runtime waits for tasks that have not ended %u ms after they were told to\n",
              runtime.options.grace_ms);
  say(line.data(), line.size());
}

unsigned choose_workers(const RuntimeOptions& options, platform::Cpus& cpus, Pinning& pinning) noexcept {
  pinning = Pinning::kNever;
  if (options.deterministic) return options.workers != 0 ? options.workers : kDeterministicWorkers;
  platform::cpus(cpus);
  const unsigned fit = cpus.quota < cpus.allowed ? cpus.quota : cpus.allowed;
  const unsigned workers = options.workers != 0 && !cpus.no_turns ? options.workers : fit;
  const bool has_machine = workers <= cpus.allowed && !cpus.fractional;
  if (options.pin < 0 && has_machine) pinning = Pinning::kWhileSeveralWork;
  if (options.pin > 0) pinning = Pinning::kAlways;
  return workers == 0 ? 1 : workers;
}

[[maybe_unused]] void forget_fiber(Stack* stack) noexcept {
  fiber_hooks::destroy(stack->fiber);
  stack->fiber = nullptr;
}

// The limit for memory in pages: the amount that may be charged, plus room for pages that are not full: an eighth of
// it, and the minimum that a heap takes for all sizes.
std::uint64_t most_of_pages(std::uint64_t charged) noexcept {
  constexpr std::uint64_t kAtLeast = 16u << 20, kEndless = std::uint64_t{1} << 62;
  return charged < kEndless ? charged + charged / 8 + kAtLeast : kEndless;
}

bool init_parts(Runtime& runtime) noexcept {
  Amounts root;
  for (std::uint64_t& amount : root.of) amount = kUnlimited;
  root[Component::kMemory] = runtime.memory_limit;
  if (!runtime.accounts.init(root) || !runtime.heap.init() || !runtime.stacks.init()) return false;
  runtime.heap.limit_pages(most_of_pages(runtime.memory_limit));
  if constexpr (fiber_hooks::kAreWatched) runtime.stacks.on_cold(forget_fiber);
  if (!runtime.tasks.init(sizeof(Task)) || !runtime.nurseries.init(sizeof(Nursery))) return false;
  runtime.root_account = runtime.accounts.root();
  const auto notify = [](void* of) noexcept { request_attention(*static_cast<Runtime*>(of)); };
  runtime.accounts.notify_of_returns(notify, &runtime);
  return runtime.channels.init(kChannelBytes);
}

// The memory of records and stacks that is charged to no budget: a sixteenth of the root's memory, so that tasks
// without an explicit budget can run when all of that was given to tasks with one; plus the need of an idle runtime, so
// that the smallest budget suffices.
std::uint64_t allowance_of(const Runtime& runtime) noexcept {
  constexpr std::uint64_t kBase = (1u << 20) + (256u << 10), kPerWorker = 16u << 10;
  return kBase + runtime.options.workers * kPerWorker + runtime.memory_limit / 16;
}

void charge_pools(Runtime& runtime) noexcept {
  const auto trim = [](void* stacks) noexcept { return static_cast<StackPool*>(stacks)->trim(); };
  runtime.pool_charge.init(runtime.accounts.root_memory(), trim, &runtime.stacks, allowance_of(runtime));
  runtime.stacks.charge_to(runtime.pool_charge, runtime.memory_limit, runtime.options.workers);
  for (Slab* slab : {&runtime.tasks, &runtime.nurseries, &runtime.channels}) slab->charge_to(runtime.pool_charge);
  runtime.accounts.charge_records(sizeof(Account) + runtime.options.workers * sizeof(Group), &runtime.pool_charge);
}

void destroy_parts(Runtime& runtime) noexcept {
  if (destroy_caps != nullptr) destroy_caps(runtime);
  runtime.channels.destroy();
  runtime.nurseries.destroy();
  runtime.tasks.destroy();
  runtime.stacks.destroy();
  runtime.heap.destroy();
  runtime.accounts.destroy();
  runtime.~Runtime();
  platform::unmap(reinterpret_cast<std::byte*>(&runtime), runtime_bytes());
}

// A root task is the only child of a nursery that belongs to the calling thread. That thread joins the task, so it gets
// the result even if the root has given up its own handle.
struct Root {
  Nursery* nursery;
  Task* task;
  Join join;
};

bool make_root(Runtime& runtime, Worker* worker, TaskFn fn, void* arg, std::uint8_t stack_class, Root& root) noexcept {
  NurseryOptions options;
  options.on_error = ErrorPolicy::kCollect;
  options.is_of_root = true;
  root.nursery = open_nursery(runtime, nullptr, options).value;
  if (root.nursery == nullptr) return false;
  root.nursery->traits.is_root = true;
  const SpawnExtras extras{&runtime.options.root_budget, nullptr, nullptr};
  const SpawnOptions spawning{stack_class, TaskFlags::kExposed | TaskFlags::kKept,
                              runtime.options.has_root_budget ? &extras : nullptr, nullptr};
  root.task = spawn<Path::kGeneral>(worker, *root.nursery, fn, arg, spawning).value;
  if (root.task == nullptr) {
    close_nursery(worker, *root.nursery);
    destroy_nursery(worker, *root.nursery);
    return false;
  }
  root.nursery->cap = nullptr;
  root.nursery->traits.is_confined = runtime.options.confines_all;
  root.join = {nullptr, nullptr, nullptr, -2, false, WaitReason::kTask};
  root.task->waiters = &root.join;
  return true;
}

// Called when the root has ended.
std::int64_t take_result(const Root& root) noexcept {
  JANUS_ASSERT(root.join.is_over);
  destroy_nursery(nullptr, *root.nursery);
  return root.join.result;
}

}  // namespace

namespace {

// Nobody spends from the root account where nothing is implicit. What the root task has not is left for tokens.
void give_half(Runtime& runtime) noexcept {
  Amounts& budget = runtime.options.root_budget;
  for (std::uint64_t& amount : budget.of) amount = kUnlimited;
  budget[Component::kMemory] = runtime.memory_limit / 2;
  runtime.options.has_root_budget = true;
}

}  // namespace

OrError<Runtime*> create_runtime(const RuntimeOptions& options) noexcept {
  std::byte* const pages = platform::map(runtime_bytes());
  if (pages == nullptr) return Failed{kErrorNoMemory};
  auto& runtime = construct_in<Runtime>(pages);
  runtime.options = options;
  runtime.slice_ops.store(options.yield_interval, std::memory_order_relaxed);
  const std::uint64_t machine = options.deterministic ? kDeterministicMemory : platform::memory_limit() / 4 * 3;
  runtime.memory_limit = options.memory != 0 ? options.memory : machine;
  if (options.confines_all && !options.has_root_budget) give_half(runtime);
  runtime.next_id.store(1, std::memory_order_relaxed);
  init_handle_key(runtime);
  if (!init_parts(runtime)) {
    destroy_parts(runtime);
    return Failed{kErrorNoMemory};
  }
  platform::Cpus cpus{};
  SchedulerOptions scheduling{};
  scheduling.workers = runtime.options.workers = choose_workers(options, cpus, scheduling.pinning);
  // Stacks grow in the handler of the tasks' faults.
  const std::size_t least = runtime.child_stack_bytes = stack_class_bytes(options.stack_class);
  if (runtime.options.stack_max < least) runtime.options.stack_max = least;
  if (!options.handles_faults || !runtime.stacks.let_grow(runtime.options.stack_max)) runtime.options.stack_max = least;
  charge_pools(runtime);
  scheduling.seed = options.seed;
  scheduling.deterministic = options.deterministic;
  scheduling.pin_to = &cpus;
  scheduling.victim = options.victim;
  scheduling.fair_ops = options.yield_interval;
  scheduling.fair_interval = options.fair_interval;
  scheduling.runtime = &runtime;
  unsigned started = 0;
  if (options.handles_faults && !platform::on_fault(contain_fault)) {
    destroy_parts(runtime);
    return Failed{kErrorNoCap};
  }
  if (!runtime.scheduler.start(scheduling, runtime.stacks, options.with_caller, started)) {
    say_how_few(runtime, started);
    destroy_parts(runtime);
    return Failed{kErrorNoMemory};
  }
  runtime.started_ns = runtime.scheduler.now_ns();
  return &runtime;
}

void end_stops_from_outside(Runtime& runtime) noexcept {
  if (runtime.stops.is_used.load(std::memory_order_relaxed)) end_stops(runtime);
}

void refuse_stops_from_outside(Runtime& runtime) noexcept {
  runtime.stops.is_closed.store(true, std::memory_order_seq_cst);
  if (runtime.stops.is_used.load(std::memory_order_seq_cst)) refuse_stops(runtime);
}

void destroy_runtime(Runtime* runtime) noexcept {
  const std::uint64_t until = platform::now_ns() + std::uint64_t{runtime->options.grace_ms} * 1'000'000;
  while (Nursery* const nursery = runtime->outside) {
    cancel_nursery(nullptr, *nursery, Cause::kParent, Pace::kAtOnce);
    if (!await_from_thread_until(*nursery, until)) {
      say_who_goes_on(*runtime);
      await_from_thread(*nursery);
    }
    destroy_nursery(nullptr, *nursery);
  }
  runtime->scheduler.stop();
  runtime->scheduler.join();
  destroy_parts(*runtime);
}

std::int64_t run_root(Runtime& runtime, TaskFn fn, void* arg, std::uint8_t stack_class) noexcept {
  Root root{};
  if (!make_root(runtime, nullptr, fn, arg, stack_class, root)) return kErrorNoMemory;
  // Marks the nursery as awaited before the task runs.
  root.nursery->word.fetch_or(NurseryWord::kClosed | NurseryWord::kWaiter, std::memory_order_acq_rel);
  launch(nullptr, *root.task);
  await_from_thread(*root.nursery);
  const std::uint64_t word = root.nursery->word.load(std::memory_order_relaxed);
  const std::int64_t result = take_result(root);
  return (word & NurseryWord::kDeadlocked) != 0 ? kErrorDeadlock : result;
}

bool run_root_here(Runtime& runtime, TaskFn fn, void* arg, std::uint8_t stack_class, std::int64_t& result) noexcept {
  Root root{};
  if (!make_root(runtime, nullptr, fn, arg, stack_class, root)) return false;
  runtime.terminable.store(root.task, std::memory_order_release);
  unsigned started = 0;
  if (!runtime.scheduler.run_caller(root.task, started)) {
    say_how_few(runtime, started);
    return false;
  }
  order_hooks::acquire(root.nursery);
  close_nursery(nullptr, *root.nursery);
  result = take_result(root);
  return true;
}

}  // namespace janus
