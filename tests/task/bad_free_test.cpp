// SPDX-License-Identifier: Apache-2.0
// bad_free_test.cpp — a task that frees a pointer which it may not free panics. The process, the heap and every account
// stay as they were, and no other task notices.
#include <iterator>
#include <utility>

#include "rt/mem/span.h"
#include "rt/task/nurseries/handle.h"
#include "rt/task/record/channel.h"
#include "rt/task/record/runtime.h"
#include "tests/api/world.h"

namespace janus::test {

namespace {

constexpr unsigned kWorlds[] = {1, 2, 4};
constexpr std::size_t kOfEveryKind[] = {64, 3000, 100'000, std::size_t{3} << 20};

// Hides the value from the compiler, which would otherwise warn of the bad free.
template <class Value>
Value hidden(Value value) {
  __asm__("" : "+r"(value));
  return value;
}

// A wrong call of a task. `held` is a block of `bytes` that another task holds and frees later.
using Misdeed = void (*)(char* held, std::size_t bytes);

void free_at(void* address) {
  janus_free(hidden(address));
}
void resize_at(void* address) {
  (void)!janus_realloc(hidden(address), 100);
}
void* address_at(std::uintptr_t number) {
  return reinterpret_cast<void*>(number);
}
char* freed(std::size_t bytes) {
  void* const block = janus_alloc(bytes);
  janus_free(block);
  return static_cast<char*>(hidden(block));
}
Channel& as_channel(janus_channel* channel) {
  const std::uint32_t index = index_of_handle(reinterpret_cast<std::uintptr_t>(channel));
  return *static_cast<Channel*>(runtime_of(current_worker()).channels.at(index));
}
int g_in_data[16];

// Made outside tasks, so that no account pays for the key.
janus_local_key local_key() {
  static janus_local_key key;
  static const int once = janus_local_new(&key, nullptr);
  CHECK_EQ(once, 0);
  return key;
}
void* table_of_locals() {
  const janus_local_key key = local_key();
  CHECK_EQ(janus_local_set(key, &g_in_data), 0);
  return calling_task()->frame->details.locals;
}
void* name_of_self() {
  CHECK_EQ(janus_task_set_name("nobody's"), 0);
  return calling_task()->extra;
}

// Wrong calls for a block that the task itself has freed. Used only while no other task allocates: it could get the
// block.
constexpr Misdeed kMisdeedsAlone[] = {
    [](char*, std::size_t bytes) { free_at(freed(bytes)); },
    [](char*, std::size_t bytes) { resize_at(freed(bytes)); },
    [](char*, std::size_t bytes) {
      void* const block = janus_alloc(bytes);
      janus_free(janus_realloc(block, 4 * bytes));
      free_at(block);
    },
    [](char*, std::size_t bytes) { free_at(freed(bytes) + 24); },
};

constexpr Misdeed kMisdeeds[] = {
    [](char* held, std::size_t) { free_at(held + 8); },
    [](char* held, std::size_t bytes) { free_at(held + bytes / 2); },
    [](char* held, std::size_t) { resize_at(held + 16); },
    [](char*, std::size_t) {
      alignas(16) char local[32];
      free_at(local + 16);
    },
    [](char*, std::size_t) { free_at(g_in_data); },
    [](char*, std::size_t) { free_at(address_at(8)); },
    [](char*, std::size_t) { free_at(address_at(~std::uintptr_t{0})); },
    [](char*, std::size_t) { free_at(address_at(0x8000'0000'0000'0010)); },
    [](char*, std::size_t) { resize_at(address_at(std::uintptr_t{1} << 47)); },
    [](char*, std::size_t) { resize_at(g_in_data); },
    // The start of the chunk in which `held` lies. If the block has a mapping of its own and begins there itself, the
    // next page instead.
    [](char* held, std::size_t) {
      const std::uintptr_t chunk = round_down(address_of(held), kChunkBytes);
      free_at(address_at(chunk != address_of(held) ? chunk : chunk + kPageBytes));
    },
    [](char*, std::size_t) { free_at(table_of_locals()); },
    [](char*, std::size_t) { resize_at(table_of_locals()); },
    [](char*, std::size_t) { free_at(name_of_self()); },
};

struct Deed {
  Misdeed misdeed;
  char* held;
  std::size_t bytes;
  static std::int64_t commit(void* self) {
    auto* const deed = static_cast<Deed*>(self);
    deed->misdeed(deed->held, deed->bytes);
    return 0;
  }
};

std::uint64_t memory_left() {
  return janus_budget_get_current().memory;
}

// Runs `body` in a cage of a runtime of `workers`. The memory left in the cage and the bytes in use must be the same
// before and after, to the byte.
template <class Body>
void run_caged(unsigned workers, Body body) {
  (void)local_key();
  janus_stats after = {};
  const long result = run_in(
      with_workers(workers),
      [&] {
        janus_budget budget = JANUS_BUDGET_ALL;
        budget.memory = std::size_t{64} << 20;
        Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, budget);
        auto inside = [&] {
          const std::uint64_t before = memory_left();
          body();
          CHECK_EQ(memory_left(), before);
        };
        const std::uint64_t in_use = stats_of().bytes_in_use;
        cage.go(inside);
        CHECK_EQ(cage.end(), 0);
        CHECK_EQ(stats_of().bytes_in_use, in_use);
      },
      &after);
  CHECK_EQ(result, 0);
}

// The task that does `misdeed` panics, and two siblings go on.
void expect_panic(Misdeed misdeed, std::size_t bytes) {
  char* const held = static_cast<char*>(janus_alloc(bytes));
  held[0] = held[bytes - 1] = 'h';
  const std::uint64_t left = memory_left();
  Deed deed{misdeed, held, bytes};
  std::atomic<int> others{0};
  Scope scope(JANUS_ON_ERROR_COLLECT);
  scope.go(count_up, &others);
  scope.go(Deed::commit, &deed);
  scope.go(count_up, &others);
  janus_result result;
  CHECK_EQ(scope.end(&result), JANUS_PANIC);
  CHECK_EQ(result.kind, static_cast<std::uint32_t>(JANUS_KIND_PANIC));
  CHECK_EQ(result.errors, 1u);
  CHECK_EQ(others.load(), 2);
  CHECK(held[0] == 'h' && held[bytes - 1] == 'h');
  CHECK_EQ(memory_left(), left);
  janus_free(held);
}

// Where two tasks wait for each other, so that their calls race.
struct Gate {
  std::atomic<int> arrived{0};
  void meet() {
    arrived.fetch_add(1);
    while (arrived.load() < 2) janus_yield();
  }
};

}  // namespace

TEST(bad_free, panics_the_task_that_did_it_and_no_other) {
  for (const unsigned workers : kWorlds)
    run_caged(workers, [] {
      for (const std::size_t bytes : kOfEveryKind) {
        for (const Misdeed misdeed : kMisdeedsAlone) expect_panic(misdeed, bytes);
        for (const Misdeed misdeed : kMisdeeds) expect_panic(misdeed, bytes);
      }
    });
}

TEST(bad_free, freeing_a_channels_buffer_leaves_the_channel_intact) {
  for (const unsigned workers : kWorlds)
    run_caged(workers, [] {
      janus_channel* const channel = janus_channel_create(sizeof(long), 100);
      long value = 7;
      CHECK_EQ(janus_channel_send(channel, &value), 0);
      auto free_buffer = [&] { free_at(as_channel(channel).buffer); };
      auto resize_buffer = [&] { resize_at(as_channel(channel).buffer); };
      Scope scope(JANUS_ON_ERROR_COLLECT);
      scope.go(free_buffer);
      scope.go(resize_buffer);
      janus_result result;
      CHECK_EQ(scope.end(&result), JANUS_PANIC);
      CHECK_EQ(result.errors, 2u);
      CHECK_EQ(janus_channel_recv(channel, &value), 0);
      CHECK_EQ(value, 7);
      janus_channel_release(channel);
    });
}

TEST(bad_free, freeing_one_block_in_two_tasks_panics_one_of_the_two) {
  for (const unsigned workers : kWorlds)
    run_caged(workers, [] {
      for (int round = 0; round < scaled(120, 40); ++round) {
        void* const block = janus_alloc(kOfEveryKind[round % 4]);
        Gate gate;
        auto free_it = [&] {
          gate.meet();
          free_at(block);
        };
        Scope scope(JANUS_ON_ERROR_COLLECT);
        scope.go(free_it);
        scope.go(free_it);
        janus_result result;
        CHECK_EQ(scope.end(&result), JANUS_PANIC);
        CHECK_EQ(result.errors, 1u);
      }
    });
}

TEST(bad_free, freeing_a_block_that_another_task_resizes_panics_one_of_the_two) {
  for (const unsigned workers : kWorlds)
    run_caged(workers, [] {
      for (int round = 0; round < scaled(120, 40); ++round) {
        const std::size_t bytes = kOfEveryKind[round % 4];
        void* const block = janus_alloc(bytes);
        Gate gate;
        auto free_it = [&] {
          gate.meet();
          free_at(block);
        };
        auto resize_it = [&] {
          gate.meet();
          janus_free(janus_realloc(hidden(block), 4 * bytes));
        };
        Scope scope(JANUS_ON_ERROR_COLLECT);
        scope.go(free_it);
        scope.go(resize_it);
        janus_result result;
        CHECK_EQ(scope.end(&result), JANUS_PANIC);
        CHECK_EQ(result.errors, 1u);
      }
    });
}

// Random sequences of calls, with misdeeds among them.
TEST(bad_free, leaves_every_account_unchanged_to_the_byte) {
  for (const unsigned workers : kWorlds)
    for (const unsigned seed : {1u, 2u, 3u})
      run_caged(workers, [seed] {
        constexpr unsigned kTasks = 60;
        struct Child {
          unsigned seed;
          static std::int64_t run(void* self) {
            Dice dice(static_cast<Child*>(self)->seed);
            constexpr unsigned kBlocks = 16;
            void* blocks[kBlocks] = {};
            for (int step = 0; step < scaled(300, 60); ++step) {
              void*& block = blocks[dice.below(kBlocks)];
              if (dice.below(3) == 0)
                janus_free(std::exchange(block, nullptr));
              else
                block = janus_realloc(block, dice.below(dice.below(20) == 0 ? 60'000 : 900));
              if (dice.below(16) == 0) janus_yield();
            }
            for (void* const block : blocks) janus_free(block);
            if (dice.below(2) == 0) return 0;
            // A block on the stack: no heap block begins there.
            alignas(16) char local[64] = {};
            kMisdeeds[dice.below(std::size(kMisdeeds))](local, sizeof local);
            return 0;
          }
        };
        Child children[kTasks];
        Scope scope(JANUS_ON_ERROR_COLLECT);
        for (unsigned n = 0; n < kTasks; ++n) {
          children[n].seed = seed * kTasks + n;
          scope.go(Child::run, &children[n]);
        }
        CHECK_EQ(scope.end(), JANUS_PANIC);
      });
}

}  // namespace janus::test
