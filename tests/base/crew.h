// SPDX-License-Identifier: Apache-2.0
// tests/base/crew.h — runs one function on several threads of the platform at once, and waits for all of them.
#pragma once

#include <atomic>
#include <cstdint>

#include "rt/platform.h"

namespace janus::test {

inline constexpr unsigned kMaxCrew = 16;

class Crew {
 public:
  using Work = void (*)(unsigned number);

  // False: the machine refused a thread; the others have run to their end.
  [[nodiscard]] static bool run(unsigned count, Work work) noexcept {
    Crew crew(work);
    unsigned started = 0;
    while (started < count) {
      crew.members_[started] = {&crew, started};
      if (!platform::start_thread(&Crew::enter, &crew.members_[started], -1, "crew")) break;
      ++started;
    }
    crew.gate_.store(1, std::memory_order_release);
    platform::wake(crew.gate_, count);
    for (std::uint32_t done = 0; (done = crew.done_.load(std::memory_order_acquire)) < started;)
      platform::wait(crew.done_, done, platform::now_ns() + 10'000'000);
    return started == count;
  }

 private:
  struct Member {
    Crew* crew;
    unsigned number;
  };

  explicit Crew(Work work) noexcept : work_(work) {}

  static void enter(void* argument) noexcept {
    const Member member = *static_cast<Member*>(argument);
    Crew& crew = *member.crew;
    while (crew.gate_.load(std::memory_order_acquire) == 0) platform::wait(crew.gate_, 0, platform::kForever);
    crew.work_(member.number);
    crew.done_.fetch_add(1, std::memory_order_release);  // the last touch: run() may return, and the crew be gone
    platform::exit_thread();
  }

  Work work_;
  std::atomic<std::uint32_t> gate_{0};
  std::atomic<std::uint32_t> done_{0};
  Member members_[kMaxCrew];
};

}  // namespace janus::test
