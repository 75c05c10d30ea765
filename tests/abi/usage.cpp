// SPDX-License-Identifier: Apache-2.0
// Every part of rt.hpp, used as its notes say. headers_test.py compiles this file; nobody runs it.
#include <janus/rt.hpp>

namespace {

using namespace janus;

// A type that can be moved but not copied byte by byte.
class Text {
 public:
  Text() noexcept = default;
  Text(Text&& other) noexcept : bytes_(std::exchange(other.bytes_, nullptr)) {}
  Text& operator=(Text&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Text() { janus_free(bytes_); }

 private:
  void* bytes_ = nullptr;
};

struct alignas(64) Line {
  char bytes[64];
};

long fib(int n) {
  if (n < 2) return n;
  Nursery nursery;
  auto left = nursery.spawn([n] { return fib(n - 1); });
  const long right = fib(n - 2);
  return left.join().value() + right;
}

Result<long> positive(int x) {
  if (x < 0) return Error{-42, JANUS_KIND_CHILD_FAILED};
  return x;
}

[[maybe_unused]] int tasks() {
  Nursery nursery({.on_error = OnError::kCollect, .name = "usage"});
  auto negative = nursery.spawn([] { return -5; });
  static_assert(std::is_same_v<decltype(negative), Task<int>>);
  auto unwrapped = nursery.spawn([] { return positive(3); }, {.stack_size = 65536, .name = "positive"});
  static_assert(std::is_same_v<decltype(unwrapped), Task<long>>);
  auto nothing = nursery.spawn([] {});
  static_assert(std::is_same_v<decltype(nothing), Task<void>>);
  auto moved = nursery.spawn([text = Text()]() mutable { return std::move(text); });
  auto aligned = nursery.spawn([line = Line{}] { return line; });
  auto checked = nursery.spawn([]() -> Result<void> { return {}; });
  nursery.spawn(&tasks);

  nothing.cancel();
  if (!checked.join() || nothing.done()) return static_cast<int>(nothing.id());
  const int value = negative.join().value_or(3);
  negative = nursery.spawn([] { return 1; });
  const Text text = moved.join().value();
  nursery.close();
  nursery.cancel();
  if (const Result<void> result = nursery.await(); !result) return static_cast<int>(result.error().kind);
  return value + aligned.join().value().bytes[0] + static_cast<int>(unwrapped.join().error().code);
}

[[maybe_unused]] bool selects() {
  const Channel<Text> texts(4);
  const Channel<int> numbers;
  Text text;
  int number = 0;
  const int values[] = {1, 2, 3};
  int more[3];
  Text many[2];
  (void)numbers.send_many(values);
  (void)numbers.recv_many(more);
  (void)texts.send_many(many);
  (void)texts.recv_many(many, 1);
  auto taken = select(recv_case(numbers, number), send_case(texts, std::move(text)));
  taken = select_for(5_ms, recv_case(texts, text), send_case(numbers, 3));
  taken = select_until(1, recv_case(texts, text));
  taken = try_select(send_case(numbers, number));
  const Result<int> in_time = timeout(1_s, [&] { return numbers.recv(); });
  return taken.ok() && taken.value().status.ok() && taken.value().index == 0 && in_time.ok();
}

[[maybe_unused]] bool channels() {
  Nursery nursery;
  Channel<Text> texts(4);
  Channel<int> numbers;
  nursery.spawn([texts, numbers] {
    (void)texts.send(Text());
    Text text;
    (void)texts.try_send(std::move(text));
    const int two = 2;
    (void)numbers.try_send(two);
    (void)numbers.send(1);
    (void)numbers.close();
  });
  int sum = 0;
  for (int number : numbers) sum += number;
  for (Text& text : texts) [[maybe_unused]] const Text kept = std::move(text);
  return texts.try_recv().ok() && numbers.recv().ok() && texts && sum > 0;
}

struct Message {
  std::uint64_t reference;
  char text[16];
};
int is_first(const Message& message) {
  return message.reference == 1;
}

[[maybe_unused]] bool mailboxes() {
  const Mailbox<Message> mine(10);
  const Mailbox<Message> copy = mine;
  if (!mine || !mine.send({1, ""}) || !mine.send_until({2, ""}, deadline_in(5_ms)) || !copy.try_send({3, ""}))
    return false;
  std::uint64_t wanted = 2;
  auto is_wanted = [&wanted](const Message& message) { return message.reference == wanted; };
  const Result<Message> second = copy.recv_match(is_wanted);
  const Result<Message> first = mine.recv_match_until(is_first, deadline_in(5_ms));
  const Result<Message> odd = mine.recv_match([](const Message& message) { return message.reference % 2 == 1; });
  return second.ok() && first.ok() && odd.ok() && mine.recv().ok() && mine.recv_until(1).ok() && mine.close().ok() &&
         mine.raw() != nullptr;
}

[[maybe_unused]] Result<std::size_t> supervisors() {
  Supervisor supervisor(
      {.strategy = Strategy::kRestForOne, .max_restarts = 3, .within_ns = 1'000'000, .name = "usage"});
  const auto serves = [] {};
  auto counts = [n = 0]() mutable { return ++n < 3 ? -1 : 0; };
  auto fails = []() -> Result<Text> { return Error{-3, JANUS_KIND_CHILD_FAILED}; };
  const Result<std::int64_t> id = supervisor.add(serves, {.restart = Restart::kTemporary, .stop_ns = 1'000'000});
  if (!supervisor || !id.ok() || !supervisor.add(counts) || !supervisor.add(fails, {.ready_ns = 1}).ok())
    return id.error();
  Nursery nursery;
  nursery.spawn([&] { return supervisor.run(); });
  (void)child_ready();
  (void)supervisor.remove(id.value());
  janus_child children[3];
  Result<std::size_t> count = supervisor.children(children, 3);
  (void)supervisor.close();
  return supervisor.raw() != nullptr ? std::move(count) : count;
}

[[maybe_unused]] Result<long> forks(int (&numbers)[100]) {
  auto [text, sum] = fork_join([] { return Text(); },
                               [&] {
                                 return parallel_reduce(
                                     numbers, 0L, [](int n) { return long{n}; }, [](long a, long b) { return a + b; });
                               });
  if (auto done = parallel_for(numbers, 10, [](int& n) { ++n; }); !done) return done.error();
  if (auto done = parallel_for(Numbers{0, 100}, [&](std::ptrdiff_t i) { numbers[i] = 0; }); !done) return done.error();
  if (auto done = parallel_sort(numbers, [](int a, int b) { return a > b; }); !done) return done.error();
  if (auto done = parallel_sort(numbers); !done) return done.error();
  return text.ok() ? std::move(sum) : text.error();
}

[[maybe_unused]] Result<int> locks() {
  static Mutex mutex;
  static Condition changed;
  static int value;
  Nursery nursery;
  (void)nursery.spawn([] {
    if (auto lock = mutex.lock()) value = 7;
    changed.broadcast();
  });
  Mutex::Lock lock = mutex.lock_until(deadline_in(1_us));
  if (!lock) return lock.error();
  if (lock.is_poisoned() && !mutex.heal()) return lock.error();
  if (Result<void> waited = changed.wait(lock, [] { return value == 7; }); !waited) return waited.error();
  if (Result<void> waited = changed.wait_until(lock, 1); waited) changed.signal();
  lock.unlock();
  static RwLock shared;
  if (auto reading = shared.read(), again = shared.try_read(); reading && again) ++value;
  if (auto writing = shared.write()) ++value;
  if (auto writing = shared.try_write()) ++value;
  if (auto reading = shared.read_until(1)) ++value;
  if (auto writing = shared.write_until(1)) ++value;
  Semaphore permits(2);
  if (!permits.acquire() || !permits.try_acquire() || permits.acquire_until(1) || !permits.release(2))
    return Error{-1, Error::kCall};
  return mutex.try_lock() ? value : janus_mutex_unlock(mutex.raw());
}

[[maybe_unused]] Result<long> runtimes() {
  janus_rt_config config = {};
  config.worker_count = 2;
  config.flags = JANUS_RT_DETERMINISTIC;
  Runtime runtime(config);
  if (!runtime) return Error{-1, Error::kCall};
  if (auto result = runtime.run([]() -> Result<void> { return sleep(5_ms + 3_us); }); !result) return result.error();
  if (runtime.stats().workers != 2 || cancelled() || !yield()) return Error{-2, Error::kCall};
  return runtime.run([] { return fib(20); });
}

static_assert(2_s == 2000_ms && 1_us < 1_ms && 3_ns * 2 == 6_ns);
static_assert(!std::is_copy_constructible_v<Task<int>> && std::is_nothrow_move_constructible_v<Task<int>>);
static_assert(!std::is_move_constructible_v<Nursery> && std::is_copy_constructible_v<Channel<int>>);

}  // namespace
