// SPDX-License-Identifier: Apache-2.0
// rt/task/wait/nursery_deadline.h — a nursery that is cancelled at a time. Its timer lies in its record. docs/decisions/0330
#pragma once

#include <cstdint>

#include "rt/optional.h"
#include "rt/task/record/nursery.h"

namespace janus {

// By whoever opens the nursery, on `worker`, or outside the workers (nullptr): it is cancelled when now_ns() of the
// scheduler is `at`. Not a weak symbol: a program that gives nurseries no deadline is linked without timers.
void set_deadline(Worker* worker, Nursery& nursery, std::uint64_t at) noexcept;
// Before the record of a nursery with a deadline is given back. Afterwards nobody uses its timer.
[[JANUS_OPTIONAL]] void end_deadline(Nursery& nursery) noexcept;
// For hooks::on_timer().
[[JANUS_OPTIONAL]] void fire_deadline(Worker& worker, Timer& timer) noexcept;
// For hooks::go_on_firing().
[[JANUS_OPTIONAL]] void go_on_cancelling(Worker& worker, void*& rest) noexcept;

}  // namespace janus
