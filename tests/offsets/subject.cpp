// SPDX-License-Identifier: Apache-2.0
// subject.cpp — a program for the check to decode: single accesses to the worker slot, each in a function of its own
// that is found by name. It is linked with the whole runtime and never runs.
#include <janus/rt.h>

#include <cstddef>
#include <cstdint>

#include <arch/worker_slot.h>
#include "rt/base/worker_slot.h"

#define SUBJECT [[gnu::used, gnu::noinline]]

using janus::WorkerSlot;

static_assert(JANUS_FUEL_OFFSET == offsetof(WorkerSlot, fuel), "frozen: compilers emit it");

extern "C" {
SUBJECT void* subject_self() {
  return janus::arch::slot_self();
}
SUBJECT std::uint64_t subject_fuel() {
  return janus::arch::slot_load<offsetof(WorkerSlot, fuel)>();
}
SUBJECT void subject_set_fuel(std::uint64_t fuel) {
  janus::arch::slot_store<offsetof(WorkerSlot, fuel)>(fuel);
}
SUBJECT std::uint64_t subject_task() {
  return janus::arch::slot_load<offsetof(WorkerSlot, task)>();
}
SUBJECT std::uint64_t subject_stack_limit() {
  return janus::arch::slot_load<offsetof(WorkerSlot, stack_limit)>();
}
SUBJECT bool subject_spend(std::int64_t ops) {
  return janus::arch::slot_sub_is_negative<offsetof(WorkerSlot, fuel)>(ops);
}
SUBJECT int subject_yield_check(std::uint32_t cost) {
  return janus_yield_check(cost);
}
}
