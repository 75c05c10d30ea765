// SPDX-License-Identifier: Apache-2.0
// rt/abi/entry/entry.cpp — refusing calls, and setting their errors.
#include "rt/abi/entry/entry.h"

#include "rt/base/format.h"
#include "rt/task/record/panic.h"
#include "rt/task/record/why.h"

namespace janus {

namespace {

void keep(const Caller& caller, LastError error) noexcept {
  if (caller.task == nullptr) return set_error_of_thread(error);
  caller.task->mark(TaskMarks::kHasError);
  caller.task->frame->details.last_error = error.error;
  caller.task->frame->details.last_error_left = error.left;
}

}  // namespace

[[gnu::noinline]] void set_error(Caller caller, int error) noexcept {
  keep(caller, {error, 0});
}

[[gnu::noinline, gnu::cold]] void set_error_left(const Caller& caller, const Runtime* runtime, const Account* payer,
                                                 int error) noexcept {
  const bool has_left = names_component(why_of(error)) && runtime != nullptr && payer != nullptr;
  keep(caller, {error, has_left ? runtime->accounts.left_in_all(payer, component_of(why_of(error))) : 0});
}

[[gnu::noinline, gnu::cold]] void set_error_of(const Caller& caller, const Runtime* runtime, const Account* payer,
                                               int error) noexcept {
  const bool is_short = error_of(error) == JANUS_E_BUDGET && names_component(why_of(error));
  if (is_short && payer != nullptr) Accounts::note_dry(const_cast<Account*>(payer));
  if (is_short && caller.task != nullptr) end_if_fail_rules(*caller.task, payer, component_of(why_of(error)));
  set_error_left(caller, runtime, payer, error);
}

[[gnu::cold]] Runtime* runtime_outside(const Worker* worker) noexcept {
  return worker != nullptr ? worker->runtime : process_runtime();
}

LastError last_error_of(const Caller& caller) noexcept {
  if (caller.task == nullptr) return last_error_of_thread();
  if (!caller.task->is_marked(TaskMarks::kHasError)) return {};
  return {caller.task->frame->details.last_error, caller.task->frame->details.last_error_left};
}

[[gnu::noinline, gnu::cold]] Failed refuse_handle(const Caller& me, const char* kind, std::uint64_t handle) noexcept {
  if (me.task == nullptr) return {JANUS_E_STALE};
  Text<64> why;
  why.append("there is no %s %p", kind, reinterpret_cast<void*>(handle));
  panic(*me.task, Cause::kMisuse, why.data());
}

}  // namespace janus
