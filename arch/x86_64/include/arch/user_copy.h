// SPDX-License-Identifier: Apache-2.0
// user_copy.h — reads and writes memory by a user's pointer, which may point anywhere. If nothing faults, an access
// costs only its one instruction. Each instruction that may fault has an entry in the section janus_fixups: its address
// and the address to resume at, both relative, so that nothing has to be relocated. The fault handler looks there first
// (find_fix_up), and the access returns false. Non-canonical addresses, missing pages, write-protected pages and guards
// are treated alike. docs/decisions/0135
//
// An entry is linked to the section of its code (SHF_LINK_ORDER) and is dropped with it. `ld -r` of GNU binutils merges
// the sections: so a program is linked from its output without -z start-stop-gc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace janus::arch {

// Where a thread that faulted at `ip` resumes, with all other registers unchanged; 0: there is no entry. May be called
// in a signal handler.
[[nodiscard]] std::uint64_t find_fix_up(std::uint64_t ip) noexcept;

// The result of a copy: the side that faulted.
enum class UserCopy : std::uint32_t { kDone, kBadSource, kBadTarget };

// A word at any alignment.
template <typename Word>
struct [[gnu::packed, gnu::may_alias]] UserWord {
  Word bits;
};

// For a function that reads an object by an unchecked pointer, which may not point to one.
#ifdef __clang__
#define JANUS_ANY_POINTER [[clang::no_sanitize("alignment", "null")]]
#else
#define JANUS_ANY_POINTER [[gnu::no_sanitize("alignment", "null")]]
#endif

// Wraps one instruction that may fault; after a fault the code continues at `fix_up`. %= makes the label unique, since
// the compiler may duplicate the code.
#define JANUS_MAY_FAULT(instruction, fix_up)                           \
  ".Ljanus_access%=:\n\t" instruction                                  \
  "\n\t"                                                               \
  ".pushsection janus_fixups, \"ao\", @progbits, .Ljanus_access%=\n\t" \
  ".p2align 2\n\t"                                                     \
  ".long .Ljanus_access%= - .\n\t"                                     \
  ".long " fix_up                                                      \
  " - .\n\t"                                                           \
  ".popsection\n\t"

// False: `from` cannot be read, and `word` is unchanged.
template <typename Word>
[[nodiscard, gnu::always_inline]] inline bool load_user(const void* from, Word& word) noexcept {
  static_assert(sizeof(Word) == 1 || sizeof(Word) == 4 || sizeof(Word) == 8);
  const auto* const at = static_cast<const UserWord<Word>*>(from);
  Word bits;
  if constexpr (sizeof(Word) == 8)
    asm volatile goto(JANUS_MAY_FAULT("movq %1, %0", "%l[faulted]") : "=r"(bits) : "m"(at->bits) : : faulted);
  else if constexpr (sizeof(Word) == 4)
    asm volatile goto(JANUS_MAY_FAULT("movl %1, %0", "%l[faulted]") : "=r"(bits) : "m"(at->bits) : : faulted);
  else
    asm volatile goto(JANUS_MAY_FAULT("movb %1, %0", "%l[faulted]") : "=q"(bits) : "m"(at->bits) : : faulted);
  asm volatile("");  // GCC before 12.4 may lose what an asm goto gives (bug 113921)
  word = bits;
  return true;
faulted:
  return false;
}

// False: `to` cannot be written, and nothing was.
[[nodiscard, gnu::always_inline]] inline bool store_user(void* to, std::uint64_t word) noexcept {
  asm volatile goto(JANUS_MAY_FAULT("movq %1, %0", "%l[faulted]")
                    : "=m"(static_cast<UserWord<std::uint64_t>*>(to)->bits)
                    : "er"(word)
                    :
                    : faulted);
  return true;
faulted:
  return false;
}

// False: `at` cannot be written. Changes nothing, even if other threads write there.
[[nodiscard, gnu::always_inline]] inline bool touch_user(void* at) noexcept {
  asm volatile goto(JANUS_MAY_FAULT("lock orb $0, %0", "%l[faulted]")
                    :
                    : "m"(*static_cast<unsigned char*>(at))
                    : "memory", "cc"
                    : faulted);
  return true;
faulted:
  return false;
}

// What became of a compare-and-swap.
enum class UserSwap : std::uint8_t { kDone, kDiffers, kFaulted };

// Stores `desired` if the aligned word is `expected`, which gets what was seen if it differs. Sequentially consistent.
// kFaulted: `at` cannot be written, and nothing was.
[[nodiscard, gnu::always_inline]] inline UserSwap swap_user(std::uint64_t* at, std::uint64_t& expected,
                                                            std::uint64_t desired) noexcept {
  std::uint64_t seen;
  asm volatile goto(JANUS_MAY_FAULT("lock cmpxchgq %2, %1", "%l[faulted]")
                    : "=a"(seen)
                    : "m"(reinterpret_cast<UserWord<std::uint64_t>*>(at)->bits), "r"(desired), "a"(expected)
                    : "memory", "cc"
                    : faulted);
  asm volatile("");  // as in load_user()
  if (seen == expected) return UserSwap::kDone;
  expected = seen;
  return UserSwap::kDiffers;
faulted:
  return UserSwap::kFaulted;
}

}  // namespace janus::arch

extern "C" {
// Copies between ranges that do not overlap, of any size and alignment. If it faults, a part may have been copied;
// nothing outside of the two ranges is accessed. The result tells which side faulted.
[[nodiscard]] janus::arch::UserCopy janus_user_copy(void* to, const void* from, std::size_t bytes);

// Copies up to the terminator, which is not copied, or `limit` bytes, and reads no further. Returns how many; -1:
// `from` cannot be read that far. `to` is the runtime's own memory.
[[nodiscard]] std::int64_t janus_user_copy_string(char* to, const char* from, std::size_t limit);
}
