// SPDX-License-Identifier: Apache-2.0
// rt/sched/workers.cpp — how workers start and end. docs/decisions/0083
#include "rt/sched/scheduler.h"

#include "rt/base/construct_in.h"
#include "rt/sched/fiber_hooks.h"

namespace janus {

namespace {

// The workers' records, behind them their timers, and the CPU that each is pinned to.
std::size_t bytes_of(unsigned workers) noexcept {
  return (workers * (sizeof(Worker) + sizeof(WorkerTimers) + sizeof(std::int16_t)) + 4095) & ~std::size_t{4095};
}

// Writes a name such as "janus/7". `out` is 16 zero bytes.
void name_worker(char* out, unsigned index) noexcept {
  constexpr char kPrefix[] = "janus/";
  char* p = out;
  for (const char* q = kPrefix; *q != 0; ++q) *p++ = *q;
  char digits[8];
  unsigned count = 0;
  do {
    digits[count++] = static_cast<char>('0' + index % 10);
    index /= 10;
  } while (index != 0);
  while (count != 0) *p++ = digits[--count];
}

}  // namespace

bool Scheduler::start(const SchedulerOptions& options, StackPool& stacks, bool with_caller,
                      unsigned& started) noexcept {
  arch::choose_switch();
  stacks_ = &stacks;
  is_always_slow_ = options.deterministic || !platform::has_heavy_fence();
  has_caller_ = with_caller;
  threads_.store(0, std::memory_order_relaxed);
  started = 0;
  workers_ = {reinterpret_cast<Worker*>(platform::map(bytes_of(options.workers))), options.workers};
  if (workers_.first == nullptr) return false;
  const auto main = [](Worker& worker) noexcept { worker.scheduler->worker_main(worker); };
  const auto wake_one = [](Worker& worker) noexcept { worker.scheduler->idle_workers_.wake_one(); };
  deterministic_.init(
      {workers_, main, wake_one, &dispatcher_.injector(), &idle_workers_.attention(), &idle_workers_.timers(), stacks_},
      options.deterministic, options.seed);
  auto* const timers = reinterpret_cast<WorkerTimers*>(workers_.end());
  dispatcher_.init(options.workers, options.fair_ops, options.deterministic, thieves_, idle_workers_.timers());
  points_.store(options.deterministic ? kSteps : 0, std::memory_order_relaxed);
  thieves_.init(workers_, options.victim, dispatcher_, idle_workers_, deterministic_);
  idle_workers_.init(workers_, timers, dispatcher_, thieves_, deterministic_, options.deterministic ? nullptr : stacks_,
                     options.deterministic || options.pin_to == nullptr ? workers_.count : options.pin_to->allowed);
  idle_workers_.pins().init(options.deterministic ? Pinning::kNever : options.pinning, options.pin_to, workers_,
                            reinterpret_cast<std::int16_t*>(timers + workers_.count));
  for (unsigned i = 0; i < workers_.count; ++i) {
    if (!init_worker(options, i)) {
      destroy_workers();
      return false;
    }
  }
  if (with_caller || start_threads(0, started)) return true;
  stop();
  join();
  return false;
}

bool Scheduler::init_worker(const SchedulerOptions& options, unsigned index) noexcept {
  Worker* const worker = &construct_in<Worker>(&workers_[index]);
  worker->self = worker;
  worker->scheduler = this;
  worker->runtime = options.runtime;
  worker->id = static_cast<std::uint16_t>(index);
  worker->is_steal_enabled = true;
  dispatcher_.init_worker(*worker, options.fair_interval);
  worker->rng = Rng::for_worker(options.seed, index);
  return worker->ready.init(8) && worker->yielded.init(8);
}

// A worker needs a stack before it can do anything. The thread that starts the workers takes all of them first, so that
// a lack of memory is an error of the start: a worker that met it later could only exit, and lose the work that was
// handed to it. Worker 0's stack has the class of its first runnable. In deterministic mode any worker may steal that
// runnable, so its stack waits in the pool. On failure the pool's owner destroys the pool.
bool Scheduler::take_first_stacks(unsigned class_of_first, unsigned& taken) noexcept {
  taken = 0;
  if (is_deterministic() && has_caller_ && !prepare_stack(class_of_first)) return false;
  for (; taken < workers_.count; ++taken) {
    Worker& worker = workers_[taken];
    worker.stack = take_stack(worker, taken == 0 && !is_deterministic() ? class_of_first : 0, nullptr, nullptr);
    if (worker.stack == nullptr) return false;
    if (is_deterministic() && !deterministic_.take_home(worker)) return false;
  }
  return true;
}

// Puts a stack of this class into the pool, where the next taker of one finds it, whatever memory the machine has then.
bool Scheduler::prepare_stack(unsigned size_class) noexcept {
  Stack* const stack = take_stack(workers_[0], size_class, nullptr, nullptr);
  if (stack != nullptr) stacks_->give(nullptr, stack);
  return stack != nullptr;
}

bool Scheduler::start_threads(unsigned class_of_first, unsigned& started) noexcept {
  if (!take_first_stacks(class_of_first, started)) return false;
  const unsigned threads = is_deterministic() ? 1 : workers_.count;
  const unsigned first = has_caller_ ? 1 : 0;
  started = first;
  for (unsigned i = first; i < threads; ++i) {
    char name[16] = {};
    name_worker(name, i);
    threads_.fetch_add(1, std::memory_order_relaxed);
    void* const argument = is_deterministic() ? static_cast<void*>(this) : &workers_[i];
    if (!platform::start_thread(is_deterministic() ? logical_main : thread_main, argument,
                                idle_workers_.pins().cpu_at_start(i), name)) {
      threads_.fetch_sub(1, std::memory_order_relaxed);
      return false;
    }
    ++started;
  }
  return true;
}

void Scheduler::thread_main(void* argument) noexcept {
  auto& worker = *static_cast<Worker*>(argument);
  Scheduler& scheduler = *worker.scheduler;
  platform::set_worker_slot(static_cast<WorkerSlot*>(&worker));
  scheduler.worker_main(worker);
  platform::set_worker_slot(nullptr);
  // The last access to the scheduler: join() may free it from here on.
  if (scheduler.threads_.fetch_sub(1, std::memory_order_acq_rel) == 1) platform::wake(scheduler.threads_, 1u << 30);
  platform::exit_thread();
}

void Scheduler::logical_main(void* argument) noexcept {
  auto& scheduler = *static_cast<Scheduler*>(argument);
  scheduler.deterministic_.run();
  platform::set_worker_slot(nullptr);
  if (scheduler.threads_.fetch_sub(1, std::memory_order_acq_rel) == 1) platform::wake(scheduler.threads_, 1u << 30);
  platform::exit_thread();
}

// The threads are started last, after everything that the first task needs is mapped: otherwise they would contend for
// the kernel's lock of the address space. `first` is handed to worker 0 directly: no other worker can take it, and no
// sleeping worker has to be woken for it.
bool Scheduler::run_caller(Runnable* first, unsigned& started) noexcept {
  started = 0;
  // The thread gets no name: its name is the process's, which is the program's.
  if (!platform::adopt_thread(idle_workers_.pins().cpu_at_start(0), nullptr)) return false;
  if (!start_threads(first->stack_class, started)) return false;
  if (is_deterministic()) {
    push_fresh(workers_[0], first);
    deterministic_.run();
    return true;
  }
  workers_[0].handoff = first;
  void* const before = platform::worker_slot();
  platform::set_worker_slot(static_cast<WorkerSlot*>(&workers_[0]));
  worker_main(workers_[0]);
  platform::set_worker_slot(before);
  return true;
}

// Switches from the thread's own stack to the worker's first one, and back when the worker ends.
void Scheduler::worker_main(Worker& worker) noexcept {
  worker.thread = platform::thread_id();
  const fiber_hooks::Fiber thread = is_deterministic() ? worker.fiber : fiber_hooks::adopt_thread();
  worker.thread_fiber = thread;
  Stack* const first = worker.stack;
  arch::Context context;
  enter_stack(worker, first);
  arch::make_context(context, first->start, base_frame, nullptr, nullptr);
  fiber_hooks::before_switch(thread, worker.fiber);
  janus_context_switch(&worker.thread_context, &context);
  fiber_hooks::after_switch(thread);
  run_pending_action();
  if (const TurnWatch* const watching = dispatcher_.turn_meter().watch()) watching->end(worker);
  if (!is_deterministic()) fiber_hooks::destroy(thread);
  worker.is_gone.store(true, std::memory_order_release);
}

// If the stack has grown meanwhile, the limit is above every stack pointer until children are to run on it: as tell_limit()
// sets it for a long stack (rt/task/stacks/stack_growth.cpp).
void Scheduler::release(Worker& worker) noexcept {
  is_always_slow_ = before_hold_.is_always_slow;
  const bool has_grown = worker.stack->limit != before_hold_.end_of_stack;
  const bool is_slow = before_hold_.stack_limit == kAlwaysSlow;
  worker.stack_limit = has_grown && !is_slow ? kAlwaysSlow - 1 : before_hold_.stack_limit;
}

void Scheduler::hold(Worker& worker) noexcept {
  before_hold_ = {worker.stack_limit, worker.stack->limit, is_always_slow_};
  is_always_slow_ = true;
  worker.stack_limit = kAlwaysSlow;
}

void Scheduler::join() noexcept {
  for (std::uint32_t left; (left = threads_.load(std::memory_order_acquire)) != 0;)
    platform::wait(threads_, left, platform::kForever);
  destroy_workers();
}

void Scheduler::destroy_workers() noexcept {
  for (Worker& worker : workers_) {
    stacks_->flush(worker.stacks);
    worker.ready.destroy();
    worker.yielded.destroy();
  }
  dispatcher_.destroy();
  platform::unmap(reinterpret_cast<std::byte*>(workers_.first), bytes_of(workers_.count));
  workers_.first = nullptr;
}

}  // namespace janus
