// SPDX-License-Identifier: Apache-2.0
// virtio_test.cpp — queues, devices, disks and output with simulated devices: correct ones, and ones that lie, fail or
// do not answer. A simulated device makes its next step whenever a waiting caller reads the clock.
#include <cstring>
#include <initializer_list>
#include <new>

#include "kernel-free/console/console.h"
#include "kernel-free/devices/device.h"
#include "kernel-free/devices/disk.h"
#include "kernel-free/devices/find.h"
#include "kernel-free/devices/output.h"
#include "kernel-free/devices/random.h"
#include "kernel-free/smp/per_cpu.h"
#include "kernel-free/traps/careful_copy.h"
#include "rt/platform.h"
#include "tests/harness/test.h"

namespace {

using namespace janus::bare;

constexpr std::uint64_t kMillisecond = 1'000'000;

alignas(4096) unsigned char g_frames[512][4096];
std::size_t g_frames_taken = 0;
std::uint64_t g_now = 0;
char g_console[4096];
std::size_t g_console_bytes = 0;

// What arrives at the serial port and at the console device together.
char g_seen[1 << 20];
std::size_t g_seen_bytes = 0, g_seen_by_serial = 0;

void see(const void* bytes, std::size_t count) {
  if (g_seen_bytes + count > sizeof g_seen) return;
  std::memcpy(g_seen + g_seen_bytes, bytes, count);
  g_seen_bytes += count;
}

std::uint64_t random_word() {
  static std::uint64_t state = 88172645463325252;
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

// The rings as in the specification, as the device sees them.
struct Chain {
  std::uint64_t address;
  std::uint32_t bytes;
  std::uint16_t flags, next;
};
struct Available {
  std::uint16_t flags, index, ring[32];
};
struct Used {
  std::uint16_t flags, index;
  struct {
    std::uint32_t head, bytes;
  } ring[32];
};

// A device whose registers are plain memory: they keep what is written; features and sizes are set at construction.
struct FakeDevice {
  enum class Way { kGood, kSilent, kErrs, kShort, kIndexJumps, kIndexFalls, kOtherHead, kWildHead, kTooLong, kEndless };

  alignas(8) unsigned char registers[0x200] = {};
  Way way = Way::kGood;
  const unsigned char* image = nullptr;  // of a disk; without an image the device gives random numbers
  bool is_console = false;
  std::uint16_t seen = 0;
  unsigned answered = 0;

  template <class T>
  T& at(unsigned offset) {
    return *reinterpret_cast<T*>(registers + offset);
  }
  explicit FakeDevice(std::uint32_t most = 128, std::uint32_t features = 1) {
    at<std::uint32_t>(0x10) = features;
    at<std::uint32_t>(0x34) = most;
  }
  Transport transport() { return {kMmioRegisters, registers, registers + 0x50, registers + 0x100, 0}; }
  std::uint32_t status() { return at<std::uint32_t>(0x70); }
  std::uint32_t size() { return at<std::uint32_t>(0x38); }

  template <class T>
  T* shared(unsigned offset) {
    return reinterpret_cast<T*>(at<std::uint64_t>(offset));
  }

  // Answers the request, of which there is one at a time at most.
  void move() {
    if (way == Way::kSilent || (status() & 4) == 0 || shared<Available>(0x90)->index == seen) return;
    ++seen;
    const std::uint32_t written = answer();
    auto* const used = shared<Used>(0xa0);
    auto& entry = used->ring[(seen - 1) % size()];
    const std::uint32_t room = room_of();
    entry.head = way == Way::kOtherHead ? 1 : way == Way::kWildHead ? ~0u : 0;
    entry.bytes = way == Way::kTooLong   ? room + 1
                  : way == Way::kEndless ? ~0u
                  : way == Way::kShort   ? written - 1
                                         : written;
    used->index = static_cast<std::uint16_t>(seen + (way == Way::kIndexJumps ? 1 : way == Way::kIndexFalls ? -2 : 0));
    ++answered;
  }

  template <class F>
  void each_piece(F f) {
    const Chain* piece = shared<Chain>(0x80);
    for (unsigned n = 0;; piece = shared<Chain>(0x80) + piece->next, ++n) {
      REQUIRE(n < size());
      f(*piece);
      if ((piece->flags & 1) == 0) return;
    }
  }
  std::uint32_t room_of() {
    std::uint32_t room = 0;
    each_piece([&](const Chain& piece) { room += (piece.flags & 2) != 0 ? piece.bytes : 0; });
    return room;
  }
  std::uint32_t answer() {
    std::uint64_t from = 0;
    std::uint32_t written = 0, left = room_of();
    each_piece([&](const Chain& piece) {
      auto* const bytes = reinterpret_cast<unsigned char*>(piece.address);
      if ((piece.flags & 2) == 0) {
        if (is_console) see(bytes, piece.bytes);
        if (image != nullptr) std::memcpy(&from, bytes + 8, 8);
        return;
      }
      left -= piece.bytes;
      if (image != nullptr && left == 0)
        *bytes = way == Way::kErrs ? 1 : 0;
      else if (image != nullptr)
        std::memcpy(bytes, image + from * 512 + written, piece.bytes);
      else
        std::memset(bytes, 0x5a, piece.bytes);
      written += piece.bytes;
    });
    return written;
  }
};

FakeDevice* g_device = nullptr;          // the device that makes its step
FakeDevice* g_disks_of_machine[8] = {};  // the disks that the machine has
FakeDevice *g_source_of_machine = nullptr, *g_console_of_machine = nullptr;
const char* g_due_report = nullptr;

}  // namespace

// --- Symbols that the machine would define ---

namespace janus::bare {

std::uint64_t g_direct_map = 0;

Frame take_frame(LastFrames) noexcept {
  if (g_frames_taken == 512) return 0;
  return reinterpret_cast<Frame>(g_frames[g_frames_taken++]);
}

void print(const char* bytes, std::size_t count) noexcept {
  for (std::size_t n = 0; n < count && g_console_bytes < sizeof g_console - 1; ++n)
    g_console[g_console_bytes++] = bytes[n];
  g_console[g_console_bytes] = '\0';
}

Lock g_console_lock;

void print_at_last(std::uint16_t, const char* bytes, std::size_t count) noexcept {
  see(bytes, count);
  g_seen_by_serial += count;
}

void print_due_report() noexcept {
  if (g_due_report == nullptr) return;
  print_at_last(0, g_due_report, std::strlen(g_due_report));
  g_due_report = nullptr;
}

void wait_a_moment() noexcept {}

Transport find_device(DeviceKind kind, unsigned nth) noexcept {
  FakeDevice* const fake = kind == DeviceKind::kConsole  ? g_console_of_machine
                           : kind == DeviceKind::kRandom ? g_source_of_machine
                           : nth < 8                     ? g_disks_of_machine[nth]
                                                         : nullptr;
  if (fake == nullptr) return {};
  Transport found = fake->transport();
  found.queue = queue_of(kind);
  return found;
}

}  // namespace janus::bare

std::uint64_t janus::platform::now_ns() noexcept {
  if (g_device != nullptr) g_device->move();
  return g_now += kMillisecond;
}

static const void *g_end_of_caller = nullptr, *g_end_of_written = nullptr;
extern "C" std::size_t janus_copy_carefully(void* to, const void* from, std::size_t count) {
  std::size_t good = count;
  if (g_end_of_caller != nullptr) {
    const auto room = static_cast<std::size_t>(static_cast<const char*>(g_end_of_caller) - static_cast<char*>(to));
    if (room < good) good = room;
  }
  if (g_end_of_written != nullptr) {
    const auto left =
        static_cast<std::size_t>(static_cast<const char*>(g_end_of_written) - static_cast<const char*>(from));
    if (left < good) good = left;
  }
  std::memcpy(to, from, good);
  return count - good;
}

namespace {

using Way = FakeDevice::Way;
using Outcome = Device::Outcome;

Device::Result request(Device& device, FakeDevice& fake, std::uint32_t bytes) {
  static const Frame frame = take_frame();
  const Piece piece{frame, bytes, Direction::kFromDevice};
  g_device = &fake;
  const Device::Result result = device.request(&piece, 1, 1000 * kMillisecond);
  g_device = nullptr;
  return result;
}

TEST(virtio, a_device_is_begun_as_the_specification_says) {
  FakeDevice fake;
  Device device;
  REQUIRE(device.begin(fake.transport()));
  CHECK_EQ(fake.status(), 1u | 2u | 4u | 8u);
  CHECK_EQ(fake.at<std::uint32_t>(0x20), 1u);  // the upper half of the features: only VERSION_1
  CHECK_EQ(fake.at<std::uint32_t>(0x44), 1u);
  CHECK(fake.shared<Chain>(0x80) != nullptr && fake.at<std::uint64_t>(0x80) % 16 == 0);
  CHECK(fake.at<std::uint64_t>(0x90) % 2 == 0 && fake.at<std::uint64_t>(0xa0) % 4 == 0);
}

TEST(virtio, a_queue_is_as_long_as_the_device_allows) {
  const std::uint32_t sizes[][2] = {{1024, 32}, {32, 32}, {31, 16}, {5, 4}, {1, 1}};
  for (const auto& [most, size] : sizes) {
    FakeDevice fake(most);
    Device device;
    REQUIRE(device.begin(fake.transport()));
    CHECK_EQ(fake.size(), size);
    CHECK_EQ(device.most_pieces(), size);
  }
}

TEST(virtio, devices_without_version_1_or_a_queue_are_left_alone) {
  FakeDevice old(128, 0), without(0), busy;
  busy.at<std::uint32_t>(0x44) = 1;  // a reset does not clear it
  for (FakeDevice* fake : {&old, &without, &busy}) {
    Device device;
    CHECK(!device.begin(fake->transport()));
    CHECK_EQ(fake->status(), 128u);
    CHECK(request(device, *fake, 64).outcome == Outcome::kNotInUse);
  }
}

TEST(virtio, requests_are_answered_beyond_the_end_of_every_counter) {
  FakeDevice fake(4);
  Device device;
  REQUIRE(device.begin(fake.transport()));
  for (std::uint32_t n = 0; n < 70'000; ++n) {
    const Device::Result result = request(device, fake, n % 4096 + 1);
    REQUIRE(result.outcome == Outcome::kDone);
    REQUIRE(result.written == n % 4096 + 1);
  }
  CHECK_EQ(fake.answered, 70'000u);
}

TEST(virtio, a_device_that_lies_is_reset_and_not_asked_again) {
  for (const Way way :
       {Way::kIndexJumps, Way::kIndexFalls, Way::kOtherHead, Way::kWildHead, Way::kTooLong, Way::kEndless}) {
    FakeDevice fake;
    Device device;
    REQUIRE(device.begin(fake.transport()));
    REQUIRE(request(device, fake, 100).outcome == Outcome::kDone);
    fake.way = way;
    CHECK(request(device, fake, 100).outcome == Outcome::kInvalid);
    CHECK_EQ(fake.status(), 0u);
    fake.way = Way::kGood;
    CHECK(request(device, fake, 100).outcome == Outcome::kNotInUse);
    CHECK_EQ(fake.answered, 2u);
  }
}

TEST(virtio, a_device_that_is_silent_is_waited_for_no_longer_than_was_said) {
  FakeDevice fake;
  Device device;
  REQUIRE(device.begin(fake.transport()));
  fake.way = Way::kSilent;
  const std::uint64_t before = g_now;
  CHECK(request(device, fake, 100).outcome == Outcome::kTimedOut);
  CHECK(g_now - before >= 1000 * kMillisecond && g_now - before < 1100 * kMillisecond);
  CHECK(request(device, fake, 100).outcome == Outcome::kNotInUse);
}

// The used ring has random contents. The result must be an answer, and no address or number in the ring may be
// followed.
TEST(virtio, a_used_ring_of_random_bytes_is_never_more_than_an_answer) {
  unsigned done = 0;
  for (unsigned round = 0; round < 100'000; ++round) {
    g_frames_taken = 500;
    const Frame frame = take_frame();
    std::memset(g_frames[499], 0, 3 * sizeof g_frames[0]);
    Queue queue;
    queue.begin(frame, 8);
    const Piece pieces[] = {{0x1000, 100, Direction::kToDevice},
                            {0x2000, 200, Direction::kFromDevice},
                            {0x3000, 1, Direction::kFromDevice}};
    queue.publish(pieces, 3);
    auto* const used = reinterpret_cast<unsigned char*>(queue.used());
    for (unsigned n = 0; n < 68; ++n) used[n] = static_cast<unsigned char>(random_word() % 3 == 0 ? random_word() : 0);
    used[2] = static_cast<unsigned char>(random_word() % 3);
    used[3] = random_word() % 4 == 0 ? 1 : 0;
    unsigned char before[4096];
    std::memcpy(before, g_frames[500], sizeof before);
    const Queue::Answer answer = queue.look();
    const bool is_true = used[2] == 1 && used[3] == 0;
    CHECK(answer.kind != Queue::Answer::Kind::kValid || (is_true && answer.written <= 201));
    CHECK((answer.kind == Queue::Answer::Kind::kNone) == (used[2] == 0 && used[3] == 0));
    done += answer.kind == Queue::Answer::Kind::kValid;
    CHECK(std::memcmp(before, g_frames[500], sizeof before) == 0);
  }
  CHECK_GT(done, 100u);
  g_frames_taken = 100;
}

// --- Disks ---

constexpr std::size_t kImageSectors = 777, kImageBytes = kImageSectors * 512;
unsigned char g_image[kImageBytes + 64 * 1024];

Disk* put_disk(unsigned nth, FakeDevice& fake, std::uint64_t sectors = kImageSectors) {
  for (unsigned char& byte : g_image) byte = static_cast<unsigned char>(random_word());
  fake.image = g_image;
  fake.at<std::uint64_t>(0x100) = sectors;
  g_disks_of_machine[nth] = &fake;
  g_device = &fake;
  g_console_bytes = 0;
  return find_disk(nth);
}

bool console_holds(const char* text) {
  return std::strstr(g_console, text) != nullptr;
}

struct Caller {
  unsigned char before[16], bytes[200'000], behind[16];
  Caller() { std::memset(this, 0xee, sizeof *this); }
  char* to() { return reinterpret_cast<char*>(bytes); }
  [[nodiscard]] bool is_untouched_from(std::size_t first) const {
    for (const unsigned char* at = bytes + first; at != behind + sizeof behind; ++at)
      if (*at != 0xee) return false;
    for (const unsigned char byte : before)
      if (byte != 0xee) return false;
    return true;
  }
};

TEST(disk, reads_give_the_disks_content_and_write_nothing_else) {
  FakeDevice fake;
  Disk* const disk = put_disk(0, fake);
  REQUIRE(disk != nullptr);
  CHECK_EQ(bytes_of(*disk), kImageBytes);
  for (unsigned round = 0; round < 300; ++round) {
    static Caller caller;
    new (&caller) Caller;
    const std::uint64_t offset = random_word() % (kImageBytes + 600);
    const std::size_t count = random_word() % (round % 2 == 0 ? 2000 : sizeof caller.bytes);
    const std::size_t left = offset < kImageBytes ? kImageBytes - offset : 0, wanted = count < left ? count : left;
    REQUIRE(read_disk(*disk, caller.to(), count, offset) == static_cast<long>(wanted));
    CHECK(std::memcmp(caller.bytes, g_image + offset, wanted) == 0);
    CHECK(caller.is_untouched_from(wanted));
  }
  CHECK_EQ(read_disk(*disk, nullptr, 10, ~std::uint64_t{0}), 0);
  static Caller short_of_memory;
  g_end_of_caller = short_of_memory.bytes + 5000;
  CHECK_EQ(read_disk(*disk, short_of_memory.to(), 9000, 0), 5000);
  CHECK(short_of_memory.is_untouched_from(5000));
  g_end_of_caller = short_of_memory.bytes;
  CHECK_EQ(read_disk(*disk, short_of_memory.to(), 9000, 0), -14);
  g_end_of_caller = nullptr;
  CHECK(find_disk(0) == disk);
}

TEST(disk, a_short_queue_serves_as_well) {
  FakeDevice fake(4);
  Disk* const disk = put_disk(1, fake);
  REQUIRE(disk != nullptr);
  static Caller caller;
  CHECK_EQ(read_disk(*disk, caller.to(), 100'000, 100), 100'000);
  CHECK(std::memcmp(caller.bytes, g_image + 100, 100'000) == 0);
}

TEST(disk, errors_of_the_disk_are_errors_and_no_data) {
  FakeDevice fake;
  Disk* const disk = put_disk(2, fake);
  REQUIRE(disk != nullptr);
  for (const Way way : {Way::kErrs, Way::kShort}) {
    static Caller caller;
    new (&caller) Caller;
    fake.way = way;
    CHECK_EQ(read_disk(*disk, caller.to(), 5000, 0), -5);
    CHECK(caller.is_untouched_from(0));
    fake.way = Way::kGood;
    CHECK_EQ(read_disk(*disk, caller.to(), 5000, 0), 5000);
  }
  CHECK_EQ(g_console_bytes, 0u);
}

TEST(disk, a_disk_that_lies_or_is_silent_gives_an_error_in_time_and_a_line) {
  unsigned nth = 3;
  for (const Way way : {Way::kTooLong, Way::kSilent}) {
    FakeDevice fake;
    Disk* const disk = put_disk(nth++, fake);
    REQUIRE(disk != nullptr);
    static Caller caller;
    new (&caller) Caller;
    fake.way = way;
    const std::uint64_t before = g_now;
    CHECK_EQ(read_disk(*disk, caller.to(), 5000, 0), -5);
    CHECK_LT(g_now - before, 11'000 * kMillisecond);
    CHECK(console_holds(way == Way::kSilent ? "does not answer: it is not asked any more" : "answers what cannot be"));
    fake.way = Way::kGood;
    CHECK_EQ(read_disk(*disk, caller.to(), 5000, 0), -5);
    CHECK(caller.is_untouched_from(0));
    g_device = nullptr;
  }
}

TEST(disk, disks_with_invalid_geometry_are_ignored) {
  FakeDevice without_room(2), endless;
  CHECK(put_disk(5, without_room) == nullptr);
  CHECK(console_holds("disk 5 does not work"));
  CHECK(put_disk(6, endless, ~std::uint64_t{0}) == nullptr);
  CHECK(console_holds("disk 6 does not work"));
  CHECK(find_disk(7) == nullptr);
  CHECK(find_disk(25) == nullptr);
}

// A machine looks for its one source of random numbers once, so all of the device's life is in one test.
TEST(random, every_word_comes_from_the_device_once_until_the_device_fails) {
  static FakeDevice fake;
  g_source_of_machine = g_device = &fake;
  g_console_bytes = 0;
  std::uint64_t word = 0;
  for (unsigned n = 0; n < 32; ++n) REQUIRE(draw_from_device(word) && word == 0x5a5a'5a5a'5a5a'5a5a);
  CHECK_EQ(fake.answered, 1u);
  fake.way = Way::kShort;  // 255 bytes are 31 words
  for (unsigned n = 0; n < 31; ++n) REQUIRE(draw_from_device(word));
  CHECK_EQ(fake.answered, 2u);
  REQUIRE(draw_from_device(word));
  CHECK_EQ(fake.answered, 3u);
  fake.way = Way::kTooLong;
  for (unsigned n = 0; n < 30; ++n) REQUIRE(draw_from_device(word));
  CHECK_EQ(g_console_bytes, 0u);
  CHECK(!draw_from_device(word));
  CHECK(console_holds("the device of random numbers gives none"));
  fake.way = Way::kGood;
  CHECK(!draw_from_device(word));
  CHECK_EQ(fake.answered, 4u);
  g_device = nullptr;
}

// --- Output. Each test looks for the device anew, as if the machine had just started. ---

void start_output(FakeDevice* fake) {
  if (fake != nullptr) fake->is_console = true;
  g_console_of_machine = g_device = fake;
  g_seen_bytes = g_seen_by_serial = g_console_bytes = 0;
  g_frames_taken = 100;
  std::memset(g_frames[100], 0, 16 * sizeof g_frames[0]);
  find_output();
}

// Random text, so that no two parts are equal.
const char* text_of(std::size_t bytes) {
  static char text[300'000];
  for (std::size_t n = 0; n < bytes; ++n) text[n] = static_cast<char>(random_word());
  return text;
}

bool has_seen(const char* text, std::size_t bytes, std::size_t at = 0) {
  return at + bytes <= g_seen_bytes && std::memcmp(g_seen + at, text, bytes) == 0;
}

TEST(output, without_a_device_output_goes_to_the_serial_port) {
  start_output(nullptr);
  const char* const text = text_of(5000);
  CHECK_EQ(write_out(text, 5000), 5000u);
  CHECK(has_seen(text, 5000) && g_seen_by_serial == 5000 && g_console_bytes == 0);
}

TEST(output, a_report_of_the_machine_that_is_due_comes_before_it) {
  start_output(nullptr);
  g_due_report = "report\n";
  CHECK_EQ(write_out("abc", 3), 3u);
  CHECK_EQ(write_out("def", 3), 3u);
  CHECK(has_seen("report\nabcdef", 13) && g_seen_bytes == 13);
}

TEST(output, arrives_whole_and_in_order_by_queues_of_every_length) {
  for (const std::uint32_t most : {1u, 2u, 5u, 8u, 128u}) {
    static FakeDevice fake;
    fake = FakeDevice(most);
    start_output(&fake);
    CHECK_EQ(fake.at<std::uint32_t>(0x30), 1u);  // the transmit queue of the first port
    for (unsigned round = 0; round < 200; ++round) {
      const std::size_t bytes = round < 3 ? 4096 * round : random_word() % (round % 20 == 0 ? 300'000 : 300);
      const char* const text = text_of(bytes);
      g_seen_bytes = 0;
      REQUIRE(write_out(text, bytes) == bytes);
      REQUIRE(g_seen_bytes == bytes && has_seen(text, bytes));
    }
    CHECK_EQ(fake.at<std::uint32_t>(0x50), 1u);
    CHECK(g_seen_by_serial == 0 && g_console_bytes == 0);
    g_device = nullptr;
  }
}

TEST(output, a_write_of_memory_that_ends_early_writes_what_is_there) {
  static FakeDevice fake;
  for (FakeDevice* device : {&fake, static_cast<FakeDevice*>(nullptr)}) {
    start_output(device);
    const char* const text = text_of(50'000);
    for (const std::size_t there : {0u, 1u, 4096u, 5000u, 40'000u}) {
      g_seen_bytes = 0;
      g_end_of_written = text + there;
      CHECK_EQ(write_out(text, 50'000), there);
      CHECK(g_seen_bytes == there && has_seen(text, there));
    }
    g_end_of_written = nullptr;
  }
}

TEST(output, a_device_that_lies_or_is_silent_costs_a_line_and_no_byte) {
  for (const Way way : {Way::kSilent, Way::kIndexJumps, Way::kIndexFalls, Way::kOtherHead, Way::kWildHead,
                        Way::kTooLong, Way::kEndless}) {
    static FakeDevice fake;
    fake = FakeDevice();
    start_output(&fake);
    const char* const text = text_of(100'000);
    REQUIRE(write_out(text, 10) == 10u && has_seen(text, 10));
    fake.way = way;
    const std::uint64_t before = g_now;
    CHECK_EQ(write_out(text, 100'000), 100'000u);
    CHECK_LT(g_now - before, 11'000 * kMillisecond);
    fake.way = Way::kGood;
    CHECK_EQ(write_out(text, 700), 700u);
    CHECK_EQ(fake.answered, way == Way::kSilent ? 1u : 2u);
    CHECK_EQ(fake.status(), 0u);
    CHECK(has_seen(text, 100'000, g_seen_bytes - 100'700) && has_seen(text, 700, g_seen_bytes - 700));
    const char line[] = "\njanus: the console device ";
    CHECK(has_seen(line, sizeof line - 1, way == Way::kSilent ? 10 : 10 + 32'768));
    g_device = nullptr;
  }
}

TEST(output, a_broken_device_is_not_used_and_is_reported) {
  FakeDevice without_queue(0), old(128, 0);
  for (FakeDevice* fake : {&without_queue, &old}) {
    start_output(fake);
    CHECK(console_holds("janus: the console device does not work"));
    CHECK_EQ(write_out("abc", 3), 3u);
    CHECK(g_seen_by_serial == 3 && fake->answered == 0);
  }
  g_device = nullptr;
}

TEST(output, a_device_that_may_lack_the_first_port_is_left_alone) {
  FakeDevice several(128, 1 | 2);
  start_output(&several);
  CHECK_EQ(write_out("abc", 3), 3u);
  CHECK(g_seen_by_serial == 3 && g_console_bytes == 0 && several.status() == 0);
  g_device = nullptr;
}

TEST(output, without_memory_for_the_device_output_goes_to_the_serial_port) {
  FakeDevice fake;
  start_output(nullptr);
  g_console_of_machine = &fake;
  g_frames_taken = 511;  // the queue gets the last frame
  find_output();
  CHECK(console_holds("janus: the console device does not work"));
  CHECK_EQ(write_out("abc", 3), 3u);
  CHECK_EQ(g_seen_by_serial, 3u);
  g_frames_taken = 100;
}

}  // namespace
