// SPDX-License-Identifier: Apache-2.0
// rt/task/name.h — names of tasks and nurseries: 31 bytes, copied.
#pragma once

#include "rt/task/task.h"

namespace janus {

inline constexpr unsigned kNameBytes = 32;

inline void copy_name(char (&out)[kNameBytes], const char* name) noexcept {
  unsigned i = 0;
  for (; i + 1 < kNameBytes && name[i] != 0; ++i) out[i] = name[i];
  for (; i < kNameBytes; ++i) out[i] = 0;
}

// False: no memory for it.
bool set_name(Worker* worker, Task& task, const char* name) noexcept;

}  // namespace janus
