// SPDX-License-Identifier: Apache-2.0
// deque.h — a Chase-Lev deque of fixed size with the memory orders of Le, Pop, Cohen and Zappa Nardelli, "Correct and
// efficient work-stealing for weak memory models" (2013). The owner fences by an exchange, which is the cheapest form
// here.
#pragma once
#include <stdatomic.h>
#include <stddef.h>

enum { kDequeCapacity = 2048 };

struct deque {
  _Alignas(64) atomic_long top;
  _Alignas(64) atomic_long bottom;
  _Atomic(void*) items[kDequeCapacity];
};

static inline _Atomic(void*)* slot_of(struct deque* deque, long index) {
  return &deque->items[index % kDequeCapacity];
}

// Owner only. The caller makes sure that there is room.
static inline void deque_push(struct deque* deque, void* item) {
  const long bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed);
  atomic_store_explicit(slot_of(deque, bottom), item, memory_order_relaxed);
  atomic_store_explicit(&deque->bottom, bottom + 1, memory_order_release);  // pairs with deque_steal()
}

// Owner only. NULL: empty.
static inline void* deque_pop(struct deque* deque) {
  const long bottom = atomic_load_explicit(&deque->bottom, memory_order_relaxed) - 1;
  atomic_exchange_explicit(&deque->bottom, bottom, memory_order_seq_cst);  // pairs with the thief's fence
  long top = atomic_load_explicit(&deque->top, memory_order_relaxed);
  if (top < bottom) return atomic_load_explicit(slot_of(deque, bottom), memory_order_relaxed);
  void* item = NULL;
  if (top == bottom && atomic_compare_exchange_strong(&deque->top, &top, top + 1))
    item = atomic_load_explicit(slot_of(deque, bottom), memory_order_relaxed);
  atomic_store_explicit(&deque->bottom, bottom + 1, memory_order_relaxed);
  return item;
}

// Any thief. NULL: empty, or another thread was faster.
static inline void* deque_steal(struct deque* deque) {
  long top = atomic_load_explicit(&deque->top, memory_order_acquire);
  atomic_thread_fence(memory_order_seq_cst);  // pairs with the owner's exchange
  if (top >= atomic_load_explicit(&deque->bottom, memory_order_acquire)) return NULL;
  void* const item = atomic_load_explicit(slot_of(deque, top), memory_order_relaxed);
  return atomic_compare_exchange_strong(&deque->top, &top, top + 1) ? item : NULL;
}
