// SPDX-License-Identifier: Apache-2.0
// runtime.cpp: the runtime's C interface, implemented with glibc, under the prefixed names that libjanus_c's objects
// use.
#include "tests/linker/c/runtime.h"
#include "rt/base/floating.h"

#include <unistd.h>
#include <cerrno>
#include <csetjmp>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace runtime {
std::uint64_t current_task = 1;
long blocks_left = -1;
std::uint64_t paid = 0, most_paid = 0;
std::int64_t scripted_answer = 0;
const char* panic_text = nullptr;
int exit_status = -1;
}  // namespace runtime

namespace {

std::jmp_buf* landing = nullptr;
char panic_copy[256];

[[noreturn]] void leave() {
  if (landing == nullptr) std::abort();
  std::longjmp(*landing, 1);
}

bool refused() {
  if (runtime::blocks_left == 0) return true;
  if (runtime::blocks_left > 0) runtime::blocks_left--;
  return false;
}

constexpr int kTasks = 8;

std::int64_t now(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return time.tv_sec * std::int64_t{1000000000} + time.tv_nsec;
}

}  // namespace

bool runtime::survives(void (*body)()) {
  std::jmp_buf here;
  landing = &here;
  panic_text = nullptr;
  exit_status = -1;
  const bool first = setjmp(here) == 0;
  if (first) body();
  landing = nullptr;
  return first;
}

extern "C" {

char jc_janus_abi_1;

void* jc_memcpy(void* to, const void* from, std::size_t count) {
  return memcpy(to, from, count);
}
void* jc_memmove(void* to, const void* from, std::size_t count) {
  return memmove(to, from, count);
}
void* jc_memset(void* bytes, int value, std::size_t count) {
  return memset(bytes, value, count);
}
int jc_memcmp(const void* left, const void* right, std::size_t count) {
  return memcmp(left, right, count);
}

void* jc_janus_alloc(std::size_t size) {
  return refused() ? nullptr : malloc(size);
}
void* jc_janus_alloc_aligned(std::size_t align, std::size_t size) {
  return refused() ? nullptr : aligned_alloc(align, (size + align - 1) / align * align);
}
void* jc_janus_realloc(void* block, std::size_t size) {
  return refused() ? nullptr : realloc(block, size);
}
void jc_janus_free(void* block) {
  free(block);
}

std::size_t jc_janus_write_floating(char* text, std::uint64_t bits, char conversion, int precision, bool keeps_point,
                                    std::size_t* zeros_at, std::size_t* zeros) {
  return janus::write_floating(text, bits, conversion, precision, keeps_point, zeros_at, zeros);
}
void jc_janus_pay(std::uint32_t ops) {
  runtime::paid += ops;
  if (ops > runtime::most_paid) runtime::most_paid = ops;
}
int jc_janus_yield() {
  return 0;
}

std::uint64_t jc_janus_task_id() {
  return runtime::current_task;
}
int* jc_janus_task_errno() {
  static int errnos[kTasks];
  return runtime::current_task == 0 ? nullptr : &errnos[runtime::current_task];
}

int jc_janus_hold_try(const void*) {
  return 1;  // there is only one task
}
void jc_janus_hold_end(const void*) {}

std::int64_t jc_janus_syscall(long number, ...) {
  if (runtime::scripted_answer != 0) return runtime::scripted_answer;
  long words[4];
  va_list values;
  va_start(values, number);
  for (long& word : words) word = va_arg(values, long);
  va_end(values);
  const long result = syscall(number, words[0], words[1], words[2], words[3]);
  return result < 0 ? -errno : result;
}

int jc_janus_write(int fd, const void* bytes, std::size_t count) {
  if (runtime::scripted_answer != 0) return static_cast<int>(runtime::scripted_answer);
  const auto* at = static_cast<const char*>(bytes);
  for (std::size_t done = 0; done < count;) {
    const ssize_t put = write(fd, at + done, count - done);
    if (put < 0) return -errno;
    done += static_cast<std::size_t>(put);
  }
  return 0;
}

std::uint64_t jc_janus_now_ns() {
  return static_cast<std::uint64_t>(now(CLOCK_MONOTONIC));
}
std::int64_t jc_janus_unix_time_ns() {
  return now(CLOCK_REALTIME);
}

void jc_janus_task_panic(const char* why) {
  strncpy(panic_copy, why, sizeof panic_copy - 1);
  runtime::panic_text = panic_copy;
  leave();
}

void jc_janus_panic_because(std::uint32_t, const char* why) {
  jc_janus_task_panic(why);
}

int jc_janus_may_exit() {
  return 1;  // as for a task that spends from the root's account
}
void jc_janus_has_written(int, int64_t) {}  // as where a closed pipe is an ordinary error
void jc_janus_exit(int status) {
  runtime::exit_status = status;
  leave();
}

void jc_janus_run_fini() {}

}  // extern "C"
