// SPDX-License-Identifier: Apache-2.0
// ticker_test.cpp — janus/ticker.h. Mostly in virtual time, where nothing is late by itself.
#include <janus/ticker.h>

#include "tests/api/world.h"

namespace janus::test {

namespace {

constexpr std::uint64_t kMs = 1'000'000;

// A ticker of 1 ms whose first tick is taken 3.5 ms late; `planned` is the time of that tick.
void miss_three(janus_ticker& ticker, std::uint32_t rule, std::uint64_t& planned, std::uint64_t& missed) {
  CHECK_EQ(janus_ticker_init(&ticker, kMs, rule), 0);
  planned = ticker.next_ns;
  CHECK_EQ(janus_sleep_until(planned + 3 * kMs + kMs / 2), 0);
  missed = 99;
  CHECK_EQ(janus_ticker_wait(&ticker, &missed), 0);
}

// In virtual time each step takes 100 ns.
bool is_soon_after(std::uint64_t time, std::uint64_t planned) {
  return time >= planned && time < planned + kMs / 10;
}

template <class Body>
void in_virtual_time(Body body) {
  for (std::uint64_t seed = 0; seed < 4; ++seed) run_in(deterministic(2, seed), body);
}

}  // namespace

TEST(ticker, ticks_come_at_equal_distances_however_long_the_work_takes) {
  in_virtual_time([] {
    for (const std::uint32_t rule : {JANUS_TICKER_BURST, JANUS_TICKER_SKIP}) {
      janus_ticker ticker;
      CHECK_EQ(janus_ticker_init(&ticker, kMs, rule), 0);
      const std::uint64_t first = ticker.next_ns;
      for (std::uint64_t i = 0; i < 20; ++i) {
        std::uint64_t missed = 9;
        CHECK_EQ(janus_ticker_wait(&ticker, &missed), 0);
        CHECK_EQ(missed, 0u);
        CHECK(is_soon_after(janus_now_ns(), first + i * kMs));
        CHECK_EQ(ticker.next_ns, first + (i + 1) * kMs);
        CHECK_EQ(janus_sleep_ns(kMs / 2), 0);
      }
    }
  });
}

TEST(ticker, missed_ticks_come_at_once_in_a_burst) {
  in_virtual_time([] {
    janus_ticker ticker;
    std::uint64_t planned = 0, missed = 0;
    miss_three(ticker, JANUS_TICKER_BURST, planned, missed);
    CHECK_EQ(missed, 0u);
    for (std::uint64_t i = 1; i <= 3; ++i) {
      CHECK_EQ(janus_ticker_wait(&ticker, nullptr), 0);
      CHECK(is_soon_after(janus_now_ns(), planned + 3 * kMs + kMs / 2));
    }
    CHECK_EQ(janus_ticker_wait(&ticker, nullptr), 0);
    CHECK(is_soon_after(janus_now_ns(), planned + 4 * kMs));
  });
}

TEST(ticker, missed_ticks_are_skipped_and_counted) {
  in_virtual_time([] {
    janus_ticker ticker;
    std::uint64_t planned = 0, missed = 0;
    miss_three(ticker, JANUS_TICKER_SKIP, planned, missed);
    CHECK_EQ(missed, 3u);
    CHECK_EQ(ticker.next_ns, planned + 4 * kMs);
  });
}

TEST(ticker, a_late_tick_delays_the_next_ones) {
  in_virtual_time([] {
    janus_ticker ticker;
    std::uint64_t planned = 0, missed = 0;
    miss_three(ticker, JANUS_TICKER_DELAY, planned, missed);
    CHECK_EQ(missed, 3u);
    CHECK(is_soon_after(ticker.next_ns, planned + 4 * kMs + kMs / 2));
  });
}

TEST(ticker, a_tick_can_be_waited_for_beside_channels) {
  on_any_workers([] {
    janus_ticker ticker;
    CHECK_EQ(janus_ticker_init(&ticker, kMs, JANUS_TICKER_SKIP), 0);
    CHECK_EQ(janus_ticker_take(&ticker, nullptr), janus_now_ns() < ticker.next_ns ? JANUS_E_WOULD_BLOCK : 0);
    janus_channel* const channel = janus_channel_create(8, 1);
    std::uint64_t word = 0;
    janus_select_case one = {channel, &word, JANUS_RECV, 0};
    for (int i = 0; i < 3; ++i) {
      CHECK_EQ(janus_select_until(&one, 1, ticker.next_ns), JANUS_E_TIMEOUT);
      CHECK_EQ(janus_ticker_take(&ticker, nullptr), 0);
    }
    janus_channel_release(channel);
  });
}

TEST(ticker, a_cancel_takes_no_tick) {
  on_any_workers([] {
    janus_ticker ticker;
    CHECK_EQ(janus_ticker_init(&ticker, 3600 * 1000 * kMs, JANUS_TICKER_SKIP), 0);
    const std::uint64_t planned = ticker.next_ns;
    auto task = [&] { CHECK_EQ(janus_ticker_wait(&ticker, nullptr), JANUS_CANCELLED); };
    Scope scope;
    CHECK(has_started(scope.go(task)));
    scope.cancel();
    scope.end();
    CHECK_EQ(ticker.next_ns, planned);
  });
}

TEST(ticker, senseless_arguments_are_refused) {
  on_any_workers([] {
    janus_ticker ticker = {};
    CHECK_EQ(janus_ticker_wait(&ticker, nullptr), JANUS_E_INVALID);  // never set up
    CHECK_EQ(janus_ticker_take(&ticker, nullptr), JANUS_E_INVALID);
    CHECK_EQ(janus_ticker_init(&ticker, 0, JANUS_TICKER_SKIP), JANUS_E_INVALID);
    CHECK_EQ(janus_ticker_init(&ticker, kMs, 3), JANUS_E_INVALID);
    CHECK_EQ(janus_ticker_init(nullptr, kMs, 0), JANUS_E_INVALID);
    CHECK_EQ(janus_ticker_wait(nullptr, nullptr), JANUS_E_INVALID);
    CHECK_EQ(janus_ticker_init(&ticker, UINT64_MAX, 0), 0);
    CHECK_EQ(ticker.next_ns, UINT64_MAX);
    CHECK_EQ(janus_ticker_take(&ticker, nullptr), JANUS_E_WOULD_BLOCK);
  });
}

}  // namespace janus::test
