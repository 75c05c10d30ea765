// SPDX-License-Identifier: Apache-2.0
// tests/harness/thread_group.h — a few threads of the platform that run closures at the same time, until they are
// joined; works freestanding and hosted.
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/platform.h"
#include "tests/harness/test.h"

namespace janus::test {

class ThreadGroup {
 public:
  static constexpr unsigned kMax = 16;

  ThreadGroup() = default;
  ThreadGroup(const ThreadGroup&) = delete;
  ThreadGroup& operator=(const ThreadGroup&) = delete;
  ~ThreadGroup() { join(); }

  // Runs closure() on a thread of its own; the closure must live until join(). False: the machine refused the thread.
  template <class Closure>
  [[nodiscard]] bool try_start(Closure& closure) {
    if (count_ == kMax) return false;
    Member& member = members_[count_];
    member = {this, [](void* it) { (*static_cast<Closure*>(it))(); }, &closure};
    left_.fetch_add(1, std::memory_order_relaxed);
    if (platform::start_thread(enter, &member, -1, "test")) {
      ++count_;
      return true;
    }
    left_.fetch_sub(1, std::memory_order_relaxed);
    return false;
  }
  template <class Closure>
  void start(Closure& closure) {
    CHECK(try_start(closure));
  }

  void join() {
    for (std::uint32_t left; (left = left_.load(std::memory_order_acquire)) != 0;)
      platform::wait(left_, left, platform::now_ns() + 1'000'000);
  }

  // Runs work(0) ... work(count - 1), at most kMax of them, each on a thread; none begins before all threads have
  // started. False: the machine refused a thread; the others have run to their end.
  template <class Work>
  [[nodiscard]] static bool run(unsigned count, Work work) {
    std::atomic<std::uint32_t> gate{0};
    auto turn = [&gate, &work, next = std::atomic<unsigned>(0)]() mutable {
      while (gate.load(std::memory_order_acquire) == 0) platform::wait(gate, 0, platform::kForever);
      work(next.fetch_add(1, std::memory_order_relaxed));
    };
    ThreadGroup group;
    unsigned started = 0;
    while (started < count && group.try_start(turn)) ++started;
    gate.store(1, std::memory_order_release);
    platform::wake(gate, count);
    group.join();
    return started == count;
  }

 private:
  struct Member {
    ThreadGroup* group;
    void (*run)(void* closure);
    void* closure;
  };

  static void enter(void* pointer) {
    const Member me = *static_cast<Member*>(pointer);
    me.run(me.closure);
    me.group->left_.fetch_sub(1, std::memory_order_release);  // the last access: the group may not exist any more
    platform::exit_thread();
  }

  Member members_[kMax];
  unsigned count_ = 0;
  std::atomic<std::uint32_t> left_{0};
};

// Called between two checks of other threads' progress. Executes no pause, at which an emulated processor takes a lock
// that all of them share; sometimes sleeps, since the other thread may need the processor.
inline void rest(unsigned& looks) {
  constexpr unsigned kLooks = 1000;
  constexpr std::uint64_t kNapNs = 50'000;
  if (++looks % kLooks != 0) return;
  std::atomic<std::uint32_t> never{0};
  platform::wait(never, 0, platform::now_ns() + kNapNs);
}

// True once `condition` holds; false if it does not within a time that is long for any machine.
template <class Condition>
bool soon(Condition condition) {
  const std::uint64_t patience = platform::now_ns() + 60'000'000'000;
  for (unsigned looks = 0; !condition();) {
    if (platform::now_ns() > patience) return false;
    rest(looks);
  }
  return true;
}

}  // namespace janus::test
