// SPDX-License-Identifier: Apache-2.0
// janus/rt.hpp: the C++20 interface of janus-rt, header-only over janus/rt.h. No exceptions, no RTTI, nothing from the
// standard library but its freestanding headers. Failure is a value: Result<T>.
//
//     janus::Nursery nursery;
//     auto left = nursery.spawn([] { return fib(30); });      // Task<long>
//     auto right = nursery.spawn([] { return fib(31); });
//     long sum = left.join().value() + right.join().value();   // value() of a failure ends this task as a panic
//
// A closure lives in one janus_alloc'ed block with its result; what it captures by reference must outlive the nursery.
// The closure of a task that panicked is not destroyed, as nothing on its stack is.
#ifndef JANUS_RT_HPP
#define JANUS_RT_HPP

#if !defined(__cplusplus) || __cplusplus < 202002L
#error "janus/rt.hpp needs C++20 (-std=c++20)"
#endif

#include <janus/rt.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

// The inline namespace keeps these names apart from the runtime's own in the archive.
namespace janus {
inline namespace v1 {

// Why something failed: `code` as in rt.h (the nursery table, a task's own negative value, or JANUS_E_*), and `kind`
// one of JANUS_KIND_*, or kCall where the call itself was refused.
struct Error {
  static constexpr std::uint32_t kCall = 0x100;
  std::int64_t code;
  std::uint32_t kind;
};

template <class T>
class Result;
template <class T>
class Task;

namespace detail {

constexpr std::uint32_t kind_of(std::int64_t code) noexcept {
  if (code == JANUS_CANCELLED) return JANUS_KIND_CANCELLED;
  if (code == JANUS_PANIC) return JANUS_KIND_PANIC;
  if (code == JANUS_BUDGET_EXCEEDED) return JANUS_KIND_BUDGET_EXCEEDED;
  if (code == JANUS_PENDING) return JANUS_KIND_PENDING;
  return code <= JANUS_E_CLOSED && code >= JANUS_E_UNSUPPORTED ? Error::kCall : JANUS_KIND_CHILD_FAILED;
}

constexpr Error error_of(std::int64_t code) noexcept {
  return {code, kind_of(code)};
}

// After a NULL or {0}. No reason given is a bug of ours that must not look like success.
inline Error last_error() noexcept {
  const int code = janus_last_error();
  return error_of(code < 0 ? code : JANUS_E_INVALID);
}

template <class T>
inline constexpr bool is_result = false;
template <class T>
inline constexpr bool is_result<Result<T>> = true;

// What a Result can hold: something that can be handed on without failing.
template <class T>
constexpr void check_value() {
  static_assert(!std::is_reference_v<T>, "janus: a result is a value; return a pointer where a reference is meant");
  static_assert(!std::is_same_v<std::remove_cv_t<T>, Error> && !is_result<T>,
                "janus: a Result holds a value, neither an Error nor another Result");
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                "janus: a result crosses tasks by a move, which must be noexcept");
}

template <class T>
T* allocate() noexcept {
  if constexpr (alignof(T) <= 16)
    return static_cast<T*>(janus_alloc(sizeof(T)));
  else
    return static_cast<T*>(janus_alloc_aligned(alignof(T), sizeof(T)));
}

}  // namespace detail

// A T, or why there is none.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T&& value) noexcept : ok_(true), value_(std::move(value)) { detail::check_value<T>(); }
  Result(const T& value) noexcept(std::is_nothrow_copy_constructible_v<T>) requires std::copy_constructible<T>
      : ok_(true), value_(value) {
    detail::check_value<T>();
  }
  Result(Error error) noexcept : ok_(false), error_(error) {}
  Result(Result&& other) noexcept : ok_(other.ok_) { take(std::move(other)); }
  Result(const Result& other) noexcept(std::is_nothrow_copy_constructible_v<T>) requires std::copy_constructible<T>
      : ok_(other.ok_) {
    if (ok_)
      ::new (&value_) T(other.value_);
    else
      error_ = other.error_;
  }
  Result& operator=(Result other) noexcept {
    clear();
    ok_ = other.ok_;
    take(std::move(other));
    return *this;
  }
  ~Result() { clear(); }

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  explicit operator bool() const noexcept { return ok_; }

  // Of a failure: panics.
  T& value() & noexcept { return check(), value_; }
  const T& value() const& noexcept { return check(), value_; }
  T&& value() && noexcept { return check(), std::move(value_); }

  // Of a success: {0, JANUS_KIND_SUCCESS}.
  [[nodiscard]] Error error() const noexcept { return ok_ ? Error{0, JANUS_KIND_SUCCESS} : error_; }

  template <class U>
  [[nodiscard]] T value_or(U&& other) && noexcept {
    return ok_ ? std::move(value_) : static_cast<T>(std::forward<U>(other));
  }
  template <class U>
  [[nodiscard]] T value_or(U&& other) const& noexcept {
    return ok_ ? value_ : static_cast<T>(std::forward<U>(other));
  }

 private:
  void check() const noexcept {
    if (!ok_) janus_task_panic("value() of a failed janus::Result");
  }
  void clear() noexcept {
    if (ok_) value_.~T();
  }
  void take(Result&& other) noexcept {
    if (ok_)
      ::new (&value_) T(std::move(other.value_));
    else
      error_ = other.error_;
  }

  bool ok_;
  union {
    T value_;
    Error error_;
  };
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() noexcept = default;
  Result(Error error) noexcept : ok_(false), error_(error) {}
  [[nodiscard]] bool ok() const noexcept { return ok_; }
  explicit operator bool() const noexcept { return ok_; }
  void value() const noexcept {
    if (!ok_) janus_task_panic("value() of a failed janus::Result");
  }
  [[nodiscard]] Error error() const noexcept { return error_; }

 private:
  bool ok_ = true;
  Error error_{0, JANUS_KIND_SUCCESS};
};

namespace detail {

inline Result<void> result_of(int code) noexcept {
  if (code < 0) return error_of(code);
  return {};
}

// Result<T> -> T, everything else as it is.
template <class R>
struct Unwrap {
  using Type = R;
};
template <class T>
struct Unwrap<Result<T>> {
  using Type = T;
};

template <class F>
constexpr void check_closure() {
  static_assert(std::is_invocable_v<std::decay_t<F>>,
                "janus: a task's closure is called without arguments; capture what it needs");
  static_assert(std::is_constructible_v<std::decay_t<F>, F>,
                "janus: the closure cannot be stored; pass a move-only one with std::move");
  static_assert(std::is_nothrow_destructible_v<std::decay_t<F>>, "janus: destroying the closure must be noexcept");
  if constexpr (std::is_invocable_v<std::decay_t<F>>) {
    using R = std::invoke_result_t<std::decay_t<F>>;
    if constexpr (!std::is_void_v<typename Unwrap<R>::Type>) check_value<typename Unwrap<R>::Type>();
  }
}

template <class F>
using ValueOf = typename Unwrap<std::invoke_result_t<std::decay_t<F>>>::Type;

// Calls the closure once, whatever it returns becomes a Result.
template <class T, class F>
Result<T> call(F&& closure) noexcept {
  if constexpr (is_result<std::invoke_result_t<F>>) {
    return std::forward<F>(closure)();
  } else if constexpr (std::is_void_v<T>) {
    std::forward<F>(closure)();
    return {};
  } else {
    return std::forward<F>(closure)();
  }
}

// What a task function returns for it. A failure is negative there, also one whose author chose another code.
template <class T>
std::int64_t code_of(const Result<T>& result) noexcept {
  if (result.ok()) return 0;
  const std::int64_t code = result.error().code;
  return code < 0 ? code : JANUS_E_INVALID;
}

// The result of one spawned closure, shared by the task and its handle; whoever lets go last frees it.
//     kRunning --the closure has returned--> kEnded.  A task that panics stays kRunning for ever.
template <class T>
class Record {
 public:
  Record() noexcept {}
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  // The task, once.
  void end(Result<T> result) noexcept {
    ::new (&result_) Result<T>(std::move(result));
    __atomic_store_n(&state_, kEnded, __ATOMIC_RELEASE);  // pairs with has_ended()
  }
  [[nodiscard]] bool has_ended() const noexcept { return __atomic_load_n(&state_, __ATOMIC_ACQUIRE) == kEnded; }

  // The handle, after has_ended().
  Result<T> take() noexcept { return std::move(result_); }

  void let_go() noexcept {
    if (__atomic_sub_fetch(&owners_, 1, __ATOMIC_ACQ_REL) == 0) free();
  }
  // For both: of a task that will never let go itself.
  void free() noexcept {
    if (has_ended()) result_.~Result<T>();
    this->~Record();
    janus_free(this);
  }

 protected:
  ~Record() {}

 private:
  enum : std::uint32_t { kRunning, kEnded };
  std::uint32_t owners_ = 2;
  std::uint32_t state_ = kRunning;
  union {
    Result<T> result_;
  };
};

// A record with its closure behind it: what janus_nursery_spawn_in gets as `arg`.
template <class T, class F>
class Job final : public Record<T> {
 public:
  template <class G>
  explicit Job(G&& closure) noexcept : closure_(std::forward<G>(closure)) {}
  ~Job() {}

  static std::int64_t run(void* arg) noexcept {
    Job* job = static_cast<Job*>(arg);
    // Tasks cancelled before their start come here too (JANUS_SPAWN_RUN_CANCELLED), only to be cleaned up.
    Result<T> result =
        janus_cancelled() ? Result<T>(error_of(JANUS_CANCELLED)) : call<T>(static_cast<F&&>(job->closure_));
    const std::int64_t code = code_of(result);
    job->destroy_closure();
    job->end(std::move(result));
    job->let_go();
    return code;
  }

  void destroy_closure() noexcept { closure_.~F(); }

 private:
  union {
    F closure_;
  };
};

}  // namespace detail

// ---- Time
// ------------------------------------------------------------------------------------------------------------

struct Duration {
  std::uint64_t ns;
  friend constexpr auto operator<=>(Duration, Duration) = default;
  friend constexpr Duration operator+(Duration a, Duration b) noexcept { return {a.ns + b.ns}; }
  friend constexpr Duration operator*(Duration a, std::uint64_t n) noexcept { return {a.ns * n}; }
};

namespace detail {
void a_duration_of_more_than_584_years();  // not constexpr: calling it from a literal is the compiler's error

consteval Duration duration(unsigned long long count, std::uint64_t unit_ns) {
  if (count > UINT64_MAX / unit_ns) a_duration_of_more_than_584_years();
  return {count * unit_ns};
}
}  // namespace detail

inline namespace literals {
consteval Duration operator""_ns(unsigned long long n) {
  return detail::duration(n, 1);
}
consteval Duration operator""_us(unsigned long long n) {
  return detail::duration(n, 1000);
}
consteval Duration operator""_ms(unsigned long long n) {
  return detail::duration(n, 1000000);
}
consteval Duration operator""_s(unsigned long long n) {
  return detail::duration(n, 1000000000);
}
}  // namespace literals

// ---- The calling task
// ------------------------------------------------------------------------------------------------

inline Result<void> sleep(Duration duration) noexcept {
  return detail::result_of(janus_sleep_ns(duration.ns));
}
inline Result<void> yield() noexcept {
  return detail::result_of(janus_yield());
}
[[nodiscard]] inline bool cancelled() noexcept {
  return janus_cancelled() > 0;
}

// ---- Tasks
// -----------------------------------------------------------------------------------------------------------

// A handle of what Nursery::spawn started. Letting it go neither cancels nor waits: the nursery does that.
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
    // A handle that its nursery took along is stale; the result is still here.
    if (waited < 0 && !(waited == JANUS_E_STALE && record_->has_ended())) return detail::error_of(waited);
    Result<T> result = outcome(value);
    id_ = id();
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

  // Stale: its nursery was destroyed, which only happens after the task's end.
  [[nodiscard]] bool has_left() const noexcept {
    const int state = janus_task_state(handle_);
    return state < 0 || state >= JANUS_TASK_COMPLETED;
  }

  Result<T> outcome(std::int64_t value) noexcept {
    janus_result how = {};
    const bool known = janus_task_result(handle_, &how) == 0;
    if (!record_->has_ended()) return known ? Error{how.code, how.kind} : detail::error_of(value);
    Result<T> result = record_->take();
    // It returned, and then a nursery that it had left open turned out to have failed.
    if (result.ok() && known && how.kind != JANUS_KIND_SUCCESS) return Error{how.code, how.kind};
    return result;
  }

  void let_go() noexcept {
    if (!record_) return;
    // Gone without an end: it panicked and will never let go itself. The order of the two looks matters.
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
  std::uint32_t priority = JANUS_PRIORITY_NORMAL;
  std::size_t stack_size = 0;  // 0: the runtime's default
  janus_budget budget = {};    // all zero: default grants
  janus_cap cap = {};
  const char* name = nullptr;
};

// ---- Nurseries
// -------------------------------------------------------------------------------------------------------

enum class OnError : std::uint32_t { kCancel = JANUS_ON_ERROR_CANCEL, kCollect = JANUS_ON_ERROR_COLLECT };
enum class OnExhaustion : std::uint32_t {
  kSuspend = JANUS_ON_EXHAUSTION_SUSPEND,
  kFail = JANUS_ON_EXHAUSTION_FAIL,
  kDeny = JANUS_ON_EXHAUSTION_DENY,
};

struct NurseryOptions {
  OnError on_error = OnError::kCancel;
  OnExhaustion on_exhaustion = OnExhaustion::kSuspend;
  janus_budget budget = {};  // all zero: default grants
  janus_cap cap = {};
  const char* name = nullptr;
  std::uint64_t deadline_ns = 0;  // on janus_now_ns's clock
};

// A scope that does not end before the tasks spawned in it have. The task that made it awaits and destroys it; every
// task below may spawn, cancel and close.
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
                                       options.deadline_ns};
    nursery_ = janus_nursery_open(rt, &raw);
  }
  Nursery(const Nursery&) = delete;
  Nursery& operator=(const Nursery&) = delete;
  // Closes and waits. Whoever wants to know about failures calls await() first.
  ~Nursery() {
    if (!nursery_) return;
    (void)janus_nursery_await(nursery_, nullptr);
    (void)janus_nursery_destroy(nursery_);
  }

  explicit operator bool() const noexcept { return nursery_ != nullptr; }

  // Starts closure() as a task: Task<T>, where the closure returns T or Result<T>. Failing to spawn is the error that
  // join() gives.
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
  // Closes, waits for all, and tells how it went: the first failure, if there was one.
  Result<void> await() noexcept {
    janus_result result = {};
    const long code = janus_nursery_await(nursery_, &result);
    if (code == 0) return {};
    const bool is_table = result.kind != JANUS_KIND_SUCCESS && result.code == code;
    return is_table ? Error{code, result.kind} : detail::error_of(code);
  }

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

// ---- Channels
// --------------------------------------------------------------------------------------------------------

// Sends values of T between tasks, first come first served. Copies share the channel; the last one closes it and
// destroys what is left. Values that cannot be copied bytewise travel in a janus_alloc'ed box.
template <class T>
class Channel {
  static_assert(std::is_object_v<T> && !std::is_const_v<T> && !std::is_volatile_v<T>,
                "janus: a channel carries values; send a pointer where a reference is meant");
  static_assert(std::is_nothrow_move_constructible_v<T> && std::is_nothrow_destructible_v<T>,
                "janus: what a channel carries must be movable without throwing");

 public:
  // Capacity 0: sender and receiver meet.
  explicit Channel(std::size_t capacity = 0) noexcept : shared_(detail::allocate<Shared>()) {
    if (!shared_) return;
    ::new (shared_) Shared{janus_channel_create(kPlain ? sizeof(T) : sizeof(T*), capacity), 1};
    if (shared_->channel) return;
    janus_free(shared_);
    shared_ = nullptr;
  }
  Channel(const Channel& other) noexcept : shared_(other.shared_) {
    if (shared_) __atomic_add_fetch(&shared_->owners, 1, __ATOMIC_RELAXED);
  }
  Channel(Channel&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)) {}
  Channel& operator=(Channel other) noexcept {
    std::swap(shared_, other.shared_);
    return *this;
  }
  ~Channel() {
    if (shared_ && __atomic_sub_fetch(&shared_->owners, 1, __ATOMIC_ACQ_REL) == 0) destroy();
  }

  explicit operator bool() const noexcept { return shared_ != nullptr; }

  // JANUS_E_CLOSED or JANUS_CANCELLED: nobody received it, it is destroyed.
  Result<void> send(T value) const noexcept { return put(&janus_channel_send, value); }
  // JANUS_E_CLOSED once closed and drained.
  Result<T> recv() const noexcept { return get(&janus_channel_recv); }
  // JANUS_E_WOULD_BLOCK in place of waiting; `value` is moved from only when it was sent.
  Result<void> try_send(T&& value) const noexcept { return put(&janus_channel_try_send, value); }
  Result<void> try_send(const T& value) const noexcept requires std::copy_constructible<T> {
    T copy(value);
    return put(&janus_channel_try_send, copy);
  }
  Result<T> try_recv() const noexcept { return get(&janus_channel_try_recv); }
  Result<void> close() const noexcept { return detail::result_of(janus_channel_close(raw())); }

  // for (T& value : channel): until it is closed and drained, or the task cancelled.
  class End {};
  class Iterator {
   public:
    explicit Iterator(const Channel& channel) noexcept : channel_(&channel), current_(channel.recv()) {}
    T& operator*() noexcept { return current_.value(); }
    Iterator& operator++() noexcept {
      current_ = channel_->recv();
      return *this;
    }
    friend bool operator==(const Iterator& at, End) noexcept { return !at.current_.ok(); }

   private:
    const Channel* channel_;
    Result<T> current_;
  };
  Iterator begin() const noexcept { return Iterator(*this); }
  End end() const noexcept { return {}; }

 private:
  static constexpr bool kPlain = std::is_trivially_copyable_v<T>;
  using Wire = std::conditional_t<kPlain, T, T*>;  // what the bytes in the channel are
  union Slot {
    Slot() noexcept {}
    ~Slot() {}
    Wire wire;
  };
  struct Shared {
    janus_channel* channel;
    std::uint32_t owners;
  };

  [[nodiscard]] janus_channel* raw() const noexcept { return shared_ ? shared_->channel : nullptr; }

  Result<void> put(int (*put_wire)(janus_channel*, const void*), T& value) const noexcept {
    if constexpr (kPlain) {
      return detail::result_of(put_wire(raw(), &value));
    } else {
      T* box = detail::allocate<T>();
      if (!box) return detail::last_error();
      ::new (box) T(std::move(value));
      const int code = put_wire(raw(), &box);
      if (code < 0) unbox(box, value);
      return detail::result_of(code);
    }
  }

  Result<T> get(int (*get_wire)(janus_channel*, void*)) const noexcept {
    Slot slot;
    const int code = get_wire(raw(), &slot.wire);
    if (code < 0) return detail::error_of(code);
    if constexpr (kPlain) {
      return slot.wire;
    } else {
      Result<T> result(std::move(*slot.wire));
      slot.wire->~T();
      janus_free(slot.wire);
      return result;
    }
  }

  // Back into the moved-from object that it came out of.
  static void unbox(T* box, T& value) noexcept {
    value.~T();
    ::new (&value) T(std::move(*box));
    box->~T();
    janus_free(box);
  }

  void destroy() noexcept {
    (void)janus_channel_close(shared_->channel);
    if constexpr (!kPlain) {
      while (try_recv()) {
      }
    }
    janus_channel_release(shared_->channel);
    janus_free(shared_);
  }

  Shared* shared_;
};

// ---- Isolated runtimes
// -------------------------------------------------------------------------------------------------

// A runtime with workers and memory of its own, for tests and for hosts. From threads outside tasks.
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
  // Lies on the caller's stack, which waits.
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

#endif  // JANUS_RT_HPP
