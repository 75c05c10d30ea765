// SPDX-License-Identifier: Apache-2.0
// channel_memory_test.cpp — tasks that use channels with pointers to unusable memory. The task whose pointer is bad
// panics, not its partner; each message arrives once; the channel and all other tasks go on.
#include <iterator>

#include "rt/task/nurseries/handle.h"
#include "rt/task/record/channel.h"
#include "rt/task/record/runtime.h"
#include "tests/task/bad_memory.h"

namespace janus::test {

namespace {

constexpr std::uint32_t kMax = 70'000;  // bytes of the largest element; more than a channel copies at a time
constexpr std::uint32_t kSizes[] = {1, 8, 24, kMax};

// An element that holds its number in its first and in its last byte.
struct Element {
  explicit Element(std::uint32_t bytes) : bytes_(bytes), where_(static_cast<unsigned char*>(janus_alloc(bytes))) {}
  ~Element() { janus_free(where_); }
  Element(const Element&) = delete;
  Element& operator=(const Element&) = delete;
  void set(unsigned char number) { where_[0] = where_[bytes_ - 1] = number; }
  [[nodiscard]] unsigned char number() const { return where_[0] == where_[bytes_ - 1] ? where_[0] : 255; }
  [[nodiscard]] void* get() const { return where_; }

 private:
  std::uint32_t bytes_;
  unsigned char* where_;
};

constexpr int kBads = 3, kGoods = 4;
constexpr int kManyBads = 100;  // more than a partner drops while it holds the lock once (price::kBadWaitsAtOnce)

// Bad receivers wait before good ones, so a sender meets them first.
void send_past_bad_receivers(std::uint32_t bytes, std::size_t capacity, Bad kind, int bads = kBads) {
  janus_channel* const channel = janus_channel_create(bytes, capacity);
  REQUIRE(channel != nullptr);
  std::atomic<unsigned> received{0};
  auto bad = [&] { return janus_channel_recv(channel, BadMemory::pointer(kind, bytes)); };
  auto good = [&] {
    Element element(bytes);
    const int status = janus_channel_recv(channel, element.get());
    received.fetch_or(1u << element.number());
    return status;
  };
  Scope scope(JANUS_ON_ERROR_COLLECT);
  for (int i = 0; i < bads; ++i) CHECK(stops(scope.go(bad)));
  for (int i = 0; i < kGoods; ++i) CHECK(stops(scope.go(good)));
  for (int i = 0; i < kGoods; ++i) {
    Element element(bytes);
    element.set(static_cast<unsigned char>(i));
    CHECK_EQ(janus_channel_send(channel, element.get()), 0);
  }
  janus_result result = {};
  CHECK_EQ(scope.end(&result), JANUS_PANIC);
  CHECK_EQ(result.errors, bads);
  CHECK_EQ(received.load(), (1u << kGoods) - 1);
  Element element(bytes);
  CHECK_EQ(janus_channel_try_recv(channel, element.get()), JANUS_E_WOULD_BLOCK);
  janus_channel_release(channel);
}

// Bad senders wait before good ones; the buffer is full, or the channel has none.
void receive_past_bad_senders(std::uint32_t bytes, std::size_t capacity, Bad kind, int bads = kBads) {
  janus_channel* const channel = janus_channel_create(bytes, capacity);
  REQUIRE(channel != nullptr);
  for (std::size_t i = 0; i < capacity; ++i) {
    Element element(bytes);
    element.set(static_cast<unsigned char>(kGoods + i));
    CHECK_EQ(janus_channel_send(channel, element.get()), 0);
  }
  auto bad = [&] { return janus_channel_send(channel, BadMemory::pointer(kind, bytes)); };
  std::atomic<unsigned char> next{0};
  auto good = [&] {
    Element element(bytes);
    element.set(next.fetch_add(1));
    return janus_channel_send(channel, element.get());
  };
  Scope scope(JANUS_ON_ERROR_COLLECT);
  for (int i = 0; i < bads; ++i) CHECK(stops(scope.go(bad)));
  for (int i = 0; i < kGoods; ++i) CHECK(stops(scope.go(good)));
  unsigned received = 0;
  for (std::size_t i = 0; i < kGoods + capacity; ++i) {
    Element element(bytes);
    CHECK_EQ(janus_channel_recv(channel, element.get()), 0);
    received |= 1u << element.number();
  }
  janus_result result = {};
  CHECK_EQ(scope.end(&result), JANUS_PANIC);
  CHECK_EQ(result.errors, bads);
  CHECK_EQ(received, (1u << (kGoods + capacity)) - 1);
  Element element(bytes);
  CHECK_EQ(janus_channel_try_recv(channel, element.get()), JANUS_E_WOULD_BLOCK);
  janus_channel_release(channel);
}

bool can_straddle(std::size_t bytes, Bad kind) {
  return bytes > 1 || kind != Bad::kStraddling;
}

}  // namespace

TEST(channel_memory, a_receiver_whose_buffer_is_gone_panics_and_its_message_goes_to_the_next) {
  for (const unsigned workers : kWorkerCounts) {
    run_both_ways(workers, [] {
      for (const std::uint32_t bytes : kSizes) {
        for (const std::size_t capacity : {0, 2}) {
          for (const Bad kind : kUnwritable) {
            if (can_straddle(bytes, kind)) send_past_bad_receivers(bytes, capacity, kind);
          }
        }
      }
    });
  }
}

TEST(channel_memory, waiters_behind_any_number_of_bad_waiters_are_served) {
  for (const unsigned workers : kWorkerCounts) {
    run_both_ways(workers, [] {
      for (const std::size_t capacity : {0, 1, 2}) {
        send_past_bad_receivers(8, capacity, kUnwritable[0], kManyBads);
        receive_past_bad_senders(8, capacity, kUnreadable[0], kManyBads);
        send_past_bad_receivers(24, capacity, kUnwritable[0], kManyBads);
        receive_past_bad_senders(24, capacity, kUnreadable[0], kManyBads);
      }
    });
  }
}

TEST(channel_memory, a_sender_whose_element_is_gone_panics_and_the_receiver_gets_the_next) {
  for (const unsigned workers : kWorkerCounts) {
    run_both_ways(workers, [] {
      for (const std::uint32_t bytes : kSizes) {
        for (const std::size_t capacity : {0, 2}) {
          for (const Bad kind : kUnreadable) {
            if (can_straddle(bytes, kind)) receive_past_bad_senders(bytes, capacity, kind);
          }
        }
      }
    });
  }
}

TEST(channel_memory, a_caller_with_a_bad_pointer_takes_no_message_and_leaves_none) {
  for (const unsigned workers : kWorkerCounts) {
    run_both_ways(workers, [] {
      for (const std::uint32_t bytes : kSizes) {
        janus_channel* const channel = janus_channel_create(bytes, 2);
        Element element(bytes);
        for (const Bad kind : kUnreadable) {
          if (!can_straddle(bytes, kind)) continue;
          CHECK(panics([&] { return janus_channel_send(channel, BadMemory::pointer(kind, bytes)); }));
          CHECK(panics([&] { return janus_channel_try_send(channel, BadMemory::pointer(kind, bytes)); }));
          CHECK_EQ(janus_channel_try_recv(channel, element.get()), JANUS_E_WOULD_BLOCK);
        }
        element.set(7);
        CHECK_EQ(janus_channel_send(channel, element.get()), 0);
        for (const Bad kind : kUnwritable) {
          if (!can_straddle(bytes, kind)) continue;
          CHECK(panics([&] { return janus_channel_recv(channel, BadMemory::pointer(kind, bytes)); }));
          CHECK(panics([&] { return janus_channel_try_recv(channel, BadMemory::pointer(kind, bytes)); }));
        }
        element.set(0);
        CHECK_EQ(janus_channel_try_recv(channel, element.get()), 0);
        CHECK_EQ(element.number(), 7);
        CHECK_EQ(janus_channel_try_recv(channel, element.get()), JANUS_E_WOULD_BLOCK);
        janus_channel_release(channel);
      }
    });
  }
}

// Of several elements in one call, those in bad memory stay where they are, as do those of the same run.
TEST(channel_memory, a_caller_with_bad_memory_for_many_takes_no_message_and_leaves_none) {
  for (const unsigned workers : kWorkerCounts) {
    run_both_ways(workers, [] {
      for (const std::uint32_t bytes : {1u, 8u, 24u}) {
        janus_channel* const channel = janus_channel_create(bytes, 4);
        unsigned char word[24] = {}, got[4 * 24] = {};
        for (const Bad kind : kUnreadable) {
          void* const bad = BadMemory::pointer(kind, 3 * bytes);
          CHECK(panics([&] { return janus_channel_send_many(channel, bad, 3); }));
          CHECK_EQ(janus_channel_try_recv(channel, got), JANUS_E_WOULD_BLOCK);
        }
        for (word[0] = 1; word[0] <= 3; ++word[0]) CHECK_EQ(janus_channel_send(channel, word), 0);
        for (const Bad kind : kUnwritable) {
          void* const bad = BadMemory::pointer(kind, 3 * bytes);
          CHECK(panics([&] { return janus_channel_recv_many(channel, bad, 3); }));
        }
        CHECK_EQ(janus_channel_recv_many(channel, got, 4), 3);
        for (unsigned i = 0; i < 3; ++i) CHECK_EQ(got[i * bytes], i + 1);
        CHECK_EQ(janus_channel_try_recv(channel, got), JANUS_E_WOULD_BLOCK);
        janus_channel_release(channel);
      }
    });
  }
}

// A waiting task with good memory, one with bad, and one with good.
TEST(channel_memory, one_call_for_many_passes_bad_waiters_and_pays_for_what_it_moves) {
  for (const unsigned workers : kWorkerCounts) {
    run_both_ways(workers, [] {
      janus_budget budget = budget_of(1'000'000);
      budget.channel_ops = 100;
      for (const bool sends : {true, false}) {
        for (const int goods : {1, 2}) {
          janus_channel* const channel = janus_channel_create(8, 0);
          auto wait_at = [&](void* data) {
            return sends ? janus_channel_recv(channel, data) : janus_channel_send(channel, data);
          };
          auto good = [&] {
            long word = 5;
            return wait_at(&word);
          };
          auto bad = [&] { return wait_at(BadMemory::pointer(Bad::kGuarded, 8)); };
          auto caller = [&] {
            long words[4] = {1, 2, 3, 4};
            const int moved =
                sends ? janus_channel_send_many(channel, words, 4) : janus_channel_recv_many(channel, words, 4);
            CHECK_EQ(moved, goods);
            CHECK_EQ(janus_budget_get_current().channel_ops, 100 - goods);
          };
          Scope scope(JANUS_ON_ERROR_COLLECT), cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_DENY, budget);
          CHECK(stops(scope.go(good)));
          CHECK(stops(scope.go(bad)));
          if (goods == 2) CHECK(stops(scope.go(good)));
          cage.go(caller);
          CHECK_EQ(cage.end(), 0);
          janus_result result = {};
          CHECK_EQ(scope.end(&result), JANUS_PANIC);
          CHECK_EQ(result.errors, 1);
          janus_channel_release(channel);
        }
      }
    });
  }
}

// The channel's lock is owned by the worker by then, so in a freestanding program the fast paths are taken.
TEST(channel_memory, a_bad_pointer_under_a_lock_that_the_worker_owns_panics_the_caller) {
  run_both_ways(1, [] {
    janus_channel* const channel = janus_channel_create(sizeof(long), 4);
    janus_channel* const meeting = janus_channel_create(sizeof(long), 0);
    long value = 0;
    for (long i = 0; i < 200; ++i) {
      CHECK_EQ(janus_channel_send(channel, &i), 0);
      CHECK_EQ(janus_channel_recv(channel, &value), 0);
      CHECK_EQ(janus_channel_try_recv(meeting, &value), JANUS_E_WOULD_BLOCK);
    }
    for (const Bad kind : kUnwritable) {
      void* const bad = BadMemory::pointer(kind, sizeof value);
      if (kind != Bad::kReadOnly) CHECK(panics([&] { return janus_channel_send(channel, bad); }));
      CHECK_EQ(janus_channel_try_recv(channel, &value), JANUS_E_WOULD_BLOCK);
      const long sent = 5;
      CHECK_EQ(janus_channel_send(channel, &sent), 0);
      CHECK(panics([&] { return janus_channel_recv(channel, bad); }));
      CHECK_EQ(janus_channel_recv(channel, &value), 0);
      CHECK_EQ(value, 5);
      send_past_bad_receivers(sizeof(long), 0, kind);
      if (kind != Bad::kReadOnly) receive_past_bad_senders(sizeof(long), 0, kind);
    }
    janus_channel_release(channel);
    janus_channel_release(meeting);
  });
}

// Hostile tasks send and receive with bad pointers while producers and consumers use the channel all the time.
TEST(channel_memory, under_load_no_message_is_lost_or_doubled_and_no_lock_stays_held) {
  constexpr int kPairs = 3;
  const int count = scaled(3000, 400), hostile_count = scaled(300, 60);
  for (const unsigned workers : kWorkerCounts) {
    for (const std::size_t capacity : {0, 3}) {
      run_both_ways(workers, [&] {
        janus_channel* const channel = janus_channel_create(sizeof(long), capacity);
        std::atomic<long> sent{0}, received{0}, messages{0};
        auto producer = [&] {
          for (long i = 1; i <= count; ++i) {
            if (janus_channel_send(channel, &i) != 0) return -5;
            sent.fetch_add(i);
          }
          return 0;
        };
        auto consumer = [&] {
          for (long value = 0;; received.fetch_add(value), messages.fetch_add(1)) {
            const int status = janus_channel_recv(channel, &value);
            if (status != 0) return status == JANUS_E_CLOSED ? 0 : -5;
          }
        };
        std::atomic<int> turn{0};
        auto hostile = [&] {
          const int n = turn.fetch_add(1);
          const Bad kind = kUnreadable[static_cast<std::size_t>(n) / 2 % std::size(kUnreadable)];
          void* const bad = BadMemory::pointer(kind, sizeof(long));
          return n % 2 == 0 ? janus_channel_recv(channel, bad) : janus_channel_send(channel, bad);
        };
        Scope consumers, producers, hostiles(JANUS_ON_ERROR_COLLECT);
        for (int i = 0; i < kPairs; ++i) consumers.go(consumer);
        for (int i = 0; i < kPairs; ++i) producers.go(producer);
        for (int i = 0; i < hostile_count; ++i) {
          hostiles.go(hostile);
          if (i % 8 == 0) janus_yield();
        }
        CHECK_EQ(producers.end(), 0);
        // Hostile tasks may still wait that met no partner; the close ends their waits.
        CHECK_EQ(janus_channel_close(channel), 0);
        CHECK_EQ(consumers.end(), 0);
        janus_result result = {};
        CHECK_NE(hostiles.end(&result), 0);
        CHECK_NE(result.errors, 0u);
        CHECK_EQ(received.load(), sent.load());
        CHECK_EQ(messages.load(), kPairs * static_cast<long>(count));
        janus_channel_release(channel);
      });
    }
  }
}

// Waiters that look again after the last release lock a record that is free. Whoever becomes its owner would find it
// there by a stale handle.
TEST(channel_memory, waiters_that_look_again_do_not_own_the_lock_of_a_channel_that_has_ended) {
  constexpr int kMostUses = 40;  // the worker that locks it 33 times in a row owns the lock
  run_in(with_workers(1), [] {
    for (int uses = 0; uses < kMostUses; ++uses) {
      janus_channel* const channel = janus_channel_create(8, 0);
      const std::uint32_t index = index_of_handle(reinterpret_cast<std::uintptr_t>(channel));
      auto& record = *static_cast<Channel*>(runtime_of(current_worker()).channels.at(index));
      long value = 0;
      auto bad = [&] { return janus_channel_recv(channel, BadMemory::pointer(Bad::kSmall, 8)); };
      auto good = [&] {
        long received = 0;
        return static_cast<std::int64_t>(janus_channel_recv(channel, &received));
      };
      Scope scope(JANUS_ON_ERROR_COLLECT);
      for (int i = 0; i < kManyBads; ++i) CHECK(stops(scope.go(bad)));
      for (int i = 0; i < kGoods; ++i) CHECK(stops(scope.go(good)));
      const BiasedLock::Hold hold = record.lock.lock_as_guest(nullptr);  // counts the uses from here on
      record.lock.init(true);
      record.lock.unlock(nullptr, hold);
      for (int i = 0; i < uses; ++i) CHECK_EQ(janus_channel_try_recv(channel, &value), JANUS_E_WOULD_BLOCK);
      CHECK_EQ(janus_channel_try_send(channel, &value), JANUS_E_WOULD_BLOCK);  // the others are told to look again
      janus_channel_release(channel);
      (void)scope.end();
      CHECK(!record.lock.is_owned_by(current_worker().locks));
    }
  });
}

TEST(channel_memory, elements_are_bounded) {
  run_in(with_workers(1), [] {
    constexpr std::size_t kLargest = std::size_t{1} << 20;
    for (const std::size_t capacity : {0, 1}) {
      janus_channel* const channel = janus_channel_create(kLargest, capacity);
      CHECK(channel != nullptr);
      janus_channel_release(channel);
      for (const std::size_t bytes : {kLargest + 1, SIZE_MAX}) {
        CHECK(janus_channel_create(bytes, capacity) == nullptr);
        CHECK_EQ(janus_last_error(), JANUS_E_INVALID);
      }
    }
    CHECK(janus_channel_create(kLargest, SIZE_MAX / 2) == nullptr);
    CHECK_EQ(janus_last_error(), JANUS_E_INVALID);
  });
}

// The bytes before and after the receiver's buffer stay as they were. The buffer itself is written only when a message
// arrives.
TEST(channel_memory, receiving_writes_the_element_alone_and_only_when_there_is_one) {
  run_both_ways(2, [] {
    for (const std::uint32_t bytes : {3u, 8u, 100u, 5000u}) {
      janus_channel* const channel = janus_channel_create(bytes, 0);
      Element around(bytes + 2);
      auto* const first = static_cast<unsigned char*>(around.get());
      for (std::size_t i = 0; i < bytes + 2; ++i) first[i] = 0x11;
      auto receive = [&] { return janus_channel_recv(channel, first + 1); };
      Scope scope;
      CHECK(stops(scope.go(receive)));
      for (std::size_t i = 0; i < bytes + 2; ++i) CHECK_EQ(first[i], 0x11);
      Element element(bytes);
      for (std::size_t i = 0; i < bytes; ++i) static_cast<unsigned char*>(element.get())[i] = 0x22;
      CHECK_EQ(janus_channel_send(channel, element.get()), 0);
      CHECK_EQ(scope.end(), 0);
      for (std::size_t i = 0; i < bytes + 2; ++i) CHECK_EQ(first[i], i == 0 || i == bytes + 1 ? 0x11 : 0x22);
      janus_channel_release(channel);
    }
  });
}

// Any pointer instead of a channel, in each call.
TEST(channel_memory, a_pointer_to_no_channel_ends_the_task_that_uses_it) {
  run_both_ways(2, [] {
    for (const Bad kind : kUnreadable) {
      auto* const bad = static_cast<janus_channel*>(BadMemory::pointer(kind, 8));
      long value = 0;
      CHECK(panics([&] { return janus_channel_send(bad, &value); }));
      CHECK(panics([&] { return janus_channel_recv(bad, &value); }));
      CHECK(panics([&] { return janus_channel_try_send(bad, &value); }));
      CHECK(panics([&] { return janus_channel_try_recv(bad, &value); }));
      CHECK(panics([&] { return janus_channel_close(bad); }));
      CHECK(panics([&] { janus_channel_release(bad); }));
      CHECK(panics([&] { janus_channel_retain(bad); }));
    }
  });
}

}  // namespace janus::test
