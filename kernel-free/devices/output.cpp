// SPDX-License-Identifier: Apache-2.0
// output.cpp — virtio-console: virtual I/O device specification 1.2, 5.3. Only a device with one port is used: of
// several (VIRTIO_CONSOLE_F_MULTIPORT) the first may be missing, and the device would still accept output for it. Only
// the transmit queue is used, since there is no input. Interrupts stay off while the code waits for the device, as for
// the serial port, so that all output is in one order, also across devices.
#include "kernel-free/devices/output.h"

#include "kernel-free/console/line.h"
#include "kernel-free/devices/device.h"
#include "kernel-free/devices/find.h"
#include "kernel-free/smp/per_cpu.h"
#include "kernel-free/traps/careful_copy.h"

namespace janus::bare {
namespace {

constexpr std::uint64_t kTimeoutNs = 10'000'000'000;
constexpr unsigned kMultiport = 1;
constexpr unsigned kMaxFrames = 8;  // 32 KiB at a time

// Protected by g_console_lock, once find_output() has set it up. frame_count drops to 0 at most once.
struct Output {
  Device device;
  Frame frames[kMaxFrames];
  unsigned frame_count;  // 0: output goes to the serial port
  Piece pieces[kMaxFrames];
};
Output g_output{};

bool begin(Output& output) {
  const unsigned most = output.device.most_pieces() < kMaxFrames ? output.device.most_pieces() : kMaxFrames;
  while (output.frame_count < most && (output.frames[output.frame_count] = take_frame()) != 0) ++output.frame_count;
  return output.frame_count != 0;
}

// Copies the caller's bytes into the frames; returns how many could be copied.
std::size_t fill(const Output& output, const char* bytes, std::size_t count) {
  for (std::size_t done = 0; done < count; done += kPage) {
    const std::size_t piece = count - done < kPage ? count - done : kPage;
    const std::size_t missing =
        janus_copy_carefully(at_physical<char>(output.frames[done / kPage]), bytes + done, piece);
    if (missing != 0) return done + piece - missing;
  }
  return count;
}

void print_frames(const Output& output, std::size_t count) {
  for (std::size_t done = 0; done < count; done += kPage)
    print_at_last(kConsolePort, at_physical<char>(output.frames[done / kPage]),
                  count - done < kPage ? count - done : kPage);
}

[[gnu::noinline]] void complain(const char* what) {
  Line line;
  line.text("\njanus: the console device ")
      .text(what)
      .text(": output goes on by the serial port, beginning with the last piece");
  line.print_at_last(kConsolePort);
}

// Sends the bytes in the frames. If the device fails, it is unknown how many it has shown, so all are printed again on
// the serial port.
void send(Output& output, std::size_t count) {
  unsigned used = 0;
  for (std::size_t done = 0; done < count; done += kPage, ++used)
    output.pieces[used] = {output.frames[used], static_cast<std::uint32_t>(count - done < kPage ? count - done : kPage),
                           Direction::kToDevice};
  const Device::Outcome outcome = output.device.request(output.pieces, used, kTimeoutNs).outcome;
  if (outcome == Device::Outcome::kDone) return;
  output.frame_count = 0;
  complain(outcome == Device::Outcome::kTimedOut ? "does not answer" : "answers what cannot be");
  print_frames(output, count);
}

// Writes as many bytes as fit into the frames; returns how many could be copied.
std::size_t write_piece(Output& output, const char* bytes, std::size_t count) {
  if (output.frame_count != 0) {
    const std::size_t most = output.frame_count * kPage;
    const std::size_t good = fill(output, bytes, count < most ? count : most);
    if (good != 0) send(output, good);
    return good;
  }
  char piece[128];
  const std::size_t length = count < sizeof piece ? count : sizeof piece;
  const std::size_t good = length - janus_copy_carefully(piece, bytes, length);
  print_at_last(kConsolePort, piece, good);
  return good;
}

}  // namespace

void find_output() noexcept {
  Output& output = g_output;
  output.frame_count = 0;
  const Transport transport = find_device(DeviceKind::kConsole, 0);
  if (!transport.is_there() || transport.offers(kMultiport)) return;
  if (!output.device.begin(transport) || !begin(output))
    Line{}.text("janus: the console device does not work as virtio 1.0 says: output goes by the serial port").print();
}

// A fault may fill a page of the caller's memory while the lock is held: filling never takes the console's lock.
std::size_t write_out(const char* bytes, std::size_t count) noexcept {
  LockGuard<kConsoleStack> guard(g_console_lock);
  print_due_report();
  std::size_t done = 0;
  while (done < count) {
    const std::size_t got = write_piece(g_output, bytes + done, count - done);
    done += got;
    if (got == 0) break;
  }
  return done;
}

}  // namespace janus::bare
