// SPDX-License-Identifier: Apache-2.0
// host_fault_test.cpp — a thread outside tasks passes a pointer to memory that cannot be accessed. The fault goes to
// the host program's own signal handler, and if that makes the page accessible, the call goes on.
#include <signal.h>
#include <sys/mman.h>

#include "rt/task/wait/user_memory.h"
#include "tests/api/world.h"

namespace janus::test {

namespace {

constexpr std::size_t kPage = 4096;

// Three pages; the second is inaccessible until the host's handler opens it. The handler was installed before any
// runtime, and a runtime's own handler forwards such faults to it.
class Wall {
 public:
  static Wall& only() {
    static Wall* const wall = new Wall;
    return *wall;
  }
  char* end() { return pages_ + kPage; }         // of the accessible first page
  char* behind() { return pages_ + 2 * kPage; }  // the third page, accessible
  void open() { CHECK_EQ(mprotect(end(), kPage, PROT_READ | PROT_WRITE), 0); }
  void close() {
    faults_ = 0;
    CHECK_EQ(mprotect(end(), kPage, PROT_NONE), 0);
  }
  int faults() const { return faults_; }  // faults that the host's handler got since close()

 private:
  Wall() {
    pages_ = static_cast<char*>(mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    CHECK(pages_ != MAP_FAILED);
    end_ = end();
    struct sigaction action {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    CHECK_EQ(sigaction(SIGSEGV, &action, nullptr), 0);
  }
  static void on_fault(int, siginfo_t* info, void*) {
    faults_ = faults_ + 1;
    if (info->si_addr == end_ && mprotect(end_, kPage, PROT_READ | PROT_WRITE) == 0) return;
    signal(SIGSEGV, SIG_DFL);  // an unexpected fault: die of it when it recurs
  }

  static char* end_;
  static volatile int faults_;
  char* pages_;
};
char* Wall::end_ = nullptr;
volatile int Wall::faults_ = 0;

// With a runtime, whose handler gets each fault first.
template <class Body>
void beside_a_runtime(Body body) {
  Wall& wall = Wall::only();
  const janus_rt_config config = with_workers(1);
  janus_rt* const rt = janus_rt_create(&config);
  REQUIRE(rt != nullptr);
  wall.open();
  body(wall);
  janus_rt_destroy(rt);
}

constexpr std::size_t kRoom = 32;

struct Read {
  char text[kRoom + 8];
  std::size_t length;
};

// Reads a string of `length` characters whose last `beyond` characters and terminator lie at or after the inaccessible
// page's start.
Read read_string(Wall& wall, std::size_t length, std::size_t beyond) {
  char* const from = wall.end() + beyond - length;
  for (std::size_t i = 0; i < length; ++i) from[i] = static_cast<char>('a' + i % 26);
  from[length] = '\0';
  wall.close();
  Read read;
  __builtin_memset(read.text, '#', sizeof read.text);
  read.length = read_user_string(read.text, kRoom, from);
  return read;
}

// True if the buffer holds as much of the string as fits, a terminator, and nothing after that.
bool is_start_of(const Read& read, std::size_t length) {
  const std::size_t expected = length < kRoom - 1 ? length : kRoom - 1;
  if (read.length != expected || read.text[expected] != '\0') return false;
  for (std::size_t i = 0; i < expected; ++i)
    if (read.text[i] != static_cast<char>('a' + i % 26)) return false;
  for (std::size_t i = expected + 1; i < sizeof read.text; ++i)
    if (read.text[i] != '#') return false;
  return true;
}

}  // namespace

TEST(host_fault, a_string_is_read_no_further_than_there_is_room) {
  beside_a_runtime([](Wall& wall) {
    const Read fits = read_string(wall, kRoom - 1, 0);  // the terminator is inaccessible but not needed
    CHECK(is_start_of(fits, kRoom - 1));
    CHECK_EQ(wall.faults(), 0);
  });
}

TEST(host_fault, a_string_goes_on_where_the_host_has_made_the_page_good) {
  beside_a_runtime([](Wall& wall) {
    for (const std::size_t length : {kRoom - 3, kRoom - 2, kRoom - 1, kRoom, kRoom + 1, kRoom + 20}) {
      for (const std::size_t beyond : {length - 1, length - 5, std::size_t{25}}) {
        wall.open();
        const Read read = read_string(wall, length, beyond);
        CHECK(is_start_of(read, length));
        CHECK_EQ(wall.faults(), 1);
      }
    }
    wall.open();
    const Read terminated = read_string(wall, 20, 0);  // the terminator is the first byte of the inaccessible page
    CHECK(is_start_of(terminated, 20));
    CHECK_EQ(wall.faults(), 1);
  });
}

TEST(host_fault, bytes_are_copied_both_ways_where_the_host_has_made_the_page_good) {
  beside_a_runtime([](Wall& wall) {
    char mine[64];
    char* const theirs = wall.end() - 20;
    for (std::size_t i = 0; i < sizeof mine; ++i) theirs[i] = static_cast<char>(i + 1);
    wall.close();
    read_user_bytes(mine, theirs, sizeof mine);
    CHECK(__builtin_memcmp(mine, theirs, sizeof mine) == 0);
    CHECK_EQ(mine[63], 64);
    CHECK_EQ(wall.faults(), 1);
    for (char& byte : mine) byte = static_cast<char>(~byte);
    wall.close();
    write_user_bytes(theirs, mine, sizeof mine);
    CHECK(__builtin_memcmp(mine, theirs, sizeof mine) == 0);
    CHECK_EQ(wall.faults(), 1);
    auto* const word = reinterpret_cast<std::atomic<std::uint64_t>*>(wall.end());
    word->store(0x0123456789abcdef);
    wall.close();
    CHECK_EQ(read_user_word(*word), 0x0123456789abcdefu);
    CHECK_EQ(wall.faults(), 1);
  });
}

TEST(host_fault, readable_memory_is_tested_without_a_fault_in_the_host) {
  beside_a_runtime([](Wall& wall) {
    wall.close();
    CHECK(is_readable(wall.end(), 0));
    CHECK(!is_readable(wall.end(), 1));
    CHECK(is_readable(wall.end() - 1, 1));
    CHECK(!is_readable(wall.end() - 1, 2));
    CHECK(is_readable(wall.end() - kPage, kPage));
    CHECK(!is_readable(wall.end() - kPage, kPage + 1));
    CHECK(!is_readable(wall.behind() - 1, 1));
    CHECK(!is_readable(wall.behind() - 1, 2));
    CHECK(is_readable(wall.behind(), kPage));
    CHECK(!is_readable(wall.end() - 1, kPage + 2));
    CHECK_EQ(wall.faults(), 0);
  });
}

TEST(host_fault, writable_memory_is_tested_without_a_fault_in_the_host) {
  beside_a_runtime([](Wall& wall) {
    wall.close();
    for (char* const at : {wall.end() - 1, wall.behind()}) *at = 7;
    CHECK(is_writable(wall.end(), 0));
    CHECK(!is_writable(wall.end(), 1));
    CHECK(is_writable(wall.end() - 1, 1));
    CHECK(!is_writable(wall.end() - 1, 2));
    CHECK(!is_writable(wall.behind() - 1, 1));
    CHECK(!is_writable(wall.behind() - 1, 2));
    CHECK(is_writable(wall.behind(), kPage));
    CHECK(!is_writable(wall.end() - 1, kPage + 2));
    for (const char* const at : {wall.end() - 1, wall.behind()}) CHECK_EQ(*at, 7);
    CHECK_EQ(wall.faults(), 0);
  });
}

}  // namespace janus::test
