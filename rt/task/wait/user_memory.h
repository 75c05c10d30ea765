// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/user_memory.h — reads and writes memory that a caller points to, by copies that may fail
// (arch/user_copy.h). If one fails, the calling task panics, with the message of any other bad access; a thread outside
// tasks gets the fault of a plain access, for its host to handle. So callers hold no lock, and read all of their input
// before they take anything.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <arch/user_copy.h>
#include "rt/task/record/task.h"

namespace janus {

// Panics the running task, after a copy of its memory has failed on this worker. Returns outside tasks.
void blame_caller() noexcept;

// copy_user_bytes() copies at most this many bytes by one janus_user_copy().
inline constexpr std::size_t kMaxCopied = std::size_t{64} << 10;

// As janus_user_copy. May be called with a lock held.
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

// blame_caller(); outside tasks a plain access follows, which faults.
[[gnu::noinline, gnu::cold]] std::uint64_t read_as_host(const void* at, std::size_t bytes) noexcept;

// An acquire load of a word at an address that a user passes as that of an object of ours.
template <typename Word>
Word read_user_word(const std::atomic<Word>& word) noexcept {
  Word bits = 0;
  if (!arch::load_user(&word, bits)) [[unlikely]]
    bits = static_cast<Word>(read_as_host(&word, sizeof word));
  std::atomic_signal_fence(std::memory_order_acquire);  // for the compiler; the processor keeps loads in order
  return bits;
}

// Whether all bytes can be read now.
bool is_readable(const void* from, std::size_t bytes) noexcept;

// Whether all bytes can be written now. Changes nothing.
bool is_writable(void* to, std::size_t bytes) noexcept;

// Copies up to the terminator, or as much as there is room for, and terminates it. Returns the length.
std::size_t read_user_string(char* to, std::size_t room, const char* from) noexcept;

}  // namespace janus
