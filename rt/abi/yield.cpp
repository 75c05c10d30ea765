// SPDX-License-Identifier: Apache-2.0
// rt/abi/yield.cpp — yield points and time. Waiting for a time or a token is in park.cpp.
#include "rt/abi/entry/entry.h"
#include "rt/task/account/charge.h"
#include "rt/task/wait/cancel.h"
#include "rt/task/wait/slice.h"

using namespace janus;

namespace {

// The general case of janus_yield, which rt/task/account/charge.h prices, so the entry charges nothing.
[[gnu::noinline]] int yield_from_afar() noexcept {
  const Caller me = enter_free();
  return me.task != nullptr ? yield<Path::kGeneral>(*me.worker, *me.task) : JANUS_E_NO_TASK;
}

}  // namespace

extern "C" {

[[gnu::flatten]] int janus_yield(void) {
  const Caller me = enter_yield();
  if (me.task == nullptr) [[unlikely]]
    return yield_from_afar();
  return yield<Path::kFast>(*me.worker, *me.task);
}

// Called by a yield check that has charged and found too little fuel. A caller that has fuel left pays the price of a
// call: it gets a new slice, and its next yield is free.
int janus_yield_slow(void) {
  const Caller me = enter_free();
  if (me.task == nullptr) return JANUS_E_NO_TASK;
  if (me.worker->fuel >= 0) take_fuel_unchecked(*me.worker, price::kCall);
  return yield_slow(*me.task);
}

// For loops of our C library that have no checks of their own (linker/c/src/pay.h). Not in rt.h.
void janus_pay(std::uint32_t ops) {
  if (enter_on_any_thread().task != nullptr) (void)enter(ops);
}

// For our C library: where the calling task's errno is, in its frame, until it ends; NULL outside tasks. Not in rt.h.
int* janus_task_errno(void) {
  const Caller me = enter_on_any_thread();
  if (me.task == nullptr) {
    Worker* const helper = helper_of_thread();
    return helper != nullptr ? errno_of_helper(*helper) : nullptr;
  }
  me.task->mark(TaskMarks::kHasError);
  return &me.task->frame->details.c_errno;
}

uint64_t janus_now_ns(void) {
  const Caller me = enter_on_any_thread();
  return me.task != nullptr ? me.worker->scheduler->now_ns() : platform::now_ns();
}

int64_t janus_unix_time_ns(void) {
  return platform::unix_time_ns();
}

}  // extern "C"
