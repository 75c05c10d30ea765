// SPDX-License-Identifier: Apache-2.0
// Memory, output, time and the system through rt.h.
#include "tests/api/in_task.h"

namespace {

using namespace janus::test;

bool is_filled(const unsigned char* block, std::size_t size, unsigned char value) {
  for (std::size_t i = 0; i < size; ++i)
    if (block[i] != value) return false;
  return true;
}

void fill(unsigned char* block, std::size_t size, unsigned char value) {
  for (std::size_t i = 0; i < size; ++i) block[i] = value;
}

// Hides the value from the compiler, which would otherwise warn.
std::size_t hidden(std::size_t value) {
  __asm__("" : "+r"(value));
  return value;
}

TASK_TEST(memory, blocks_of_every_size_are_aligned_apart_and_writable) {
  unsigned char* blocks[40];
  const auto size_of = [](int i) { return (std::size_t{1} << (i / 2)) + static_cast<std::size_t>(i % 2 * 3); };
  for (int i = 0; i < 40; ++i) {
    blocks[i] = static_cast<unsigned char*>(janus_alloc(size_of(i)));
    REQUIRE(blocks[i] != nullptr);
    CHECK_EQ(reinterpret_cast<std::uintptr_t>(blocks[i]) % 16, 0u);
    fill(blocks[i], size_of(i), static_cast<unsigned char>(i));
  }
  for (int i = 0; i < 40; ++i) CHECK(is_filled(blocks[i], size_of(i), static_cast<unsigned char>(i)));
  for (unsigned char* block : blocks) janus_free(block);
}

TASK_TEST(memory, zero_bytes_are_a_block_and_freeing_null_does_nothing) {
  void *a = janus_alloc(0), *b = janus_alloc(0);
  CHECK(a != nullptr && b != nullptr && a != b);
  janus_free(a);
  janus_free(b);
  janus_free(nullptr);
}

TASK_TEST(memory, aligned_blocks_have_the_alignment_that_was_asked_for) {
  for (std::size_t align = 1; align <= 1 << 20; align *= 2) {
    void* block = janus_alloc_aligned(align, 100);
    if (!CHECK(block != nullptr)) continue;
    CHECK_EQ(reinterpret_cast<std::uintptr_t>(block) % align, 0u);
    janus_free(block);
  }
  for (std::size_t align : {std::size_t{0}, std::size_t{3}, std::size_t{24}, SIZE_MAX})
    CHECK(janus_alloc_aligned(hidden(align), 100) == nullptr);
}

TASK_TEST(memory, realloc_keeps_what_was_there) {
  auto* block = static_cast<unsigned char*>(janus_realloc(nullptr, 10));
  REQUIRE(block != nullptr);
  fill(block, 10, 42);
  for (std::size_t size = 11; size < 3000000; size = size * 3 / 2 + 1) {
    block = static_cast<unsigned char*>(janus_realloc(block, size));
    REQUIRE(block != nullptr);
    CHECK(is_filled(block, 10, 42));
    block[size - 1] = 1;
  }
  block = static_cast<unsigned char*>(janus_realloc(block, 10));
  REQUIRE(block != nullptr);
  CHECK(is_filled(block, 10, 42));
  janus_free(block);
}

TASK_TEST(memory, more_than_there_is_is_null) {
  CHECK(janus_alloc(hidden(SIZE_MAX)) == nullptr);
  CHECK(janus_alloc(hidden(SIZE_MAX - 4096)) == nullptr);
  CHECK(janus_alloc(hidden(SIZE_MAX / 2)) == nullptr);
  CHECK(janus_alloc_aligned(4096, hidden(SIZE_MAX - 100)) == nullptr);
  void* block = janus_alloc(100);
  CHECK(janus_realloc(block, hidden(SIZE_MAX / 2)) == nullptr);
  CHECK_LT(janus_last_error(), -4096);
  janus_free(block);
}

std::int64_t free_it(void* block) {
  janus_free(block);
  return 0;
}

TASK_TEST(memory, another_task_may_free) {
  const std::uint64_t before = stats_of().bytes_in_use;
  for (int round = 0; round < 20; ++round) {
    janus_nursery* nursery = open_nursery();
    for (int i = 0; i < 50; ++i) spawn(nursery, free_it, janus_alloc(5000));
    CHECK_EQ(end(nursery), 0);
  }
  CHECK_LE(stats_of().bytes_in_use, before + (4 << 20));
}

// ---- Output, read back through a pipe

struct Pipe {
  int ends[2];
  Pipe() { janus_syscall(22, ends); }
  ~Pipe() {
    janus_syscall(3, static_cast<long>(ends[0]));
    janus_syscall(3, static_cast<long>(ends[1]));
  }
  const char* read() {
    const std::int64_t got = janus_syscall(0, static_cast<long>(ends[0]), text, sizeof text - 1);
    text[got > 0 ? got : 0] = 0;
    return text;
  }
  char text[8192];
};

TASK_TEST(print, formats_as_printf_does) {
  if (!has_kernel()) SKIP("no kernel, no pipe");
  Pipe pipe;
  CHECK_EQ(janus_print(pipe.ends[1], "%d|%5d|%-5d|%05d|%+d|%x|%#x|%X|%o|%c|%s|%.2s|%8s|%-8s|%%|%*d", -1, 42, 42, 42, 42,
                       255u, 255u, 255u, 8u, 'c', "text", "text", "text", "text", 4, 7),
           0);
  CHECK_STREQ(pipe.read(), "-1|   42|42   |00042|+42|ff|0xff|FF|10|c|text|te|    text|text    |%|   7");
  CHECK_EQ(janus_print(pipe.ends[1], "%hhd %hd %ld %lld %zu %td %jd %u", static_cast<signed char>(-3),
                       static_cast<short>(-4), -5L, -6LL, static_cast<std::size_t>(7), static_cast<std::ptrdiff_t>(-8),
                       static_cast<std::intmax_t>(INT64_MIN), UINT32_MAX),
           0);
  CHECK_STREQ(pipe.read(), "-3 -4 -5 -6 7 -8 -9223372036854775808 4294967295");
}

TASK_TEST(print, a_bad_descriptor_is_an_errno) {
  CHECK_EQ(janus_print(999, "x"), -9);
  CHECK_EQ(janus_write(999, "x", 1), -9);
  CHECK_EQ(janus_write(1, "", 0), 0);
}

std::int64_t print_lines(void* pipe) {
  for (int i = 0; i < 20; ++i) janus_print(static_cast<Pipe*>(pipe)->ends[1], "abcdefghijklmnopqrstuvwxyz\n");
  return 0;
}

TASK_TEST(print, lines_of_many_tasks_never_interleave) {
  if (!has_kernel()) SKIP("no kernel, no pipe");
  Pipe pipe;
  janus_nursery* nursery = open_nursery();
  for (int i = 0; i < 10; ++i) spawn(nursery, print_lines, &pipe);
  CHECK_EQ(end(nursery), 0);
  const char* text = pipe.read();
  int lines = 0;
  for (bool whole = true; *text && whole; ++lines)
    for (char c = 'a'; c <= 'z' + 1; ++c, ++text) CHECK(whole &= *text == (c <= 'z' ? c : '\n'));
  CHECK_EQ(lines, 200);
}

TASK_TEST(time, goes_forward) {
  const std::uint64_t before = janus_now_ns();
  for (int i = 0; i < 1000; ++i) CHECK_LE(before, janus_now_ns());
  CHECK_GT(janus_unix_time_ns(), 0);
}

TASK_TEST(time, a_sleep_lasts_its_time) {
  const std::uint64_t before = janus_now_ns();
  CHECK_EQ(janus_sleep_ns(2000000), 0);
  CHECK_GE(janus_now_ns(), before + 2000000);
}

TASK_TEST(system, calls_give_results_and_errnos) {
  if (!has_kernel()) SKIP("no kernel, no system call");
  CHECK_GT(janus_syscall(39), 0);        // getpid
  CHECK_EQ(janus_syscall(3, 999L), -9);  // close: EBADF
  CHECK_EQ(janus_syscall(99999), -38);   // ENOSYS
  char name[8] = {};
  CHECK_LT(janus_syscall(17, 1L, name, 8L, 0L), 0);  // pread64 of a descriptor without a position
}

TASK_TEST(system, entropy_fills_all_of_it) {
  unsigned char bytes[300] = {};
  CHECK_EQ(janus_entropy(bytes, sizeof bytes), 0);
  int zeroes = 0;
  for (unsigned char byte : bytes) zeroes += byte == 0;
  CHECK_LT(zeroes, 30);
  CHECK_EQ(janus_entropy(bytes, 0), 0);
}

TASK_TEST(stats, count_what_happened) {
  janus_stats before = {}, after = {};
  before.size = after.size = sizeof before;
  janus_rt_stats(nullptr, &before);
  janus_nursery* nursery = open_nursery();
  std::int64_t failure = -9;
  for (int i = 0; i < 10; ++i) spawn(nursery, return_zero);
  end(nursery);
  nursery = open_nursery(JANUS_ON_ERROR_COLLECT);
  for (int i = 0; i < 3; ++i) spawn(nursery, return_number, &failure);
  end(nursery);
  void* const block = janus_alloc(1000);
  janus_rt_stats(nullptr, &after);
  janus_free(block);
  CHECK_EQ(after.size, sizeof after);
  CHECK_EQ(after.tasks_spawned - before.tasks_spawned, 13u);
  CHECK_EQ(after.tasks_completed - before.tasks_completed, 10u);
  CHECK_EQ(after.tasks_failed - before.tasks_failed, 3u);
  CHECK_EQ(after.tasks_live, before.tasks_live);
  CHECK_GE(after.workers, 1u);
  CHECK_GE(after.bytes_in_use - before.bytes_in_use, 1000u);
}

TASK_TEST(stats, an_older_program_gets_what_it_has_room_for) {
  unsigned char bytes[sizeof(janus_stats)];
  fill(bytes, sizeof bytes, 0xa5);
  auto* stats = reinterpret_cast<janus_stats*>(bytes);
  stats->size = 24;
  janus_rt_stats(nullptr, stats);
  CHECK(is_filled(bytes + 24, sizeof bytes - 24, 0xa5));
  CHECK_GT(stats->tasks_spawned, 0u);
}

TASK_TEST(memory, the_peak_stays_when_what_made_it_has_gone) {
  constexpr std::size_t kMuch = 8 << 20;
  void* const block = janus_alloc(kMuch);
  CHECK(block != nullptr);
  janus_free(block);
  const janus_stats stats = stats_of();
  CHECK_GE(stats.bytes_peak, kMuch);
  CHECK_LE(stats.bytes_peak, stats.bytes_limit);
  CHECK_EQ(stats.stacks_installed + stats.stacks_protected, stats.guard_pages);
}

}  // namespace
