// SPDX-License-Identifier: Apache-2.0
// tests/linux/kernel_eye.h — asks the kernel what a test must not try itself, runs the rest in child processes, and
// reads and writes files.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "arch/linux/kernel_call.h"
#include "rt/platform.h"

namespace janus::test {

using kernel::call;
using kernel::failed;

// System calls that only tests make.
enum : long {
  kOpen = 2,
  kMincore = 27,
  kFtruncate = 77,
  kUnlink = 87,
  kRmdir = 84,
  kMkdir = 83,
  kKill = 62,
  kFork = 57,
  kWait4 = 61,
  kExecve = 59,
  kSchedYield = 24,
  kPipe2 = 293,
  kSetresuid = 117,
  kChroot = 161,
  kChdir = 80,
  kPrlimit = 302,
  kSeccomp = 317,
  kMemfdCreate = 319,
  kMlockall = 151,
  kGeteuid = 107,
};

// True if the byte can be read. The kernel reads it in a write to a pipe, and answers EFAULT if it cannot.
inline bool is_readable(const void* byte) {
  int ends[2];
  if (failed(call(kPipe2, ends, 0))) return false;
  const bool readable = call(kernel::kWrite, ends[1], byte, 1) == 1;
  call(kernel::kClose, ends[0]);
  call(kernel::kClose, ends[1]);
  return readable;
}

// True on QEMU's emulated processor (TCG), which raises no SSE exceptions and no alignment checks, and whose time stamp
// counter Linux does not trust.
inline bool is_emulated() {
  std::uint32_t a = 1, b, c = 0, d;
  asm("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  if ((c >> 31) == 0) return false;  // no hypervisor
  a = 0x40000000;
  c = 0;
  asm("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return b == 0x54474354 && c == 0x43544743 && d == 0x47435447;  // TCGTCGTCGTCG
}

// Waits until `word` is `value`; false after ten seconds.
inline bool reaches(std::atomic<std::uint32_t>& word, std::uint32_t value) {
  const std::uint64_t until = platform::now_ns() + 10'000'000'000;
  for (std::uint32_t seen; (seen = word.load()) != value;) {
    if (platform::now_ns() > until) return false;
    platform::wait(word, seen, until);
  }
  return true;
}

inline void bump(std::atomic<std::uint32_t>& word) {
  word.fetch_add(1);
  platform::wake(word, ~0u);
}

// How a child process ended.
struct End {
  int status = -1;
  [[nodiscard]] bool exited(int code) const { return status == code << 8; }
  [[nodiscard]] bool died_of(int signal) const { return (status & 0x7f) == signal; }
};

inline End await_child(long child) {
  End end;
  if (failed(child)) return end;
  kernel::call_again(kWait4, child, &end.status, 0, nullptr);
  return end;
}

// Runs `body` in a child process of one thread, which exits with 0 if it returns true, else with 1.
template <typename Body>
End in_child(Body body) {
  const long child = call(kFork);
  if (child == 0) platform::exit(body() ? 0 : 1);
  return await_child(child);
}

// Makes the kernel answer `error` to a system call, from now on and for all children.
struct Filter {
  struct Instruction {
    std::uint16_t code;
    std::uint8_t yes, no;
    std::uint32_t value;
  };
  enum : std::uint16_t { kLoad = 0x20, kIfEqual = 0x15, kReturn = 0x06 };
  static constexpr std::uint32_t kAllow = 0x7fff0000, kErrno = 0x00050000;

  template <std::size_t kCount>
  static bool install(const Instruction (&list)[kCount]) {
    const struct {
      std::uint16_t count;
      const Instruction* list;
    } program = {kCount, list};
    call(kernel::kPrctl, 38, 1, 0, 0, 0);  // PR_SET_NO_NEW_PRIVS
    return !failed(call(kSeccomp, 1, 0, &program));
  }
};

inline bool refuse(long number, long error) {
  const Filter::Instruction list[] = {{Filter::kLoad, 0, 0, 0},
                                      {Filter::kIfEqual, 0, 1, static_cast<std::uint32_t>(number)},
                                      {Filter::kReturn, 0, 0, Filter::kErrno | static_cast<std::uint32_t>(error)},
                                      {Filter::kReturn, 0, 0, Filter::kAllow}};
  return Filter::install(list);
}

// As refuse(), but only if the lower half of argument `index` is `value`.
inline bool refuse_if(long number, long error, unsigned index, long value) {
  const Filter::Instruction list[] = {{Filter::kLoad, 0, 0, 0},
                                      {Filter::kIfEqual, 0, 3, static_cast<std::uint32_t>(number)},
                                      {Filter::kLoad, 0, 0, 16 + 8 * index},
                                      {Filter::kIfEqual, 0, 1, static_cast<std::uint32_t>(value)},
                                      {Filter::kReturn, 0, 0, Filter::kErrno | static_cast<std::uint32_t>(error)},
                                      {Filter::kReturn, 0, 0, Filter::kAllow}};
  return Filter::install(list);
}
inline bool refuse_advice(long error, long advice) {
  return refuse_if(kernel::kMadvise, error, 2, advice);
}

inline bool limit(int resource, std::uint64_t value) {
  const std::uint64_t both[2] = {value, value};
  return !failed(call(kPrlimit, 0, resource, both, nullptr));
}
inline constexpr int kLimitNproc = 6, kLimitAddresses = 9;

inline bool is_root() {
  return call(kGeteuid) == 0;
}

inline bool write_file(const char* path, const char* text) {
  const long fd = call(kOpen, path, 01 | 0100 | 01000, 0644);  // O_WRONLY | O_CREAT | O_TRUNC
  if (failed(fd)) return false;
  long bytes = 0;
  while (text[bytes] != '\0') ++bytes;
  const bool written = call(kernel::kWrite, fd, text, bytes) == bytes;
  call(kernel::kClose, fd);
  return written;
}

// The number at the beginning of a file of the kernel.
inline std::uint64_t first_number(const char* path) {
  char text[64] = {};
  const long fd = call(kOpen, path, 0, 0);
  if (failed(fd)) return 0;
  call(kernel::kRead, fd, text, sizeof text - 1);
  call(kernel::kClose, fd);
  std::uint64_t number = 0;
  for (const char* c = text; *c >= '0' && *c <= '9'; ++c) number = number * 10 + static_cast<std::uint64_t>(*c - '0');
  return number;
}

// The number of this process's mappings; 0 without /proc.
inline std::size_t count_mappings() {
  static char buffer[1 << 16];
  std::size_t lines = 0;
  const long fd = call(kOpen, "/proc/self/maps", 0, 0);
  if (failed(fd)) return 0;
  for (long got; (got = call(kernel::kRead, fd, buffer, sizeof buffer)) > 0;)
    for (long i = 0; i < got; ++i) lines += buffer[i] == '\n';
  call(kernel::kClose, fd);
  return lines;
}

}  // namespace janus::test
