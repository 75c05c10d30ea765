// SPDX-License-Identifier: Apache-2.0
// rt/abi/local_calls.h — what janus_local_new and janus_local_new_inherited share.
#pragma once

#include "rt/include/janus/rt.h"
#include "rt/task/account/locals.h"

namespace janus {

// `make`: new_local() or new_inherited().
int new_key(janus_local_key* key, void (*destroy)(void*),
            OrError<std::uint32_t> (*make)(Task* task, void (*destroy)(void*)) noexcept) noexcept;

}  // namespace janus
