// SPDX-License-Identifier: Apache-2.0
// terminate_test.cpp — signals that ask a process to end, the ends of processes, and the duties of the first process of
// a container.
#include "arch/linux/signals/signal_action.h"
#include "rt/platform.h"
#include "tests/harness/test.h"
#include "tests/linux/kernel_eye.h"

namespace {

using namespace janus;

volatile int g_signal;
std::uint64_t g_handler_sp;

void note_signal(int signal) {
  g_signal = signal;
  g_handler_sp = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
}

TEST(terminate, the_handler_hears_of_each_signal_on_the_alternate_stack) {
  const test::End end = test::in_child([] {
    (void)platform::adopt_thread(-1, nullptr);
    platform::on_terminate(note_signal);
    kernel::SignalStack stack{};
    test::call(kernel::kSigaltstack, nullptr, &stack);
    for (const int signal : {kernel::kSigTerm, kernel::kSigInt, kernel::kSigQuit}) {
      test::call(test::kKill, test::call(kernel::kGetpid), signal);
      if (g_signal != signal) return false;
      if (g_handler_sp - reinterpret_cast<std::uint64_t>(stack.base) >= stack.bytes) return false;
    }
    return true;
  });
  CHECK(end.exited(0));
}

TEST(terminate, signals_that_the_parent_had_blocked_get_through) {
  const test::End end = test::in_child([] {
    const std::uint64_t all = ~std::uint64_t{0};
    test::call(kernel::kSigprocmask, kernel::kSigSetmask, &all, nullptr, sizeof all);
    platform::on_terminate(note_signal);
    test::call(test::kKill, test::call(kernel::kGetpid), static_cast<int>(kernel::kSigTerm));
    return g_signal == kernel::kSigTerm;
  });
  CHECK(end.exited(0));
}

TEST(terminate, a_closed_pipe_is_an_error_and_does_not_end_the_process) {
  const test::End end = test::in_child([] {
    platform::on_terminate(note_signal);
    int ends[2];
    if (test::failed(test::call(test::kPipe2, ends, 0))) return false;
    test::call(kernel::kClose, ends[0]);
    return platform::write(ends[1], "x", 1) == -32;  // EPIPE
  });
  CHECK(end.exited(0));
}

TEST(terminate, without_a_handler_the_signals_end_the_process_again) {
  const test::End end = test::in_child([] {
    platform::on_terminate(note_signal);
    platform::on_terminate(nullptr);
    test::call(test::kKill, test::call(kernel::kGetpid), static_cast<int>(kernel::kSigTerm));
    return true;
  });
  CHECK(end.died_of(kernel::kSigTerm));
}

TEST(terminate, an_interrupted_wait_returns_so_that_its_caller_looks_again) {
  const test::End end = test::in_child([] {
    platform::on_terminate(note_signal);
    const long parent = test::call(kernel::kGetpid);
    const long child = test::call(test::kFork);
    if (child == 0) {
      for (;;) {  // until the parent ends it
        test::call(test::kKill, parent, static_cast<int>(kernel::kSigTerm));
        test::call(test::kSchedYield);
      }
    }
    std::atomic<std::uint32_t> word{0};
    platform::wait(word, 0, platform::kForever);
    test::call(test::kKill, child, 9);
    return g_signal == kernel::kSigTerm;
  });
  CHECK(end.exited(0));
}

// --- The end at a later time (exit_later)

void end_soon(int) {
  platform::exit_later(1, 41, nullptr);
}

TEST(terminate, a_delayed_end_comes_even_if_every_thread_is_busy_or_asleep) {
  const test::End busy = test::in_child([] {
    platform::on_terminate(note_signal);
    platform::exit_later(20'000'000, 99, nullptr);
    platform::exit_later(1'000'000, 42, nullptr);  // the last call counts
    for (;;) test::call(test::kSchedYield);
    return true;
  });
  CHECK(busy.exited(42));
  const test::End asleep = test::in_child([] {
    platform::on_terminate(note_signal);
    platform::exit_later(0, 43, nullptr);
    std::atomic<std::uint32_t> word{0};
    for (;;) platform::wait(word, 0, platform::kForever);
    return true;
  });
  CHECK(asleep.exited(43));
}

TEST(terminate, the_handler_can_delay_the_end) {
  const test::End end = test::in_child([] {
    platform::on_terminate(end_soon);
    test::call(test::kKill, test::call(kernel::kGetpid), static_cast<int>(kernel::kSigTerm));
    for (;;) test::call(test::kSchedYield);
    return true;
  });
  CHECK(end.exited(41));
}

TEST(terminate, a_delayed_end_prints_its_message) {
  const test::End end = test::in_child([] {
    platform::exit_later(1'000'000, 42, [] { platform::exit(45); });
    for (;;) test::call(test::kSchedYield);
    return true;
  });
  CHECK(end.exited(45));
}

TEST(terminate, a_delayed_end_does_not_come_early) {
  const test::End end = test::in_child([] {
    platform::on_terminate(note_signal);
    platform::exit_later(3'600'000'000'000, 44, nullptr);
    const std::uint64_t until = platform::now_ns() + 5'000'000;
    while (platform::now_ns() < until) test::call(test::kSchedYield);
    return true;
  });
  CHECK(end.exited(0));
}

// Runs `body` as the first process of a new PID namespace.
template <typename Body>
test::End as_first_process(Body body) {
  constexpr std::uint64_t kNewPidNamespace = 0x20000000;
  kernel::CloneArgs args{};
  args.flags = kNewPidNamespace;
  args.exit_signal = kernel::kSigChld;
  const long child = test::call(435, &args, sizeof args);  // clone3 without a stack is a fork
  if (child == 0) platform::exit(body() ? 0 : 1);
  return test::await_child(child);
}

TEST(terminate, the_first_process_of_a_container_leaves_no_zombies) {
  if (!test::is_root()) SKIP("making a PID namespace needs root");
  const test::End end = as_first_process([] {
    if (test::call(kernel::kGetpid) != 1) return false;
    platform::on_terminate(note_signal);
    const long child = test::call(test::kFork);
    if (child == 0) platform::exit(7);
    // Waits until the kernel reports that no child is left: all were reaped without being asked for.
    return kernel::call_again(test::kWait4, -1, nullptr, 0, nullptr) == -10;  // ECHILD
  });
  CHECK(end.exited(0));
}

TEST(terminate, another_process_can_still_wait_for_its_children) {
  const test::End end = test::in_child([] {
    platform::on_terminate(note_signal);
    return test::in_child([] { return false; }).exited(1);
  });
  CHECK(end.exited(0));
}

TEST(terminate, abort_is_the_death_by_SIGABRT_whatever_was_installed) {
  const test::End end = test::in_child([]() -> bool {
    kernel::SignalAction ignored{};
    ignored.handler = kernel::kSigIgn;
    kernel::set_action(kernel::kSigAbrt, ignored);
    platform::abort();
  });
  CHECK(end.died_of(kernel::kSigAbrt));
}

TEST(terminate, abort_of_the_first_process_exits_with_134) {
  if (!test::is_root()) SKIP("making a PID namespace needs root");
  const test::End end = as_first_process([]() -> bool { platform::abort(); });
  CHECK(end.exited(134));
}

TEST(terminate, a_closed_pipe_ends_the_program_if_that_is_set) {
  const test::End end = test::in_child([]() -> bool {
    platform::on_terminate(note_signal);
    platform::end_by_closed_pipe();
  });
  CHECK(end.died_of(kernel::kSigPipe));
  const test::End on_thread = test::in_child([]() -> bool {
    platform::on_terminate(note_signal);
    if (!platform::start_thread([](void*) { platform::end_by_closed_pipe(); }, nullptr, -1, nullptr)) return false;
    std::atomic<std::uint32_t> never{0};
    for (;;) platform::wait(never, 0, platform::kForever);
  });
  CHECK(on_thread.died_of(kernel::kSigPipe));
}

TEST(terminate, the_first_process_that_ends_by_a_closed_pipe_exits_with_141) {
  if (!test::is_root()) SKIP("making a PID namespace needs root");
  const test::End end = as_first_process([]() -> bool { platform::end_by_closed_pipe(); });
  CHECK(end.exited(141));
}

TEST(terminate, exit_ends_all_threads_with_the_status) {
  const test::End end = test::in_child([]() -> bool {
    for (int i = 0; i < 3; ++i) {
      const bool started = platform::start_thread(
          [](void*) {
            std::atomic<std::uint32_t> never{0};
            for (;;) platform::wait(never, 0, platform::kForever);
          },
          nullptr, -1, nullptr);
      if (!started) return false;
    }
    platform::exit(42);
  });
  CHECK(end.exited(42));
}

TEST(terminate, a_write_to_nowhere_gives_the_kernels_answer) {
  CHECK_EQ(platform::write(-1, "x", 1), -9);  // EBADF
  int ends[2];
  REQUIRE(!test::failed(test::call(test::kPipe2, ends, 04000)));           // O_NONBLOCK
  CHECK_EQ(platform::write(ends[1], reinterpret_cast<void*>(8), 1), -14);  // EFAULT
  static char much[1 << 20];
  const long written = platform::write(ends[1], much, sizeof much);
  CHECK_GT(written, 0);
  CHECK_LT(written, static_cast<long>(sizeof much));  // the caller continues a short write
  CHECK_EQ(platform::write(ends[1], much, sizeof much), -kernel::kEAGAIN);
  test::call(kernel::kClose, ends[0]);
  test::call(kernel::kClose, ends[1]);
}

TEST(terminate, other_system_calls_come_back_as_the_kernel_answers_them) {
  const long none[6] = {};
  CHECK_EQ(platform::syscall(kernel::kGetpid, none), test::call(kernel::kGetpid));
  CHECK_EQ(platform::syscall(9999, none), -kernel::kENOSYS);
  const long six[6] = {0, 4096, 3, 0x22, -1, 0};
  const long page = platform::syscall(kernel::kMmap, six);
  REQUIRE(!test::failed(page));
  platform::unmap(reinterpret_cast<std::byte*>(page), 4096);
}

TEST(entropy, fills_any_length_and_never_the_same) {
  static std::uint64_t a[512], b[512];
  REQUIRE(platform::entropy(a, sizeof a));
  REQUIRE(platform::entropy(b, sizeof b));
  unsigned same = 0, zero = 0;
  for (unsigned i = 0; i < 512; ++i) same += a[i] == b[i], zero += a[i] == 0;
  CHECK_EQ(same, 0u);
  CHECK_EQ(zero, 0u);
  CHECK(platform::entropy(a, 0));
}

}  // namespace
