// SPDX-License-Identifier: Apache-2.0
// rt/task/sync/count.cpp — see count.h.
#include "rt/task/sync/count.h"

#include "rt/task/sync/sync_queue.h"

namespace janus {

namespace {

constexpr std::uint64_t kUnit = std::uint64_t{1} << 32;  // of a wait group
constexpr std::int64_t kMost = INT32_MAX;
constexpr std::uint64_t kIsSet = 2;  // of an event

}  // namespace

int add_to_group(Task& self, std::uint64_t* word, std::int64_t count) noexcept {
  bool fits = false, do_wait = false;
  const auto add = [&](std::uint64_t bits) noexcept {
    const auto now = static_cast<std::int64_t>(bits / kUnit);
    fits = count >= -now && count <= kMost - now;
    return fits ? static_cast<std::uint64_t>(now + count) * kUnit | (bits & HolderWord::kWaiters) : bits;
  };
  const auto is_done = [](std::uint64_t bits) noexcept { return bits < kUnit; };
  const int result = release_at_word(word, add, is_done, do_wait);
  if (result != 0) return result;
  if (!fits) return kErrorState;
  if (do_wait) grant_all(self, word, Queue::kOnly, word);
  return 0;
}

int await_group(Task& self, std::uint64_t* word) noexcept {
  return wait_at_word(self, word, AwaitedKind::kCount, [](std::uint64_t bits, bool& waits) noexcept {
    waits = bits >= kUnit;
    return bits;
  });
}

int set_event(Task& self, std::uint64_t* word) noexcept {
  bool do_wait = false;
  const auto set = [](std::uint64_t bits) noexcept { return bits | kIsSet; };
  const int result = release_at_word(
      word, set, [](std::uint64_t) noexcept { return true; }, do_wait);
  if (result != 0) return result;
  if (do_wait) grant_all(self, word, Queue::kOnly, word);
  return 0;
}

int reset_event(std::uint64_t* word) noexcept {
  return update_user(word, [](std::uint64_t bits) noexcept { return bits & ~kIsSet; });
}

int await_event(Task& self, std::uint64_t* word) noexcept {
  return wait_at_word(self, word, AwaitedKind::kCount, [](std::uint64_t bits, bool& waits) noexcept {
    waits = (bits & kIsSet) == 0;
    return bits;
  });
}

namespace {

struct Meeting {
  std::uint32_t here, parties;
};
static_assert(sizeof(Meeting) == sizeof(std::uint64_t));

// Who waits knows its meeting by a number that no other barrier at that address has (number_barrier()). Under the lock of the bucket, so nobody
// else changes the words but by mistake.
bool load(const std::uint64_t* words, Meeting& meeting, std::uint64_t& met) noexcept {
  std::uint64_t bits = 0;
  if (!load_word(words, bits) || !load_word(words + 1, met)) return false;
  meeting = {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
  return true;
}
bool store(std::uint64_t* words, Meeting meeting) noexcept {
  return arch::store_user(words, std::uint64_t{meeting.parties} << 32 | meeting.here);
}

// Once all have come, a waiter stays in the queue until it is granted in its part; but its wait is over: it is too late
// to be taken out.
struct AwaitedMeeting : AwaitedSync {
  std::uint64_t* words;
  std::uint64_t met;

  AwaitedMeeting(SyncBucket& its_bucket, SyncWaiter& its_waiter, std::uint64_t* its_words,
                 std::uint64_t before) noexcept
      : AwaitedSync(its_bucket, its_waiter), words(its_words), met(before) {}
  bool is_over() const noexcept {
    std::uint64_t now = met;
    return waiter.is_granted || (load_word(words + 1, now) && now != met);
  }
  void leave() const noexcept {
    if (!waiter.is_queued) return;
    bucket.leave(waiter);
    Meeting meeting{};
    std::uint64_t now = 0;
    if (!load(words, meeting, now) || now != met || meeting.here == 0) return;
    --meeting.here;
    (void)store(words, meeting);
  }
};

// Comes to the barrier, under the lock of the bucket. kIsLast, 0 if the task has to wait, or an error.
constexpr int kIsLast = 2;
int come(std::uint64_t* words, std::uint64_t& met) noexcept {
  Meeting meeting{};
  if (!load(words, meeting, met)) return kFaulted;
  if (meeting.parties == 0) return kErrorState;
  const bool is_last = meeting.here >= meeting.parties - 1;
  meeting.here = is_last ? 0 : meeting.here + 1;
  if (!arch::store_user(words + 1, is_last ? met + 1 : met) || !store(words, meeting)) return kFaulted;
  return is_last ? kIsLast : 0;
}

}  // namespace

std::uint64_t number_barrier(const void* barrier) noexcept {
  SyncBucket& bucket = sync_bucket_of(barrier);
  LockGuard guard(bucket.lock);
  return ++bucket.tickets << 32;
}

int await_barrier(Task& self, std::uint64_t* words) noexcept {
  const Awaiting awaiting(self, AwaitedKind::kCount, words);
  SyncBucket& bucket = sync_bucket_of(words);
  SyncWaiter waiter(self, words, Queue::kOnly);
  bucket.lock.lock();
  std::uint64_t met = 0;
  const int coming = come(words, met);
  if (coming == 0) {
    bucket.enter(waiter);
    AwaitedMeeting awaited(bucket, waiter, words, met);
    return result_of(wait(self, awaited), self);
  }
  bucket.lock.unlock();
  if (coming != kIsLast) return coming;
  grant_all(self, words, Queue::kOnly, nullptr);
  return 1;
}

}  // namespace janus
