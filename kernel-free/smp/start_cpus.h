// SPDX-License-Identifier: Apache-2.0
// start_cpus.h — all CPUs but the first.
#pragma once

#include <cstdint>

#include "kernel-free/smp/processors.h"

namespace janus::bare {

// Under the boot tables: copies the code that they begin with into that page. The page tables to be are made.
void place_start_code(std::uint64_t page) noexcept;

// Starts those on the list, which are all but this one, and takes the ones that come into g_cpus; says so if some do
// not. With the clock running.
void start_cpus(const ProcessorList& others, std::uint64_t page) noexcept;

}  // namespace janus::bare
