// SPDX-License-Identifier: Apache-2.0
// backtrace_test.cpp — which frames a backtrace follows: those that lie entirely on the task's stack, the topmost and
// the lowest included. A damaged frame pointer ends the walk, wherever the pointer leads.
#include "rt/task/report/backtrace.h"

#include <arch/jump_back.h>

#include "tests/harness/test.h"

namespace janus::test {

namespace {

constexpr unsigned kWords = 128;
constexpr std::uint64_t kIp = 0xabc;

// A stack and the words around it. The return address of each frame made by frame() tells the number of its word, so
// the text shows which frames were read.
struct Ground {
  alignas(16) std::uint64_t below[4], words[kWords], above[4];
  Stack stack = {};
  Text<2048> text;

  Ground() {
    for (auto& word : below) word = 0xbad;
    for (auto& word : above) word = 0xbad;
    for (auto& word : words) word = 0xbad;
    stack.limit = reinterpret_cast<std::byte*>(words);
    stack.start = reinterpret_cast<std::byte*>(words + kWords);
  }
  std::uint64_t address(unsigned word) const { return reinterpret_cast<std::uint64_t>(&words[0] + word); }
  // Makes a frame at `word` whose caller's frame is at address `outer`.
  void frame(unsigned word, std::uint64_t outer) {
    words[word] = outer;
    words[word + 1] = 0x1000 + word;
  }
  const char* walked_from(std::uint64_t fp) {
    text.clear();
    append_frames(text, &stack, kIp, fp);
    return text.data();
  }
};

}  // namespace

TEST(backtrace, the_topmost_frame_and_the_lowest_are_part_of_the_stack) {
  static Ground ground;
  ground.frame(0, ground.address(10));
  ground.frame(10, ground.address(kWords - 2));
  ground.frame(kWords - 2, 0);
  CHECK_STREQ(ground.walked_from(ground.address(0)), "janus:   at 0xabc 0x1000 0x100a 0x107e\n");
}

TEST(backtrace, frames_outside_the_stack_are_not_read) {
  static Ground ground;
  const char* const nothing = "janus:   at 0xabc\n";
  const std::uint64_t low = ground.address(0), high = ground.address(kWords);
  for (const std::uint64_t fp : {low - 8, low - 16, high - 8, high, high + 8, std::uint64_t{0}, low + 1, low + 4})
    CHECK_STREQ(ground.walked_from(fp), nothing);
  // The same addresses as the saved frame pointer of a valid frame.
  for (const std::uint64_t outer : {low - 8, high - 8, high, high + 16, ground.address(30) + 1}) {
    ground.frame(4, outer);
    CHECK_STREQ(ground.walked_from(ground.address(4)), "janus:   at 0xabc 0x1004\n");
  }
}

// Each frame must lie above the one before it. Otherwise a frame that points to itself, or to one below, would be
// walked for ever.
TEST(backtrace, a_cycle_of_frames_and_a_null_return_address_end_the_walk) {
  static Ground ground;
  ground.frame(20, ground.address(20));
  CHECK_STREQ(ground.walked_from(ground.address(20)), "janus:   at 0xabc 0x1014\n");
  ground.frame(20, ground.address(40));
  ground.frame(40, ground.address(20));
  CHECK_STREQ(ground.walked_from(ground.address(20)), "janus:   at 0xabc 0x1014 0x1028\n");
  ground.words[41] = 0;
  CHECK_STREQ(ground.walked_from(ground.address(20)), "janus:   at 0xabc 0x1014\n");
}

// janus_jump_back() makes no frame of its own, so its return address is only in a word above the frame of the function
// that it called.
TEST(backtrace, the_caller_of_janus_jump_back_is_shown_in_its_place) {
  static Ground ground;
  const auto inside = reinterpret_cast<std::uint64_t>(janus_jump_back) + 7;
  ground.frame(8, ground.address(40));
  ground.words[9] = inside;
  ground.words[11] = 0x777;
  ground.frame(40, 0);
  CHECK_STREQ(ground.walked_from(ground.address(8)), "janus:   at 0xabc 0x777 0x1028\n");
  ground.words[11] = 0;
  CHECK_STREQ(ground.walked_from(ground.address(8)), "janus:   at 0xabc\n");
  // Where the word with the return address would lie beyond the stack.
  for (const unsigned word : {kWords - 2, kWords - 3}) {
    ground.frame(word, 0);
    ground.words[word + 1] = inside;
    CHECK_STREQ(ground.walked_from(ground.address(word)), "janus:   at 0xabc\n");
  }
}

TEST(backtrace, at_most_24_frames_are_listed) {
  static Ground ground;
  for (unsigned word = 0; word + 2 < kWords; word += 2) ground.frame(word, ground.address(word + 2));
  ground.frame(kWords - 2, 0);
  const char* const text = ground.walked_from(ground.address(0));
  unsigned told = 0;
  for (const char* at = text; *at != '\0'; ++at) told += *at == ' ' && at[1] == '0' ? 1 : 0;
  CHECK_EQ(told, 1 + 24u);
}

TEST(backtrace, no_frame_is_followed_on_an_unknown_stack) {
  static Ground ground;
  ground.frame(0, ground.address(2));
  append_frames(ground.text, nullptr, kIp, ground.address(0));
  CHECK_STREQ(ground.text.data(), "janus:   at 0xabc\n");
}

}  // namespace janus::test
