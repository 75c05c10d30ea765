// SPDX-License-Identifier: Apache-2.0
// janus/rt/task.hpp: Task<T>: the handle of a task that Nursery::spawn started. A part of janus/rt.hpp.
#ifndef JANUS_RT_TASK_HPP
#define JANUS_RT_TASK_HPP

#include <janus/rt/closure.hpp>

namespace janus {
inline namespace v1 {

// Destroying the handle neither cancels the task nor waits for it: the nursery does that.
template <class T>
class Task {
 public:
  Task(Task&& other) noexcept
      : handle_(std::exchange(other.handle_, janus_task{0})),
        record_(std::exchange(other.record_, nullptr)),
        id_(other.id_),
        error_(other.error_) {}
  Task& operator=(Task&& other) noexcept {
    Task old(std::move(*this));
    handle_ = std::exchange(other.handle_, janus_task{0});
    record_ = std::exchange(other.record_, nullptr);
    id_ = other.id_;
    error_ = other.error_;
    return *this;
  }
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() { let_go(); }

  // Whether it was spawned, and not joined yet.
  explicit operator bool() const noexcept { return record_ != nullptr; }

  // Waits for the end and moves the result out, once: later joins give JANUS_E_STATE. A wait that failed
  // (JANUS_CANCELLED: the caller was cancelled) can be tried again.
  Result<T> join() noexcept {
    if (!record_) return error_;
    std::int64_t value = 0;
    const int waited = janus_task_join(handle_, &value);
    // JANUS_E_STALE is no failure if the task has ended: its nursery was destroyed, but the record has the result.
    if (waited < 0 && !(waited == JANUS_E_STALE && record_->has_ended())) return detail::error_of(waited);
    Result<T> result = outcome(value);
    error_ = detail::error_of(JANUS_E_STATE);
    let_go();
    return result;
  }

  void cancel() noexcept { (void)janus_task_cancel(handle_); }
  [[nodiscard]] bool done() const noexcept { return !record_ || has_left(); }
  // 0 if it could not be spawned.
  [[nodiscard]] std::uint64_t id() const noexcept {
    janus_result result = {};
    const int known = record_ ? janus_task_result(handle_, &result) : JANUS_E_STALE;
    return known == 0 || known == JANUS_PENDING ? result.task_id : id_;
  }

 private:
  friend class Nursery;
  Task(janus_task handle, detail::Record<T>* record) noexcept : handle_(handle), record_(record) {}
  explicit Task(Error error) noexcept : error_(error) {}

  // A stale handle means that the nursery was destroyed, which only happens after the task's end.
  [[nodiscard]] bool has_left() const noexcept {
    const int state = janus_task_state(handle_);
    return state < 0 || state >= JANUS_TASK_COMPLETED;
  }

  // After the end. Also keeps the id.
  Result<T> outcome(std::int64_t value) noexcept {
    janus_result how = {};
    const bool known = janus_task_result(handle_, &how) == 0;
    if (known) id_ = how.task_id;
    if (!record_->has_ended()) return known ? Error{how.code, how.kind} : detail::error_of(value);
    Result<T> result = record_->take();
    // The task returned, but a nursery that it had left open failed.
    if (result.ok() && known && how.kind != JANUS_KIND_SUCCESS) return Error{how.code, how.kind};
    return result;
  }

  void let_go() noexcept {
    if (!record_) return;
    // A task that has left without end() was ended by force, and will never call let_go(). The order of the two checks
    // matters.
    if (has_left() && !record_->has_ended())
      record_->free();
    else
      record_->let_go();
    (void)janus_task_release(handle_);
    record_ = nullptr;
    handle_ = {0};
  }

  janus_task handle_{0};
  detail::Record<T>* record_ = nullptr;
  std::uint64_t id_ = 0;
  Error error_{JANUS_E_STATE, Error::kCall};
};

struct SpawnOptions {
  std::uint32_t priority = JANUS_PRIORITY_NORMAL;  // JANUS_PRIORITY_*
  std::size_t stack_size = 0;                      // 0: the runtime's default
  janus_budget budget = {};                        // all zero: none of its own
  janus_cap cap = {};
  const char* name = nullptr;
};

}  // namespace v1
}  // namespace janus

#endif  // JANUS_RT_TASK_HPP
