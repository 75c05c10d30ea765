// SPDX-License-Identifier: Apache-2.0
// host_test.cpp — arch/linux in a program with its own libc and start code: the host's state stays as it was.
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <ucontext.h>

#include <arch/task_call.h>
#include "arch/linux/auxv/auxv.h"
#include "rt/platform.h"
#include "tests/harness/test.h"
#include "tests/linux/kernel_eye.h"

namespace {

using namespace janus;

TEST(host, tells_the_same_about_itself_as_its_libc_knows) {
  for (const unsigned long type : {AT_HWCAP2, AT_RANDOM, AT_SYSINFO_EHDR, AT_PHDR})
    CHECK_EQ(kernel::aux_value(type, 0), getauxval(type));
  CHECK_EQ(kernel::aux_value(12345, 77), 77u);
}

TEST(host, reads_proc_if_the_kernel_has_no_call) {
  const test::End end = test::in_child([] {
    // The first test's answer is remembered, so a new process asks: this program again, under a filter.
    if (!test::refuse_if(kernel::kPrctl, kernel::kEINVAL, 0, kernel::kPrGetAuxv)) return false;
    static char self[] = "/proc/self/exe", name[] = "host.tells_the_same";
    char* const arguments[] = {self, name, nullptr};
    test::call(kernel::kClose, 1);
    test::call(test::kOpen, "/dev/null", 1, 0);
    test::call(test::kExecve, "/proc/self/exe", arguments, environ);
    return false;
  });
  CHECK(end.exited(0));
}

std::uint64_t canary() {
  std::uint64_t value;
  asm volatile("mov %%fs:0x28, %0" : "=r"(value));
  return value;
}

TEST(host, shares_its_canary_with_the_workers) {
  static std::atomic<std::uint32_t> done{0};
  static std::uint64_t seen = 0;
  REQUIRE(platform::start_thread(
      [](void*) {
        seen = canary();
        test::bump(done);
        platform::exit_thread();
      },
      nullptr, -1, "janus/0"));
  REQUIRE(test::reaches(done, 1));
  CHECK_EQ(seen, canary());
}

TEST(host, keeps_a_large_alternate_stack_of_its_own) {
  static std::uint64_t memory[128 * 1024 / 8];
  stack_t own{}, now{};
  own.ss_sp = memory;
  own.ss_size = sizeof memory;
  REQUIRE(sigaltstack(&own, nullptr) == 0);
  (void)platform::adopt_thread(-1, nullptr);
  sigaltstack(nullptr, &now);
  CHECK(now.ss_sp == own.ss_sp);
  own.ss_flags = SS_DISABLE;
  sigaltstack(&own, nullptr);
}

// --- Faults: those of workers belong to the runtime, all others to the host

std::atomic<std::uint32_t> g_hosts{0}, g_ours{0}, g_done{0};

void host_handler(int, siginfo_t*, void* context) {
  g_hosts.fetch_add(1);
  static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP] += 2;  // past the ud2
}

[[noreturn]] void leave(void* frame_sp) {
  janus_task_abandon(reinterpret_cast<std::uint64_t>(frame_sp), 5);
}

std::uint64_t g_frame_sp;

bool our_handler(platform::Fault& fault) {
  if (platform::worker_slot() == nullptr) return false;
  g_ours.fetch_add(1);
  fault.resume_ip = reinterpret_cast<std::uint64_t>(&leave);
  fault.resume_sp = ((fault.sp - 256) & ~std::uint64_t{15}) - 8;
  fault.resume_arg = g_frame_sp;
  return true;
}

std::int64_t fault_once(void*) {
  asm volatile("ud2" ::: "memory");
  return 0;
}

void work(void*) {
  static std::uint64_t slot[8];
  platform::set_worker_slot(slot);
  const bool left = janus_task_call(fault_once, nullptr, &g_frame_sp) == 5;
  platform::set_worker_slot(nullptr);
  g_done.fetch_add(left ? 1 : 100);
  platform::wake(g_done, 1);
  platform::exit_thread();
}

TEST(host, gets_the_faults_of_its_threads_and_none_of_the_workers) {
  struct sigaction action {};
  struct sigaction before {};
  action.sa_sigaction = host_handler;
  action.sa_flags = SA_SIGINFO;
  REQUIRE(sigaction(SIGILL, &action, &before) == 0);
  (void)platform::on_fault(our_handler);

  pthread_t thread;
  REQUIRE(pthread_create(
              &thread, nullptr, [](void*) -> void* { return reinterpret_cast<void*>(fault_once(nullptr)); }, nullptr) ==
          0);
  pthread_join(thread, nullptr);
  fault_once(nullptr);
  CHECK_EQ(g_hosts.load(), 2u);
  CHECK_EQ(g_ours.load(), 0u);

  REQUIRE(platform::start_thread(work, nullptr, -1, "janus/0"));
  CHECK(test::reaches(g_done, 1));
  CHECK_EQ(g_hosts.load(), 2u);
  CHECK_EQ(g_ours.load(), 1u);

  platform::remove_fault_handler();
  sigaction(SIGILL, &before, &action);
  CHECK(action.sa_sigaction == host_handler);
}

TEST(host, goes_on_with_its_own_threads_and_memory_beside_ours) {
  static std::atomic<std::uint32_t> ended{0};
  for (std::uint32_t i = 0; i < 50; ++i) {
    pthread_t thread;
    REQUIRE(pthread_create(
                &thread, nullptr,
                [](void*) -> void* {
                  free(malloc(1 << 20));
                  return nullptr;
                },
                nullptr) == 0);
    REQUIRE(platform::start_thread(
        [](void*) {
          test::bump(ended);
          platform::exit_thread();
        },
        nullptr, -1, nullptr));
    pthread_join(thread, nullptr);
    REQUIRE(test::reaches(ended, i + 1));
  }
}

}  // namespace
