// SPDX-License-Identifier: Apache-2.0
// entropy.cpp — random numbers from the processor's own source and a virtio device, mixed with the time stamp counter,
// which an attacker could guess. entropy() fails without either source. entropy_at_once() makes the runtime's own keys
// from the processor's source alone; without it a line says that they are weak. A program that does not use random
// numbers contains none of the code for the device.
#include "kernel-free/devices/entropy.h"

#include <atomic>

#include <arch/cpu.h>

#include "kernel-free/console/line.h"
#include "kernel-free/cpu/instructions.h"
#include "kernel-free/devices/random.h"
#include "rt/platform.h"

namespace janus::bare {
namespace {

constexpr int kTries = 16;  // Intel recommends 10 for rdrand; rdseed may run dry, then rdrand is used

bool has_rdseed() {
  return arch::cpuid(0).eax >= 7 && (arch::cpuid(7).ebx >> 18 & 1) != 0;
}

bool draw_seed(std::uint64_t& word) {
  for (int n = 0; n < kTries; ++n) {
    bool good;
    asm volatile("rdseed %0" : "=r"(word), "=@ccc"(good));
    if (good) return true;
    arch::pause();
  }
  return false;
}

bool draw(std::uint64_t& word) {
  if (has_rdseed() && draw_seed(word)) return true;
  if (!arch::features().has(arch::Features::kRdrand)) return false;
  for (int n = 0; n < kTries; ++n) {
    bool good;
    asm volatile("rdrand %0" : "=r"(word), "=@ccc"(good));
    if (good) return true;
  }
  return false;
}

std::uint64_t mix(std::uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

}  // namespace

std::uint64_t any_random_word() noexcept {
  std::uint64_t word = 0;
  (void)draw(word);
  return word ^ mix(arch::rdtsc());
}

}  // namespace janus::bare

namespace janus::platform {
namespace {

// Fills the bytes with words from `draw`; false as soon as `draw` fails.
template <class Draw>
bool fill(void* bytes, std::size_t count, Draw draw) {
  auto* next = static_cast<char*>(bytes);
  while (count > 0) {
    std::uint64_t word = 0;
    if (!draw(word)) return false;
    word ^= bare::mix(arch::rdtsc());
    const std::size_t piece = count < sizeof word ? count : sizeof word;
    bare::copy_bytes(next, &word, piece);
    next += piece;
    count -= piece;
  }
  return true;
}

}  // namespace

// Uses both sources, or the one that is present.
bool entropy(void* bytes, std::size_t count) noexcept {
  return fill(bytes, count, [](std::uint64_t& word) {
    std::uint64_t more = 0;
    const bool is_given = bare::draw_from_device(more);
    const bool is_drawn = bare::draw(word);
    word ^= more;
    return is_given || is_drawn;
  });
}

bool entropy_at_once(void* bytes, std::size_t count) noexcept {
  static std::atomic<bool> said{false};
  if (fill(bytes, count, bare::draw)) return true;
  if (!said.exchange(true, std::memory_order_relaxed))
    bare::Line{}.text("janus: this processor draws no random numbers: handles and canaries can be guessed").print();
  return false;
}

}  // namespace janus::platform
