// SPDX-License-Identifier: Apache-2.0
// waiting.cpp — rt/platform.h's wait and wake, like a kernel's futex: waiting threads are found by the address of their
// word, in one of kBuckets buckets.
#include <atomic>

#include "kernel-free/smp/per_cpu.h"
#include "kernel-free/threads/threads.h"
#include "rt/platform.h"

namespace janus::bare {
namespace {

struct alignas(64) Bucket {
  Lock lock;
  Thread* first = nullptr;

  void link(Thread& thread) {
    BARE_ASSERT(!thread.is_idle && !thread.is_dead);
    BARE_ASSERT(thread.state.load(std::memory_order_relaxed) == Thread::kWaiting);
    thread.next_waiting = first;
    thread.previous_waiting = nullptr;
    if (first != nullptr) first->previous_waiting = &thread;
    first = &thread;
  }
  void unlink(Thread& thread) {
    BARE_ASSERT(thread.state.load(std::memory_order_relaxed) == Thread::kWaiting);
    BARE_ASSERT((thread.previous_waiting != nullptr ? thread.previous_waiting->next_waiting : first) == &thread);
    BARE_ASSERT(thread.next_waiting == nullptr || thread.next_waiting->previous_waiting == &thread);
    (thread.previous_waiting != nullptr ? thread.previous_waiting->next_waiting : first) = thread.next_waiting;
    if (thread.next_waiting != nullptr) thread.next_waiting->previous_waiting = thread.previous_waiting;
  }
  Thread* find(const std::atomic<std::uint32_t>& word) {
    Thread* thread = first;
    while (thread != nullptr && thread->word != &word) thread = thread->next_waiting;
    return thread;
  }
};
constexpr std::size_t kBuckets = 64;
Bucket g_buckets[kBuckets];

Bucket& bucket_of(const std::atomic<std::uint32_t>& word) {
  const auto address = reinterpret_cast<std::uint64_t>(&word);
  return g_buckets[(address >> 6 ^ address >> 12) % kBuckets];
}

// Puts the thread into its word's bucket; false: the word is not `seen` any more. The caller has read the word before
// the lock is taken, so its page is present.
bool enlist(Thread& thread, std::atomic<std::uint32_t>& word, std::uint32_t seen, std::uint64_t until_ns) {
  Bucket& bucket = bucket_of(word);
  LockGuard guard(bucket.lock);
  BARE_ASSERT(thread.state.load(std::memory_order_relaxed) == Thread::kAwake);
  if (word.load(std::memory_order_relaxed) != seen) return false;
  thread.word = &word;
  thread.until_ns = until_ns;
  thread.state.store(Thread::kWaiting, std::memory_order_relaxed);
  bucket.link(thread);
  return true;
}

// Takes the thread out of its word's bucket, unless wake() has done so.
void leave(Thread& thread, const std::atomic<std::uint32_t>& word) {
  Bucket& bucket = bucket_of(word);
  LockGuard guard(bucket.lock);
  if (thread.state.load(std::memory_order_relaxed) != Thread::kWaiting) return;
  bucket.unlink(thread);
  thread.state.store(Thread::kAwake, std::memory_order_relaxed);
}

}  // namespace
}  // namespace janus::bare

namespace janus::platform {

using namespace janus::bare;

void wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::uint64_t until_ns) noexcept {
  if (word.load(std::memory_order_relaxed) != seen) return;
  Thread& me = this_thread();
  if (!enlist(me, word, seen, until_ns)) return;
  stay_while(Thread::kWaiting);
  leave(me, word);
}

// Holds the bucket's lock until the CPU has been interrupted: a woken thread may end, but not before leave() gets the
// lock.
void wake(std::atomic<std::uint32_t>& word, std::uint32_t count) noexcept {
  Bucket& bucket = bucket_of(word);
  LockGuard guard(bucket.lock);
  for (; count != 0; --count) {
    Thread* const thread = bucket.find(word);
    if (thread == nullptr) return;
    bucket.unlink(*thread);
    Cpu& cpu = *thread->cpu;
    thread->state.store(Thread::kAwake, std::memory_order_release);  // pairs with stay_while()
    poke(cpu);
  }
}

}  // namespace janus::platform
