// SPDX-License-Identifier: Apache-2.0
// command_line_test.cpp — how the single line that a loader passes is split into arguments and settings.
#include "kernel-free/firmware/command_line.h"

#include <initializer_list>

#include "tests/harness/test.h"

namespace {

using janus::bare::parse_command_line;
using janus::bare::pointers_for;
using janus::bare::Words;

struct Parsed {
  char line[256] = {};
  char* pointers[pointers_for(256)] = {};
  Words words;

  explicit Parsed(const char* text) {
    for (std::size_t n = 0; text[n] != '\0'; ++n) line[n] = text[n];
    words = parse_command_line(line, pointers);
  }
};

TEST(command_line, words_are_the_arguments) {
  const Parsed parsed("prog one  two\tthree ");
  REQUIRE(parsed.words.argc == 4);
  CHECK_STREQ(parsed.words.argv[0], "prog");
  CHECK_STREQ(parsed.words.argv[1], "one");
  CHECK_STREQ(parsed.words.argv[2], "two");
  CHECK_STREQ(parsed.words.argv[3], "three");
  CHECK(parsed.words.argv[4] == nullptr);
  CHECK(parsed.words.envp[0] == nullptr);
}

TEST(command_line, settings_before_the_first_other_word_are_the_environment) {
  const Parsed parsed("JANUS_WORKERS=2 JANUS_SEED=7 prog JANUS_PIN=1");
  REQUIRE(parsed.words.argc == 2);
  CHECK_STREQ(parsed.words.envp[0], "JANUS_WORKERS=2");
  CHECK_STREQ(parsed.words.envp[1], "JANUS_SEED=7");
  CHECK(parsed.words.envp[2] == nullptr);
  CHECK_STREQ(parsed.words.argv[0], "prog");
  CHECK_STREQ(parsed.words.argv[1], "JANUS_PIN=1");
}

TEST(command_line, a_word_that_only_looks_like_a_setting_is_an_argument) {
  const Parsed parsed("JANUS_ x");
  REQUIRE(parsed.words.argc == 2);
  CHECK_STREQ(parsed.words.argv[0], "JANUS_");
}

TEST(command_line, quotes_keep_spaces_and_empty_words) {
  const Parsed parsed("prog \"a b\" \"\" c\"d e\"f");
  REQUIRE(parsed.words.argc == 4);
  CHECK_STREQ(parsed.words.argv[1], "a b");
  CHECK_STREQ(parsed.words.argv[2], "");
  CHECK_STREQ(parsed.words.argv[3], "cd ef");
}

TEST(command_line, a_backslash_keeps_what_follows) {
  const Parsed parsed("prog a\\ b \\\"q\\\" \"in \\\" quotes\" \\\\ end\\");
  REQUIRE(parsed.words.argc == 6);
  CHECK_STREQ(parsed.words.argv[1], "a b");
  CHECK_STREQ(parsed.words.argv[2], "\"q\"");
  CHECK_STREQ(parsed.words.argv[3], "in \" quotes");
  CHECK_STREQ(parsed.words.argv[4], "\\");
  CHECK_STREQ(parsed.words.argv[5], "end\\");
}

TEST(command_line, an_empty_line_still_has_a_name) {
  for (const char* text : {"", "   ", "JANUS_STATS=1"}) {
    const Parsed parsed(text);
    CHECK_EQ(parsed.words.argc, 1);
    CHECK_STREQ(parsed.words.argv[0], "program");
    CHECK(parsed.words.argv[1] == nullptr);
  }
}

TEST(command_line, the_pointers_suffice_for_the_most_words) {
  const Parsed parsed("a b c d e f g h i j k l m n o p q r s t u v w x y z");
  CHECK_EQ(parsed.words.argc, 26);
  CHECK_LE(static_cast<std::size_t>(parsed.words.devices + 1 - parsed.words.envp), pointers_for(51));
}

TEST(command_line, words_about_devices_at_the_end_are_no_arguments) {
  const Parsed parsed(
      "JANUS_SEED=7 prog virtio_mmio.device=x a virtio_mmio.device=512@0xfeb00e00:12 virtio_mmio.device=1 ");
  REQUIRE(parsed.words.argc == 3);
  CHECK_STREQ(parsed.words.argv[0], "prog");
  CHECK_STREQ(parsed.words.argv[1], "virtio_mmio.device=x");
  CHECK_STREQ(parsed.words.argv[2], "a");
  CHECK(parsed.words.argv[3] == nullptr);
  CHECK_STREQ(parsed.words.devices[0], "512@0xfeb00e00:12");
  CHECK_STREQ(parsed.words.devices[1], "1");
  CHECK(parsed.words.devices[2] == nullptr);
  CHECK_STREQ(parsed.words.envp[0], "JANUS_SEED=7");
  CHECK(parsed.words.envp[1] == nullptr);
}

TEST(command_line, devices_alone_leave_a_program_with_a_name) {
  for (const char* text :
       {"virtio_mmio.device=a virtio_mmio.device=b", "JANUS_SEED=7 virtio_mmio.device=a virtio_mmio.device=b"}) {
    const Parsed parsed(text);
    REQUIRE(parsed.words.argc == 1);
    CHECK_STREQ(parsed.words.argv[0], "program");
    CHECK(parsed.words.argv[1] == nullptr);
    CHECK_STREQ(parsed.words.devices[0], "a");
    CHECK_STREQ(parsed.words.devices[1], "b");
    CHECK(parsed.words.devices[2] == nullptr);
  }
}

TEST(command_line, without_devices_their_list_is_empty) {
  for (const char* text : {"", "prog", "virtio_mmio.device=a prog", "prog virtio_mmio.devices=a"}) {
    const Parsed parsed(text);
    CHECK(parsed.words.devices[0] == nullptr);
  }
}

}  // namespace
