// SPDX-License-Identifier: Apache-2.0
// rt/task/account/name.h — names of tasks and nurseries: 31 bytes, copied.
#pragma once

#include "rt/task/record/task.h"

namespace janus {

inline constexpr unsigned kNameBytes = 32;

inline void copy_name(char (&out)[kNameBytes], const char* name) noexcept {
  unsigned i = 0;
  for (; i + 1 < kNameBytes && name[i] != 0; ++i) out[i] = name[i];
  for (; i < kNameBytes; ++i) out[i] = 0;
}

// A task's name costs its account 32 bytes until the task's record is freed.
// Names the calling task: 0, or why there is no memory for the name.
int name_itself(Worker& worker, Task& task, const char* name) noexcept;
// Names a task that no other task knows yet. If there is no memory for the name, the task starts without one.
void name_at_birth(Worker* worker, Task& task, const char* name) noexcept;

}  // namespace janus
