// SPDX-License-Identifier: Apache-2.0
// device.cpp — starts a virtio device, and makes one request of it at a time. Virtual I/O Device specification, version
// 1.2, sections 3.1 (initialization) and 2.1 (status).
#include "kernel-free/devices/device.h"

#include <initializer_list>

#include <arch/cpu.h>

#include "kernel-free/smp/requests.h"
#include "rt/platform.h"

namespace janus::bare {
namespace {

enum Status : std::uint32_t {
  kReset = 0,
  kAcknowledge = 1,
  kDriver = 2,
  kDriverOk = 4,
  kFeaturesOk = 8,
  kFailed = 128,
};
constexpr std::uint64_t kResetTimeoutNs = 100'000'000;

bool reset(const Transport& transport) {
  transport.write(Register::kStatus, kReset);
  const std::uint64_t until = platform::now_ns() + kResetTimeoutNs;
  while (transport.read(Register::kStatus) != kReset) {
    if (platform::now_ns() >= until) return false;
    wait_a_moment();
  }
  return true;
}

}  // namespace

// Accepts version 1 and no other feature, since our requests need none.
bool Device::agree_on_features() const noexcept {
  constexpr unsigned kVersion1 = 32;
  if (!transport_.offers(kVersion1)) return false;
  for (const std::uint32_t half : {0u, 1u}) {
    transport_.write(Register::kDriverFeaturesSelect, half);
    transport_.write(Register::kDriverFeatures, half == kVersion1 / 32 ? 1 : 0);
  }
  transport_.write(Register::kStatus, kAcknowledge | kDriver | kFeaturesOk);
  return (transport_.read(Register::kStatus) & kFeaturesOk) != 0;
}

bool Device::begin_queue() noexcept {
  transport_.write(Register::kQueueSelect, transport_.queue);
  const std::uint32_t most = transport_.read(Register::kQueueMax);
  std::uint16_t size = Queue::kMax;
  while (size > most) size /= 2;
  if (size == 0 || transport_.read(Register::kQueueEnable) != 0) return false;
  const Frame frame = take_frame();
  if (frame == 0) return false;
  queue_.begin(frame, size);
  transport_.write(Register::kQueueSize, size);
  transport_.write_address(Register::kDescriptors, queue_.descriptors());
  transport_.write_address(Register::kAvailable, queue_.available());
  transport_.write_address(Register::kUsed, queue_.used());
  transport_.write(Register::kQueueEnable, 1);
  return true;
}

bool Device::begin(const Transport& transport) noexcept {
  BARE_ASSERT(transport.is_there());
  transport_ = transport;
  if (!reset(transport_)) return false;
  transport_.write(Register::kStatus, kAcknowledge);
  transport_.write(Register::kStatus, kAcknowledge | kDriver);
  works_ = agree_on_features() && begin_queue();
  transport_.write(Register::kStatus, works_ ? kAcknowledge | kDriver | kFeaturesOk | kDriverOk : kFailed);
  return works_;
}

void Device::give_up() noexcept {
  works_ = false;
  (void)reset(transport_);  // may fail without harm: the frames that the device knows are never freed
}

Device::Result Device::request(const Piece* pieces, unsigned count, std::uint64_t timeout_ns) noexcept {
  if (!works_) return {Outcome::kNotInUse, 0};
  BARE_ASSERT(count <= most_pieces());
  queue_.publish(pieces, count);
  arch::full_fence();  // the request is in memory before the device is told
  transport_.notify_queue();
  const std::uint64_t until = platform::now_ns() + timeout_ns;
  for (;;) {
    const Queue::Answer answer = queue_.look();
    using Kind = Queue::Answer::Kind;
    if (answer.kind == Kind::kValid) return {Outcome::kDone, answer.written};
    const bool is_late = answer.kind == Kind::kNone && platform::now_ns() >= until;
    if (answer.kind == Kind::kInvalid || is_late) {
      give_up();
      return {is_late ? Outcome::kTimedOut : Outcome::kInvalid, 0};
    }
    wait_a_moment();
  }
}

}  // namespace janus::bare
