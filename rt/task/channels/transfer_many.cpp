// SPDX-License-Identifier: Apache-2.0
// rt/task/channels/transfer_many.cpp — sending and receiving several elements in one call: in parts, each under one hold of
// the channel's lock. Only the first element may wait, as that of a plain call does. So a task that waits at a channel
// always waits for one element, whatever call it is in.
#include "rt/task/channels/transfer_many.h"

#include "rt/task/account/charge.h"
#include "rt/task/channels/element.h"
#include "rt/task/channels/serve.h"
#include "rt/task/channels/transfer.h"
#include "rt/task/record/price.h"
#include "rt/task/record/runtime.h"
#include "rt/task/wait/slice.h"
#include "rt/task/wait/yield.h"

namespace janus {

namespace {

using arch::UserCopy;

// What a part returns when it has done as much as one hold of the lock may do.
constexpr int kPartDone = 0;

constexpr std::size_t fewest(std::size_t a, std::size_t b) noexcept {
  return a < b ? a : b;
}

template <Direction kDirection>
class ManyTransfers {
 public:
  ManyTransfers(Channel& channel, Task& self, void* elements, std::size_t count, std::uint32_t secret) noexcept
      : channel_(channel),
        self_(self),
        elements_(static_cast<std::byte*>(elements)),
        count_(count),
        secret_(secret),
        bytes_(channel.element_bytes),
        ops_charged_(ops_for(1)) {}

  int run() noexcept {
    for (;;) {
      int result = move_part();
      if (result == kOwnIsBad) [[unlikely]]
        panic_for_own();
      if (moved_ == 0 && result == kErrorWouldBlock) {
        result = move_first();
        if (result == 0 && count_ > 1) continue;
      }
      if (moved_ == 0) return result;
      if (moved_ == count_ || result != kPartDone || charge_ops(self_, take_ops_due()) != 0) break;
      let_others_run(self_);
    }
    settle();
    return static_cast<int>(moved_);
  }

 private:
  // --- One part, under the lock ---

  int move_part() noexcept {
    Worker* const worker = tasks_worker_of(*channel_.runtime);
    BiasedLock::Hold hold;
    if (!lock_alive(channel_, worker, &self_, secret_, hold)) [[unlikely]]
      return kErrorStale;
    BadWaits drops(worker);
    end_ = count_;
    if (bytes_ != 0) end_ = fewest(end_, moved_ + (bytes_ < price::kBytesAtOnce ? price::kBytesAtOnce / bytes_ : 1));
    served_in_part_ = 0;
    int result = kPartDone;
    while (moved_ != end_ && result == kPartDone && served_in_part_ < price::kWakesAtOnce)
      result = move_some(worker, drops);
    served_ += served_in_part_;
    channel_.lock.unlock(owner_in(channel_, worker), hold);
    return result;
  }

  // Moves an element to or from a task that waits, or a run of elements into or out of the buffer.
  int move_some(Worker* worker, BadWaits& drops) noexcept {
    constexpr Direction kOther = opposite(kDirection);
    if (kDirection == Direction::kReceive && channel_.count != 0) return take_run(worker, drops);
    if (!queue_of<kOther>(channel_).is_empty()) {
      if (pay_up_to(1) == 0) return kErrorBudget;
      const auto copy = [this](void* others) noexcept {
        return copy_between<kDirection, Path::kGeneral>(channel_, own(), others);
      };
      const Served how = serve_first<kOther>(worker, channel_, drops, copy);
      if (how == Served::kOwnIsBad) return kOwnIsBad;
      if (how == Served::kOne) {
        ++moved_;
        ++served_in_part_;
        return kPartDone;
      }
    }
    if (channel_.state == ChannelState::kClosed) return kErrorClosed;
    if (kDirection == Direction::kSend && channel_.count != channel_.capacity) return put_run();
    return kErrorWouldBlock;
  }

  int put_run() noexcept {
    std::size_t at = channel_.first + channel_.count;
    if (at >= channel_.capacity) at -= channel_.capacity;
    const std::size_t room = fewest(channel_.capacity - channel_.count, channel_.capacity - at);
    const std::size_t run = pay_up_to(fewest(end_ - moved_, room));
    if (run == 0) return kErrorBudget;
    if (copy_user_bytes(slot_at<Path::kGeneral>(channel_, at), own(), run * bytes_) != UserCopy::kDone)
      return kOwnIsBad;
    channel_.count += run;
    moved_ += run;
    return kPartDone;
  }

  int take_run(Worker* worker, BadWaits& drops) noexcept {
    const std::size_t first = channel_.first;
    std::size_t run = fewest(end_ - moved_, fewest(channel_.count, channel_.capacity - first));
    if (!channel_.senders.is_empty()) run = fewest(run, price::kWakesAtOnce - served_in_part_);
    run = pay_up_to(run);
    if (run == 0) return kErrorBudget;
    if (copy_user_bytes(own(), slot_at<Path::kGeneral>(channel_, first), run * bytes_) != UserCopy::kDone)
      return kOwnIsBad;
    channel_.first = first + run == channel_.capacity ? 0 : first + run;
    channel_.count -= run;
    moved_ += run;
    if (!channel_.senders.is_empty()) served_in_part_ += refill(worker, channel_, drops);
    return kPartDone;
  }

  // --- Without the lock ---

  // Waits, if need be.
  int move_first() noexcept {
    Worker* const worker = tasks_worker_of(*channel_.runtime);
    int result;
    if constexpr (kDirection == Direction::kSend)
      result = send<Path::kGeneral>(worker, &self_, channel_, elements_, secret_);
    else
      result = receive<Path::kGeneral>(worker, &self_, channel_, elements_, secret_);
    if (result == 0) moved_ = served_ = 1;
    return result;
  }

  [[noreturn, gnu::noinline, gnu::cold]] void panic_for_own() noexcept {
    if (moved_ == 0) moved_ = 1;  // for which the caller has paid
    settle();
    blame_caller();
    __builtin_trap();
  }

  // --- Paying ---

  // Draws the channel operations for up to `most` more elements, without waiting: more than the account has are not moved.
  // Returns for how many there are.
  std::size_t pay_up_to(std::size_t most) noexcept {
    const std::size_t have = paid_ - moved_;
    if (most > have && self_.is_caged())
      paid_ += runtime_of(current_worker()).accounts.draw_up_to(self_.account, Component::kChannelOps, most - have);
    else if (most > have)
      paid_ = moved_ + most;
    return fewest(most, paid_ - moved_);
  }

  // An element pays for its bytes, and beyond the first for the task that is served with it.
  [[nodiscard]] std::size_t ops_for(std::size_t elements) const noexcept {
    return elements * bytes_ / price::kBytesPerOp + (served_ > 1 ? served_ - 1 : 0);
  }
  std::int64_t take_ops_due() noexcept {
    const std::size_t due = ops_for(moved_) - ops_charged_;
    ops_charged_ += due;
    return static_cast<std::int64_t>(due);
  }
  void settle() noexcept {
    Worker& worker = current_worker();
    take_fuel_unchecked(worker, take_ops_due());
    worker.counters.channel_ops.add(moved_ - 1);
    if (paid_ != moved_ && self_.is_caged())
      runtime_of(worker).accounts.credit(self_.account, Component::kChannelOps, paid_ - moved_);
  }

  [[nodiscard]] std::byte* own() const noexcept { return elements_ + moved_ * bytes_; }

  Channel& channel_;
  Task& self_;
  std::byte* const elements_;
  const std::size_t count_;
  const std::uint32_t secret_;
  const std::size_t bytes_;  // of an element
  std::size_t moved_ = 0;    // elements
  std::size_t paid_ = 1;     // channel operations
  std::size_t served_ = 0;   // tasks; the first element counts as one if it has waited
  std::size_t ops_charged_;
  std::size_t end_ = 0;  // of the part: elements
  std::size_t served_in_part_ = 0;
};

}  // namespace

template <Direction kDirection>
int transfer_many(Channel& channel, Task& self, void* elements, std::size_t count, std::uint32_t secret) noexcept {
  return ManyTransfers<kDirection>(channel, self, elements, count, secret).run();
}
template int transfer_many<Direction::kSend>(Channel&, Task&, void*, std::size_t, std::uint32_t) noexcept;
template int transfer_many<Direction::kReceive>(Channel&, Task&, void*, std::size_t, std::uint32_t) noexcept;

}  // namespace janus
