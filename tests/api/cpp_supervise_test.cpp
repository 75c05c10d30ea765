// SPDX-License-Identifier: Apache-2.0
// rt.hpp: mailboxes and supervisors.
#include <janus/rt.hpp>

#include "tests/api/in_task.h"

namespace {

using namespace janus;
using namespace janus::literals;
using test::eventually;

struct Word {
  std::uint64_t tag, value;
};
struct alignas(64) Line {
  explicit Line(unsigned char of) noexcept : bytes{of} {}  // there is none by default
  unsigned char bytes[64];
};

TASK_TEST(cpp_mailbox, messages_come_in_order_and_a_filter_takes_what_it_wants_first) {
  const Mailbox<Word> mailbox(4);
  REQUIRE(mailbox);
  for (std::uint64_t tag = 1; tag <= 4; ++tag) CHECK(mailbox.send({tag, 10 * tag}).ok());
  CHECK_EQ(mailbox.try_send({5, 50}).error().code, JANUS_E_WOULD_BLOCK);
  CHECK_EQ(mailbox.send_until({5, 50}, deadline_in(1_ms)).error().code, JANUS_E_TIMEOUT);
  std::uint64_t wanted = 3;
  int asked = 0;
  const auto has_tag = [&](const Word& word) { return ++asked, word.tag == wanted; };
  CHECK_EQ(mailbox.recv_match(has_tag).value().value, 30u);
  CHECK_EQ(asked, 3);
  CHECK_EQ(mailbox.recv_match([](const Word& word) { return word.tag % 2 == 0; }).value().value, 20u);
  wanted = 7;
  CHECK_EQ(mailbox.recv_match_until(has_tag, deadline_in(1_ms)).error().code, JANUS_E_TIMEOUT);
  CHECK_EQ(mailbox.recv().value().value, 10u);
  CHECK_EQ(mailbox.recv_until(deadline_in(3600_s)).value().value, 40u);
  CHECK_EQ(mailbox.recv_until(deadline_in(1_ms)).error().code, JANUS_E_TIMEOUT);
  CHECK(mailbox.close().ok());
  CHECK_EQ(mailbox.recv().error().code, JANUS_E_CLOSED);
  CHECK_EQ(mailbox.send({1, 1}).error().code, JANUS_E_CLOSED);
}

// Of a filter without captures the mailbox remembers what it said no to; of another one it does not.
TASK_TEST(cpp_mailbox, a_filter_without_captures_is_asked_once_in_all_calls) {
  const Mailbox<int> mailbox(8);
  static int asked_in_all;
  asked_in_all = 0;
  int asked = 0;
  const auto is_negative = [](const int& number) { return ++asked_in_all, number < 0; };
  const auto is_large = [&asked](const int& number) { return ++asked, number > 100; };
  for (int i = 0; i < 5; ++i) CHECK(mailbox.send(i).ok());
  for (int i = 0; i < 3; ++i) {
    CHECK_EQ(mailbox.recv_match_until(is_negative, deadline_in(100_us)).error().code, JANUS_E_TIMEOUT);
    CHECK_EQ(mailbox.recv_match_until(is_large, deadline_in(100_us)).error().code, JANUS_E_TIMEOUT);
  }
  CHECK_EQ(asked_in_all, 5);
  CHECK_EQ(asked, 15);
  CHECK(mailbox.send(-1).ok());
  CHECK_EQ(mailbox.recv_match(is_negative).value(), -1);
}

int is_a_line_of_two(const Line& line) noexcept {
  return line.bytes[0] == 2;
}

TASK_TEST(cpp_mailbox, copies_are_one_mailbox_and_the_last_one_closes_it) {
  const std::size_t before = test::stats_of().bytes_in_use;
  {
    Mailbox<Line> mine(2);
    Mailbox<Line> copy = mine;
    const Mailbox<Line> moved = std::move(mine);
    CHECK(!mine);
    CHECK_EQ(mine.recv().error().code, JANUS_E_INVALID);
    CHECK(copy.send(Line(1)).ok() && moved.send(Line(2)).ok());
    const auto line = moved.recv_match(is_a_line_of_two);
    CHECK_EQ(reinterpret_cast<std::uintptr_t>(&line.value()) % 64, 0u);
    CHECK_EQ(line.value().bytes[0], 2);
    CHECK_EQ(copy.raw(), moved.raw());
    mine = moved;
    copy = Mailbox<Line>(1);
    Nursery nursery;
    auto receives = nursery.spawn([its = mine] { return its.recv().value().bytes[0]; });
    CHECK_EQ(receives.join().value(), 1);
    CHECK(nursery.await().ok());
  }
  CHECK_EQ(test::stats_of().bytes_in_use, before);
  const Mailbox<Line> none(0);
  CHECK(!none);
}

TASK_TEST(cpp_supervisor, a_child_lives_again_as_its_result_and_its_kind_say) {
  int returned = 0, failed = 0, panicked = 0;
  const auto returns = [&] { ++returned; };
  auto fails = [&]() -> Result<int> {
    if (++failed < 3) return Error{-42, JANUS_KIND_CHILD_FAILED};
    return 5;
  };
  auto panics = [&]() -> long {
    if (++panicked < 4) janus_task_panic("on purpose");
    return 0;
  };
  Supervisor supervisor({.max_restarts = 5, .name = "three"});
  REQUIRE(supervisor);
  CHECK_EQ(supervisor.add(returns, {.restart = Restart::kTemporary}).value(), 1);
  CHECK_EQ(supervisor.add(fails, {.restart = Restart::kTransient, .name = "fails"}).value(), 2);
  CHECK_EQ(supervisor.add(panics, {.restart = Restart::kTransient}).value(), 3);
  Nursery nursery({.on_error = OnError::kCollect});
  auto run = nursery.spawn([&] { return supervisor.run(); });
  janus_child children[3] = {};
  const auto have_ended = [&] {
    return supervisor.children(children, 3).value_or(0) == 2 && children[0].state == JANUS_CHILD_ENDED &&
           children[1].state == JANUS_CHILD_ENDED;
  };
  CHECK(eventually(have_ended));
  CHECK_EQ(returned, 1);
  CHECK_EQ(failed, 3);
  CHECK_EQ(panicked, 4);
  CHECK_EQ(children[0].id, 2);
  CHECK_EQ(children[0].restarts, 2u);
  CHECK_STREQ(children[0].name, "fails");
  CHECK_EQ(children[1].restarts, 3u);
  CHECK(supervisor.remove(2).ok());
  CHECK_EQ(supervisor.remove(2).error().code, JANUS_E_STALE);
  CHECK_EQ(supervisor.children(nullptr, 0).value(), 1u);
  CHECK(supervisor.close().ok());
  CHECK(run.join().ok());
  CHECK_EQ(supervisor.children(nullptr, 0).error().code, JANUS_E_STALE);
  CHECK_EQ(supervisor.add(fails).error().code, JANUS_E_STALE);
}

TASK_TEST(cpp_supervisor, it_gives_up_or_ends_with_its_task_and_each_child_waits_for_the_one_before) {
  auto dies = [] { return -1; };
  Supervisor gives_up;  // at the first death
  CHECK_EQ(gives_up.add(dies).value(), 1);
  CHECK_EQ(gives_up.run().error().code, JANUS_E_STATE);

  std::atomic<int> ready = 0;
  auto first = [&] {
    (void)sleep(1_ms);
    ready = 1;
    CHECK(child_ready().ok());
    return janus_park(-1);
  };
  auto second = [&] {
    CHECK_EQ(ready.load(), 1);
    ready = 2;
    return janus_park(-1);
  };
  Supervisor waits({.strategy = Strategy::kRestForOne});
  CHECK_EQ(waits.add(first, {.ready_ns = 3'600'000'000'000}).value(), 1);
  CHECK_EQ(waits.add(second).value(), 2);
  Nursery nursery({.on_error = OnError::kCollect});
  auto run = nursery.spawn([&] { return waits.run(); });
  CHECK(eventually([&] { return ready.load() == 2; }));
  run.cancel();
  CHECK_EQ(run.join().error().code, JANUS_CANCELLED);
  CHECK_EQ(child_ready().error().code, JANUS_E_STATE);  // no child
}

}  // namespace
