// SPDX-License-Identifier: Apache-2.0
// rt/task/locks/output.cpp — a keyed lock for each descriptor, and waits for room. A reader that keeps up makes room
// soon, so the holder first tries a few times, and in between lets others run or, if there are none, waits in the
// kernel for a moment. Then it waits for as long as the reader takes, at no cost to others. docs/decisions/0281,
// docs/decisions/0321
#include "rt/task/locks/output.h"

#include "rt/task/locks/keyed_lock.h"
#include "rt/task/record/price.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/room.h"
#include "rt/task/wait/room_bell.h"
#include "rt/task/wait/yield.h"

namespace janus {

namespace {

constexpr std::size_t kPieceBytes = 65536;          // the most that is written before other tasks of this worker run
constexpr std::uint64_t kFirstPauseNs = 50'000;     // enough for a reader that is awake
constexpr std::uint64_t kLongestPauseNs = 800'000;  // an injected task may wait for a worker that waits here
constexpr std::size_t kRoomBytes = 4096;            // a descriptor with room takes this much
constexpr int kNothingTaken = -5;                   // EIO: the kernel took no byte and gave no error
constexpr int kForbidden = -1;                      // EPERM; also the result of a cancelled writer
constexpr int kNoAccess = -13;                      // EACCES

// The error for a write that took nothing. -1 is for cancelled writers alone.
int error_of_write(long written) noexcept {
  if (written == 0) return kNothingTaken;
  return written == kForbidden ? kNoAccess : static_cast<int>(written);
}

// The pauses between tries, each twice as long as the one before.
class Pause {
 public:
  // Returns when the next try is due.
  std::uint64_t begin() noexcept {
    const std::uint64_t until = platform::now_ns() + length_ns_;
    length_ns_ *= 2;
    return until;
  }
  // The reader does not keep up, so more tries would not help.
  [[nodiscard]] bool was_last() const noexcept { return length_ns_ > kLongestPauseNs; }
  void end() noexcept { length_ns_ = kFirstPauseNs; }

 private:
  std::uint64_t length_ns_ = kFirstPauseNs;
};

// Waits with the helper thread until there is room, and returns kNoRoom. Without a helper this thread waits in the
// kernel, then writes what fits, and returns the result of that write.
long wait_for_reader(Task* task, int fd, std::uint32_t calls, const char* bytes, std::size_t count) noexcept {
  if (wait_for_room(task, fd, calls)) return platform::kNoRoom;
  return platform::write(fd, bytes, count < kRoomBytes ? count : kRoomBytes, platform::kForever);
}

// Lets others on this worker run first. Returns until when the next try may wait: 0 (not at all) if others ran.
std::uint64_t wait_for_others(Task& task, std::uint64_t until_ns) noexcept {
  bool gave_way = false;
  for (;;) {
    Worker& worker = current_worker();
    worker.scheduler->idle_workers().poll_sources(worker, Timers::Whose::kOwn);
    if (!worker.scheduler->dispatcher().has_ready(worker)) return gave_way ? 0 : until_ns;
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
  // How much may be written before others are let in.
  [[nodiscard]] std::size_t left() const noexcept { return kPieceBytes - bytes_; }
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

struct Written {
  long bytes;  // as of platform::write()
  bool is_cancelled;
};

// Writes part of a piece, however long the reader takes. Meanwhile cancelled tasks stop waiting for the lock.
Written write_piece(Task* task, LockWaiter& waiter, int fd, const char* bytes, std::size_t count) noexcept {
  Pause pause;
  std::uint64_t until = 0;
  for (;;) {
    const long written = platform::write(fd, bytes, count, until);
    if (written != platform::kNoRoom) return {written, false};
    const std::uint32_t calls = room_calls();
    send_cancelled_away(waiter);
    if (task != nullptr && sees_cancel(*task)) return {0, true};
    if (!pause.was_last()) {
      until = task != nullptr ? wait_for_others(*task, pause.begin()) : pause.begin();
      continue;
    }
    const long late = wait_for_reader(task, fd, calls, bytes, count);
    if (late != platform::kNoRoom) return {late, false};
    until = 0;
  }
}

// `task` nullptr: the caller is a thread outside tasks, or a task of a deterministic runtime, whose order must not
// depend on the reader. A report function lends the lock to nobody, since it must not wait for it.
int write_pieces(Task* task, LockWaiter& waiter, int fd, const char* bytes, std::size_t count) noexcept {
  const bool lends = task != nullptr || (waiter.task == nullptr && platform::worker_slot() == nullptr);
  Share share(waiter);
  while (count != 0) {
    const std::size_t piece = lends && count > share.left() ? share.left() : count;
    const Written written = write_piece(task, waiter, fd, bytes, piece);
    if (written.is_cancelled) return kCancelledCode;
    if (written.bytes <= 0) return error_of_write(written.bytes);
    bytes += written.bytes;
    count -= static_cast<std::size_t>(written.bytes);
    if (count == 0 || !lends) continue;
    if (task != nullptr) let_others_run(*task);
    const int answer = share.after(static_cast<std::size_t>(written.bytes));
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
  const int result = write_pieces(gives_way ? task : nullptr, waiter, fd, bytes, count);
  if (waiter.state.load(std::memory_order_relaxed) == LockWaiter::kHolds) keyed_unlock(waiter);
  return result;
}

}  // namespace janus
