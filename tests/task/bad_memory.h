// SPDX-License-Identifier: Apache-2.0
// bad_memory.h — every kind of bad pointer that a buggy task may pass, and runtimes to try them in.
#pragma once

#include "rt/abi/entry/global_runtime.h"
#include "tests/api/world.h"

namespace janus::test {

inline constexpr unsigned kWorkerCounts[] = {1, 2, 4};

// Why a pointer cannot be used.
enum class Bad : std::uint8_t { kSmall, kNotCanonical, kForbidden, kGuarded, kStraddling, kReadOnly };
inline constexpr Bad kUnreadable[] = {Bad::kSmall, Bad::kNotCanonical, Bad::kForbidden, Bad::kGuarded,
                                      Bad::kStraddling};
inline constexpr Bad kUnwritable[] = {Bad::kSmall,   Bad::kNotCanonical, Bad::kForbidden,
                                      Bad::kGuarded, Bad::kStraddling,   Bad::kReadOnly};

// A constant of the program: can be read but not written on every platform.
struct alignas(4096) Readable {
  unsigned char bytes[128 * 1024];
};
inline constexpr Readable kReadable = [] {
  Readable all{};
  for (unsigned char& byte : all.bytes) byte = 0x7f;
  return all;
}();

// Usable pages, each followed by a page that cannot be used. One object serves the whole process.
class BadMemory {
 public:
  // A bad pointer to an object of `bytes`: at most 128 KiB, and at least 2 bytes for kStraddling.
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
        return const_cast<unsigned char*>(kReadable.bytes);
      case Bad::kStraddling:
        break;
    }
    return memory->before_forbidden_ + kRoom - bytes + 1;
  }

 private:
  static constexpr std::size_t kPage = 4096, kRoom = 32 * kPage;

  static void guard(std::byte* page) {
    std::size_t guarded = 0;
    CHECK(platform::guard(page, kPage, 1, kPage, guarded) != platform::Guard::kNone);
    CHECK_EQ(guarded, 1u);
  }

  static BadMemory* make() {
    // Protected pages stand for unmapped ones, since another mapping could fill a hole. Without a kernel below there is
    // no mprotect, so both blocks end in the same kind of guard page.
    constexpr long kMprotect = 10, kProtNone = 0, kNoSuchCall = -38;
    static BadMemory memory;
    memory.before_forbidden_ = platform::map(kRoom + kPage);
    memory.before_guard_ = platform::map(kRoom + kPage);
    guard(memory.before_guard_ + kRoom);
    std::byte* const forbidden = memory.before_forbidden_ + kRoom;
    const long answer = platform::syscall(kMprotect, {reinterpret_cast<long>(forbidden), kPage, kProtNone});
    if (answer == kNoSuchCall) guard(forbidden);
    CHECK(answer == 0 || answer == kNoSuchCall);
    return &memory;
  }

  std::byte* before_forbidden_;
  std::byte* before_guard_;
};

// Runs `body` in a runtime of `workers` twice: as in a host program, and as in a freestanding program, where every
// calling thread is a worker and calls take shorter paths.
template <class Body>
void run_both_ways(unsigned workers, Body body) {
  (void)BadMemory::pointer(Bad::kSmall, 8);  // made before several threads ask for it
  run_in(with_workers(workers), body);
  run_in(with_workers(workers), [&] {
    every_thread_is_worker = true;
    body();
    every_thread_is_worker = false;
  });
}

// Waits until `task` is blocked; false if that does not happen in time.
inline bool stops(janus_task task) {
  return eventually([&] { return janus_task_state(task) == JANUS_TASK_BLOCKED; });
}

// Runs `body` as a task and returns its outcome.
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
