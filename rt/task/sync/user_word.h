// SPDX-License-Identifier: Apache-2.0
// rt/task/sync/user_word.h — changes of a word in a user's memory, which may be written by others or unmapped at any time.
#pragma once

#include <cstdint>

#include <arch/user_copy.h>
#include "rt/base/errors.h"
#include "rt/task/wait/user_memory.h"

#if defined(__SANITIZE_THREAD__)
#define JANUS_THREADS_ARE_WATCHED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define JANUS_THREADS_ARE_WATCHED 1
#endif
#endif

#ifdef JANUS_THREADS_ARE_WATCHED
extern "C" void __tsan_acquire(void* place);
extern "C" void __tsan_release(void* place);
#endif

namespace janus {

// Accesses to a word as by an atomic: load-acquire, and compare-and-swap. ThreadSanitizer does not see the instructions of
// arch/user_copy.h, and is told where it watches the runtime itself.
[[nodiscard, gnu::always_inline]] inline bool load_word(const std::uint64_t* at, std::uint64_t& bits) noexcept {
  if (!arch::load_user(at, bits)) return false;
#ifdef JANUS_THREADS_ARE_WATCHED
  __tsan_acquire(const_cast<std::uint64_t*>(at));
#endif
  return true;
}
[[nodiscard, gnu::always_inline]] inline arch::UserSwap swap_word(std::uint64_t* at, std::uint64_t& expected,
                                                                  std::uint64_t desired) noexcept {
#ifdef JANUS_THREADS_ARE_WATCHED
  std::uint64_t bits;
  if (!arch::load_user(at, bits)) return arch::UserSwap::kFaulted;  // it would fault itself
  __tsan_release(at);
#endif
  const arch::UserSwap result = arch::swap_user(at, expected, desired);
#ifdef JANUS_THREADS_ARE_WATCHED
  if (result != arch::UserSwap::kFaulted) __tsan_acquire(at);
#endif
  return result;
}

// Results of the functions of this folder, beside those of the ABI.
inline constexpr int kFaulted = 16;    // the user's memory cannot be accessed: see answer_of()
inline constexpr int kLookAgain = 17;  // not for users: when others have run

// Changes the word to next(word), unless that is the same. 0, kFaulted, or kErrorInvalid if others write to it all the
// time, as no user of the word does. May be called with a lock held. `next` may be called several times; what it notes
// the last time is true.
template <typename Next>
[[nodiscard]] int update_user(std::uint64_t* at, Next next) noexcept {
  constexpr unsigned kTries = 1000;
  std::uint64_t seen = 0;
  if (!load_word(at, seen)) return kFaulted;
  for (unsigned tries = 0; tries < kTries; ++tries) {
    const std::uint64_t wanted = next(seen);
    if (wanted == seen) return 0;
    switch (swap_word(at, seen, wanted)) {
      case arch::UserSwap::kDone:
        return 0;
      case arch::UserSwap::kFaulted:
        return kFaulted;
      case arch::UserSwap::kDiffers:
        break;
    }
  }
  return kErrorInvalid;
}

// What the user gets: if the memory was bad, the calling task panics. Called with no lock held.
inline int answer_of(int result) noexcept {
  if (result != kFaulted) return result;
  blame_caller();
  return kErrorInvalid;  // not reached: only tasks call
}

}  // namespace janus
