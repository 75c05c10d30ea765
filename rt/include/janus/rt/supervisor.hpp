// SPDX-License-Identifier: Apache-2.0
// janus/rt/supervisor.hpp: Supervisor: starts closures as tasks, and again when these have died, over janus/supervise.h. A
// part of janus/rt.hpp.
//
//     auto serve = [&]() -> janus::Result<void> { ... };
//     janus::Supervisor supervisor({.max_restarts = 3, .within_ns = 5'000'000'000});
//     (void)supervisor.add(serve, {.stop_ns = 100'000'000, .name = "server"});
//     janus::Result<void> end = supervisor.run();                                    // in the calling task
#ifndef JANUS_RT_SUPERVISOR_HPP
#define JANUS_RT_SUPERVISOR_HPP

#include <janus/supervise.h>
#include <janus/rt/closure.hpp>

namespace janus {
inline namespace v1 {

enum class Strategy : std::uint32_t {
  kOneForOne = JANUS_ONE_FOR_ONE,
  kOneForAll = JANUS_ONE_FOR_ALL,
  kRestForOne = JANUS_REST_FOR_ONE,
};
enum class Restart : std::uint32_t {
  kPermanent = JANUS_PERMANENT,
  kTransient = JANUS_TRANSIENT,
  kTemporary = JANUS_TEMPORARY,
};

// As in janus_supervisor_options.
struct SupervisorOptions {
  Strategy strategy = Strategy::kOneForOne;
  std::uint32_t max_restarts = 0;
  std::uint64_t within_ops = 0;
  std::uint64_t within_ns = 0;
  std::uint64_t delay_min_ns = 0;
  std::uint64_t delay_max_ns = 0;
  janus_budget budget = {};  // all zero: none of its own
  const char* name = nullptr;
};

// As in janus_child_spec.
struct ChildOptions {
  Restart restart = Restart::kPermanent;
  janus_budget budget = {};  // all zero: none of its own
  std::uint64_t stop_ns = 0;
  std::uint64_t ready_ns = 0;
  const char* name = nullptr;
};

namespace detail {

// A child's result: nothing is well; a number, and the code of a failure, is what it is.
template <class F>
std::int64_t run_child(void* closure) noexcept {
  using R = std::invoke_result_t<F&>;
  F& start = *static_cast<F*>(closure);
  if constexpr (std::is_void_v<R>) {
    start();
    return 0;
  } else if constexpr (is_result<R>) {
    return code_of(start());
  } else {
    static_assert(std::is_integral_v<R>,
                  "janus: a child returns nothing, a number that is negative if it failed, or a Result");
    return static_cast<std::int64_t>(start());
  }
}

}  // namespace detail

// Opened by the task that makes it. The destructor closes it and does not wait: where another task runs it, that ends after
// it has stopped the children, and their closures must live until then.
class Supervisor {
 public:
  using Options = SupervisorOptions;

  explicit Supervisor(const Options& options = {}) noexcept {
    const janus_supervisor_options raw = {sizeof raw,           static_cast<std::uint32_t>(options.strategy),
                                          options.max_restarts, options.within_ops,
                                          options.within_ns,    options.delay_min_ns,
                                          options.delay_max_ns, options.budget,
                                          options.name};
    supervisor_ = janus_supervisor_open(nullptr, &raw);
  }
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;
  ~Supervisor() {
    if (supervisor_) (void)janus_supervisor_close(supervisor_);
  }

  explicit operator bool() const noexcept { return supervisor_ != nullptr; }

  // Adds a child after all others: its number. Each of its lives is a task that calls start(), which is kept by reference.
  // It dies if that returns a negative number or the failure of a Result.
  template <class F>
  Result<std::int64_t> add(F&& start, const ChildOptions& options = {}) noexcept {
    static_assert(
        std::is_lvalue_reference_v<F>,
        "janus: a child's closure is called at each start, so it must outlive the supervisor; pass a variable");
    static_assert(std::is_object_v<std::remove_reference_t<F>> && std::is_invocable_v<F>,
                  "janus: a child is a closure that is called without arguments");
    const janus_child_spec raw = {sizeof raw,
                                  static_cast<std::uint32_t>(options.restart),
                                  &detail::run_child<std::remove_reference_t<F>>,
                                  const_cast<void*>(static_cast<const void*>(&start)),
                                  options.budget,
                                  options.stop_ns,
                                  options.name,
                                  options.ready_ns};
    const std::int64_t id = janus_supervisor_add(supervisor_, &raw);
    if (id < 0) return detail::error_of(id);
    return id;
  }
  // Stops the child, and waits for its end (janus_supervisor_remove).
  Result<void> remove(std::int64_t id) noexcept { return detail::result_of(janus_supervisor_remove(supervisor_, id)); }
  // In the calling task: until it is closed, which is a success; JANUS_CANCELLED, or JANUS_E_STATE if it gives up
  // (janus_supervisor_run).
  Result<void> run() noexcept { return detail::result_of(janus_supervisor_run(supervisor_)); }
  // Writes up to `count` of its children: how many there are.
  Result<std::size_t> children(janus_child* to, std::size_t count) const noexcept {
    const std::int64_t there_are = janus_supervisor_children(supervisor_, to, count);
    if (there_are < 0) return detail::error_of(there_are);
    return static_cast<std::size_t>(there_are);
  }
  // Ends it and its run.
  Result<void> close() noexcept { return detail::result_of(janus_supervisor_close(supervisor_)); }

  // For the functions of janus/supervise.h.
  [[nodiscard]] janus_supervisor* raw() const noexcept { return supervisor_; }

 private:
  janus_supervisor* supervisor_;
};

// Called by a child with ready_ns: those after it may be started.
inline Result<void> child_ready() noexcept {
  return detail::result_of(janus_child_ready());
}

}  // namespace v1
}  // namespace janus

#endif  // JANUS_RT_SUPERVISOR_HPP
