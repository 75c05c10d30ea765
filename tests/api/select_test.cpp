// SPDX-License-Identifier: Apache-2.0
// select_test.cpp — tasks that wait for one of several channels.
#include "tests/api/world.h"

namespace janus::test {

namespace {

constexpr std::uint64_t kMs = 1'000'000;

struct Channels {
  explicit Channels(std::size_t capacity, std::size_t bytes = 8) {
    for (janus_channel*& each : at) each = janus_channel_create(bytes, capacity);
  }
  ~Channels() {
    for (janus_channel* each : at) janus_channel_release(each);
  }
  janus_channel* operator[](unsigned i) const { return at[i]; }

  janus_channel* at[4];
};

janus_select_case sends(janus_channel* channel, std::uint64_t& word) {
  return {channel, &word, JANUS_SEND, 99};
}
janus_select_case receives(janus_channel* channel, std::uint64_t& word) {
  return {channel, &word, JANUS_RECV, 99};
}

void put(janus_channel* channel, std::uint64_t word) {
  CHECK_EQ(janus_channel_send(channel, &word), 0);
}
std::uint64_t get(janus_channel* channel) {
  std::uint64_t word = 0;
  CHECK_EQ(janus_channel_recv(channel, &word), 0);
  return word;
}
int try_put(janus_channel* channel, std::uint64_t word = 1) {
  return janus_channel_try_send(channel, &word);
}
int try_get(janus_channel* channel) {
  std::uint64_t word = 0;
  return janus_channel_try_recv(channel, &word);
}

void wait_until_blocked(janus_task task) {
  while (janus_task_state(task) != JANUS_TASK_BLOCKED) janus_yield();
}

}  // namespace

TEST(select, takes_the_case_that_is_ready) {
  on_any_workers([] {
    const Channels full(1), room(1);
    std::uint64_t a = 0, b = 7;
    put(full[1], 5);
    janus_select_case cases[] = {receives(full[0], a), receives(full[1], a), receives(nullptr, a)};
    CHECK_EQ(janus_select(cases, 3, -1), 1);
    CHECK_EQ(cases[1].status, 0);
    CHECK_EQ(a, 5u);
    CHECK_EQ(janus_select(cases, 3, 0), JANUS_E_TIMEOUT);
    put(room[0], 1);
    janus_select_case both[] = {sends(room[0], b), sends(room[1], b)};
    CHECK_EQ(janus_select(both, 2, -1), 1);
    CHECK_EQ(get(room[1]), 7u);
    CHECK_EQ(get(room[0]), 1u);
  });
}

TEST(select, a_closed_channel_is_ready_once_it_is_drained) {
  on_any_workers([] {
    const Channels channels(1);
    std::uint64_t a = 0;
    put(channels[0], 3);
    janus_channel_close(channels[0]);
    janus_select_case cases[] = {receives(channels[0], a), receives(channels[1], a)};
    CHECK_EQ(janus_select(cases, 2, -1), 0);
    CHECK_EQ(cases[0].status, 0);
    CHECK_EQ(a, 3u);
    CHECK_EQ(janus_select(cases, 2, -1), 0);
    CHECK_EQ(cases[0].status, JANUS_E_CLOSED);
    janus_select_case send = sends(channels[0], a);
    CHECK_EQ(janus_select(&send, 1, 0), 0);
    CHECK_EQ(send.status, JANUS_E_CLOSED);
  });
}

TEST(select, waits_for_the_first_partner) {
  on_any_workers([] {
    for (unsigned comes = 0; comes < 4; ++comes) {
      const Channels channels(0);
      std::uint64_t in = 0, out = 9;
      auto waiter = [&]() -> std::int64_t {
        janus_select_case cases[] = {receives(channels[0], in), sends(channels[1], out), receives(channels[2], in)};
        const int taken = janus_select(cases, 3, -1);
        CHECK_EQ(cases[taken].status, taken == 2 && comes == 3 ? JANUS_E_CLOSED : 0);
        return taken;
      };
      Scope scope;
      const janus_task task = scope.go(waiter);
      wait_until_blocked(task);
      if (comes == 0) put(channels[0], 4);
      if (comes == 1) CHECK_EQ(get(channels[1]), 9u);
      if (comes == 2) put(channels[2], 4);
      if (comes == 3) janus_channel_close(channels[2]);
      std::int64_t taken = -1;
      CHECK_EQ(janus_task_join(task, &taken), 0);
      CHECK_EQ(taken, comes == 3 ? 2 : static_cast<std::int64_t>(comes));
      if (comes % 2 == 0) CHECK_EQ(in, 4u);
      for (unsigned i = 0; i < 2; ++i) {  // it waits nowhere any more
        CHECK_EQ(try_put(channels[i]), JANUS_E_WOULD_BLOCK);
        CHECK_EQ(try_get(channels[i]), JANUS_E_WOULD_BLOCK);
      }
      CHECK_EQ(scope.end(), 0);
    }
  });
}

TEST(select, each_ready_case_is_as_likely_as_the_others) {
  constexpr int kEach = 2000;
  on_any_workers([] {
    const Channels full(1), empty(1);
    std::uint64_t word = 0;
    janus_select_case cases[8];
    for (unsigned i = 0; i < 8; ++i) cases[i] = receives(i < 4 ? full[i] : empty[i - 4], word);
    int taken[8] = {};
    for (unsigned i = 0; i < 4; ++i) put(full[i], i);
    for (int n = 0; n < 4 * kEach; ++n) {
      const int which = janus_select(cases, 8, n % 2 == 0 ? 0 : -1);
      if (!CHECK(which >= 0 && which < 4)) return;
      ++taken[which];
      put(full[static_cast<unsigned>(which)], 1);
    }
    for (unsigned i = 0; i < 4; ++i) CHECK(taken[i] > kEach - 250 && taken[i] < kEach + 250);  // six deviations
  });
}

TEST(select, a_time_passes_and_nothing_has_moved) {
  on_any_workers([] {
    const Channels channels(0);
    std::uint64_t in = 0, out = 9;
    janus_select_case cases[] = {receives(channels[0], in), sends(channels[1], out)};
    const std::uint64_t before = janus_now_ns();
    CHECK_EQ(janus_select(cases, 2, kMs), JANUS_E_TIMEOUT);
    CHECK_GE(janus_now_ns(), before + kMs);
    CHECK_EQ(janus_select_until(cases, 2, before + 2 * kMs), JANUS_E_TIMEOUT);
    CHECK_EQ(janus_select_until(cases, 2, 1), JANUS_E_TIMEOUT);
    CHECK_EQ(janus_select_until(nullptr, 0, janus_now_ns() + kMs), JANUS_E_TIMEOUT);
    CHECK_EQ(try_put(channels[0]), JANUS_E_WOULD_BLOCK);
    CHECK_EQ(try_get(channels[1]), JANUS_E_WOULD_BLOCK);
  });
}

TEST(select, a_cancel_ends_the_wait_but_no_poll) {
  on_any_workers([] {
    const Channels channels(1);
    std::uint64_t in = 0;
    auto waiter = [&]() -> std::int64_t {
      janus_select_case cases[] = {receives(channels[0], in), receives(channels[1], in)};
      CHECK_EQ(janus_select(cases, 2, -1), JANUS_CANCELLED);
      CHECK_EQ(janus_select(cases, 2, 0), JANUS_E_TIMEOUT);
      CHECK_EQ(try_put(channels[1], 6), 0);
      CHECK_EQ(janus_select(cases, 2, kMs), JANUS_CANCELLED);
      CHECK_EQ(janus_select(cases, 2, 0), 1);
      CHECK_EQ(in, 6u);
      return 0;
    };
    Scope scope;
    wait_until_blocked(scope.go(waiter));
    CHECK_EQ(scope.cancel(), 0);
    (void)scope.end();
    CHECK_EQ(try_get(channels[0]), JANUS_E_WOULD_BLOCK);
  });
}

// Each select can take any case of the other one, and takes one.
TEST(select, selects_meet_each_other) {
  on_any_workers([] {
    const Channels channels(0);
    constexpr unsigned kRounds = 300;
    std::atomic<unsigned> sent{0}, received{0};
    auto go = [&](bool is_first) {
      for (unsigned n = 0; n < kRounds; ++n) {
        std::uint64_t out = n, in = 0;
        janus_select_case cases[] = {is_first ? sends(channels[0], out) : receives(channels[0], in),
                                     is_first ? receives(channels[1], in) : sends(channels[1], out)};
        const int taken = janus_select(cases, 2, -1);
        if (!CHECK(taken >= 0)) return;
        const bool sends = cases[taken].op == JANUS_SEND;
        (sends ? sent : received).fetch_add(1);
        if (!sends) CHECK_EQ(in, n);
      }
    };
    auto first = [&] { go(true); };
    auto second = [&] { go(false); };
    Scope scope;
    scope.go(first);
    scope.go(second);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(sent.load(), kRounds);
    CHECK_EQ(received.load(), kRounds);
  });
}

TEST(select, one_that_sends_and_receives_at_one_channel_does_not_meet_itself) {
  on_any_workers([] {
    const Channels channels(0);
    std::uint64_t in = 0, out = 3;
    janus_select_case cases[] = {sends(channels[0], out), receives(channels[0], in), sends(channels[0], out)};
    CHECK_EQ(janus_select(cases, 3, kMs), JANUS_E_TIMEOUT);
    auto each = [&] {
      std::uint64_t mine = 5, got = 0;
      janus_select_case both[] = {sends(channels[0], mine), receives(channels[0], got), receives(channels[0], got)};
      const int taken = janus_select(both, 3, -1);
      CHECK_EQ(got, taken == 0 ? 0u : 5u);
    };
    Scope scope;
    for (int i = 0; i < 8; ++i) scope.go(each);
    CHECK_EQ(scope.end(), 0);
  });
}

// Tasks that select at random, some of them only for a time, or cancelled: what is sent is received once.
TEST(select, no_element_is_lost_or_doubled) {
  static constexpr unsigned kTasks = 12, kRounds = 60;
  for (const std::size_t capacity : {0u, 1u, 3u}) {
    on_any_workers([capacity] {
      const Channels channels(capacity);
      std::atomic<std::uint64_t> sent{0}, received{0};  // sums
      std::atomic<unsigned> number{0};
      auto each = [&] {
        const unsigned mine = number.fetch_add(1);
        Dice dice(mine);
        for (unsigned n = 0; n < kRounds; ++n) {
          std::uint64_t out[3], in[3] = {};
          janus_select_case cases[3];
          const unsigned count = 1 + dice.below(3);
          for (unsigned i = 0; i < count; ++i) {
            out[i] = std::uint64_t{mine} << 20 | n << 4 | i;
            janus_channel* const at = channels[dice.below(4)];
            cases[i] = dice.below(2) == 0 ? sends(at, out[i]) : receives(at, in[i]);
          }
          const int taken = janus_select(cases, count, static_cast<std::int64_t>(dice.below(30)) * 1000);
          if (taken < 0) continue;
          if (cases[taken].op == JANUS_SEND)
            sent.fetch_add(out[taken]);
          else
            received.fetch_add(in[taken]);
        }
      };
      Scope scope;
      for (unsigned i = 0; i < kTasks; ++i) scope.go(each);
      (void)scope.await();
      CHECK_EQ(scope.end(), 0);
      for (unsigned i = 0; i < 4; ++i) {
        std::uint64_t rest = 0;
        while (janus_channel_try_recv(channels[i], &rest) == 0) received.fetch_add(rest);
      }
      CHECK_EQ(sent.load(), received.load());
    });
  }
}

TEST(select, a_close_wakes_all_that_select_there) {
  static constexpr int kTasks = 600;  // more than two parts of 256
  for (const unsigned workers : {1u, 2u}) {
    run_in(with_workers(workers), [] {
      const Channels channels(0);
      auto waiter = [&] {
        std::uint64_t word = 0;
        janus_select_case cases[] = {receives(channels[0], word), receives(channels[1], word)};
        CHECK_EQ(janus_select(cases, 2, -1), 0);
        CHECK_EQ(cases[0].status, JANUS_E_CLOSED);
      };
      static janus_task tasks[kTasks];
      Scope scope;
      for (janus_task& task : tasks) task = scope.go(waiter);
      for (const janus_task task : tasks) wait_until_blocked(task);
      janus_channel_close(channels[0]);
      CHECK_EQ(scope.end(), 0);
      CHECK_EQ(try_put(channels[1]), JANUS_E_WOULD_BLOCK);
    });
  }
}

// Those that have taken another case are dropped from the queue by whoever comes, not more than some at a time.
TEST(select, many_that_have_gone_elsewhere_are_in_nobodys_way) {
  static constexpr int kTasks = 300;
  on_any_workers([] {
    const Channels channels(0), own(0);
    auto waiter = [&] {
      std::uint64_t word = 0;
      janus_select_case cases[] = {receives(channels[0], word), receives(own[0], word)};
      CHECK(janus_select(cases, 2, -1) >= 0);
    };
    static janus_task tasks[kTasks];
    Scope scope;
    for (janus_task& task : tasks) task = scope.go(waiter);
    for (const janus_task task : tasks) wait_until_blocked(task);
    for (int i = 0; i < kTasks - 1; ++i) {
      std::uint64_t word = 1;
      CHECK_EQ(janus_channel_send(own[0], &word), 0);
    }
    put(channels[0], 1);  // one is left
    CHECK_EQ(scope.end(), 0);
  });
}

TEST(select, takes_up_to_1024_cases) {
  on_any_workers([] {
    static janus_select_case cases[1025];
    const Channels channels(0);
    std::uint64_t word = 0;
    for (janus_select_case& each : cases) each = receives(channels[0], word);
    cases[1000] = receives(channels[1], word);
    const std::uint64_t before = stats_of(nullptr).bytes_in_use;
    CHECK_EQ(janus_select(cases, 1025, 0), JANUS_E_INVALID);
    CHECK_EQ(janus_select(cases, 1024, 0), JANUS_E_TIMEOUT);
    auto sender = [&] { put(channels[1], 8); };
    for (int i = 0; i < 3; ++i) {
      Scope scope;
      scope.go(sender);
      CHECK_EQ(janus_select(cases, 1024, -1), 1000);
      CHECK_EQ(word, 8u);
      CHECK_EQ(scope.end(), 0);
    }
    CHECK_LE(stats_of(nullptr).bytes_in_use, before + 65536);
  });
}

TEST(select, moves_elements_of_up_to_1_mib) {
  run_in(with_workers(2), [] {
    constexpr std::size_t kBytes = std::size_t{1} << 20;
    const Channels channels(0, kBytes);
    auto* const out = static_cast<std::uint8_t*>(janus_alloc(kBytes));
    auto* const in = static_cast<std::uint8_t*>(janus_alloc(kBytes));
    if (!CHECK(out != nullptr && in != nullptr)) return;
    for (std::size_t i = 0; i < kBytes; ++i) out[i] = static_cast<std::uint8_t>(i * 7 + i / 256);
    auto sender = [&] {
      janus_select_case one = {channels[2], out, JANUS_SEND, 0};
      CHECK_EQ(janus_select(&one, 1, -1), 0);
    };
    Scope scope;
    scope.go(sender);
    janus_select_case cases[] = {{channels[0], in, JANUS_RECV, 0}, {channels[2], in, JANUS_RECV, 0}};
    CHECK_EQ(janus_select(cases, 2, -1), 1);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(__builtin_memcmp(in, out, kBytes), 0);
    janus_free(out);
    janus_free(in);
  });
}

TEST(select, cases_that_cannot_be_are_errors) {
  on_any_workers([] {
    const Channels channels(1);
    std::uint64_t word = 0;
    put(channels[0], 1);
    janus_select_case cases[] = {receives(channels[0], word), {channels[1], &word, 2, 0}};
    CHECK_EQ(janus_select(cases, 2, 0), JANUS_E_INVALID);
    cases[1] = {channels[1], nullptr, JANUS_RECV, 0};
    CHECK_EQ(janus_select(cases, 2, 0), JANUS_E_INVALID);
    CHECK_EQ(janus_select(nullptr, 2, 0), JANUS_E_INVALID);
    CHECK_EQ(janus_select(cases, ~std::size_t{0}, 0), JANUS_E_INVALID);
    janus_channel* const gone = janus_channel_create(8, 1);
    janus_channel_release(gone);
    cases[1] = receives(gone, word);
    CHECK_EQ(janus_select(cases, 2, 0), JANUS_E_STALE);
    CHECK_EQ(get(channels[0]), 1u);
  });
}

TEST(select, memory_that_cannot_be_accessed_is_the_panic_of_whose_it_is) {
  on_any_workers([] {
    for (unsigned count : {2u, 20u}) {
      const Channels channels(0), full(1);
      auto* const bad = reinterpret_cast<std::uint64_t*>(8);
      put(full[0], 2);
      auto taker = [&] {  // finds an element, and cannot take it
        janus_select_case cases[20] = {};
        cases[count - 1] = {full[0], bad, JANUS_RECV, 0};
        (void)janus_select(cases, count, -1);
      };
      auto waiter = [&] {
        std::uint64_t word = 0;
        janus_select_case cases[20] = {{channels[0], bad, JANUS_RECV, 0}, receives(channels[1], word)};
        (void)janus_select(cases, count, -1);
      };
      auto lister = [&] { (void)janus_select(reinterpret_cast<janus_select_case*>(bad), count, -1); };
      Scope scope(JANUS_ON_ERROR_COLLECT);
      scope.go(taker);
      scope.go(lister);
      const janus_task bad_one = scope.go(waiter);
      wait_until_blocked(bad_one);
      auto good = [&] { CHECK_EQ(get(channels[0]), 6u); };
      scope.go(good);
      put(channels[0], 6);  // goes to the next
      std::int64_t value = 0;
      CHECK_EQ(janus_task_join(bad_one, &value), 0);
      CHECK_EQ(value, JANUS_PANIC);
      janus_result result;
      (void)scope.end(&result);
      CHECK_EQ(result.errors, 3u);
      CHECK_EQ(get(full[0]), 2u);
      CHECK_EQ(try_put(channels[1]), JANUS_E_WOULD_BLOCK);
    }
  });
}

// In a cage each select costs its ops, and the memory for more than 8 cases.
TEST(select, a_cage_pays_for_its_selects) {
  run_in(with_workers(1), [] {
    const Channels channels(1);
    auto selects = [&]() -> std::int64_t {
      std::uint64_t word = 0;
      janus_select_case cases[1024];
      for (janus_select_case& each : cases) each = receives(channels[0], word);
      const std::uint32_t before = janus_budget_get_current().ops;
      CHECK_EQ(janus_select(cases, 1024, 0), JANUS_E_TIMEOUT);
      CHECK(before - janus_budget_get_current().ops >= 1024 / 8);
      CHECK_EQ(janus_select(cases, 8, 0), JANUS_E_TIMEOUT);
      return 0;
    };
    Scope scope(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, budget_of(100'000));
    scope.go(selects);
    CHECK_EQ(scope.end(), 0);
  });
}

}  // namespace janus::test
