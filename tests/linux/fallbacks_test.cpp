// SPDX-License-Identifier: Apache-2.0
// fallbacks_test.cpp — older kernels and seccomp filters: what the platform does after each refusal. The platform
// remembers what it found out, so the parent process never asks it, and each child asks anew. Hence this is a program
// of its own.
#include "arch/linux/auxv/auxv.h"
#include "rt/platform.h"
#include "tests/harness/test.h"
#include "tests/linux/kernel_eye.h"

namespace {

using namespace janus;
using kernel::kPage;
using platform::Guard;

// --- Guards

constexpr std::size_t kRow = 100, kStride = 3 * kPage;

struct Slab {
  std::byte* base = platform::map(kRow * kStride);
  std::size_t guarded = 0;
  Guard guard = platform::guard(base, kStride, kRow, kPage, guarded);
  ~Slab() { platform::unmap(base, kRow * kStride); }

  // All guard pages fault, and no other page does.
  [[nodiscard]] bool holds() const {
    for (std::size_t i = 0; i < kRow; ++i)
      if (test::is_readable(base + i * kStride) == (i < guarded) || !test::is_readable(base + i * kStride + kPage))
        return false;
    return true;
  }
};

bool has_guard_install() {
  std::byte* page = platform::map(kPage);
  const bool has = !test::failed(test::call(kernel::kMadvise, page, kPage, kernel::kAdviseGuardInstall));
  platform::unmap(page, kPage);
  return has;
}

#define NEEDS_GUARD_INSTALL \
  if (!has_guard_install()) SKIP("this kernel has no MADV_GUARD_INSTALL")

TEST(guards, many_are_installed_in_a_few_calls_and_cost_no_mapping) {
  NEEDS_GUARD_INSTALL;
  const test::End end = test::in_child([] {
    const std::size_t before = test::count_mappings();
    // Single installations are forbidden, so the guards came from vectored calls.
    if (!test::refuse_advice(kernel::kEINVAL, kernel::kAdviseGuardInstall)) return false;
    Slab slab;
    return slab.guard == Guard::kInstalled && slab.guarded == kRow && slab.holds() &&
           test::count_mappings() <= before + 3;
  });
  CHECK(end.exited(0));
}

TEST(guards, the_vector_works_by_a_descriptor_where_the_kernel_knows_no_other_name_for_oneself) {
  NEEDS_GUARD_INSTALL;
  const test::End end = test::in_child([] {
    if (!test::refuse_if(kernel::kProcessMadvise, 9, 0, kernel::kPidfdSelf)) return false;  // answered by EBADF
    if (!test::refuse_advice(kernel::kEINVAL, kernel::kAdviseGuardInstall)) return false;
    const long lowest = test::call(test::kMemfdCreate, "lowest", 0);
    test::call(kernel::kClose, lowest);
    Slab slab;
    const long lowest_after = test::call(test::kMemfdCreate, "lowest", 0);
    return slab.guard == Guard::kInstalled && slab.guarded == kRow && slab.holds() && lowest == lowest_after;
  });
  CHECK(end.exited(0));
}

TEST(guards, without_the_vector_each_is_installed_by_itself) {
  NEEDS_GUARD_INSTALL;
  const test::End end = test::in_child([] {
    if (!test::refuse(kernel::kProcessMadvise, kernel::kENOSYS)) return false;
    Slab slab;
    return slab.guard == Guard::kInstalled && slab.guarded == kRow && slab.holds();
  });
  CHECK(end.exited(0));
}

bool forbid_install() {
  return test::refuse(kernel::kProcessMadvise, kernel::kENOSYS) &&
         test::refuse_advice(kernel::kEINVAL, kernel::kAdviseGuardInstall);
}

TEST(guards, without_installation_they_are_protected_and_survive_a_discard) {
  const test::End end = test::in_child([] {
    if (!forbid_install()) return false;
    Slab slab;
    if (slab.guard != Guard::kProtected || slab.guarded != kRow || !slab.holds()) return false;
    platform::discard(slab.base, kRow * kStride);
    return slab.holds();
  });
  CHECK(end.exited(0));
}

TEST(guards, protected_ones_take_half_of_the_mappings_at_most_and_what_is_unmapped_counts_no_more) {
  const std::uint64_t most = test::first_number("/proc/sys/vm/max_map_count");
  if (most == 0 || most > 1'000'000) SKIP("vm.max_map_count is unknown or huge");
  const test::End end = test::in_child([=] {
    if (!forbid_install()) return false;
    const std::size_t count = most, stride = 2 * kPage;  // four times as many as the limit allows
    std::size_t guarded = 0;
    const Slab first;  // uses its part of the limit, and keeps it
    for (int round = 0; round < 3; ++round) {
      std::byte* slab = platform::map(count * stride);
      if (platform::guard(slab, stride, count, kPage, guarded) != Guard::kProtected) return false;
      if (guarded != most / 4 - kRow || test::count_mappings() > most / 2 + 64) return false;
      // The limit is reached: another slab gets no guards, and the call reports that.
      std::size_t none = 7;
      std::byte* other = platform::map(4 * stride);
      if (platform::guard(other, stride, 4, kPage, none) != Guard::kNone || none != 0) return false;
      platform::unmap(other, 4 * stride);
      platform::unmap(slab, count * stride);
    }
    return true;
  });
  CHECK(end.exited(0));
}

TEST(guards, without_protection_there_is_no_guard_and_the_pages_are_unchanged) {
  const test::End end = test::in_child([] {
    if (!forbid_install() || !test::refuse(kernel::kMprotect, kernel::kENOMEM)) return false;
    Slab slab;
    return slab.guard == Guard::kNone && slab.guarded == 0 && slab.holds();
  });
  CHECK(end.exited(0));
}

TEST(guards, the_memory_between_guards_is_of_small_pages) {
  constexpr std::size_t kHuge = 2 << 20;
  constexpr long kCollapse = 25;
  const test::End end = test::in_child([] {
    if (!forbid_install() || !test::refuse(kernel::kMprotect, kernel::kENOMEM)) return false;
    std::byte* slab = platform::map(3 * kHuge);
    auto* huge = reinterpret_cast<std::byte*>((reinterpret_cast<std::uint64_t>(slab) + kHuge - 1) & ~(kHuge - 1));
    huge[0] = std::byte{1};
    // the machine has no huge pages
    if (test::failed(test::call(kernel::kMadvise, huge, kHuge, kCollapse))) return true;
    platform::discard(slab, 3 * kHuge);
    std::size_t guarded = 0;
    if (platform::guard(slab, kHuge / 2, 6, kPage, guarded) != Guard::kNone) return false;
    huge[0] = std::byte{1};
    return test::call(kernel::kMadvise, huge, kHuge, kCollapse) == -kernel::kEINVAL;
  });
  CHECK(end.exited(0));
}

TEST(guards, locked_memory_gets_protected_pages_as_guards) {
  const test::End end = test::in_child([] {
    if (test::failed(test::call(test::kMlockall, 2))) return true;  // MCL_FUTURE; fails if the limit is too low
    Slab slab;
    return (slab.guard == Guard::kProtected || slab.guard == Guard::kInstalled) && slab.holds();
  });
  CHECK(end.exited(0));
}

TEST(pages, locked_ones_are_given_back_all_the_same) {
  const test::End end = test::in_child([] {
    if (test::failed(test::call(test::kMlockall, 2))) return true;
    std::byte* pages = platform::map(2 * kPage);
    pages[0] = pages[kPage] = std::byte{1};
    platform::discard(pages, 2 * kPage);
    return pages[0] == std::byte{0} && pages[kPage] == std::byte{0};
  });
  CHECK(end.exited(0));
}

TEST(pages, locked_ones_are_given_back_where_the_kernel_has_no_form_for_them) {
  const test::End end = test::in_child([] {
    if (test::failed(test::call(test::kMlockall, 2))) return true;
    if (!test::refuse_advice(kernel::kEINVAL, kernel::kAdviseDontNeedLocked)) return false;
    std::byte* pages = platform::map(kPage);
    pages[0] = std::byte{1};
    platform::discard(pages, kPage);
    return pages[0] == std::byte{0};
  });
  CHECK(end.exited(0));
}

TEST(guards, one_guard_costs_what_the_page_says) {
  const test::End end = test::in_child([] {
    constexpr std::size_t kMany = 50'000;
    std::byte* slab = platform::map(kMany * kStride);
    std::size_t guarded = 0;
    const std::uint64_t begin = platform::now_ns();
    const Guard kind = platform::guard(slab, kStride, kMany, kPage, guarded);
    test::note("ns for each guard", (platform::now_ns() - begin) / kMany);
    test::note("guards made", guarded);
    return kind != Guard::kNone;
  });
  CHECK(end.exited(0));
}

// --- Threads

bool a_thread_runs() {
  static std::atomic<std::uint32_t> ran;
  static std::uint64_t canary;
  ran = 0;
  if (!platform::start_thread(
          [](void*) {
            asm volatile("mov %%fs:0x28, %0" : "=r"(canary));
            test::bump(ran);
            platform::exit_thread();
          },
          nullptr, -1, "janus/0"))
    return false;
  std::uint64_t here;
  asm volatile("mov %%fs:0x28, %0" : "=r"(here));
  return test::reaches(ran, 1) && canary == here;
}

TEST(threads, start_by_the_older_call_where_the_newer_is_unknown_or_forbidden) {
  for (const long error : {kernel::kENOSYS, kernel::kEPERM}) {
    const test::End end = test::in_child([=] { return test::refuse(435, error) && a_thread_runs(); });  // clone3
    CHECK(end.exited(0));
  }
}

TEST(threads, that_are_refused_by_both_calls_do_not_start) {
  const test::End end = test::in_child(
      [] { return test::refuse(435, kernel::kEAGAIN) && !a_thread_runs() && test::count_mappings() < 100; });
  CHECK(end.exited(0));
}

TEST(threads, start_where_their_guards_must_be_protected) {
  const test::End end = test::in_child([] { return forbid_install() && a_thread_runs(); });
  CHECK(end.exited(0));
}

TEST(threads, are_not_started_without_a_guard) {
  const test::End end = test::in_child(
      [] { return forbid_install() && test::refuse(kernel::kMprotect, kernel::kENOMEM) && !a_thread_runs(); });
  CHECK(end.exited(0));
}

// --- The auxiliary vector

const kernel::AuxEntry kTellsNothing[] = {{kernel::kAuxNull, 0}};

TEST(clock, is_read_by_system_call_where_there_is_no_vdso) {
  const test::End end = test::in_child([] {
    kernel::remember_auxv(kTellsNothing);
    kernel::Timespec time{};
    test::call(kernel::kClockGettime, kernel::kClockMonotonic, &time);
    const auto now = static_cast<std::int64_t>(platform::now_ns());
    const std::int64_t before = time.seconds * 1'000'000'000 + time.nanoseconds;
    if (now < before || now > before + 1'000'000'000) return false;
    // so the time came from that call
    return test::refuse(kernel::kClockGettime, kernel::kEPERM) && platform::now_ns() == 0;
  });
  CHECK(end.exited(0));
}

TEST(worker_slot, is_set_by_system_call_where_the_instructions_are_not_allowed) {
  const test::End end = test::in_child([] {
    kernel::remember_auxv(kTellsNothing);
    if (platform::worker_slot() != nullptr) return false;
    static std::uint64_t slot[2] = {reinterpret_cast<std::uint64_t>(slot), 0};
    platform::set_worker_slot(slot);
    std::uint64_t self;
    asm volatile("movq %%gs:0, %0" : "=r"(self));
    if (self != slot[0] || platform::worker_slot() != slot) return false;
    return a_thread_runs();  // the new thread has no slot at first
  });
  CHECK(end.exited(0));
}

#ifndef NDEBUG
TEST(worker_slot, is_known_without_a_system_call_once_it_was_set) {
  const test::End end = test::in_child([] {
    kernel::remember_auxv(kTellsNothing);
    static std::uint64_t slot[2] = {reinterpret_cast<std::uint64_t>(slot), 0};
    platform::set_worker_slot(slot);
    if (!test::refuse(kernel::kArchPrctl, kernel::kEPERM)) return false;
    return platform::worker_slot() == slot;
  });
  CHECK(end.exited(0));
}
#endif

TEST(worker_slot, is_the_gs_base) {
  const test::End end = test::in_child([] {
    static std::uint64_t slot[2] = {reinterpret_cast<std::uint64_t>(slot), 0};
    platform::set_worker_slot(slot);
    std::uint64_t base = 0, self;
    test::call(kernel::kArchPrctl, kernel::kArchGetGs, &base);
    asm volatile("movq %%gs:0, %0" : "=r"(self));
    return base == slot[0] && self == slot[0] && platform::worker_slot() == slot;
  });
  CHECK(end.exited(0));
}

TEST(alternate_stack, is_large_enough_when_the_kernel_names_no_size) {
  const test::End end = test::in_child([] {
    kernel::remember_auxv(kTellsNothing);
    (void)platform::adopt_thread(-1, nullptr);
    kernel::SignalStack stack{};
    test::call(kernel::kSigaltstack, nullptr, &stack);
    return stack.bytes == 64 * 1024;
  });
  CHECK(end.exited(0));
}

TEST(alternate_stack, grows_with_the_frames_of_a_large_processor) {
  static const kernel::AuxEntry large[] = {{kernel::kAuxMinSigStack, 100'000}, {kernel::kAuxNull, 0}};
  const test::End end = test::in_child([] {
    kernel::remember_auxv(large);
    (void)platform::adopt_thread(-1, nullptr);
    kernel::SignalStack stack{};
    test::call(kernel::kSigaltstack, nullptr, &stack);
    return stack.bytes == 401'408;  // four times the named size, in whole pages
  });
  CHECK(end.exited(0));
}

TEST(fault_handlers, that_the_kernel_refuses_are_an_error_of_the_start) {
  for (const long number : {long{kernel::kSigaltstack}, long{kernel::kSigaction}}) {
    const test::End end = test::in_child([&] {
      if (!test::refuse(number, kernel::kEPERM)) return false;
      return !platform::on_fault([](platform::Fault&) { return false; });
    });
    CHECK(end.exited(0));
  }
}

// --- Fences and randomness

TEST(fence, is_said_to_be_missing_where_the_kernel_refuses_and_does_nothing_then) {
  const test::End end = test::in_child([] {
    if (!test::refuse(kernel::kMembarrier, kernel::kENOSYS)) return false;
    platform::heavy_fence();
    return !platform::has_heavy_fence();
  });
  CHECK(end.exited(0));
}

TEST(fence, a_kernel_that_withdraws_it_later_ends_the_process) {
  const test::End end = test::in_child([] {
    if (!platform::has_heavy_fence()) platform::abort();
    if (!test::refuse(kernel::kMembarrier, kernel::kEPERM)) return false;
    platform::heavy_fence();
    return true;
  });
  CHECK(end.died_of(kernel::kSigAbrt));
}

TEST(fence, works_in_a_forked_child_of_a_process_that_had_it) {
  const test::End end = test::in_child([] {
    if (!platform::has_heavy_fence()) return true;
    platform::heavy_fence();
    return test::in_child([] {
             platform::heavy_fence();
             return true;
           })
        .exited(0);
  });
  CHECK(end.exited(0));
}

TEST(entropy, comes_from_the_device_where_the_call_is_missing) {
  const test::End end = test::in_child([] {
    std::uint64_t a[2] = {}, b[2] = {};
    if (!test::refuse(kernel::kGetrandom, kernel::kENOSYS)) return false;
    return platform::entropy(a, sizeof a) && platform::entropy(b, sizeof b) && a[0] != b[0] && a[1] != 0;
  });
  CHECK(end.exited(0));
}

TEST(entropy, without_a_source_is_refused) {
  const test::End end = test::in_child([] {
    std::uint64_t a = 0;
    return test::refuse(kernel::kGetrandom, kernel::kENOSYS) && test::refuse(kernel::kOpenat, 2) &&
           !platform::entropy(&a, sizeof a);
  });
  CHECK(end.exited(0));
}

TEST(resources, are_assumed_small_if_nothing_reports_them) {
  const test::End end = test::in_child([] {
    if (!test::refuse(kernel::kSysinfo, kernel::kENOSYS) || !test::refuse(kernel::kOpenat, 2)) return false;
    if (!test::refuse(kernel::kSchedGetaffinity, kernel::kENOSYS)) return false;
    platform::Cpus cpus;
    platform::cpus(cpus);
    return cpus.allowed == 1 && cpus.ids[0] == 0 && cpus.quota == 1 && platform::memory_limit() == 1 << 30;
  });
  CHECK(end.exited(0));
}

}  // namespace
