// SPDX-License-Identifier: Apache-2.0
// runtime_names.h — names of functions whose calls get no yield check: LLVM's intrinsics, and the runtime's functions
// that a program can call, which are checks themselves. tests/lower compares the list with the headers and the library.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace janus::lower {

constexpr std::array<std::string_view, 86> kRuntimeNames = {
    "janus_alloc",
    "janus_alloc_aligned",
    "janus_blocking",
    "janus_budget_get_current",
    "janus_budget_grant64",
    "janus_budget_recharge",
    "janus_cancelled",
    "janus_cap_derive",
    "janus_cap_revoke",
    "janus_cap_root",
    "janus_channel_close",
    "janus_channel_create",
    "janus_channel_recv",
    "janus_channel_recv_until",
    "janus_channel_release",
    "janus_channel_retain",
    "janus_channel_send",
    "janus_channel_send_until",
    "janus_channel_try_recv",
    "janus_channel_try_send",
    "janus_entropy",
    "janus_exit",
    "janus_fork_join",
    "janus_free",
    "janus_last_error",
    "janus_last_error_text",
    "janus_local_delete",
    "janus_local_get",
    "janus_local_new",
    "janus_local_set",
    "janus_now_ns",
    "janus_nursery_await",
    "janus_nursery_await_all",
    "janus_nursery_await_until",
    "janus_nursery_cancel",
    "janus_nursery_close",
    "janus_nursery_create",
    "janus_nursery_destroy",
    "janus_nursery_next",
    "janus_nursery_open",
    "janus_nursery_recharge",
    "janus_nursery_spawn",
    "janus_nursery_spawn_in",
    "janus_nursery_state",
    "janus_nursery_try_result",
    "janus_park",
    "janus_print",
    "janus_realloc",
    "janus_rt_create",
    "janus_rt_destroy",
    "janus_rt_get",
    "janus_rt_init",
    "janus_rt_run",
    "janus_rt_shutdown",
    "janus_rt_stats",
    "janus_rt_try_init",
    "janus_safepoint_resume",
    "janus_safepoint_stop",
    "janus_scheduler_create",
    "janus_scheduler_shutdown",
    "janus_scheduler_spawn",
    "janus_scheduler_yield",
    "janus_select",
    "janus_select_until",
    "janus_shield",
    "janus_sleep_ns",
    "janus_sleep_until",
    "janus_strerror",
    "janus_syscall",
    "janus_task_cancel",
    "janus_task_id",
    "janus_task_join",
    "janus_task_join_until",
    "janus_task_panic",
    "janus_task_pin",
    "janus_task_release",
    "janus_task_result",
    "janus_task_self",
    "janus_task_set_name",
    "janus_task_state",
    "janus_task_unpin",
    "janus_unix_time_ns",
    "janus_unpark",
    "janus_write",
    "janus_yield",
    "janus_yield_slow",
};

// Whether LLVM defines the function of this name: an intrinsic.
inline bool is_intrinsic(std::string_view name) {
  return name.substr(0, 5) == "llvm.";
}

// Whether the function of this name, if the module only declares it, is the runtime's.
inline bool is_of_runtime(std::string_view name) {
  return std::binary_search(kRuntimeNames.begin(), kRuntimeNames.end(), name);
}

}  // namespace janus::lower
