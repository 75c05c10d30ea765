// SPDX-License-Identifier: Apache-2.0
// system_test.cpp: memory, files, clocks, errno and the ends of tasks: what the C library asks of the runtime, and what
// it makes of the answers.
#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <initializer_list>

#include "rt/include/janus/rt.h"
#include "tests/harness/test.h"
#include "tests/linker/c/runtime.h"

const char janus_abi_1 = 1;  // rt.h refers to this symbol, which a runtime would define

extern "C" {
extern char** jc_environ;
int* jc___errno_location();
void* jc_malloc(std::size_t);
void* jc_calloc(std::size_t, std::size_t);
void* jc_realloc(void*, std::size_t);
void* jc_reallocarray(void*, std::size_t, std::size_t);
void* jc_aligned_alloc(std::size_t, std::size_t);
int jc_posix_memalign(void**, std::size_t, std::size_t);
void jc_free(void*);
int jc_open(const char*, int, ...);
int jc_openat(int, const char*, int, ...);
ssize_t jc_read(int, void*, std::size_t);
ssize_t jc_write(int, const void*, std::size_t);
off_t jc_lseek(int, off_t, int);
int jc_close(int);
std::time_t jc_time(std::time_t*);
int jc_clock_gettime(int, std::timespec*);
std::clock_t jc_clock();
char* jc_getenv(const char*);
void jc_abort();
void jc_exit(int);
void jc__Exit(int);
void jc___assert_fail(const char*, const char*, unsigned, const char*);
void* jc___memcpy_chk(void*, const void*, std::size_t, std::size_t);
void* jc___memset_chk(void*, int, std::size_t, std::size_t);
char* jc___strcpy_chk(char*, const char*, std::size_t);
char* jc___strcat_chk(char*, const char*, std::size_t);
char* jc___strncat_chk(char*, const char*, std::size_t, std::size_t);
int jc___snprintf_chk(char*, std::size_t, int, std::size_t, const char*, ...);
int jc___sprintf_chk(char*, int, std::size_t, const char*, ...);
ssize_t jc___read_chk(int, void*, std::size_t, std::size_t);
int jc___open_2(const char*, int);
void jc___stack_chk_fail();
}

namespace {

int& our_errno() {
  return *jc___errno_location();
}

class NoMemory {
 public:
  NoMemory() { runtime::blocks_left = 0; }
  ~NoMemory() { runtime::blocks_left = -1; }
};

class AsTask {
 public:
  explicit AsTask(std::uint64_t id) : before_(runtime::current_task) { runtime::current_task = id; }
  ~AsTask() { runtime::current_task = before_; }

 private:
  std::uint64_t before_;
};

char small[8];

}  // namespace

TEST(system, errno_is_each_tasks_own_and_shared_outside) {
  our_errno() = 1;
  {
    const AsTask second(2);
    CHECK_EQ(our_errno(), 0);
    our_errno() = 2;
    const AsTask nobody(0);
    our_errno() = 3;
  }
  CHECK_EQ(our_errno(), 1);
  const AsTask second(2);
  CHECK_EQ(our_errno(), 2);
}

TEST(system, a_task_without_memory_has_an_errno) {
  const AsTask fifth(5);
  const NoMemory none;
  CHECK(jc_malloc(1) == nullptr);
  CHECK_EQ(our_errno(), ENOMEM);
}

TEST(system, no_memory_is_null_and_enomem) {
  our_errno() = 0;
  void* old = jc_malloc(10);
  {
    const NoMemory none;
    for (void* refused :
         {jc_malloc(8), jc_calloc(2, 8), jc_realloc(nullptr, 8), jc_realloc(old, 80), jc_aligned_alloc(64, 64)}) {
      CHECK(refused == nullptr);
      CHECK_EQ(our_errno(), ENOMEM);
    }
    our_errno() = 7;
    void* untouched = &small;
    CHECK_EQ(jc_posix_memalign(&untouched, 64, 64), ENOMEM);
    CHECK_EQ(our_errno(), 7);
    CHECK(untouched == &small);
  }
  jc_free(old);
}

TEST(system, sizes_that_overflow_and_alignments_that_are_none_are_refused) {
  our_errno() = 0;
  CHECK(jc_calloc(SIZE_MAX / 2, 3) == nullptr);
  CHECK_EQ(our_errno(), ENOMEM);
  void* block = jc_malloc(4);
  CHECK(jc_reallocarray(block, SIZE_MAX / 4, 8) == nullptr);
  CHECK(jc_aligned_alloc(24, 24) == nullptr);
  CHECK_EQ(our_errno(), EINVAL);
  void* aligned = nullptr;
  for (std::size_t alignment : {0u, 4u, 24u}) CHECK_EQ(jc_posix_memalign(&aligned, alignment, 8), EINVAL);
  CHECK_EQ(jc_posix_memalign(&aligned, 4096, 8), 0);
  CHECK_EQ(reinterpret_cast<std::uintptr_t>(aligned) % 4096, 0u);
  jc_free(aligned);
  jc_free(block);
  jc_free(nullptr);
}

TEST(system, calloc_clears_and_realloc_keeps) {
  auto* bytes = static_cast<unsigned char*>(jc_calloc(100, 3));
  for (int i = 0; i < 300; i++) REQUIRE(bytes[i] == 0);
  bytes[299] = 9;
  bytes = static_cast<unsigned char*>(jc_realloc(bytes, 100000));
  CHECK_EQ(bytes[299], 9);
  jc_free(bytes);
}

TEST(system, calloc_pays_for_what_it_clears_a_piece_at_a_time) {
  constexpr std::size_t kBytes = (std::size_t{3} << 20) + 5;
  runtime::paid = runtime::most_paid = 0;
  auto* bytes = static_cast<unsigned char*>(jc_calloc(kBytes, 1));
  CHECK_EQ(runtime::paid, kBytes / 4096);
  CHECK_LE(runtime::most_paid, 16u);
  for (std::size_t i = 0; i < kBytes; i++) REQUIRE(bytes[i] == 0);
  jc_free(bytes);
}

TEST(system, files_are_made_with_their_mode_and_read_back) {
  char path[] = "/tmp/janus-c-XXXXXX";
  close(mkstemp(path));
  unlink(path);
  const int fd = jc_open(path, O_CREAT | O_RDWR | O_EXCL, 0640);
  REQUIRE(fd >= 0);
  CHECK_EQ(jc_write(fd, "hello", 5), 5);
  CHECK_EQ(jc_lseek(fd, 1, SEEK_SET), 1);
  CHECK_EQ(jc_read(fd, small, sizeof small), 4);
  CHECK(memcmp(small, "ello", 4) == 0);
  CHECK_EQ(jc_close(fd), 0);
  CHECK_EQ(jc_open(path, O_CREAT | O_EXCL | O_WRONLY, 0600), -1);
  CHECK_EQ(our_errno(), EEXIST);
  CHECK_EQ(access(path, F_OK), 0);
  unlink(path);
  CHECK_EQ(jc_openat(AT_FDCWD, path, O_RDONLY), -1);
  CHECK_EQ(our_errno(), ENOENT);
  CHECK_EQ(jc_close(fd), -1);
  CHECK_EQ(our_errno(), EBADF);
}

TEST(system, the_runtimes_own_refusals_have_an_errno) {
  const struct {
    std::int64_t answer;
    int error;
  } table[] = {{JANUS_E_BUDGET, EDQUOT},  {JANUS_E_NO_CAP, EPERM},       {JANUS_E_NO_MEMORY, ENOMEM},
               {JANUS_E_INVALID, EINVAL}, {JANUS_E_UNSUPPORTED, ENOSYS}, {-4095, 4095}};
  for (const auto& row : table) {
    runtime::scripted_answer = row.answer;
    CHECK_EQ(jc_read(0, small, 1), -1);
    CHECK_EQ(our_errno(), row.error);
  }
  runtime::scripted_answer = 0;
}

TEST(system, clocks_agree_with_the_systems) {
  std::time_t also = 0;
  const std::time_t now = jc_time(&also);
  CHECK_EQ(now, also);
  CHECK_LE(std::time(nullptr) - now, 1);
  std::timespec time{};
  CHECK_EQ(jc_clock_gettime(CLOCK_MONOTONIC, &time), 0);
  CHECK_LT(time.tv_nsec, 1000000000);
  CHECK_EQ(jc_clock_gettime(77, &time), -1);
  CHECK_EQ(our_errno(), EINVAL);
  CHECK_LE(std::clock() - jc_clock(), CLOCKS_PER_SEC);
}

TEST(system, variables_are_found_by_their_whole_name) {
  char first[] = "PATHS=wrong", second[] = "PATH=right", third[] = "EMPTY=";
  char* variables[] = {first, second, third, nullptr};
  jc_environ = variables;
  CHECK_STREQ(jc_getenv("PATH"), "right");
  CHECK_STREQ(jc_getenv("EMPTY"), "");
  for (const char* name : {"PAT", "", "PATH=", "NONE"}) CHECK(jc_getenv(name) == nullptr);
}

TEST(system, abort_and_assert_panic_and_say_why) {
  CHECK(!runtime::survives([] { jc_abort(); }));
  CHECK_STREQ(runtime::panic_text, "abort() was called");
  CHECK(!runtime::survives([] { jc___assert_fail("1 == 2", "a.c", 12, "f"); }));
  CHECK_STREQ(runtime::panic_text, "a.c:12: f: assertion failed: 1 == 2");
}

TEST(system, exit_ends_the_program_with_its_status) {
  CHECK(!runtime::survives([] { jc_exit(7); }));
  CHECK_EQ(runtime::exit_status, 7);
  CHECK(!runtime::survives([] { jc__Exit(8); }));
  CHECK_EQ(runtime::exit_status, 8);
}

TEST(system, the_checked_forms_let_pass_what_fits) {
  CHECK(runtime::survives([] {
    jc___memcpy_chk(small, "1234567", 8, 8);
    jc___memset_chk(small, 'x', 8, 8);
    jc___strcpy_chk(small, "abc", 4);
    jc___strcat_chk(small, "def", 7);
    jc___strncat_chk(small, "ghi", 1, 8);
  }));
  CHECK_STREQ(small, "abcdefg");
  CHECK_EQ(jc___snprintf_chk(small, 8, 1, 8, "%d", 12345678), 8);
  CHECK_STREQ(small, "1234567");
  CHECK_EQ(jc___sprintf_chk(small, 1, 8, "%s", "ok"), 2);
}

TEST(system, the_checked_forms_panic_before_they_write_too_far) {
  using Body = void (*)();
  const Body bodies[] = {
      [] { jc___memcpy_chk(small, "123456789", 9, 8); },
      [] { jc___memset_chk(small, 0, 9, 8); },
      [] { jc___strcpy_chk(small, "12345678", 8); },
      [] { small[0] = 0, jc___strcat_chk(small, "12345678", 8); },
      [] { small[0] = 0, jc___strncat_chk(small, "12345678", 100, 8); },
      [] { jc___snprintf_chk(small, 9, 1, 8, "x"); },
      [] { jc___sprintf_chk(small, 1, 8, "%d", 12345678); },
      [] { jc___read_chk(0, small, 9, 8); },
      [] { jc___open_2("/tmp/x", O_CREAT | O_WRONLY); },
      [] { jc___open_2("/tmp", O_TMPFILE | O_WRONLY); },
  };
  for (Body body : bodies) {
    CHECK(!runtime::survives(body));
    CHECK_STREQ(runtime::panic_text, "buffer overflow detected");
  }
  CHECK(!runtime::survives([] { jc___stack_chk_fail(); }));
  CHECK_STREQ(runtime::panic_text, "stack smashing detected");
}
