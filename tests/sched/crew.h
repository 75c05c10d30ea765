// SPDX-License-Identifier: Apache-2.0
// tests/sched/crew.h — a few threads that run closures at the same time, and their end.
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/platform.h"
#include "tests/harness/test.h"

namespace janus::test {

class Crew {
 public:
  static constexpr unsigned kMost = 16;
  ~Crew() { join(); }

  // `closure` lives until join().
  template <class Closure>
  void start(Closure& closure) {
    Member& member = members_[count_++];
    member = {this, [](void* c) { (*static_cast<Closure*>(c))(); }, &closure};
    left_.fetch_add(1);
    CHECK(platform::start_thread(
        [](void* pointer) {
          const Member me = *static_cast<Member*>(pointer);
          me.run(me.closure);
          me.crew->left_.fetch_sub(1);
          platform::exit_thread();
        },
        &member, -1, "crew"));
  }
  void join() {
    while (left_.load() != 0) __builtin_ia32_pause();
  }

 private:
  struct Member {
    Crew* crew;
    void (*run)(void*);
    void* closure;
  };
  Member members_[kMost];
  unsigned count_ = 0;
  std::atomic<unsigned> left_{0};
};

// True once `condition` holds; false if it does not in a time that is long for any machine.
template <class Condition>
bool soon(Condition condition) {
  const std::uint64_t patience = platform::now_ns() + 60'000'000'000;
  while (!condition()) {
    if (platform::now_ns() > patience) return false;
    __builtin_ia32_pause();
  }
  return true;
}

}  // namespace janus::test
