// SPDX-License-Identifier: Apache-2.0
// start_cpus.h — starts all CPUs but the first.
#pragma once

#include <cstdint>

#include "kernel-free/firmware/processors.h"

namespace janus::bare {

// Copies the CPUs' first code into the page. Called under the boot page tables, after make_tables().
void place_start_code(std::uint64_t page) noexcept;

// Starts the CPUs on the list, which are all but the calling one, and adds those that come up to g_cpus; prints a line
// if some do not. Requires that the clock runs.
void start_cpus(const ProcessorList& others, std::uint64_t page) noexcept;

}  // namespace janus::bare
