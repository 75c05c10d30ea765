// SPDX-License-Identifier: Apache-2.0
// rt/task/nurseries/gate.h — a nursery of which only some children run at a time: max_running. The others wait unstarted.
//
// INVARIANT gate-in-order: children pass the gate in the order in which they were spawned. While one waits at it, as many
// as may run have passed and not ended; and each that ends, however it does, lets the next one pass. Those that have
// passed are queued behind what is ready, first in, first out, so that a worker starts them in that order, too. A cancel
// does not open the gate: those that it finds there pass it as before, and end where they would have started.
#pragma once

#include <cstdint>

#include "rt/optional.h"
#include "rt/task/record/nursery.h"

namespace janus {

// For a nursery that is opened. Not a weak symbol: a program that opens no nursery with options is linked without gates.
[[nodiscard]] NurseryGate gate_of(std::uint32_t max_running) noexcept;
// As launch(), for a child of a gated nursery.
[[JANUS_OPTIONAL]] void launch_at_gate(Worker* worker, Task& task) noexcept;
// Called when a child that has passed the gate has ended, while it is still counted.
[[JANUS_OPTIONAL]] void let_next_pass(Worker& worker, Nursery& nursery) noexcept;
// The number of children that wait at the gate. Under the nursery's lock.
[[nodiscard, JANUS_OPTIONAL]] std::uint64_t count_at_gate(const Nursery& nursery) noexcept;

}  // namespace janus
