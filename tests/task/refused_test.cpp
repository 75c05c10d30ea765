// SPDX-License-Identifier: Apache-2.0
// refused_test.cpp — the platform refuses memory or a thread, at each request that a runtime makes. The call reports an
// error, nothing else has changed, and the call works when there is memory again. Also: which calls need nothing of the
// platform.
#include "rt/task/nurseries/handle.h"
#include "rt/task/record/channel.h"
#include "rt/task/record/runtime.h"
#include "tests/api/world.h"
#include "tests/fake_platform/fake_platform.h"

namespace janus::test {

namespace {

constexpr std::size_t kHuge = 3 << 20;  // large enough for a mapping of its own

// The objects that the calls below use or make. tidy_up() frees what a call has made.
struct Things {
  janus_nursery* nursery;  // where tasks are spawned
  janus_nursery* opened;
  janus_channel* channel;
  void* block;
  int* kept;  // a block to resize
  janus_local_key key, made;
};

void tidy_up(Things& mine) {
  if (mine.opened != nullptr) CHECK_EQ(end(mine.opened), 0);
  if (mine.channel != nullptr) janus_channel_release(mine.channel);
  if (mine.made.raw != 0) CHECK_EQ(janus_local_delete(mine.made), 0);
  janus_free(mine.block);
  mine.opened = nullptr;
  mine.channel = nullptr;
  mine.block = nullptr;
  mine.made = {};
}

int answer_of(const void* pointer) {
  return pointer != nullptr ? 0 : janus_last_error();
}

int spawns_with(Things& mine, const char* name, janus_budget budget = {}) {
  janus_spawn_options options = {};
  options.name = name;
  options.budget = budget;
  const janus_task task = janus_nursery_spawn_in(mine.nursery, return_zero, nullptr, &options);
  if (task.raw == 0) return janus_last_error();
  CHECK_EQ(janus_task_join(task, nullptr), 0);
  return janus_task_release(task);
}

int opens_with(Things& mine, const char* name, janus_budget budget = {}) {
  janus_nursery_options options = {};
  options.name = name;
  options.budget = budget;
  return answer_of(mine.opened = janus_nursery_open(nullptr, &options));
}

int resizes(Things& mine, std::size_t bytes) {
  if (mine.kept == nullptr) mine.kept = static_cast<int*>(janus_alloc(100));
  *mine.kept = 4711;
  mine.block = janus_realloc(mine.kept, bytes);
  CHECK_EQ(*static_cast<int*>(mine.block != nullptr ? mine.block : mine.kept), 4711);
  if (mine.block != nullptr) mine.kept = nullptr;
  return answer_of(mine.block);
}

int spawns_into_the_current(Things&) {
  if (janus_nursery_create() == nullptr) return janus_last_error();
  const int answer = janus_nursery_spawn(return_zero, nullptr) == 0 ? 0 : janus_last_error();
  CHECK_EQ(janus_nursery_await_all(), 0);
  return answer;
}

constexpr janus_budget kSome = {1000, 64 << 10, 4, 4, 4};

// What the call needs that may be refused.
enum Need : unsigned { kNothing = 0, kBlock = 1, kRecord = 2 };

struct Call {
  const char* what;
  unsigned needs;
  int (*make)(Things& mine);  // 0, or the error
};
constexpr Call kCalls[] = {
    {"alloc", kBlock, [](Things& mine) { return answer_of(mine.block = janus_alloc(64)); }},
    {"alloc, large", kBlock, [](Things& mine) { return answer_of(mine.block = janus_alloc(100'000)); }},
    {"alloc, huge", kBlock, [](Things& mine) { return answer_of(mine.block = janus_alloc(kHuge)); }},
    {"alloc_aligned", kBlock, [](Things& mine) { return answer_of(mine.block = janus_alloc_aligned(4096, 300)); }},
    {"realloc", kBlock, [](Things& mine) { return resizes(mine, 3000); }},
    {"realloc, huge", kBlock, [](Things& mine) { return resizes(mine, kHuge); }},
    {"open", kRecord, [](Things& mine) { return opens_with(mine, nullptr); }},
    {"open with a name", kRecord, [](Things& mine) { return opens_with(mine, "a name"); }},
    {"open with a budget", kRecord, [](Things& mine) { return opens_with(mine, nullptr, kSome); }},
    {"create, spawn, await_all", kRecord, spawns_into_the_current},
    {"spawn_in", kRecord, [](Things& mine) { return spawns_with(mine, nullptr); }},
    {"spawn_in with a name", kRecord, [](Things& mine) { return spawns_with(mine, "a name"); }},
    {"spawn_in with a budget", kRecord, [](Things& mine) { return spawns_with(mine, nullptr, kSome); }},
    {"channel_create", kRecord, [](Things& mine) { return answer_of(mine.channel = janus_channel_create(8, 0)); }},
    {"channel_create with room", kBlock | kRecord,
     [](Things& mine) { return answer_of(mine.channel = janus_channel_create(64, 4)); }},
    {"channel_create with much", kBlock | kRecord,
     [](Things& mine) { return answer_of(mine.channel = janus_channel_create(kHuge / 8, 8)); }},
    {"local_new", kBlock, [](Things& mine) { return janus_local_new(&mine.made, nullptr); }},
    {"local_set", kBlock, [](Things& mine) { return janus_local_set(mine.key, nullptr); }},
    {"set_name", kBlock, [](Things&) { return janus_task_set_name("another name"); }},
    {"print", kNothing, [](Things&) { return janus_print(1, "%s%300s", "", "\n"); }},
};

bool is_of_memory(int error) {
  return error == JANUS_E_NO_MEMORY || error == JANUS_E_BUDGET;
}

// What must be the same after a refused call, except for the ops that it costs.
struct State {
  janus_budget left;
  janus_stats stats;
};

State state_now() {
  return {janus_budget_get_current(), stats_of()};
}

void check_same(const State& before, const State& after, const Call& call) {
  const janus_budget &was = before.left, &is = after.left;
  const bool same = was.memory == is.memory && was.spawn_count == is.spawn_count && was.channel_ops == is.channel_ops &&
                    was.syscalls == is.syscalls && before.stats.bytes_in_use == after.stats.bytes_in_use &&
                    before.stats.tasks_live == after.stats.tasks_live &&
                    before.stats.nurseries_live == after.stats.nurseries_live;
  if (!CHECK(same)) note("call", call.what);
}

// Makes the call in a cage, where each byte that is not given back shows. The platform refuses something while the
// Refusal object lives; afterwards the call must work. Returns whether the call was refused.
template <class Refusal, class... Arguments>
bool try_call(const Call& call, Arguments... arguments) {
  int answer = 0;
  auto in_a_cage = [&] {
    Things mine = {};
    mine.nursery = open_nursery(JANUS_ON_ERROR_COLLECT);
    mine.kept = static_cast<int*>(janus_alloc(100));
    CHECK_EQ(janus_local_new(&mine.key, nullptr), 0);
    {
      const Refusal refusal(arguments...);
      const State before = state_now();
      answer = call.make(mine);
      if (answer == 0)
        tidy_up(mine);
      else
        check_same(before, state_now(), call);
    }
    if (!CHECK(answer == 0 || is_of_memory(answer))) note("call", call.what);
    if (!CHECK_EQ(call.make(mine), 0)) note("call, once there is memory", call.what);
    tidy_up(mine);
    janus_free(mine.kept);
    CHECK_EQ(janus_local_delete(mine.key), 0);
    CHECK_EQ(end(mine.nursery), 0);
    return 0;
  };
  Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, {4'000'000'000, 512 << 20, 60'000, 1000, 1000});
  cage.go(in_a_cage);
  CHECK_EQ(cage.end(), 0);
  return answer != 0;
}

// ---- How the platform refuses ----

struct RefusedMaps {
  RefusedMaps(std::uint64_t first, std::uint64_t count) { fake_platform::refuse_maps(first, count); }
  ~RefusedMaps() { fake_platform::refuse_maps(fake_platform::kNever, 0); }
};

// All records of tasks, channels and nurseries are in use, and no more can be mapped.
class FullPools {
 public:
  FullPools() : nursery_(open_nursery(JANUS_ON_ERROR_COLLECT)) {
    fake_platform::limit_mapped_bytes(fake_platform::mapped_bytes());
    const std::uint64_t alive = stats_of().tasks_live;
    while (spawn(nursery_, return_zero).raw != 0) {
    }
    CHECK_EQ(janus_last_error(), JANUS_E_NO_MEMORY);
    CHECK(eventually([&] { return stats_of().tasks_live == alive; }));  // the nursery still keeps their records
    for (channel_count_ = 0; channel_count_ < kMax; ++channel_count_)
      if ((channels_[channel_count_] = janus_channel_create(8, 0)) == nullptr) break;
    CHECK_EQ(janus_last_error(), JANUS_E_NO_MEMORY);
    while (janus_nursery_create() != nullptr) ++nursery_count_;
    CHECK_EQ(janus_last_error(), JANUS_E_NO_MEMORY);
  }
  ~FullPools() {
    fake_platform::limit_mapped_bytes(fake_platform::kNever);
    for (; nursery_count_ != 0; --nursery_count_) CHECK_EQ(janus_nursery_await_all(), 0);
    while (channel_count_ != 0) janus_channel_release(channels_[--channel_count_]);
    CHECK_EQ(end(nursery_), 0);
  }
  FullPools(const FullPools&) = delete;
  FullPools& operator=(const FullPools&) = delete;

 private:
  static constexpr unsigned kMax = 10'000;
  janus_nursery* nursery_;
  static inline janus_channel* channels_[kMax];
  unsigned channel_count_ = 0, nursery_count_ = 0;
};

// All mapped memory is in use, except `spare` blocks of each size: that many allocations succeed.
class FullHeap {
 public:
  explicit FullHeap(std::size_t spare) {
    fake_platform::limit_mapped_bytes(fake_platform::mapped_bytes());
    for (std::size_t bytes = 1 << 20; bytes > 4096; bytes /= 2) fill(bytes, 0);
    for (std::size_t bytes = 4096; bytes != 0; bytes -= 16) fill(bytes, spare);
  }
  ~FullHeap() {
    fake_platform::limit_mapped_bytes(fake_platform::kNever);
    while (void* const block = first_) {
      first_ = *static_cast<void**>(block);
      janus_free(block);
    }
  }
  FullHeap(const FullHeap&) = delete;
  FullHeap& operator=(const FullHeap&) = delete;

 private:
  void fill(std::size_t bytes, std::size_t spare) {
    void* spares[4];
    std::size_t count = 0;
    while (void* const block = janus_alloc(bytes)) {
      if (count < spare) {
        spares[count++] = block;
      } else {
        *static_cast<void**>(block) = first_;
        first_ = block;
      }
    }
    while (count != 0) janus_free(spares[--count]);
  }

  void* first_ = nullptr;
};

janus_rt_config one_worker() {
  janus_rt_config config = with_workers(1);
  config.memory = std::uint64_t{4} << 30;
  return config;
}

}  // namespace

TEST(refused, each_call_of_a_new_runtime_at_each_refusal_leaves_everything_as_it_was) {
  // A new runtime's first task has no cached memory, so most calls need the platform.
  for (const Call& call : kCalls) {
    for (const std::uint64_t count : {std::uint64_t{1}, fake_platform::kNever}) {
      for (std::uint64_t first = 1; first <= 4; ++first) {
        fake_platform::reset();
        run_in(one_worker(), [&] { (void)try_call<RefusedMaps>(call, first, count); });
        CHECK_EQ(fake_platform::mapped_bytes(), 0u);
        CHECK_EQ(fake_platform::stray_unmaps(), 0u);
      }
    }
  }
}

TEST(refused, each_call_that_needs_a_record_and_finds_none_leaves_everything_as_it_was) {
  fake_platform::reset();
  run_in(one_worker(), [] {
    for (const Call& call : kCalls)
      if (!CHECK(try_call<FullPools>(call) || (call.needs & kRecord) == 0)) note("call", call.what);
  });
  CHECK_EQ(fake_platform::mapped_bytes(), 0u);
}

#ifndef JANUS_FIBERS_ARE_WATCHED  // there the heap is the C library's, which cannot be filled
TEST(refused, each_call_at_each_allocation_that_fails_leaves_everything_as_it_was) {
  fake_platform::reset();
  run_in(one_worker(), [] {
    for (const Call& call : kCalls) {
      for (std::size_t spare = 0; spare <= 4; ++spare) {
        const bool is_refused = try_call<FullHeap>(call, spare), must_be = spare == 0 && (call.needs & kBlock) != 0;
        if (!CHECK(is_refused || !must_be)) note("call", call.what);
      }
    }
  });
  CHECK_EQ(fake_platform::mapped_bytes(), 0u);
}
#endif

TEST(refused, a_runtime_that_cannot_be_made_leaves_nothing_and_says_so) {
  const janus_rt_config config = with_workers(3);
  const auto makes_one = [&] {
    janus_rt* const rt = janus_rt_create(&config);
    if (rt == nullptr) {
      CHECK_EQ(janus_last_error(), JANUS_E_NO_MEMORY);
      return false;
    }
    const long value = janus_rt_run(rt, return_arg, as_arg(7));
    janus_rt_destroy(rt);
    CHECK(value == 7 || value == JANUS_E_NO_MEMORY);
    return value == 7;
  };
  fake_platform::reset();
  CHECK(makes_one());
  const std::uint64_t maps = fake_platform::maps();
  unsigned refusals = 0;
  for (std::uint64_t first = 1; first <= maps; ++first) {
    fake_platform::reset();
    fake_platform::refuse_maps(first, 1);
    refusals += !makes_one();
    CHECK_EQ(fake_platform::mapped_bytes(), 0u);
    CHECK_EQ(fake_platform::stray_unmaps(), 0u);
  }
  CHECK_GT(refusals, 4u);
  for (std::uint64_t first = 1; first <= 3; ++first) {
    fake_platform::reset();
    fake_platform::refuse_threads(first, 1);
    CHECK(!makes_one());
    CHECK_EQ(fake_platform::mapped_bytes(), 0u);
  }
}

TEST(refused, a_process_has_a_maximum_of_runtimes) {
  const janus_rt_config config = one_worker();
  fake_platform::reset();
  janus_rt* runtimes[kMaxRuntimes];
  for (int round = 0; round < scaled(2, 1); ++round) {
    for (janus_rt*& rt : runtimes) REQUIRE((rt = janus_rt_create(&config)) != nullptr);
    CHECK(janus_rt_create(&config) == nullptr);
    CHECK_EQ(janus_last_error(), JANUS_E_NO_MEMORY);
    janus_rt*& one = runtimes[kMaxRuntimes / 2];
    janus_rt_destroy(one);
    REQUIRE((one = janus_rt_create(&config)) != nullptr);
    CHECK(janus_rt_create(&config) == nullptr);
    for (janus_rt* const rt : runtimes) CHECK_EQ(janus_rt_run(rt, return_arg, as_arg(7)), 7);
    for (janus_rt* const rt : runtimes) janus_rt_destroy(rt);
    CHECK_EQ(fake_platform::mapped_bytes(), 0u);
  }
}

// The count of references is set as if the channel had been retained two billion times.
TEST(refused, a_channel_has_a_maximum_of_references) {
  fake_platform::reset();
  run_in(with_workers(1), [] {
    janus_channel* const channel = janus_channel_create(8, 0);
    const auto handle = reinterpret_cast<std::uint64_t>(channel);
    auto* const record = static_cast<Channel*>(runtime_of(current_worker()).channels.at(index_of_handle(handle)));
    constexpr std::uint32_t kMax = std::uint32_t{1} << 31;
    record->life.fetch_add(kMax - 2);
    CHECK(janus_channel_retain(channel) == channel);
    CHECK(janus_channel_retain(channel) == nullptr);
    CHECK_EQ(janus_last_error(), JANUS_E_STATE);
    record->life.fetch_sub(kMax - 1);
    janus_channel_release(channel);
    CHECK(janus_channel_retain(channel) == nullptr);
    CHECK_EQ(janus_last_error(), JANUS_E_STALE);
  });
}

// The stack is so large that it is mapped for this task alone.
TEST(refused, a_task_that_gets_no_stack_ends_as_panicked) {
  fake_platform::reset();
  janus_stats stats = {};
  const long status = run_in(
      with_workers(1),
      [] {
        Scope scope(JANUS_ON_ERROR_COLLECT);
        janus_spawn_options options = {};
        options.stack_size = 4 << 20;
        const janus_task task = janus_nursery_spawn_in(scope.get(), return_arg, as_arg(5), &options);
        CHECK(task.raw != 0);
        fake_platform::refuse_maps(1);
        CHECK_EQ(scope.await(), JANUS_PANIC);
        fake_platform::refuse_maps(1, 0);
        std::int64_t result = 0;
        CHECK_EQ(janus_task_join(task, &result), 0);
        CHECK_EQ(result, JANUS_PANIC);
        CHECK_EQ(janus_task_release(task), 0);
        return static_cast<int>(scope.end());
      },
      &stats);
  CHECK_EQ(status, JANUS_PANIC);
  CHECK_EQ(stats.tasks_panicked, 1u);
}

TEST(refused, a_spawn_takes_its_task_from_a_pool) {
  fake_platform::reset();
  run_in(one_worker(), [] {
    std::atomic<int> ran{0};
    const auto spawn_some = [&] {
      CHECK(janus_nursery_create() != nullptr);
      for (int i = 0; i < 1000; ++i) CHECK_EQ(janus_nursery_spawn(count_up, &ran), 0);
      CHECK_EQ(janus_nursery_await_all(), 0);
    };
    spawn_some();
    const std::uint64_t before = fake_platform::maps();
    for (int i = 0; i < 10; ++i) spawn_some();
    CHECK_EQ(fake_platform::maps(), before);
    CHECK_EQ(ran.load(), 11000);
  });
}

TEST(refused, a_spawn_starts_no_thread) {
  fake_platform::reset();
  run_in(with_workers(2), [] {
    const std::uint64_t before = fake_platform::threads_started();
    std::atomic<int> ran{0};
    Scope scope;
    for (int i = 0; i < 1000; ++i) scope.go(count_up, &ran);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(ran.load(), 1000);
    CHECK_EQ(fake_platform::threads_started(), before);
  });
  CHECK_EQ(fake_platform::threads_started(), 2u);
}

}  // namespace janus::test
