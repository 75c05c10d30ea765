// SPDX-License-Identifier: Apache-2.0
// mailbox_test.cpp — janus/supervise.h: mailboxes.
#include <janus/supervise.h>

#include "tests/api/world.h"

namespace janus::test {

namespace {

constexpr std::uint64_t kMs = 1'000'000;

struct Word {
  std::uint64_t tag, value;
};

bool blocks(janus_task task) {
  return eventually([&] { return janus_task_state(task) == JANUS_TASK_BLOCKED; });
}

class Box {
 public:
  explicit Box(std::size_t capacity, std::size_t bytes = sizeof(Word)) : box_(janus_mailbox_create(bytes, capacity)) {
    CHECK(box_ != nullptr);
  }
  ~Box() { janus_mailbox_release(box_); }
  Box(const Box&) = delete;
  Box& operator=(const Box&) = delete;

  janus_mailbox* get() const { return box_; }
  int send(std::uint64_t tag, std::uint64_t value = 0) const {
    const Word word = {tag, value};
    return janus_mailbox_send(box_, &word);
  }
  int try_send(std::uint64_t tag, std::uint64_t value = 0) const {
    const Word word = {tag, value};
    return janus_mailbox_try_send(box_, &word);
  }

 private:
  janus_mailbox* const box_;
};

// A filter that wants a tag, and counts how often it is asked.
struct Wanted {
  std::uint64_t tag;
  int asked = 0;
};
int has_tag(const void* message, void* wanted) {
  auto& its = *static_cast<Wanted*>(wanted);
  ++its.asked;
  return static_cast<const Word*>(message)->tag == its.tag;
}
int wants_none(const void*, void*) {
  return 0;
}
int is_odd(const void* message, void*) {
  return static_cast<const Word*>(message)->tag % 2 == 1;
}
std::atomic<int> asked_about_sevens{0};
int is_seven(const void* message, void*) {
  asked_about_sevens.fetch_add(1);
  return static_cast<const Word*>(message)->tag == 7;
}

unsigned char byte_of(unsigned message, std::size_t at) {
  return static_cast<unsigned char>(message * 31 + at * 7 + (at >> 8));
}

}  // namespace

TEST(mailbox, messages_of_any_size_come_whole_and_in_order) {
  on_any_workers([] {
    for (const std::size_t bytes : {1, 2, 7, 8, 9, 16, 25, 4095, 4096, 4097, 65536})
      for (const std::size_t capacity : {1, 3}) {
        const Box box(capacity, bytes);
        constexpr unsigned kMessages = 7;
        auto sends = [&] {
          auto* const message = static_cast<unsigned char*>(janus_alloc(bytes));
          if (!CHECK(message != nullptr)) return;
          for (unsigned i = 0; i < kMessages; ++i) {
            for (std::size_t at = 0; at < bytes; ++at) message[at] = byte_of(i, at);
            CHECK_EQ(janus_mailbox_send(box.get(), message), 0);
          }
          janus_free(message);
        };
        Scope scope;
        scope.go(sends);
        auto* const message = static_cast<unsigned char*>(janus_alloc(bytes + 1));
        if (!CHECK(message != nullptr)) return;
        for (unsigned i = 0; i < kMessages; ++i) {
          message[bytes] = 0xa5;
          CHECK_EQ(janus_mailbox_recv(box.get(), message), 0);
          bool is_whole = message[bytes] == 0xa5;
          for (std::size_t at = 0; at < bytes; ++at) is_whole = is_whole && message[at] == byte_of(i, at);
          CHECK(is_whole);
        }
        janus_free(message);
        CHECK_EQ(scope.end(), 0);
      }
  });
}

TEST(mailbox, it_holds_its_capacity_and_senders_get_room_in_order) {
  on_any_workers([] {
    const Box box(2);
    CHECK_EQ(box.send(0), 0);
    CHECK_EQ(box.try_send(1), 0);
    CHECK_EQ(box.try_send(9), JANUS_E_WOULD_BLOCK);
    CHECK_EQ(janus_mailbox_send_until(box.get(), "0123456789abcdef", janus_now_ns() + kMs), JANUS_E_TIMEOUT);
    CHECK_EQ(janus_mailbox_send_until(box.get(), "0123456789abcdef", 1), JANUS_E_TIMEOUT);
    constexpr unsigned kSenders = 5;
    struct Sender {
      const Box* box;
      std::uint64_t tag;
      void operator()() const { CHECK_EQ(box->send(tag), 0); }
    } senders[kSenders];
    Scope scope;
    for (unsigned i = 0; i < kSenders; ++i) {
      senders[i] = {&box, 2 + i};
      CHECK(blocks(scope.go(senders[i])));
    }
    for (unsigned i = 0; i < 2 + kSenders; ++i) {
      Word word = {};
      CHECK_EQ(janus_mailbox_recv(box.get(), &word), 0);
      CHECK_EQ(word.tag, i);
    }
    CHECK_EQ(scope.end(), 0);
    Word word = {};
    CHECK_EQ(janus_mailbox_recv_until(box.get(), &word, 1), JANUS_E_TIMEOUT);
    CHECK_EQ(janus_mailbox_recv_until(box.get(), &word, janus_now_ns() + kMs), JANUS_E_TIMEOUT);
  });
}

TEST(mailbox, a_filter_takes_the_oldest_that_it_wants_and_leaves_the_others_in_order) {
  on_any_workers([] {
    const Box box(100);
    for (std::uint64_t i = 0; i < 60; ++i) CHECK_EQ(box.send(i % 3, i), 0);
    Word word = {};
    for (std::uint64_t i = 0; i < 20; ++i) {
      Wanted wanted{1};
      CHECK_EQ(janus_mailbox_recv_match(box.get(), has_tag, &wanted, &word), 0);
      CHECK_EQ(word.value, 3 * i + 1);
    }
    for (std::uint64_t i = 0; i < 10; ++i) {  // what was taken from the middle left no gap
      CHECK_EQ(janus_mailbox_recv(box.get(), &word), 0);
      CHECK_EQ(word.value, i / 2 * 3 + i % 2 * 2);
    }
    CHECK_EQ(box.send(1, 99), 0);
    for (std::uint64_t i = 5; i < 20; ++i) {
      Wanted wanted{2};
      CHECK_EQ(janus_mailbox_recv_match(box.get(), has_tag, &wanted, &word), 0);
      CHECK_EQ(word.value, 3 * i + 2);
    }
    for (std::uint64_t i = 5; i < 20; ++i) {
      CHECK_EQ(janus_mailbox_recv(box.get(), &word), 0);
      CHECK_EQ(word.value, 3 * i);
    }
    CHECK_EQ(janus_mailbox_recv(box.get(), &word), 0);
    CHECK_EQ(word.value, 99u);
  });
}

TEST(mailbox, in_one_call_a_filter_is_asked_about_each_message_once) {
  on_any_workers([] {
    constexpr int kJunk = 40, kLater = 20;
    const Box box(kJunk + kLater + 1);
    for (int i = 0; i < kJunk; ++i) CHECK_EQ(box.send(1), 0);
    Wanted wanted{2};
    auto receives = [&] {
      Word word = {};
      CHECK_EQ(janus_mailbox_recv_match(box.get(), has_tag, &wanted, &word), 0);
      CHECK_EQ(word.tag, 2u);
    };
    Scope scope;
    const janus_task receiver = scope.go(receives);
    CHECK(blocks(receiver));
    for (int i = 0; i < kLater; ++i) {
      CHECK_EQ(box.send(3), 0);
      CHECK(blocks(receiver));
    }
    CHECK_EQ(box.send(2), 0);
    CHECK_EQ(scope.end(), 0);
    CHECK_EQ(wanted.asked, kJunk + kLater + 1);
  });
}

TEST(mailbox, a_filter_without_an_argument_is_asked_once_in_all_calls) {
  on_any_workers([] {
    constexpr int kJunk = 50, kRounds = 30;
    const Box box(kJunk + 4);
    for (int i = 0; i < kJunk; ++i) CHECK_EQ(box.send(2 * i), 0);
    asked_about_sevens.store(0);
    Word word = {};
    for (int i = 0; i < kRounds; ++i) {
      CHECK_EQ(box.send(7), 0);
      CHECK_EQ(janus_mailbox_recv_match(box.get(), is_seven, nullptr, &word), 0);
      CHECK_EQ(word.tag, 7u);
    }
    CHECK_EQ(asked_about_sevens.load(), kJunk + kRounds);
    // Others are asked on their own account.
    CHECK_EQ(box.send(7), 0);
    CHECK_EQ(janus_mailbox_recv_match(box.get(), is_odd, nullptr, &word), 0);
    CHECK_EQ(janus_mailbox_recv_match_until(box.get(), is_odd, nullptr, &word, 1), JANUS_E_TIMEOUT);
    asked_about_sevens.store(0);  // with an argument the same function is another filter
    CHECK_EQ(janus_mailbox_recv_match_until(box.get(), is_seven, &word, &word, 1), JANUS_E_TIMEOUT);
    CHECK_EQ(asked_about_sevens.load(), kJunk);
  });
}

TEST(mailbox, an_argument_that_has_changed_finds_what_was_passed_over) {
  on_any_workers([] {
    const Box box(10);
    for (std::uint64_t i = 10; i-- > 0;) CHECK_EQ(box.send(i), 0);
    Wanted wanted{0};
    for (wanted.tag = 0; wanted.tag < 10; ++wanted.tag) {
      Word word = {};
      CHECK_EQ(janus_mailbox_recv_match(box.get(), has_tag, &wanted, &word), 0);
      CHECK_EQ(word.tag, wanted.tag);
    }
  });
}

TEST(mailbox, what_is_not_wanted_takes_room_until_somebody_takes_it) {
  on_any_workers([] {
    const Box box(3);
    for (int i = 0; i < 3; ++i) CHECK_EQ(box.send(2), 0);
    Word word = {};
    CHECK_EQ(janus_mailbox_recv_match_until(box.get(), is_odd, nullptr, &word, janus_now_ns() + kMs), JANUS_E_TIMEOUT);
    CHECK_EQ(box.try_send(1), JANUS_E_WOULD_BLOCK);
    auto receives = [&] {
      Word odd = {};
      CHECK_EQ(janus_mailbox_recv_match(box.get(), is_odd, nullptr, &odd), 0);
      CHECK_EQ(odd.tag, 1u);
    };
    auto sends = [&] { CHECK_EQ(box.send(1), 0); };
    Scope scope;
    CHECK(blocks(scope.go(receives)));
    CHECK(blocks(scope.go(sends)));
    CHECK_EQ(janus_mailbox_recv(box.get(), &word), 0);
    CHECK_EQ(word.tag, 2u);
    CHECK_EQ(scope.end(), 0);
  });
}

TEST(mailbox, a_closed_one_is_drained_by_each_filter) {
  on_any_workers([] {
    const Box box(3);
    auto waits_for_odd = [&]() -> std::int64_t {
      Word word = {};
      return janus_mailbox_recv_match(box.get(), is_odd, nullptr, &word);
    };
    auto sends = [&]() -> std::int64_t { return box.send(8); };
    Scope scope(JANUS_ON_ERROR_COLLECT);
    const janus_task receiver = scope.go(waits_for_odd);
    CHECK(blocks(receiver));
    for (std::uint64_t i = 0; i < 3; ++i) CHECK_EQ(box.send(2 * i), 0);
    const janus_task sender = scope.go(sends);
    CHECK(blocks(sender));
    CHECK_EQ(janus_mailbox_close(box.get()), 0);
    CHECK_EQ(janus_mailbox_close(box.get()), JANUS_E_CLOSED);
    std::int64_t result = 0;
    CHECK_EQ(janus_task_join(receiver, &result), 0);
    CHECK_EQ(result, JANUS_E_CLOSED);
    CHECK_EQ(janus_task_join(sender, &result), 0);
    CHECK_EQ(result, JANUS_E_CLOSED);
    CHECK_EQ(box.send(1), JANUS_E_CLOSED);
    CHECK_EQ(box.try_send(1), JANUS_E_CLOSED);
    Word word = {};
    Wanted wanted{4};
    CHECK_EQ(janus_mailbox_recv_match(box.get(), has_tag, &wanted, &word), 0);
    CHECK_EQ(janus_mailbox_recv_match(box.get(), has_tag, &wanted, &word), JANUS_E_CLOSED);
    CHECK_EQ(janus_mailbox_recv(box.get(), &word), 0);
    CHECK_EQ(janus_mailbox_recv(box.get(), &word), 0);
    CHECK_EQ(word.tag, 2u);
    CHECK_EQ(janus_mailbox_recv(box.get(), &word), JANUS_E_CLOSED);
    scope.end();
  });
}

TEST(mailbox, a_cancel_ends_waits_and_loses_nothing) {
  on_any_workers([] {
    const Box box(1);
    auto receives = [&]() -> std::int64_t {
      Word word = {};
      const int answer = janus_mailbox_recv(box.get(), &word);
      CHECK_EQ(janus_mailbox_recv(box.get(), &word), JANUS_CANCELLED);
      CHECK_EQ(janus_mailbox_recv_match(box.get(), wants_none, nullptr, &word), JANUS_CANCELLED);
      return answer;
    };
    auto matches = [&]() -> std::int64_t {
      Word word = {};
      return janus_mailbox_recv_match(box.get(), wants_none, nullptr, &word);
    };
    auto sends = [&]() -> std::int64_t {
      const int answer = box.send(5);
      CHECK_EQ(box.send(5), JANUS_CANCELLED);
      CHECK_EQ(box.try_send(5), JANUS_E_WOULD_BLOCK);  // tries work
      return answer;
    };
    {
      Scope scope(JANUS_ON_ERROR_COLLECT);
      const janus_task tasks[] = {scope.go(receives), scope.go(matches)};
      for (const janus_task task : tasks) CHECK(blocks(task));
      scope.cancel();
      for (const janus_task task : tasks) {
        std::int64_t result = 0;
        CHECK_EQ(janus_task_join(task, &result), 0);
        CHECK_EQ(result, JANUS_CANCELLED);
      }
      scope.end();
    }
    CHECK_EQ(box.send(1), 0);
    {
      Scope scope(JANUS_ON_ERROR_COLLECT);
      const janus_task sender = scope.go(sends);
      CHECK(blocks(sender));
      scope.cancel();
      std::int64_t result = 0;
      CHECK_EQ(janus_task_join(sender, &result), 0);
      CHECK_EQ(result, JANUS_CANCELLED);
      scope.end();
    }
    Word word = {};
    CHECK_EQ(janus_mailbox_recv(box.get(), &word), 0);
    CHECK_EQ(word.tag, 1u);
    CHECK_EQ(janus_mailbox_recv_until(box.get(), &word, 1), JANUS_E_TIMEOUT);
  });
}

namespace {

struct Meddler {
  const Box* box;
  int calls = 0;
};
int panics(const void* message, void*) {
  if (static_cast<const Word*>(message)->tag == 1) janus_task_panic("the filter has had enough");
  return 0;
}
int yields(const void* message, void*) {
  (void)janus_sleep_ns(1000);
  (void)janus_yield();
  return static_cast<const Word*>(message)->tag == 3;
}
// Takes what comes after the message that it is asked about, and sends another.
int meddles(const void* message, void* arg) {
  auto& its = *static_cast<Meddler*>(arg);
  if (its.calls++ == 0) {
    Word other = {};
    Wanted wanted{2};
    CHECK_EQ(janus_mailbox_recv_match(its.box->get(), has_tag, &wanted, &other), 0);
    CHECK_EQ(other.tag, 2u);
    CHECK_EQ(its.box->send(4), 0);
  }
  return static_cast<const Word*>(message)->tag == 4;
}
// Takes the very message that it says it wants.
int steals(const void* message, void* arg) {
  auto& its = *static_cast<Meddler*>(arg);
  Word other = {};
  if (its.calls++ == 0) CHECK_EQ(janus_mailbox_recv(its.box->get(), &other), 0);
  return static_cast<const Word*>(message)->tag == 1;
}

}  // namespace

TEST(mailbox, a_filter_may_panic_wait_and_use_the_mailbox) {
  on_any_workers([] {
    const Box box(4);
    for (std::uint64_t i = 0; i < 3; ++i) CHECK_EQ(box.send(i), 0);
    auto dies = [&] {
      Word word = {};
      (void)janus_mailbox_recv_match(box.get(), panics, nullptr, &word);
      CHECK(false);
    };
    Scope scope(JANUS_ON_ERROR_COLLECT);
    janus_result result = {};
    scope.go(dies);
    CHECK_EQ(scope.end(&result), JANUS_PANIC);
    Word word = {};
    Meddler meddler{&box};
    CHECK_EQ(janus_mailbox_recv_match(box.get(), meddles, &meddler, &word), 0);
    CHECK_EQ(word.tag, 4u);
    CHECK_EQ(box.send(3), 0);
    CHECK_EQ(janus_mailbox_recv_match_until(box.get(), yields, nullptr, &word, janus_now_ns() + 60'000 * kMs), 0);
    CHECK_EQ(word.tag, 3u);
    CHECK_EQ(box.send(1, 2), 0);
    CHECK_EQ(janus_mailbox_recv(box.get(), &word), 0);
    CHECK_EQ(word.tag, 0u);
    Meddler thief{&box};
    CHECK_EQ(janus_mailbox_recv_match(box.get(), steals, &thief, &word), 0);  // of two alike, the second
    CHECK_EQ(word.value, 2u);
    CHECK_EQ(thief.calls, 2);
    CHECK_EQ(janus_mailbox_recv_until(box.get(), &word, 1), JANUS_E_TIMEOUT);
  });
}

TEST(mailbox, receivers_with_filters_of_their_own_all_get_what_is_theirs) {
  on_any_workers([] {
    constexpr std::uint64_t kReceivers = 6, kSenders = 3;
    const auto rounds = static_cast<std::uint64_t>(scaled(60, 20));
    const Box box(4);
    struct Receiver {
      const Box* box;
      std::uint64_t tag, rounds, sum = 0;
      void operator()() {
        for (std::uint64_t i = 0; i < rounds * kSenders; ++i) {
          Word word = {};
          Wanted wanted{tag};
          CHECK_EQ(janus_mailbox_recv_match(box->get(), has_tag, &wanted, &word), 0);
          CHECK_EQ(word.tag, tag);
          sum += word.value;
        }
      }
    } receivers[kReceivers];
    auto sends = [&] {
      for (std::uint64_t i = 0; i < rounds; ++i)
        for (std::uint64_t tag = 0; tag < kReceivers; ++tag) CHECK_EQ(box.send(tag, i + tag), 0);
    };
    Scope scope;
    for (std::uint64_t i = 0; i < kReceivers; ++i) {
      receivers[i] = {&box, i, rounds};
      scope.go(receivers[i]);
    }
    for (std::uint64_t i = 0; i < kSenders; ++i) scope.go(sends);
    CHECK_EQ(scope.end(), 0);
    for (std::uint64_t i = 0; i < kReceivers; ++i)
      CHECK_EQ(receivers[i].sum, kSenders * (rounds * (rounds - 1) / 2 + rounds * i));
  });
}

TEST(mailbox, a_receiver_that_gives_up_does_not_keep_the_news_from_others) {
  on_any_workers([] {
    const int rounds = scaled(40, 10);
    const Box box(2);
    for (int i = 0; i < rounds; ++i) {
      auto hopes = [&]() -> std::int64_t {
        Word word = {};
        Wanted wanted{77};
        return janus_mailbox_recv_match_until(box.get(), has_tag, &wanted, &word, janus_now_ns() + kMs / 50);
      };
      auto receives = [&] {
        Word word = {};
        Wanted wanted{1};
        CHECK_EQ(janus_mailbox_recv_match(box.get(), has_tag, &wanted, &word), 0);
      };
      Scope scope(JANUS_ON_ERROR_COLLECT);
      for (int n = 0; n < 3; ++n) scope.go(hopes);
      const janus_task receiver = scope.go(receives);
      if (i % 2 == 0) CHECK(blocks(receiver));
      CHECK_EQ(box.send(1), 0);
      std::int64_t result = -1;
      CHECK_EQ(janus_task_join(receiver, &result), 0);
      scope.end();
    }
  });
}

TEST(mailbox, many_senders_and_receivers_lose_and_double_nothing) {
  on_any_workers([] {
    constexpr std::uint64_t kTasks = 6;
    const auto each = static_cast<std::uint64_t>(scaled(400, 100));
    const Box box(3);
    std::atomic<std::uint64_t> sum{0}, count{0};
    auto sends = [&] {
      for (std::uint64_t i = 1; i <= each; ++i) CHECK_EQ(box.send(i % 2, i), 0);
    };
    auto receives = [&] {
      Word word = {};
      for (;;) {
        const std::uint64_t n = count.load();
        const int answer = n % 3 == 0 ? janus_mailbox_recv_match(box.get(), is_odd, nullptr, &word)
                                      : janus_mailbox_recv(box.get(), &word);
        if (answer == JANUS_E_CLOSED) return;
        CHECK_EQ(answer, 0);
        sum.fetch_add(word.value);
        count.fetch_add(1);
      }
    };
    Scope all;
    for (std::uint64_t i = 0; i < kTasks; ++i) all.go(receives);
    auto drains = [&] {  // so that nobody waits for odd ones alone
      Word word = {};
      while (janus_mailbox_recv(box.get(), &word) == 0) {
        sum.fetch_add(word.value);
        count.fetch_add(1);
      }
    };
    all.go(drains);
    {
      Scope scope;
      for (std::uint64_t i = 0; i < kTasks; ++i) scope.go(sends);
      CHECK_EQ(scope.end(), 0);
    }
    CHECK_EQ(janus_mailbox_close(box.get()), 0);
    CHECK_EQ(all.end(), 0);
    CHECK_EQ(count.load(), kTasks * each);
    CHECK_EQ(sum.load(), kTasks * each * (each + 1) / 2);
  });
}

TEST(mailbox, bad_arguments_get_one_answer_each) {
  run_in(with_workers(1), [] {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{65537}, SIZE_MAX}) {
      CHECK(janus_mailbox_create(bytes, 1) == nullptr);
      CHECK_EQ(janus_last_error(), JANUS_E_INVALID);
    }
    for (const std::size_t capacity : {std::size_t{0}, SIZE_MAX, SIZE_MAX / 64}) {
      CHECK(janus_mailbox_create(64, capacity) == nullptr);
      CHECK_EQ(janus_last_error(), JANUS_E_INVALID);
    }
    Word word = {};
    CHECK_EQ(janus_mailbox_send(nullptr, &word), JANUS_E_INVALID);
    CHECK_EQ(janus_mailbox_try_send(nullptr, &word), JANUS_E_INVALID);
    CHECK_EQ(janus_mailbox_recv(nullptr, &word), JANUS_E_INVALID);
    CHECK_EQ(janus_mailbox_recv_match(nullptr, is_odd, nullptr, &word), JANUS_E_INVALID);
    CHECK_EQ(janus_mailbox_close(nullptr), JANUS_E_INVALID);
    CHECK(janus_mailbox_retain(nullptr) == nullptr);
    CHECK_EQ(janus_last_error(), JANUS_E_INVALID);
    janus_mailbox* const box = janus_mailbox_create(sizeof word, 2);
    CHECK_EQ(janus_mailbox_send(box, nullptr), JANUS_E_INVALID);
    CHECK_EQ(janus_mailbox_try_send(box, nullptr), JANUS_E_INVALID);
    CHECK_EQ(janus_mailbox_send(box, &word), 0);
    CHECK_EQ(janus_mailbox_recv(box, nullptr), JANUS_E_INVALID);
    CHECK_EQ(janus_mailbox_recv_match(box, nullptr, nullptr, &word), JANUS_E_INVALID);
    CHECK_EQ(janus_mailbox_recv_match(box, is_odd, nullptr, nullptr), JANUS_E_INVALID);
    CHECK(janus_mailbox_retain(box) == box);
    janus_mailbox_release(box);
    CHECK_EQ(janus_mailbox_recv(box, &word), 0);
    janus_mailbox_release(box);
    CHECK_EQ(janus_mailbox_send(box, &word), JANUS_E_STALE);
    CHECK_EQ(janus_mailbox_recv(box, &word), JANUS_E_STALE);
    CHECK_EQ(janus_mailbox_close(box), JANUS_E_STALE);
    CHECK(janus_mailbox_retain(box) == nullptr);
    CHECK_EQ(janus_last_error(), JANUS_E_STALE);
    janus_mailbox_release(box);
    CHECK_EQ(janus_last_error(), JANUS_E_STALE);
  });
}

TEST(mailbox, the_handle_of_another_kind_is_refused) {
  run_in(with_workers(1), [] {
    janus_mailbox* const box = janus_mailbox_create(8, 1);
    janus_channel* const channel = janus_channel_create(8, 1);
    std::uint64_t word = 0;
    auto sends_to_a_mailbox = [&] { (void)janus_channel_send(reinterpret_cast<janus_channel*>(box), &word); };
    auto sends_to_a_channel = [&] { (void)janus_mailbox_send(reinterpret_cast<janus_mailbox*>(channel), &word); };
    auto releases = [&] { janus_channel_release(reinterpret_cast<janus_channel*>(box)); };
    for (int i = 0; i < 3; ++i) {
      Scope scope(JANUS_ON_ERROR_COLLECT);
      if (i == 0) scope.go(sends_to_a_mailbox);
      if (i == 1) scope.go(sends_to_a_channel);
      if (i == 2) scope.go(releases);
      janus_result result = {};
      CHECK_EQ(scope.end(&result), JANUS_PANIC);
      CHECK_EQ(result.cause, JANUS_CAUSE_MISUSE);
    }
    CHECK_EQ(janus_mailbox_send(box, &word), 0);
    janus_mailbox_release(box);
    janus_channel_release(channel);
  });
}

TEST(mailbox, waiters_of_one_that_ends_are_sent_away) {
  on_any_workers([] {
    janus_mailbox* const box = janus_mailbox_create(sizeof(Word), 1);
    auto receives = [&]() -> std::int64_t {
      Word word = {};
      return janus_mailbox_recv(box, &word);
    };
    auto matches = [&]() -> std::int64_t {
      Word word = {};
      return janus_mailbox_recv_match(box, wants_none, nullptr, &word);
    };
    Scope scope(JANUS_ON_ERROR_COLLECT);
    const janus_task tasks[] = {scope.go(receives), scope.go(matches)};
    for (const janus_task task : tasks) CHECK(blocks(task));
    janus_mailbox_release(box);
    for (const janus_task task : tasks) {
      std::int64_t result = 0;
      CHECK_EQ(janus_task_join(task, &result), 0);
      CHECK_EQ(result, JANUS_E_CLOSED);
    }
    scope.end();
  });
}

TEST(mailbox, memory_that_cannot_be_accessed_makes_its_task_panic_and_loses_nothing) {
  on_any_workers([] {
    void* const nowhere = as_arg(0x18);
    const Box box(1);
    auto sends_badly = [&] { (void)janus_mailbox_send(box.get(), nowhere); };
    auto receives_badly = [&] { (void)janus_mailbox_recv(box.get(), nowhere); };
    auto matches_badly = [&] { (void)janus_mailbox_recv_match(box.get(), is_odd, nullptr, nowhere); };
    auto panic_of = [](auto& closure) {
      Scope scope(JANUS_ON_ERROR_COLLECT);
      scope.go(closure);
      janus_result result = {};
      CHECK_EQ(scope.end(&result), JANUS_PANIC);
      CHECK_EQ(result.cause, JANUS_CAUSE_BAD_ACCESS);
    };
    panic_of(sends_badly);
    CHECK_EQ(box.try_send(1), 0);  // the room was not lost
    panic_of(receives_badly);
    panic_of(matches_badly);
    Word word = {};
    CHECK_EQ(janus_mailbox_recv(box.get(), &word), 0);  // nor the message
    CHECK_EQ(word.tag, 1u);
    // A sender that waits, and whose memory is bad when its turn has come.
    CHECK_EQ(box.send(1), 0);
    auto sends = [&] { CHECK_EQ(box.send(3), 0); };
    Scope scope(JANUS_ON_ERROR_COLLECT);
    CHECK(blocks(scope.go(sends_badly)));
    CHECK(blocks(scope.go(sends)));
    for (const std::uint64_t tag : {1, 3}) {
      CHECK_EQ(janus_mailbox_recv(box.get(), &word), 0);
      CHECK_EQ(word.tag, tag);
    }
    CHECK_EQ(scope.end(), JANUS_PANIC);
  });
}

TEST(mailbox, all_of_it_is_paid_for) {
  run_in(with_workers(1), [] {
    auto body = []() -> std::int64_t {
      const janus_budget before = janus_budget_get_current();
      janus_mailbox* const box = janus_mailbox_create(4096, 16);
      const janus_budget with_box = janus_budget_get_current();
      CHECK_GE(before.memory - with_box.memory, 16u * 4096);
      static char message[4096];
      for (int i = 0; i < 16; ++i) CHECK_EQ(janus_mailbox_send(box, message), 0);
      const janus_budget sent = janus_budget_get_current();
      CHECK_EQ(with_box.channel_ops - sent.channel_ops, 16);
      CHECK_GE(with_box.ops - sent.ops, 32u);  // 1 for the call, and 1 for 4 KiB
      CHECK_EQ(janus_mailbox_recv_match_until(box, wants_none, nullptr, message, 1), JANUS_E_TIMEOUT);
      CHECK_GE(sent.ops - janus_budget_get_current().ops, 32u);  // as much for each question
      janus_mailbox_release(box);
      CHECK_EQ(janus_budget_get_current().memory, before.memory);
      return 0;
    };
    janus_budget budget = budget_of(100000);
    budget.channel_ops = 1000;
    Scope scope(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, budget);
    scope.go(body);
    CHECK_EQ(scope.end(), 0);
    // A mailbox for which there is no memory.
    auto poor = []() -> std::int64_t {
      CHECK(janus_mailbox_create(65536, 1000) == nullptr);
      CHECK_EQ(janus_last_error(), JANUS_E_BUDGET);
      return 0;
    };
    Scope small(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_DENY, budget_of(100000));
    small.go(poor);
    CHECK_EQ(small.end(), 0);
  });
}

}  // namespace janus::test
