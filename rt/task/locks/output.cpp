// SPDX-License-Identifier: Apache-2.0
// rt/task/locks/output.cpp — a keyed lock for each descriptor, and patience where there is no room. Nothing tells the runtime when
// a reader has made room, so the holder tries again, ever less often, and gives way in between; only a worker with
// nothing else to do waits in the kernel, and not for long. docs/decisions/0281
#include "rt/task/locks/output.h"

#include "rt/task/locks/keyed_lock.h"
#include "rt/task/record/price.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/yield.h"

namespace janus {

namespace {

constexpr std::size_t kPieceBytes = 65536;            // other tasks on this worker wait for no more than that
constexpr std::uint64_t kFirstPauseNs = 50'000;       // a reader that is awake is that fast
constexpr std::uint64_t kLongestPauseNs = 5'000'000;  // an injected task may wait for a worker that waits here
constexpr int kNothingTaken = -5;                     // EIO: no byte, and no reason
constexpr int kForbidden = -1;                        // EPERM; also the result of a cancelled writer
constexpr int kNoAccess = -13;                        // EACCES

// The error for a write that took nothing. -1 is for cancelled writers alone.
int error_of(long written) noexcept {
  if (written == 0) return kNothingTaken;
  return written == kForbidden ? kNoAccess : static_cast<int>(written);
}

class Pause {
 public:
  // Returns when the next try is due.
  std::uint64_t begin() noexcept {
    const std::uint64_t until = platform::now_ns() + length_ns_;
    if (length_ns_ < kLongestPauseNs) length_ns_ *= 2;
    return until;
  }
  void end() noexcept { length_ns_ = kFirstPauseNs; }

 private:
  std::uint64_t length_ns_ = kFirstPauseNs;
};

// Lets others on this worker run first. 0 if there were some: the next try does not wait. Otherwise until when it may.
std::uint64_t wait_for_others(Task& task, std::uint64_t until_ns) noexcept {
  bool gave_way = false;
  for (;;) {
    Worker& worker = current_worker();
    if (worker.scheduler->wants_attention()) worker.scheduler->handle_attention(worker);
    if (!worker.scheduler->has_ready(worker)) return gave_way ? 0 : until_ns;
    let_others_run(task);
    gave_way = true;
    if (platform::now_ns() >= until_ns) return 0;
  }
}

// Counts the bytes written since other writers had a chance to get the descriptor. Counts no calls, since the amount
// that the kernel takes at once depends on the reader.
class Share {
 public:
  explicit Share(LockWaiter& waiter) noexcept : waiter_(waiter) {}
  // As lend_lock().
  [[nodiscard]] int after(std::size_t written) noexcept {
    bytes_ += written;
    if (bytes_ < kPieceBytes) return 0;
    bytes_ = 0;
    return lend_lock(waiter_);
  }

 private:
  LockWaiter& waiter_;
  std::size_t bytes_ = 0;
};

int write_as_task(Task& task, LockWaiter& waiter, int fd, const char* bytes, std::size_t count) noexcept {
  Pause pause;
  Share share(waiter);
  std::uint64_t until = 0;
  while (count != 0) {
    const long written = platform::write(fd, bytes, count < kPieceBytes ? count : kPieceBytes, until);
    if (written == platform::kNoRoom) {
      send_cancelled_away(waiter);
      if (sees_cancel(task)) return kCancelledCode;
      until = wait_for_others(task, pause.begin());
      continue;
    }
    if (written <= 0) return error_of(written);
    bytes += written;
    count -= static_cast<std::size_t>(written);
    pause.end();
    until = 0;
    if (count == 0) break;
    let_others_run(task);
    const int answer = share.after(static_cast<std::size_t>(written));
    if (answer != 0) return answer;
  }
  return 0;
}

// For a thread outside tasks, or the only thread of a deterministic runtime, whose order must not depend on a reader.
int write_as_thread(LockWaiter& waiter, int fd, const char* bytes, std::size_t count) noexcept {
  Share share(waiter);
  while (count != 0) {
    const std::size_t piece = waiter.task == nullptr && count > kPieceBytes ? kPieceBytes : count;
    const long written = platform::write(fd, bytes, piece, platform::now_ns() + kLongestPauseNs);
    if (written == platform::kNoRoom) {
      send_cancelled_away(waiter);
      continue;
    }
    if (written <= 0) return error_of(written);
    bytes += written;
    count -= static_cast<std::size_t>(written);
    const int answer = count != 0 && waiter.task == nullptr ? share.after(static_cast<std::size_t>(written)) : 0;
    if (answer != 0) return answer;
  }
  return 0;
}

}  // namespace

int write_all(Task* task, int fd, const char* bytes, std::size_t count) noexcept {
  if (count == 0) return 0;
  LockWaiter waiter;
  const int answer = keyed_lock(waiter, key_of_descriptor(fd), task);
  if (answer != 0) return answer;
  const bool gives_way = task != nullptr && !current_worker().scheduler->is_deterministic();
  const int result =
      gives_way ? write_as_task(*task, waiter, fd, bytes, count) : write_as_thread(waiter, fd, bytes, count);
  if (waiter.state.load(std::memory_order_relaxed) == LockWaiter::kHolds) keyed_unlock(waiter);
  return result;
}

}  // namespace janus
