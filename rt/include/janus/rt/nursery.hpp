// SPDX-License-Identifier: Apache-2.0
// janus/rt/nursery.hpp: Nursery: a scope that does not end before its tasks, if the task that made it ends it. A part of janus/rt.hpp.
#ifndef JANUS_RT_NURSERY_HPP
#define JANUS_RT_NURSERY_HPP

#include <janus/rt/task.hpp>

namespace janus {
inline namespace v1 {

enum class OnError : std::uint32_t { kCancel = JANUS_ON_ERROR_CANCEL, kCollect = JANUS_ON_ERROR_COLLECT };
enum class OnExhaustion : std::uint32_t {
  kSuspend = JANUS_ON_EXHAUSTION_SUSPEND,
  kFail = JANUS_ON_EXHAUSTION_FAIL,
  kDeny = JANUS_ON_EXHAUSTION_DENY,
};

struct NurseryOptions {
  OnError on_error = OnError::kCancel;
  OnExhaustion on_exhaustion = OnExhaustion::kSuspend;
  janus_budget budget = {};  // all zero: none of its own
  janus_cap cap = {};
  const char* name = nullptr;
  std::uint64_t deadline_ns = 0;  // when janus_now_ns() is this, the nursery is cancelled; 0: never
  std::uint32_t max_running = 0;  // children beyond it wait unstarted, in the order of their spawns; 0: no bound
  // With a budget: how long a task may hold its worker before it ends (JANUS_CAUSE_OVERRUN); 0: 100 ms; UINT64_MAX: for ever.
  std::uint64_t turn_ns = 0;
};

// The task that made the nursery awaits and destroys it; every task below may spawn, cancel and close.
class Nursery {
 public:
  using Options = NurseryOptions;

  explicit Nursery(const Options& options = {}) noexcept : Nursery(nullptr, options) {}
  Nursery(janus_rt* rt, const Options& options) noexcept {
    const janus_nursery_options raw = {sizeof raw,
                                       static_cast<std::uint32_t>(options.on_error),
                                       static_cast<std::uint32_t>(options.on_exhaustion),
                                       0,
                                       options.budget,
                                       options.cap,
                                       options.name,
                                       options.deadline_ns,
                                       options.max_running,
                                       0,
                                       options.turn_ns};
    nursery_ = janus_nursery_open(rt, &raw);
  }
  Nursery(const Nursery&) = delete;
  Nursery& operator=(const Nursery&) = delete;
  // Closes and waits. Does not report failures: call await() first to learn of them.
  ~Nursery() {
    if (!nursery_) return;
    (void)janus_nursery_await(nursery_, nullptr);
    (void)janus_nursery_destroy(nursery_);
  }

  explicit operator bool() const noexcept { return nursery_ != nullptr; }

  // Starts closure() as a task: Task<T>, where the closure returns T or Result<T>. If the spawn fails, join() returns
  // the error.
  template <class F>
  auto spawn(F&& closure, const SpawnOptions& options = {}) noexcept {
    detail::check_closure<F>();
    using T = detail::ValueOf<F>;
    using Job = detail::Job<T, std::decay_t<F>>;
    Job* job = detail::allocate<Job>();
    if (!job) return Task<T>(detail::last_error());
    ::new (job) Job(std::forward<F>(closure));
    const janus_task handle = start(&Job::run, job, options);
    if (handle.raw) return Task<T>(handle, job);
    const Error error = detail::last_error();
    job->destroy_closure();
    job->free();
    return Task<T>(error);
  }

  void cancel() noexcept { (void)janus_nursery_cancel(nursery_); }
  void close() noexcept { (void)janus_nursery_close(nursery_); }
  // Closes, waits for all, and returns the nursery's failure (janus_nursery_await), if there was one.
  Result<void> await() noexcept {
    janus_result result = {};
    const long code = janus_nursery_await(nursery_, &result);
    if (code == 0) return {};
    const bool is_table = result.kind != JANUS_KIND_SUCCESS && result.code == code;
    return is_table ? Error{code, result.kind} : detail::error_of(code);
  }

  // Of a nursery with a budget of its own, by who is above it (janus_nursery_usage and the others there).
  Result<janus_usage> usage() const noexcept {
    janus_usage usage = {};
    usage.size = sizeof usage;
    if (const int code = janus_nursery_usage(nursery_, &usage); code != 0) return detail::error_of(code);
    return usage;
  }
  // Takes back what is left, at most `most` (all zero: all of it), and returns what that was.
  Result<janus_budget> withdraw(janus_budget most = {}) noexcept {
    if (const int code = janus_nursery_withdraw(nursery_, &most); code != 0) return detail::error_of(code);
    return most;
  }
  Result<void> pause() noexcept { return detail::result_of(janus_nursery_pause(nursery_)); }
  Result<void> resume() noexcept { return detail::result_of(janus_nursery_resume(nursery_)); }

  // For the functions of rt.h.
  [[nodiscard]] janus_nursery* raw() const noexcept { return nursery_; }

 private:
  janus_task start(janus_task_fn run, void* job, const SpawnOptions& options) noexcept {
    const janus_spawn_options raw = {sizeof raw,  options.priority, options.stack_size,       options.budget,
                                     options.cap, options.name,     JANUS_SPAWN_RUN_CANCELLED};
    return janus_nursery_spawn_in(nursery_, run, job, &raw);
  }

  janus_nursery* nursery_;
};

}  // namespace v1
}  // namespace janus

#endif  // JANUS_RT_NURSERY_HPP
