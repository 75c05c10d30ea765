// SPDX-License-Identifier: Apache-2.0
// hosted.h — the functions of rt/platform.h that tests may replace, under other names: seam.cpp forwards to them
// unchanged, tests/fake_platform adds scripted faults and virtual time. docs/decisions/0041
#pragma once

#include "rt/platform.h"

namespace janus::hosted {

std::byte* map(std::size_t bytes) noexcept;
// Not of rt/platform.h: whether ThreadSanitizer can be made to forget the accesses to memory at `at`.
bool is_forgettable(const std::byte* at) noexcept;
void unmap(std::byte* pages, std::size_t bytes) noexcept;
void discard(std::byte* pages, std::size_t bytes) noexcept;
platform::Guard guard(std::byte* first, std::size_t stride, std::size_t count, std::size_t guard_bytes,
                      std::size_t& guarded) noexcept;
std::uint64_t memory_limit() noexcept;

void cpus(platform::Cpus& out) noexcept;
bool start_thread(platform::ThreadEntry entry, void* arg, int cpu, const char* name) noexcept;

void wait(std::atomic<std::uint32_t>& word, std::uint32_t seen, std::uint64_t until_ns) noexcept;
void wake(std::atomic<std::uint32_t>& word, std::uint32_t count) noexcept;
void heavy_fence() noexcept;
bool has_heavy_fence() noexcept;
std::uint64_t now_ns() noexcept;
std::uint64_t thread_ns() noexcept;
std::uint64_t preemptions() noexcept;
std::int64_t unix_time_ns() noexcept;
bool entropy(void* bytes, std::size_t count) noexcept;

}  // namespace janus::hosted
