// SPDX-License-Identifier: Apache-2.0
// rt/abi/sync_calls.h — what the calls of janus/sync.h have in common.
#pragma once

#include "rt/abi/entry/entry.h"
#include "rt/base/order_hooks.h"
#include "rt/include/janus/sync.h"
#include "rt/task/sync/user_word.h"
#include "rt/task/wait/cancel.h"

namespace janus {

// The words of an object; nullptr: there is none. A locked access to words across two cache lines would stop the machine.
template <typename Object>
std::uint64_t* words_of(Object* object) noexcept {
  return reinterpret_cast<std::uintptr_t>(object) % alignof(std::uint64_t) == 0
             ? reinterpret_cast<std::uint64_t*>(object)
             : nullptr;
}

// A function as a value, so that it is called without a pointer.
template <auto kFunction>
inline constexpr auto kCalls = [](Task& self, std::uint64_t* words) noexcept { return kFunction(self, words); };

// Makes a call that does not wait.
template <typename Object, typename Call>
int call_on(Caller me, Object* object, Call call) noexcept {
  if (me.task == nullptr) return JANUS_E_NO_TASK;
  std::uint64_t* const words = words_of(object);
  if (words == nullptr) return JANUS_E_INVALID;
  me.worker->scheduler->sched_point();
  return answer_of(call(*me.task, words));
}

// Passes on what a call has answered that takes what others may have given, or left by their end.
inline int taken(const void* words, int result) noexcept {
  order_hooks::acquire(words);
  if (result == kErrorState) order_hooks::acquire(&order_hooks::kHolderEnd);
  return result;
}

// Makes a call that may wait.
template <typename Object, typename Call>
int wait_at(Object* object, Call call) noexcept {
  return call_on(enter(), object, [&](Task& self, std::uint64_t* words) noexcept {
    return sees_cancel(self) ? kCancelledCode : taken(words, call(self, words));
  });
}

// Makes a call that does not wait, and takes what others may have given.
template <typename Object, typename Call>
int take_at(Object* object, Call call) noexcept {
  return call_on(enter(), object,
                 [&](Task& self, std::uint64_t* words) noexcept { return taken(words, call(self, words)); });
}

// Makes a call that ends the waits of others.
template <typename Object, typename Call>
int release_at(Caller me, Object* object, Call call) noexcept {
  return call_on(me, object, [&](Task& self, std::uint64_t* words) noexcept {
    order_hooks::release(words);
    return call(self, words);
  });
}

// The two halves of janus_cond_wait: the second one is for a task that has no mutex any more, and knows no deadline.
int wait_for_signal(janus_cond* cond, janus_mutex* mutex, bool& has_released) noexcept;
int lock_again(janus_mutex* mutex, int answer) noexcept;

// The two halves of janus_once_call. kToCall (rt/task/sync/mutex.h): the second one has to be called.
int begin_once(janus_once* once, void (*fn)(void*)) noexcept;
int call_once(janus_once* once, void (*fn)(void*), void* arg) noexcept;

}  // namespace janus
