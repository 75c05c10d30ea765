// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/cap.h — tokens: deriving, finding and revoking them, and what a task with a token has to know of it.
// rt/task/wait/authority.h asks what a token gives. docs/decisions/0340
//
// A token is in force until it is revoked, or the task that has derived it ends. So a task leaves no tokens behind, as it
// leaves no nurseries; and what it derives in a cage is paid for by the cage, and ends with it.
#pragma once

#include "rt/base/or_error.h"
#include "rt/budget/account.h"
#include "rt/optional.h"
#include "rt/task/record/cap.h"
#include "rt/task/record/task.h"

namespace janus {

// The caller has a reference already.
inline void hold_cap(Cap& cap) noexcept {
  cap.secret_and_references.fetch_add(1, std::memory_order_relaxed);
}
// Gives up a reference. Any thread, with any lock of a task or nursery held.
[[JANUS_OPTIONAL]] void drop_cap(Runtime& runtime, Cap& cap) noexcept;

// The token with that handle, with a reference for the caller; nullptr: there is none in this runtime. `caller`: the worker
// of the calling task, which pays for a handle that fits none (price::kGuess).
[[JANUS_OPTIONAL]] Cap* find_cap(Worker* caller, Runtime& runtime, std::uint64_t handle) noexcept;
std::uint64_t handle_of(const Runtime& runtime, const Cap& cap) noexcept;
// The token from which all others derive; without a reference, since it stays. nullptr: there is no memory.
Cap* root_cap(Runtime& runtime) noexcept;

// Derives a token of `parent`, to which the caller has a reference, with those of the rights that the parent has. `from`:
// the account of the limit that it shares, or out of which it gets `limit`, unless that is nullptr. `deriver`: the
// running task, which pays; nullptr: a thread outside tasks, and the token stays until it is revoked.
OrError<Cap*> derive_cap(Runtime& runtime, Task* deriver, Cap& parent, std::uint8_t rights, Account* from,
                         const Amounts* limit) noexcept;
// The caller has a reference. False: somebody has revoked it before. What is left of its limit goes back at once.
bool revoke_cap(Runtime& runtime, Cap& cap) noexcept;

// Before the task is queued: at its start it learns of its own token (a reference; nullptr: it has none), and that it takes
// no fast path that opens a nursery without that of its nursery.
[[JANUS_OPTIONAL]] void give_context(Task& task, Cap* own) noexcept;
// For a task that will not start.
[[JANUS_OPTIONAL]] void drop_context(Task& task) noexcept;
// At the end of the running task, after that of its nurseries: ends the tokens that it has derived, and gives up its own.
// Others may run meanwhile.
[[JANUS_OPTIONAL]] void end_caps(Task& task) noexcept;

// At the end of the runtime, when nothing runs any more.
[[JANUS_OPTIONAL]] void destroy_caps(Runtime& runtime) noexcept;

}  // namespace janus
