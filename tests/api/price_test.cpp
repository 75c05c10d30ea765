// SPDX-License-Identifier: Apache-2.0
// What single calls cost, and that a long one gives way.
#include "tests/api/world.h"

// Of the C library of programs: not in rt.h.
extern "C" std::size_t janus_write_floating(char* text, std::uint64_t bits, char conversion, int precision,
                                            bool keeps_point, std::size_t* zeros_at, std::size_t* zeros);

namespace janus::test {

namespace {

// The number of a neighbour's turns while a task does `deed`, whose work cannot be charged in parts.
template <class Deed>
int turns_during(Deed deed) {
  int turns = 0;
  run_in(deterministic(1, 1), [&] {
    bool is_over = false, is_under_way = false;
    auto neighbour = [&] {
      while (!is_over) {
        turns += is_under_way ? 1 : 0;
        janus_yield();
      }
      return 0;
    };
    auto task = [&] {
      deed(is_under_way);
      is_over = true;
      return 0;
    };
    Scope scope(JANUS_ON_ERROR_COLLECT);
    scope.go(neighbour);
    scope.go(task);
    CHECK_EQ(scope.end(), 0);
  });
  return turns;
}

void wait_until_blocked(janus_task task) {
  while (janus_task_state(task) != JANUS_TASK_BLOCKED) janus_yield();
}

TEST(price, freeing_a_large_block_gives_way) {
  const int turns = turns_during([](bool& is_under_way) {
    void* const block = janus_alloc(64 << 20);
    is_under_way = true;
    janus_free(block);
    is_under_way = false;
  });
  CHECK_GE(turns, 30);
}

TEST(price, moving_a_large_block_gives_way_while_the_old_one_is_freed) {
  const int turns = turns_during([](bool& is_under_way) {
    void* const block = janus_alloc(64 << 20);
    is_under_way = true;
    void* const smaller = janus_realloc(block, 4 << 20);
    is_under_way = false;
    janus_free(smaller);
  });
  CHECK_GE(turns, 30 + 64);
}

TEST(price, releasing_a_large_channel_gives_way) {
  const int turns = turns_during([](bool& is_under_way) {
    janus_channel* const channel = janus_channel_create(1 << 20, 64);
    is_under_way = true;
    janus_channel_release(channel);
    is_under_way = false;
  });
  CHECK_GE(turns, 30);
}

TEST(price, ending_what_was_left_open_gives_way) {
  const int turns = turns_during([](bool& is_under_way) {
    auto leaves = [&] {
      for (int i = 0; i < 5000; ++i) janus_nursery_open(nullptr, nullptr);
      is_under_way = true;
      return 0;
    };
    Scope scope(JANUS_ON_ERROR_COLLECT);
    scope.go(leaves);
    scope.end();
    is_under_way = false;
  });
  CHECK_GE(turns, 5000 / 256 - 1);
}

TEST(price, forgetting_the_records_of_ended_tasks_gives_way) {
  const int turns = turns_during([](bool& is_under_way) {
    janus_nursery* const nursery = janus_nursery_open(nullptr, nullptr);
    for (int i = 0; i < 5000; ++i) janus_nursery_spawn_in(nursery, return_zero, nullptr, nullptr);
    CHECK_EQ(janus_nursery_await(nursery, nullptr), 0);
    is_under_way = true;
    CHECK_EQ(janus_nursery_destroy(nursery), 0);
    is_under_way = false;
  });
  CHECK_GE(turns, 5000 / 256 - 1);
}

TEST(price, a_cancel_costs_an_op_for_each_that_it_reaches) {
  run_in(with_workers(1), [] {
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY,
               budget_of(1'000'000, 64 << 20));  // enough memory for all of their stacks, also under a sanitizer
    auto child = [] {
      constexpr std::uint32_t kWaiters = 100;
      std::uint32_t waiting = 0;
      auto waits = [&] {
        ++waiting;
        return janus_park(-1);
      };
      Scope crowd(JANUS_ON_ERROR_COLLECT);
      for (std::uint32_t i = 0; i < kWaiters; ++i) crowd.go(waits);
      while (waiting < kWaiters) janus_yield();
      const std::uint32_t before = janus_budget_get_current().ops;
      crowd.cancel();
      // The last op is for janus_budget_get_current().
      CHECK_EQ(before - janus_budget_get_current().ops, 1 + 8 + kWaiters + 1);
      crowd.end();
      return 0;
    };
    cage.go(child);
    CHECK_EQ(cage.end(), 0);
  });
}

// Nests `depth` scopes, each opened by a task of the one outside it, and calls `innermost` in the innermost one.
struct Nest {
  unsigned depth;
  void (*innermost)(janus_nursery* outermost, janus_task first);
  janus_nursery* outermost = nullptr;
  janus_task first = {};

  std::int64_t operator()() {
    if (first.raw == 0) first = janus_task_self();
    if (depth-- == 0) return innermost(outermost, first), 0;
    Scope scope;
    if (outermost == nullptr) outermost = scope.get();
    scope.go(*this);
    return scope.end();
  }
};

void ask_far_above(janus_nursery* outermost, janus_task first) {
  const std::uint32_t before = janus_budget_get_current().ops;
  CHECK_GE(janus_nursery_state(outermost), 0);
  const std::uint32_t asked = janus_budget_get_current().ops;
  CHECK_GE(before - asked, 500u / 2);
  CHECK_EQ(janus_task_join(first, nullptr), JANUS_E_DEADLOCK);
  CHECK_GE(asked - janus_budget_get_current().ops, 500u / 2);
}

TEST(price, a_walk_up_the_tree_is_paid_by_the_step) {
  run_in(with_workers(1), [] {
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, budget_of(1'000'000, 64 << 20));
    Nest nest{500, ask_far_above};
    cage.go(nest);
    CHECK_EQ(cage.end(), 0);
  });
}

void* g_left = nullptr;

// Opens `depth` cages, one in the other. A task in the innermost one allocates a block and leaves it in g_left.
std::int64_t leave_block(void* depth) {
  const auto rest = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(depth));
  if (rest == 0) return (g_left = janus_alloc(64)) != nullptr ? 0 : -1;
  Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, budget_of(10'000 * rest, rest << 20));
  cage.go(leave_block, as_arg(static_cast<int>(rest - 1)));
  return cage.end();
}

TEST(price, freed_memory_passes_through_closed_accounts_for_a_price) {
  run_in(with_workers(1), [] {
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, budget_of(10'000'000, 80 << 20));
    auto child = [] {
      CHECK_EQ(leave_block(as_arg(60)), 0);
      const std::uint32_t before = janus_budget_get_current().ops;
      janus_free(g_left);
      const std::uint32_t spent = before - janus_budget_get_current().ops;
      CHECK_GE(spent, 60u / 2);
      CHECK_LE(spent, 60u / 2 + 1);  // 1 for janus_budget_get_current()
      return 0;
    };
    cage.go(child);
    CHECK_EQ(cage.end(), 0);
  });
}

// Runs `body` in a cage, on one worker, and hands it what tells what a call costs.
template <class Body>
void in_a_cage_that_counts(Body body) {
  run_in(with_workers(1), [&body] {
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, budget_of(1'000'000, 64 << 20));
    auto child = [&body] {
      body([](auto&& call) {
        const std::uint32_t before = janus_budget_get_current().ops;
        call();
        return before - janus_budget_get_current().ops - 1;
      });
      return 0;
    };
    cage.go(child);
    CHECK_EQ(cage.end(), 0);
  });
}

// Whichever way it is sent or received, and whether somebody takes it or not.
TEST(price, a_message_is_paid_by_the_4_KiB) {
  static std::uint8_t element[1 << 20];
  in_a_cage_that_counts([](auto cost_of) {
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{4095}, std::size_t{4096}, sizeof element}) {
      const auto price = static_cast<std::uint32_t>(1 + bytes / 4096);
      janus_channel* const channel = janus_channel_create(bytes, 1);
      CHECK_EQ(cost_of([&] { CHECK_EQ(janus_channel_send(channel, element), 0); }), price);
      CHECK_EQ(cost_of([&] { CHECK_EQ(janus_channel_recv(channel, element), 0); }), price);
      CHECK_EQ(cost_of([&] { CHECK_EQ(janus_channel_try_send(channel, element), 0); }), price);
      CHECK_EQ(cost_of([&] { CHECK_EQ(janus_channel_try_send(channel, element), JANUS_E_WOULD_BLOCK); }), price);
      CHECK_EQ(cost_of([&] { CHECK_EQ(janus_channel_try_recv(channel, element), 0); }), price);
      janus_channel_release(channel);
    }
  });
}

TEST(price, many_messages_are_paid_by_the_4_KiB_and_by_the_task_served) {
  static std::uint8_t elements[1 << 20];
  in_a_cage_that_counts([](auto cost_of) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{8}, std::size_t{1500}, std::size_t{8192}}) {
      janus_channel* const channel = janus_channel_create(bytes, 16);
      const std::uint32_t left = janus_budget_get_current().channel_ops;
      for (const std::size_t n : {1, 2, 16}) {
        const auto price = static_cast<std::uint32_t>(1 + n * bytes / 4096);
        CHECK_EQ(cost_of([&] { CHECK_EQ(janus_channel_send_many(channel, elements, n), static_cast<int>(n)); }), price);
        CHECK_EQ(cost_of([&] { CHECK_EQ(janus_channel_recv_many(channel, elements, n), static_cast<int>(n)); }), price);
      }
      CHECK_EQ(cost_of([&] { CHECK_EQ(janus_channel_send_many(channel, elements, 0), 0); }), 1);
      CHECK_EQ(janus_budget_get_current().channel_ops, left);  // all that there is: not counted
      janus_channel_release(channel);
    }
    constexpr int kTasks = 5;
    janus_channel* const channel = janus_channel_create(8, 0);
    auto receiver = [&] { return janus_channel_recv(channel, elements); };
    auto sender = [&] { return janus_channel_send(channel, elements); };
    Scope scope;
    for (int i = 0; i < kTasks; ++i) scope.go(receiver);
    for (int i = 0; i < kTasks; ++i) janus_yield();
    CHECK_EQ(cost_of([&] { CHECK_EQ(janus_channel_send_many(channel, elements, 16), kTasks); }), kTasks);
    for (int i = 0; i < kTasks; ++i) scope.go(sender);
    for (int i = 0; i < kTasks; ++i) janus_yield();
    CHECK_EQ(cost_of([&] { CHECK_EQ(janus_channel_recv_many(channel, elements + 8, 16), kTasks); }), kTasks);
    CHECK_EQ(scope.end(), 0);
    janus_channel_release(channel);
  });
}

TEST(price, many_messages_let_others_in_every_64_KiB) {
  const int turns = turns_during([](bool& is_under_way) {
    constexpr std::size_t kElements = 32 * 65536 / 8;
    janus_channel* const channel = janus_channel_create(8, kElements);
    void* const elements = janus_alloc(kElements * 8);
    is_under_way = true;
    CHECK_EQ(janus_channel_send_many(channel, elements, kElements), static_cast<int>(kElements));
    CHECK_EQ(janus_channel_recv_many(channel, elements, kElements), static_cast<int>(kElements));
    is_under_way = false;
    janus_free(elements);
    janus_channel_release(channel);
  });
  CHECK_GE(turns, 2 * 31);
}

TEST(price, many_waiting_tasks_are_served_in_parts) {
  const int turns = turns_during([](bool& is_under_way) {
    constexpr int kTasks = 1000;
    static long words[kTasks];
    janus_channel* const channel = janus_channel_create(8, 0);
    auto sender = [&] {
      const long word = 1;
      return janus_channel_send(channel, &word);
    };
    Scope scope;
    for (int i = 0; i < kTasks; ++i) wait_until_blocked(scope.go(sender));
    is_under_way = true;
    CHECK_EQ(janus_channel_recv_many(channel, words, kTasks), kTasks);
    is_under_way = false;
    CHECK_EQ(scope.end(), 0);
    janus_channel_release(channel);
  });
  CHECK_GE(turns, 3);
}

TEST(price, a_large_block_has_its_price_by_whichever_call_it_comes) {
  in_a_cage_that_counts([](auto cost_of) {
    for (const std::size_t bytes : {std::size_t{4096}, std::size_t{2} << 20}) {
      const std::uint32_t price = bytes == 4096 ? 1 : 1 + 16;
      void* blocks[3];
      CHECK_EQ(cost_of([&] { blocks[0] = janus_alloc(bytes); }), price);
      CHECK_EQ(cost_of([&] { blocks[1] = janus_alloc_aligned(4096, bytes); }), price);
      CHECK_EQ(cost_of([&] { blocks[2] = janus_realloc(nullptr, bytes); }), price);
      for (void* const block : blocks) janus_free(block);
      janus_channel* channel = nullptr;
      CHECK_EQ(cost_of([&] { channel = janus_channel_create(bytes / 4, 4); }), price);
      janus_channel_release(channel);
    }
  });
}

// The caller pays, whether it is the C library's printf or a task itself.
TEST(price, the_digits_of_a_double_are_paid_for_by_the_call_that_writes_them) {
  in_a_cage_that_counts([](auto cost_of) {
    const struct {
      std::uint64_t bits;
      std::uint32_t price;
    } cases[] = {
        {0x4330000000000000, 1}, {0x3ff0000000000000, 1}, {1, 1 + 1075 / 64}, {0x7fefffffffffffff, 1 + 971 / 64}};
    char text[1096];
    std::size_t at = 0, zeros = 0;
    for (const auto& [bits, price] : cases)
      CHECK_EQ(cost_of([&, bits = bits] { janus_write_floating(text, bits, 'g', 6, false, &at, &zeros); }), price);
  });
}

TEST(price, a_panic_costs_what_its_report_takes) {
  run_in(with_workers(1), [] {
    constexpr std::uint32_t kPanics = 50;
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, budget_of(1'000'000));
    auto child = [] {
      const std::uint32_t before = janus_budget_get_current().ops;
      Scope crowd(JANUS_ON_ERROR_COLLECT);
      auto panics = [] { return janus_task_panic("priced"), 0; };
      for (std::uint32_t i = 0; i < kPanics; ++i) crowd.go(panics);
      CHECK_EQ(crowd.end(), JANUS_PANIC);
      CHECK_GE(before - janus_budget_get_current().ops, 64 * kPanics);
      return 0;
    };
    cage.go(child);
    CHECK_EQ(cage.end(), 0);
  });
}

// A task may print to its standard output and standard error without a capability. All other descriptors, standard
// input too, may lead to files and networks, so writing to them costs a system call of its budget.
TEST(price, printing_to_stdout_costs_no_system_call_and_writing_to_other_descriptors_does) {
  run_in(with_workers(1), [] {
    janus_budget few = budget_of(100'000);
    few.syscalls = 10;
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_FAIL, few);
    auto writes = [] {
      const auto cost_of = [](int fd, bool prints) {
        const std::uint32_t before = janus_budget_get_current().syscalls;
        const char* const nothing = "";
        CHECK_EQ(prints ? janus_print(fd, "%s", nothing) : janus_write(fd, nothing, 0), 0);
        return before - janus_budget_get_current().syscalls;
      };
      for (const bool prints : {false, true}) {
        for (const int fd : {1, 2}) CHECK_EQ(cost_of(fd, prints), 0u);
        for (const int fd : {-1, 0, 3}) CHECK_EQ(cost_of(fd, prints), 1u);
      }
      return 0;
    };
    cage.go(writes);
    CHECK_EQ(cage.end(), 0);
  });
}

// 1 op for each 64 bytes that are read. A text of more than 255 bytes is read twice, so it costs twice as much.
TEST(price, a_text_of_256_bytes_is_the_first_that_is_paid_for_twice) {
  run_in(with_workers(1), [] {
    Scope cage(JANUS_ON_ERROR_COLLECT, JANUS_ON_EXHAUSTION_DENY, budget_of(1'000'000));
    auto prints = [] {
      const auto cost_of = [](int bytes) {
        char text[400] = {};
        for (int i = 0; i < bytes; ++i) text[i] = '$';
        const std::uint32_t before = janus_budget_get_current().ops;
        CHECK_EQ(janus_print(-1, "%s", text), -9);  // the text is read; then the bad descriptor is refused
        return before - janus_budget_get_current().ops;
      };
      const std::uint32_t once = cost_of(255), twice = cost_of(256);
      CHECK_GE(twice, once + 3);
      CHECK_EQ(twice, cost_of(257));
      return 0;
    };
    cage.go(prints);
    CHECK_EQ(cage.end(), 0);
  });
}

}  // namespace

}  // namespace janus::test
