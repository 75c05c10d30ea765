// SPDX-License-Identifier: Apache-2.0
// disk.cpp — virtio-blk: virtual I/O device specification 1.2, 5.2. Data is read into frames of the disk, and copied
// from there, so that the device never gets a caller's address.
#include "kernel-free/devices/disk.h"

#include "kernel-free/console/line.h"
#include "kernel-free/devices/device.h"
#include "kernel-free/devices/device_lock.h"
#include "kernel-free/devices/errors.h"
#include "kernel-free/devices/find.h"
#include "kernel-free/smp/per_cpu.h"
#include "kernel-free/traps/careful_copy.h"

namespace janus::bare {
namespace {

constexpr std::uint64_t kSector = 512, kMaxSectors = std::uint64_t{1} << 54, kTimeoutNs = 10'000'000'000;
constexpr unsigned kMaxDataFrames = 16;  // 64 KiB at a time

struct Header {
  static constexpr std::uint32_t kRead = 0;
  std::uint32_t kind, reserved;
  std::uint64_t sector;
};
constexpr std::uint32_t kStatusAt = 64;  // in the frame of the header
constexpr std::uint8_t kGood = 0, kUnset = 0xff;

}  // namespace

struct Disk {
  DeviceLock lock;
  enum class State : std::uint8_t { kUnknown, kAbsent, kWorks } state;
  unsigned number;
  std::uint64_t bytes;
  Device device;
  Frame control, data[kMaxDataFrames];
  unsigned data_frames;
  Piece pieces[kMaxDataFrames + 2];
};

namespace {

Disk g_disks[kMaxDisks]{};

bool take_frames(Disk& disk) {
  disk.control = take_frame();
  if (disk.control == 0 || disk.device.most_pieces() < 3) return false;
  const unsigned most = disk.device.most_pieces() - 2 < kMaxDataFrames ? disk.device.most_pieces() - 2 : kMaxDataFrames;
  while (disk.data_frames < most && (disk.data[disk.data_frames] = take_frame()) != 0) ++disk.data_frames;
  return disk.data_frames != 0;
}

bool begin(Disk& disk) {
  const Transport transport = find_device(DeviceKind::kDisk, disk.number);
  if (!transport.is_there()) return false;
  if (disk.device.begin(transport) && take_frames(disk)) {
    const std::uint64_t sectors = transport.read_config(0) | std::uint64_t{transport.read_config(4)} << 32;
    disk.bytes = sectors * kSector;
    if (sectors <= kMaxSectors) return true;
  }
  Line{}.text("janus: disk ").number(disk.number).text(" does not work as virtio 1.0 says").print();
  return false;
}

void complain(const Disk& disk, Device::Outcome outcome) {
  const char* const what = outcome == Device::Outcome::kInvalid    ? " answers what cannot be"
                           : outcome == Device::Outcome::kTimedOut ? " does not answer"
                                                                   : nullptr;
  if (what != nullptr)
    Line{}.text("janus: disk ").number(disk.number).text(what).text(": it is not asked any more").print();
}

// Reads `bytes`, whole sectors, into the data frames.
bool fetch(Disk& disk, std::uint64_t sector, std::uint32_t bytes) {
  auto* const header = at_physical<Header>(disk.control);
  auto* const status = at_physical<std::uint8_t>(disk.control + kStatusAt);
  *header = {Header::kRead, 0, sector};
  *status = kUnset;
  unsigned count = 0;
  disk.pieces[count++] = {disk.control, sizeof *header, Direction::kToDevice};
  for (std::uint32_t at = 0; at < bytes; at += kPage) {
    const std::uint32_t piece = bytes - at < kPage ? bytes - at : kPage;
    disk.pieces[count] = {disk.data[count - 1], piece, Direction::kFromDevice};
    ++count;
  }
  disk.pieces[count++] = {disk.control + kStatusAt, 1, Direction::kFromDevice};
  const Device::Result result = disk.device.request(disk.pieces, count, kTimeoutNs);
  if (result.outcome != Device::Outcome::kDone) complain(disk, result.outcome);
  return result.outcome == Device::Outcome::kDone && result.written == bytes + 1 && *status == kGood;
}

// Copies from the data frames, beginning at byte `skip`; returns how many bytes could be copied.
std::size_t copy_out(const Disk& disk, char* to, std::size_t skip, std::size_t count) {
  for (std::size_t done = 0; done < count;) {
    const std::size_t at = skip + done, rest = kPage - at % kPage;
    const std::size_t piece = count - done < rest ? count - done : rest;
    const std::size_t missing =
        janus_copy_carefully(to + done, at_physical<char>(disk.data[at / kPage] + at % kPage), piece);
    if (missing != 0) return done + piece - missing;
    done += piece;
  }
  return count;
}

}  // namespace

Disk* find_disk(unsigned nth) noexcept {
  if (nth >= kMaxDisks) return nullptr;
  Disk& disk = g_disks[nth];
  DeviceLockGuard guard(disk.lock);
  if (disk.state == Disk::State::kUnknown) {
    disk.number = nth;
    disk.state = begin(disk) ? Disk::State::kWorks : Disk::State::kAbsent;
  }
  return disk.state == Disk::State::kWorks ? &disk : nullptr;
}

Disk& disk_at(unsigned nth) noexcept {
  return g_disks[nth];
}

std::uint64_t bytes_of(const Disk& disk) noexcept {
  return disk.bytes;
}

long read_disk(Disk& disk, char* to, std::size_t count, std::uint64_t offset) noexcept {
  if (offset >= disk.bytes) return 0;
  const std::uint64_t left = disk.bytes - offset;
  const std::uint64_t wanted = count < left ? count : left;
  std::uint64_t done = 0;
  while (done < wanted) {
    DeviceLockGuard guard(disk.lock);
    const std::uint64_t at = offset + done, skip = at % kSector, most = disk.data_frames * kPage;
    const std::uint64_t span = skip + (wanted - done) < most ? skip + (wanted - done) : most;
    const std::uint64_t sectors = (span + kSector - 1) / kSector;
    if (!fetch(disk, at / kSector, static_cast<std::uint32_t>(sectors * kSector)))
      return done != 0 ? static_cast<long>(done) : kEIO;
    const std::size_t copied = copy_out(disk, to + done, skip, span - skip);
    done += copied;
    if (copied != span - skip) return done != 0 ? static_cast<long>(done) : kEFAULT;
  }
  return static_cast<long>(done);
}

}  // namespace janus::bare
