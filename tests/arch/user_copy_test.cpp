// SPDX-License-Identifier: Apache-2.0
// user_copy_test.cpp — copies that may fault: every small size, up to the end of accessible memory and one byte beyond,
// on either side. The next page is unmapped, a guard page or read-only; also tried are pointers that are not valid
// addresses.
#include <arch/user_copy.h>

#include <cstddef>
#include <cstdint>

#include "rt/platform.h"
#include "tests/harness/test.h"

namespace {

using namespace janus;
using arch::UserCopy;

constexpr std::size_t kPage = 4096;
constexpr long kMprotect = 10, kMunmap = 11, kWrite = 1, kEfault = 14;
constexpr long kRead = 1;  // PROT_READ

unsigned faults_seen;
platform::Fault last_fault;

bool go_on_at_fix_up(platform::Fault& fault) {
  ++faults_seen;
  last_fault = fault;
  fault.resume_ip = arch::find_fix_up(fault.ip);
  fault.keeps_registers = true;
  return fault.resume_ip != 0;
}

struct Handler {
  Handler() {
    (void)platform::adopt_thread(-1, nullptr);
    (void)platform::on_fault(go_on_at_fix_up);
    faults_seen = 0;
  }
  ~Handler() { platform::remove_fault_handler(); }
};

// What follows the accessible pages.
enum class Wall { kUnmapped, kGuard, kReadOnly };

// `kRoom` accessible bytes up to end(), where a wall follows.
class Area {
 public:
  static constexpr std::size_t kRoom = 3 * kPage;
  explicit Area(Wall wall) : first_(platform::map(kRoom + kPage)) {
    if (first_ == nullptr) return;
    const auto page = reinterpret_cast<long>(end());
    if (wall == Wall::kUnmapped) is_whole_ = platform::syscall(kMunmap, {page, kPage}) == 0;
    if (wall == Wall::kReadOnly) is_whole_ = platform::syscall(kMprotect, {page, kPage, kRead}) == 0;
    if (wall == Wall::kGuard) {
      std::size_t guarded = 0;
      is_whole_ = platform::guard(end(), kPage, 1, kPage, guarded) != platform::Guard::kNone && guarded == 1;
    }
  }
  ~Area() {
    if (first_ != nullptr) platform::unmap(first_, kRoom + kPage);
  }
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;

  [[nodiscard]] bool is_whole() const { return is_whole_; }
  [[nodiscard]] std::byte* end() const { return first_ + kRoom; }

 private:
  std::byte* first_;
  bool is_whole_ = false;
};

std::byte pattern(std::size_t i) {
  return static_cast<std::byte>(i * 167 + (i >> 8) * 13 + 1);
}

alignas(64) std::byte plain[8 * kPage];

// True if the `bytes` at plain + at are the beginning of the pattern and the bytes around them are zero.
bool is_only(std::size_t at, std::size_t bytes) {
  constexpr std::size_t kAround = 64;
  for (std::size_t i = at - kAround; i < at + bytes + kAround; ++i) {
    const bool is_inside = i >= at && i < at + bytes;
    if (plain[i] != (is_inside ? pattern(i - at) : std::byte{0})) return false;
  }
  return true;
}

void clear_plain() {
  for (std::byte& byte : plain) byte = std::byte{0};
}

// The next size to try: every size near 0 and near a page, and steps of 97 in between.
std::size_t after(std::size_t bytes) {
  return bytes + (bytes < 600 || (bytes > kPage - 40 && bytes < kPage + 40) ? 1 : 97);
}
constexpr std::size_t kSizes = 2 * kPage + 100;

void copies_from(Wall wall) {
  Handler handler;
  Area area(wall);
  REQUIRE(area.is_whole());
  bool right = true;
  for (std::size_t bytes = 0; bytes <= kSizes && right; bytes = after(bytes)) {
    const std::size_t at = 64 + bytes % 37;  // varies the alignment of the other side
    std::byte* const from = area.end() - bytes;
    for (std::size_t i = 0; i < bytes; ++i) from[i] = pattern(i);
    clear_plain();
    right = CHECK(janus_user_copy(plain + at, from, bytes) == UserCopy::kDone) && CHECK(is_only(at, bytes));
    for (std::size_t beyond = 1; beyond <= bytes && beyond <= 20 && right; ++beyond)
      right = CHECK(janus_user_copy(plain + at, from + beyond, bytes) == UserCopy::kBadSource) &&
              CHECK(last_fault.has_address) &&
              CHECK(last_fault.address >= reinterpret_cast<std::uint64_t>(area.end())) &&
              CHECK(last_fault.address < reinterpret_cast<std::uint64_t>(area.end() + kPage));
    if (!right) test::note("bytes", bytes);
  }
  CHECK_NE(faults_seen, 0u);
}

void copies_to(Wall wall) {
  Handler handler;
  Area area(wall);
  REQUIRE(area.is_whole());
  bool right = true;
  for (std::size_t bytes = 0; bytes <= kSizes && right; bytes = after(bytes)) {
    const std::size_t at = 64 + bytes % 37;
    for (std::size_t i = 0; i < bytes; ++i) plain[at + i] = pattern(i);
    std::byte* const to = area.end() - bytes;
    if (bytes != 0) to[-1] = std::byte{0x5a};
    right = CHECK(janus_user_copy(to, plain + at, bytes) == UserCopy::kDone);
    for (std::size_t i = 0; i < bytes && right; ++i) right = CHECK(to[i] == pattern(i));
    if (bytes != 0) right = CHECK(to[-1] == std::byte{0x5a}) && right;
    for (std::size_t beyond = 1; beyond <= bytes && beyond <= 20 && right; ++beyond)
      right = CHECK(janus_user_copy(to + beyond, plain + at, bytes) == UserCopy::kBadTarget);
    if (!right) test::note("bytes", bytes);
  }
  CHECK_NE(faults_seen, 0u);
}

TEST(user_copy, from_memory_that_ends_where_nothing_is_mapped) {
  copies_from(Wall::kUnmapped);
}
TEST(user_copy, from_memory_that_ends_at_a_guard) {
  copies_from(Wall::kGuard);
}
TEST(user_copy, to_memory_that_ends_where_nothing_is_mapped) {
  copies_to(Wall::kUnmapped);
}
TEST(user_copy, to_memory_that_ends_at_a_guard) {
  copies_to(Wall::kGuard);
}
TEST(user_copy, to_memory_that_ends_where_pages_may_only_be_read) {
  copies_to(Wall::kReadOnly);
}

TEST(user_copy, a_copy_is_exact_at_every_alignment_of_both_sides) {
  Handler handler;
  static std::byte from[256], to[256];
  for (std::size_t i = 0; i < sizeof from; ++i) from[i] = pattern(i);
  for (std::size_t a = 0; a < 16; ++a) {
    for (std::size_t b = 0; b < 16; ++b) {
      for (std::size_t bytes = 0; bytes <= 100; ++bytes) {
        for (std::byte& byte : to) byte = std::byte{0};
        REQUIRE(janus_user_copy(to + 16 + b, from + a, bytes) == UserCopy::kDone);
        for (std::size_t i = 0; i < sizeof to; ++i) {
          const bool is_inside = i >= 16 + b && i < 16 + b + bytes;
          REQUIRE(to[i] == (is_inside ? from[a + i - 16 - b] : std::byte{0}));
        }
      }
    }
  }
  CHECK_EQ(faults_seen, 0u);
}

TEST(user_copy, a_copy_with_two_bad_sides_blames_the_source) {
  Handler handler;
  CHECK(janus_user_copy(reinterpret_cast<void*>(0x10), reinterpret_cast<const void*>(0x20), 8) == UserCopy::kBadSource);
  CHECK_EQ(last_fault.address, 0x20u);
  CHECK(janus_user_copy(reinterpret_cast<void*>(0x10), reinterpret_cast<const void*>(0x20), 0) == UserCopy::kDone);
}

// A fault at these carries no address.
void* not_canonical() {
  return reinterpret_cast<void*>(0x8000'1234'5678'9abc);
}

TEST(user_copy, pointers_that_are_no_addresses) {
  Handler handler;
  std::uint64_t word = 7;
  std::byte bytes[64] = {};
  for (const std::size_t size : {1, 3, 5, 8, 12, 16, 33, 64}) {
    CHECK(janus_user_copy(bytes, not_canonical(), size) == UserCopy::kBadSource);
    CHECK(!last_fault.has_address);
    CHECK(janus_user_copy(not_canonical(), bytes, size) == UserCopy::kBadTarget);
    CHECK(!last_fault.has_address);
  }
  CHECK(!arch::load_user(not_canonical(), word));
  CHECK_EQ(word, 7u);
  CHECK(!arch::store_user(not_canonical(), 1));
  char name[8];
  CHECK_EQ(janus_user_copy_string(name, static_cast<const char*>(not_canonical()), sizeof name), -1);
}

TEST(user_copy, words_wherever_they_stand) {
  Handler handler;
  for (const Wall wall : {Wall::kUnmapped, Wall::kGuard}) {
    Area area(wall);
    REQUIRE(area.is_whole());
    for (std::size_t before = 1; before <= 24; ++before) {
      std::byte* const at = area.end() - before;
      const bool fits = before >= 8;
      std::uint64_t word = 1;
      CHECK_EQ(arch::store_user(at, 0x0123'4567'89ab'cdef), fits);
      CHECK_EQ(arch::load_user(at, word), fits);
      CHECK_EQ(word, fits ? 0x0123'4567'89ab'cdef : 1u);
      std::uint32_t half = 1;
      CHECK_EQ(arch::load_user(at, half), before >= 4);
      std::uint8_t byte = 1;
      CHECK(arch::load_user(at, byte));
      CHECK(!arch::load_user(area.end(), byte));
    }
  }
}

TEST(user_copy, a_word_is_swapped_if_it_is_as_expected) {
  Handler handler;
  alignas(8) std::uint64_t word = 5;
  std::uint64_t expected = 4;
  CHECK(arch::swap_user(&word, expected, 9) == arch::UserSwap::kDiffers);
  CHECK_EQ(expected, 5u);
  CHECK_EQ(word, 5u);
  CHECK(arch::swap_user(&word, expected, 9) == arch::UserSwap::kDone);
  CHECK_EQ(expected, 5u);
  CHECK_EQ(word, 9u);
  CHECK_EQ(faults_seen, 0u);
  CHECK(arch::swap_user(static_cast<std::uint64_t*>(not_canonical()), expected, 1) == arch::UserSwap::kFaulted);
  for (const Wall wall : {Wall::kUnmapped, Wall::kGuard, Wall::kReadOnly}) {
    Area area(wall);
    REQUIRE(area.is_whole());
    CHECK(arch::swap_user(reinterpret_cast<std::uint64_t*>(area.end()), expected, 1) == arch::UserSwap::kFaulted);
    auto* const last = reinterpret_cast<std::uint64_t*>(area.end() - 8);
    expected = *last;
    CHECK(arch::swap_user(last, expected, 77) == arch::UserSwap::kDone);
    CHECK_EQ(*last, 77u);
  }
  CHECK_EQ(faults_seen, 4u);
}

TEST(user_copy, a_word_that_may_only_be_read_is_read) {
  Handler handler;
  Area area(Wall::kReadOnly);
  REQUIRE(area.is_whole());
  std::uint64_t word = 1;
  CHECK(arch::load_user(area.end(), word));
  CHECK_EQ(word, 0u);
  CHECK(!arch::store_user(area.end(), 1));
  CHECK(!arch::store_user(area.end() - 4, 1));  // must not store half of the word
  CHECK(arch::load_user(area.end() - 8, word));
  CHECK_EQ(word, 0u);
}

TEST(user_copy, strings_are_read_to_their_end_or_the_limit_and_no_further) {
  Handler handler;
  Area area(Wall::kUnmapped);
  REQUIRE(area.is_whole());
  for (std::size_t length = 0; length <= 40; ++length) {
    auto* const text = reinterpret_cast<char*>(area.end()) - length - 1;
    for (std::size_t i = 0; i < length; ++i) text[i] = static_cast<char>('a' + i % 26);
    text[length] = '\0';
    char name[64] = {};
    CHECK_EQ(janus_user_copy_string(name, text, 31), length < 31 ? length : 31);
    for (std::size_t i = 0; i < sizeof name; ++i) CHECK_EQ(name[i], i < length && i < 31 ? text[i] : '\0');
    text[length] = 'z';  // no terminator before the wall
    CHECK_EQ(janus_user_copy_string(name, text, 31), length + 1 >= 31 ? 31 : -1);
  }
}

TEST(user_copy, the_kernels_answer_to_a_bad_pointer_is_returned) {
  Handler handler;
  CHECK_EQ(platform::syscall(kWrite, {2, 0x10, 8}), -kEfault);
  CHECK_EQ(faults_seen, 0u);
}

TEST(user_copy, only_entries_have_a_fix_up) {
  CHECK_EQ(arch::find_fix_up(0), 0u);
  CHECK_EQ(arch::find_fix_up(reinterpret_cast<std::uint64_t>(&platform::now_ns)), 0u);
  CHECK_EQ(arch::find_fix_up(reinterpret_cast<std::uint64_t>(&janus_user_copy)), 0u);
}

// A fault handler with keeps_registers continues at the fix-up with all registers unchanged (rt/platform.h).
TEST(user_copy, a_fault_that_goes_on_keeps_every_register_the_flags_and_the_vectors) {
  Handler handler;
  std::uint64_t sum = 0, flags = 0;
  static double kept[2] = {0, 0};
  static const double put[2] = {1.5, -2.5};
  asm volatile(
      "movups %[put], %%xmm7\n\t"
      "movq $1, %%rax\n\t movq $2, %%rcx\n\t movq $4, %%rdx\n\t movq $8, %%rsi\n\t movq $16, %%rdi\n\t"
      "movq $32, %%r8\n\t movq $64, %%r9\n\t movq $128, %%r10\n\t movq $256, %%r11\n\t movq $512, %%r12\n\t"
      "movq $1024, %%r13\n\t movq $2048, %%r14\n\t"
      "stc\n\t"
      ".Ltest_access%=: movq 0x10, %%rbx\n\t"
      "movq $0, %%rax\n\t"  // not reached
      ".Ltest_go_on%=: pushfq\n\t popq %%rbx\n\t"
      "addq %%rcx, %%rax\n\t addq %%rdx, %%rax\n\t addq %%rsi, %%rax\n\t addq %%rdi, %%rax\n\t"
      "addq %%r8, %%rax\n\t addq %%r9, %%rax\n\t addq %%r10, %%rax\n\t addq %%r11, %%rax\n\t addq %%r12, %%rax\n\t"
      "addq %%r13, %%rax\n\t addq %%r14, %%rax\n\t"
      "movups %%xmm7, %[kept]\n\t"
      ".pushsection janus_fixups, \"ao\", @progbits, .Ltest_access%=\n\t"
      ".p2align 2\n\t .long .Ltest_access%= - .\n\t .long .Ltest_go_on%= - .\n\t"
      ".popsection"
      : "=&a"(sum), "=&b"(flags), [kept] "=m"(kept)
      : [put] "m"(put)
      : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "xmm7", "cc", "memory");
  CHECK_EQ(faults_seen, 1u);
  CHECK_EQ(sum, 4095u);
  CHECK_EQ(flags & 1, 1u);
  CHECK(kept[0] == put[0] && kept[1] == put[1]);
}

}  // namespace
