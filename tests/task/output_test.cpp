// SPDX-License-Identifier: Apache-2.0
// output_test.cpp — writing to a full pipe: which tasks wait, and which go on.
#include "rt/task/report/log.h"
#include "tests/api/world.h"
#include "tests/harness/thread_group.h"
#include "tests/task/pipe.h"

namespace janus::test {

namespace {

constexpr std::size_t kMuch = 300'000;  // more than any pipe holds
char much[kMuch];

int open_null() {
  constexpr long kOpenat = 257, kHere = -100, kWriteOnly = 1;
  const long null = kernel_call(kOpenat, kHere, reinterpret_cast<long>("/dev/null"), kWriteOnly);
  CHECK_GT(null, 2);
  return static_cast<int>(null);
}

template <class Body>
void everywhere(Body body) {
  for (unsigned workers : {1u, 2u, 4u}) run_in(with_workers(workers), body);
}

}  // namespace

TEST(output, a_full_pipe_stops_only_who_writes_to_it) {
  if (!has_pipes()) SKIP("no kernel, no pipe");
  everywhere([] {
    const Pipe full, free;
    Scope scope;
    std::atomic<int> answer{1}, others{0};
    auto writer = [&] {
      answer.store(janus_write(full.in(), much, kMuch));
      return 0;
    };
    auto other = [&] {
      for (int i = 0; i < 100; ++i) {
        if (janus_print(free.in(), "%d\n", i) != 0) return -5;
        janus_yield();
      }
      return others.fetch_add(1) * 0;
    };
    scope.go(writer);
    for (int i = 0; i < 4; ++i) scope.go(other);
    CHECK(eventually([&] { return others.load() == 4; }));
    CHECK_EQ(answer.load(), 1);
    static char read[4096];
    std::size_t got = 0;
    CHECK(eventually([&] {
      got += full.read(read, sizeof read);
      return answer.load() != 1;
    }));
    for (std::size_t more; (more = full.read(read, sizeof read)) != 0;) got += more;
    CHECK_EQ(answer.load(), 0);
    CHECK_EQ(got, kMuch);
    CHECK_EQ(scope.end(), 0);
  });
}

TEST(output, a_writer_that_waits_for_room_or_the_lock_can_be_cancelled) {
  if (!has_pipes()) SKIP("no kernel, no pipe");
  everywhere([] {
    const Pipe full;
    Scope stuck(JANUS_ON_ERROR_COLLECT), waiting(JANUS_ON_ERROR_COLLECT);
    std::atomic<int> told{0}, began{0};
    auto writer = [&] {
      began.fetch_add(1);
      const int answer = janus_write(full.in(), much, kMuch);
      told.fetch_add(answer == JANUS_CANCELLED ? 1 : 100);
      return answer;
    };
    const janus_task first = stuck.go(writer);
    CHECK(eventually([&] { return began.load() == 1; }));
    for (int i = 0; i < 10; ++i) waiting.go(writer);
    CHECK(eventually([&] { return began.load() == 11; }));
    CHECK_EQ(waiting.cancel(), 0);
    CHECK_EQ(waiting.end(), JANUS_CANCELLED);
    CHECK_EQ(told.load(), 10);
    CHECK_EQ(janus_task_result(first, nullptr), JANUS_PENDING);
    CHECK_EQ(stuck.cancel(), 0);
    CHECK_EQ(stuck.end(), JANUS_CANCELLED);
    CHECK_EQ(told.load(), 11);
  });
}

// A thread outside tasks has no worker, and pays nothing for waking cancelled tasks.
TEST(output, tasks_that_are_cancelled_stop_waiting_for_a_thread_that_waits_for_room) {
  if (!has_pipes()) SKIP("no kernel, no pipe");
  everywhere([] {
    const Pipe full;
    ThreadGroup threads;
    std::atomic<int> answer{1}, began{0}, told{0};
    auto outside = [&] { answer.store(janus_write(full.in(), much, kMuch)); };
    threads.start(outside);
    static char read[4096];
    std::size_t got = 0;
    CHECK(eventually([&] { return (got += full.read(read, 1)) != 0; }));  // the thread holds the descriptor's lock
    Scope others(JANUS_ON_ERROR_COLLECT), waiting(JANUS_ON_ERROR_COLLECT);
    auto writer = [&] {
      began.fetch_add(1);
      const int status = janus_write(full.in(), much, kMuch);
      told.fetch_add(status == JANUS_CANCELLED ? 1 : 100);
      return status;
    };
    auto other = [] { return janus_park(-1); };
    for (int i = 0; i < 4; ++i) waiting.go(writer);
    CHECK(eventually([&] { return began.load() == 4; }));
    others.go(other);
    CHECK_EQ(others.cancel(), 0);
    CHECK_EQ(others.end(), JANUS_CANCELLED);
    CHECK_EQ(told.load(), 0);
    CHECK_EQ(waiting.cancel(), 0);
    CHECK_EQ(waiting.end(), JANUS_CANCELLED);
    CHECK_EQ(told.load(), 4);
    CHECK(eventually([&] {
      got += full.read(read, sizeof read);
      return answer.load() != 1;
    }));
    threads.join();
    for (std::size_t more; (more = full.read(read, sizeof read)) != 0;) got += more;
    CHECK_EQ(answer.load(), 0);
    CHECK_EQ(got, kMuch);
  });
}

// A cancelled task may still write as long as it does not have to wait for room.
TEST(output, a_cancelled_task_can_print) {
  if (!has_pipes()) SKIP("no kernel, no pipe");
  everywhere([] {
    const Pipe pipe;
    Scope scope(JANUS_ON_ERROR_COLLECT);
    auto last_words = [&] {
      const int told = janus_park(-1);
      for (int i = 0; i < 20; ++i)
        if (janus_print(pipe.in(), "last words %d\n", i) != 0) return -5;
      return told;
    };
    for (int i = 0; i < 20; ++i) scope.go(last_words);
    for (int i = 0; i < 20; ++i) janus_yield();
    scope.cancel();
    janus_result result = {};
    CHECK_EQ(scope.end(&result), JANUS_CANCELLED);
    CHECK_EQ(result.errors, 0u);
  });
}

namespace {

constexpr std::size_t kLine = 10'000;  // no pipe takes it in one piece
constexpr int kLinesEach = 5, kWriters = 8;

// Counts complete lines of kLine times one letter. A line of mixed letters or of another length is not counted.
class LineCounter {
 public:
  void take(const char* bytes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      if (bytes[i] == '\n') {
        is_whole_ = is_whole_ && length_ + 1 == kLine;
        whole_ += is_whole_ ? 1 : 0;
        length_ = 0;
        is_whole_ = true;
        continue;
      }
      if (length_ != 0 && bytes[i] != letter_) is_whole_ = false;
      letter_ = bytes[i];
      ++length_;
    }
  }
  int whole() const { return whole_; }

 private:
  std::size_t length_ = 0;
  char letter_ = 0;
  bool is_whole_ = true;
  int whole_ = 0;
};

void fill_line(char* line, char letter) {
  for (std::size_t i = 0; i + 1 < kLine; ++i) line[i] = letter;
  line[kLine - 1] = '\n';
}

}  // namespace

// The tasks of two runtimes and the thread that made these all write to one pipe.
TEST(output, lines_never_interleave) {
  if (!has_pipes()) SKIP("no kernel, no pipe");
  const Pipe pipe;
  static char lines[2 * kWriters][kLine];
  for (int i = 0; i < 2 * kWriters; ++i) fill_line(lines[i], static_cast<char>('a' + i));
  const janus_rt_config config = with_workers(2);
  janus_rt* const runtimes[] = {janus_rt_create(&config), janus_rt_create(&config)};
  janus_nursery* nurseries[2];
  struct Writing {
    int fd;
    const char* line;
  };
  static Writing writings[2 * kWriters];
  const auto write_lines = [](void* pointer) -> std::int64_t {
    const Writing& mine = *static_cast<Writing*>(pointer);
    for (int i = 0; i < kLinesEach; ++i)
      if (janus_write(mine.fd, mine.line, kLine) != 0) return -5;
    return 0;
  };
  for (int r = 0; r < 2; ++r) {
    nurseries[r] = janus_nursery_open(runtimes[r], nullptr);
    for (int i = r * kWriters; i < (r + 1) * kWriters; ++i) {
      writings[i] = {pipe.in(), lines[i]};
      CHECK(janus_nursery_spawn_in(nurseries[r], write_lines, &writings[i], nullptr).raw != 0);
    }
  }
  LineCounter counter;
  static char read[8192];
  const std::uint64_t patience = platform::now_ns() + 60'000'000'000;
  while (counter.whole() < 2 * kWriters * kLinesEach && platform::now_ns() < patience)
    counter.take(read, pipe.read(read, sizeof read));
  CHECK_EQ(counter.whole(), 2 * kWriters * kLinesEach);
  for (int r = 0; r < 2; ++r) {
    CHECK_EQ(janus_nursery_await(nurseries[r], nullptr), 0);
    CHECK_EQ(janus_nursery_destroy(nurseries[r]), 0);
    janus_rt_destroy(runtimes[r]);
  }
}

// Lengths around those at which the runtime switches to a larger buffer: the last byte comes out, up to 4 KiB.
TEST(output, a_print_is_whole_up_to_4_kib_and_cut_there) {
  if (!has_pipes()) SKIP("no kernel, no pipe");
  const Pipe pipe;
  static char read[8192];
  const auto printed = [&](int length) {
    CHECK_EQ(janus_print(pipe.in(), "%*c", length, '$'), 0);
    const std::size_t count = pipe.read(read, sizeof read);
    return length <= 4096 ? count == static_cast<std::size_t>(length) && read[count - 1] == '$' : count == 4096;
  };
  everywhere([&] {
    for (const int around : {128, 256, 512, 4096})
      for (int length = around - 2; length <= around + 2; ++length) CHECK(printed(length));
  });
}

// The kernel takes the report in several pieces, each of which continues where the one before it ended.
TEST(output, long_reports_of_the_runtime_come_out_whole) {
  if (!has_pipes()) SKIP("no kernel, no pipe");
  const Pipe pipe;
  static char said[20'000], read[20'001];
  for (std::size_t i = 0; i < sizeof said; ++i) said[i] = static_cast<char>('!' + i % 89);
  {
    const StandardErrorInto redirected(pipe);
    say(said, sizeof said);
  }
  std::size_t got = 0;
  for (std::size_t more; (more = pipe.read(read + got, sizeof read - got)) != 0;) got += more;
  CHECK_EQ(got, sizeof said);
  CHECK(__builtin_memcmp(said, read, sizeof said) == 0);
}

// Other tasks on the worker wait for no more than 64 KiB of a long write: this one has 17 pieces, with 16 turns in
// between.
TEST(output, others_have_their_turn_between_two_pieces_of_a_long_write) {
  constexpr std::size_t kPiece = 65536, kPieces = 16;
  static char long_text[kPieces * kPiece + 1];
  run_in(with_workers(1), [] {
    constexpr long kClose = 3;
    const int null = open_null();
    int turns = 0;
    bool is_over = false;
    auto other = [&] {
      while (!is_over) {
        ++turns;
        janus_yield();
      }
    };
    Scope scope;
    scope.go(other);
    janus_yield();
    const int before = turns;
    CHECK_EQ(janus_write(null, long_text, sizeof long_text), 0);
    CHECK_GE(turns - before, static_cast<int>(kPieces));
    is_over = true;
    CHECK_EQ(scope.end(), 0);
    kernel_call(kClose, null);
  });
}

// A long write lets other groups have the descriptor after each 64 KiB. The tasks of its own cage wait in order of
// arrival, however many they are; so do the tasks outside cages.
TEST(output, a_cage_of_long_writes_lets_others_write_in_between_and_keeps_the_order_of_its_own) {
  if (!has_pipes()) SKIP("no kernel, no pipe");
  static constexpr std::size_t kPiece = 65536, kLong = 400'000, kShort = 10;
  run_in(with_workers(1), [] {
    const Pipe pipe;
    Scope cage(JANUS_ON_ERROR_CANCEL, JANUS_ON_EXHAUSTION_SUSPEND, JANUS_BUDGET_ALL), outside;
    static char text[5][kLong];
    struct Writing {
      int fd;
      std::size_t count;
      const char* text;
      int* began;
    };
    static Writing writings[5];
    int began = 0;
    for (int i = 0; i < 5; ++i) {
      const bool is_caged = i < 3;
      __builtin_memset(text[i], 'a' + i, kLong);
      writings[i] = {pipe.in(), is_caged ? kLong : kShort, text[i], &began};
      const auto write = [](void* pointer) -> std::int64_t {
        const Writing& mine = *static_cast<Writing*>(pointer);
        ++*mine.began;
        return janus_write(mine.fd, mine.text, mine.count);
      };
      (is_caged ? cage : outside).go(write, &writings[i]);
      CHECK(eventually([&] { return began == i + 1; }));
    }
    char letters[16] = {};
    std::size_t lengths[16] = {}, runs = 0, got = 0;
    static char read[8192];
    CHECK(eventually([&] {
      const std::size_t more = pipe.read(read, sizeof read);
      for (std::size_t i = 0; i < more && runs < 16; ++i) {
        if (runs == 0 || letters[runs - 1] != read[i]) letters[runs++] = read[i];
        ++lengths[runs - 1];
      }
      got += more;
      return got == 3 * kLong + 2 * kShort;
    }));
    CHECK_EQ(runs, 7u);
    CHECK(__builtin_memcmp(letters, "adaeabc", 7) == 0);
    CHECK(lengths[0] == kPiece || lengths[0] == 2 * kPiece);  // two, if nobody waits yet when the first is written
    CHECK_EQ(lengths[2], kPiece);
    CHECK_EQ(cage.end(), 0);
    CHECK_EQ(outside.end(), 0);
  });
}

TEST(output, a_failed_write_returns_the_kernels_error) {
  everywhere([] {
    CHECK_EQ(janus_write(-1, "x", 1), -9);
    CHECK_EQ(janus_write(-1, "", 0), 0);
    const int null = open_null();
    CHECK_EQ(janus_write(null, much, kMuch), 0);
    constexpr long kClose = 3;
    kernel_call(kClose, null);
  });
  CHECK_EQ(janus_write(-1, "x", 1), -9);
}

// A write to a sealed file fails with EPERM (-1), which is also the number of JANUS_CANCELLED.
TEST(output, a_forbidden_write_is_not_taken_for_a_cancel) {
  if (!has_pipes()) SKIP("no kernel, no file that refuses");
  constexpr long kMemFd = 319, kAllowSealing = 2, kFcntl = 72, kAddSeals = 1033, kSealWrite = 8, kClose = 3;
  constexpr int kNoAccess = -13;
  const auto sealed = static_cast<int>(kernel_call(kMemFd, reinterpret_cast<long>("sealed"), kAllowSealing));
  REQUIRE(sealed >= 0);
  CHECK_EQ(kernel_call(kFcntl, sealed, kAddSeals, kSealWrite), 0);
  constexpr long kWrite = 1;
  CHECK_EQ(kernel_call(kWrite, sealed, reinterpret_cast<long>("x"), 1), JANUS_CANCELLED);
  everywhere([&] {
    CHECK_EQ(janus_write(sealed, "x", 1), kNoAccess);
    CHECK_EQ(janus_print(sealed, "%d", 1), kNoAccess);
  });
  CHECK_EQ(janus_write(sealed, "x", 1), kNoAccess);
  kernel_call(kClose, sealed);
}

}  // namespace janus::test
