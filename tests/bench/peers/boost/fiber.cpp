// SPDX-License-Identifier: Apache-2.0
// Boost.Fiber with its own schedulers: round robin on one worker, work stealing on several. Stacks of 16 KiB come from
// tcmalloc, which is linked in: the C library's malloc takes many times as long for them. Fork-join uses
// launch::dispatch (the child runs first), which is faster there; scopes of many children use launch::post.
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <boost/fiber/all.hpp>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "../measure.h"

namespace {

namespace fibers = boost::fibers;

constexpr std::size_t kStackBytes = 16384;
constexpr long kScope = 1000;

template <class F>
fibers::fiber spawn(fibers::launch policy, F&& body) {
  return fibers::fiber(policy, std::allocator_arg, fibers::fixedsize_stack(kStackBytes), std::forward<F>(body));
}
constexpr auto kChildFirst = fibers::launch::dispatch, kQueued = fibers::launch::post;

// One of several threads: steals and runs fibers until it is told to stop.
class Workers {
 public:
  explicit Workers(int count) {
    for (int i = 1; i < count; ++i) threads_.emplace_back([this, i, count] { help(i, count); });
    pin(0, count);
    if (count > 1) fibers::use_scheduling_algorithm<fibers::algo::work_stealing>(count);
  }

  ~Workers() {
    {
      const std::lock_guard<fibers::mutex> lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    for (auto& thread : threads_) thread.join();
  }

  // Runs `body` as a fiber of its own: the main fiber cannot be stolen, and a thief gives up on a queue that begins
  // with it.
  template <class F>
  void run(F&& body) {
    spawn(kQueued, std::forward<F>(body)).join();
  }

 private:
  void help(int i, int count) {
    pin(i, count);
    fibers::use_scheduling_algorithm<fibers::algo::work_stealing>(count);
    std::unique_lock<fibers::mutex> lock(mutex_);
    changed_.wait(lock, [this] { return done_; });
  }

  std::vector<std::thread> threads_;
  fibers::mutex mutex_;
  fibers::condition_variable changed_;
  bool done_ = false;
};

// --- Yield ----------------------------------------------------------------------------------------------------------

struct Yielding {
  long tasks, rounds;
  std::atomic<long> started{0}, finished{0}, yields{0};
  std::atomic<std::uint64_t> start{0}, end{0};

  // Round robin keeps the tasks in step: the measurement starts with the first task that begins and ends with the last.
  void task() {
    for (int i = 0; i < 2; ++i) boost::this_fiber::yield();
    if (started.fetch_add(1) == 0) start = now_ns();
    for (long i = 0; i < rounds; ++i) boost::this_fiber::yield();
    yields.fetch_add(rounds, std::memory_order_relaxed);
    if (finished.fetch_add(1) + 1 == tasks) end = now_ns();
  }
};

void yield(long tasks, int workers) {
  Workers crew(workers);
  crew.run([tasks] {
    Yielding state{tasks, std::max(4000000 / tasks, 1L)};
    std::vector<fibers::fiber> all;
    for (long i = 0; i < tasks; ++i) all.push_back(spawn(kQueued, [&state] { state.task(); }));
    for (auto& one : all) one.join();
    if (state.yields != tasks * state.rounds) fail("%ld yields", state.yields.load());
    figure("ns", static_cast<double>(state.end - state.start) / static_cast<double>(state.yields));
  });
}

// --- Spawn, fork and join -------------------------------------------------------------------------------------------

// Each task only writes its scope's mark into its own slot.
std::atomic<unsigned char> marks[kScope];

void scope_of(std::vector<fibers::fiber>& scope, long tasks, unsigned char mark) {
  for (long i = 0; i < tasks; ++i)
    scope.push_back(spawn(kQueued, [i, mark] { marks[i].store(mark, std::memory_order_relaxed); }));
  for (auto& one : scope) one.join();
  scope.clear();
  for (long i = 0; i < tasks; ++i)
    if (marks[i].load(std::memory_order_relaxed) != mark) fail("task %ld of a scope did not run", i);
}

std::uint64_t spawn_scopes(long tasks) {
  std::vector<fibers::fiber> scope;
  scope.reserve(kScope);
  unsigned char mark = 0;
  const auto start = now_ns();
  for (long left = tasks; left > 0; left -= kScope) scope_of(scope, std::min(left, kScope), ++mark);
  return now_ns() - start;
}

void spawn_join(long tasks, int workers) {
  Workers crew(workers);
  crew.run([tasks] {
    spawn_scopes(std::min(tasks, 10000L));
    figure("ns", static_cast<double>(spawn_scopes(tasks)) / static_cast<double>(tasks));
  });
}

long fib_of(long n) {
  if (n < 2) return n;
  long left = 0;
  auto child = spawn(kChildFirst, [&left, n] { left = fib_of(n - 1); });
  const long right = fib_of(n - 2);
  child.join();
  return left + right;
}

void fib(long n, int workers) {
  Workers crew(workers);
  crew.run([n] {
    fib_of(std::min(n, 15L));
    const auto start = now_ns();
    const long result = fib_of(n);
    const auto spent = now_ns() - start;
    if (result != fib_by_adding(n)) fail("fib(%ld) is not %ld", n, result);
    figure("ns", static_cast<double>(spent) / std::max(spawns_of_fib(n), 1.0));
  });
}

long skynet_of(long first, long leaves) {
  if (leaves == 1) return first;
  long part[10];
  fibers::fiber child[10];
  for (int i = 0; i < 10; ++i)
    child[i] = spawn(kChildFirst, [&, i] { part[i] = skynet_of(first + i * (leaves / 10), leaves / 10); });
  long sum = 0;
  for (int i = 0; i < 10; ++i) {
    child[i].join();
    sum += part[i];
  }
  return sum;
}

void skynet(long leaves, int workers) {
  Workers crew(workers);
  crew.run([leaves] {
    const double tasks = tasks_of_skynet(leaves);
    skynet_of(0, std::min(leaves, 1000L));
    const auto start = now_ns();
    const long sum = skynet_of(0, leaves);
    const auto spent = static_cast<double>(now_ns() - start);
    if (sum != leaves * (leaves - 1) / 2) fail("the leaves add up to %ld", sum);
    figure("ns", spent / tasks);
    figure("ms", spent / 1e6);
  });
}

// --- Waiting --------------------------------------------------------------------------------------------------------

struct Gate {
  fibers::mutex mutex;
  fibers::condition_variable opened;
  bool open = false;
  long waiting = 0;

  void wait() {
    std::unique_lock<fibers::mutex> lock(mutex);
    ++waiting;
    opened.wait(lock, [this] { return open; });
  }
  void release() {
    {
      const std::lock_guard<fibers::mutex> lock(mutex);
      open = true;
    }
    opened.notify_all();
  }
};

// All stacks that will be needed, from one mapping; the last one freed is used first. malloc and tcmalloc would touch
// one more page of each stack.
class Slab {
 public:
  explicit Slab(long stacks) : bytes_(kStackBytes * static_cast<std::size_t>(stacks)) {
    begin_ = static_cast<char*>(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (begin_ == MAP_FAILED) fail("no memory for the stacks");
    next_ = begin_;
    free_.reserve(stacks);
  }
  ~Slab() { munmap(begin_, bytes_); }

  char* take() {
    if (free_.empty()) return next_ += kStackBytes;
    char* const top = free_.back();
    free_.pop_back();
    return top;
  }
  void give_back(char* top) { free_.push_back(top); }

 private:
  std::size_t bytes_;
  char *begin_, *next_;
  std::vector<char*> free_;
};

// A stack allocator in the sense of Boost.Context.
struct SlabStack {
  Slab* slab;
  boost::context::stack_context allocate() {
    boost::context::stack_context stack;
    stack.size = kStackBytes;
    stack.sp = slab->take();
    return stack;
  }
  void deallocate(boost::context::stack_context& stack) noexcept { slab->give_back(static_cast<char*>(stack.sp)); }
};

struct Parked {
  double create_ns, teardown_ns, bytes;
};

Parked park(long tasks, SlabStack stacks, std::vector<fibers::fiber>& all) {
  Gate gate;
  const auto before = resident_bytes();
  const auto start = now_ns();
  for (long i = 0; i < tasks; ++i) all.emplace_back(kQueued, std::allocator_arg, stacks, [&gate] { gate.wait(); });
  while (gate.waiting < tasks) boost::this_fiber::yield();
  const auto blocked = now_ns();
  const auto bytes = resident_bytes() - before;
  const auto opening = now_ns();
  gate.release();
  for (auto& one : all) one.join();
  const auto end = now_ns();
  all.clear();
  const auto per_task = [tasks](std::uint64_t value) {
    return static_cast<double>(value) / static_cast<double>(tasks);
  };
  return {per_task(blocked - start), per_task(end - opening), per_task(bytes)};
}

void parked(long tasks, int workers) {
  Workers crew(workers);
  crew.run([tasks] {
    Slab slab(tasks);
    std::vector<fibers::fiber> all(tasks);
    all.clear();  // the stacks' pages are touched now
    const auto first = park(tasks, SlabStack{&slab}, all), second = park(tasks, SlabStack{&slab}, all);
    figure("bytes", first.bytes);
    figure("create", first.create_ns);
    figure("teardown", first.teardown_ns);
    figure("reuse", second.create_ns);
  });
}

using Words = fibers::unbuffered_channel<long>;

void exchange(Words& out, Words& back, long rounds) {
  for (long i = 0; i < rounds; ++i) {
    out.push(i);
    if (back.value_pop() != i + 1) fail("round trip %ld brought something else", i);
  }
}

void channel(long rounds, int workers) {
  Workers crew(workers);
  crew.run([rounds] {
    Words out, back;
    auto echo = spawn(kChildFirst, [&] {
      for (long word; out.pop(word) == fibers::channel_op_status::success;) back.push(word + 1);
    });
    exchange(out, back, rounds / 10 + 1);
    const auto start = now_ns();
    exchange(out, back, rounds);
    figure("ns", static_cast<double>(now_ns() - start) / static_cast<double>(rounds));
    out.close();
    echo.join();
  });
}

const workload kWorkloads[] = {{"yield", yield},   {"spawn", spawn_join}, {"fib", fib},      {"skynet", skynet},
                               {"parked", parked}, {"channel", channel},  {nullptr, nullptr}};

}  // namespace

int main(int argc, char** argv) {
  return run_workload(kWorkloads, argc, argv);
}
