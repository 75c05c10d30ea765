// SPDX-License-Identifier: Apache-2.0
// random.cpp — virtio-rng: virtual I/O device specification 1.2, 5.4. Requests kWords words at a time from the device,
// and gives each word out once.
#include "kernel-free/devices/random.h"

#include "kernel-free/console/line.h"
#include "kernel-free/devices/device.h"
#include "kernel-free/devices/device_lock.h"
#include "kernel-free/devices/find.h"

namespace janus::bare {
namespace {

constexpr std::uint32_t kWords = 32;
constexpr std::uint64_t kTimeoutNs = 2'000'000'000;

struct Source {
  DeviceLock lock;
  enum class State : std::uint8_t { kUnknown, kAbsent, kWorks } state;
  Device device;
  Frame frame;
  std::uint32_t left;  // words in the frame that were not given out yet
};
Source g_source{};

bool begin(Source& source) {
  const Transport transport = find_device(DeviceKind::kRandom, 0);
  if (!transport.is_there() || !source.device.begin(transport)) return false;
  source.frame = take_frame();
  return source.frame != 0;
}

// The device may give fewer bytes than requested; a part of a word is not used.
bool refill(Source& source) {
  const Piece piece{source.frame, kWords * sizeof(std::uint64_t), Direction::kFromDevice};
  const Device::Result result = source.device.request(&piece, 1, kTimeoutNs);
  source.left = result.outcome == Device::Outcome::kDone ? result.written / sizeof(std::uint64_t) : 0;
  if (source.left == 0) Line{}.text("janus: the device of random numbers gives none: it is not asked any more").print();
  return source.left != 0;
}

}  // namespace

bool draw_from_device(std::uint64_t& word) noexcept {
  Source& source = g_source;
  DeviceLockGuard guard(source.lock);
  if (source.state == Source::State::kUnknown)
    source.state = begin(source) ? Source::State::kWorks : Source::State::kAbsent;
  if (source.state == Source::State::kWorks && source.left == 0 && !refill(source))
    source.state = Source::State::kAbsent;
  if (source.state != Source::State::kWorks) return false;
  std::uint64_t& next = at_physical<std::uint64_t>(source.frame)[--source.left];
  word = next;
  next = 0;
  return true;
}

}  // namespace janus::bare
