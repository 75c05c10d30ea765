// SPDX-License-Identifier: Apache-2.0
// lock_misuse.cpp CASE: what the C++ library's locks cannot give ends the task as a panic that says why, and a signal that ends the
// program ends main's wait.
#include <janus/rt.hpp>

#include <barrier>
#include <condition_variable>
#include <cstring>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>

namespace {

std::mutex mutex;

// Leaves the mutex behind with a task that has ended.
void abandon() {
  janus::Nursery nursery;
  (void)nursery.spawn([] { mutex.lock(); });
  (void)nursery.await();
}

int heal() {
  abandon();
  if (janus_mutex_lock(mutex.native_handle()) != JANUS_E_STATE) return 1;
  if (janus_mutex_heal(mutex.native_handle()) != 0) return 2;
  mutex.unlock();
  const std::lock_guard guard(mutex);
  return 0;
}

}  // namespace

int main(int, char** argv) {
  const auto is = [&](const char* name) { return std::strcmp(argv[1], name) == 0; };
  if (is("twice")) mutex.lock(), mutex.lock();
  if (is("stranger")) mutex.unlock();
  if (is("abandoned")) abandon(), mutex.lock();
  if (is("abandoned-try")) abandon(), (void)mutex.try_lock();
  if (is("healed")) return heal();
  if (is("recursive")) std::recursive_mutex().unlock();
  if (is("shared")) {
    std::shared_mutex shared;
    shared.lock();
    shared.lock_shared();
  }
  if (is("shared-stranger")) std::shared_mutex().unlock_shared();
  if (is("condition")) {
    std::unique_lock lock(mutex);
    mutex.unlock();
    std::condition_variable().wait(lock);
  }
  if (is("semaphore")) std::counting_semaphore<>(1).release(UINT32_MAX);
  if (is("semaphore-negative")) std::counting_semaphore<>(1).release(-1);
  if (is("semaphore-first")) std::counting_semaphore<5>(6).acquire();
  if (is("latch")) std::latch(1).count_down(2);
  if (is("terminated")) {
    constexpr long kGetpid = 39, kKill = 62, kSigterm = 15;
    (void)janus_syscall(kKill, janus_syscall(kGetpid), kSigterm);
    std::latch(1).wait();
  }
  if (is("barrier")) (void)std::barrier<>(1).arrive(2);
  return 9;
}
