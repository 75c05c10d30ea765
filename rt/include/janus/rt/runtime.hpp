// SPDX-License-Identifier: Apache-2.0
// janus/rt/runtime.hpp: Runtime: an isolated runtime, for tests and hosts. A part of janus/rt.hpp.
#ifndef JANUS_RT_RUNTIME_HPP
#define JANUS_RT_RUNTIME_HPP

#include <janus/rt/closure.hpp>

namespace janus {
inline namespace v1 {

// For threads outside tasks only.
class Runtime {
 public:
  explicit Runtime(const janus_rt_config& config = {}) noexcept : rt_(janus_rt_create(&config)) {}
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime() {
    if (rt_) janus_rt_destroy(rt_);
  }

  explicit operator bool() const noexcept { return rt_ != nullptr; }

  // Runs closure() as the root task and waits: Result<T>, where the closure returns T or Result<T>.
  template <class F>
  auto run(F&& closure) noexcept {
    detail::check_closure<F>();
    using T = detail::ValueOf<F>;
    if (!rt_) return Result<T>(detail::last_error());
    Root<T, F> root{closure, Error{JANUS_E_STATE, Error::kCall}};
    const long code = janus_rt_run(rt_, &Root<T, F>::run, &root);
    if (code < 0 && root.result.ok()) return Result<T>(detail::error_of(code));
    if (code < 0 && root.result.error().code == JANUS_E_STATE) return Result<T>(detail::error_of(code));
    return std::move(root.result);
  }

  [[nodiscard]] janus_stats stats() const noexcept {
    janus_stats stats = {};
    stats.size = sizeof stats;
    janus_rt_stats(rt_, &stats);
    return stats;
  }
  [[nodiscard]] janus_rt* raw() const noexcept { return rt_; }

 private:
  // Lies on the stack of the caller, which waits.
  template <class T, class F>
  struct Root {
    std::remove_reference_t<F>& closure;
    Result<T> result;
    static std::int64_t run(void* arg) noexcept {
      Root* root = static_cast<Root*>(arg);
      root->result = detail::call<T>(static_cast<F&&>(root->closure));
      return detail::code_of(root->result);
    }
  };

  janus_rt* rt_;
};

}  // namespace v1
}  // namespace janus

#endif  // JANUS_RT_RUNTIME_HPP
