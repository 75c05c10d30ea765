// SPDX-License-Identifier: Apache-2.0
// mappings.cpp — rt/platform.h's pages: reserved when mapped, filled at the first touch, guards that are truly absent.
#include "kernel-free/cpu/cpu.h"
#include "kernel-free/memory/addresses.h"
#include "kernel-free/traps/traps.h"
#include "rt/platform.h"

namespace janus::bare {
namespace {

Range range_of(const std::byte* pages, std::size_t bytes) {
  const auto begin = reinterpret_cast<std::uint64_t>(pages);
  return {begin, begin + bytes};
}

// A reserved page becomes a guard. False: no memory for its table. kIsFilled: somebody has touched it.
enum class Made : std::uint8_t { kYes, kNoMemory, kIsFilled };
Made make_guard(std::uint64_t address) {
  Entry* const entry = entry_of(address, 1);
  if (entry == nullptr) return Made::kNoMemory;
  Entry expected = absent(Absence::kReserved);
  std::atomic_ref<Entry> shared(*entry);
  if (shared.compare_exchange_strong(expected, absent(Absence::kGuard), std::memory_order_relaxed)) return Made::kYes;
  return (expected & kPresent) != 0 ? Made::kIsFilled : Made::kYes;
}

bool guard_one(std::uint64_t begin, std::size_t bytes) {
  for (std::uint64_t at = begin; at < begin + bytes; at += kPage) {
    Made made;
    {
      Sharing shared;
      made = make_guard(at);
    }
    if (made == Made::kNoMemory) return false;
    if (made == Made::kIsFilled) take_away({at, at + kPage}, Absence::kGuard);
  }
  return true;
}

}  // namespace
}  // namespace janus::bare

namespace janus::platform {

using namespace janus::bare;

std::byte* map(std::size_t bytes) noexcept {
  const unsigned power = block_for(bytes);
  Sharing shared;
  const std::uint64_t block = take_block(power);
  if (block == 0) return nullptr;
  if (!reserve({block, block + bytes})) {
    give_block(block, power);
    return nullptr;
  }
  return reinterpret_cast<std::byte*>(block);
}

void unmap(std::byte* pages, std::size_t bytes) noexcept {
  const unsigned power = block_for(bytes);
  const Range block = range_of(pages, std::size_t{1} << power);
  if ((block.begin & (block.end - block.begin - 1)) != 0) die("pages were given back that map() did not give", nullptr);
  take_away(block, Absence::kNothing);
  Sharing shared;
  give_block(block.begin, power);
}

void discard(std::byte* pages, std::size_t bytes) noexcept {
  take_away(range_of(pages, bytes), Absence::kReserved);
}

void populate(std::byte* first, std::size_t stride, std::uint64_t which) noexcept {
  for (; which != 0; which &= which - 1) {
    std::byte* const page = first + static_cast<std::size_t>(__builtin_ctzll(which)) * stride;
    if (fill(reinterpret_cast<std::uint64_t>(page)) == Filled::kNoMemory) return;
  }
}

Guard guard(std::byte* first, std::size_t stride, std::size_t count, std::size_t guard_bytes,
            std::size_t& guarded) noexcept {
  guarded = 0;
  while (guarded < count && guard_one(reinterpret_cast<std::uint64_t>(first) + guarded * stride, guard_bytes))
    ++guarded;
  return guarded > 0 ? Guard::kInstalled : Guard::kNone;
}

// The frames behind a stack are few here, and its size is fixed.
bool set_guards(std::byte*, std::size_t, std::size_t, std::size_t) noexcept {
  return false;
}
bool clear_guard(std::byte*, std::size_t) noexcept {
  return false;
}

std::uint64_t memory_limit() noexcept {
  return frames_in_all() * kPage;
}

}  // namespace janus::platform
