// SPDX-License-Identifier: Apache-2.0
// seam.cpp — implements rt/platform.h by the functions of hosted.h, unchanged.
#include "arch/hosted/hosted.h"

namespace janus::platform {

std::byte* map(std::size_t bytes) noexcept {
  return hosted::map(bytes);
}
void unmap(std::byte* pages, std::size_t bytes) noexcept {
  hosted::unmap(pages, bytes);
}
void discard(std::byte* pages, std::size_t bytes) noexcept {
  hosted::discard(pages, bytes);
}
void populate(std::byte*, std::size_t, std::uint64_t) noexcept {}  // only a hint
Guard guard(std::byte* first, std::size_t stride, std::size_t count, std::size_t guard_bytes,
            std::size_t& guarded) noexcept {
  return hosted::guard(first, stride, count, guard_bytes, guarded);
}
bool set_guards(std::byte*, std::size_t, std::size_t, std::size_t) noexcept {
  return false;
}
bool clear_guard(std::byte*, std::size_t) noexcept {
  return false;
}
std::uint64_t memory_limit() noexcept {
  return hosted::memory_limit();
}

void cpus(Cpus& out) noexcept {
  hosted::cpus(out);
}
bool start_thread(ThreadEntry entry, void* arg, int cpu, const char* name) noexcept {
  return hosted::start_thread(entry, arg, cpu, name);
}

void wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::uint64_t until_ns) noexcept {
  hosted::wait(word, seen, until_ns);
}
void wake(std::atomic<std::uint32_t>& word, std::uint32_t count) noexcept {
  hosted::wake(word, count);
}
void heavy_fence() noexcept {
  hosted::heavy_fence();
}
bool has_heavy_fence() noexcept {
  return hosted::has_heavy_fence();
}
std::uint64_t now_ns() noexcept {
  return hosted::now_ns();
}
std::uint64_t thread_ns() noexcept {
  return hosted::thread_ns();
}
std::uint64_t preemptions() noexcept {
  return hosted::preemptions();
}
std::int64_t unix_time_ns() noexcept {
  return hosted::unix_time_ns();
}
bool entropy(void* bytes, std::size_t count) noexcept {
  return hosted::entropy(bytes, count);
}
bool entropy_at_once(void* bytes, std::size_t count) noexcept {
  return hosted::entropy(bytes, count);
}

// Sanitizers' runtimes delay signals, and do not know of frames that a handler leaves: there are no alarms.
int open_alarm(AlarmHandler) noexcept {
  return -1;
}
void set_alarm(int, std::uint64_t, std::uint64_t) noexcept {}
void close_alarm(int) noexcept {}

}  // namespace janus::platform
