// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/user_memory.cpp — see user_memory.h.
#include "rt/task/wait/user_memory.h"

#include "rt/task/record/panic.h"
#include "rt/task/record/runtime.h"

namespace janus {

[[gnu::noinline, gnu::cold]] void blame_caller() noexcept {
  Task* const task = calling_task();
  if (task == nullptr) return;
  const auto& fault = current_worker().user_fault;
  panic_for_access(*task, fault.has_address, fault.address);
}

arch::UserCopy copy_user_bytes(void* to, const void* from, std::size_t bytes) noexcept {
  for (std::size_t at = 0; at < bytes; at += kMaxCopied) {
    const std::size_t piece = bytes - at < kMaxCopied ? bytes - at : kMaxCopied;
    const arch::UserCopy copied =
        janus_user_copy(static_cast<char*>(to) + at, static_cast<const char*>(from) + at, piece);
    if (copied != arch::UserCopy::kDone) return copied;
  }
  return arch::UserCopy::kDone;
}

void read_user_bytes(void* to, const void* from, std::size_t bytes) noexcept {
  if (copy_user_bytes(to, from, bytes) == arch::UserCopy::kDone) [[likely]]
    return;
  blame_caller();
  __builtin_memcpy(to, from, bytes);
}

void write_user_bytes(void* to, const void* from, std::size_t bytes) noexcept {
  if (copy_user_bytes(to, from, bytes) == arch::UserCopy::kDone) [[likely]]
    return;
  blame_caller();
  __builtin_memcpy(to, from, bytes);
}

std::uint64_t read_as_host(const void* at, std::size_t bytes) noexcept {
  std::uint64_t word = 0;
  read_user_bytes(&word, at, bytes);
  return word;
}

namespace {

// Tries a byte of each page, and the last one.
template <typename Byte>
bool are_all_there(Byte* first, std::size_t bytes, auto is_there) noexcept {
  constexpr std::size_t kPage = 4096;
  for (std::size_t at = 0; at < bytes; at += kPage) {
    if (!is_there(first + at)) return false;
  }
  return bytes == 0 || is_there(first + bytes - 1);
}

}  // namespace

bool is_readable(const void* from, std::size_t bytes) noexcept {
  return are_all_there(static_cast<const std::byte*>(from), bytes, [](const std::byte* at) {
    std::uint8_t byte;
    return arch::load_user(at, byte);
  });
}

bool is_writable(void* to, std::size_t bytes) noexcept {
  return are_all_there(static_cast<std::byte*>(to), bytes, [](std::byte* at) { return arch::touch_user(at); });
}

std::size_t read_user_string(char* to, std::size_t room, const char* from) noexcept {
  std::int64_t length = janus_user_copy_string(to, from, room - 1);
  if (length < 0) [[unlikely]] {
    blame_caller();
    const auto* const text = static_cast<const volatile char*>(from);
    for (length = 0; static_cast<std::size_t>(length) < room - 1 && text[length] != '\0'; ++length)
      to[length] = text[length];
  }
  to[length] = '\0';
  return static_cast<std::size_t>(length);
}

}  // namespace janus
