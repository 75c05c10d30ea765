// SPDX-License-Identifier: Apache-2.0
// files.h — indexes the initrd, for the system calls on files (files.cpp).
#pragma once

#include "kernel-free/memory/memory_map.h"

namespace janus::bare {

// Indexes the initrd at these physical addresses; empty: there are no files. A damaged archive ends the machine.
void open_initrd(Range initrd) noexcept;

}  // namespace janus::bare
