// SPDX-License-Identifier: Apache-2.0
// cpu.h — the features of the processor, and instructions that C++ cannot express.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace janus::arch {

inline constexpr std::size_t kCacheLine = 64;
// The adjacent-line prefetcher fetches lines in pairs, so data that two workers write is this far apart.
inline constexpr std::size_t kPrefetchPair = 128;

// For a loop that waits for another worker.
[[gnu::always_inline]] inline void pause() noexcept {
  asm volatile("pause");
}

// Orders memory accesses for the compiler only; the partner of a platform::heavy_fence().
[[gnu::always_inline]] inline void compiler_barrier() noexcept {
  asm volatile("" : : : "memory");
}

// Store-load fence. A locked operation that changes nothing takes half the time of mfence. Its word lies 64 bytes below
// rsp, since loads of words near rsp would otherwise wait for it.
[[gnu::always_inline]] inline void full_fence() noexcept {
  asm volatile("lock orl $0, -64(%%rsp)" : : : "memory", "cc");
}

// Adds to a number that only the caller writes and others may read, and that orders no other data: one instruction, not
// locked, instead of load, addition and store.
template <typename Word>
[[gnu::always_inline]] inline void add_as_owner(std::atomic<Word>& word, Word amount) noexcept {
  static_assert(sizeof(Word) == 4 || sizeof(Word) == 8);
  if constexpr (sizeof(Word) == 8)
    asm volatile("addq %1, %0" : "+m"(word) : "er"(amount) : "cc");
  else
    asm volatile("addl %1, %0" : "+m"(word) : "er"(amount) : "cc");
}

// As add_as_owner(), but subtracts.
[[gnu::always_inline]] inline void subtract_as_owner(std::atomic<std::int64_t>& word, std::int64_t amount) noexcept {
  asm volatile("subq %1, %0" : "+m"(word) : "er"(amount) : "cc");
}

// Not ordered with other instructions, and slow in a virtual machine: never on a hot path.
[[nodiscard, gnu::always_inline]] inline std::uint64_t rdtsc() noexcept {
  std::uint32_t low, high;
  asm volatile("rdtsc" : "=a"(low), "=d"(high));
  return std::uint64_t{high} << 32 | low;
}

[[gnu::always_inline]] inline void prefetch(const void* address) noexcept {
  __builtin_prefetch(address, 0, 3);
}
[[gnu::always_inline]] inline void prefetch_to_write(const void* address) noexcept {
  __builtin_prefetch(address, 1, 3);
}

struct Cpuid {
  std::uint32_t eax, ebx, ecx, edx;
};
[[nodiscard]] inline Cpuid cpuid(std::uint32_t leaf, std::uint32_t subleaf = 0) noexcept {
  Cpuid r;
  asm volatile("cpuid" : "=a"(r.eax), "=b"(r.ebx), "=c"(r.ecx), "=d"(r.edx) : "a"(leaf), "c"(subleaf));
  return r;
}

// A set of features. Some are set only if the kernel supports them, too; their comments say so.
class Features {
 public:
  enum Bit : std::uint32_t {
    kKnown = 1u << 0,         // the word has been filled in
    kErms = 1u << 1,          // rep movsb and rep stosb are fast for long runs
    kFsrm = 1u << 2,          // rep movsb is fast for short ones too
    kAvx2 = 1u << 3,          // and the kernel keeps the ymm registers
    kFsgsbase = 1u << 4,      // the processor has rdgsbase; the kernel decides whether user code may use it
    kInvariantTsc = 1u << 5,  // rdtsc counts at one rate, asleep or not
    kRdtscp = 1u << 6,
    kRdrand = 1u << 7,
    kHypervisor = 1u << 8,   // running in a virtual machine
    kTscDeadline = 1u << 9,  // the local APIC has a timer that fires at a TSC value
    kX2apic = 1u << 10,
    kAvx512 = 1u << 11,  // F, BW and VL, and the kernel keeps the zmm registers
  };

  constexpr explicit Features(std::uint32_t bits) : bits_(bits) {}
  [[nodiscard]] constexpr bool has(Bit bit) const { return (bits_ & bit) != 0; }
  [[nodiscard]] constexpr std::uint32_t bits() const { return bits_; }

 private:
  std::uint32_t bits_;
};

// Reads them from the processor once, at the first call, since cpuid may leave the virtual machine. Any thread.
[[nodiscard]] Features features() noexcept;

}  // namespace janus::arch
