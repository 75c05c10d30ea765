// SPDX-License-Identifier: Apache-2.0
// seam.cpp — rt/platform.h for tests: each call follows the test's script, is counted, and then goes to the host.
#include "arch/hosted/hosted.h"
#include "tests/fake_platform/state.h"

namespace janus::platform {

using fake_platform::state;

namespace {

std::uintptr_t start_of(const std::byte* pages) {
  return reinterpret_cast<std::uintptr_t>(pages);
}

}  // namespace

std::byte* map(std::size_t bytes) noexcept {
  if (state().maps_refused.refuses_this_call()) return nullptr;
  const std::uint64_t live = state().mapped.bytes(), limit = state().mapped_limit;
  if (bytes > limit || live > limit - bytes) return nullptr;
  std::byte* pages = hosted::map(bytes);
  if (pages == nullptr) return nullptr;
  ++state().maps;
  state().mapped.add(start_of(pages), start_of(pages) + bytes);
  return pages;
}

void unmap(std::byte* pages, std::size_t bytes) noexcept {
  // Removed from the table before the pages are unmapped: another thread could get the same pages in between.
  if (!state().mapped.remove(start_of(pages), start_of(pages) + bytes))
    ++state().stray_unmaps;
  else
    hosted::unmap(pages, bytes);
}

void discard(std::byte* pages, std::size_t bytes) noexcept {
  state().discarded += bytes;
  if (!state().mapped.has(start_of(pages), start_of(pages) + bytes))
    ++state().stray_unmaps;
  else
    hosted::discard(pages, bytes);
}

void populate(std::byte*, std::size_t, std::uint64_t) noexcept {}  // only a hint, so it may be ignored
Guard guard(std::byte* first, std::size_t stride, std::size_t count, std::size_t guard_bytes,
            std::size_t& guarded) noexcept {
  const std::uint64_t limit = state().guard_limit, granted = state().guards;
  const std::uint64_t left = limit > granted ? limit - granted : 0;
  const Guard got = hosted::guard(first, stride, count < left ? count : left, guard_bytes, guarded);
  state().guards += guarded;
  return got == Guard::kNone ? Guard::kNone : state().guard_kind.load();
}

bool set_guards(std::byte*, std::size_t, std::size_t, std::size_t) noexcept {
  return false;
}
bool clear_guard(std::byte*, std::size_t) noexcept {
  return false;
}

std::uint64_t memory_limit() noexcept {
  const std::uint64_t scripted = state().memory_limit;
  return scripted != 0 ? scripted : hosted::memory_limit();
}

void cpus(Cpus& out) noexcept {
  hosted::cpus(out);
  if (state().allowed == 0) return;
  out = {};
  out.allowed = state().allowed;
  out.quota = state().quota;
  out.fractional = state().fractional;
  for (unsigned cpu = 0; cpu < out.allowed; ++cpu) out.ids[cpu] = static_cast<std::uint16_t>(cpu);
}

bool start_thread(ThreadEntry entry, void* arg, int cpu, const char* name) noexcept {
  if (state().threads_refused.refuses_this_call()) return false;
  if (!hosted::start_thread(entry, arg, cpu, name)) return false;
  ++state().threads;
  return true;
}

void wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::uint64_t until_ns) noexcept {
  if (word.load(std::memory_order_relaxed) != seen) return;  // the caller reads the word again, in its own order
  ++state().waits;
  // A sleep without a deadline ends and begins again every 50 ms, and each is counted. That is seldom, since some tests
  // have many idle workers.
  if (until_ns == kForever) return hosted::wait(word, seen, hosted::now_ns() + 50'000'000);
  std::uint64_t now = state().now;
  while (now < until_ns && !state().now.compare_exchange_weak(now, until_ns)) continue;
}

void wake(std::atomic<std::uint32_t>& word, std::uint32_t count) noexcept {
  ++state().wakes;
  state().asked_to_wake += count;
  hosted::wake(word, count);
}

bool has_heavy_fence() noexcept {
  return state().heavy_fence && hosted::has_heavy_fence();
}

void heavy_fence() noexcept {
  ++state().heavy_fences;
  if (has_heavy_fence()) hosted::heavy_fence();
}

std::uint64_t now_ns() noexcept {
  return state().now;
}
std::uint64_t thread_ns() noexcept {
  return state().thread_ns_hidden ? 0 : state().now - state().waited;
}
std::uint64_t preemptions() noexcept {
  return state().preemptions;
}
std::int64_t unix_time_ns() noexcept {
  return static_cast<std::int64_t>(state().now.load());
}

bool entropy(void* bytes, std::size_t count) noexcept {
  if (state().entropy_refused) return false;
  for (auto* at = static_cast<unsigned char*>(bytes); count != 0; --count, ++at)
    *at = static_cast<unsigned char>((++state().entropy * 0x9e3779b97f4a7c15u) >> 56);
  return true;
}

bool entropy_at_once(void* bytes, std::size_t count) noexcept {
  return entropy(bytes, count);
}

int open_alarm(AlarmHandler handler) noexcept {
  state().alarm_handler = handler;
  return 0;
}
void set_alarm(int, std::uint64_t first_ns, std::uint64_t period_ns) noexcept {
  state().alarm_first = first_ns;
  state().alarm_period = period_ns;
}
void close_alarm(int) noexcept {}

}  // namespace janus::platform
