// SPDX-License-Identifier: Apache-2.0
// call_once.cpp: many tasks wait for a value that the first of them computes slowly; then clocks, and a lock that the
// program defines itself.
#include <janus/rt.hpp>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace {

std::once_flag once;
std::atomic<int> made{0}, seen_early{0};
int value = 0;

void make(int result) {
  for (int i = 0; i < 100; i++) std::this_thread::yield();
  value = result;
  made++;
}

// A lock of the program's own, for the templates of <mutex>.
class SpinLock {
 public:
  void lock() {
    while (taken_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
  }
  void unlock() { taken_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> taken_{false};
};

SpinLock lock;
int counter = 0;

}  // namespace

int main() {
  {
    janus::Nursery nursery;
    std::vector<janus::Task<int>> tasks;
    for (int i = 0; i < 50; i++) {
      tasks.push_back(nursery.spawn([] {
        std::call_once(once, make, 42);
        if (value != 42) seen_early++;
        for (int j = 0; j < 100; j++) {
          const std::lock_guard guard(lock);
          counter++;
        }
        return value;
      }));
    }
    for (auto& task : tasks)
      if (task.join().value() != 42) return 2;
  }
  if (made != 1 || seen_early != 0) return 3;
  if (counter != 5000) return 4;
  const auto before = std::chrono::steady_clock::now();
  const auto year = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
  if (std::chrono::steady_clock::now() < before || year.time_since_epoch() < std::chrono::days(20000)) return 5;
  return 0;
}
