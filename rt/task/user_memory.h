// SPDX-License-Identifier: Apache-2.0
// rt/task/user_memory.h — what a caller points to, read and written by copies that may fail (arch/user_copy.h). Where
// one fails the task that called panics, in the words of any other bad access; a thread outside tasks has the fault
// that it would have had by itself, and its host decides. So these are called with nothing held, and what is read is
// read before anything is taken.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <arch/user_copy.h>
#include "rt/task/task.h"

namespace janus {

// Of the task that runs, after a copy of its memory has failed on this worker. Comes back outside tasks.
void blame_caller() noexcept;

// A piece at a time, so that who copies much can give way between two.
inline constexpr std::size_t kMostCopied = std::size_t{64} << 10;

// As janus_user_copy. Good with a lock held.
[[nodiscard]] arch::UserCopy copy_user_bytes(void* to, const void* from, std::size_t bytes) noexcept;

void read_user_bytes(void* to, const void* from, std::size_t bytes) noexcept;
void write_user_bytes(void* to, const void* from, std::size_t bytes) noexcept;

template <typename T>
T read_user(const void* from) noexcept {
  T value;
  read_user_bytes(&value, from, sizeof value);
  return value;
}

template <typename T>
void write_user(T* to, const T& value) noexcept {
  write_user_bytes(to, &value, sizeof value);
}

// Blames the caller; for one outside tasks a plain access follows.
[[gnu::noinline, gnu::cold]] std::uint64_t read_as_host(const void* at, std::size_t bytes) noexcept;

// A word of what a user says is an object of ours, as an acquire load.
template <typename Word>
Word read_user_word(const std::atomic<Word>& word) noexcept {
  Word bits = 0;
  if (!arch::load_user(&word, bits)) [[unlikely]]
    bits = static_cast<Word>(read_as_host(&word, sizeof word));
  std::atomic_signal_fence(std::memory_order_acquire);  // the processor keeps the order
  return bits;
}

// Whether all of it can be read now.
bool is_readable(const void* from, std::size_t bytes) noexcept;

// Whether all of it can be written now. Changes nothing.
bool is_writable(void* to, std::size_t bytes) noexcept;

// Up to the terminator, or as much as there is room for; terminated. Its length.
std::size_t read_user_string(char* to, std::size_t room, const char* from) noexcept;

}  // namespace janus
