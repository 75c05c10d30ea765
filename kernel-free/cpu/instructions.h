// SPDX-License-Identifier: Apache-2.0
// instructions.h — privileged instructions, and others that C++ cannot express.
#pragma once

#include <cstddef>
#include <cstdint>

namespace janus::bare {

// --- Ports ---

inline void out8(std::uint16_t port, std::uint8_t value) noexcept {
  asm volatile("outb %0, %1" : : "a"(value), "Nd"(port));
}
inline void out32(std::uint16_t port, std::uint32_t value) noexcept {
  asm volatile("outl %0, %1" : : "a"(value), "Nd"(port));
}
[[nodiscard]] inline std::uint8_t in8(std::uint16_t port) noexcept {
  std::uint8_t value;
  asm volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
  return value;
}

[[nodiscard]] inline std::uint32_t in32(std::uint16_t port) noexcept {
  std::uint32_t value;
  asm volatile("inl %1, %0" : "=a"(value) : "Nd"(port));
  return value;
}

// --- Registers ---

[[nodiscard]] inline std::uint64_t read_msr(std::uint32_t which) noexcept {
  std::uint32_t low, high;
  asm volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(which));
  return std::uint64_t{high} << 32 | low;
}
inline void write_msr(std::uint32_t which, std::uint64_t value) noexcept {
  asm volatile("wrmsr" : : "c"(which), "a"(static_cast<std::uint32_t>(value)), "d"(value >> 32) : "memory");
}

inline constexpr std::uint32_t kMsrFsBase = 0xc0000100, kMsrGsBase = 0xc0000101;

[[nodiscard]] inline std::uint64_t read_cr2() noexcept {
  std::uint64_t value;
  asm volatile("mov %%cr2, %0" : "=r"(value));
  return value;
}
[[nodiscard]] inline std::uint64_t read_cr3() noexcept {
  std::uint64_t value;
  asm volatile("mov %%cr3, %0" : "=r"(value));
  return value;
}
inline void write_cr3(std::uint64_t value) noexcept {
  asm volatile("mov %0, %%cr3" : : "r"(value) : "memory");
}
[[nodiscard]] inline std::uint64_t read_cr4() noexcept {
  std::uint64_t value;
  asm volatile("mov %%cr4, %0" : "=r"(value));
  return value;
}
inline void write_cr4(std::uint64_t value) noexcept {
  asm volatile("mov %0, %%cr4" : : "r"(value) : "memory");
}
inline void forget_page(std::uint64_t address) noexcept {
  asm volatile("invlpg (%0)" : : "r"(address) : "memory");
}

// Reads a byte, so that the CPU looks up and keeps its page's translation.
inline void touch(const std::byte* at) noexcept {
  asm volatile("testb $0, %0" : : "m"(*at) : "cc");
}

// --- Interrupts ---

inline constexpr std::uint64_t kFlagTrap = 1 << 8, kFlagInterrupts = 1 << 9, kFlagDirection = 1 << 10,
                               kFlagAlignment = 1 << 18;

[[nodiscard]] inline std::uint64_t read_flags() noexcept {
  std::uint64_t flags;
  asm volatile("pushfq; popq %0" : "=r"(flags));
  return flags;
}
inline void interrupts_off() noexcept {
  asm volatile("cli" : : : "memory");
}
inline void interrupts_on() noexcept {
  asm volatile("sti" : : : "memory");
}
// Sleeps until an interrupt. sti takes effect only after the instruction behind it, so that an interrupt that is
// pending ends the hlt and is not missed.
inline void interrupts_on_and_halt() noexcept {
  asm volatile("sti; hlt" : : : "memory");
}

// --- Bytes. Not mem*: those use vector registers, which in a handler still hold the interrupted code's values. ---

inline void copy_bytes(void* to, const void* from, std::size_t count) noexcept {
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
}
inline void zero_words(void* at, std::size_t count) noexcept {
  asm volatile("rep stosq" : "+D"(at), "+c"(count) : "a"(0ull) : "memory");
}

}  // namespace janus::bare
