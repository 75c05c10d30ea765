// SPDX-License-Identifier: Apache-2.0
// reports_test.cpp — the runtime's reports of tasks on standard error, and their limits: a long report shows only a
// part of the tasks and names.
#include "rt/base/format.h"
#include "rt/task/report/log.h"
#include "tests/api/world.h"
#include "tests/task/pipe.h"

namespace janus::test {

namespace {

bool begins_with(const char* text, const char* beginning) {
  for (; *beginning != '\0' && *text == *beginning; ++text) ++beginning;
  return *beginning == '\0';
}
unsigned times_in(const char* text, const char* part) {
  unsigned times = 0;
  for (; *text != '\0'; ++text) times += begins_with(text, part) ? 1 : 0;
  return times;
}

// The number of tasks shown, plus those that the report only counts ("and 7 more like task 3").
unsigned tasks_in(const char* text) {
  unsigned tasks = times_in(text, "janus:   task ");
  for (; *text != '\0'; ++text) {
    if (!begins_with(text, "janus:   and ")) continue;
    unsigned more = 0;
    for (text += sizeof "janus:   and " - 1; *text >= '0' && *text <= '9'; ++text)
      more = more * 10 + static_cast<unsigned>(*text - '0');
    if (begins_with(text, " more like task ")) tasks += more;
  }
  return tasks;
}

// What is printed on standard error while `body` runs as the root of a runtime.
template <class Body>
const char* said_by(Body body) {
  static char text[32768];
  const Pipe pipe;
  {
    const StandardErrorInto redirected(pipe);
    run_in(with_workers(1), body);
  }
  std::size_t length = 0;
  for (std::size_t more; (more = pipe.read(text + length, sizeof text - 1 - length)) != 0;) length += more;
  text[length] = '\0';
  return text;
}

// Opens nested nurseries, one in each task; the innermost task parks.
std::int64_t descend(void* depth) {
  const auto left = reinterpret_cast<std::intptr_t>(depth);
  if (left == 0) return janus_park(-1);
  Scope scope;
  scope.go(descend, as_arg(left - 1));
  return scope.end();
}

// Panics with a reason of `plain` characters that are shown as they are and `escaped` ones that are shown as four
// characters each. Returns how many of the latter are shown.
unsigned shown_of(unsigned plain, unsigned escaped) {
  const char* const text = said_by([=] {
    char why[256] = {};
    for (unsigned n = 0; n < plain + escaped; ++n) why[n] = n < plain ? '$' : '\x01';
    Scope scope(JANUS_ON_ERROR_COLLECT);
    auto panics = [&] { janus_task_panic(why); };
    scope.go(panics);
    return scope.end();
  });
  const unsigned shown = times_in(text, "\\x01");
  CHECK_EQ(times_in(text, " panicked: "), 1u);
  CHECK_EQ(times_in(text, "\\x01...;"), shown < escaped ? 1u : 0u);
  return shown;
}

const char* said_of_parked(int children) {
  return said_by([=] {
    Scope scope;
    for (int n = 0; n < children; ++n) scope.go(park_until_cancelled, nullptr);
    return scope.end();
  });
}

// Two nurseries with one task in each. The task has `children` children in a nursery of its own. All are the same on
// both sides, except for the name of the outer nursery.
const char* said_of_two_families(int children) {
  return said_by([=] {
    auto has_children = [=] {
      Scope own;
      for (int n = 0; n < children; ++n) own.go(park_until_cancelled, nullptr);
      return own.end();
    };
    janus_nursery* families[2];
    const char* const names[2] = {"left", "right"};
    for (int n = 0; n < 2; ++n) {
      janus_nursery_options options = {};
      options.name = names[n];
      families[n] = janus_nursery_open(nullptr, &options);
      spawn(families[n], call_closure<decltype(has_children)>, &has_children);
    }
    janus_park(-1);
    for (janus_nursery* const family : families) end(family);
    return 0;
  });
}

// `children` tasks with each of two names, which end in different digits.
const char* said_of_two_names(int children) {
  return said_by([=] {
    janus_nursery* const nursery = open_nursery();
    for (int n = 0; n < 2 * children; ++n) {
      char name[] = "writer 0";
      if (n % 2 == 0) name[1] = 'a';
      name[sizeof "writer"] = static_cast<char>('0' + n / 2 % 10);
      janus_spawn_options options = {};
      options.name = name;
      CHECK_NE(janus_nursery_spawn_in(nursery, park_until_cancelled, nullptr, &options).raw, 0u);
    }
    return end(nursery);
  });
}

// A task with `count` open nurseries, the first of which has a parked child.
const char* said_of_nurseries(unsigned count) {
  return said_by([=] {
    static janus_nursery* open[300];
    for (unsigned n = 0; n < count; ++n) open[n] = open_nursery();
    spawn(open[0], park_until_cancelled);
    janus_park(-1);
    for (unsigned n = count; n-- > 0;) end(open[n]);
    return 0;
  });
}

}  // namespace

TEST(reports, reports_show_500_characters_of_a_panics_reason) {
  if (!has_pipes()) SKIP("no kernel, no pipe to read standard error from");
  CHECK_EQ(shown_of(0, 125), 125u);
  CHECK_EQ(shown_of(1, 125), 124u);
}

TEST(reports, reports_show_40_characters_of_a_name) {
  if (!has_pipes()) SKIP("no kernel, no pipe to read standard error from");
  const char* const text = said_by([] {
    constexpr const char* kNames[] = {"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01",
                                      "$\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01"};
    for (const char* const name : kNames) {
      auto panics = [=] {
        CHECK_EQ(janus_task_set_name(name), 0);
        janus_task_panic("as ordered");
      };
      Scope scope(JANUS_ON_ERROR_COLLECT);
      scope.go(panics);
      CHECK_EQ(scope.end(), JANUS_PANIC);
    }
  });
  CHECK_EQ(times_in(text, " '\\x01\\x01\\x01\\x01\\x01\\x01\\x01\\x01\\x01\\x01' panicked"), 1u);
  CHECK_EQ(times_in(text, " '$\\x01\\x01\\x01\\x01\\x01\\x01\\x01\\x01\\x01...' panicked"), 1u);
}

// Lines before this test may have used up the time that all lines may wait: 100 ms bring back 1 ms of it.
TEST(reports, a_line_waits_for_its_reader_for_a_moment) {
  if (!has_pipes()) SKIP("no kernel, no pipe to read standard error from");
  constexpr char kLine[] = "janus: a line\n";
  constexpr std::uint64_t kMillisecond = 1'000'000;
  static char text[65536];
  const Pipe pipe;
  unsigned lines = 0;
  bool has_waited = false;
  {
    const StandardErrorInto redirected(pipe);
    pipe.fill();
    for (; lines < 30 && !has_waited; ++lines) {
      std::atomic<std::uint32_t> never{0};
      if (lines != 0) platform::wait(never, 0, platform::now_ns() + 100 * kMillisecond);
      const std::uint64_t from = platform::now_ns();
      say(kLine, sizeof kLine - 1);
      has_waited = platform::now_ns() - from >= kMillisecond / 2;
    }
    while (pipe.read(text, sizeof text) != 0) continue;
    say(kLine, sizeof kLine - 1);
  }
  CHECK(has_waited);
  text[pipe.read(text, sizeof text - 1)] = '\0';
  Text<64> expected;
  expected.append("janus: %u lines dropped\njanus: a line\n", lines);
  CHECK_STREQ(text, expected.data());
}

TEST(reports, each_kind_of_fault_is_named) {
  if (!has_pipes()) SKIP("no kernel, no pipe to read standard error from");
  if (kIsWatched) SKIP("the sanitizer takes faults for its own");
  const char* const text = said_by([] {
    auto divides = [] {
      volatile int zero = 0;
      __asm__ volatile("xor %%edx, %%edx; mov $1, %%eax; divl %0" ::"m"(zero) : "eax", "edx", "cc");
    };
    auto breaks_off = [] { __builtin_trap(); };
    auto stops = [] { __asm__ volatile("int3"); };
    Scope scope(JANUS_ON_ERROR_COLLECT);
    scope.go(divides);
    scope.go(breaks_off);
    scope.go(stops);
    return scope.end();
  });
  CHECK_EQ(times_in(text, " panicked: "), 3u);
  for (const char* const cause :
       {" panicked: division by zero", " panicked: illegal instruction", " panicked: breakpoint"})
    CHECK_EQ(times_in(text, cause), 1u);
}

TEST(reports, each_of_many_tasks_is_named_or_counted) {
  if (!has_pipes()) SKIP("no kernel, no pipe to read standard error from");
  for (const int children : {1, 4, 5, 62, 200}) {
    const char* const text = said_of_parked(children);
    CHECK_EQ(tasks_in(text), static_cast<unsigned>(children) + 1);  // plus one for the root
    CHECK_EQ(times_in(text, "janus:   and more\n"), 0u);
  }
}

TEST(reports, tasks_are_alike_if_their_names_are_but_for_digits) {
  if (!has_pipes()) SKIP("no kernel, no pipe to read standard error from");
  const char* const text = said_of_two_names(100);
  if (times_in(text, " more like task ") == 0) SKIP("this program lists all tasks, also those that are alike");
  CHECK_EQ(times_in(text, " more like task "), 2u);
}

TEST(reports, tasks_are_alike_only_if_the_nurseries_above_their_own_are) {
  if (!has_pipes()) SKIP("no kernel, no pipe to read standard error from");
  const char* const text = said_of_two_families(100);
  if (times_in(text, " more like task ") == 0) SKIP("this program lists all tasks, also those that are alike");
  CHECK_EQ(times_in(text, " more like task "), 2u);
}

TEST(reports, nurseries_are_followed_16_below_the_first_and_named_8_up) {
  if (!has_pipes()) SKIP("no kernel, no pipe to read standard error from");
  const char* const text = said_by([] { return descend(as_arg(20)); });
  CHECK_EQ(times_in(text, "janus:   task "), 17u);
  CHECK_EQ(times_in(text, "; nursery -/-/-/-/-/-/-\n"), 1u);
  CHECK_EQ(times_in(text, "; nursery -/-/-/-/-/-/-/-\n"), 10u);
}

TEST(reports, many_nurseries_are_searched) {
  if (!has_pipes()) SKIP("no kernel, no pipe to read standard error from");
  for (const unsigned nurseries : {1u, 256u, 257u, 300u}) CHECK_EQ(tasks_in(said_of_nurseries(nurseries)), 2u);
}

// The program of this test is linked without runtime-text.ld, so the runtime cannot tell where a task may be ended.
TEST(reports, a_task_that_comes_back_late_is_named_once_where_it_cannot_be_ended) {
  if (!has_pipes()) SKIP("there are no pipes");
  if (kIsWatched) SKIP("there are no alarms on this machine");
  static constexpr std::uint64_t kMs = 1'000'000;
  const char* const text = said_by([=] {
    janus_nursery_options options = {};
    options.size = sizeof options;
    options.budget = budget_of(100'000);
    options.turn_ns = 5 * kMs;
    janus_nursery* const cage = janus_nursery_open(nullptr, &options);
    const auto is_late_twice = [](void*) -> std::int64_t {
      for (int turn = 0; turn < 2; ++turn) {
        for (const std::uint64_t end = platform::thread_ns() + 30 * kMs; platform::thread_ns() < end;) {
        }
        janus_yield();
      }
      return 0;
    };
    spawn(cage, is_late_twice);
    CHECK_EQ(end(cage), 0);
    return 0;
  });
  CHECK_EQ(times_in(text,
                    "without coming back to the runtime, and cannot be ended: the program was linked without "
                    "runtime-text.ld\n"),
           2u);
  CHECK_EQ(times_in(text, "panicked"), 0u);
}

}  // namespace janus::test
