// SPDX-License-Identifier: Apache-2.0
// oneTBB: task groups in an arena with a slot for each worker, one of which is main's thread.
#include <oneapi/tbb.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "../../workloads/uts_tree.h"
#include "../measure.h"

namespace {

constexpr long kMostInScope = 10000;

// Pins each thread that enters the arena, by the slot that it takes.
class Pinned : public tbb::task_scheduler_observer {
 public:
  Pinned(tbb::task_arena& arena, int workers) : tbb::task_scheduler_observer(arena), workers_(workers) {
    observe(true);
  }
  ~Pinned() { observe(false); }
  void on_scheduler_entry(bool) override { pin(tbb::this_task_arena::current_thread_index(), workers_); }

 private:
  int workers_;
};

// Runs `body` in an arena whose workers have all run once before.
template <class F>
void with_workers(int workers, F&& body) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, workers);
  tbb::task_arena arena(workers);
  const Pinned pinned(arena, workers);
  arena.execute([&] {
    std::atomic<int> here{0};
    const auto deadline = now_ns() + 5000000000u;
    tbb::task_group group;
    for (int i = 1; i < workers; ++i) arena.enqueue([&here] { ++here; });
    while (here < workers - 1)
      if (now_ns() > deadline) fail("only %d of %d workers came", here + 1, workers);
    body();
  });
}

// --- Spawn, fork and join -------------------------------------------------------------------------------------------

// Each task only writes its scope's mark into its own slot.
std::atomic<unsigned char> marks[kMostInScope];

void scope_of(long tasks, unsigned char mark) {
  tbb::task_group scope;
  for (long i = 0; i < tasks; ++i) scope.run([i, mark] { marks[i].store(mark, std::memory_order_relaxed); });
  scope.wait();
  for (long i = 0; i < tasks; ++i)
    if (marks[i].load(std::memory_order_relaxed) != mark) fail("task %ld of a scope did not run", i);
}

std::uint64_t spawn_scopes(long most, long tasks) {
  unsigned char mark = 0;
  const auto start = now_ns();
  for (long left = tasks; left > 0; left -= most) scope_of(std::min(left, most), ++mark);
  return now_ns() - start;
}

template <long most>
void spawn_join(long tasks, int workers) {
  static_assert(most <= kMostInScope);
  with_workers(workers, [tasks] {
    spawn_scopes(most, std::min(tasks, 100000L));
    figure("ns", static_cast<double>(spawn_scopes(most, tasks)) / static_cast<double>(tasks));
  });
}

long fib_of(long n) {
  if (n < 2) return n;
  long left, right;
  tbb::task_group children;
  children.run([&left, n] { left = fib_of(n - 1); });
  right = fib_of(n - 2);
  children.wait();
  return left + right;
}

void fib(long n, int workers) {
  with_workers(workers, [n] {
    fib_of(std::min(n, 20L));
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
  tbb::task_group children;
  for (int i = 0; i < 10; ++i) children.run([&, i] { part[i] = skynet_of(first + i * (leaves / 10), leaves / 10); });
  children.wait();
  long sum = 0;
  for (const long one : part) sum += one;
  return sum;
}

void skynet(long leaves, int workers) {
  with_workers(workers, [leaves] {
    const double tasks = tasks_of_skynet(leaves);
    skynet_of(0, std::min(leaves, 10000L));
    const auto start = now_ns();
    const long sum = skynet_of(0, leaves);
    const auto spent = static_cast<double>(now_ns() - start);
    if (sum != leaves * (leaves - 1) / 2) fail("the leaves add up to %ld", sum);
    figure("ns", spent / tasks);
    figure("ms", spent / 1e6);
  });
}

// Counts the nodes of a subtree with a task for each; part[i] is the i-th child's.
long visit_children(std::uint64_t state, long* part, long count) {
  tbb::task_group children;
  for (long i = 0; i < count; ++i) {
    children.run([state, part, i] {
      const std::uint64_t child = child_of(state, i);
      long below[kChildren];
      part[i] = is_leaf(child) ? 1 : visit_children(child, below, kChildren);
    });
  }
  children.wait();
  return std::accumulate(part, part + count, 1L);
}

// The tree is deep, and a thread that waits runs other tasks on top of its stack.
constexpr std::size_t kStackBytes = std::size_t{64} << 20;

void uts(long trees, int workers) {
  const tbb::global_control of_workers(tbb::global_control::thread_stack_size, kStackBytes);
  rlimit of_main;
  if (getrlimit(RLIMIT_STACK, &of_main)) fail("no limit of the stack");
  of_main.rlim_cur = std::min<rlim_t>(of_main.rlim_max, kStackBytes);
  if (setrlimit(RLIMIT_STACK, &of_main)) fail("cannot raise the limit of the stack");
  with_workers(workers, [trees] {
    std::vector<long> part(trees);
    visit_children(kRoot, part.data(), std::min(trees, 500L));
    const auto start = now_ns();
    const long nodes = visit_children(kRoot, part.data(), trees);
    const auto spent = now_ns() - start;
    if (nodes != nodes_of_uts(trees)) fail("%ld nodes", nodes);
    figure("ns", static_cast<double>(spent) / static_cast<double>(nodes));
  });
}

// --- Queens ---------------------------------------------------------------------------------------------------------

constexpr int kMaxQueens = 16;

struct Board {
  signed char column[kMaxQueens];  // of the queen in each row
};

// Whether the last of the first `rows` queens is safe, if the others do not attack each other.
bool last_is_safe(const Board& board, int rows) {
  const int last = board.column[rows - 1];
  for (int i = 0; i < rows - 1; ++i) {
    const int apart = board.column[i] - last, height = rows - 1 - i;
    if (apart == 0 || apart == height || apart == -height) return false;
  }
  return true;
}

// A task for each safe placement.
long queens(const Board& board, int rows, int size) {
  if (rows == size) return 1;
  Board next[kMaxQueens];
  long solutions[kMaxQueens] = {};
  tbb::task_group children;
  for (int i = 0; i < size; ++i) {
    std::copy_n(board.column, rows, next[i].column);
    next[i].column[rows] = static_cast<signed char>(i);
    if (last_is_safe(next[i], rows + 1)) children.run([&, i] { solutions[i] = queens(next[i], rows + 1, size); });
  }
  children.wait();
  long sum = 0;
  for (int i = 0; i < size; ++i) sum += solutions[i];
  return sum;
}

void nqueens(long size, int workers) {
  const long expected = solutions_of_queens(size);
  with_workers(workers, [size, expected] {
    const Board empty{};
    queens(empty, 0, static_cast<int>(std::min(size, 8L)));
    const auto start = now_ns();
    const long solutions = queens(empty, 0, static_cast<int>(size));
    const auto spent = now_ns() - start;
    if (solutions != expected) fail("%ld solutions instead of %ld", solutions, expected);
    figure("ms", static_cast<double>(spent) / 1e6);
  });
}

// --- Waking ---------------------------------------------------------------------------------------------------------

// An enqueued task always gets a worker. A task of a group whose owner does not wait yet is sometimes not started.
std::uint64_t wake_once(long idle_us) {
  std::atomic<std::uint64_t> ran_at{0};
  spin_for_us(idle_us);
  const auto start = now_ns();
  tbb::this_task_arena::enqueue([&ran_at] { ran_at = now_ns(); });
  while (!ran_at)
    if (now_ns() > start + 1000000000) fail("no worker came for a task within a second");
  return ran_at - start;
}

void wake(long idle_us, int workers) {
  if (workers != 2) fail("wake wants two workers");
  with_workers(workers, [idle_us] {
    std::vector<std::uint64_t> samples(wake_samples(idle_us));
    const auto start = now_ns(), busy = processor_ns();
    for (auto& sample : samples) sample = wake_once(idle_us);
    figure_of_others(processor_ns() - busy, now_ns() - start);
    figures_of_samples(samples.data(), samples.size());
  });
}

const workload kWorkloads[] = {{"spawn", spawn_join<1000>},
                               {"spawn_10", spawn_join<10>},
                               {"spawn_100", spawn_join<100>},
                               {"spawn_10000", spawn_join<10000>},
                               {"fib", fib},
                               {"skynet", skynet},
                               {"uts", uts},
                               {"nqueens", nqueens},
                               {"wake", wake},
                               {nullptr, nullptr}};

}  // namespace

int main(int argc, char** argv) {
  return run_workload(kWorkloads, argc, argv);
}
