// SPDX-License-Identifier: Apache-2.0
// rt/task/sync/rwlock.h — janus_rwlock: two words, of the state and of the writer (HolderWord). A writer that waits stops new
// readers; after a writer come all readers that wait, then the next writer.
#pragma once

#include <cstdint>

#include "rt/task/record/task.h"

namespace janus {

// As lock_mutex(). kErrorState: the task has the lock, and a writer before has ended without unlocking it.
enum class Access : std::uint8_t { kRead, kWrite };
[[nodiscard]] int lock_rwlock(Task& self, std::uint64_t* words, Access access) noexcept;
[[nodiscard]] int try_lock_rwlock(Task& self, std::uint64_t* words, Access access) noexcept;
// kErrorState: nobody reads; or the task does not write.
[[nodiscard]] int unlock_rwlock(Task& self, std::uint64_t* words, Access access) noexcept;

}  // namespace janus
