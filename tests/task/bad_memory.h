// SPDX-License-Identifier: Apache-2.0
// bad_memory.h — pointers that a buggy task may come with, of every kind, and worlds to try them in.
#pragma once

#include "rt/abi/global_runtime.h"
#include "tests/conformance/world.h"

namespace janus::test {

inline constexpr unsigned kWorkerCounts[] = {1, 2, 4};

// What a pointer that cannot be used is like.
enum class Bad : std::uint8_t { kSmall, kNotCanonical, kForbidden, kGuarded, kStraddling, kReadOnly };
inline constexpr Bad kUnreadable[] = {Bad::kSmall, Bad::kNotCanonical, Bad::kForbidden, Bad::kGuarded,
                                      Bad::kStraddling};
inline constexpr Bad kUnwritable[] = {Bad::kSmall,   Bad::kNotCanonical, Bad::kForbidden,
                                      Bad::kGuarded, Bad::kStraddling,   Bad::kReadOnly};

// Pages that can be used, and one behind them that cannot. For the whole process.
class BadMemory {
 public:
  // For an object of `bytes`, 128 KiB at most, and two at least where it straddles.
  static void* pointer(Bad kind, std::size_t bytes) {
    static BadMemory* const memory = make();
    switch (kind) {
      case Bad::kSmall:
        return reinterpret_cast<void*>(0x18);
      case Bad::kNotCanonical:
        return reinterpret_cast<void*>(0x8000'0000'0000'1000);
      case Bad::kForbidden:
        return memory->before_forbidden_ + kRoom;
      case Bad::kGuarded:
        return memory->before_guard_ + kRoom;
      case Bad::kReadOnly:
        return memory->before_constants_ + kRoom;
      case Bad::kStraddling:
        break;
    }
    return memory->before_forbidden_ + kRoom - bytes + 1;
  }

 private:
  static constexpr std::size_t kPage = 4096, kRoom = 32 * kPage;

  static BadMemory* make() {
    // A hole would be filled by the next mapping of whoever wants one: pages that nobody may touch are as good.
    constexpr long kMprotect = 10, kProtNone = 0, kProtRead = 1;
    static BadMemory memory;
    memory.before_forbidden_ = platform::map(kRoom + kPage);
    memory.before_guard_ = platform::map(kRoom + kPage);
    memory.before_constants_ = platform::map(kRoom + kPage);
    std::size_t guarded = 0;
    CHECK(platform::guard(memory.before_guard_ + kRoom, kPage, 1, kPage, guarded) != platform::Guard::kNone);
    CHECK_EQ(guarded, 1u);
    CHECK_EQ(platform::syscall(kMprotect, {reinterpret_cast<long>(memory.before_forbidden_ + kRoom), kPage, kProtNone}),
             0);
    __builtin_memset(memory.before_constants_ + kRoom, 0x7f, kPage);
    CHECK_EQ(platform::syscall(kMprotect, {reinterpret_cast<long>(memory.before_constants_ + kRoom), kPage, kProtRead}),
             0);
    return &memory;
  }

  std::byte* before_forbidden_;
  std::byte* before_guard_;
  std::byte* before_constants_;
};

// Runs `body` in a runtime of `workers` twice: as in a host, and as in a program of our own, where only workers call
// and what is at hand takes paths of its own.
template <class Body>
void run_both_ways(unsigned workers, Body body) {
  (void)BadMemory::pointer(Bad::kSmall, 8);  // made before there are several who want it
  run_in(with_workers(workers), body);
  run_in(with_workers(workers), [&] {
    every_thread_is_worker = true;
    body();
    every_thread_is_worker = false;
  });
}

// Waits until `task` has stopped; false if it never does.
inline bool stops(janus_task task) {
  return eventually([&] { return janus_task_state(task) == JANUS_TASK_BLOCKED; });
}

// How `body` ends as a task of its own.
template <class Body>
janus_result outcome_of(Body body) {
  janus_result result = {};
  Scope scope(JANUS_ON_ERROR_COLLECT);
  const janus_task task = scope.go(body);
  scope.await();
  CHECK_EQ(janus_task_result(task, &result), 0);
  CHECK_EQ(janus_nursery_destroy(scope.get()), 0);
  return result;
}

template <class Body>
bool panics(Body body) {
  return outcome_of(body).kind == JANUS_KIND_PANIC;
}

}  // namespace janus::test
