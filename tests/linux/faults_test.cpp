// SPDX-License-Identifier: Apache-2.0
// faults_test.cpp — each fault becomes a Fault, and the thread continues where the handler says. Faults that are not
// the runtime's go to the previous handler, and end the process as they would have without the runtime.
#include <arch/task_call.h>
#include "arch/linux/kernel_abi.h"
#include "arch/linux/signals/signal_action.h"
#include "rt/platform.h"
#include "tests/harness/test.h"
#include "tests/linux/kernel_eye.h"

namespace {

using namespace janus;
using platform::Fault;
using platform::FaultKind;

// --- Runs `body` and returns with what the handler saw.

struct Landing {
  std::uint64_t frame_sp = 0;
  std::uint64_t mxcsr = 0, x87 = 0, flags = 0, xmm_or = 0, arg = 0, misaligned = 0;
  std::uint64_t upper_half[2] = {};  // of ymm15, if the processor has it
};
Landing g_landing;

// True if the processor and the kernel support AVX.
bool has_avx() {
  std::uint32_t a = 1, b, c = 0, d;
  asm("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return (c >> 27 & 3) == 3;  // OSXSAVE and AVX
}
Fault g_fault;
unsigned g_faults;

}  // namespace

// Called by janus_test_land, where a handled fault continues, on the stack that the handler chose.
extern "C" [[noreturn, gnu::used]] void janus_test_landed(std::uint64_t arg, const std::uint64_t* state) {
  g_landing.arg = arg;
  g_landing.mxcsr = state[0] & 0xffffffff;
  g_landing.x87 = state[1] & 0xffff;
  g_landing.flags = state[2];
  g_landing.xmm_or = state[3] | state[4];
  g_landing.misaligned = state[5];
  if (has_avx()) asm volatile("vextractf128 $1, %%ymm15, %0" : "=m"(g_landing.upper_half));
  janus_task_abandon(g_landing.frame_sp, 1);
}
extern "C" void janus_test_land();  // fault_landing.S: records the state before compiled code changes it

namespace {

alignas(16) std::byte g_landing_stack[16 * 1024];

bool catch_fault(Fault& fault) {
  if (platform::worker_slot() == nullptr) return false;  // as in the runtime: other threads' faults are not its own
  g_fault = fault;
  ++g_faults;
  fault.resume_ip = reinterpret_cast<std::uint64_t>(&janus_test_land);
  fault.resume_sp = reinterpret_cast<std::uint64_t>(g_landing_stack + sizeof g_landing_stack) - 8;
  fault.resume_arg = 0x1234;
  return true;
}

// Makes this thread a worker while the object lives.
struct Worker {
  std::uint64_t slot[8] = {};
  explicit Worker(platform::FaultHandler handler) {
    (void)platform::adopt_thread(-1, nullptr);
    platform::set_worker_slot(slot);
    (void)platform::on_fault(handler);
  }
  ~Worker() {
    platform::remove_fault_handler();
    platform::set_worker_slot(nullptr);
  }
};

// True if `body` faulted and was abandoned.
bool faults(std::int64_t (*body)(void*), void* arg = nullptr) {
  g_faults = 0;
  return janus_task_call(body, arg, &g_landing.frame_sp) == 1 && g_faults == 1;
}

std::int64_t touch(void* address) {
  *static_cast<volatile char*>(address) = 1;
  return 0;
}

// --- Kinds

TEST(faults, a_wild_write_is_an_access_with_its_address) {
  Worker worker(catch_fault);
  REQUIRE(faults(touch, reinterpret_cast<void*>(0x10)));
  CHECK(g_fault.kind == FaultKind::kAccess);
  CHECK(g_fault.has_address);
  CHECK_EQ(g_fault.address, 0x10u);
  CHECK_NE(g_fault.ip, 0u);
  CHECK_LT(reinterpret_cast<std::uint64_t>(&worker) - g_fault.sp, 64u * 1024);
}

TEST(faults, a_pointer_that_is_no_address_is_an_access_without_one) {
  Worker worker(catch_fault);
  REQUIRE(faults(touch, reinterpret_cast<void*>(0x8000'0000'0000'0000)));
  CHECK(g_fault.kind == FaultKind::kAccess);
  CHECK(!g_fault.has_address);
}

TEST(faults, a_jump_into_nothing_has_the_target_as_its_ip) {
  Worker worker(catch_fault);
  REQUIRE(faults([](void*) -> std::int64_t { return reinterpret_cast<std::int64_t (*)()>(0x5000)(); }));
  CHECK(g_fault.kind == FaultKind::kAccess);
  CHECK_EQ(g_fault.ip, 0x5000u);
  CHECK_EQ(g_fault.address, 0x5000u);
}

TEST(faults, an_illegal_instruction_is_one) {
  Worker worker(catch_fault);
  REQUIRE(faults([](void*) -> std::int64_t {
    asm volatile("ud2");
    return 0;
  }));
  CHECK(g_fault.kind == FaultKind::kIllegalInstruction);
  CHECK(!g_fault.has_address);
}

std::int64_t divide(std::int32_t a, std::int32_t b) {
  asm volatile("cltd; idivl %1" : "+a"(a) : "r"(b) : "edx", "cc");
  return a;
}

TEST(faults, dividing_by_zero_or_beyond_the_largest_number_is_a_division) {
  Worker worker(catch_fault);
  REQUIRE(faults([](void*) { return divide(1, 0); }));
  CHECK(g_fault.kind == FaultKind::kDivision);
  REQUIRE(faults([](void*) { return divide(-2147483647 - 1, -1); }));
  CHECK(g_fault.kind == FaultKind::kDivision);
}

TEST(faults, an_unmasked_floating_point_exception_is_told_from_a_division) {
  if (test::is_emulated()) SKIP("this processor raises none");
  Worker worker(catch_fault);
  REQUIRE(faults([](void*) -> std::int64_t {
    const std::uint32_t unmasked = 0x1f00;  // invalid operation
    asm volatile("ldmxcsr %0; xorps %%xmm0, %%xmm0; divss %%xmm0, %%xmm0" ::"m"(unmasked) : "xmm0");
    return 0;
  }));
  CHECK(g_fault.kind == FaultKind::kFloatingPoint);
}

TEST(faults, a_breakpoint_is_one) {
  Worker worker(catch_fault);
  REQUIRE(faults([](void*) -> std::int64_t {
    asm volatile("int3");
    return 0;
  }));
  CHECK(g_fault.kind == FaultKind::kBreakpoint);
}

// A task may leave alignment checks on. They must be off in the handler and afterwards, or the runtime would fault.
TEST(faults, an_alignment_check_that_is_on_is_turned_off) {
  if (test::is_emulated()) SKIP("this processor checks no alignment");
  Worker worker(catch_fault);
  g_faults = 0;
  alignas(8) static char bytes[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  std::uint64_t value = 0, flags = 0;
  asm volatile(
      "pushfq; orq $0x40000, (%%rsp); popfq\n"
      "movq 1(%2), %0\n"
      "pushfq; popq %1"
      : "=&r"(value), "=&r"(flags)
      : "r"(bytes)
      : "memory", "cc");
  CHECK_EQ(value, 0x0807060504030201u);
  CHECK_EQ(flags & 0x40000, 0u);
  CHECK_EQ(g_faults, 0u);
}

TEST(faults, memory_behind_the_end_of_its_file_is_a_bus_error_with_its_address) {
  const long fd = test::call(test::kMemfdCreate, "empty", 0);
  REQUIRE(fd >= 0);
  const long page = test::call(kernel::kMmap, nullptr, 4096, 3, 1 /* shared */, fd, 0);
  REQUIRE(!test::failed(page));
  Worker worker(catch_fault);
  REQUIRE(faults(touch, reinterpret_cast<void*>(page)));
  CHECK(g_fault.kind == FaultKind::kBus);
  CHECK_EQ(g_fault.address, page);
  test::call(kernel::kMunmap, page, 4096);
  test::call(kernel::kClose, fd);
}

// --- Where the thread continues

TEST(faults, the_thread_goes_on_with_clean_registers_and_the_argument) {
  Worker worker(catch_fault);
  REQUIRE(faults([](void*) -> std::int64_t {
    const std::uint32_t odd_mxcsr = 0x9fc0;  // flush to zero, denormals are zero
    const std::uint16_t odd_x87 = 0x27f;     // 53 bits of precision
    asm volatile(
        "ldmxcsr %0; fldcw %1; fld1; fld1; pcmpeqd %%xmm0, %%xmm0; pcmpeqd %%xmm15, %%xmm15; std; ud2" ::"m"(odd_mxcsr),
        "m"(odd_x87)
        : "xmm0", "xmm15");
    return 0;
  }));
  CHECK_EQ(g_landing.arg, 0x1234u);
  CHECK_EQ(g_landing.mxcsr, 0x1f80u);
  CHECK_EQ(g_landing.x87, 0x37fu);
  CHECK_EQ(g_landing.flags & 1u << 10, 0u);
  CHECK_EQ(g_landing.xmm_or, 0u);
  CHECK_EQ(g_landing.misaligned, 8u);  // as right after a call
}

TEST(faults, wide_registers_are_clean_too) {
  if (!has_avx()) SKIP("this processor has no AVX");
  Worker worker(catch_fault);
  g_landing.upper_half[0] = g_landing.upper_half[1] = 7;
  REQUIRE(faults([](void*) -> std::int64_t {
    asm volatile("vcmpps $15, %%ymm15, %%ymm15, %%ymm15; ud2" ::: "xmm15");  // all ones
    return 0;
  }));
  CHECK_EQ(g_landing.upper_half[0], 0u);
  CHECK_EQ(g_landing.upper_half[1], 0u);
}

TEST(faults, the_signal_mask_is_back_afterwards) {
  std::uint64_t before = 0, after = 0;
  test::call(kernel::kSigprocmask, 0, nullptr, &before, sizeof before);
  Worker worker(catch_fault);
  REQUIRE(faults(touch));
  test::call(kernel::kSigprocmask, 0, nullptr, &after, sizeof after);
  CHECK_EQ(before, after);
}

TEST(faults, faults_are_caught_in_an_adopted_thread_with_blocked_signals) {
  const test::End end = test::in_child([] {
    const std::uint64_t all = ~std::uint64_t{0};
    test::call(kernel::kSigprocmask, kernel::kSigSetmask, &all, nullptr, sizeof all);
    Worker worker(catch_fault);
    return faults(touch);
  });
  CHECK(end.exited(0));
}

// --- Stack overflow

[[gnu::noinline]] std::int64_t recurse(std::uint64_t depth) {
  volatile char frame[256];
  frame[depth % 256] = 1;
  if (depth == ~std::uint64_t{0}) return 0;  // never true; compilers refuse a recursion without an end
  return recurse(depth + 1) + frame[depth % 256];
}

struct SmallStack {
  static constexpr std::size_t kBytes = 16 * 1024, kGuard = 4096;
  std::byte* base = platform::map(kBytes);
  std::size_t guarded = 0;
  SmallStack() {
    if (platform::guard(base, kBytes, 1, kGuard, guarded) == platform::Guard::kNone) guarded = 0;
  }
  ~SmallStack() { platform::unmap(base, kBytes); }
};

std::int64_t overflow(void* stack) {
  janus_run_on_stack(
      static_cast<SmallStack*>(stack)->base + SmallStack::kBytes, [](void*) { recurse(0); }, nullptr);
}

TEST(faults, an_overflow_is_an_access_of_the_guard_again_and_again) {
  Worker worker(catch_fault);
  SmallStack stack;
  REQUIRE(stack.guarded == 1);
  for (int i = 0; i < 100; ++i) {
    REQUIRE(faults(overflow, &stack));
    REQUIRE(g_fault.kind == FaultKind::kAccess && g_fault.has_address);
    REQUIRE(g_fault.address - reinterpret_cast<std::uint64_t>(stack.base) < SmallStack::kGuard);
  }
}

// The first overflow continues on a second stack that overflows as well, before the first one was cleaned up.
SmallStack* g_second;

bool catch_first_then_second(Fault& fault) {
  if (g_faults == 1) return catch_fault(fault);
  ++g_faults;
  fault.resume_ip = reinterpret_cast<std::uint64_t>(+[](void*) { recurse(0); });
  fault.resume_sp = reinterpret_cast<std::uint64_t>(g_second->base + SmallStack::kBytes) - 8;
  return true;
}

TEST(faults, an_overflow_in_the_clean_up_of_an_overflow_is_caught_too) {
  Worker worker(catch_first_then_second);
  SmallStack first, second;
  g_second = &second;
  g_faults = 0;
  CHECK_EQ(janus_task_call(overflow, &first, &g_landing.frame_sp), 1);
  CHECK_EQ(g_faults, 2u);
  CHECK_LT(g_fault.address - reinterpret_cast<std::uint64_t>(second.base), SmallStack::kGuard);
}

TEST(faults, a_second_thread_has_its_own) {
  static std::atomic<std::uint32_t> done{0};
  static bool caught = false;
  Worker worker(catch_fault);
  REQUIRE(platform::start_thread(
      [](void*) {
        static std::uint64_t slot[8];
        platform::set_worker_slot(slot);
        SmallStack stack;
        caught = faults(overflow, &stack);
        test::bump(done);
        platform::exit_thread();
      },
      nullptr, -1, nullptr));
  REQUIRE(test::reaches(done, 1));
  CHECK(caught);
}

// --- Faults that are not the runtime's

bool decline(Fault&) {
  return false;
}

std::uint32_t g_previous_calls;

void skip_ud2(int, kernel::SignalInfo*, kernel::SignalFrame* frame) {
  ++g_previous_calls;
  frame->machine.rip += 2;
}

void raise_illegal_instruction() {
  asm volatile("ud2" ::: "memory");
}

void install_previous() {
  g_previous_calls = 0;
  kernel::set_action(kernel::kSigIll, kernel::action_for(skip_ud2, 0));
}

TEST(faults, a_thread_without_a_worker_slot_has_the_handler_that_was_there_before) {
  install_previous();
  {
    Worker worker(catch_fault);
    platform::set_worker_slot(nullptr);
    raise_illegal_instruction();
  }
  CHECK_EQ(g_previous_calls, 1u);
  kernel::set_action(kernel::kSigIll, {});
}

TEST(faults, a_thread_without_a_worker_slot_is_asked_for_too_and_goes_on_with_its_registers) {
  static bool was_a_worker;
  was_a_worker = true;
  Worker worker([](Fault& fault) {
    was_a_worker = platform::worker_slot() != nullptr;
    fault.resume_ip = fault.ip + 2;  // behind the ud2
    fault.keeps_registers = true;
    return true;
  });
  platform::set_worker_slot(nullptr);
  std::uint64_t kept = 0x5151;
  asm volatile("ud2" : "+r"(kept));
  CHECK_EQ(kept, 0x5151u);
  CHECK(!was_a_worker);
}

TEST(faults, a_fault_that_the_runtime_declines_goes_to_the_handler_before_it) {
  install_previous();
  Worker worker(decline);
  raise_illegal_instruction();
  CHECK_EQ(g_previous_calls, 1u);
  kernel::set_action(kernel::kSigIll, {});
}

std::uint32_t g_plain_calls;
std::uint64_t g_plain_mask;

TEST(faults, a_handler_of_the_plain_kind_gets_its_signal_and_its_mask) {
  kernel::SignalAction plain = kernel::action_for(nullptr, 0);
  plain.flags &= ~kernel::kSaSiginfo;
  plain.mask = kernel::signal_bit(kernel::kSigChld);
  plain.handler = reinterpret_cast<std::uintptr_t>(+[](int signal) {
    g_plain_calls += signal == kernel::kSigIll;
    test::call(kernel::kSigprocmask, 0, nullptr, &g_plain_mask, sizeof g_plain_mask);
  });
  kernel::set_action(kernel::kSigIll, plain);
  g_plain_calls = 0;
  {
    Worker worker(catch_fault);
    kernel::raise_here(kernel::kSigIll);  // sent by raise(), so it is not the runtime's
  }
  CHECK_EQ(g_plain_calls, 1u);
  CHECK_NE(g_plain_mask & kernel::signal_bit(kernel::kSigChld), 0u);
  kernel::set_action(kernel::kSigIll, {});
}

TEST(faults, removing_brings_the_previous_handler_back) {
  install_previous();
  { Worker worker(catch_fault); }
  CHECK(kernel::calls(kernel::get_action(kernel::kSigIll), skip_ud2));
  CHECK_EQ(kernel::get_action(kernel::kSigSegv).handler, kernel::kSigDfl);
  kernel::set_action(kernel::kSigIll, {});
}

TEST(faults, a_handler_that_came_after_ours_stays_when_ours_goes) {
  {
    Worker worker(catch_fault);
    install_previous();
  }
  CHECK(kernel::calls(kernel::get_action(kernel::kSigIll), skip_ud2));
  kernel::set_action(kernel::kSigIll, {});
}

TEST(faults, on_fault_twice_keeps_what_was_before_the_first) {
  install_previous();
  {
    Worker worker(decline);
    (void)platform::on_fault(catch_fault);
    CHECK(faults(touch));
  }
  CHECK(kernel::calls(kernel::get_action(kernel::kSigIll), skip_ud2));
  kernel::set_action(kernel::kSigIll, {});
}

// --- Ends of the process

struct Death {
  int signal;
  void (*cause)();
};
constexpr Death kDeaths[] = {
    {kernel::kSigSegv, [] { touch(nullptr); }},
    {kernel::kSigIll, [] { asm volatile("ud2"); }},
    {kernel::kSigFpe, [] { divide(1, 0); }},
    {kernel::kSigTrap, [] { asm volatile("int3"); }},
    {kernel::kSigSegv, [] { kernel::raise_here(kernel::kSigSegv); }},
    {kernel::kSigBus, [] { kernel::raise_here(kernel::kSigBus); }},
};

TEST(faults, a_fault_that_the_runtime_declines_ends_the_process_by_its_signal) {
  for (const Death& death : kDeaths) {
    const test::End end = test::in_child([&] {
      Worker worker(decline);
      death.cause();
      return true;
    });
    CHECK(end.died_of(death.signal));
  }
}

TEST(faults, faults_of_threads_without_a_slot_end_the_process_by_their_signal) {
  for (const Death& death : kDeaths) {
    const test::End end = test::in_child([&] {
      Worker worker(catch_fault);
      platform::set_worker_slot(nullptr);
      death.cause();
      return true;
    });
    CHECK(end.died_of(death.signal));
  }
}

TEST(faults, a_signal_that_was_ignored_before_still_is_but_a_fault_is_not) {
  kernel::SignalAction ignored{};
  ignored.handler = kernel::kSigIgn;
  const test::End sent = test::in_child([&] {
    kernel::set_action(kernel::kSigSegv, ignored);
    Worker worker(catch_fault);
    kernel::raise_here(kernel::kSigSegv);
    return true;
  });
  CHECK(sent.exited(0));
  const test::End faulted = test::in_child([&] {
    kernel::set_action(kernel::kSigSegv, ignored);
    Worker worker(decline);
    touch(nullptr);
    return true;
  });
  CHECK(faulted.died_of(kernel::kSigSegv));
}

TEST(faults, a_fault_in_the_handler_ends_the_process) {
  const test::End end = test::in_child([] {
    Worker worker([](Fault&) -> bool { return touch(nullptr) != 0; });
    touch(nullptr);
    return true;
  });
  CHECK(end.died_of(kernel::kSigSegv));
}

// For each amount of stack that the handler uses: when it reaches the end of its stack, it must not start again at the
// top.
TEST(faults, a_handler_that_always_faults_comes_to_an_end) {
  static std::size_t bytes;
  for (bytes = 0; bytes < 8192; bytes += 208) {
    const test::End end = test::in_child([] {
      Worker worker([](Fault&) -> bool {
        auto* const below = static_cast<volatile char*>(__builtin_alloca(bytes + 1));
        below[0] = 1;
        return touch(nullptr) != below[0];
      });
      touch(nullptr);
      return true;
    });
    CHECK(end.died_of(kernel::kSigSegv));
  }
}

}  // namespace
