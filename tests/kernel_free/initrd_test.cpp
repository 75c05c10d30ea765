// SPDX-License-Identifier: Apache-2.0
// initrd_test.cpp — archives, complete and damaged at every byte, and which files are found in them.
#include "kernel-free/files/initrd.h"

#include <cstdint>
#include <initializer_list>

#include "rt/platform.h"
#include "tests/harness/test.h"

namespace {

using janus::bare::Archive;
using janus::bare::Name;
using janus::bare::Node;

constexpr std::uint32_t kFile = Node::kRegular | 0644, kDirectory = Node::kDirectory | 0755;

// Writes what `cpio -H newc` would write.
struct Packer {
  alignas(4) char bytes[8192] = {};
  std::size_t count = 0;
  std::uint32_t next_inode = 100;

  void put(const char* text, std::size_t length) {
    for (std::size_t n = 0; n < length; ++n) bytes[count++] = text[n];
  }
  void pad() {
    while (count % 4 != 0) bytes[count++] = '\0';
  }
  void hex(std::uint64_t value) {
    for (int shift = 28; shift >= 0; shift -= 4) bytes[count++] = "0123456789abcdef"[value >> shift & 15];
  }
  static std::size_t length(const char* text) {
    std::size_t n = 0;
    while (text[n] != '\0') ++n;
    return n;
  }
  void add(const char* name, std::uint32_t mode, const char* data, std::uint32_t inode = 0, std::uint32_t links = 1) {
    put("070701", 6);
    const std::uint64_t fields[] = {
        inode != 0 ? inode : next_inode++, mode, 0, 0, links, 1234567, length(data), 0, 0, 0, 0, length(name) + 1, 0};
    for (const std::uint64_t field : fields) hex(field);
    put(name, length(name) + 1);
    pad();
    put(data, length(data));
    pad();
  }
  void end() { add("TRAILER!!!", 0, ""); }
};

Name name_of(const char* text) {
  return {text, Packer::length(text)};
}

bool is_text(const char* data, std::size_t bytes, const char* text) {
  if (bytes != Packer::length(text)) return false;
  for (std::size_t n = 0; n < bytes; ++n)
    if (data[n] != text[n]) return false;
  return true;
}

TEST(initrd, files_are_found_in_their_directories) {
  static Packer packer;
  packer.add(".", kDirectory, "");
  packer.add("./z", kFile, "last");
  packer.add("./dir", kDirectory, "");
  packer.add("./dir/sub", kDirectory, "");
  packer.add("./dir/sub/file", kFile, "deep");
  packer.add("./dir/a", kFile, "first");
  packer.add("./dir-x", kFile, "beside");
  packer.end();
  Archive archive;
  REQUIRE(archive.open(packer.bytes, packer.count) == Archive::Opened::kYes);
  CHECK_EQ(archive.count(), 7u);
  const std::size_t dir = archive.find(0, name_of("dir"));
  REQUIRE(dir < archive.count());
  const std::size_t sub = archive.find(dir, name_of("sub")), file = archive.find(sub, name_of("file"));
  REQUIRE(file < archive.count());
  CHECK(is_text(archive[file].data, archive[file].bytes, "deep"));
  CHECK_EQ(archive.parent(file), sub);
  CHECK_EQ(archive.parent(sub), dir);
  CHECK_EQ(archive.parent(dir), 0u);
  CHECK_EQ(archive.find(0, name_of("a")), archive.count());
  CHECK_EQ(archive.find(dir, name_of("su")), archive.count());
  CHECK_EQ(archive.find(dir, name_of("sub2")), archive.count());
}

TEST(initrd, a_directory_lists_what_is_in_it_and_nothing_below_or_beside) {
  static Packer packer;
  packer.add("dir/sub/deep", kFile, "");
  packer.add("dir-x", kFile, "");
  packer.add("dir", kDirectory, "");
  packer.add("dir/sub", kDirectory, "");
  packer.add("dir/b", kFile, "");
  packer.end();
  Archive archive;
  REQUIRE(archive.open(packer.bytes, packer.count) == Archive::Opened::kYes);
  const std::size_t dir = archive.find(0, name_of("dir"));
  const char* const expected[] = {"b", "sub"};
  std::size_t at = dir + 1, n = 0;
  for (; (at = archive.next_in(dir, at)) != archive.count(); ++at, ++n) {
    REQUIRE(n < 2);
    const Name name = archive.name_of(at);
    CHECK(is_text(name.text, name.bytes, expected[n]));
  }
  CHECK_EQ(n, 2u);
}

unsigned entries_in(const Archive& archive, std::size_t directory) {
  unsigned count = 0;
  for (std::size_t at = directory + 1; (at = archive.next_in(directory, at)) != archive.count(); ++at) ++count;
  return count;
}

TEST(initrd, the_last_entry_of_a_name_counts_and_a_directory_keeps_its_content) {
  static Packer packer;
  packer.add("dir", kDirectory, "");
  packer.add("dir/a", kFile, "first");
  packer.add("./dir", kDirectory, "");
  packer.add("dir/b", kFile, "");
  packer.add("dir/a", kFile, "second");
  packer.add("/dir/", kDirectory, "");
  packer.add("dir/a", kFile, "third");
  packer.end();
  Archive archive;
  REQUIRE(archive.open(packer.bytes, packer.count) == Archive::Opened::kYes);
  CHECK_EQ(entries_in(archive, 0), 1u);
  const std::size_t dir = archive.find(0, name_of("dir"));
  CHECK_EQ(entries_in(archive, dir), 2u);
  const Node& a = archive[archive.find(dir, name_of("a"))];
  CHECK(is_text(a.data, a.bytes, "third"));
}

TEST(initrd, entries_that_cannot_be_named_are_left_out) {
  static Packer packer;
  static char long_name[257];
  for (std::size_t n = 0; n < 256; ++n) long_name[n] = 'n';
  packer.add("..", kDirectory, "");
  packer.add("../up", kFile, "");
  packer.add("dir", kDirectory, "");
  packer.add("dir/.", kDirectory, "");
  packer.add("dir/..", kDirectory, "");
  packer.add("dir//empty", kFile, "");
  packer.add("...", kFile, "a name like others");
  packer.add(long_name, kFile, "too long");
  packer.add(long_name + 1, kFile, "as long as may be");
  packer.end();
  Archive archive;
  REQUIRE(archive.open(packer.bytes, packer.count) == Archive::Opened::kYes);
  CHECK_EQ(entries_in(archive, 0), 3u);
  CHECK_EQ(entries_in(archive, archive.find(0, name_of("dir"))), 0u);
  CHECK(archive.find(0, name_of("...")) != archive.count());
  CHECK(archive.find(0, name_of(long_name + 1)) != archive.count());
}

TEST(initrd, both_names_of_a_file_have_its_data) {
  static Packer packer;
  packer.add("one", kFile, "", 7, 2);
  packer.add("two", kFile, "shared", 7, 2);
  packer.end();
  Archive archive;
  REQUIRE(archive.open(packer.bytes, packer.count) == Archive::Opened::kYes);
  const Node& one = archive[archive.find(0, name_of("one"))];
  CHECK(is_text(one.data, one.bytes, "shared"));
}

TEST(initrd, an_archive_cut_off_anywhere_is_refused) {
  static Packer packer;
  packer.add("file", kFile, "some data that is longer than the header's padding");
  packer.end();
  for (std::size_t bytes = 0; bytes < packer.count; ++bytes) {
    Archive archive;
    const bool lacks_padding_alone = packer.count - bytes < 4 && bytes >= 110;
    if (lacks_padding_alone) continue;
    CHECK(archive.open(packer.bytes, bytes) == Archive::Opened::kDamaged);
  }
}

TEST(initrd, lengths_that_do_not_fit_are_refused) {
  for (const char* field : {"ffffffff", "7fffffff", "00002000"}) {
    for (const std::size_t place : {6u + 6 * 8, 6u + 11 * 8}) {
      static Packer packer;
      packer = {};
      packer.add("file", kFile, "data");
      packer.end();
      for (std::size_t n = 0; n < 8; ++n) packer.bytes[place + n] = field[n];
      Archive archive;
      CHECK(archive.open(packer.bytes, packer.count) == Archive::Opened::kDamaged);
    }
  }
}

TEST(initrd, many_files_are_sorted) {
  static Packer packer;
  char name[] = "f000";
  for (unsigned n = 0; n < 40; ++n) {
    const unsigned scrambled = n * 17 % 40;
    name[2] = static_cast<char>('0' + scrambled / 10);
    name[3] = static_cast<char>('0' + scrambled % 10);
    packer.add(name, kFile, name);
  }
  packer.end();
  Archive archive;
  REQUIRE(archive.open(packer.bytes, packer.count) == Archive::Opened::kYes);
  REQUIRE(archive.count() == 41);
  for (std::size_t n = 1; n < 41; ++n) {
    name[2] = static_cast<char>('0' + (n - 1) / 10);
    name[3] = static_cast<char>('0' + (n - 1) % 10);
    CHECK(is_text(archive[n].path.text, archive[n].path.bytes, name));
  }
}

}  // namespace
