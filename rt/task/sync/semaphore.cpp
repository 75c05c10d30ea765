// SPDX-License-Identifier: Apache-2.0
// rt/task/sync/semaphore.cpp — see semaphore.h.
#include "rt/task/sync/semaphore.h"

#include "rt/task/record/price.h"
#include "rt/task/sync/sync_queue.h"
#include "rt/task/wait/slice.h"

namespace janus {

namespace {

constexpr std::uint64_t kPermit = std::uint64_t{1} << 32;

// `found`: whether there was one.
int take_permit(std::uint64_t* word, bool& found) noexcept {
  return update_user(word, [&](std::uint64_t bits) noexcept {
    found = bits >= kPermit;
    return found ? bits - kPermit : bits;
  });
}

// Hands permits to those who wait, price::kWakesAtOnce of them at most. Returns to how many; `is_done`: no more can be.
unsigned hand_out_part(SyncBucket& bucket, std::uint64_t* word, bool& is_done) noexcept {
  const std::uint64_t key = key_of(word, Queue::kOnly);
  LockGuard guard(bucket.lock);
  is_done = true;
  for (unsigned handed = 0;; ++handed) {
    SyncWaiter* const first = bucket.first(key);
    if (first == nullptr) {
      if (handed != 0) clear_waiters(word);
      return handed;
    }
    if (handed == price::kWakesAtOnce) {
      is_done = false;
      return handed;
    }
    bool found = false;
    if (take_permit(word, found) != 0 || !found) return handed;
    bucket.grant(*first, 0);
  }
}

void hand_out(Task& self, std::uint64_t* word) noexcept {
  SyncBucket& bucket = sync_bucket_of(word);
  std::int64_t free_ones = 1;
  for (bool is_done = false;;) {
    const unsigned handed = hand_out_part(bucket, word, is_done);
    if (handed > free_ones) take_fuel_unchecked(current_worker(), handed - free_ones);
    free_ones = 0;
    if (is_done) return;
    let_others_run(self);
  }
}

}  // namespace

int try_acquire_permit(std::uint64_t* word) noexcept {
  bool found = false;
  const int result = take_permit(word, found);
  return result != 0 ? result : found ? 0 : kErrorWouldBlock;
}

int acquire_permit(Task& self, std::uint64_t* word) noexcept {
  return wait_at_word(self, word, AwaitedKind::kSemaphore, [](std::uint64_t bits, bool& waits) noexcept {
    waits = bits < kPermit;
    return bits - kPermit;
  });
}

int release_permits(Task& self, std::uint64_t* word, std::uint32_t permits) noexcept {
  bool fits = false, do_wait = false;
  const auto add = [&](std::uint64_t bits) noexcept {
    std::uint64_t after = 0;
    fits = !__builtin_add_overflow(bits, permits * kPermit, &after);
    return fits ? after : bits;
  };
  const int result = release_at_word(
      word, add, [](std::uint64_t) noexcept { return true; }, do_wait);
  if (result != 0) return result;
  if (!fits) return kErrorState;
  if (do_wait) hand_out(self, word);
  return 0;
}

}  // namespace janus
